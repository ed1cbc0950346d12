"""Rules that studies and runs in the loop count by, at their bounds: what has settled, how far a worst case is looked for, whose command holds."""

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kinetree.scripts.cosim.drive_description import drive_description
from kinetree.scripts.cosim.hydraulic_drive import Drive
from kinetree.scripts.cosim.scenario import read_scenario
from kinetree.scripts.cosim.step_size_control import ControlSpec
from kinetree.scripts.cosim.time_profile import slope_at, value_at
from kinetree.scripts.cosim.valve_cylinder import Cylinder, Valve
from kinetree.scripts.hil.loop_run import Arrivals, Record, apply
from kinetree.scripts.hil.packet import MOST, Frame, unpacked
from kinetree.scripts.hil.scenario import Channel
from kinetree.scripts.studies.optimise_file import Variable, read_task
from kinetree.scripts.studies.samplers import Distribution
from kinetree.scripts.studies.stabilisation import read_comparison, row, settling, table
from kinetree.scripts.studies.study import read_study
from kinetree.scripts.studies.supports_file import read_supports
from kinetree.scripts.studies.worst_case import bounds, sign_of

TIME = np.arange(0.0, 4.25, 0.25)


class Held(dict):
    """Columns of a run in SI, disturbed at 1 s and at 3 s."""

    time = TIME
    events = [
        SimpleNamespace(time=t, stage=stage)
        for t, stage in ((1.0, "swing a"), (2.5, "travel"), (3.0, "swing b"))
    ]

    def unit(self, name: str) -> str:
        return {"slew": "rad", "speed": "m/s", "share": "", "luff": "m"}[name]


def asked(**more: Any) -> Any:
    return SimpleNamespace(
        **{
            "hold": ["slew"],
            "band": 0.25,
            "disturbed": "swing",
            "until": "travel",
            "energy": "",
            **more,
        }
    )


def test_settling_time_definition():
    """From a disturbance to the row after the last one outside; a deviation on the band is within, the end of the span is as late as it gets."""
    late = lambda *rows: np.where(np.isin(np.arange(TIME.size), rows), -0.5, 0.25)  # noqa: E731
    assert settling(TIME, late(), 1.0, 2.0, 0.25) == 0.0
    assert (
        settling(TIME, late(4), 1.0, 2.0, 0.25) == 0.25
        and settling(TIME, late(5, 6), 1.0, 2.0, 0.25) == 0.75
    )
    assert settling(TIME, late(8), 1.0, 2.0, 0.25) == 1.0, "the row at the end counts"
    assert settling(TIME, late(3, 9), 1.0, 2.0, 0.25) == 0.0, "before and after do not"


def test_variants_report_deviations():
    """From the start of the run, with their signs where they end; settled within the longer of two spans, 1.5 s after the first disturbance."""
    slew = np.full(TIME.size, 0.125)
    slew[[5, 13, 16]] += [1.0, -0.75, -0.25]
    found = row(asked(energy="joules"), "by hand", Held(slew=slew, joules=TIME))  # type: ignore[arg-type]
    assert (found.largest["slew"], found.left["slew"], found.energy, found.span) == (
        1.0,
        -0.25,
        4.0,
        1.5,
    )
    assert found.mean["slew"] == pytest.approx(
        math.sqrt((1.0 + 0.75**2 + 0.25**2) / TIME.size), rel=1e-15
    )
    assert found.settling["slew"] == 0.5 and found.settled("slew")
    assert math.isnan(row(asked(), "by hand", Held(slew=slew)).energy)  # type: ignore[arg-type]
    whole = row(asked(disturbed="", until=""), "by hand", Held(slew=slew))  # type: ignore[arg-type]
    assert (whole.span, whole.settling["slew"]) == (4.0, 3.5)


