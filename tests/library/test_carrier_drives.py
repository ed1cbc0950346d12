"""Drives of the carrier: geometry, the start under load, inside and outside under told stiffness, advance compensation, tables, demonstration."""

from pathlib import Path

import numpy as np
import pytest

from kinetree.models import ModelError, load
from kinetree.models.analysis.control_loops import control_loops, stage_loops, worst_loop
from kinetree.models.expressions.parse import evaluate_constant
from kinetree.models.language.parts.report_parts import ReportTable
from kinetree.models.library import carrier_drives
from kinetree.models.library.carrier_parts import RING, Settings
from kinetree.models.result.stage_tables import stage_table as report_table
from kinetree.scripts.commands.tune import write
from kinetree.scripts.cosim.scenario import read_scenario, scenario_of
from kinetree.scripts.cosim.wired_scenario import run_wired
from kinetree.scripts.developer import demo
from kinetree.scripts.hil.scenario import read_scenario as read_loops
from kinetree.scripts.reports import stage_pictures
from kinetree.scripts.reports.html_report import write_report
from kinetree.scripts.reports.stage_tables import books, show, stage_table, tables
from kinetree.scripts.studies import carrier_cosim, stabilisation, stabilisation_report
from kinetree.scripts.studies.carrier_cosim import LABELS, run_carrier
from kinetree.scripts.studies.controller_design import design
from kinetree.scripts.studies.optimise import optimise
from kinetree.scripts.studies.optimise_file import read_task
from kinetree.scripts.terminal.error_messages import BadInput

ON = Settings(
    1, 0, full=0, hydraulic=0, soil=0, contacts=0, outside=1, drives=0, cylinders=1, forward=0
)


@pytest.mark.parametrize(
    "drive", carrier_drives.fitted(ON, "base", RING), ids=lambda drive: drive.label
)
@pytest.mark.parametrize("angle", [-0.6, 0.0, 0.3, 0.65])
def test_actuator_lever_arms_are_derivatives_of_lengths(drive: carrier_drives.Drive, angle: float):
    """Central difference of the length; the sense of a drive is the sign of its lever within the allowed angles."""
    if drive.axis == "luff" and angle < 0:
        return
    up, down, lever = (evaluate_constant(text, {"x": value}) for text, value in (
        (drive.length("x"), angle + 1e-6), (drive.length("x"), angle - 1e-6), (drive.lever("x"), angle),
    ))  # fmt: skip
    assert lever == pytest.approx((up - down) / 2e-6, abs=1e-8)
    assert lever * drive.sense > 0.1


def test_carrier_length_formulas_match_actuators():
    system = load("lib:carrier", modules=1, outside=1, cylinders=1).compile()
    q, u = system.start()
    found, angles = system.outputs(0.0, q, u), dict(zip(system.coordinates, q, strict=True))
    for drive in carrier_drives.fitted(ON, "base", RING):
        shortest, longest = carrier_drives.STROKES[drive.label]
        length = evaluate_constant(drive.length("x"), {"x": angles[drive.axis]})
        assert found[f"{drive.label}.length"] == pytest.approx(length, abs=1e-12)
        assert shortest < length < longest


@pytest.mark.parametrize("cylinders", [0, 1])
def test_prepared_loads_hold_carrier_in_equilibrium(cylinders: int):
    """With the forces that the states *_load remember nothing accelerates: beside gravity, what the roundoff of the stiff lock leaves."""
    system = load("lib:carrier", modules=2, outside=1, cylinders=cylinders).compile()
    twin = system.simulate(1e-6, output_step=1e-6)
    forces = {
        f"{label}.force": float(twin[f"{label}_load"][0]) for label in system.description.actuators
    }
    q, u = system.start()
    assert np.abs(system.accelerations(0.0, q, u, inputs=forces)).max() < 1e-7 * 9.81


