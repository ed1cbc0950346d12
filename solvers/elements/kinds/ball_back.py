"""Joint element `ball_back`: a ball in a joint that the tree uses from its child to its parent."""

from kinetree.solvers.elements.kinds import Kind

KIND = Kind(
    "BALL_BACK",
    8,
    "BALL used from its child to its parent: coordinates and speeds keep their meaning",
    "ball.BACK",
    coordinates=4,
    speeds=3,
    turns=True,
    quaternion=0,
    back="BALL",
)
