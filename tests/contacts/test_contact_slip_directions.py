"""Friction where joints and loops leave a closed contact fewer ways to slip than its plane has, and where a slip begins or turns.

Forces are then not all determined, but the motion is: it must not depend on the integrator, on what was evaluated before, or on the steps of a host.
"""

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from contacts import G, system
from exchange_host import Exchange
from fmpy import simulate_fmu

from kinetree.fmu.archive.build import build_fmu
from kinetree.models import load
from kinetree.models.trace.symbolic_kernels import PlainKernels
from kinetree.solvers.contacts.contact_modes import STICK

MU = 0.3
CUBE = {"mass": 1.0, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}
INTEGRATORS = (
    "adams",
    "rk45",
    "radau",
    *(pytest.param(pair, marks=pytest.mark.slow) for pair in ("tsit5", "verner65")),
)  # the other explicit pairs differ from rk45 in their tables alone


def guided_block(tilt: float) -> dict[str, Any]:
    """A block in the x-z plane of its guide, on a floor that is tilted out of this plane; a pull along x that grows."""
    transforms = [{"shift": "x", "coordinate": "x"}, {"shift": "z", "coordinate": "z"}]
    return {
        "bodies": {"block": CUBE},
        "joints": {"guide": {"child": "block", "transforms": transforms}},
        "contacts": {
            "foot": {"body": "block", "normal": [0, math.sin(tilt), math.cos(tilt)], "friction": MU}
        },
        "forces": {"pull": {"body": "block", "force": ["10*(t - 0.123)", 0, 0]}},
        "outputs": {"load": "foot.force", "drag": "foot.friction"},
    }


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("tilt", [0.0, 0.3, -0.8])
def test_friction_acts_along_free_slip_direction(tilt: float, integrator: str):
    """The guide takes what the floor pushes sideways: N = m g / cos(tilt), slip from 10 (t - 0.123) = μ N on, x = 10 (t - t0)³/6."""
    result = system(guided_block(tilt)).simulate(
        stop_time=1.0, output_step=0.25, integrator=integrator
    )
    normal = G / math.cos(tilt)
    begin = 0.123 + MU * normal / 10.0
    assert [event.time for event in result.events] == pytest.approx(
        [begin], abs=1e-8
    )  # SURE of 10 m/s2 at a rate of 10 m/s3
    assert result["x"][-1] == pytest.approx(10.0 * (1.0 - begin) ** 3 / 6.0, abs=1e-8)
    assert result["load"] == pytest.approx(normal, rel=1e-10)
    assert result["drag"] == pytest.approx(
        np.minimum(abs(10.0 * (result.time - 0.123)), MU * normal), rel=1e-9
    )


def on_a_screw() -> dict[str, Any]:
    """Turning and sliding on one axis, a point of the body on an oblique plane: two freedoms, one left by the gap; driven to and fro."""
    return {
        "gravity": [-6.0, -8.0, -14.0],
        "bodies": {"arm": {"mass": 0.6, "inertia": [0.05, 0.05, 0.05, 0, 0, 0]}},
        "joints": {
            "axle": {
                "child": "arm",
                "type": "cylindrical",
                "child_at": [-0.36, 0.24, 0.22],
                "axis": [0.865, -0.314, 0.391],
                "coordinates": ["s", "a"],
            }
        },
        "contacts": {
            "tip": {
                "body": "arm",
                "point": [0.06, -0.33, 0.31],
                "at": [0.413, -0.579, 0.074],
                "normal": [0.35, 0.47, 0.81],
                "friction": MU,
            }
        },
        "forces": {
            "drive": {"coordinate": "a", "value": "6*sin(9*t)"},
            "hold": {"coordinate": "s", "value": "-20*s - 2*der(s)"},
        },
        "outputs": {"state": "tip.state"},
    }


@pytest.fixture(scope="module")
def to_and_fro():
    model = system(on_a_screw())
    return model, model.simulate(
        stop_time=1.5, output_step=0.1, integrator="verner65", tolerance=1e-12
    )