def test_internal_drives_balance_energy():
    """Exactly at rest before the first push; what is taken from the supply covers the work; pressures stay within supply and tank."""
    system = load("lib:carrier", modules=1, drives=1, cylinders=1).compile()
    result = system.simulate(1.6, output_step=0.005, tolerance=1e-8)
    resting = result.time < 0.49
    assert np.abs(result["luff_error"][resting]).max() < 1e-9
    assert result["drive_energy"][resting].max() < 1e-6
    assert result["drive_energy"][-1] > result["drive_work"][-1] > 0
    assert np.diff(result["drive_energy"]).min() > -1e-8
    for label in LABELS:
        for side in "ab":
            assert (
                5e5
                < result[f"{label}_{side}.pressure"].min()
                <= result[f"{label}_{side}.pressure"].max()
                < 210e5
            )
        shut = result[f"{label}_valve.spool"][resting]
        assert np.abs(shut).max() < 1e-9


def test_coupled_drives_match_monolithic_system():
    """Told stiffness, controllers that sample: of first order in the step, below 2 % of the motion at 10 ms."""
    errors = {
        step: run_carrier(Path(), "process", step, modules=1, pace=0.6) for step in (0.01, 0.005)
    }
    for name in ("slew", "luff"):
        (coarse, size), (fine, _) = (errors[step].deviation(name) for step in (0.01, 0.005))
        assert coarse < 0.02 * size
        assert fine < 0.6 * coarse
    for run in errors.values():
        assert run.trace.stable
        assert np.ptp(run["luff"]) > 1e-3
        assert run.energy[-1] == pytest.approx(run.reference["drive_energy"][-1], rel=0.05)


def test_demonstration_uses_carrier_scenario(monkeypatch: pytest.MonkeyPatch):
    """`kinetree cosim lib:carrier`: the same start, drives and wires as the demonstration's, so the same motion."""
    scenario = read_scenario("lib:carrier")
    system = load("lib:carrier", **scenario.unit("carrier").settings).compile()
    start = system.simulate(1e-6, output_step=1e-6)
    for label, axis in LABELS.items():
        given = scenario.unit(label).start
        assert given["length"] == pytest.approx(start[f"{label}.length"][0], abs=1e-9)
        assert given["load"] == pytest.approx(start[f"{label}_load"][0], abs=1e-3)
        assert scenario.unit(f"{label}_control").start["measured"] == pytest.approx(
            start[axis][0], abs=1e-9
        )
    outcome = run_wired(scenario, "sequential", 0.01, 1.4)
    assert outcome.trace.stable
    assert outcome.notes == []
    whole = carrier_cosim.cosimulate
    monkeypatch.setattr(
        carrier_cosim, "cosimulate", lambda make, end, *more: whole(make, min(end, 1.4), *more)
    )  # what is compared
    run = run_carrier(Path(), "process", 0.01, modules=4, pace=0.8)
    count = outcome.trace.time.size
    for axis in ("slew", "luff"):
        assert outcome.trace[f"carrier.{axis}"] == pytest.approx(run[axis][:count], abs=1e-9)


def test_settings_of_scenarios_are_checked():
    wrong = [
        ({"drive": {}, "settings": {"x": 1}}, "only a description"),
        ({"description": "lib:boom", "settings": {"no": 1}}, "unknown parameter"),
    ]
    for unit, says in wrong:
        with pytest.raises((BadInput, ModelError), match=says):
            run_wired(
                scenario_of({"units": {"a": unit}, "wires": []}, "here.toml"), "held", 0.01, 0.1
            )


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["native", "python"])
def test_coupled_carrier_fmus_match_process(backend: str, tmp_path: Path):
    """Seven FMUs under fmpy beside the same programs in the process: only how inputs that move are handed over differs."""
    fmus, programs = (
        run_carrier(tmp_path, kind, 0.005, modules=1, pace=0.6) for kind in (backend, "process")
    )
    assert len(fmus.files) == 7
    for name in ("slew", "luff", "heave"):
        assert fmus[name] == pytest.approx(programs[name], abs=1e-9)


