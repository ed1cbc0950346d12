"""Motions that begin elsewhere than the description says: at given values, and where a result stood."""

from pathlib import Path

import numpy as np
import pytest

from kinetree.models import load

STAGED = {
    "format": "kinetree/1",
    "name": "staged",
    "gravity": [0, 0, -9.81],
    "parameters": {"m": 2.0},
    "bodies": {
        name: {"mass": "m", "com": [0.1, 0, 0], "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}
        for name in ("a", "b")
    },
    "joints": {
        "j": {"child": "a", "type": "revolute", "axis": "y", "coordinates": ["p"], "start": [0.3]},
        "k": {"parent": "a", "child": "b", "type": "revolute", "axis": "y", "coordinates": ["r"]},
    },
    "states": {"x": {"rate": "p - x", "start": 0.5}},
    "stages": [{"name": "free", "ends": {"at": 0.4}, "lock": ["k"]}, {"name": "locked"}],
    "outputs": {"z": {"quantity": "position", "body": "b", "point": [1, 0, 0], "axis": "z"}},
}


@pytest.fixture(scope="module")
def staged():
    return load(STAGED)


def test_given_start_values_are_used(staged):
    system = staged.starting({"p": 0.7, "der(r)": -0.2, "x": 1.5}).compile()
    q, u = system.start()
    assert dict(zip(system.coordinates, q, strict=True))["p"] == 0.7
    assert dict(zip(system.speeds, u, strict=True))["der(r)"] == -0.2
    run = system.simulate(stop_time=0.1, output_step=0.1)
    assert (run["p"][0], run["der(r)"][0], run["x"][0], run["r"][0]) == (0.7, -0.2, 1.5, 0.0)
    assert staged.compile().start()[0][0] == 0.3, "the mechanism itself is as it was"


def test_other_parameters_keep_the_start(staged):
    system = staged.starting({"p": 0.7}).compile(m=3.0)
    assert system.start()[0][0] == 0.7
    assert (
        system.mass_matrix(0.0, system.start()[0])[0, 0]
        > staged.compile().mass_matrix(0.0, system.start()[0])[0, 0]
    )


def test_units_of_start_values_are_converted_and_checked(staged):
    q, _ = staged.starting({"p": {"value": 90.0, "unit": "deg"}}).compile().start()
    assert q[0] == pytest.approx(np.pi / 2.0)
    with pytest.raises(ValueError, match="mm"):
        staged.starting({"p": {"value": 1.0, "unit": "mm"}})
    with pytest.raises(ValueError, match="finite"):
        staged.starting({"p": float("nan")})
    with pytest.raises(KeyError, match="pp.*did you mean 'p'"):
        staged.starting({"pp": 1.0})


@pytest.mark.parametrize("time", [0.2, 0.6, None])
def test_run_continues_from_a_result(staged, time: float | None, tmp_path: Path):
    """In the stage of that instant, with what is locked as it is; from a file as from the result itself."""
    whole = staged.compile().simulate(stop_time=1.0, output_step=0.01, tolerance=1e-10)
    whole.to_csv(tmp_path / "r.csv")
    k = len(whole) - 1 if time is None else int(round(time / 0.01))
    for source in (whole, tmp_path / "r.csv"):
        system = staged.starting(result=source, time=time).compile()
        # the end of the first stage is an instant: what goes on begins its time anew
        run = system.simulate(stop_time=0.15, output_step=0.05, tolerance=1e-10)
        assert run.stage_names[int(run["stage"][0])] == ("free" if time == 0.2 else "locked")
        assert run["z"][0] == pytest.approx(whole["z"][k], abs=1e-9)
        if time is not None:
            for name in {"p", "r", "x", "der(p)"} & {*run.names}:
                assert run[name] == pytest.approx(whole[name][k : k + 16 : 5], abs=1e-7), name


def test_given_values_take_precedence_over_result_values(staged):
    whole = staged.compile().simulate(stop_time=0.2, output_step=0.1)
    q, u = staged.starting({"p": -0.1}, whole).compile().start()
    assert q[0] == -0.1 and u[0] == whole["der(p)"][-1]


def test_incompatible_results_are_refused(staged, tmp_path: Path):
    other = load("lib:boom").compile().simulate(stop_time=0.1)
    with pytest.raises(ValueError, match="no number for 'p'"):
        staged.starting(result=other)
    with pytest.raises(ValueError, match="goes from 0 to 0.1"):
        load("lib:boom").starting(result=other, time=3.0)
    (tmp_path / "r.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="time"):
        staged.starting(result=tmp_path / "r.csv")
    with pytest.raises(ValueError, match="chain"):
        load("lib:train").starting({"x": 1.0})


def test_given_coordinates_of_closed_loops_are_kept():
    """The loop closes by the others."""
    mechanism = load("lib:four-bar")
    system = mechanism.compile()
    name = system.coordinates[0]
    was = float(system.start()[0][0])
    moved = mechanism.starting({name: was + 0.2}).compile()
    assert moved.start()[0][0] == pytest.approx(was + 0.2, abs=1e-12)
    assert moved.constraint_residual(0.0, moved.start()[0]) < 1e-9 and not moved.start_changes


def test_statics_linearisation_and_fmus_use_given_start(tmp_path: Path):
    import fmpy

    from kinetree.fmu.archive.build import build_fmu

    mechanism = load("lib:boom").starting({"luff": 0.4})
    linear = mechanism.compile().linearize()
    assert linear.A[1, 0] != load("lib:boom").compile().linearize().A[1, 0]
    build_fmu(mechanism, tmp_path / "b.fmu", "native")
    found = fmpy.simulate_fmu(str(tmp_path / "b.fmu"), stop_time=0.01, output=["luff"])
    assert found["luff"][0] == pytest.approx(0.4, abs=1e-12)


def test_sampled_controllers_continue_from_a_result():
    """Their clocks begin anew with the time, and they sample from there."""
    held = STAGED | {
        "stages": [],
        "forces": {"f": {"coordinate": "p", "value": "c"}},
        "controllers": {
            "c": {
                "measure": "p",
                "setpoint": 0.5,
                "kp": 80.0,
                "kd": 8.0,
                "period": 0.01,
            }
        },
    }
    mechanism = load(held)
    first = mechanism.compile().simulate(stop_time=1.0, output_step=0.1)
    on = mechanism.starting(result=first).compile().simulate(stop_time=1.0, output_step=0.1)
    whole = mechanism.compile().simulate(stop_time=2.0, output_step=0.1)
    assert on["p"][0] == first["p"][-1] and on["c.samples"][-1] == 100.0
    assert on["p"][-1] == pytest.approx(whole["p"][-1], abs=0.02)
