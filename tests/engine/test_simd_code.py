"""What lanes, masks and duals become in machine code: instructions of `solvers/numbers` compiled alone by LLVM and called on numbers."""

import ctypes
import math
from types import SimpleNamespace

import numpy as np
import pytest
from llvmlite import binding, ir
from numba import types

from kinetree.solvers.layout import WIDTH
from kinetree.solvers.numbers import arithmetic, lane_packing, primitive_operations
from kinetree.solvers.numbers import number_types as wide
from kinetree.solvers.numbers.number_types import BIT, BITS, SCALAR, VECTOR

X = np.array([0.25, -1.5, 3.75, -0.0, 1e9 + 0.5, -7.25, 2.0, 0.5])
Y = np.array([1.0, -1.5, 4.0, 0.0, -2.0, -7.5, 2.0, 0.75])
CONTEXT = SimpleNamespace(
    make_tuple=lambda builder, kind, values: values,
    get_constant=None,
    cast=lambda builder, value, source, target: value,
)


def computed(body, *arguments: object, results: int = 1, whole: bool = False) -> list:
    """The results of some instructions: arguments are vectors, numbers or whole numbers; `body` gets the builder and their values."""
    machine = ir.Module()
    machine.triple = binding.get_default_triple()
    kinds = [
        VECTOR.as_pointer()
        if isinstance(a, np.ndarray)
        else ir.IntType(64)
        if isinstance(a, int)
        else SCALAR
        for a in arguments
    ]
    word = ir.IntType(64)
    function = ir.Function(
        machine,
        ir.FunctionType(
            ir.VoidType(), [*kinds, *((word if whole else VECTOR).as_pointer(),) * results]
        ),
        "act",
    )
    builder = ir.IRBuilder(function.append_basic_block())
    given = [
        builder.load(p, align=8) if isinstance(a, np.ndarray) else p
        for a, p in zip(arguments, function.args, strict=False)
    ]
    found = body(builder, *given)
    for value, place in zip(
        found if isinstance(found, list) else [found], function.args[len(arguments) :], strict=True
    ):
        if value.type == BITS:
            value = builder.uitofp(value, VECTOR)
        builder.store(
            builder.zext(value, word)
            if whole
            else value
            if value.type == VECTOR
            else wide.spread(builder, value),
            place,
            align=8,
        )
    builder.ret_void()
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    engine = binding.create_mcjit_compiler(
        binding.parse_assembly(str(machine)),
        binding.Target.from_default_triple().create_target_machine(),
    )
    engine.finalize_object()
    pointers = [np.array(a) if isinstance(a, np.ndarray) else a for a in arguments]
    out = [np.zeros(1, np.int64) if whole else np.full(WIDTH, np.nan) for _ in range(results)]
    c_kinds = [
        ctypes.c_void_p
        if isinstance(a, np.ndarray)
        else ctypes.c_int64
        if isinstance(a, int)
        else ctypes.c_double
        for a in arguments
    ]
    call = ctypes.CFUNCTYPE(None, *c_kinds, *(ctypes.c_void_p,) * results)(
        engine.get_function_address("act")
    )
    call(
        *(a.ctypes.data if isinstance(a, np.ndarray) else a for a in pointers),
        *(o.ctypes.data for o in out),
    )
    return out


def act(name: str, *arguments: object, results: int = 1, whole: bool = False) -> list:
    """One primitive by its generator."""
    made = getattr(primitive_operations, name)._defn(None, *(None,) * len(arguments))
    signature, generate = made
    return computed(
        lambda builder, *given: generate(CONTEXT, builder, signature, given),
        *arguments,
        results=results,
        whole=whole,
    )


@pytest.mark.parametrize(
    "name, expected",
    [
        ("roots", np.sqrt),
        ("sizes", np.abs),
        ("floors", np.floor),
        ("ceilings", np.ceil),
        ("lanes_of", np.array),
    ],
)
def test_vector_functions_compute_all_lanes(name: str, expected):
    x = np.abs(X) if name == "roots" else X
    assert act(name, x)[0].tolist() == expected(x).tolist()


def test_lanes_insert_extract_and_broadcast():
    for k in (0, 3, WIDTH - 1):
        assert act("lane", X, k)[0].tolist() == [X[k]] * WIDTH
        changed = X.copy()
        changed[k] = 9.5
        assert act("with_lane", X, k, 9.5)[0].tolist() == changed.tolist()
    assert computed(lambda builder, x: wide.spread(builder, x), 2.5)[0].tolist() == [2.5] * WIDTH
    assert computed(lambda builder, x: wide.spread(builder, x), X)[0].tolist() == X.tolist()
    assert (
        computed(lambda builder, x: wide.number_to_lanes(CONTEXT, builder, None, None, x), 2.5)[
            0
        ].tolist()
        == [2.5] * WIDTH
    )
    assert computed(lambda builder: wide.NO_SLOPES)[0].tolist() == [0.0] * WIDTH


