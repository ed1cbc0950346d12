"""Rotors of motors: D on the diagonal of the mass matrix, so that (M + D) u̇ = M u̇₀ with u̇₀ the rates without them; in every form, loops included."""

import copy

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.engine.status import EvaluationError

BODY = {"mass": 1.0, "com": [0.1, 0.2, -0.3], "inertia": [0.1, 0.12, 0.15, 0.01, 0.0, 0.02]}
PLAIN = {
    "format": "kinetree/1",
    "bodies": dict.fromkeys("abcd", BODY),
    "joints": {
        "A": {"child": "a", "type": "revolute", "axis": "y", "coordinates": ["qa"]},
        "B": {
            "parent": "a",
            "child": "b",
            "at": [0, 0, -0.5],
            "type": "universal",
            "coordinates": ["qb1", "qb2"],
        },
        "C": {"parent": "b", "child": "c", "at": [0, 0.3, -0.5], "type": "spherical"},
        "D": {
            "parent": "b",
            "child": "d",
            "at": [0.4, 0, 0],
            "transforms": [{"shift": "x", "coordinate": "s"}, {"rotate": "z", "coordinate": "qd"}],
        },
    },
    "forces": {"f": {"coordinate": "qa", "value": "0.3 - 0.1*der(qa)"}},
}
ROTORS = {"A": [0.2], "B": [0.0, "Jm"], "C": [0.05, 0.06, 0.07], "D": [0.5, 0.04]}
LAGRANGIAN = ("auto", "DRT", "CBM", "ITR-M", "ITR-G", "ABM", "DEC")
HAMILTONIAN = ("CBM-H", "ITR-H", "ABM-H", "DEC-H")


def both(plain=PLAIN, rotors=ROTORS):
    """Systems without and with rotors, and D by speeds."""
    driven = copy.deepcopy(plain)
    driven["parameters"] = {"Jm": 0.03}
    for joint, values in rotors.items():
        driven["joints"][joint]["rotor_inertia"] = values
    first, second = load(plain).compile(), load(driven).compile()
    D = np.zeros(second.n)
    for joint, values in rotors.items():
        names = [name for name in second.speeds if name in speeds_of(joint)]
        for name, value in zip(names, values, strict=True):
            D[second.speeds.index(name)] = 0.03 if value == "Jm" else value
    return first, second, D


def speeds_of(joint):
    named = {
        "A": ["der(qa)"],
        "B": ["der(qb1)", "der(qb2)"],
        "C": ["C.wx", "C.wy", "C.wz"],
        "D": ["der(s)", "der(qd)"],
    }
    return named[joint]


def state(system, seed=0):
    rng = np.random.default_rng(seed)
    q, u = (np.array(part) for part in system.start())
    q += 0.3 * rng.normal(size=q.size)
    for k, name in enumerate(system.coordinates):
        if name.endswith(".qw"):
            q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
    return q, rng.normal(size=u.size)


@pytest.mark.parametrize("method", LAGRANGIAN)
def test_rotor_accelerations_agree_in_every_form(method):
    plain, driven, D = both()
    q, u = state(plain)
    M = plain.mass_matrix(0.0, q)
    expected = np.linalg.solve(M + np.diag(D), M @ plain.accelerations(0.0, q, u))
    found = driven.accelerations(0.0, q, u, method=method)
    # rounding of both solutions: epsilon times the condition of M
    assert found == pytest.approx(expected, abs=1e-15 * np.linalg.cond(M) * np.abs(expected).max())
    assert driven.mass_matrix(0.0, q) == pytest.approx(M + np.diag(D), abs=1e-14)


@pytest.mark.parametrize("method", HAMILTONIAN)
def test_rotor_momenta_and_rates_agree_in_every_form(method):
    plain, driven, D = both()
    q, u = state(plain)
    p = driven.momenta(0.0, q, u)
    assert p == pytest.approx(plain.momenta(0.0, q, u) + D * u, abs=1e-14)
    found, rates = driven.hamilton(0.0, q, p, method=method)
    assert found == pytest.approx(u, abs=1e-12)
    # the rotors add D u̇ to ṗ: with the forces of the same motion both rates differ by nothing else than p itself does
    assert rates == pytest.approx(
        plain.hamilton(0.0, q, plain.momenta(0.0, q, u), method=method)[1], abs=1e-12
    )


