"""A newcomer's ten minutes in the studio, in a browser: open, change a value, run, look, compare, break and mend the text, rest, stop, pack."""

import os
import re
import subprocess
import sys

import pytest
from browser import DESK, PHONE, browser, needs_browser

from kinetree.fmu.source.webassembly import engine_module

pytestmark = [needs_browser, pytest.mark.slow]
PATIENCE = 60_000  # ms, on a machine with other work


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("studio")
    command = [sys.executable, "-m", "kinetree.scripts.cli", "studio", "lib:pendulum", "--no-open"]
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("PYTEST")
    }  # NiceGUI behaves otherwise under pytest
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, cwd=folder, env=environment
    )
    line = process.stdout.readline()
    yield re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", line)[0]
    process.terminate()
    process.wait(20)


def test_studio_session_walkthrough(address: str):
    with browser() as shell:
        page = shell.new_page(
            viewport=DESK, reduced_motion="reduce"
        )  # scenes stand still until they are played
        page.set_default_timeout(PATIENCE)
        requests, complaints = [], []
        page.on("request", lambda request: requests.append(request.url))
        page.on(
            "console",
            lambda message: complaints.append(message.text) if message.type == "error" else None,
        )
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(address)
        scene = page.frame_locator("iframe.scene")
        scene.locator("#title", has_text="Pendulum").wait_for()
        # change a value, run, look at the numbers
        field = page.locator('input[data-parameter="L"]')
        field.fill("2")
        field.press("Enter")
        page.locator("input[aria-label='L']").wait_for()
        page.get_by_role("button", name="Run").click()
        scene.locator(".strip canvas").first.wait_for()
        page.get_by_role("tab", name="Numbers").click()
        page.locator(".font-medium", has_text="run 1, L = 2").first.wait_for()
        page.locator("table tbody tr").nth(5).wait_for()
        # a value that cannot be is refused and said
        field.fill("-3")
        field.press("Enter")
        page.locator(".q-notification", has_text="L").first.wait_for()
        # curves: found by search, dragged onto a chart
        page.get_by_role("tab", name="Plots").click()
        page.locator('[data-chart="0"] canvas').first.wait_for()
        page.get_by_placeholder("Find a variable").fill("der(phi")
        page.locator('[data-variable="der(phi)"]').drag_to(page.locator('[data-chart="0"]'))
        page.locator('[data-chart="0"] .q-chip', has_text="der(phi)").wait_for()
        page.get_by_label("save plot set as").fill("swing")
        page.locator("i", has_text="bookmark_add").click()
        page.locator(".q-notification", has_text="report.plots.swing").wait_for()
        page.keyboard.press("Escape")
        # break the text and mend it
        page.get_by_role("tab", name="Description").click()
        editor = page.locator(".cm-content")
        editor.click()
        page.keyboard.press("Control+End")
        page.keyboard.type("\nrubbish = 1\n")
        page.get_by_text("1 error").wait_for()
        page.get_by_text(re.compile("rubbish")).last.wait_for()
        page.keyboard.press("Control+z")
        page.keyboard.press("Control+z")
        page.get_by_text("OK", exact=True).wait_for()
        # statics
        page.get_by_role("button", name="Equilibrium").click()
        page.get_by_role("tab", name="Equilibrium", exact=True).click()
        page.get_by_text("stable equilibrium").wait_for()
        # a map, its numbers
        page.get_by_role("tab", name="Map").click()
        page.get_by_role("button", name="Compute").click()
        page.get_by_text("largest:").wait_for()
        page.get_by_text("15 points in").wait_for()
        # values into the text, back by undo of another change
        page.get_by_role("tab", name="Parameters").click()
        field.fill("2")
        field.press("Enter")
        page.get_by_role("button", name="settle").click()
        page.locator(".q-notification", has_text="the description has the values now").wait_for()
        field.fill("3")
        field.press("Enter")
        page.locator('button[title="back to the value of the description"]').wait_for()
        page.get_by_role("button", name="undo").click()
        page.locator('button[title="back to the value of the description"]').wait_for(
            state="detached"
        )
        # values from a table
        with page.expect_file_chooser() as chooser:
            page.get_by_role("button", name="import").click()
        chooser.value.set_files(
            {
                "name": "values.csv",
                "mimeType": "text/csv",
                "buffer": b"name,value,unit\nL,1500,mm\n",
            }
        )
        page.locator(".q-notification", has_text="1 values differ").wait_for()
        # structure, phone
        page.get_by_role("tab", name="Structure").click()
        page.get_by_text("1 body, 1 degree of freedom").wait_for()
        page.set_viewport_size(PHONE)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth + 1")
        page.set_viewport_size(DESK)
        # pack
        page.locator("header button").last.click()
        with page.expect_download() as download:
            page.get_by_text("FMU: Python, FMI 2.0").click()
        assert download.value.suggested_filename.endswith(".fmu")
        home = address.split("/?")[0]
        strangers = [
            url
            for url in requests
            if not url.startswith((home, home.replace("http", "ws"), "data:", "blob:"))
        ]
        assert not strangers and not complaints, (strangers, complaints)
        page.close()


