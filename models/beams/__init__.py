"""Flexible beams: sections, discretisation, and the rigid pieces and joints that stand for a beam."""
