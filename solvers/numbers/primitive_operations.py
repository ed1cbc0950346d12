"""Primitive operations on lanes and duals, from which `elementary_functions` builds all others."""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from kinetree.solvers.layout import WIDTH
from kinetree.solvers.numbers.number_types import DUAL, LANES, MASK, VECTOR, make_dual

BYTES = ir.IntType(WIDTH)
INTEGERS = ir.VectorType(ir.IntType(64), WIDTH)


@intrinsic
def lane(typingctx, lanes, k):
    """Return the number in lane k."""
    return types.float64(
        lanes, types.intp
    ), lambda context, builder, sig, args: builder.extract_element(args[0], args[1])


@intrinsic
def with_lane(typingctx, lanes, k, number):
    """Return lanes with the number in lane k replaced."""
    return LANES(
        LANES, types.intp, types.float64
    ), lambda context, builder, sig, args: builder.insert_element(args[0], args[2], args[1])


@intrinsic
def value_of(typingctx, dual):
    """Return the value of a dual."""
    return (
        types.float64(DUAL),
        lambda context, builder, sig, args: (
            cgutils.create_struct_proxy(DUAL)(context, builder, args[0]).value
        ),
    )


@intrinsic
def slopes_of(typingctx, dual):
    """Return the derivatives of a dual, as lanes."""
    return (
        LANES(DUAL),
        lambda context, builder, sig, args: (
            cgutils.create_struct_proxy(DUAL)(context, builder, args[0]).slopes
        ),
    )


@intrinsic
def dual_of(typingctx, value, slopes):
    """Return a dual number with a value and its derivatives."""
    return DUAL(types.float64, LANES), lambda context, builder, sig, args: make_dual(
        context, builder, args[0], args[1]
    )


@intrinsic
def lanes_of(typingctx, number):
    """Convert lanes or a plain number to lanes."""
    return LANES(LANES), lambda context, builder, sig, args: args[0]


@intrinsic
def as_dual(typingctx, number):
    """Convert a dual or a plain number to a dual."""
    return DUAL(DUAL), lambda context, builder, sig, args: args[0]


@intrinsic
def all_of(typingctx, mask):
    """Return whether all lanes of a mask are true."""

    def generate(context, builder, sig, args):
        return builder.icmp_unsigned("==", builder.bitcast(args[0], BYTES), BYTES((1 << WIDTH) - 1))

    return types.boolean(MASK), generate


@intrinsic
def blend(typingctx, mask, a, b):
    """Return lanes of a where the mask is true, else of b."""

    def generate(context, builder, sig, args):
        return builder.select(args[0], args[1], args[2])

    return LANES(MASK, LANES, LANES), generate


def vector_function(name: str):
    """Return the code generator for a call of an LLVM function on all lanes at once."""

    def generate(context, builder, sig, args):
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(VECTOR, [VECTOR]), f"llvm.{name}.v{WIDTH}f64"
        )
        return builder.call(function, [args[0]])

    return generate


@intrinsic
def roots(typingctx, lanes):
    """Return the square roots of all lanes."""
    return LANES(LANES), vector_function("sqrt")


@intrinsic
def sizes(typingctx, lanes):
    """Return the absolute values of all lanes."""
    return LANES(LANES), vector_function("fabs")


@intrinsic
def floors(typingctx, lanes):
    """Return the largest integers not above the lanes."""
    return LANES(LANES), vector_function("floor")


@intrinsic
def ceilings(typingctx, lanes):
    """Return the smallest integers not below the lanes."""
    return LANES(LANES), vector_function("ceil")


@intrinsic
def quarter(typingctx, sine, cosine, turns):
    """Return sine and cosine after adding whole quarter turns: exchanged after odd numbers of them,
    signs by the second bit.
    """

    def generate(context, builder, sig, args):
        sine, cosine, turns = args
        k = builder.fptosi(turns, INTEGERS)
        number = lambda n: ir.Constant(INTEGERS, [n] * WIDTH)  # noqa: E731
        odd = builder.icmp_signed("!=", builder.and_(k, number(1)), number(0))
        s, c = builder.select(odd, cosine, sine), builder.select(odd, sine, cosine)
        signs = [
            builder.shl(builder.and_(n, number(2)), number(62))
            for n in (k, builder.add(k, number(1)))
        ]
        turned = [
            builder.bitcast(builder.xor(builder.bitcast(v, INTEGERS), sign), VECTOR)
            for v, sign in zip((s, c), signs, strict=True)
        ]
        return context.make_tuple(builder, sig.return_type, turned)

    return types.UniTuple(LANES, 2)(LANES, LANES, LANES), generate
