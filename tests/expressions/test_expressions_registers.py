"""The register file: what is where, when it is computed, and what is wrong with definitions."""

import math

import numpy as np
import pytest

from kinetree.models.expressions.differentiate import time_derivatives
from kinetree.models.expressions.nodes import Const, Name
from kinetree.models.expressions.parse import ExpressionError, evaluate_constant, parse
from kinetree.models.expressions.registers import ACCELERATION, PARAMETER, STATE, TIME, Registers
from kinetree.solvers.expressions.evaluate import evaluate
from kinetree.solvers.layout import INSTRUCTION, Op, Status


def mechanism() -> Registers:
    registers = Registers()
    registers.add("t")
    registers.level("t", TIME)
    for name, value in (("a", 2.0), ("b", 3.0)):
        registers.add(name, value)
    registers.add("q", 0.5, STATE)
    registers.add("q'' of hinge", phase=ACCELERATION)
    return registers


def run(registers: Registers, **values: float) -> tuple[np.ndarray, np.ndarray]:
    """The registers after all phases, and the instructions by rows."""
    program = registers.finish()
    val = program.val0.copy()
    for name, value in values.items():
        val[program.names[name]] = value
    for phase in range(5):
        first, last = program.phase_starts[phase : phase + 2]
        assert (
            evaluate(val, program.code, first, last, program.tables, program.table_data)
            == Status.OK
        )
    return val, program.code.reshape(-1, INSTRUCTION)


def test_registers_keep_declaration_order_of_names():
    registers = mechanism()
    place = registers.compile(parse("later*2"))
    assert registers.add("c") == place + 1
    assert registers.names == {"t": 0, "a": 1, "b": 2, "q": 3, "q'' of hinge": 4, "c": 6}
    registers.link("later", parse("c + 1"))
    assert run(registers, c=4.0)[0][place] == 10.0


def test_constants_are_shared_and_cost_no_instruction():
    registers = mechanism()
    assert (
        registers.constant(9.81)
        == registers.compile(parse("9.81"))
        == registers.compile(parse("3*3.27"))
    )
    assert registers.vector([1.0, 2.0, 3.0]) == registers.vector((Const(1.0), parse("2"), 3.0))
    val, code = run(registers)
    assert len(code) == 0
    assert val[registers.vector([1.0, 2.0, 3.0]) :][:3].tolist() == [1.0, 2.0, 3.0]


def test_vectors_are_consecutive_and_mix_all_phases():
    registers = mechanism()
    first = registers.vector([parse("a*t"), 7.0, parse("b"), parse("q + a")])
    val, _ = run(registers, t=2.0, q=1.0)
    assert val[first : first + 4].tolist() == [4.0, 7.0, 3.0, 3.0]


def test_common_subexpressions_are_computed_once():
    registers = mechanism()
    places = [
        registers.compile(parse(text))
        for text in ("sin(q*a) + 1", "b - sin(a*q)", "sin(q*a)", "b-sin(q*a)")
    ]
    val, code = run(registers, q=0.4)
    assert places[1] == places[3]
    assert len(code) == 4  # q*a, sin, +, -
    assert val[places[:3]].tolist() == [math.sin(0.8) + 1, 3 - math.sin(0.8), math.sin(0.8)]


def test_instructions_run_in_earliest_phase():
    registers = mechanism()
    place = registers.compile(Name("all"))
    registers.link("all", parse("(a*b + sin(a*t))*q + 2*load"))
    registers.link("load", parse("a*b*acceleration"))
    registers.link("acceleration", parse("x"))
    registers.add("x", phase=ACCELERATION)
    assert [
        registers.phase_of(parse(text)) for text in ("1", "a*b", "a*t", "q*t", "all", "load")
    ] == [0, PARAMETER, TIME, STATE, 3, 3]
    program = registers.finish()
    assert np.diff(program.phase_starts).tolist() == [1, 3, 1, 2, 0]  # 2*load and its sum are one
    val, code = run(registers, t=0.3, q=0.7, x=1.5)
    assert val[place] == pytest.approx((6 + math.sin(0.6)) * 0.7 + 2 * 6 * 1.5, rel=1e-15)
    written: set[int] = set()
    to_come = {int(row[1]) for row in code}
    for row in code:
        assert not set(row[2:]) & (to_come - written) - {0}, (
            "an argument is read before it is written"
        )
        written.add(int(row[1]))


def test_dependent_parameters_are_updated():
    registers = mechanism()
    registers.link("c", parse("2*a"))
    place = registers.add("c")
    registers.link("b", parse("c + 1"))
    user = registers.compile(parse("b*10"))
    val, _ = run(registers, a=4.0)
    assert (val[place], val[registers.names["b"]], val[user]) == (8.0, 9.0, 90.0)


