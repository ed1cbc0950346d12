"""What a motion must keep: energy, momentum, the integrals of free and orbiting mechanisms."""

import numpy as np
import pytest

from kinetree.models import load


def angular_momentum(system, result, joint: str) -> np.ndarray:
    """Angular momentum about the fixed point of the first (spherical) joint, ground axes."""
    momenta = []
    for k in range(0, len(result.time), 10):
        q = np.array([result[name][k] for name in system.coordinates])
        u = np.array([result[name][k] for name in system.speeds])
        w, *v = q[[system.coordinates.index(f"{joint}.q{axis}") for axis in "wxyz"]]
        p = system.momenta(result.time[k], q, u)[
            [system.speeds.index(f"{joint}.w{axis}") for axis in "xyz"]
        ]
        momenta.append(p + 2.0 * w * np.cross(v, p) + 2.0 * np.cross(v, np.cross(v, p)))
    return np.array(momenta)


@pytest.mark.slow
def test_spatial_chain_conserves_energy_and_momentum():
    """1e-9 over 100 s for the chain of six boxes: energy relative to the largest swing of potential energy, momentum about the vertical."""
    system = load("lib:chain6").compile()
    result = system.simulate(stop_time=100.0, output_step=0.5, integrator="adams", tolerance=1e-12)
    energy = result["energy"]
    assert np.abs(energy - energy[0]).max() < 1e-9 * abs(energy[0])
    about_z = angular_momentum(system, result, "s1")[:, 2]
    assert about_z[0] == pytest.approx(4.14324194, abs=1e-8)
    assert np.abs(about_z - about_z[0]).max() < 1e-9 * about_z[0]


def test_chain_without_gravity_conserves_angular_momentum():
    """About the fixed point nothing acts but the joint: three components over 5 s."""
    system = load("lib:chain", n=4, freedoms=3, g=0.0).compile()
    q, u = system.start()
    rng = np.random.default_rng(2)
    description = system.description.model_dump(exclude_unset=True)
    for i in range(1, 5):
        description["joints"][f"j{i}"]["speed"] = [float(x) for x in rng.normal(size=3)]
    system = load(description).compile()
    result = system.simulate(stop_time=5.0, output_step=0.05, integrator="adams", tolerance=1e-12)
    momentum = angular_momentum(system, result, "j1")
    assert np.abs(momentum - momentum[0]).max() < 1e-9
    assert np.abs(result["energy"] - result["energy"][0]).max() < 1e-9


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("chain", {"n": 4, "freedoms": 2}),
        ("star", {"n": 5, "freedoms": 3, "branch": 2}),
        ("puma560", {}),
    ],
)
def test_free_motion_conserves_energy(name: str, settings):
    """Free motion keeps its energy to the tolerance times the number of steps."""
    result = (
        load(f"lib:{name}", **settings)
        .compile()
        .simulate(stop_time=1.0, output_step=0.1, integrator="adams", tolerance=1e-11)
    )
    energy = result["energy"]
    assert np.abs(energy - energy[0]).max() < 1e-8 * max(1.0, abs(energy[0]))


def test_gyroscope_in_orbit_conserves_invariants():
    """A third of a revolution: Jacobi's integral and the rotor's momentum to 1e-10."""
    result = (
        load("lib:gyroscope")
        .compile()
        .simulate(stop_time=2000.0, output_step=100.0, integrator="adams", tolerance=1e-11)
    )
    for name in ("jacobi", "p_phi"):
        assert np.ptp(result[name]) < 1e-10 * abs(result[name][0])
    assert np.ptp(result["alpha"]) > 0.1


def test_spacecraft_conserves_momentum():
    """Linear momentum in ground axes stays zero to rounding of 1000 kg, angular momentum constant, while the arrays swing."""
    system = load("lib:spacecraft").compile()
    result = system.simulate(stop_time=5.0, output_step=0.5, integrator="adams", tolerance=1e-11)
    of = {name: k for k, name in enumerate(system.speeds)}
    totals = []
    for k, t in enumerate(result.time):
        q = np.array([result[name][k] for name in system.coordinates])
        p = system.momenta(t, q, [result[name][k] for name in system.speeds])
        w, *v = q[3:7]
        linear, angular = (
            np.array([p[of[f"space.{part}{axis}"]] for axis in "xyz"]) for part in ("v", "w")
        )
        linear, angular = (
            x + 2.0 * w * np.cross(v, x) + 2.0 * np.cross(v, np.cross(v, x))
            for x in (linear, angular)
        )
        totals.append([*linear, *(angular + np.cross(q[:3], linear))])
    totals = np.array(totals)
    assert np.abs(totals - totals[0]).max() < 1e-8
    assert np.ptp(result["right1"]) > 0.1


def test_published_three_link_pendulum_conserves_energy():
    """[SC24] example 1: 100 s at 0.01 s keep the energy to 1e-8 of its scale m g L."""
    result = load("lib:three-link").compile().simulate(integrator="adams", tolerance=1e-10)
    assert len(result.time) == 10001
    assert np.abs(result["energy"] - result["energy"][0]).max() < 1e-7
    assert np.abs(result["phi1"]).max() < 0.25
