"""The studio without its page: text, values with undo, runs that can be stopped, statics, FMUs, and the door."""

import asyncio
import json
import os
import subprocess
import sys
import threading
import time
import urllib.request
from zipfile import ZipFile

import numpy as np
import pytest

from kinetree.models import load
from kinetree.scripts.cli import main
from kinetree.scripts.studio.server import COOKIE, Door
from kinetree.scripts.studio.session import KEPT, Session
from kinetree.scripts.terminal.arguments import numbers
from kinetree.scripts.terminal.error_messages import BadInput


def test_studio_text_errors_name_lines_until_corrected():
    session = Session("lib:pendulum")
    good = session.text
    session.text = good.replace('child = "bob"', 'child = "bop"')
    problems = session.check()
    assert problems and "pendulum.toml:" in problems[0] and "bop" in problems[0]
    with pytest.raises(ValueError, match="mended first"):
        session.run(0.1)
    session.text = good
    assert session.check() == [] and session.parameters()["L"][1] == 1.0


def test_studio_values_can_be_undone():
    session = Session("lib:pendulum")
    assert session.set("L", 2.0) == [] and session.set("m", 3.0) == []
    assert session.set("L", -1.0), "a length below its bound was taken"
    assert session.overrides == {"L": 2.0, "m": 3.0}
    assert session.undo() and session.overrides == {"L": 2.0}
    assert session.redo() and session.overrides == {"L": 2.0, "m": 3.0}
    assert session.set("L", None) == [] and session.overrides == {"m": 3.0}
    again = Session("lib:pendulum")
    assert again.take_values(session.values_text()) == [] and again.overrides == {"m": 3.0}
    assert again.take_values("[1]") and again.take_values('{"gone": 1}')
    while session.undo():
        pass
    assert session.overrides == {}


def test_studio_runs_use_values_and_are_stored():
    """A pendulum four times as long swings half as fast at small angles: coordinates after a quarter of the period tell."""
    session = Session("lib:pendulum")
    session.set("phi0", 0.01)
    short = session.run(0.5).result
    session.set("L", 4.0)
    long = session.run(1.0).result
    np.testing.assert_allclose(long["phi"][::2], short["phi"], atol=1e-7)
    assert [each.label for each in session.runs] == [
        "run 1, phi0 = 0.01",
        "run 2, phi0 = 0.01, L = 4",
    ]
    for _ in range(KEPT):
        session.run(0.01)
    assert len(session.runs) == KEPT and session.runs[-1].number == KEPT + 2


def test_stopped_run_keeps_rows():
    session = Session("lib:three-link")
    found = []
    thread = threading.Thread(target=lambda: found.append(session.run(3e4)))
    thread.start()
    while session.part == 0.0 and thread.is_alive():
        time.sleep(0.01)
    session.stop()
    thread.join(30.0)
    assert (
        found
        and found[0].result.interrupted == "stopped"
        and len(found[0].result) > 1
        and not session.running
    )


def test_studio_session_computes_statics_and_pages():
    session = Session("lib:pendulum")
    rests = session.equilibria()
    rest, page = rests["equilibrium"], session.equilibrium_page(rests, "equilibrium")
    assert rest.stability == "stable" and rest.modes[0].frequency == pytest.approx(
        np.sqrt(9.81) / (2 * np.pi), rel=1e-6
    )
    assert "mode 1: " in page and "<canvas" in session.start_page()
    assert "<canvas" in Session("lib:train").start_page()


def test_studio_fmu_has_changed_values(tmp_path):
    session = Session("lib:pendulum")
    session.set("L", 2.5)
    name, content = session.pack("python", "2")
    (tmp_path / name).write_bytes(content)
    with ZipFile(tmp_path / name) as archive:
        text = archive.read("modelDescription.xml").decode()
    assert 'name="L"' in text and 'start="2.5"' in text


