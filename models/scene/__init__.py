"""Three-dimensional scenes of mechanisms: shapes, default shapes, motion, and the page that
displays them.
"""