def shipped_ways(*names: str) -> stabilisation.Comparison:
    """Return the comparison that ships with some of its ways."""
    wanted = stabilisation.read_comparison()
    found = wanted.model_copy(update={"ways": {name: wanted.ways[name] for name in names}})
    found._path = wanted.path
    return found


def test_feed_forward_compensation_has_smallest_deviation():
    """Shut valves lose the angle as weight leaves, proportional control brings it back, advance halves the deviations at least."""
    wanted = shipped_ways("valves shut", "proportional", "proportional and advance")
    wanted = wanted.with_settings({"modules": 2, "pace": 0.8})
    runs = stabilisation.compare(wanted)
    shut, proportional, advance = (
        stabilisation.row(wanted, way, result) for way, result in runs.items()
    )
    assert proportional.left["luff"] < 0.2 * shut.left["luff"]
    for axis in ("slew", "luff"):
        assert advance.largest[axis] < 0.5 * shut.largest[axis]
        assert advance.mean[axis] < 0.6 * proportional.mean[axis]
    assert 0 == pytest.approx(shut.energy, abs=1e-9)
    assert shut.energy < proportional.energy < advance.energy
    rows = stabilisation.table(wanted, runs)
    assert [len(row) for row in rows] == [10] * 4


@pytest.mark.slow
def test_compensation_with_estimated_loads_is_nearly_as_good_as_with_known_loads(tmp_path: Path):
    """One departure: mass and push, foreseen a quarter off, are found while the module travels; the report has all ways."""
    names = ("proportional and advance", "advance, loads 25 % off", "advance, loads estimated")
    wanted = shipped_ways(*names).with_settings({"modules": 1, "pace": 0.5})
    runs = stabilisation.compare(wanted)
    known, wrong, estimated = (
        stabilisation.row(wanted, way, result).largest["luff"] for way, result in runs.items()
    )
    assert wrong > 1.15 * known
    assert abs(estimated - known) < 0.25 * (wrong - known)
    result = runs[names[-1]]
    left = np.searchsorted(result.time, 1.0)  # soon before the module leaves its rail
    for name, right in (("module_mass", 120.0), ("push_factor", 1.0)):
        error = result[f"loads.{name}"][left] - right
        assert abs(error) < 4 * result[f"loads.{name}.std"][left]
        assert abs(error) < 0.1 * right
    assert 0.7 < result["loads.nis"][1:].mean() < 1.3
    page = stabilisation_report.write_report(wanted, runs, {}, tmp_path / "ways.html").read_text()
    assert all(name in page for name in names)


def test_estimated_loads_require_internal_hydraulic_drives():
    for settings, says in (
        ({"drives": 3}, "hydraulic drives"),
        ({}, "hydraulic drives"),
        ({"drives": 1, "replan": 1}, "replan are both 1"),
    ):
        with pytest.raises(ModelError, match=says):
            load("lib:carrier", modules=1, estimated=1, **settings)


def test_settling_time_matches_hand_calculation():
    """A deviation that leaves the band of 0.2 mrad last at 1.5 s, three quarters after the departure."""
    time = np.arange(0.0, 3.0, 0.25)
    deviation = np.where((time == 0.5) | (time == 1.5), 3e-4, 1e-5)
    assert stabilisation.settling(time, deviation, 0.75, 2.75, 2e-4) == pytest.approx(1.0)
    assert stabilisation.settling(time, deviation, 1.75, 2.75, 2e-4) == 0.0
    assert stabilisation.settling(time, 0 * deviation + 1.0, 0.75, 2.75, 2e-4) == 2.0
    assert stabilisation.settling(time + 5.0, deviation, 5.75, 7.75, 2e-4) == pytest.approx(
        1.0
    )  # whenever the run begins