def test_generated_mechanisms_are_opened_as_json_and_saved_as_files(tmp_path):
    session = Session("lib:carrier")
    assert (
        session.language == "JSON" and json.loads(session.text)["bodies"] and session.problems == []
    )
    with pytest.raises(ValueError, match="name of a file"):
        session.save()
    session.save(str(tmp_path / "mine.json"))
    assert main(["check", str(tmp_path / "mine.json")]) == 0


def knock(door: Door, kind: str = "http", query: str = "", **headers: str) -> list[dict]:
    """What the door sends to a visitor."""
    sent: list[dict] = []

    async def send(message) -> None:
        sent.append(message)

    async def receive() -> dict:
        return {"type": "websocket.connect"}

    pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
    asyncio.run(
        door({"type": kind, "query_string": query.encode(), "headers": pairs}, receive, send)
    )
    return sent


async def inside(scope, receive, send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})


@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_studio_access_requires_token(kind: str):
    door, home = Door(inside, "secret", 8000), "127.0.0.1:8000"
    entered = knock(door, kind, "token=secret", host=home)
    assert entered[0]["status"] == 200
    if kind == "http":
        assert entered[0]["headers"] == [
            (b"set-cookie", f"{COOKIE}_8000=secret; HttpOnly; SameSite=Strict; Path=/".encode())
        ]
    assert knock(door, kind, host=home, cookie=f"{COOKIE}_8000=secret")[0]["status"] == 200
    strangers = [
        knock(door, kind, host=home),
        knock(door, kind, "token=guess", host=home),
        knock(door, kind, host=home, cookie=f"{COOKIE}_8000=guess"),
        knock(door, kind, "token=secret", host="evil.example"),
        knock(door, kind, host=home, cookie=f"{COOKIE}_8000=secret", origin="http://evil.example"),
        knock(door, kind, "token=", host=home),
    ]
    for sent in strangers:
        assert sent[0].get("status") == 403 or sent[0].get("code") == 1008, sent


@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_studios_in_one_browser_are_independent(kind: str):
    """A browser sends the cookies of every port, those of other programs too, whatever they look like: each studio finds its own."""
    doors = {port: Door(inside, f"secret{port}", port) for port in (8000, 8001)}
    jar = [f"{COOKIE}_{port}=secret{port}" for port in doors]
    jar = ['state={"a": [1, 2]}; x=", @', jar[0], "=;;é", jar[1], f"{COOKIE}_8000x=no"]
    for port, door in doors.items():
        home = f"127.0.0.1:{port}"
        assert knock(door, kind, host=home, cookie="; ".join(jar))[0]["status"] == 200
        other = f"{COOKIE}_{port}=secret{16001 - port}"
        stranger = knock(door, kind, host=home, cookie=other)[0]
        assert stranger.get("status") == 403 or stranger.get("code") == 1008


def test_studio_page_is_served(tmp_path):
    """By the command, in a process of its own; pages of chains and of drives: test_page_without_browser."""
    command = [sys.executable, "-m", "kinetree.scripts.cli", "studio", "lib:four-bar", "--no-open"]
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("PYTEST")
    }  # NiceGUI behaves otherwise under pytest
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, cwd=tmp_path, env=environment
    )
    try:
        address = process.stdout.readline().removeprefix("studio: ").strip()
        with urllib.request.urlopen(address, timeout=60) as answer:
            assert answer.status == 200 and b"Kinetree studio" in answer.read()
    finally:
        process.terminate()
        process.wait(20)


def test_studio_session_starts_with_library_settings():
    """Structure goes into the text, parameters become changed values; opening another one drops both."""
    session = Session("lib:carrier", settings={"modules": 2, "drives": 1, "pace": 0.8})
    assert not session.problems
    assert session.mechanism is not None
    assert {"module1", "module2"} <= set(session.mechanism.description.bodies)
    assert "module3" not in session.mechanism.description.bodies
    assert "slew_set" in session.mechanism.description.inputs
    assert session.parameters()["pace"][1] == 0.8 and session.overrides == {"pace": 0.8}
    session.open("lib:pendulum")
    assert session.overrides == {} and not session.problems
    assert Session("lib:pendulum", settings={"L": 2.0}).parameters()["L"][1] == 2.0
    assert Session("lib:pendulum", settings={"none": 2.0}).problems