def test_destination_register_can_be_forced():
    registers = mechanism()
    rate = registers.add("rate", phase=STATE)
    other = registers.add("other", phase=STATE)
    registers.compile_to(parse("-q"), rate)
    registers.compile_to(parse("-q"), other)
    registers.compile_to(parse("4"), registers.names["a"])
    val, code = run(registers, q=3.0)
    assert (val[rate], val[other], val[registers.names["a"]]) == (-3.0, -3.0, 4.0)
    assert (code[:, 0] == Op.COPY).sum() == 2


def test_prescribed_motions_use_three_registers():
    registers = mechanism()
    registers.link("phase", parse("a*t"))
    first = registers.vector(time_derivatives(registers.expand(parse("b*sin(phase)"))))
    val, code = run(registers, t=0.2)
    assert val[first : first + 3] == pytest.approx(
        [3 * math.sin(0.4), 6 * math.cos(0.4), -12 * math.sin(0.4)], rel=1e-15
    )
    assert set(code[:, 0]) <= {Op.MUL, Op.SIN, Op.COS, Op.NEG}


@pytest.mark.parametrize(
    ("definitions", "message"),
    [
        ({"x": "x"}, "x -> x"),
        (
            {"x": "2*y", "y": "z + a", "z": "sin(x)"},
            "y -> z -> x -> y|x -> y -> z -> x|z -> x -> y -> z",
        ),
        ({"x": "y", "y": "if(q > 0, 1, y)"}, "y -> y"),
    ],
)
def test_definition_cycles_are_named(definitions, message):
    registers = mechanism()
    for name, text in definitions.items():
        registers.link(name, parse(text))
    registers.compile(parse("3*x"))
    with pytest.raises(ExpressionError, match=message):
        registers.finish()
    with pytest.raises(ExpressionError, match="cycle"):
        registers.phase_of(Name("x"))


def test_long_chains_of_definitions_need_no_stack():
    registers = mechanism()
    registers.link("x0", parse("a"))
    for k in range(1, 3000):
        registers.link(f"x{k}", parse(f"x{k - 1} + b"))
    place = registers.compile(parse("x2999"))
    assert run(registers)[0][place] == 2.0 + 2999 * 3.0


def test_unknown_and_duplicate_names_are_refused():
    registers = mechanism()
    registers.link("height", parse("q"))
    with pytest.raises(ExpressionError, match="'height' is defined twice"):
        registers.link("height", parse("2*q"))
    with pytest.raises(ExpressionError, match="'a' is defined twice"):
        registers.add("a")
    registers.compile(parse("2*heigth"))
    with pytest.raises(ExpressionError, match="'heigth'; did you mean 'height'"):
        registers.finish()


def test_table_arguments_are_checked():
    for text, message in [
        ("table('lw', q)", "unknown table 'lw'; did you mean 'law'"),
        ("table('law', q, q)", "has 1 variable, found 2"),
    ]:
        registers = mechanism()
        registers.add_table("law", [0.0, 1.0], [0.0, 2.0])
        registers.compile(parse(text))
        with pytest.raises(ExpressionError, match=message):
            registers.finish()


@pytest.mark.parametrize(
    ("text", "ops"),
    [
        ("q*w + a", [Op.MUL_ADD]), ("a - q*w", [Op.SUB_MUL]), ("q*w - a", [Op.MUL_SUB]), ("q*w + w*q*a", [Op.MUL, Op.MUL_ADD]),
        ("if(q > 0, max(w + a, 0), 0)", [Op.ADD, Op.GATE]), ("if(q > 0, max(w + a, b), 0)", [Op.GT, Op.ADD, Op.MAX, Op.IF]),
        ("sin(q*w) + q*w", [Op.MUL, Op.SIN, Op.ADD]), ("a*b + q", [Op.MUL, Op.ADD]), ("q*q + q*q", [Op.MUL, Op.ADD]),
    ],
)  # fmt: skip
def test_fused_instruction_equals_two_steps(text: str, ops: list[Op]):
    """The values are those of the two to the last bit: a product is rounded before it is added to."""
    registers = mechanism()
    registers.add("w", phase=STATE)
    place = registers.compile(parse(text))
    rng = np.random.default_rng(2)
    for q, w in rng.normal(size=(40, 2)):
        val, code = run(registers, q=q, w=w)
        assert sorted(int(row[0]) for row in code) == sorted(ops)
        assert val[place] == evaluate_constant(text, {"a": 2.0, "b": 3.0, "q": q, "w": w})
