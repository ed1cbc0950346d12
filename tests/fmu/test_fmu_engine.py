"""Built archives with the real engine: native, Python back end and process give the same numbers; stages, inputs and states survive."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from bare_host import bare_runner
from fmpy import simulate_fmu
from fmpy.validation import validate_fmu

from kinetree.fmu.archive.build import build_fmu
from kinetree.fmu.unit import fmu_unit
from kinetree.models import load
from kinetree.models.description.reading.read_source import library_names
from kinetree.scripts.bench.fmu import chain
from kinetree.scripts.fmi.fmpy_host import Archive, Host
from kinetree.scripts.fmi.in_process_reference import InProcess
from kinetree.scripts.fmi.verify import verify
from kinetree.solvers.library.load import load_library

pytestmark = pytest.mark.skipif(
    load_library("core") is None,
    reason="the engine library of the present sources is not built: python -m kinetree.solvers.library build",
)

SWING = {
    "format": "kinetree/1",
    "name": "Swing that lets go",
    "parameters": {"m": {"value": 2.0, "unit": "kg", "tunable": True}, "reach": 0.8},
    "inputs": {"torque": {"start": 0.0, "unit": "N.m"}},
    "bodies": {
        "arm": {"mass": 1.0, "com": [0, 0, -0.4], "inertia": [0.05, 0.05, 0.01, 0, 0, 0]},
        "load": {"mass": "m", "inertia": [0.1, 0.2, 0.3, 0, 0, 0]},
    },
    "joints": {
        "O": {
            "child": "arm",
            "type": "revolute",
            "axis": "y",
            "coordinates": ["phi"],
            "start": 1.2,
        },
        "A": {
            "parent": "arm",
            "child": "load",
            "type": "spherical",
            "at": [0, 0, "-reach"],
            "speed": [0.1, 0.2, 0.3],
        },
    },
    "forces": {"motor": {"coordinate": "phi", "value": "torque"}},
    "outputs": {
        "place": {"quantity": "position", "body": "load", "unit": "m"},
        "lift": {"quantity": "acceleration", "body": "load", "axis": "z"},
    },
    "stages": [{"name": "held", "ends": {"when": "phi < -0.5"}, "free": ["A"]}, {"name": "flying"}],
    "run": {"stop_time": 1.2, "output_step": 0.01},
}


@pytest.fixture(scope="module")
def swing(tmp_path_factory):
    folder = tmp_path_factory.mktemp("swing")
    mechanism = load(SWING)
    return {
        key: build_fmu(mechanism, folder / f"{key[0]}{key[1]}.fmu", *key)
        for key in (("native", 2), ("native", 3), ("python", 2))
    }


@pytest.mark.parametrize("key", [("native", 2), ("native", 3), ("python", 2)])
def test_verify_reports_no_failure(swing, key):
    report = verify(swing[key])
    assert report.good, [check for check in report.checks if not check.good]


def run(path, inputs, count=120, step=0.01):
    with Archive(path) as archive:
        host = Host(archive).start({"torque": 0.0})
        rows = []
        for k in range(1, count + 1):
            host.set({"torque": inputs(step * k)})
            if k == 30:
                host.set({"m": 2.5})
            host.step(step * k)
            rows.append(
                [*host.get(archive.reals), *host.integers(["stage", "events", "solver_steps"])]
            )
        host.fmu.freeInstance()
    return np.array(rows), archive.reals


def test_back_ends_agree_bit_for_bit_with_inputs_parameters_and_stages(swing):
    wave = lambda t: 3.0 * math.sin(5.0 * t)  # noqa: E731
    tables = [run(path, wave)[0] for path in swing.values()]
    assert np.array_equal(tables[0], tables[1])
    assert np.array_equal(tables[0], tables[2])
    assert tables[0][-1, -3] == 1  # the load has left
    twin = InProcess(fmu_unit(load(SWING))).start({"torque": 0.0})
    names = run(swing["native", 2], wave, 1)[1]
    for k in range(1, 121):
        twin.set({"torque": wave(0.01 * k)})
        if k == 30:
            twin.set({"m": 2.5})
        twin.step(0.01 * k)
        # the reference may come from the jitted kernels: rounding, amplified along the motion
        assert twin.get(names) == pytest.approx(
            tables[0][k - 1, : len(names)], rel=1e-12, abs=1e-12
        )


def test_released_body_follows_parabola_in_fmu(swing):
    with Archive(swing["native", 2]) as archive:
        host = Host(archive).start()
        host.step(1.0)
        assert host.text("stage_name") == "flying"
        names = ["place[1]", "place[2]", "place[3]"]
        a, b, c = (np.array(values) for values in ((host.get(names)), *step_twice(host, names)))
        # second difference of a parabola: g dt², to the tolerance of the integrator
        assert c - 2 * b + a == pytest.approx([0.0, 0.0, -9.81 * 0.01], abs=1e-8)
        assert host.get(["lift"])[0] == pytest.approx(-9.81, abs=1e-12)
        host.fmu.freeInstance()


def step_twice(host, names):
    for t in (1.1, 1.2):
        host.step(t)
        yield host.get(names)


def test_model_exchange_executes_stage_change(swing):
    for key in (("native", 2), ("native", 3)):
        result = simulate_fmu(
            str(swing[key]),
            stop_time=1.2,
            fmi_type="ModelExchange",
            relative_tolerance=1e-9,
            output_interval=0.01,
        )
        with Archive(swing[key]) as archive:
            host = Host(archive).start()
            host.step(1.2)
            assert result["stage"][-1] == 1
            assert result["event_time"][-1] == pytest.approx(host.get(["event_time"])[0], abs=1e-5)
            assert result["place[3]"][-1] == pytest.approx(host.get(["place[3]"])[0], abs=1e-4)
            host.fmu.freeInstance()


def test_state_of_the_first_stage_restores_from_the_second(swing):
    for path in swing.values():
        with Archive(path) as archive:
            host = Host(archive).start()
            host.step(0.1)
            state = host.save()
            host.step(1.2)
            end = host.get(archive.reals)
            host.restore(state)
            assert host.integers(["stage"]) == [0]
            host.step(1.2)
            assert host.get(archive.reals) == end
            host.forget(state)
            host.fmu.freeInstance()


def test_input_derivatives_are_followed_inside_a_step(swing):
    ends = []
    with Archive(swing["native", 2]) as archive:
        for slope, size in ((6.0, 0.05), (0.0, 5e-4)):
            host = Host(archive).start()
            for k in range(round(0.5 / size)):
                host.set(
                    {"torque": 6.0 * size * (k if slope else k + 0.5)}
                )  # held at the middle: error of the second order in 5e-4
                if slope:
                    host.fmu.setRealInputDerivatives([archive.references["torque"]], [1], [slope])
                host.step((k + 1) * size)
            ends.append(host.get(["phi", "der(phi)", "place[3]"]))
            host.fmu.freeInstance()
    assert ends[0] == pytest.approx(ends[1], abs=2e-6)


def test_directional_derivatives_match_model(swing):
    """d(phi'')/d(torque) from the directional derivative equals the difference of two evaluations far apart: the equation is linear in it."""
    with Archive(swing["native", 2]) as archive:
        host = Host(archive).start()
        ref = archive.references
        slope = host.fmu.getDirectionalDerivative([ref["der(phi,2)"]], [ref["torque"]], [1.0])[0]
        low = host.get(["der(phi,2)"])[0]
        host.set({"torque": 10.0})
        assert slope == pytest.approx((host.get(["der(phi,2)"])[0] - low) / 10.0, rel=1e-8)
        rates = host.fmu.getRealOutputDerivatives([ref["phi"], ref["place[1]"]], [1, 1])
        speed, before = host.get(["der(phi)", "place[1]"])
        state = host.save()
        host.step(1e-6)
        after = host.get(["place[1]"])[0]
        host.restore(state)
        assert rates[0] == pytest.approx(speed, abs=1e-12)
        assert rates[1] == pytest.approx(
            (after - before) / 1e-6, abs=1e-5
        )  # first order in the step
        host.fmu.freeInstance()


def test_instance_memory_stays_below_documented_size(tmp_path):
    """A chain of 24 bodies: an instance within 1 MB."""
    mechanism = load(chain(24))
    path = build_fmu(mechanism, tmp_path / "chain.fmu", "native", integrator="rk4")
    assert fmu_unit(mechanism, "rk4").work_size * 8 < 2**20
    report = verify(path, 0.5)
    assert report.good, [check for check in report.checks if not check.good]


# what CVODE left of the printed digits grows along the motion, about a thousand times more for each six bodies
@pytest.mark.parametrize(("n", "accuracy"), [(2, 1e-10), (6, 1e-10), (12, 1e-7)])
def test_chains_agree_with_openmodelica(n, accuracy, tmp_path):
    expected = json.loads(
        (Path(__file__).parents[1] / "data" / "openmodelica_chains.json").read_text()
    )["first_angle"][str(n)]
    with Archive(
        build_fmu(load(chain(n)), tmp_path / "x.fmu", "native", tolerance=1e-11)
    ) as archive:
        host = Host(archive).start()
        for k in range(1, 301):
            host.step(k * 1e-2)
        assert host.get(["q1"])[0] == pytest.approx(expected, abs=accuracy)
        host.fmu.freeInstance()


def test_packed_kernels_give_equal_motion(swing):
    """Where the archive has no library for the machine its kernels run; here without the compiler, to be quick."""
    code = """
