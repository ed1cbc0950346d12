"""numba types of two kinds of numbers for which the same kernels compile.

Lanes  WIDTH numbers side by side in one vector register: one evaluation for WIDTH states.
Dual   a value and its slopes along WIDTH directions: one evaluation gives WIDTH directional derivatives.
Mask   what comparing lanes gives: WIDTH truth values. Kernels decide by `choose.select` and `choose.every`, never by `if`, where lanes may differ.

A plain number stands for itself in all lanes, or for itself with slopes zero.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import lower_cast
from numba.core.typeconv import Conversion
from numba.extending import models, register_model

from kinetree.solvers.layout import WIDTH

SCALAR, BIT, WORD = ir.DoubleType(), ir.IntType(1), ir.IntType(32)
VECTOR, BITS = ir.VectorType(SCALAR, WIDTH), ir.VectorType(BIT, WIDTH)


class LanesType(types.Type):
    """WIDTH numbers."""

    def can_convert_from(self, typingctx, other):
        return Conversion.safe if isinstance(other, types.Float | types.Integer) else None

    def unify(self, typingctx, other):
        return self if isinstance(other, types.Float | types.Integer) else None


class DualType(LanesType):
    """A value with WIDTH derivatives."""


class MaskType(types.Type):
    """WIDTH truth values: the result of comparing lanes."""

    def can_convert_from(self, typingctx, other):
        return Conversion.safe if isinstance(other, types.Boolean) else None

    def unify(self, typingctx, other):
        return self if isinstance(other, types.Boolean) else None


LANES, DUAL, MASK = LanesType("Lanes"), DualType("Dual"), MaskType("Mask")


@register_model(LanesType)
class LanesModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, VECTOR)


@register_model(MaskType)
class MaskModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, BITS)


@register_model(DualType)
class DualModel(models.StructModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, [("value", types.float64), ("slopes", LANES)])


def spread(builder, scalar):
    """Return a vector with one number or truth value repeated in all lanes."""
    if isinstance(scalar.type, ir.VectorType):
        return scalar
    vector = ir.VectorType(scalar.type, WIDTH)
    one = builder.insert_element(ir.Constant(vector, ir.Undefined), scalar, ir.Constant(WORD, 0))
    return builder.shuffle_vector(
        one, ir.Constant(vector, ir.Undefined), ir.Constant(ir.VectorType(WORD, WIDTH), [0] * WIDTH)
    )


def make_dual(context, builder, value, slopes):
    """Return a dual number made of a value and its derivatives."""
    dual = cgutils.create_struct_proxy(DUAL)(context, builder)
    dual.value, dual.slopes = value, slopes
    return dual._getvalue()


NO_SLOPES = ir.Constant(VECTOR, [0.0] * WIDTH)


@lower_cast(types.Number, LANES)
def number_to_lanes(context, builder, source, target, value):
    return spread(builder, context.cast(builder, value, source, types.float64))


@lower_cast(types.Number, DUAL)
def number_to_dual(context, builder, source, target, value):
    return make_dual(
        context, builder, context.cast(builder, value, source, types.float64), NO_SLOPES
    )


@lower_cast(types.Boolean, MASK)
def boolean_to_mask(context, builder, source, target, value):
    bit = context.cast(builder, value, source, types.boolean)
    return spread(builder, builder.trunc(bit, BIT) if bit.type != BIT else bit)
