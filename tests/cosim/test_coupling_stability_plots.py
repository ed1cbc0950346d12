"""Growth of couplings in closed form, what is drawn of it and of the published benchmarks, and what is written of a run."""

import csv
import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy.linalg import expm

from kinetree.scripts.cosim import benchmarks, oscillator, scenario_verdict
from kinetree.scripts.cosim.cosim_report import write_csv
from kinetree.scripts.cosim.masters import Wire
from kinetree.scripts.cosim.oscillator import (
    LARGEST,
    LinearSlave,
    exponential,
    growth,
    largest_step,
)
from kinetree.scripts.cosim.power_bonds import Bond, bonds_of, suspected
from kinetree.scripts.cosim.run_master import Trace
from kinetree.scripts.cosim.scenario import Coupling, DriveSpec, Scenario, UnitSpec
from kinetree.scripts.cosim.scenario_verdict import Outcome
from kinetree.scripts.cosim.two_masses import (
    K1,
    K2,
    KC,
    SPEED,
    coupled_by_displacement,
    coupled_by_force,
)
from kinetree.scripts.terminal.error_messages import BadInput


@pytest.mark.parametrize("size", [0.0, 1e-9, 0.3, 1.0, 40.0])
def test_matrix_exponential_matches_reference(size: float):
    """Beside a library's, to the rounding of its squarings."""
    matrix = size * np.random.default_rng(1).normal(size=(4, 4))
    exact = expm(matrix)
    assert np.abs(exponential(matrix) - exact).max() <= 1e-13 * max(1.0, size) * np.abs(exact).max()


def test_a_linear_unit_is_solved_exactly():
    """Inputs linear in a step, which end where the next one begins; a state is a copy."""
    unit = LinearSlave(
        "a", ("u",), ("x", "both"), [[-2.0]], [[3.0]], [[1.0], [4.0]], [[0.0], [5.0]], (0.5,)
    )
    unit.start({"u": 1.0})
    state = unit.save()
    unit.set("u", 1.0, 2.0)
    unit.step(0.0, 0.25)
    fade, rest = math.exp(-0.5), (1.0 - math.exp(-0.5)) / 2.0
    x = 0.5 * fade + 3.0 * rest + 6.0 * (0.25 - rest) / 2.0
    assert unit.get("x") == pytest.approx(x, rel=1e-14) and unit.get("both") == pytest.approx(
        4.0 * x + 5.0 * 1.5, rel=1e-14
    )
    unit.restore(state)
    assert (unit.get("x"), unit.get("both"), unit.slope.tolist()) == (0.5, 7.0, [0.0])


def radius(matrix: np.ndarray) -> float:
    return float(np.abs(np.linalg.eigvals(matrix)).max())


@pytest.mark.parametrize("damping", [0.05, 0.6])
@pytest.mark.parametrize("h", [0.03, 0.7, 2.5])
def test_growth_of_schemes_matches_closed_form(h: float, damping: float):
    """v' = F, F' = -v - 2 zeta F, each solved for the other's value: held, the spring first, and flows that are held into the exact oscillator."""
    leak = 2.0 * damping
    fade, rest = math.exp(-leak * h), (1.0 - math.exp(-leak * h)) / leak
    spring, mass = np.array([[1.0, 0.0], [-rest, fade]]), np.array([[1.0, h], [0.0, 1.0]])
    both = np.array([[1.0, h], [-rest, fade]])
    assert growth("held", h, damping) == pytest.approx(max(1.0, radius(both)), rel=1e-6)
    assert growth("sequential", h, damping) == pytest.approx(
        max(1.0, radius(mass @ spring)), rel=1e-6
    )
    free = np.zeros((3, 3))  # length, force inside the mechanism, and the flow that is held
    free[:2, :2], free[1, 2] = [[0.0, 1.0], [-1.0, 0.0]], 1.0
    moved = expm(free * h)
    assert growth("chambers", h, damping) == pytest.approx(
        max(1.0, radius(moved[:2, :2] + np.outer(moved[:2, 2], [0.0, -leak]))), rel=1e-6
    )
    assert growth("jacobian", h, damping) == pytest.approx(1.0, abs=1e-7), "the place alone stays"