def test_masks_select_lane_by_lane():
    def compared(sign: str):
        return lambda builder, x, y: builder.fcmp_ordered(sign, x, y)

    less = X < Y
    _, blend = primitive_operations.blend._defn(None, None, None, None)
    found = computed(
        lambda builder, x, y: blend(CONTEXT, builder, None, (compared("<")(builder, x, y), x, y)),
        X,
        Y,
    )[0]
    assert found.tolist() == np.where(less, X, Y).tolist() and less.any() and not less.all()
    _, all_of = primitive_operations.all_of._defn(None, None)
    for y, said in ((Y, 0), (X + 1.0, 1), (np.where(np.arange(WIDTH) == 7, X, X + 1.0), 0)):
        assert (
            computed(
                lambda builder, a, b: all_of(
                    CONTEXT, builder, None, (compared("<")(builder, a, b),)
                ),
                X,
                y,
                whole=True,
            )[0][0]
            == said
        )
    for truth in (0, 1):
        spread = computed(
            lambda builder, n: wide.boolean_to_mask(
                CONTEXT, builder, None, None, builder.trunc(n, BIT)
            ),
            truth,
        )[0]
        assert spread.tolist() == [float(truth)] * WIDTH


@pytest.mark.parametrize("first", [-9, -4, 0, 3])
def test_quarter_turns_swap_sine_and_cosine(first: int):
    """Eight whole numbers of quarter turns after sine and cosine of one angle."""
    turns = first + np.arange(float(WIDTH))
    s, c = act(
        "quarter", np.full(WIDTH, math.sin(0.3)), np.full(WIDTH, math.cos(0.3)), turns, results=2
    )
    angles = 0.3 + turns * math.pi / 2
    assert s == pytest.approx(np.sin(angles), abs=1e-14) and c == pytest.approx(
        np.cos(angles), abs=1e-14
    )


def test_null_pointers_are_detected():
    _, generate = lane_packing.has._defn(None, None)
    for address, said in ((0, 0), (4096, 1)):
        pointer = lambda builder, n: generate(  # noqa: E731
            CONTEXT, builder, None, (builder.inttoptr(n, SCALAR.as_pointer()),)
        )
        assert computed(pointer, address, whole=True)[0][0] == said


def test_instruction_derivatives_match_differences():
    """The rules of sums, products and quotients as they are compiled: of two duals, and of one beside a plain number."""
    a, b, d, e = 3.0, -4.0, X, Y
    value = a / b
    assert computed(lambda m, *g: arithmetic.dual_product(m, g[0], g[1], g[2], g[3]), a, d, b, e)[
        0
    ] == pytest.approx(d * b + a * e)
    assert computed(lambda m, *g: arithmetic.dual_product(m, g[0], None, g[1], g[2]), a, b, e)[
        0
    ] == pytest.approx(a * e)
    assert computed(lambda m, *g: arithmetic.dual_product(m, g[0], g[1], g[2], None), a, d, b)[
        0
    ] == pytest.approx(d * b)
    assert computed(
        lambda m, *g: arithmetic.dual_quotient(m, g[0], g[1], g[2], g[3]), value, d, b, e
    )[0] == pytest.approx((d - value * e) / b)
    assert computed(lambda m, *g: arithmetic.dual_quotient(m, g[0], None, g[1], g[2]), value, b, e)[
        0
    ] == pytest.approx(-value * e / b)
    assert computed(lambda m, *g: arithmetic.dual_quotient(m, g[0], g[1], g[2], None), value, d, b)[
        0
    ] == pytest.approx(d / b)
    assert computed(lambda m, *g: arithmetic.dual_sum(m, "fsub", None, g[0], None, g[1]), d, e)[
        0
    ] == pytest.approx(d - e)
    assert computed(lambda m, *g: arithmetic.dual_sum(m, "fsub", None, None, None, g[0]), e)[
        0
    ] == pytest.approx(-e)


def test_plain_numbers_convert_to_wide():
    """Types that unify, and nothing else does."""
    for kind in (wide.LANES, wide.DUAL):
        assert (
            kind.can_convert_from(None, types.float64)
            is not None
            is not kind.can_convert_from(None, types.int64)
        )
        assert kind.unify(None, types.float64) is kind and kind.unify(
            None, types.boolean
        ) is None is kind.can_convert_from(None, types.boolean)
    assert (
        wide.MASK.unify(None, types.boolean) is wide.MASK
        and wide.MASK.can_convert_from(None, types.boolean) is not None
    )
    assert (
        wide.MASK.unify(None, types.float64)
        is None
        is wide.MASK.can_convert_from(None, types.float64)
    )