def test_driven_tip_sticks_and_slips(to_and_fro):
    """What the next tests compare: a touch, and slips that begin and end."""
    causes = [event.cause for event in to_and_fro[1].events]
    assert sum(cause.startswith("contact") for cause in causes) >= 1
    assert sum(cause.startswith("slip") for cause in causes) >= 3


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("output_step", [0.5, 0.03])
def test_all_integrators_give_equal_slip(to_and_fro, integrator: str, output_step: float):
    model, expected = to_and_fro
    found = model.simulate(
        stop_time=1.5, output_step=output_step, integrator=integrator, tolerance=1e-10
    )
    assert [event.cause for event in found.events] == [event.cause for event in expected.events]
    assert [event.time for event in found.events] == pytest.approx(
        [event.time for event in expected.events], abs=1e-7
    )
    for name in ("s", "a", "der(s)", "der(a)"):
        assert found[name][-1] == pytest.approx(expected[name][-1], abs=1e-7), name


def test_model_exchange_gives_same_slips(to_and_fro, tmp_path: Path):
    """Model exchange pulls the gap together; where the point has one way that must not contradict the friction across it."""
    _, expected = to_and_fro
    path = build_fmu(
        load({"format": "kinetree/1", "name": "tip"} | on_a_screw()),
        tmp_path / "tip.fmu",
        "native",
        2,
    )
    names = ["s", "a"]
    found = simulate_fmu(
        str(path),
        fmi_type="ModelExchange",
        stop_time=1.5,
        output=names,
        relative_tolerance=1e-9,
        output_interval=0.1,
        validate=False,
    )
    for name in names:
        assert found[name][-1] == pytest.approx(expected[name][-1], abs=1e-5), name


def pendulum() -> dict[str, Any]:
    """A rod whose tip falls on an oblique plane with friction: no way is left to slip."""
    return {
        "format": "kinetree/1",
        "name": "leaning",
        "gravity": [0, 0, -G],
        "bodies": {
            "rod": {"mass": 2.0, "com": [0.5, 0, 0], "inertia": [1e-3, 0.17, 0.17, 0, 0, 0]}
        },
        "joints": {
            "hinge": {
                "child": "rod",
                "type": "revolute",
                "axis": "y",
                "coordinates": ["phi"],
                "start": -0.3,
            }
        },
        "contacts": {
            "tip": {"body": "rod", "point": [1, 0, 0], "normal": [0.4, 0.3, 0.9], "friction": MU}
        },
        "outputs": {"load": "tip.force", "drag": "tip.friction"},
    }


def test_contact_without_slip_direction_has_no_friction(tmp_path: Path):
    """What leans on a plane that its curve crosses has no way to slip: the moment about the hinge alone tells the load; hosts see the same."""
    model = load(pendulum()).compile()
    result = model.simulate(stop_time=1.0, output_step=0.5)
    normal = np.array([0.4, 0.3, 0.9]) / np.linalg.norm([0.4, 0.3, 0.9])
    phi = result["phi"][-1]
    assert normal @ [math.cos(phi), 0, -math.sin(phi)] == pytest.approx(0.0, abs=1e-10)
    along = normal @ [-math.sin(phi), 0, -math.cos(phi)]  # of the tip, per unit of phi
    assert result["load"][-1] == pytest.approx(2.0 * G * 0.5 * math.cos(phi) / -along, rel=1e-9)
    assert result["drag"][-1] == pytest.approx(0.0, abs=1e-9)
    host = Exchange(
        build_fmu(load(pendulum()), tmp_path / "leaning.fmu", "native", 2),
        tmp_path / "unpacked",
        2e-3,
    )
    host.advance(1.0)
    assert host.read("phi") == pytest.approx(phi, abs=1e-9)
    host.end()


def skidding() -> dict[str, Any]:
    """A block that spins about the upright and skids on one foot: its slip turns by 1.5 rad between two points of a host."""
    transforms = [
        {"shift": "x", "coordinate": "x", "speed": 1.5},
        {"shift": "y", "coordinate": "y"},
        {"shift": "z", "coordinate": "z"},
        {"rotate": "z", "coordinate": "turn", "speed": 15.0},
    ]
    return {
        "format": "kinetree/1",
        "name": "skidding",
        "gravity": [0, 0, -G],
        "bodies": {"block": CUBE},
        "joints": {"free": {"child": "block", "transforms": transforms}},
        "contacts": {"foot": {"body": "block", "point": [0.3, 0, 0], "friction": MU}},
    }