@pytest.mark.parametrize("limit", [0.001, 0.0777, 0.5, 0.7363, 3.0, 5.97])
def test_largest_stable_step_is_found_by_bisection(monkeypatch: pytest.MonkeyPatch, limit: float):
    """Of the interval of the search in which growth begins, by the eighth of them to a 256th: 0.05, or a tenth of small steps."""
    asked: list[float] = []
    monkeypatch.setattr(
        oscillator,
        "growth",
        lambda scheme, product, damping: (
            asked.append(product) or (1.01 if product > limit else 1.0)
        ),
    )
    assert (
        limit - (0.05 if limit > 0.5 else max(0.13 * limit, 0.005)) / 256 - 1e-12
        <= largest_step("held", 0.1)
        <= limit
    )
    monkeypatch.setattr(oscillator, "growth", lambda *_: 1.0 + 0.9e-7)
    assert largest_step("held", 0.1) == LARGEST and 0.005 in asked
    monkeypatch.setattr(oscillator, "growth", lambda *_: 1.0 + 1.1e-7)
    assert largest_step("held", 0.1) == 0.0


def drawn(monkeypatch: pytest.MonkeyPatch, draw: Any, path: Path) -> Figure:
    figures: list[Figure] = []
    monkeypatch.setattr(
        Figure, "savefig", lambda figure, path, **_: (figures.append(figure), Path(path).touch())
    )
    draw(str(path))
    return figures[0]


def test_map_of_stable_steps_is_computed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """A line for each case that has a limit somewhere, a name for the others; what is below a hundredth is drawn there."""
    found = {"held": 1e-3, "slope": 0.5}
    monkeypatch.setattr(oscillator, "largest_step", lambda case, damping: found.get(case, LARGEST))
    (axes,) = drawn(monkeypatch, oscillator.draw, tmp_path / "x.png").axes
    lines = {str(line.get_label()): np.asarray(line.get_data()) for line in axes.lines}
    assert (
        set(lines["held"][1]) == {1e-2} and set(lines["slope"][1]) == {0.5} and len(axes.lines) == 3
    )
    assert (lines["held"][0][0], lines["held"][0][-1]) == pytest.approx((0.005, 1.0)) and lines[
        str(axes.lines[-1].get_label())
    ][1].tolist() == [LARGEST] * 2
    unlimited = ", ".join(case for case in oscillator.CASES if case not in found)
    assert [text.get_text() for text in axes.texts] == [f"stable up to 6 and more: {unlimited}"]
    assert axes.texts[0].get_position() == pytest.approx((0.005, 6.3)), (
        "above its line, from where the lines begin"
    )


def test_errors_of_the_published_benchmarks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Against the step, in three pictures; where a coupling becomes unstable stands a line, and what is published is beside the arm's."""
    ends: list[float] = []
    fine = SimpleNamespace(trace=Trace(np.arange(3.0), {"mechanics.s": np.array([1.0, 2.0, 4.0])}))
    monkeypatch.setattr(benchmarks, "energy_error", lambda case, step: step)
    monkeypatch.setattr(
        benchmarks, "run_wired", lambda scenario, master, step, stop: fine if stop == 10.0 else None
    )
    monkeypatch.setattr(
        benchmarks,
        "manipulator_error",
        lambda cut, step, exact: math.nan if step > 0.02 and cut == "manipulator" else exact[1][2],
    )
    monkeypatch.setattr(
        benchmarks, "arm_error", lambda case, step: ends.append(0.4 / step) or -step
    )
    left, right, last = drawn(monkeypatch, benchmarks.draw, tmp_path / "x.png").axes
    assert all(
        axes.get_title() and axes.get_xlabel() and axes.get_ylabel() for axes in (left, right, last)
    )
    assert [line.get_label() for line in left.lines] == [
        "held",
        "straight",
        "parabolic",
        "repeat",
        "jacobian",
    ]
    assert all(np.array_equal(line.get_xdata(), line.get_ydata()) for line in left.lines)
    curves = [np.asarray(line.get_data()) for line in right.lines]
    ranges = [np.asarray(axes.lines[0].get_xdata())[[0, -1]].tolist() for axes in (left, right)]
    assert ranges == [pytest.approx([2.5e-4, 2e-2]), pytest.approx([5e-4, 0.1])]
    assert [curve[1, 0] for curve in curves if curve.shape[1] > 2] == [4.0, 4.0]
    (limit,) = (float(curve[0, 0]) for curve in curves if curve.shape[1] == 2)
    assert (
        0.02 < limit < 0.026
        and right.texts[0].get_text() == f" unstable from {1e3 * limit:.0f} ms"
        and right.texts[0].get_position()[0] == limit
    )
    assert (
        ends == pytest.approx(np.round(ends), rel=1e-12)
        and min(ends) == 50.0
        and max(ends) == 2000.0
    ), "whole steps to the end"
    published = {1e-3: 0.0266365, 1e-4: 0.0026895, 1e-5: 0.00025475}
    assert dict(zip(*last.lines[-1].get_data(), strict=True)) == pytest.approx(published, rel=1e-4)  # type: ignore[call-overload]
    assert all(np.all(np.asarray(line.get_ydata()) > 0.0) for line in last.lines)