import json, sys
from kinetree.scripts.fmi.fmpy_host import Archive, Host
with Archive(sys.argv[1]) as archive:
    host = Host(archive).start({"torque": 1.0})
    for k in range(1, 8):
        host.step(0.1 * k)
    print("RESULT", json.dumps([host.get(archive.names("output")), host.integers(["stage"])]))
    host.fmu.freeInstance()
"""
    rows = []
    for more in ({}, {"KINETREE_FMU_ENGINE": "kernels", "NUMBA_DISABLE_JIT": "1"}):
        done = subprocess.run(
            [sys.executable, "-c", code, str(swing["python", 2])],
            capture_output=True,
            text=True,
            env={**os.environ, **more},
            timeout=300,
        )
        lines = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
        assert lines, done.stdout + done.stderr
        rows.append(json.loads(lines[-1].removeprefix("RESULT ")))
    assert rows[0][1] == rows[1][1] == [1]
    # the compiler contracts and reassociates: rounding, amplified along the motion
    assert rows[0][0] == pytest.approx(rows[1][0], rel=1e-7, abs=1e-7)


def test_controller_without_bodies_becomes_fmu(tmp_path):
    """States, inputs and outputs alone: y = 2 s, s' = u - s from 0, so y(t) = 2 u (1 - exp(-t)); natively, in co-simulation and in model exchange."""
    given = {
        "inputs": {"u": 3.0},
        "states": {"s": {"rate": "u - s", "start": 0.0}},
        "outputs": {"y": {"value": "2*s"}},
    }
    run = {"run": {"stop_time": 1.0, "output_step": 0.01}}
    path = build_fmu(
        load({"format": "kinetree/1", "name": "filter"} | given | run),
        tmp_path / "filter.fmu",
        "native",
    )
    assert validate_fmu(str(path)) == []
    for kind in ("CoSimulation", "ModelExchange"):
        result = simulate_fmu(
            str(path), stop_time=1.0, fmi_type=kind, relative_tolerance=1e-9, output=["y"]
        )
        assert result["y"][-1] == pytest.approx(6.0 * (1.0 - math.exp(-1.0)), abs=1e-7), kind