def test_stage_tables_match_hand_calculation():
    """Two stages of three rows: values at their ends, deviations from the start, sums over stages."""
    columns = {"x": np.array([1.0, 4.0, 2.0, 2.0, -3.0, 0.0])}
    stages = np.array([0, 0, 0, 1, 1, 1])
    start, end, largest = (
        stage_table(stages, ["one", "two"], columns, kind)
        for kind in ("start", "end", "max_deviation")
    )
    sums = [
        ["mean", "1.5"],
        ["standard deviation", "0.5"],
        ["deviation from the start", "0.707107"],
    ]
    assert start[1:] == [["start of the run", "1"], ["one", "1"], ["two", "2"], *sums]
    assert [row[1] for row in end[2:4]] == ["2", "0"]
    assert [row[1] for row in largest[2:]] == ["3", "-4", "-0.5", "3.5", "3.53553", "7"]


def test_stage_tables_use_fitting_units():
    """What is small against what changes is told in thousandths; what is below rounding is nothing."""
    columns = {
        "angle": np.array([0.3, 0.3002, 0.2995, 0.3001]),
        "rate": np.array([0.0, 2e-3, -7e-16, 1e-3]),
    }
    head, *rows = stage_table(
        np.array([0, 0, 1, 1]), ["one", "two"], columns, "start", ["rad", "rad/s"]
    )
    assert head == ["", "angle [mrad]", "rate [mrad/s]"] and rows[2] == ["two", "299.5", "0"]


def test_tables_of_a_run_have_a_row_per_stage():
    system = load("lib:carrier", modules=1).compile()
    found = tables(system.simulate(tolerance=1e-6), system.coordinates)
    for rows in found.values():
        names, units = zip(*(each.rstrip("]").split(" [") for each in rows[0][1:]), strict=True)
        assert names == ("heave", "pitch", "roll", "slew", "luff")
        assert units[0] in ("m", "mm") and set(units[1:]) <= {
            "rad",
            "mrad",
            "µrad",
        }  # those that fit the numbers
    ends = found["At the end of each phase"]
    assert [row[0] for row in ends[1:4]] == ["start of the run", "departure 1", "mean"]


def test_salvo_table_has_row_per_departure_and_sums():
    """Push and free swing are one departure; range and mean of the salvo are those of its motion, not of the rows; digits show the deviations."""
    system = load("lib:carrier", modules=2).compile()
    run = system.simulate(tolerance=1e-6, output_step=1e-3)
    assert run.phases == ["", *["departure 1"] * 2, *["departure 2"] * 2]
    inside = (run["stage"] > 0) & (run["stage"] < 5)
    luff = run["luff"][inside]
    head, *rows = tables(run, system.coordinates)["Largest deviation within each phase"]
    column = next(k for k, name in enumerate(head) if name.startswith("luff ["))
    scale = {"luff [mrad]": 1e3, "luff [rad]": 1.0}[head[column]]
    told = {row[0]: float(row[column]) / scale for row in rows}
    assert list(told)[1:3] == ["departure 1", "departure 2"]
    assert told["range over time"] == pytest.approx(np.ptp(luff), rel=1e-4)
    assert told["mean over time"] == pytest.approx(luff.mean(), rel=1e-5)
    head, *rows = tables(run, system.coordinates)["At the end of each phase"]
    column = next(k for k, name in enumerate(head) if name.startswith("slew ["))
    assert len(rows[1][column].split(".")[1]) >= 6

    wanted = {"title": "t", "columns": ["luff"], "sums": ["initial", "whole_range", "whole_std"]}
    for more in ({"over": "phases"}, {"stages": ["departure*"]}):
        table = report_table(run, ReportTable.model_validate({"rows": "end", **wanted, **more}))
        assert table.labels == ("departure 1", "departure 2")
        assert table.sums["whole_range"][0] == pytest.approx(np.ptp(luff), rel=1e-4)
        assert table.sums["whole_std"][0] == pytest.approx(luff.std(), rel=1e-2)
        away = table.values[:, 0] - run["luff"][0]
        assert table.sums["initial"][0] == pytest.approx(np.sqrt((away**2).mean()))
    with pytest.raises(KeyError, match="departur3"):
        report_table(run, ReportTable.model_validate({**wanted, "stages": ["departur3"]}))
    plain = load("lib:impact-pair").compile().simulate(0.1)
    with pytest.raises(KeyError, match="phase"):
        report_table(plain, ReportTable.model_validate({"over": "phases"}))


