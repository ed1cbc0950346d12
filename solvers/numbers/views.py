"""Workspaces of wide numbers: the same directory as the plain one, every number as wide as its kind."""

from numba.extending import intrinsic

from kinetree.solvers.layout import DUAL_STRIDE, LANES_STRIDE
from kinetree.solvers.numbers.types import DUAL, LANES
from kinetree.solvers.view_types import BlocksType, blocks_of

LANES_WORK = BlocksType("lanes", LANES, LANES_STRIDE)
DUALS_WORK = BlocksType("duals", DUAL, DUAL_STRIDE)


@intrinsic
def lanes_view(typingctx, ints, work):
    """The workspace of WIDTH states."""
    return LANES_WORK(ints, work), blocks_of(LANES_WORK)


@intrinsic
def duals_view(typingctx, ints, work):
    """The workspace of a state with slopes."""
    return DUALS_WORK(ints, work), blocks_of(DUALS_WORK)