def test_errors_of_a_benchmark_are_the_largest(monkeypatch: pytest.MonkeyPatch):
    """Of the energy over time, of the length beside an exact one between its points; none where the run is not stable."""
    runs = {"stable": True}
    asked: list[Any] = []

    def run_wired(scenario: Any, *given: Any) -> Any:
        asked.append(given)
        return SimpleNamespace(
            trace=Trace(
                np.array([0.0, 0.5, 1.0]),
                {"mechanics.s": np.array([1.0, 2.0, 3.0])},
                runs["stable"],
            )
        )

    monkeypatch.setattr(benchmarks, "run_wired", run_wired)
    exact = (np.array([0.0, 1.0]), np.array([1.0, 2.5]))
    assert benchmarks.manipulator_error("manipulator", 0.5, exact) == 0.5
    runs["stable"] = False
    assert math.isnan(benchmarks.manipulator_error("manipulator", 0.5, exact))
    rows = {
        "one.x": [0.0, 1.0, 0.0],
        "two.x": [0.0, 1.0, 0.0],
        "one.v": [100.0, 0.0, 60.0],
        "two.v": [-100.0, 0.0, 80.0],
    }
    columns = {name: np.array(row) for name, row in rows.items()}
    monkeypatch.setattr(
        benchmarks,
        "cosimulate",
        lambda master, end, step, recorded: (
            asked.append((end, step)) or Trace(np.arange(3.0), columns)
        ),
    )
    assert benchmarks.energy_error("held", 0.1) == 1.0 - 0.5 * 1010.0 / 1e4 and asked == [
        ("held", 0.5, 10.0),
        ("held", 0.5, 10.0),
        (2.0, 0.1),
    ]
    assert benchmarks.arm_sum(0.5, 0.0, 0.0) == pytest.approx(
        math.sqrt((0.5 - 0.5 * math.cos(0.5)) ** 2 + (0.5 * math.sin(0.5)) ** 2 + 0.25)
    )


def test_both_oscillator_couplings_share_reference():
    """Rates of all states, each half given what the other one tells: those of the masses between their springs."""
    for make, places in ((coupled_by_displacement, ("x", "v")), (coupled_by_force, ("", ""))):
        plan = make("held")
        units: dict[str, Any] = {slave.name: slave for slave in plan.slaves}
        assert units["one"].x.tolist() == [0.0, SPEED] and units["two"].x.tolist() == [0.0, -SPEED]
        for x in ((0.25, 3.0, -0.5, 7.0), (1.0, 0.0, 0.0, 0.0)):
            units["one"].x, units["two"].x = np.array(x[:2]), np.array(x[2:])
            for wire in plan.wires:
                wire.target.set(wire.input, wire.read())
            found = [
                (unit.A @ unit.x + unit.B @ unit.u).tolist()
                for unit in (units["one"], units["two"])
            ]
            stretch = KC * (x[0] - x[2])
            assert found == [[x[1], -K1 * x[0] - stretch], [x[3], -K2 * x[2] + stretch]], places