def test_studio_opens_another_mechanism_and_stops_a_run(address: str):
    """Stages over time and tables over them, a long run and its stop, two runs to choose from."""
    with browser() as shell:
        page = shell.new_page(viewport=DESK, color_scheme="dark", reduced_motion="reduce")
        page.set_default_timeout(PATIENCE)
        complaints = []
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(address)
        scene = page.frame_locator("iframe.scene")
        page.get_by_role("tab", name="Open").click()
        page.get_by_role("button", name="stages").click()
        scene.locator("#title", has_text="My stages").wait_for()
        page.get_by_role("button", name="Run").click()
        scene.locator(".strip canvas").first.wait_for()
        page.get_by_role("tab", name="Stages").click()
        page.locator("table tbody tr", has_text="flight").click()  # an instant in the scene
        page.wait_for_function(
            "document.querySelector('iframe.scene').contentWindow.kinetree?.time > 0.8"
        )
        page.get_by_role("tab", name="Numbers").click()
        page.get_by_text("Over the stages").wait_for()
        page.locator("table tbody tr", has_text="standard deviation").first.wait_for()
        page.get_by_role("tab", name="Open").click()
        page.get_by_label("file (.toml").fill("lib:three-link")
        page.get_by_label("file (.toml").press("Enter")
        scene.locator("#title", has_text="Three-link").wait_for()
        page.get_by_label("stop time").fill("1e5")
        page.get_by_role("button", name="Run").click()
        page.get_by_role("button", name="Stop").click()
        page.locator(".q-notification", has_text="ended early: stopped").wait_for()
        page.get_by_label("stop time").fill("0.5")
        page.get_by_role("tab", name="Numbers").click()
        page.get_by_role("button", name="Run").click()
        page.locator(".font-medium", has_text="run 2").first.wait_for()
        assert not complaints, complaints
        page.close()


def test_settings_states_and_live_page_of_a_library_mechanism(address: str):
    """A setting rebuilds the scene, states of the preparation are seen, joints are dragged live."""
    pytest.importorskip("ziglang")
    engine_module(lambda text: None)  # the first time it is compiled, for minutes
    with browser() as shell:
        page = shell.new_page(viewport=DESK, reduced_motion="reduce")
        page.set_default_timeout(PATIENCE)
        complaints = []
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(address)
        scene = page.frame_locator("iframe.scene")
        page.get_by_role("tab", name="Open").click()
        page.get_by_label("file (.toml").fill("lib:carrier")
        page.get_by_label("file (.toml").press("Enter")
        scene.locator("#title", has_text="Carrier of 4 modules").wait_for()
        field = page.locator('input[data-setting="modules"]')
        field.fill("99")
        field.press("Enter")
        page.get_by_text("modules is 99").wait_for()
        field = page.locator('input[data-setting="modules"]')
        field.fill("1")
        field.press("Enter")
        scene.locator("#title", has_text="Carrier of 1 modules").wait_for()
        page.keyboard.press("Alt+e")
        scene.locator("#clip option", has_text="on wheels").wait_for(state="attached")
        page.get_by_role("tab", name="Equilibrium").click()
        page.get_by_role("button", name="on wheels").click()
        page.get_by_role("button", name="See it in the scene").click()
        page.wait_for_function(
            "document.querySelector('iframe.scene').contentDocument.querySelector('#clip')"
            "?.selectedOptions[0]?.textContent === 'on wheels'"
        )
        page.set_viewport_size(PHONE)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth + 1")
        page.set_viewport_size(DESK)
        page.get_by_role("tab", name="Open").click()
        page.get_by_label("file (.toml").fill("lib:boom")
        page.get_by_label("file (.toml").press("Enter")
        scene.locator("#title", has_text="Luffing boom").wait_for()
        page.get_by_role("button", name="Live").click()
        scene.locator("#live-joint").wait_for()
        scene.locator("#live-joint").click()
        page.keyboard.press("Alt+k")
        page.get_by_text("The scene has keys of its own").wait_for()
        assert not complaints, complaints
        page.close()


FAR_END = """() => { const r = canvas.getBoundingClientRect(); let best = null;
  for (let i = 5; i < 95; i += 2) for (let j = 5; j < 95; j += 2) {
    const event = { clientX: r.left + i / 100 * r.width, clientY: r.top + j / 100 * r.height };
    const found = pick(event);
    if (found && (!best || found.point[0] > best[2])) best = [event.clientX, event.clientY, found.point[0]]; }
  return best; }"""  # a point of the canvas that shows the end of a body


def test_tree_is_built_by_mouse(address: str):
    """A body is added, the end of it is clicked in the scene, and carries the next one."""
    with browser() as shell:
        page = shell.new_page(viewport=DESK, reduced_motion="reduce")
        page.set_default_timeout(PATIENCE)
        complaints = []
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(address)
        scene = page.frame_locator("iframe.scene")
        page.get_by_role("tab", name="Open").click()
        page.get_by_role("button", name="empty").click()
        scene.get_by_text("Nothing to see yet").wait_for()
        add = page.get_by_role("button", name="Add", exact=True)
        add.click()
        scene.locator("#title", has_text="My mechanism").wait_for()
        page.wait_for_function(
            "document.querySelector('iframe.scene').contentWindow.kinetree?.frames > 0"
        )
        x, y, _ = page.frames[-1].evaluate(FAR_END)
        frame = page.locator("iframe.scene").bounding_box()
        page.mouse.click(frame["x"] + x, frame["y"] + y)
        page.wait_for_function(
            "document.querySelector('[data-place=\"build-at-x\"]').value === '0.5'"
        )
        page.get_by_role("button", name="spherical").click()
        add.click()
        page.get_by_text("body2_joint: spherical on body1").wait_for()
        page.set_viewport_size(PHONE)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth + 1")
        assert not complaints, complaints
        page.close()


def test_studio_serves_nothing_without_token(address: str):
    with browser() as shell:
        page = shell.new_page()
        answer = page.goto(address.split("?")[0])
        assert answer.status == 403 and "opens with the address" in page.content()
        page.close()
