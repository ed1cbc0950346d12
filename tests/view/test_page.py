"""The page in a browser: no request, no complaint, something drawn that moves; every switch, the phone, dark, without WebGL."""

import io
from pathlib import Path

import numpy as np
import pytest
from browser import DESK, PHONE, browser, needs_browser, opened

from kinetree.models import load
from kinetree.models.scene.make_scenes import Animation, rest_data, run_data, start_scene

pytestmark = needs_browser


WITHOUT_WEBGL = """const own = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, ...more) { return /webgl/.test(kind) ? null : own.call(this, kind, ...more); };"""
TIMED = """() => { const [a, b] = kinetree.span, t = performance.now();
for (let k = 0; k < 120; k++) kinetree.pose(a + (k / 120) * (b - a));
return (performance.now() - t) / 120; }"""


@pytest.fixture(scope="module")
def shell():
    with browser() as found:
        yield found


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    carrier = load("lib:carrier", modules=2).compile()
    made = {
        "carrier": run_data(carrier.simulate(2.5)),
        "circuit": run_data(load("lib:servo-drive").compile().simulate(0.2)),
        "train": run_data(load("lib:train").chain().simulate(20.0)),
        "start": start_scene(load("lib:delta").compile()).data(),
        "rest": rest_data(
            carrier, carrier.equilibria([{}, {"module_mass": 300.0}]), ["as it is", "heavy"]
        ),
    }
    return {name: Animation(data).save(folder / f"{name}.html") for name, data in made.items()}


def pixels(page) -> np.ndarray:
    """What the scene shows, without the page around it."""
    from PIL import Image

    return np.asarray(
        Image.open(io.BytesIO(page.locator("#scene").screenshot())).convert("RGB"), dtype=int
    )


def seek(page, part: float) -> None:
    page.evaluate("s => { const [a, b] = kinetree.span; kinetree.seek(a + s * (b - a)); }", part)


@pytest.mark.parametrize(("size", "scheme"), [(DESK, "light"), (PHONE, "dark")])
def test_run_page_animates_without_network_requests(shell, pages, size, scheme):
    with opened(shell, pages["carrier"], size, scheme) as (page, requests, complaints):
        seek(page, 0.0)
        first = pixels(page)
        seek(page, 0.6)
        later = pixels(page)
        background = first[2, 2]
        drawn = np.abs(first - background).sum(axis=2) > 30
        assert drawn.mean() > 0.05, "nothing but background"
        assert (np.abs(first - later).sum(axis=2) > 30).mean() > 0.002, "nothing moves"
        assert (background.mean() < 90) == (scheme == "dark")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (
            "the page is wider than the window"
        )
        assert (
            page.locator("#stage").text_content()
            and page.locator("#bands i").count() > 3
            and page.locator(".strip canvas").count() == 3
        )
        assert not requests and not complaints


def test_page_switches_match_labels(shell, pages):
    with opened(shell, pages["carrier"]) as (page, requests, complaints):
        page.click("#panel-view")
        seek(page, 0.1)
        for name in ("joints", "forces", "reactions", "frames", "com", "labels", "floor"):
            before = page.screenshot()
            page.click(f"#show-{name}")
            page.wait_for_timeout(150)
            assert page.screenshot() != before, name
        assert page.locator("#labels span:visible").count() > 3
        page.select_option("#follow", label="cradle")
        page.fill("#search", "luff")
        page.press("#search", "Enter")
        assert page.locator(".strip").count() == 4
        page.keyboard.press("Escape")
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press("t")
        assert page.evaluate("document.documentElement.dataset.theme") == "dark"
        page.keyboard.press(" ")
        now = page.evaluate("kinetree.time")
        page.wait_for_timeout(600)
        assert page.evaluate("kinetree.time") > now, "it does not play"
        assert not complaints and not requests