def test_run_table_has_all_recorded_values(tmp_path: Path):
    trace = Trace(np.array([0.0, 0.5]), {"a.y": np.array([1.0, 2.5]), "b.z": np.array([3.0, -1.0])})
    write_csv(Outcome("s", "held", 0.5, 0.5, trace, {}, math.nan, 0.0), tmp_path / "x.csv")
    with (tmp_path / "x.csv").open() as file:
        assert list(csv.reader(file)) == [
            ["time", "a.y", "b.z"],
            ["0.0", "1.0", "3.0"],
            ["0.5", "2.5", "-1.0"],
        ]


@pytest.mark.parametrize(
    ("scheme", "step", "rotary"), [("told", 0.25, False), ("chambers", 1e-4, True)]
)
def test_coupled_run_is_compared_with_reference(
    monkeypatch: pytest.MonkeyPatch, scheme: str, step: float, rotary: bool
):
    """The largest error of either pressure at any communication point, beside values between those of the reference, which is as fine as the run."""
    units = [
        SimpleNamespace(name=name, close=lambda name=name: closed.append(name))
        for name in ("m", "d")
    ]
    closed, asked = list[str](), dict[str, Any]()
    plan = SimpleNamespace(wires=(), make=lambda order: asked.update(order=order))
    monkeypatch.setattr(scenario_verdict, "actuated", lambda scenario: {"raw": scenario.step_size})
    monkeypatch.setattr(scenario_verdict, "coupled", lambda *given: units)
    monkeypatch.setattr(
        scenario_verdict, "couple", lambda *given: asked.update(couple=given) or plan
    )
    monkeypatch.setattr(scenario_verdict, "settled", lambda scenario, raw, inside: (inside, None))

    def cosimulate(
        master: Any, stop: float, h: float, recorded: Any, bonds: Any, progress: Any, control: Any
    ) -> Trace:
        asked.update(
            stop=stop, h=h, recorded=[(unit.name, name) for unit, name in recorded], control=control
        )
        columns = {
            f"{unit.name}.{name}": k + np.array([0.0, 4.0, 1.0])
            for k, (unit, name) in enumerate(recorded)
        }
        return Trace(np.array([0.0, 0.5, 1.0]), columns)

    def reference(
        raw: Any, name: str, drive: Any, controller: Any, stop: float, output_step: float
    ) -> Any:
        asked.update(reference=(name, drive, stop, output_step))
        rows = {"pressure_a": [0.0, 2.0], "pressure_b": [1.0, 1.0], "lift_length": [2.0, 3.0]}
        return Rows({key: np.array(row) for key, row in rows.items()})

    monkeypatch.setattr(scenario_verdict, "cosimulate", cosimulate)
    monkeypatch.setattr(scenario_verdict, "reference", reference)
    specs = (UnitSpec("m", "x"), UnitSpec("d", drive=DriveSpec(rotary=rotary)))
    scenario = Scenario("s.toml", "s", specs, Coupling("m", "lift", "d"), extrapolation=2)
    found = scenario_verdict.run_coupled(scenario, scheme, step, 2.0)
    assert (found.peak_pressure_error, found.controlled, found.place) == (
        4.0,
        False,
        "angle [rad]" if rotary else "length [m]",
    )
    assert (
        asked["reference"] == ("lift", False, 2.0, min(step, 5e-4))
        and closed == ["m", "d"]
        and asked["order"] == 2
    )
    sides = (
        [("m", "lift.pressure_a"), ("m", "lift.pressure_b")]
        if scheme == "chambers"
        else [("d", "pressure_a"), ("d", "pressure_b")]
    )
    assert (
        asked["recorded"] == [*sides, ("m", "lift.length"), ("m", "lift.speed"), ("d", "spool")]
        and asked["couple"][0] == scheme
    )
    assert list(found.trace.columns) == [
        "pressure_a",
        "pressure_b",
        "length",
        "speed",
        "spool",
    ] and (asked["h"], asked["stop"]) == (step, 2.0)
    assert (
        found.trace["length"][0] == 2.0
        and found.peak_length_error == 3.5
        and found.peak_pressure == 2.0
    )
    nobody = replace(found, reference={})
    assert (
        math.isnan(nobody.peak_length_error)
        and math.isnan(nobody.peak_pressure)
        and nobody.report()["peak_length_error"] is None
    )