def test_tables_show_every_coordinate(capsys: pytest.CaptureFixture[str]):
    """Twelve columns do not fit into 100 characters: they go on below, twice, each row with its stage."""
    system = load("lib:carrier-detailed", modules=1).compile()
    found = tables(system.simulate(tolerance=1e-6), system.coordinates)
    assert {"front_yaw", "slew", "lean", "luff"} < {
        each.split(" [")[0] for each in next(iter(found.values()))[0]
    }
    show(found, 100)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 100
    assert (
        sum(" luff [" in line for line in lines) == 3
        and sum(line.startswith("  departure 1 ") for line in lines) >= 9
    )


def test_carrier_run_balances_energy():
    """A departure takes nothing but the last elastic energy of the guides, the drop a module with its momentum; the balance stays closed."""
    result = load("lib:carrier", modules=1).compile().simulate(tolerance=1e-9)
    head, *rows = books(result)
    found = {row[0]: dict(zip(head[1:], map(float, row[1:]), strict=True)) for row in rows}
    assert list(found) == ["travel 1", "swing 1", "after swing 1"]
    gone, left = found["after swing 1"], found["swing 1"]
    assert (
        left["mass removed [kg]"] == 0.0
        and left["momentum removed [N.s]"] < 1e-8
        and 0.0 <= left["energy removed [J]"] < 0.01
    )
    assert gone["mass removed [kg]"] == 120.0 and gone["mass [kg]"] == left["mass [kg]"] - 120.0
    assert gone["momentum removed [N.s]"] > 1e3 and all(
        abs(row["energy balance [J]"]) < 1e-8 * left["energy [J]"] for row in found.values()
    )


def test_staged_run_plot_is_drawn(tmp_path: Path):
    """Angles, loads, heights, energy and, with drives, pressures; the flat edge of the cradle as deviations; what does not move is left out."""
    system = load("lib:carrier", modules=1, drives=1, cylinders=1).compile()
    result = system.simulate(tolerance=1e-6)
    shown = stage_pictures.panels(result, system.coordinates, stage_pictures.drawn(system, result))
    assert shown[:2] == [
        ("deviation", "m", ["heave"]),
        ("deviation", "rad", ["pitch", "roll", "slew", "luff"]),
    ]
    assert ("value", "J", ["drive_energy", "drive_work"]) in shown
    assert next(len(names) for _, unit, names in shown if unit == "Pa") == 6
    assert not any("supply_line.pressure" in names for _, _, names in shown)
    stage_pictures.draw_stages(system, result, tmp_path / "run.png")
    assert (tmp_path / "run.png").stat().st_size > 20_000


def test_reports_are_self_contained(tmp_path: Path):
    page = write_report(tmp_path / "report.html", "a < b", ["<p>text</p>"]).read_text(
        encoding="utf-8"
    )
    assert "<title>a &lt; b</title>" in page
    assert "http" not in page


@pytest.mark.slow
def test_demonstration_runs_within_three_minutes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """FMUs, pictures, tables and a page that holds them all, in less than three minutes."""
    assert demo.main(tmp_path) == 0
    said = capsys.readouterr().out
    assert "stable" in said
    assert f"open {tmp_path / 'report.html'}" in said
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.count("data:image/png;base64,") == 4
    assert 'src="http' not in page
    for text in ("on the jacks", "travel 4", "luff_drive, pressure a", "proportional and advance"):
        assert text in page
    assert len(list(tmp_path.glob("*.fmu"))) == 7
    assert float(said.rsplit("done in ", 1)[1].split(" s")[0]) < 180


