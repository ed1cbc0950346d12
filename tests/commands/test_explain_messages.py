"""`kinetree explain MESSAGE`: every way in which an evaluation can fail has its advice."""

import ast
import json
from collections.abc import Iterator

import numpy as np
import pytest
from tree import ROOT

from kinetree.models import load
from kinetree.models.engine.status import message
from kinetree.scripts import cli
from kinetree.scripts.commands.explain import explain
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
def test_messages_that_contain_key_names_are_not_taken_for_keys(
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


def words_of(node: ast.expr) -> str:
    """The text that an expression makes, with `it` for every value in it."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(words_of(part) for part in parts)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return words_of(left) + words_of(right)
        case ast.IfExp(body=body):
            return words_of(body)
    return "it"


def raised() -> Iterator[str]:
    """Every message of four words or more that models, units and commands raise."""
    for room in ("models", "fmu_src", "scripts"):
        for path in sorted((ROOT / room).rglob("*.py")):
            if path.relative_to(ROOT).parts[1] in ("bench", "site", "developer"):
                continue
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
                    text = " ".join(words_of(part) for part in node.exc.args).strip()
                    if sum(word.strip("':;,.") not in ("it", "") for word in text.split()) > 3:
                        yield text


def not_explained(texts: list[str], capsys: pytest.CaptureFixture) -> list[str]:
    wrong = []
    for text in texts:
        try:
            explain([text], json=True)
        except Exception as error:  # what is not known is refused
            wrong.append(f"{text}: {error}")
            continue
        lines = json.loads(capsys.readouterr().out)
        if all(line["what"].strip() in ("", text) for line in lines):
            wrong.append(text)
    return wrong


def test_sampled_error_messages_are_explained(capsys: pytest.CaptureFixture):
    assert not not_explained(list(raised())[::200], capsys)


@pytest.mark.slow
def test_every_error_message_is_explained(capsys: pytest.CaptureFixture):
    texts = list(raised())
    assert len(texts) > 300
    assert not not_explained(texts, capsys)


@pytest.mark.parametrize(
    ("text", "page"),
    [
        ("standard input data without nodes", "beams"),
        ("component 'crane' asks for model exchange; masters step co-simulation FMUs only", "coup"),
        ("record.csv: the sweep has no column 'x'", "columns are"),
        ("--start: 'x.y' is not a coordinate", "Override a start value"),
    ],
)
def test_messages_lead_to_their_page_or_option(text: str, page: str, capsys: pytest.CaptureFixture):
    assert cli.main(["explain", text, "--json"]) == 0
    assert page in capsys.readouterr().out
