"""Operators on lanes and duals: + - * / and comparisons, with each other and with plain numbers.

Duals follow the rules (a b)' = a'b + ab' and (a/b)' = (a' - (a/b) b')/b in all directions at once; comparing them compares their values.
"""

import operator

from numba import types
from numba.core import cgutils
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer_global, signature

from kinetree.solvers.numbers.number_types import (
    DUAL,
    LANES,
    MASK,
    DualType,
    LanesType,
    MaskType,
    make_dual,
    spread,
)

ARITHMETIC = {
    operator.add: "fadd", operator.sub: "fsub", operator.mul: "fmul", operator.truediv: "fdiv",
    operator.iadd: "fadd", operator.isub: "fsub", operator.imul: "fmul", operator.itruediv: "fdiv",
}  # fmt: skip
COMPARISONS = {
    operator.lt: "<",
    operator.le: "<=",
    operator.gt: ">",
    operator.ge: ">=",
    operator.eq: "==",
    operator.ne: "!=",
}
LOGIC = {operator.and_: "and_", operator.or_: "or_"}


def wide_of(args):
    """Return the common type of operands of which at least one is wide (lanes or dual), and their
    types; None for other kinds.
    """
    wide = next((each for each in args if isinstance(each, LanesType)), None)
    if wide is None or any(each != wide and not isinstance(each, types.Number) for each in args):
        return None
    return wide, [each if each == wide else types.float64 for each in args]


class WideArithmetic(AbstractTemplate):
    def generic(self, args, kws):
        found = wide_of(args)
        return signature(found[0], *found[1]) if found else None


class WideComparison(AbstractTemplate):
    def generic(self, args, kws):
        found = wide_of(args)
        return signature(MASK if found[0] is LANES else types.boolean, *found[1]) if found else None


class MaskLogic(AbstractTemplate):
    def generic(self, args, kws):
        if any(isinstance(each, MaskType) for each in args) and all(
            isinstance(each, MaskType | types.Boolean) for each in args
        ):
            return signature(MASK, *(MASK for _ in args))


def parts(context, builder, typ, number):
    """Return the value and the derivatives (None: zero) of an operand in dual arithmetic."""
    if not isinstance(typ, DualType):
        return number, None
    dual = cgutils.create_struct_proxy(DUAL)(context, builder, number)
    return dual.value, dual.slopes


def dual_sum(builder, op, a, da, b, db):
    """Return the derivatives of a ± b."""
    if db is None:
        return da
    if da is None:
        return db if op == "fadd" else builder.fneg(db)
    return getattr(builder, op)(da, db)


def dual_product(builder, a, da, b, db):
    """Return the derivatives of a b."""
    if db is None:
        return builder.fmul(da, spread(builder, b))
    second = builder.fmul(spread(builder, a), db)
    return second if da is None else builder.fadd(builder.fmul(da, spread(builder, b)), second)


def dual_quotient(builder, quotient, da, b, db):
    """Return the derivatives of a/b."""
    inverse = spread(builder, builder.fdiv(b.type(1.0), b))
    if db is None:
        return builder.fmul(da, inverse)
    less = builder.fmul(spread(builder, quotient), db)
    return builder.fmul(builder.fneg(less) if da is None else builder.fsub(da, less), inverse)


def lower_arithmetic(op, name, first, second):
    @lower_builtin(op, first, second)
    def lower(context, builder, sig, args):
        if sig.return_type is LANES:
            return getattr(builder, name)(spread(builder, args[0]), spread(builder, args[1]))
        a, da = parts(context, builder, sig.args[0], args[0])
        b, db = parts(context, builder, sig.args[1], args[1])
        value = getattr(builder, name)(a, b)
        if name == "fmul":
            slopes = dual_product(builder, a, da, b, db)
        elif name == "fdiv":
            slopes = dual_quotient(builder, value, da, b, db)
        else:
            slopes = dual_sum(builder, name, a, da, b, db)
        return make_dual(context, builder, value, slopes)


def lower_comparison(op, sign, first, second):
    @lower_builtin(op, first, second)
    def lower(context, builder, sig, args):
        compare = builder.fcmp_unordered if sign == "!=" else builder.fcmp_ordered
        if sig.return_type is MASK:
            return compare(sign, spread(builder, args[0]), spread(builder, args[1]))
        return compare(
            sign,
            parts(context, builder, sig.args[0], args[0])[0],
            parts(context, builder, sig.args[1], args[1])[0],
        )


def lower_logic(op, name):
    @lower_builtin(op, MASK, MASK)
    def lower(context, builder, sig, args):
        return getattr(builder, name)(args[0], args[1])


for _op, _name in ARITHMETIC.items():
    infer_global(_op)(type("Wide" + _name, (WideArithmetic,), {}))
    for _wide in (LANES, DUAL):
        for _pair in ((_wide, _wide), (_wide, types.float64), (types.float64, _wide)):
            lower_arithmetic(_op, _name, *_pair)
for _op, _sign in COMPARISONS.items():
    infer_global(_op)(type("Wide" + _op.__name__, (WideComparison,), {}))
    for _wide in (LANES, DUAL):
        for _pair in ((_wide, _wide), (_wide, types.float64), (types.float64, _wide)):
            lower_comparison(_op, _sign, *_pair)
for _op, _name in LOGIC.items():
    infer_global(_op)(type("Mask" + _name, (MaskLogic,), {}))
    lower_logic(_op, _name)


@infer_global(operator.neg)
class WideNegation(AbstractTemplate):
    def generic(self, args, kws):
        return signature(args[0], args[0]) if isinstance(args[0], LanesType) else None


@lower_builtin(operator.neg, LANES)
def lower_negation(context, builder, sig, args):
    return builder.fneg(args[0])


@lower_builtin(operator.neg, DUAL)
def lower_dual_negation(context, builder, sig, args):
    value, slopes = parts(context, builder, DUAL, args[0])
    return make_dual(context, builder, builder.fneg(value), builder.fneg(slopes))