def test_prescribed_valve_openings_act_at_their_times():
    """Without openings nothing changes; the third knot of luff opens from 0.1 to 0.2 s after the push at 0.5 s and moves nothing before."""
    with_knots = load("lib:carrier", modules=1, drives=1, forward=1)
    plain, zero, one = (
        mechanism.compile(**values).simulate(1.0, output_step=0.01, tolerance=1e-9)
        for mechanism, values in (
            (load("lib:carrier", modules=1, drives=1), {}),
            (with_knots, {}),
            (with_knots, {"luff_forward_3": 0.4}),
        )
    )
    assert zero["luff"] == pytest.approx(plain["luff"], abs=1e-8)
    before = one.time <= 0.6
    moved = np.abs(one["luff"] - zero["luff"])
    assert moved[before].max() < 1e-8 and moved.max() > 1e-5
    assert one["slew"][before] == pytest.approx(zero["slew"][before], abs=1e-8)
    with pytest.raises((ValueError, ModelError), match="drives is 0"):
        load("lib:carrier", modules=1, forward=1)


@pytest.mark.slow
def test_openings_found_by_shooting_halve_the_deviation(tmp_path: Path):
    """The example's task for one module: at no more energy than the hand-tuned advance takes, the largest deviation (of luff) is
    at most half of its."""
    text = (Path(__file__).parents[2] / "examples" / "control" / "carrier_forward.toml").read_text(
        encoding="utf-8"
    )
    hand = (
        load("lib:carrier", modules=1, drives=1, cylinders=1, advance=1.0, pace=0.6)
        .compile()
        .simulate(tolerance=1e-7, output_step=0.005)
    )
    text = (
        text.replace("modules = 4", "modules = 1")
        .replace("pace = 1.5", "pace = 0.6")
        .replace("iterations = 10", "iterations = 6")
    )
    (tmp_path / "task.toml").write_text(
        text.replace("1743.5", repr(float(hand["drive_energy"][-1])))
    )
    found = optimise(read_task(tmp_path / "task.toml"))
    assert found.feasible
    largest = max(float(np.abs(hand[axis] - hand[axis][0]).max()) for axis in ("slew", "luff"))
    assert max(found.measures[f"deviation({axis})"] for axis in ("slew", "luff")) < 0.5 * largest


def test_compensation_by_wrong_departure_model_is_worse():
    """What is foreseen as it is holds best; with the sides of two modules exchanged slew is worse off than without, with half a mass luff is."""

    def largest(known_order: object = -1, **parameters: float) -> dict[str, float]:
        mechanism = load(
            "lib:carrier", modules=2, drives=1, cylinders=1, pace=1.0, known_order=known_order
        )
        result = mechanism.compile(**parameters).simulate(tolerance=1e-6)
        return {
            name: float(np.abs(result[name] - result[name][0]).max()) for name in ("slew", "luff")
        }

    without, right = largest(advance=0.0), largest(advance=1.0)
    assert largest([1, 2], advance=1.0) == right and largest(advance=1.0, known_mass=120.0) == right
    turned, light = largest([2, 1], advance=1.0), largest(advance=1.0, known_mass=60.0)
    assert right["slew"] < without["slew"] < turned["slew"] and turned["luff"] == pytest.approx(
        right["luff"], rel=0.05
    )
    assert right["luff"] < light["luff"]
    with pytest.raises(ModelError, match="every number from 1 to 2 once"):
        load("lib:carrier", modules=2, drives=1, known_order=[1, 1])


@pytest.mark.parametrize("cylinders", [0, 1])
def test_carrier_with_drives_accepts_setpoints(cylinders: int):
    """An input per angle, at first the commanded one: left alone it holds, moved it is followed; gains are tunable."""
    system = load("lib:carrier", drives=1, modules=1, pause=20.0, cylinders=cylinders).compile()
    assert system.compiled.inputs == ("slew_set", "luff_set")
    starts = dict(zip(system.compiled.inputs, system._fast.input_starts(), strict=True))
    assert starts == {"slew_set": 0.3, "luff_set": 0.5}
    held = system.simulate(1.0, output_step=0.1)
    moved = system.simulate(4.0, output_step=0.1, inputs={"slew_set": 0.25, "luff_set": 0.53})
    for axis, by in (("slew", -0.05), ("luff", 0.03)):
        assert held[axis] == pytest.approx(np.full(held.time.size, held[axis][0]), abs=2e-5)
        assert moved[axis][-1] - moved[axis][0] == pytest.approx(by, abs=2e-3)
    tunable = {n for n, p in system.description.parameters.items() if getattr(p, "tunable", False)}
    assert {"slew_gain", "luff_gain", "luff_advance"} <= tunable