@pytest.mark.parametrize("interval", [0.1, 0.01])
def test_friction_follows_slip_reversal_within_host_step(interval: float, tmp_path: Path):
    expected = load(skidding()).compile().simulate(stop_time=0.5, output_step=0.5, tolerance=1e-11)
    path = build_fmu(load(skidding()), tmp_path / "skidding.fmu", "native", 2)
    names = ["x", "y", "turn"]
    found = simulate_fmu(
        str(path),
        fmi_type="ModelExchange",
        stop_time=0.5,
        output=names,
        relative_tolerance=1e-9,
        output_interval=interval,
    )
    for name in names:
        assert found[name][-1] == pytest.approx(expected[name][-1], abs=1e-6), name


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_rejected_step_leaves_no_trace_in_contact_forces(integrator: str):
    """The law of its stop grows beyond 1e70 within what an explicit step tries; the forces after that are those of the state."""
    transforms = [
        {"shift": "x", "coordinate": "x", "speed": 4.0},
        {"shift": "z", "coordinate": "z", "start": 1e-3},
    ]
    parts = {
        "gravity": [0, 0, -G],
        "bodies": {"block": CUBE},
        "joints": {"guide": {"child": "block", "transforms": transforms}},
        "contacts": {"foot": {"body": "block", "friction": MU}},
        "forces": {"stop": {"coordinate": "x", "value": "-exp(min(600, 60*(x - 0.3)))"}},
        "outputs": {"load": "foot.force"},
    }
    result = system(parts).simulate(
        stop_time=0.6, output_step=0.1, integrator=integrator, tolerance=1e-9
    )
    reference = system(parts).simulate(
        stop_time=0.6, output_step=0.1, integrator="radau", tolerance=1e-12
    )
    assert result["load"][1:] == pytest.approx(np.full(6, G), rel=1e-9)
    assert result["x"] == pytest.approx(reference["x"], abs=1e-7)


@pytest.mark.parametrize("integrator", ["adams", "rk45", "radau"])
def test_block_at_rest_starts_to_slip_in_time(integrator: str):
    """Nothing moves while it sticks, so that steps grow beyond the period of the pull: every slip is found all the same, however far the rows."""
    parts = guided_block(0.0) | {
        "forces": {"pull": {"body": "block", "force": ["3.5*sin(9*t)", 0, 0]}}
    }
    fine = system(parts).simulate(stop_time=3.0, output_step=0.01, integrator=integrator)
    assert (
        len(fine.events) == 17
    )  # one begin and one end in every half period but the last, which has begun only
    begin = [math.asin(MU * G / 3.5) / 9.0 + k * math.pi / 9.0 for k in range(9)]
    assert [event.time for event in fine.events[::2]] == pytest.approx(begin, abs=1e-8)
    for step in (3.0, 1.0):
        coarse = system(parts).simulate(stop_time=3.0, output_step=step, integrator=integrator)
        assert [event.time for event in coarse.events] == pytest.approx(
            [event.time for event in fine.events], abs=1e-7
        )
        assert coarse["x"][-1] == pytest.approx(fine["x"][-1], abs=1e-8)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_vanishing_slip_direction_does_not_stop_run(integrator: str):
    """A wheel rolls over the edge of a slider: where the rim's point runs straight down its slip is none, without a way to slip at that instant.

    There it is at rest along the plane but not in its acceleration: nothing sticks, the wheel goes on, and the books of the energy stay closed.
    """
    parts = {
        "gravity": [0, 0, -G],
        "bodies": {
            "wheel": {"mass": 5.0, "inertia": [1, 1, 1, 0, 0, 0]},
            "slider": {"mass": 1.0, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]},
        },
        "joints": {
            "axle": {
                "child": "wheel",
                "transforms": [{"rotate": "y", "coordinate": "phi", "start": 0.4, "speed": -4.0}],
            },
            "guide": {
                "child": "slider",
                "transforms": [
                    {
                        "shift": "z",
                        "coordinate": "z",
                        "start": -math.sin(0.4),
                        "speed": 4.0 * math.cos(0.4),
                    }
                ],
            },
        },
        "contacts": {
            "rim": {
                "body": "wheel",
                "point": [1, 0, 0],
                "on": "slider",
                "friction": MU,
                "normal": [0, 0, 1],
            }
        },
        "forces": {"press": {"coordinate": "z", "value": "60 - 5*der(z)"}},
        "outputs": {"state": "rim.state", "gap": "rim.gap"},
    }
    result = system(parts).simulate(stop_time=0.2, output_step=0.01, integrator=integrator)
    assert result["phi"][-1] < -0.1 and np.all(result["state"] == 2.0)
    assert np.all(result["der(phi)"] < -1.0) and np.abs(np.diff(result["der(phi)"])).max() < 1.0
    assert np.abs(result["energy_residual"]).max() < 1e-6