@pytest.mark.parametrize("name", ["circuit", "train", "start", "rest"])
def test_circuits_chains_starts_and_equilibria_have_a_page(shell, pages, name):
    with opened(shell, pages[name]) as (page, requests, complaints):
        seek(page, 0.5)
        assert not requests and not complaints
        assert page.locator("#stand").is_visible() == (name != "circuit")
        if name == "rest":
            options = page.locator("#clip option").all_text_contents()
            assert (
                options[:2] == ["as it is", "heavy"]
                and options[2].startswith("mode 1: ")
                and " Hz" in options[2]
            )
            page.click("#beside")
            page.wait_for_timeout(400)
            assert page.locator("#columns span").all_text_contents() == ["as it is", "heavy"]
            both = pixels(page)
            left, right = both[:, : both.shape[1] // 2], both[:, -(both.shape[1] // 2) :]
            inked = [
                (np.abs(half - half[4, -40]).sum(axis=2) > 60).mean() for half in (left, right)
            ]
            assert min(inked) > 0.05 and (np.abs(left - right).sum(axis=2) > 30).mean() < 0.3, (
                "two states, nearly alike"
            )
            page.select_option("#clip", index=2)
            assert page.locator("#columns").is_hidden()
            seek(page, 0.0)
            first = pixels(page)
            seek(page, 0.5)
            assert (np.abs(first - pixels(page)).sum(axis=2) > 30).mean() > 0.002, (
                "the mode does not swing"
            )


def test_page_without_webgl_shows_plots(shell, pages):
    from playwright.sync_api import Page

    page: Page = shell.new_page(viewport=DESK)
    page.add_init_script(WITHOUT_WEBGL)
    page.goto(pages["carrier"].as_uri())
    page.wait_for_function("window.kinetree")
    assert (
        "no WebGL" in (page.locator("#message").text_content() or "")
        and page.locator(".strip canvas").count() == 3
    )
    page.close()


def test_camera_moves_with_vehicle(shell, tmp_path):
    """Its picture barely changes while it drives away; the ground under it stays, and a body that is followed by choice comes back with the start."""
    path = Animation(run_data(load("lib:trailer").compile().simulate(10.0))).save(
        tmp_path / "trailer.html"
    )
    with opened(shell, path) as (page, requests, complaints):
        for part in (0.0, 0.5, 1.0):
            seek(page, part)
            place = page.evaluate(
                "() => { const b = kinetree.bodies[0], v = b.position.clone().project(kinetree.camera); return [v.x, v.y, b.position.length()]; }"
            )
            assert abs(place[0]) < 0.6 and abs(place[1]) < 0.6, place
        assert place[2] > 8.0 and not complaints and not requests
        page.click("#panel-view")
        page.select_option("#follow", label="nothing")
        page.click('[data-view="home"]')
        page.wait_for_timeout(200)
        away = page.evaluate(
            "() => { const v = kinetree.bodies[0].position.clone().project(kinetree.camera); return Math.hypot(v.x, v.y); }"
        )
        assert away > 0.6, "nothing is followed, yet it stays in the middle"


@pytest.mark.slow
def test_page_of_fifty_modules_renders_sixty_frames_per_second(shell, tmp_path):
    """What the page itself computes per frame; drawing is the graphics card's, which this machine may only imitate."""
    path = Animation(run_data(load("lib:carrier", modules=50).compile().simulate(8.0))).save(
        tmp_path / "fifty.html"
    )
    with opened(shell, path) as (page, requests, complaints):
        spent = page.evaluate(TIMED)
        assert spent < 1000 / 60 / 2, f"{spent:.1f} ms a frame"
        assert page.evaluate("kinetree.drawn.triangles") < 40_000
        assert not complaints and not requests


SHARPNESS = "() => document.getElementById('scene').width"


def test_page_without_graphics_card_reduces_detail_while_playing(shell, pages):
    """Frames that come late cost pixels and shadows, one level after another; what stands still is drawn in full again."""
    with opened(shell, pages["train"]) as (page, requests, complaints):
        page.evaluate("() => kinetree.play(false)")
        full = page.evaluate(SHARPNESS)
        page.evaluate(
            "() => { kinetree.play(true); for (let k = 0; k < 40; k++) kinetree.watch(0.2); }"
        )
        assert page.evaluate("() => kinetree.eased") == 3 and page.evaluate(SHARPNESS) < 0.5 * full
        page.evaluate("() => kinetree.play(false)")
        assert page.evaluate("() => kinetree.eased") == 0 and page.evaluate(SHARPNESS) == full
        page.evaluate("() => kinetree.play(true)")
        assert page.evaluate("() => kinetree.eased") == 3, "what was found out stays known"
        assert not complaints and not requests