@pytest.mark.parametrize("settings", [{"drives": 1}, {"drives": 2, "cylinders": 1}])
def test_equilibrium_pressures_keep_angles_stably(settings: dict):
    """Every resting state before the run returns to itself; with the controllers in it the run begins in the last one."""
    system = load("lib:carrier", modules=1, **settings).compile()
    rests = system.preparations
    assert [each.stable for each in rests.values()] == [True] * 4
    held, begun = rests["held by the drives"], system.equilibrium()
    for name in ("luff_drive_a.pressure", "luff_drive_b.pressure"):
        assert begun.states[name] == pytest.approx(held.states[name], rel=1e-6)


def test_margins_of_the_carrier_by_stage_name_the_worst():
    """As the first stage begins they are those at rest; a module in flight is no matter of them; the worst has the least modulus margin."""
    system = load("lib:carrier", drives=1, modules=1).compile()
    stages = stage_loops(system)
    assert [each.stage for each in stages] == ["rest", "travel 1", "swing 1", "after swing 1"]
    for now, still in zip(stages[0].loops, control_loops(system), strict=True):
        assert now.name == still.name
        assert now.margins.gain == pytest.approx(still.margins.gain, rel=1e-3)
    loops = [loop for each in stages for loop in each.loops]
    assert len(loops) == 8 and all(loop.margins.stable for loop in loops)
    worst = worst_loop(stages)
    assert worst and worst[1].margins.modulus == min(loop.margins.modulus for loop in loops)
    assert stages[-1].loops[1].margins.gain != pytest.approx(loops[1].margins.gain, rel=1e-3)


@pytest.mark.slow
def test_carrier_loops_are_stable_with_compensation_and_unstable_with_high_gain():
    """What the compensation lets drift for a moment is no instability; a gain above the margin is one in every stage."""
    for settings, stable in (({"advance": 1.0, "pace": 1.5}, True), ({"luff_gain": 640.0}, False)):
        system = load("lib:carrier", drives=1, modules=1, cylinders=1, **settings).compile()
        for each in stage_loops(system):
            assert each.loops[1].margins.stable == stable


def test_electric_drives_keep_carrier_angles_and_compensate():
    """Motors begin at rest under the load, keep margins, follow set values; what they know ahead lessens the deviations."""
    system = load("lib:carrier", drives=3, modules=1).compile()
    for loop in control_loops(system):
        assert loop.margins.stable and loop.margins.phase > 45.0
    plain = system.simulate(2.0, output_step=0.01, tolerance=1e-7)
    ahead = load("lib:carrier", drives=3, modules=1, advance=1.0).compile()
    known = ahead.simulate(2.0, output_step=0.01, tolerance=1e-7)
    resting = plain.time < 0.49
    assert np.ptp(plain["luff"][resting]) < 1e-8 and plain["luff_drive_current"][0] > 5.0
    largest = [np.abs(run["luff_error"]).max() for run in (plain, known)]
    assert largest[1] < 0.7 * largest[0] < 1e-3
    assert plain["drive_energy"][-1] > 0.0 and not plain["luff_drive_saturation"].any()
    moved = load("lib:carrier", drives=3, modules=1, pause=9.0).compile()
    last = moved.simulate(4.0, output_step=0.1, inputs={"slew_set": 0.25, "luff_set": 0.53})
    assert last["slew"][-1] == pytest.approx(0.25, abs=2e-4)
    assert last["luff"][-1] == pytest.approx(0.53, abs=2e-4)


