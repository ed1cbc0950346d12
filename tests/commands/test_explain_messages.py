"""`kinetree explain MESSAGE`: every way in which an evaluation can fail has its advice."""

import json

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.engine.status import message
from kinetree.scripts import cli
from kinetree.scripts.terminal.error_hints import advice
from kinetree.solvers.layout import Status
from kinetree.solvers.model_records import HEAD

TOLD_ELSEWHERE = {Status.OK, Status.EVENT, Status.STAGE_NEVER_ENDS, Status.CANCELLED}


@pytest.mark.parametrize("status", sorted(set(Status) - TOLD_ELSEWHERE))
def test_every_status_has_advice(status: Status):
    head, found = HEAD.of(np.zeros(HEAD.size)), []
    for item in (0, 10**6):
        head.item = item
        found += advice(message(status, head, load("lib:four-bar").compile().compiled))
    assert found, status


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        (
            "kinetree: no equilibrium found in 200 iterations: the balance of line.pressure is "
            "open, it changes by 3e+07 Pa per second",
            "no equilibrium",
        ),
        ("warning: the energy balance is open by 676 kJ at t = 1.99 s", "energy balance"),
        ("parameter 'rho' has no influence on phi, psi; leave it out", "no influence"),
        ("parameters a and b cannot be told apart from these data", "told apart"),
        (
            "no gradient of 'x': the rate of der(x) jumps at t = 0.3 back and forth: the motion "
            "slides along the jump of a law",
            "slides along",
        ),
    ],
)
def test_messages_with_names_in_them_are_not_taken_for_keys(
    text: str, phrase: str, capsys: pytest.CaptureFixture
):
    assert cli.main(["explain", text, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found and any(phrase in each["place"] for each in found)
    assert all("kind =" not in each["place"] for each in found)


def test_messages_about_a_key_explain_the_key(capsys: pytest.CaptureFixture):
    text = "m.toml:3: bodies.arm.mass: found 'x', expected a number; unknown name 'x'"
    assert cli.main(["explain", text, "--json"]) == 0
    places = [each["place"] for each in json.loads(capsys.readouterr().out)]
    assert any("mass" in place for place in places) and "unknown name" in places
