"""Flexible beams: sections, discretisation, and the rigid pieces and joints that represent a beam."""
