"""Copies between dense rows of states, plain workspaces and workspaces of SIMD lanes."""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from kinetree.solvers.kernel import kernel
from kinetree.solvers.layout import WIDTH
from kinetree.solvers.numbers.primitive_operations import lane, lanes_of, with_lane

WORD = ir.IntType(64)


@intrinsic
def has(typingctx, pointer):
    """Return whether a C pointer is not null."""

    def generate(context, builder, sig, args):
        return builder.icmp_unsigned("!=", builder.ptrtoint(args[0], WORD), WORD(0))

    return types.boolean(pointer), generate


@kernel
def gather(rows, width, k, first, left):
    """Return component k of WIDTH rows from row `first` on as lanes; missing rows repeat the last
    one.
    """
    out = lanes_of(0.0)
    at = first * width + k
    if left == WIDTH:
        for n in range(WIDTH):
            out = with_lane(out, n, rows[at + n * width])
    else:
        for n in range(WIDTH):
            out = with_lane(out, n, rows[at + min(n, left - 1) * width])
    return out


@kernel
def scatter(rows, width, k, first, left, lanes):
    """Write lanes to component k of the rows from row `first` on."""
    at = first * width + k
    for n in range(min(left, WIDTH)):
        rows[at + n * width] = lane(lanes, n)


@kernel
def copy_plain(ws, wide):
    """Copy flags and derived constants, which all states share, to a wide workspace."""
    for k in range(ws.head.size):
        wide.head[k] = ws.head[k]
    for k in range(ws.body_code.size):
        wide.body_code[k] = ws.body_code[k]
    for k in range(ws.elem_code.size):
        wide.elem_code[k] = ws.elem_code[k]
    for k in range(ws.body.size):
        wide.body[k] = ws.body[k]
    for k in range(ws.elem.size):
        wide.elem[k] = ws.elem[k]
    for k in range(ws.rotor.size):
        wide.rotor[k] = ws.rotor[k]
    for k in range(ws.loop_rank.size):
        wide.loop_rank[k] = ws.loop_rank[k]
    for k in range(ws.loop_plane.size):
        wide.loop_plane[k] = ws.loop_plane[k]


@kernel
def spread_workspace(ws, wide):
    """Copy the registers, states and loads that a wide evaluation reads from a plain workspace to
    all lanes.
    """
    copy_plain(ws, wide)
    for k in range(ws.val.size):
        wide.val[k] = ws.val[k]
    for k in range(ws.added.size):
        wide.added[k] = ws.added[k]
    for k in range(ws.x.size):
        wide.x[k] = ws.x[k]
    for k in range(ws.given.size):
        wide.given[k] = ws.given[k]
        wide.slope[k] = ws.slope[k]
    for k in range(ws.extra.size):
        wide.extra[k] = ws.extra[k]
        wide.wrench[k] = 0.0