@pytest.mark.parametrize("method", ("ABM", "CBM", "DEC"))
def test_rotor_reactions_match_equivalent_motion(method):
    """A motor that gives τ - D u̇ to joints without rotors makes the same motion; the reactions are the same, too."""
    plain, driven, D = both()
    q, u = state(plain)
    rates = driven.accelerations(0.0, q, u)
    loads = np.zeros((4, 6))
    reached = driven.reactions(0.0, q, u, method=method, loads=loads)
    slow = copy.deepcopy(PLAIN)
    for k, name in enumerate(("qa", "qb1", "qb2", "s", "qd")):
        j = plain.speeds.index(f"der({name})")
        slow["forces"][f"motor{k}"] = {"coordinate": name, "value": float(-D[j] * rates[j])}
    j = plain.speeds.index("C.wx")
    moment = [float(-each) for each in D[j : j + 3] * rates[j : j + 3]]
    slow["forces"]["ball"] = {
        "kind": "pair",
        "between": [{"body": "c"}, {"body": "b"}],
        "moment": moment,
        "frame": "body",
    }
    system = load(slow).compile()
    assert system.accelerations(0.0, q, u) == pytest.approx(rates, abs=1e-11)
    expected = system.reactions(0.0, q, u, method=method)
    ball = plain.bodies.index("c")
    expected[ball, 3:] = (
        0.0  # the pair's moment counts as a reaction's partner there, the motor's does not
    )
    assert reached == pytest.approx(expected, abs=1e-11)


def test_rotor_motion_conserves_energy():
    _, driven, _ = both(rotors=ROTORS)
    conservative = copy.deepcopy(PLAIN)
    conservative["forces"] = {}
    _, system, _ = both(conservative)
    result = system.simulate(stop_time=2.0, output_step=0.5, tolerance=1e-11)
    energies = [sum(system.energy(t, q, u)) for t, q, u in states(system, result)]
    assert np.ptp(energies) < 1e-8 * max(abs(np.array(energies)))


def states(system, result):
    for k, t in enumerate(result.time):
        yield (
            t,
            np.array([result[name][k] for name in system.coordinates]),
            np.array([result[name][k] for name in system.speeds]),
        )


def test_rotor_in_closed_loop_matches_bordered_equations():
    """Rates of a four-bar with a motor at its crank against the bordered equations with M + D."""
    plain, driven, D = both_of_four_bar()
    q, u = (np.array(part) for part in driven.start())
    a0, a1 = plain.accelerations(0.0, q, u), driven.accelerations(0.0, q, u)
    M = plain.mass_matrix(0.0, q)
    # both satisfy J a = γ, so that a1 - a0 is a virtual motion, along which forces of constraint do no work: δᵀ[(M + D) a1 - M a0] = 0
    delta = a1 - a0
    assert np.abs(delta).max() > 0.01
    assert abs(delta @ ((M + np.diag(D)) @ a1 - M @ a0)) < 1e-11 * np.abs(M @ a0).max()


def both_of_four_bar():
    from kinetree.models.description.reading.read_source import read

    plain, _ = read("lib:four-bar")
    name = next(
        name for name, joint in plain["joints"].items() if joint.get("parent", "ground") == "ground"
    )
    driven = copy.deepcopy(plain)
    driven["joints"][name]["rotor_inertia"] = [0.7]
    first, second = load(plain).compile(), load(driven).compile()
    coordinate = next(
        t["coordinate"] for t in plain["joints"][name]["transforms"] if "coordinate" in t
    )
    D = np.zeros(second.n)
    D[second.speeds.index(f"der({coordinate})")] = 0.7
    return first, second, D


def test_lagrange_forms_of_the_first_kind_refuse_rotors():
    _, driven, _ = both()
    assert driven.choose() != "LGR"
    with pytest.raises(EvaluationError, match="rotor"):
        driven.accelerations(0.0, *driven.start(), method="LGR")
    with pytest.raises(EvaluationError, match="rotor"):
        driven.hamilton(0.0, *driven.start(), method="LGR-H")


def test_invalid_rotor_values_are_refused():
    from kinetree.models import ModelError

    for joint, value in (("A", [1.0, 2.0]), ("C", [1.0])):
        wrong = copy.deepcopy(PLAIN)
        wrong["joints"][joint]["rotor_inertia"] = value
        with pytest.raises(ModelError, match="rotor_inertia"):
            load(wrong)


def test_locking_conserves_rotor_momentum():
    """Two discs on one axis, the upper one on the lower: when it locks, (Ia + Ib + rotor) u⁺ = (Ia + Ib + rotor) u + Ib v, by hand."""
    disc = {"mass": 1.0, "inertia": [0.2, 0.2, 0.3, 0, 0, 0]}
    text = {
        "format": "kinetree/1",
        "gravity": [0, 0, 0],
        "bodies": {"a": disc, "b": disc},
        "joints": {
            "A": {
                "child": "a",
                "type": "revolute",
                "coordinates": ["p"],
                "speed": [2.0],
                "rotor_inertia": [0.5],
            },
            "B": {
                "parent": "a",
                "child": "b",
                "type": "revolute",
                "coordinates": ["q"],
                "speed": [3.0],
                "rotor_inertia": [0.2],
            },
        },
        "stages": [{"name": "free", "ends": {"at": 0.5}, "lock": ["B"]}, {"name": "locked"}],
    }
    result = load(text).compile().simulate(stop_time=1.0, output_step=0.25)
    assert result["der(p)"][-1] == pytest.approx(2.0 + 0.3 * 3.0 / (0.3 + 0.3 + 0.5), rel=1e-12)
