"""Public evaluations never answer with what is no finite number: they name the quantity, what is to blame, and what to try."""

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.engine.status import EvaluationError
from kinetree.models.system.system import System


def cart(law: str = "-x", out: str = "x", rate: str = "-s") -> System:
    """A cart with a pendulum on it; a law of a force, of an output and of a state."""
    body = {"mass": 1.0, "com": [0.1, 0, 0], "inertia": [1, 1, 1, 0, 0, 0]}
    joints = {
        "j": {"child": "a", "transforms": [{"shift": "x", "coordinate": "x", "start": 1.0}]},
        "k": {"parent": "a", "child": "b", "transforms": [{"rotate": "y", "coordinate": "r"}]},
    }
    more = {"outputs": {"told": {"value": out}}, "states": {"s": {"rate": rate}}}
    return load(
        {
            "bodies": {"a": body, "b": body},
            "joints": joints,
            "forces": {"f": {"coordinate": "x", "value": law}},
            **more,
        }
    ).compile()


def evaluate(system: System, what: str, q: list[float]) -> object:
    """One public evaluation at rest."""
    place, still = np.array(q), np.zeros(2)
    if what == "evaluator":
        return system.evaluator()(0.0, place, still, np.zeros(2))
    if what == "often":
        for _ in range(40):  # the direct way from the sixteenth on
            system.accelerations(0.0, np.ones(2), still)
        return system.accelerations(0.0, place, still)
    if what == "many":
        return system.accelerations_many(0.0, np.array([[1.0, 0.0], q]), np.zeros((2, 2)))
    if what == "many outputs":
        return system.accelerations_many(
            0.0, np.array([[1.0, 0.0], q]), np.zeros((2, 2)), outputs=["told"]
        )
    if what == "specialised":
        return system.specialise().accelerations(0.0, place, still)
    calls = {
        "CBM": lambda: system.accelerations(0.0, place, still, method="CBM"),
        "loads": lambda: system.accelerations(0.0, place, still, loads=np.zeros((2, 6))),
        "inverse_dynamics": lambda: system.inverse_dynamics(0.0, place, still, still),
        "point": lambda: system.point(0.0, place, still, "a"),
        "mass_matrix": lambda: system.mass_matrix(0.0, place),
    }
    return calls[what]() if what in calls else getattr(system, what)(0.0, place, still)


EVERY = [
    "accelerations", "often", "evaluator", "CBM", "loads", "many", "reactions", "joint_reactions", "inverse_dynamics", "hamilton", "point",
    "derivatives", "linearize", "specialised",
]  # fmt: skip


@pytest.mark.parametrize("what", EVERY)
@pytest.mark.parametrize(
    ("law", "x"),
    [("sqrt(x)", -1.0), ("1/x", 0.0), ("-1e308*x*1e10", 1.0)],
    ids=["root", "pole", "overflow"],
)
def test_undefined_force_is_named(what: str, law: str, x: float):
    found = r"of '.*': found -?(nan|inf), expected a finite number; 'force\('f'\)' has no finite value there .* bound"
    with np.errstate(invalid="ignore"), pytest.raises(EvaluationError, match=found):
        evaluate(cart(law), what, [x, 0.0])


@pytest.mark.parametrize("what", ["outputs", "many outputs", "linearize"])
def test_undefined_output_is_named(what: str):
    with pytest.raises(
        EvaluationError,
        match="outputs of 'told': found nan, expected a finite number; its law has no finite value there",
    ):
        evaluate(cart(out="log(x)"), what, [-1.0, 0.0])


def test_failing_state_in_a_batch_is_named():
    with pytest.raises(EvaluationError, match=r"state 1, accelerations of 'der\(x\)': found nan"):
        evaluate(cart("sqrt(x)"), "many", [-1.0, 0.0])


def test_undefined_rate_is_named():
    with pytest.raises(
        EvaluationError,
        match="rates of states of 's': found nan, expected a finite number; its law",
    ):
        evaluate(cart(rate="log(x)"), "linearize", [-1.0, 0.0])


def test_infinitely_steep_law_is_named():
    with pytest.raises(
        EvaluationError,
        match="slopes of accelerations by q of 'der\\(x\\)': found .* a law is infinitely steep there",
    ):
        evaluate(cart("sqrt(abs(x))"), "derivatives", [0.0, 0.0])


def test_too_large_state_is_named():
    """Numbers whose squares overflow: the state is to blame, no law."""
    with pytest.raises(
        EvaluationError,
        match=r"energy of 'kinetic': found inf, expected a finite number; 'der\(x\)' is 1e\+200 there",
    ):
        cart().energy(0.0, [1.0, 0.0], [1e200, 0.0])


@pytest.mark.parametrize(
    "what", [*EVERY, "outputs", "energy", "momenta", "mass_matrix", "many outputs"]
)
def test_finite_evaluations_succeed(what: str):
    evaluate(cart("1/x", "log(x)"), what, [1.0, 0.0])