@pytest.mark.slow
def test_million_steps_need_constant_memory(tmp_path):
    path = build_fmu(load(chain(24)), tmp_path / "chain.fmu", "native", integrator="rk4")
    run = bare_runner(path, tmp_path, "q1")
    found = run("soak", 1e-4, 1_000_000)
    assert int(found["grown"][0]) <= 256 * 1024  # buffers of the C library
    assert int(found["per_instance"][0]) <= 2**20
    assert len(set(run("threads", 1e-3, 500)["value"])) == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", library_names())
def test_every_library_mechanism_makes_valid_archives(name, tmp_path):
    mechanism = load(f"lib:{name}")
    for backend, fmi in (("native", 2), ("native", 3), ("python", 2)):
        path = build_fmu(mechanism, tmp_path / "x.fmu", backend, fmi)
        assert validate_fmu(str(path)) == []
        with Archive(path) as archive:
            host = Host(archive).start()
            host.step(1e-3)
            assert all(math.isfinite(x) for x in host.get(archive.names("output")))
            host.fmu.freeInstance()


@pytest.mark.parametrize("fmi", [2, 3])
def test_output_derivatives_include_explicit_time(tmp_path: Path, fmi: int):
    """d(t² q)/dt = 2 t q + t² q': what an output takes from the clock itself counts with its own sign."""
    joint = {"child": "a", "type": "revolute", "axis": "y", "coordinates": ["q"], "start": 0.5}
    bodies = {"a": {"mass": 1.0, "com": [0, 0, -1.0], "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}}
    mechanism = {
        "format": "kinetree/1",
        "name": "swing",
        "bodies": bodies,
        "joints": {"j": joint},
        "outputs": {"late": {"value": "t*t*q"}},
    }
    build_fmu(load(mechanism), tmp_path / "swing.fmu", backend="native", fmi=fmi)
    with Archive(tmp_path / "swing.fmu") as opened:
        host = Host(opened).start()
        host.step(0.4)
        call = host.fmu.getRealOutputDerivatives if fmi == 2 else host.fmu.getOutputDerivatives
        q, speed = host.get(["q", "der(q)"])
        assert list(call([opened.references["late"]], [1])) == pytest.approx(
            [0.8 * q + 0.16 * speed], rel=1e-8
        )
        host.fmu.freeInstance()
