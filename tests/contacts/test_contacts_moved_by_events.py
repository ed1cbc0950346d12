"""Events that move a floor or a body under a closed contact: it opens and the body falls, or the overlap is an error, as at the start."""

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.engine.status import EvaluationError
from kinetree.solvers.layout import Status

BALL = {
    "format": "kinetree/1",
    "name": "ball",
    "parameters": {"h": {"value": 0.0, "tunable": True}},
    "bodies": {"b": {"mass": 1.0}},
    "joints": {"j": {"child": "b", "transforms": [{"shift": "z", "coordinate": "z"}, {"shift": "x", "coordinate": "x"}]}},
    "contacts": {"c": {"body": "b", "at": [0, 0, "h"], "restitution": 0.0, "friction": 0.4}},
    "outputs": {"gap": "c.gap"},
}  # fmt: skip


def ball(when: str, **new) -> dict:
    return {**BALL, "events": {"e": {"when": when, "set": new}}}


@pytest.mark.parametrize("integrator", ["auto", "rk45", "radau", "rk4"])
@pytest.mark.parametrize("new", [{"h": -0.01}, {"z": 0.01}])
def test_body_moved_apart_by_an_event_falls(integrator: str, new: dict):
    """A centimetre takes sqrt(2 h/g); the body is nowhere but on its parabola until then."""
    r = (
        load(ball("t > 0.5", **new))
        .compile()
        .simulate(stop_time=0.7, output_step=0.005, integrator=integrator, step=1e-3)
    )
    begin, bottom = new.get("z", 0.0), new.get("h", 0.0)
    flight = np.sqrt(2 * 0.01 / 9.81)
    expected = np.where(
        r.time <= 0.5, 0.0, np.maximum(bottom, begin - 0.5 * 9.81 * (r.time - 0.5) ** 2)
    )
    off = np.abs(r["z"] - expected)
    assert off[np.abs(r.time - 0.5) > 1e-9].max() < 1e-6
    touches = [event.time for event in r.events if "contact 'c'" in event.cause]
    assert touches[0] == pytest.approx(0.5 + flight, abs=1e-6)


@pytest.mark.parametrize("new", [{"h": 0.01}, {"z": -0.3}, {"h": 2e-6}])
def test_penetration_made_by_an_event_is_an_error(new: dict):
    with pytest.raises(EvaluationError, match="contact 'c'") as caught:
        load(ball("t > 0.1", **new)).compile().simulate(stop_time=1.0, output_step=0.2)
    assert caught.value.status == Status.PENETRATES and "0.1" in str(caught.value)


def test_event_may_move_flying_body_and_keeps_sliding_contacts():
    """An event that moves what is open, or moves a body along its floor, changes nothing at the contact."""
    flying = {**ball("t > 0.1", z="z + 0.5")}
    flying["joints"] = {"j": {"child": "b", "transforms": [{"shift": "z", "coordinate": "z", "start": 1.0}]}}  # fmt: skip
    r = load(flying).compile().simulate(stop_time=0.3, output_step=0.1)
    assert r["z"][-1] == pytest.approx(1.5 - 0.5 * 9.81 * 0.3**2)
    sliding = ball("t > 0.1", x="x + 2")
    sliding["joints"]["j"]["transforms"][1] = {"shift": "x", "coordinate": "x", "speed": 3.0}
    r = load(sliding).compile().simulate(stop_time=0.3, output_step=0.1)
    assert r["x"][-1] == pytest.approx(2 + 0.9 - 0.5 * 0.4 * 9.81 * 0.09, abs=1e-6)
    assert abs(r["z"]).max() < 1e-12
