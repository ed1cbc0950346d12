"""Three-dimensional scenes of mechanisms: shapes, default shapes, animation, and the page that
displays them.
"""
