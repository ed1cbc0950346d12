"""The tree mechanisms of the library: structure, and equations that hold at any state (no integration)."""

import numpy as np
import pytest
from scipy.optimize import fsolve

from kinetree.models import ModelError, load


def rate(system, names: tuple[str, ...], q: np.ndarray, u: np.ndarray, h: float) -> np.ndarray:
    """Rates of outputs along the motion through a state, central differences of order 4; coordinates without quaternions."""
    udot = system.accelerations(0.0, q, u)

    def at(s: float) -> np.ndarray:
        outputs = system.outputs(s, q + s * u + 0.5 * s * s * udot, u + s * udot)
        return np.array([outputs[name] for name in names])

    return (8.0 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12.0 * h)


# -- generators -----------------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("freedoms", [1, 2, 3])
def test_chain_generator_builds_requested_rods(freedoms: int):
    system = load("lib:chain", n=8, freedoms=freedoms).compile()
    assert system.parents == tuple(range(8)) and system.n == 8 * freedoms
    M = system.mass_matrix(0.0, system.start()[0])
    assert np.linalg.eigvalsh(M).min() > 0.0


@pytest.mark.parametrize(
    ("branch", "parents"),
    [
        (1, (0, 1, 1, 1, 1, 1, 1)),
        (2, (0, 1, 1, 1, 2, 3, 4)),
        (3, (0, 1, 1, 2, 3, 4, 5)),
        (6, tuple(range(7))),
    ],
)
def test_star_generator_builds_requested_branches(branch: int, parents: tuple[int, ...]):
    system = load("lib:star", n=7, freedoms=2, branch=branch).compile()
    assert system.parents == parents and system.n == 14


def test_hanging_chain_equilibrium():
    system = load("lib:chain", n=5, bend=0.0).compile()
    assert np.abs(system.accelerations(0.0, *system.start())).max() < 1e-12  # g times ε times n


@pytest.mark.parametrize(
    "settings", [{"n": 0}, {"n": 2.5}, {"freedoms": 4}, {"n": True}, {"n": 10**9}, {"n": "many"}]
)
def test_invalid_chain_arguments_are_refused(settings):
    with pytest.raises(ModelError, match="whole number"):
        load("lib:chain", **settings)


# -- regulator ------------------------------------------------------------------------------------------------------------------------------
def regulator_equilibrium(value, omega: float) -> tuple[float, float]:
    """y2 and α at which the effective potential m g zc cos α + c(y - y20)²/2 - ω² J/2 is stationary; J about the axis of the arm."""

    def slope(z):
        y, al = z
        r = y - value["zc2"] * np.sin(al)
        lever = (0.01 - 0.002) * np.sin(al) * np.cos(al) - value["m2"] * r * value["zc2"] * np.cos(
            al
        )
        return (
            value["c"] * (y - value["y20"]) - omega**2 * value["m2"] * r,
            -value["m2"] * value["g"] * value["zc2"] * np.sin(al) - omega**2 * lever,
        )

    y, al = np.asarray(fsolve(slope, (0.6, 0.8), xtol=1e-14))
    return float(y), float(al)


def test_regulator_rotates_steadily():
    """At the analytic equilibrium nothing accelerates and the drive does no work."""
    system = load("lib:regulator").compile()
    value = {name: parameter.value for name, parameter in system.description.parameters.items()}
    y, al = regulator_equilibrium(value, 5.0)
    assert 0.5 < y < 1.0 and 0.5 < al < 1.5
    q, u = [0.3, y, al, 0.0], [5.0, 0.0, 0.0, 0.0]
    assert (
        np.abs(system.accelerations(0.0, q, u)).max() < 1e-11
    )  # residual of the root 1e-14 over the smallest inertia
    outputs = system.outputs(0.0, q, u)
    assert outputs["power"] == 0.0
    assert outputs["height"] == pytest.approx(value["zc2"] * np.cos(al), abs=1e-15)


def test_regulator_generalised_forces_match_power():
    """Q of [IPS16] is what the weight and the elements do: its power is the rate of work at any speeds."""
    system = load("lib:regulator").compile()
    value = {name: parameter.value for name, parameter in system.description.parameters.items()}
    _, y, al, be = q = np.array([0.7, 0.6, 0.4, -0.3])
    gm = value["g"] * value["m2"] * value["zc2"]
    Q = [
        value["k"] * (6.0 - 0.0),
        value["c"] * (value["y20"] - y),
        gm * np.sin(al) * np.cos(be),
        gm * np.cos(al) * np.sin(be),
    ]
    # at rest M u̇ = Q
    M = system.mass_matrix(0.0, q)
    assert M @ system.accelerations(0.0, q, np.zeros(4), {"omega0": 6.0}) == pytest.approx(
        Q, abs=1e-12
    )