def test_variant_table_marks_unsettled():
    slew, speed = np.zeros(TIME.size), np.zeros(TIME.size)
    slew[5], slew[-1], speed[-1] = 0.5, 1e-13, 2.5
    rows = table(
        asked(hold=["slew", "speed"], energy="joules", disturbed="", until=""),
        {"a": Held(slew=slew, speed=speed, joules=250.4 * TIME)},
    )  # type: ignore[dict-item]
    assert rows == [
        ["way", "slew [mrad]: largest", "slew [mrad]: rms", "slew [mrad]: at the end", "slew: settled after",
         "speed [m/s]: largest", "speed [m/s]: rms",
         "speed [m/s]: at the end", "speed: settled after", "energy [J]"],
        ["a", "500", "121.3", "0", "1.50 s", "2.5", "0.6063", "2.5", "not", "1002"],
    ]  # fmt: skip


def test_file_defaults_match_documentation(tmp_path: Path):
    """Numbers of a study of supports, a comparison of ways, a channel and drives that nobody gave: those of the heads of the files."""
    (tmp_path / "s.toml").write_text(
        'mechanism = "lib:x"\nsupports = ["a"]\nhold = ["x"]\n[ground]\nbedding = 1e8\n[vary]\nbedding = [1e7]\n'
    )
    stands = read_supports(tmp_path / "s.toml")
    ground = stands.ground
    assert (ground.damping, ground.footprint, ground.bearing, ground.hardening) == (
        1e6,
        0.25,
        None,
        0.0,
    )
    assert (stands.between, stands.band, stands.corner) == ([0.0, 1.0], 2e-4, "")
    (tmp_path / "w.toml").write_text('mechanism = "lib:x"\nhold = ["x"]\nband = 0.5\n[ways.a]\n')
    compared = read_comparison(tmp_path / "w.toml")
    assert (compared.samples, compared.seed, compared.settings, compared.until) == (32, 0, {}, "")
    assert Channel() == Channel(0.0, 0.0, 0.0, 0), "nothing is late or lost"
    for horizon, interval in ((0.0, 0.01), (0.002, 0.002)):
        made = drive_description(Drive(Cylinder(), Valve()), horizon=horizon)
        assert (
            made["run"] == {"stop_time": 1.0, "output_step": interval}
            and made["parameters"]["horizon"]["value"] == horizon
        )


def test_scenario_defaults_match_documentation(tmp_path: Path):
    """A second in steps of a hundredth, wires that carry what they carry; one search from its start over the worst of all; a hundred drawn cases."""
    (tmp_path / "s.toml").write_text(
        'step_control = {}\n[units.a]\nfmu = "a.fmu"\n[[wires]]\nfrom = "a.y"\nto = "a.u"\n'
    )
    coupled = read_scenario(str(tmp_path / "s.toml"))
    assert (coupled.stop_time, coupled.step_size, coupled.scheme, coupled.extrapolation) == (
        1.0,
        0.01,
        "held",
        0,
    )
    (wire,) = coupled.connections
    assert (wire.factor, wire.offset, wire.mean, wire.hold, wire.slope, wire.bond) == (
        1.0,
        0.0,
        False,
        False,
        "",
        "",
    )
    assert coupled.control == ControlSpec(0.01, None, None)
    (tmp_path / "o.toml").write_text(
        'mechanism = "lib:pendulum"\n[optimize.variables]\nl = { from = 1, to = 3 }\n[optimize.measures]\n"max(phi)" = 1.0\n'
    )
    task = read_task(tmp_path / "o.toml")
    assert (task.method, task.multistart, task.seed, task.over, task.iterations, task.pareto) == (
        "slsqp",
        0,
        0,
        "worst",
        200,
        0,
    )
    assert task.scenarios == [{}] and task.variables["l"] == Variable(1.0, 3.0, 2.0, False), (
        "from the middle, as described"
    )
    (tmp_path / "v.toml").write_text(
        'mechanism = "lib:pendulum"\ncombine = "latin"\nrest = ["growth"]\n[vary]\nl = { uniform = [1, 2] }\n'
    )
    study = read_study(tmp_path / "v.toml")
    assert (study.count(), study.samples, study.seed) == (100, 100, 0)