@pytest.mark.parametrize(
    ("passing", "shown"), [(1e-12, None), (1.9e-10, None), (1e-9, -1e-9), (1e-6, 1e-6 - 2e-9)]
)
def test_roundoff_slip_does_not_leave_guard_at_zero(passing: float, shown: float | None):
    """A contact without a way to slip that 2 N press: a guard of nothing but roundings was looked at a thousand times a step, as it seemed to bend.

    What passes is told from a tenth of the 1e-9 on by which a margin is on the safe side; below that the margin is what friction could still hold.
    """
    measure_margins = PlainKernels(symbolic=False).kernel("contacts.forces", "measure_margins")
    d = np.array([1.0, -0.5, 0.25])
    model = SimpleNamespace(c_value=np.zeros(3), c_law=np.zeros(1), c_row=np.array([0, 3]))
    ws = SimpleNamespace(
        c_included=np.ones(1),
        c_x=np.array([2.0, 0.0, 0.0]),
        c_g=np.outer(d, d).ravel(),
        c_b=-2.0 * d + [0.0, passing, 0.0],
        c_at=np.arange(3.0),
        c_margin=np.zeros(2),
        c_mode=np.array([STICK], dtype=float),
        c_friction=np.ones(1),
        c_mu=np.full(1, 0.3),
        c_free_count=np.zeros(1),
        c_pull=np.zeros(3),
        c_slip=np.array([0.6, 0.8]),
        c_drift=np.zeros(2),
    )
    measure_margins(model, ws, 3)
    assert ws.c_margin[1] == pytest.approx(
        -0.3 * 2.0 * (d[1] ** 2 + d[2] ** 2) - 2e-9 if shown is None else shown, rel=1e-6
    )
    told = (0.0, 0.0) if shown is None else (1.0, 0.0)
    assert ws.c_slip == pytest.approx(
        (0.6, 0.8) if shown is None else told
    ) and ws.c_drift == pytest.approx([passing * each for each in told])


@pytest.mark.parametrize("way", [(0.6, 0.8), (-0.6, 0.8), (0.8, -0.6)])
def test_sideways_drive_starts_slip(way: tuple[float, float]):
    """Along its way the contact is held, by what friction can; what a motion begins across it, 1 mm/s2 to the left, is its margin and direction."""
    measure_margins = PlainKernels(symbolic=False).kernel("contacts.forces", "measure_margins")
    across = np.array([-way[1], way[0]])
    model = SimpleNamespace(c_value=np.zeros(3), c_law=np.zeros(1), c_row=np.array([0, 3]))
    ws = SimpleNamespace(
        c_included=np.ones(1),
        c_x=np.array([2.0, 0.0, 0.0]),
        c_g=np.eye(3).ravel(),
        c_at=np.arange(3.0),
        c_b=np.array([-2.0, *(1e-3 * across + 1e-5 * np.array(way))]),
        c_margin=np.zeros(2),
        c_mode=np.array([STICK], dtype=float),
        c_friction=np.ones(1),
        c_mu=np.full(1, 0.3),
        c_free_count=np.ones(1),
        c_free_slip=np.array(way),
        c_pull=np.zeros(3),
        c_slip=np.zeros(2),
        c_drift=np.zeros(2),
    )
    measure_margins(model, ws, 3)
    assert ws.c_margin[1] == pytest.approx(1e-3 - 2e-9, rel=1e-9)
    assert ws.c_slip == pytest.approx(across) and ws.c_drift == pytest.approx(1e-3 * across)