# -- gyroscope ------------------------------------------------------------------------------------------------------------------------------
def test_gyroscope_conserves_integrals():
    system = load("lib:gyroscope").compile()
    rng = np.random.default_rng(5)
    for _ in range(3):
        q, u = rng.normal(size=3), 2e-3 * rng.normal(size=3)
        outputs = system.outputs(0.0, q, u)
        rates = rate(system, ("p_phi", "jacobi"), q, u, 0.5)
        scales = (
            np.array([1e-3, outputs["kinetic_relative"] + outputs["kinetic_orbital"]]) * 1e-3
        )  # magnitudes times the rate of the orbit
        assert np.abs(rates / scales).max() < 1e-8


def test_gyroscope_equilibria_match_theory():
    """The rotor's axis along the normal of the orbit, at any spin; and, without spin against the stars and gradient, any attitude."""
    system = load("lib:gyroscope").compile()
    assert np.abs(system.accelerations(0.0, [0.0, 0.0, 0.4], [0.0, 0.0, 0.3])).max() < 1e-18
    n = np.sqrt(3.986004418e14 / 7.0e6**3)
    balanced = load(
        "lib:gyroscope", A=1.0, B1=0.5, B2=0.5, B3=1.0, C=0.5
    ).compile()  # B1 - B3 + A - C = 0
    still = balanced.accelerations(0.0, [0.0, 0.0, 0.0], [0.0, 0.0, -n])
    assert np.abs(still).max() < 1e-18


def test_orbiting_body_has_no_reaction():
    """In orbit the Earth's pull accelerates every body by itself: the frame's joint transmits no force (10 N.m.ε over 7e6 m and 81 N)."""
    system = load("lib:gyroscope").compile()
    q, u = system.start()
    reactions = system.reactions(3.0, q, u)
    assert np.abs(reactions[:, :3]).max() < 1e-10


# -- free mechanisms ------------------------------------------------------------------------------------------------------------------------
def test_spacecraft_has_no_external_force():
    """Momenta of a free joint are force and moment on the whole: in ground axes they are constant, so in hub axes ṗ = -Ωp."""
    system = load("lib:spacecraft").compile()
    assert len(system.bodies) == 7 and system.n == 12
    rng = np.random.default_rng(3)
    q, u = system.start()
    u = u + 0.3 * rng.normal(size=system.n)
    q[7:] += rng.normal(size=len(q) - 7)
    p = system.momenta(0.0, q, u)
    speeds, pdot = system.hamilton(0.0, q, p)
    assert speeds == pytest.approx(u, abs=1e-11)
    of = {name: k for k, name in enumerate(system.speeds)}
    v, w = (np.array([u[of[f"space.{part}{axis}"]] for axis in "xyz"]) for part in ("v", "w"))
    linear, angular = (
        np.array([p[of[f"space.{part}{axis}"]] for axis in "xyz"]) for part in ("v", "w")
    )
    dl, da = (np.array([pdot[of[f"space.{part}{axis}"]] for axis in "xyz"]) for part in ("v", "w"))
    assert np.abs(dl + np.cross(w, linear)).max() < 1e-10  # ε times 1000 kg times m/s
    assert np.abs(da + np.cross(w, angular) + np.cross(v, linear)).max() < 1e-10


def test_mobile_robot_structure():
    system = load("lib:mobile-robot").compile()
    assert len(system.bodies) == 13 and system.n == 6 + 12
    hull = system.bodies.index("hull") + 1
    assert sorted(
        system.bodies[i] for i, parent in enumerate(system.parents) if parent == hull
    ) == ["mast", "rocker_left", "rocker_right"]


# -- tops and rods --------------------------------------------------------------------------------------------------------------------------
def test_free_body_obeys_euler():
    system = load("lib:free-body").compile()
    q, u = system.start()
    wx, wy, wz = 2.0, -3.0, 5.0
    s = (0.04 - 0.02) / 0.04 * wz
    assert system.accelerations(0.0, q, u) == pytest.approx(
        [0, 0, 0, s * wy, -s * wx, 0], abs=1e-14
    )


def test_chain6_start_is_rigid_rotation():
    system = load("lib:chain6").compile()
    q, u = system.start()
    kinetic, potential = system.energy(0.0, q, u)
    assert kinetic == pytest.approx(2.0716209680639551, rel=1e-14)
    assert potential == pytest.approx(-77.481764389301007, rel=1e-14)
    outputs = system.outputs(0.0, q, u)
    assert outputs["end6[1]"] == pytest.approx(3.0 * np.sin(0.5), rel=1e-14)


def test_pendulum_satisfies_equation_of_motion():
    system = load("lib:pendulum").compile(L=0.7, phi0=0.4)
    q, u = system.start()
    assert system.accelerations(0.0, q, u) == pytest.approx([-9.81 / 0.7 * np.sin(0.4)], rel=1e-14)


def test_elasto_gap_never_sticks():
    """The force of a stop lies between 0 and twice its spring's."""
    system = load("lib:elasto-gap").compile()
    for v in (-100.0, -1.0, 0.0, 1.0, 100.0):
        for x in (-1.0, -0.5, 0.0, 0.5, 1.0):
            depth = max(abs(x) - 0.5, 0.0)
            push = -np.sign(x) * system.accelerations(0.0, [x], [v])[0]
            assert -1e-15 <= push <= 2 * 10.0 * depth + 1e-12
