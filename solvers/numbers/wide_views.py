"""Workspaces of wide numbers: the directory of the plain workspace, every value a vector of WIDTH
lanes or a dual.
"""

from numba import types
from numba.extending import intrinsic

from kinetree.solvers.layout import DUAL_STRIDE, LANES_STRIDE
from kinetree.solvers.numbers.number_types import DUAL, LANES
from kinetree.solvers.view_types import BlocksType, ViewType, blocks_of, whole_view

LANES_WORK = BlocksType("lanes", LANES, LANES_STRIDE)
DUALS_WORK = BlocksType("duals", DUAL, DUAL_STRIDE)
LANES_ROW = ViewType(LANES)


@intrinsic
def lanes_view(typingctx, ints, work):
    """Return the workspace view of WIDTH states in lanes."""
    return LANES_WORK(ints, work), blocks_of(LANES_WORK)


@intrinsic
def duals_view(typingctx, ints, work):
    """Return the workspace view of one state with derivatives (duals)."""
    return DUALS_WORK(ints, work), blocks_of(DUALS_WORK)


@intrinsic
def lanes_row(typingctx, block):
    """Return a view of lanes on a block of floats (C pointer, aligned to 64 bytes); WIDTH floats
    form one number.
    """

    def generate(context, builder, sig, args):
        pointer = builder.bitcast(args[0], context.get_value_type(types.CPointer(LANES)))
        return whole_view(LANES_ROW)(context, builder, sig, (pointer,))

    return LANES_ROW(block), generate