class Rows(dict):
    """A result made by hand."""

    time = np.array([0.0, 1.0])


def test_verdict_changes_at_its_bounds():
    """Two and ten hundredths of the largest pressure belong to the better word."""
    time = np.arange(2.0)
    exact = {
        "time": time,
        "pressure_a": np.array([50.0, -100.0]),
        "pressure_b": np.zeros(2),
        "length": np.ones(2),
    }
    said = [
        Outcome("s", "held", 1.0, 1.0, Trace(time, {}), exact, error, 0.0).verdict
        for error in (2.0, 2.01, 10.0, 10.01)
    ]
    assert said == ["accurate", "rough", "rough", "wrong"]


def unit(name: str, **known: str) -> Any:
    return SimpleNamespace(name=name, units=known)


def test_a_named_bond_of_three_wires_has_a_stiffness():
    """Whichever of them it is; two wires are effort and flow by what either is, whatever their names say of a third."""
    drive, arm = unit("drive", k="N/m", f="N"), unit("arm", v="m/s")
    wires = [
        Wire(drive, "k", arm, "x", bond="b"),
        Wire(arm, "v", drive, "y", bond="b"),
        Wire(drive, "f", arm, "z", bond="b"),
    ]
    assert bonds_of(wires) == [Bond("b", 2, 1, 0, 1.0, True)] and bonds_of(wires[1:]) == [
        Bond("b", 1, 0, None, 1.0, True)
    ]
    plain = [
        Wire(unit("a"), "s", unit("b"), "t", bond="c"),
        Wire(arm, "v", drive, "y", bond="b"),
        Wire(drive, "f", arm, "z", bond="b"),
    ]
    with pytest.raises(
        BadInput,
        match="bond 'c': expected two wires in opposite directions between two units, found a.s -> b.t$",
    ):
        bonds_of(plain)
    both = [*wires[1:], Wire(drive, "f", arm, "w", bond="b")]
    with pytest.raises(BadInput, match="bond 'b': expected two wires"):
        bonds_of(both)
    unknown = [Wire(arm, "a", drive, "b", bond="b"), Wire(drive, "c", arm, "d", bond="b")]
    assert bonds_of(unknown) == [Bond("b", 1, 0)], (
        "the second one is the effort where nothing tells"
    )


def test_names_identify_wires_without_units():
    """A stiffness of a force is no force; a unit that cannot be read tells nothing; two stiffnesses tell none."""

    def pair(*names: str) -> list[Wire]:
        a, b = unit("a", odd="?!"), unit("b")
        return [Wire(a, name, b, name) for name in names[:-1]] + [Wire(b, names[-1], a, names[-1])]

    assert suspected(pair("force", "speed")) == [Bond("a.force", 0, 1, None, 1.0, False)]
    assert (
        suspected(pair("force_stiffness", "speed")) == [] and suspected(pair("odd", "speed")) == []
    )
    assert suspected(pair("force_stiffness", "torque", "velocity")) == [
        Bond("a.torque", 1, 2, 0, 1.0, False)
    ]
    assert suspected(pair("stiffness", "stiffness_too", "torque", "velocity")) == [
        Bond("a.torque", 2, 3, None, 1.0, False)
    ]
    assert suspected(pair("Pressure", "Flow")) == [Bond("a.Pressure", 0, 1, None, -1.0, False)]
    assert (
        suspected(pair("voltage", "current")) == [Bond("a.voltage", 0, 1, None, 1.0, False)]
        and suspected(pair("voltage", "speed")) == []
    )
    a, b = unit("a"), unit("b")
    two = [
        Wire(a, "force", b, "force"),
        Wire(a, "force2", b, "force2"),
        Wire(b, "speed", a, "speed"),
    ]
    assert suspected(two) == [Bond("a.force", 0, 2, None, 1.0, False)], "a flow belongs to one bond"
    assert suspected([Wire(a, "force", b, "force", bond="x"), Wire(b, "speed", a, "speed")]) == []
    assert suspected([Wire(a, "force", b, "force"), Wire(a, "speed", b, "speed")]) == [], (
        "both go the same way"
    )
