"""Closed loops under model exchange: the derivatives hold the constraints by themselves, whatever integrator the host has; no event is needed."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from kinetree.models import load
from kinetree.models.description.reading.read_source import read
from kinetree.models.run.simulation_unit import Run, make_unit

TOLERANCE = 1e-6


class Host:
    """Right-hand side of a unit, as an FMU hands it to its host."""

    def __init__(self, model: str | dict):
        self.system = load(model).compile()
        self.run = Run(make_unit(self.system))
        assert self.run.call("unit_start", 0, 0.0) == 0
        header, count = self.run.unit.header, len(self.run.unit.states)
        self.states, self.rates = (
            self.run.work[int(at) :][:count] for at in (header.at_states, header.at_rates)
        )
        self.start = self.states.copy()

    def __call__(self, t: float, y: np.ndarray) -> np.ndarray:
        self.states[:] = y
        assert self.run.call("unit_derivatives", 0, t) == 0
        return self.rates.copy()

    def gap(self, t: float, y: np.ndarray) -> float:
        self(t, y)
        return float(self.run.head.constraint_residual)


@pytest.mark.parametrize("method", ["BDF", "LSODA", "RK45"])
@pytest.mark.parametrize(
    "model, stop",
    [("lib:four-bar", 2.0), ("lib:slider-crank", 1.0), ("lib:closed-three-link", 2.0)],
)
def test_loops_stay_within_the_hosts_tolerance(model: str, stop: float, method: str):
    """At a relative tolerance of 1e-6 gaps stay within a few 1e-6; without the pull they grow to 4e-5 in 2 s and on without bound.

    Coordinates agree with our own run, which projects every step: errors of a host grow with its steps, a thousand tolerances allow for that.
    """
    host = Host(model)
    found = solve_ivp(
        host, (0.0, stop), host.start, method=method, rtol=TOLERANCE, atol=1e-2 * TOLERANCE
    )
    gaps = [host.gap(t, y) for t, y in zip(found.t, found.y.T, strict=True)]
    own = host.system.simulate(stop, output_step=stop, tolerance=1e-10)
    assert max(gaps) < 2 * TOLERANCE
    for k, name in enumerate(host.system.coordinates):
        assert found.y[k, -1] == pytest.approx(own[name][-1], abs=1000 * TOLERANCE)


@pytest.mark.parametrize("model", ["lib:four-bar", "lib:slider-crank", "lib:bricard"])
def test_baumgarte_adds_nothing_to_closed_loops(model: str):
    """On the constraints the rates are those of the motion: the gap of rounding, 1e-14, times the square of the pull, some 1e3, is all."""
    host = Host(model)
    q, u = host.system.start()
    assert (
        np.abs(host(0.0, host.start)[-host.system.n :] - host.system.accelerations(0.0, q, u)).max()
        < 1e-9
    )


def test_gaps_close_with_double_eigenvalue():
    """A loop that was opened by 1e-4 closes within some τ, with the least change of the motion: e^(-t/τ) (1 + t/τ)."""
    host = Host("lib:four-bar")
    y = host.start.copy()
    y[0] += 1e-4
    before = host.gap(0.0, y)
    found = solve_ivp(host, (0.0, 1.0), y, method="RK45", rtol=1e-9, atol=1e-11)
    assert before > 5e-5 and host.gap(1.0, found.y[:, -1]) < 1e-3 * before


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_loop_event_happens_once_under_model_exchange(side: float):
    """The host's state is open by its tolerance; closing it takes the crank back below its bound by some 1e-8, which it passes again right after."""
    plain = load("lib:four-bar").compile()
    names = list(plain.coordinates)
    crank, other = names.index("phi"), names.index(next(name for name in names if name != "phi"))
    instant = 0.1
    moved = plain.simulate(instant, output_step=instant, tolerance=1e-12)
    bound = float(moved["phi"][-1])
    event = {
        "when": f"phi {'>' if bound > moved['phi'][0] else '<'} {bound!r}",
        "set": {"der(phi)": "0.5*der(phi)"},
    }
    host = Host(read("lib:four-bar")[0] | {"events": {"slower": event}})
    beyond = bound + np.copysign(1e-10, bound - moved["phi"][0])
    y = np.array([moved[name][-1] for name in (*names, *plain.speeds)])
    y[crank], y[other] = beyond, y[other] + side * 1e-7
    for later in range(3):
        host(instant + later * 1e-9, y)
        assert host.run.call("unit_event", 1, instant + later * 1e-9) == 0
        assert host.run.head.events == 1
        y = host.states.copy()
        assert abs(y[crank] - bound) < 1e-6 and y[len(names) + crank] == pytest.approx(
            0.5 * moved["der(phi)"][-1], rel=1e-5
        )
        y[crank] = beyond


SKATE = {
    "format": "kinetree/1",
    "gravity": [0, 0, 0],
    "bodies": {"b": {"mass": 1.0, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}},
    "joints": {
        "j": {
            "child": "b",
            "type": "planar",
            "coordinates": ["x", "y", "f"],
            "speed": [1.0, 0.0, 1.0],
        }
    },
    "couplings": {"c": {"blade": {"body": "b", "normal": "y"}}},
}


@pytest.mark.parametrize("method", ["BDF", "LSODA", "RK45"])
@pytest.mark.parametrize("away", [0.0, 1000.0])
def test_velocity_constraint_is_independent_of_origin(away: float, method: str):
    """A skate runs its circle; pulls in units of its distance from the joint's origin were without bound there, and nothing far away."""
    host = Host(SKATE)
    host.start[:2] += away
    found = solve_ivp(host, (0.0, 1.0), host.start, method=method, rtol=1e-8, atol=1e-10)
    assert found.y[0, -1] - away == pytest.approx(np.sin(1.0), abs=2e-6)
    assert found.y[1, -1] - away == pytest.approx(1.0 - np.cos(1.0), abs=2e-6)
    assert found.nfev < 2000
