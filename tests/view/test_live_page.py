"""Live pages: the engine as WebAssembly computes in the browser what a run computes, and follows the user's hand."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from browser import DESK, PHONE, browser, needs_browser, opened

from kinetree.fmu.live import live_data
from kinetree.fmu.variables import FmuError
from kinetree.models import load
from kinetree.models.scene.body_poses import of_result
from kinetree.models.scene.html_page import page as page_text

pytestmark = [
    needs_browser,
    pytest.mark.skipif(find_spec("ziglang") is None, reason="zig is not installed"),
]
READY = "window.live !== undefined || (typeof live !== 'undefined' && live.engine !== null && live.rows > 0)"
POSES = """(count) => { const e = live.engine, out = new Float64Array(7 * bodies.length);
  bodies.forEach((_, k) => e.pose(k, out, 7 * k)); return [...out]; }"""


@pytest.fixture(scope="module")
def shell():
    with browser() as opened_browser:
        yield opened_browser


def written(folder: Path, name: str, **settings: float) -> Path:
    path = folder / "live.html"
    path.write_text(
        page_text(live_data(load(name, **settings)) | {"paused": True}), encoding="utf-8"
    )
    return path


def step(page, seconds: float, count: int) -> None:
    page.evaluate(
        "([h, n]) => { for (let k = 0; k < n; k++) live.engine.step(h); }", [seconds, count]
    )


def poses(page, system_bodies, result) -> tuple[np.ndarray, np.ndarray]:
    """Return poses [m, quaternion] of all bodies: of the page, and of the end of a run."""
    found = np.array(page.evaluate(POSES)).reshape(-1, 7)
    names = page.evaluate("bodies.map((each) => each.name)")
    motion = of_result(result)
    right = np.array([motion.poses[name][-1] for name in names])
    found[np.sum(found[:, 3:] * right[:, 3:], axis=1) < 0, 3:] *= -1
    return found, right


@pytest.mark.parametrize(
    ("name", "stop", "tolerance"),
    [("lib:boom", 1.0, 1e-9), ("lib:four-bar", 1.0, 1e-6), ("lib:woodpecker", 0.4, 1e-6)],
)
def test_live_page_motion_matches_run(shell, tmp_path, name, stop, tolerance):
    mechanism = load(name)
    with opened(shell, written(tmp_path, name)) as (page, requests, complaints):
        page.wait_for_function(READY)
        step(page, stop / 20, 20)
        result = mechanism.compile().simulate(stop_time=stop, output_step=stop / 20)
        found, right = poses(page, mechanism.compile().bodies, result)
        assert np.allclose(found, right, atol=tolerance, equal_nan=True)
        assert page.evaluate("live.engine.events") == len(result.events)
    assert not requests and not complaints


def test_live_page_handles_stage_changes_and_leaving_bodies(shell, tmp_path):
    settings = {"modules": 2, "pace": 1.0}
    with opened(shell, written(tmp_path, "lib:carrier", **settings)) as (page, _, complaints):
        page.wait_for_function(READY)
        stop = 4.0
        step(page, stop / 100, 100)
        result = (
            load("lib:carrier", **settings)
            .compile()
            .simulate(stop_time=stop, output_step=stop / 100)
        )
        assert page.evaluate("live.engine.stage") == result["stage"][-1] > 0
        found, right = poses(page, (), result)
        assert np.allclose(found, right, atol=1e-5, equal_nan=True)
    assert not complaints


def test_live_page_changes_inputs_and_start_values(shell, tmp_path):
    with opened(shell, written(tmp_path, "lib:boom")) as (page, _, complaints):
        page.wait_for_function(READY)
        controls = "LIVE.controls.find((each) => each.name === %r)"
        for name, value in (("luff", 0.3), ("lift.force", 6000.0)):
            page.evaluate(
                f"(value) => {{ const c = {controls % name}; changeControl(c, value, c.row); }}",
                value,
            )
        step(page, 0.05, 20)
        luff = page.evaluate("live.engine.value(LIVE.variables.find((v) => v.name === 'luff'))")
        result = (
            load("lib:boom", luff_0=0.3)
            .compile()
            .simulate(stop_time=1.0, output_step=0.05, inputs={"lift.force": 6000.0})
        )
        assert luff == pytest.approx(result["luff"][-1], abs=1e-8)
        page.evaluate("changeControl(LIVE.controls[0], 1e30, LIVE.controls[0].row)")
    assert not complaints


def test_live_page_rewind_repeats_motion_exactly(shell, tmp_path):
    with opened(shell, written(tmp_path, "lib:four-bar")) as (
        page,
        _,
        complaints,
    ):
        page.wait_for_function(READY)
        values = "LIVE.variables.map((v) => live.engine.value(v))"
        page.evaluate("for (let k = 0; k < 40; k++) { live.speed = 1; advanceLive(1 / 60); }")
        first = page.evaluate(values)
        rows = page.evaluate("live.rows")
        page.evaluate("setTime(live.saved[3].time)")
        saved_row = page.evaluate("live.saved[3].row")
        page.evaluate(
            f"for (let k = 0; k < {rows - 1} - {saved_row} + 1; k++) {{ live.speed = 1; advanceLive(1 / 60); }}"
        )
        assert page.evaluate(values) == first
    assert not complaints


def test_live_page_body_follows_user_force(shell, tmp_path):
    with opened(shell, written(tmp_path, "lib:boom")) as (page, _, complaints):
        page.wait_for_function(READY)
        before = page.evaluate("live.engine.value(LIVE.variables.find((v) => v.name === 'luff'))")
        page.evaluate(
            """() => { live.pulled = { body: 0, point: [1, 0, 0], to: new THREE.Vector3(0, 0, 5) };
            for (let k = 0; k < 60; k++) advanceLive(1 / 60); }"""
        )
        after = page.evaluate("live.engine.value(LIVE.variables.find((v) => v.name === 'luff'))")
        assert abs(after - before) > 0.05
        assert page.evaluate("live.failed") == ""
    assert not complaints


DRAG = """([body, point, way]) => { restart();
  const found = { body, point, place: new THREE.Vector3(...point).applyQuaternion(bodies[body].turn).add(bodies[body].position) };
  if (!grabJoint(found)) return null;
  jointDrag.held.to = found.place.clone().add(new THREE.Vector3(...way)); jointDrag.to = jointDrag.held.to;
  for (let k = 0; k < 9; k++) { jointDrag.held.tries = 0; jointDrag.to = jointDrag.held.to; followPointer(); }
  const from = found.place.distanceTo(jointDrag.held.to), left = heldPoint().distanceTo(jointDrag.held.to);
  releaseJoint();
  return [from, left, ...live.changed.values()].map((each) => each.value ?? each); }"""


@pytest.mark.parametrize(
    ("name", "body", "point", "way"),
    [
        ("lib:boom", "boom", [2.0, 0, 0], [0, 0, 0.05]),
        ("lib:four-bar", "crank", [0.1, 0, 0], [-0.02, 0.02, 0]),
    ],
)
def test_dragged_joint_follows_and_the_motion_begins_there(shell, tmp_path, name, body, point, way):
    """The start value that the page has found gives the posture that a run with it has."""
    with opened(shell, written(tmp_path, name)) as (page, _, complaints):
        page.wait_for_function(READY)
        number = page.evaluate(f"bodies.findIndex((each) => each.name === {body!r})")
        moved, left, *values = page.evaluate(DRAG, [number, point, way])
        coordinates = page.evaluate("[...live.changed.values()].map((each) => each.control.name)")
        assert values and left < 0.9 * moved and page.evaluate("live.failed") == ""
        page.evaluate("restart()")
        started = load(name).starting(dict(zip(coordinates, values, strict=True))).compile()
        found, right = poses(page, started.bodies, started.simulate(stop_time=0.0))
        assert np.allclose(found, right, atol=1e-6)
    assert not complaints


def test_keys_are_listed_and_act(shell, tmp_path):
    with opened(shell, written(tmp_path, "lib:boom")) as (page, _, complaints):
        page.wait_for_function(READY)
        page.keyboard.press("?")
        listed = page.locator("#keys")
        listed.get_by_text("pull bodies with a spring").wait_for()
        listed.get_by_text("drag bodies on their joints").wait_for()
        page.keyboard.press("Escape")
        listed.wait_for(state="hidden")
        page.keyboard.press("j")
        assert page.locator("#live-joint").get_attribute("aria-pressed") == "true"
        page.keyboard.press("f")
        assert page.locator("#live-joint").get_attribute("aria-pressed") == "false"
        assert page.locator("#live-pull").get_attribute("aria-pressed") == "true"
    assert not complaints


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_live_page_shows_controls_at_two_widths(shell, tmp_path, size):
    with opened(shell, written(tmp_path, "lib:boom"), size) as (page, requests, complaints):
        page.wait_for_function(READY)
        page.evaluate("play(true)")
        page.wait_for_function("live.rows > 5")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert page.locator("#controls .control").count() >= 4
        page.locator("#live-restart").click()
        assert page.evaluate("kinetree.time") < 1.0
    assert not requests and not complaints


def test_linear_chains_have_no_live_page():
    with pytest.raises(FmuError, match="chain"):
        live_data(load("lib:train"))