def test_settings_give_what_set_gives(tmp_path):
    """A setting changed in the panel, `--set`, and a file of values make the same description."""
    session = Session("lib:carrier")
    assert session.set("modules", 2) == [] and session.set("helical", 1) == []
    assert session.set("pace", 0.8) == []
    given = {"modules": 2, "helical": 1, "pace": 0.8}
    assert Session("lib:carrier", settings=given).text == session.text
    wanted = load("lib:carrier", **given).description
    assert session.mechanism is not None
    made = session.mechanism.description
    assert (made.bodies, made.joints, made.run) == (wanted.bodies, wanted.joints, wanted.run)
    assert made.parameters == wanted.parameters
    values = tmp_path / "values.csv"
    values.write_text(session.values_text())
    read = numbers([f"@{values}"])
    again = Session("lib:carrier", settings=read)
    assert again.text == session.text and again.parameters()["pace"][1] == 0.8
    other = Session("lib:carrier")
    assert other.take_values(session.values_text()) == [] and other.text == session.text
    assert other.overrides == {"pace": 0.8}


def test_parameters_that_a_setting_removes_are_dropped():
    session = Session("lib:carrier", settings={"modules": 1, "drives": 1, "forward": 1})
    assert session.set("slew_forward_1", 0.1) == [] and session.set("pace", 0.8) == []
    assert session.set("forward", 0) == [] and session.overrides == {"pace": 0.8}
    assert session.undo() and session.overrides == {"slew_forward_1": 0.1, "pace": 0.8}
    assert "slew_forward_1" in session.parameters() and session.problems == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("name,value,unit\nL,long,m\n", "expected a number"),
        ("L,1,bananas\n", "bananas"),
        ("", "no values found"),
    ],
)
def test_files_of_values_that_cannot_be_read_are_refused(tmp_path, text: str, told: str):
    path = tmp_path / "values.csv"
    path.write_text(text)
    with pytest.raises(BadInput, match=told):
        numbers([f"@{path}"])
    with pytest.raises(BadInput, match="No such file"):
        numbers([f"@{tmp_path / 'none.csv'}"])


def test_file_of_values_sets_the_parameters_of_a_run(tmp_path, capsys):
    path = tmp_path / "values.json"
    path.write_text('{"L": {"value": 80, "unit": "cm"}, "phi0": 0.1}')
    assert main(["info", "lib:pendulum", "--set", f"@{path}", "--set", "phi0=0.2", "--json"]) == 0
    found = {
        each["name"]: each["value"] for each in json.loads(capsys.readouterr().out)["parameters"]
    }
    assert found["L"] == pytest.approx(0.8) and found["phi0"] == 0.2


def test_command_opens_the_studio_with_settings_and_a_file_of_values(tmp_path, monkeypatch):
    """What is given later wins, as everywhere."""
    from kinetree.scripts.studio import app

    opened = []
    monkeypatch.setattr(app, "serve", lambda *given: opened.append(given))
    path = tmp_path / "values.csv"
    path.write_text("name,value,unit,text\nn,3,,number of rods\nlength,40,cm,\nmass,2,kg,\n")
    command = ["studio", "lib:chain", "--no-open", "--parameters", str(path), "--set", "mass=3"]
    assert main(command) == 0
    (given,) = opened
    session = Session(given[0], settings=dict(given[-1]))
    assert len(session.mechanism.description.bodies) == 3
    values = {name: value for name, (_, value) in session.parameters().items()}
    assert values["length"] == pytest.approx(0.4) and values["mass"] == 3.0
    assert main([*command[:-1], "length=2bananas"]) == 2