def test_worst_case_search_covers_three_deviations():
    for kind, pair, expected in (
        ("uniform", (1.0, 4.0), (1.0, 4.0)),
        ("normal", (10.0, 0.5), (8.5, 11.5)),
        ("lognormal", (2.0, 1.5), (2 / 3.375, 6.75)),
    ):
        assert bounds(Distribution.of({kind: list(pair)}, "vary.k")) == pytest.approx(
            expected, rel=1e-15
        )
    assert bounds([3.0, 1.0, 2.0]) == (1.0, 3.0)
    assert [
        sign_of(name) for name in ("damping", "gain_margin", "modulus_margin", "growth", "max(x)")
    ] == [1.0, 1.0, 1.0, -1.0, -1.0]


def test_profile_is_linear_between_points_and_constant_outside():
    """With a jump where two points have one time: it has happened at its instant, and has no slope."""
    profile = ((1.0, 2.0), (3.0, -2.0), (3.0, 5.0), (4.0, 5.5))
    assert [value_at(profile, t) for t in (0.0, 1.0, 1.5, 2.5, 3.0, 3.5, 4.0, 9.0)] == [
        2.0,
        2.0,
        1.0,
        -1.0,
        5.0,
        5.25,
        5.5,
        5.5,
    ]
    assert [slope_at(profile, t) for t in (0.0, 1.0, 2.5, 3.0, 3.5, 4.0, 9.0)] == [
        0.0,
        -2.0,
        -2.0,
        0.5,
        0.5,
        0.0,
        0.0,
    ]
    assert value_at((), 1.0) == slope_at((), 1.0) == 0.0 and value_at(((2.0, 7.0),), 0.0) == 7.0


@pytest.mark.parametrize(("late", "kept"), [("hold", (1.5,)), ("zero", (0.0,)), ("stop", None)])
def test_stale_commands_follow_rule(late: str, kept: tuple[float, ...] | None):
    """Nothing can have come before the first step; from then on a step without a command is stale, and its command a step older."""
    given: list[tuple[float, ...]] = []
    plant: Any = SimpleNamespace(command=given.append)
    record = Record(SimpleNamespace(late=late, commands=["f"]), True)  # type: ignore[arg-type]
    assert apply(plant, record, None, 0, (9.0,)) == (9.0,) and (record.stale, record.ages) == (
        0,
        [0],
    )
    assert apply(plant, record, None, 1, (9.0,)) == (9.0,) and (record.stale, record.ages) == (
        1,
        [0, 1],
    ), "no command has come yet: no rule holds"
    assert (
        apply(plant, record, (1, (1.5,)), 3, (9.0,)) == (1.5,)
        and given == [(1.5,)]
        and record.ages[-1] == 2
    )
    assert apply(plant, record, None, 4, (1.5,)) == kept
    assert (record.received, record.stale, record.ages) == (1, 2, [0, 1, 2, 3])
    assert given == [(1.5,), *([(0.0,)] if late == "zero" else [])]
    assert record.notes == (
        ["stopped at step 4: its command had not come"] if late == "stop" else []
    )


def test_frame_arriving_at_step_start_is_used():
    arrivals = Arrivals()
    arrivals.put(0.5, Frame(0, 0.0, (1.0,)))
    assert arrivals.take(math.nextafter(0.5, 0.0)) is None and arrivals.take(0.5) == (0, (1.0,))
    arrivals.put(0.6, Frame(0, 0.0, (2.0,)))
    assert arrivals.take(1.0) is None, "the same number again is no news"


def test_frame_value_count_is_limited():
    most, last = Frame(2**32 + 3, 1.0, tuple(map(float, range(MOST)))), Frame(4, 0.5, (), True)
    assert unpacked(most.packed()) == most._replace(sequence=3) and unpacked(last.packed()) == last
    assert (
        unpacked(Frame(1, 1.0, (0.0,) * (MOST + 1)).packed()) is None and len(last.packed()) == 32
    )