@pytest.mark.slow
def test_tuned_valve_controllers_run_and_keep_margins(tmp_path: Path):
    """Sampled controllers, with oil that is shut in beside them: as stable in the mechanism as in the design."""
    text = """mechanism = "lib:carrier"
step = 0.002
stop_time = 2.5
set = { drives = 2, modules = 1 }
loops = [
  { measure = "slew", command = "slew_drive_opening", setpoint = 0.3, low = -1, high = 1, kp = 1.0 },
  { measure = "luff", command = "luff_drive_opening", setpoint = 0.5, low = -1, high = 1, kp = 1.0, ki = 1.0 },
]
"""
    (tmp_path / "tune.toml").write_text(text)
    write(
        design(read_loops(tmp_path / "tune.toml")),
        "pid",
        tmp_path / "tune.toml",
        None,
        held := tmp_path / "held.toml",
    )
    system = load(held).compile()
    for loop in control_loops(system):
        assert loop.margins.stable and loop.margins.gain > 1.9
    run = system.simulate(2.0, tolerance=1e-6)
    assert np.abs(run["luff"] - 0.5).max() < 3e-3 and np.abs(run["slew"] - 0.3).max() < 3e-3
    assert np.ptp(run["luff"][run.time < 0.4]) < 1e-4


def test_working_motions_open_the_valves_between_a_fifth_and_four_fifths():
    """A departure from the outermost column that is compensated ahead; set values that move by 40 and 5 mrad."""
    carrier = load("lib:carrier", drives=1, cylinders=1, advance=1.0)
    departs = carrier.compile().simulate(0.9, output_step=0.01, tolerance=1e-5)
    moves = carrier.compile().simulate(
        0.3, output_step=0.01, tolerance=1e-5, inputs={"slew_set": 0.34, "luff_set": 0.505}
    )
    for label in LABELS:
        for run in (departs, moves):
            assert 0.2 < np.abs(run[f"{label}_valve.spool"]).max() < 0.8


@pytest.mark.parametrize("cylinders", [0, 1])
def test_carrier_valves_are_inputs(cylinders: int):
    """Without a controller inside: shut they hold, an open one moves its drive, and says when it gives no more."""
    system = load("lib:carrier", drives=2, modules=1, pause=20.0, cylinders=cylinders).compile()
    labels = ["slew_left", "slew_right"] if cylinders else ["slew_drive"]
    assert list(system.compiled.inputs) == [f"{name}_opening" for name in (*labels, "luff_drive")]
    held = system.simulate(1.0, output_step=0.1)
    up = system.simulate(1.0, output_step=0.1, inputs={"luff_drive_opening": 0.9})
    full = system.simulate(0.4, output_step=0.1, inputs={"luff_drive_opening": 1.0})
    assert np.ptp(held["luff"]) < 2e-5 and np.ptp(held["slew"]) < 2e-5
    assert up["luff"][-1] - up["luff"][0] > 0.01 and not up["luff_drive_saturation"].any()
    assert full["luff_drive_saturation"][-1] == 1.0
    assert full["luff_drive_a.pressure"][-1] > 0 and full["luff_drive_valve.flow_a"][-1] > 0


def test_loops_of_the_carrier_have_margins():
    """Each opened at its controller; a gain above the margin makes the loop unstable, though oil that is shut in rests anyhow."""
    for gain, stable in ((96.0, True), (480.0, False)):
        mechanism = load("lib:carrier", drives=1, modules=2)
        loops = control_loops(mechanism.compile(luff_gain=gain))
        assert [each.name for each in loops] == ["slew_control", "luff_control"]
        luff = loops[1].margins
        assert luff.stable == stable
        if stable:
            assert 96.0 * luff.gain < 480.0 and luff.gain > 1.5 and luff.phase > 30.0


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"drives": 4}, "drives is 4, expected 0, 1, 2 or 3"),
        ({"drives": 3, "cylinders": 1}, "electric drives slew by a motor"),
        ({"drives": 3, "forward": 1}, "forward is 1"),
        ({"drives": 2, "forward": 1}, "forward is 1"),
    ],
)
def test_settings_of_drives_are_checked(settings: dict, says: str):
    with pytest.raises(ModelError, match=says):
        load("lib:carrier", **settings)
