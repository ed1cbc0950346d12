"""Scenes of bodies that bend: skins and stresses of reduced bodies, stresses of beams, exaggeration in the page."""

from base64 import b64decode
from importlib.util import find_spec

import numpy as np
import pytest
from browser import browser, needs_browser, opened

from kinetree.fmu.live import live_data
from kinetree.models import load
from kinetree.models.beams.body_surfaces import von_mises_of
from kinetree.models.scene.html_page import page
from kinetree.models.scene.make_scenes import start_scene
from kinetree.models.scene.video import Painter
from kinetree.scripts import cli

WIDTH, HEIGHT, LENGTH = 0.06, 0.1, 1.0


def numbers(text: str, kind: str = "<f4") -> np.ndarray:
    return np.frombuffer(b64decode(text), dtype=kind)


@pytest.fixture(scope="module")
def bar(tmp_path_factory):
    """A reduced bar of tetrahedra."""
    skfem = pytest.importorskip("skfem")
    folder = tmp_path_factory.mktemp("bar")
    axes = np.linspace(0, LENGTH, 9), np.linspace(-0.03, 0.03, 2), np.linspace(-0.05, 0.05, 3)
    skfem.MeshTet.init_tensor(*axes).save(str(folder / "bar.msh"))
    arguments = ["flexible", str(folder / "bar.msh"), "--modes", "0", "--material", "1e9,0,1000"]
    arguments += ["--interface", "root=x=0", "--interface", "tip=x=1"]
    assert cli.main([*arguments, "-o", str(folder / "bar.npz")]) == 0
    return folder / "bar.npz"


def held(path, **more) -> dict:
    return {
        "format": "kinetree/1",
        "name": "held",
        "bodies": {"bar": {"flexible": {"file": str(path)}}},
        "joints": {"root": {"child": "bar", "type": "rigid"}},
        "forces": {"end": {"kind": "wrench", "body": "bar.tip", "force": [0, 0, -20.0]}},
        "gravity": [0, 0, 0],
    } | more


def test_drawn_beam_surface_has_cantilever_deflection_and_stress(bar):
    system = load(held(bar)).compile()
    rest = system.equilibrium()
    q = np.array([rest.q[system.coordinates.index(f"bar.mode{k}")] for k in range(1, 7)])
    data = start_scene(system).data()
    (skin,) = data["skins"]
    points = numbers(skin["points"]).reshape(-1, 3)
    shapes = numbers(skin["shapes"]).reshape(6, -1, 3)
    stresses = numbers(skin["stresses"]).reshape(6, -1, 6)
    stiffness = 1e9 * WIDTH * HEIGHT**3 / 12
    moved = np.einsum("k,kni->ni", q, shapes)
    tip = points[:, 0] > LENGTH - 1e-6
    assert moved[tip, 2].mean() == pytest.approx(-20.0 / (3 * stiffness), rel=0.03)
    found = von_mises_of(np.einsum("k,knc->nc", q, stresses))
    middle = (np.abs(points[:, 0] - 0.5) < 1e-6) & (points[:, 2] > 0.049)
    assert found[middle].mean() == pytest.approx(20.0 * 0.5 * 0.05 / (stiffness / 1e9), rel=0.05)
    triangles = numbers(skin["triangles"], "<i4").reshape(-1, 3)
    corners = points[triangles]
    volume = np.einsum("ti,ti->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
    assert volume == pytest.approx(WIDTH * HEIGHT * LENGTH, rel=1e-5)


def test_beam_is_coloured_by_bending_stress():
    d = beam_like(held(None))
    d["run"] = {"stop_time": 3.0, "output_step": 0.5}
    d["beams"]["bar"]["damping"] = 0.7
    data = load(d).compile().simulate().animate().data
    (beam,), clip = data["beams"], data["clips"][0]
    found = numbers(clip["beam_stresses"][0]).reshape(-1, len(beam["pieces"]))[-1]
    root = 20.0 * LENGTH * 0.05 / (WIDTH * HEIGHT**3 / 12)
    assert found[0] == pytest.approx(root, rel=0.1)
    assert np.all(np.diff(found[1:]) < 0.0)
    assert clip["stress"] >= found[0] > 0.0


def beam_like(bar_description: dict) -> dict:
    """The bar as a beam of the same size."""
    d = dict(bar_description)
    d["materials"] = {"soft": {"density": 1000.0, "youngs_modulus": 1e9}}
    section = {"rectangle": [HEIGHT, WIDTH]}
    d["beams"] = {"bar": {"length": LENGTH, "section": section, "material": "soft"}}
    del d["bodies"]
    d["forces"] = {"end": d["forces"]["end"] | {"body": "bar", "station": LENGTH}}
    return d


@pytest.mark.parametrize("kind", ["skin", "beam"])
def test_videos_scale_and_colour_bending(bar, kind):
    d = held(bar, run={"stop_time": 0.1, "output_step": 0.01})
    result = load(d if kind == "skin" else beam_like(d)).compile().simulate()
    data, lowest, colours = result.animate().data, {}, {}
    for times, stresses in ((1.0, True), (20.0, True), (20.0, False)):
        painter = Painter(data | {"bending": times, "stresses": stresses}, (160, 90))
        k = painter.time.size - 1
        found = [each for each in painter.pieces(k) if len(each[0]) and each[0][..., 0].max() > 0.5]
        corners = np.concatenate([each[0].reshape(-1, 3) for each in found])
        lowest[times] = corners[corners[:, 0] > 0.95, 2].min() + HEIGHT / 2
        colours[stresses] = len(np.unique(np.concatenate([each[2] for each in found]), axis=0))
    assert lowest[1.0] < -1e-4
    assert lowest[20.0] / lowest[1.0] == pytest.approx(20.0, rel=0.05)
    assert colours[True] > colours[False] == 1


@pytest.mark.slow
@needs_browser
@pytest.mark.skipif(find_spec("ziglang") is None, reason="zig is not installed")
@pytest.mark.parametrize("kind", ["skin", "beam"])
def test_live_and_result_pages_draw_bending_alike(bar, tmp_path, kind):
    d = held(bar, run={"stop_time": 0.1, "output_step": 0.01})
    mechanism = load(d if kind == "skin" else beam_like(d))
    clip = mechanism.compile().simulate().animate().data["clips"][0]
    key = "amplitudes" if kind == "skin" else "beam_stresses"
    expected = numbers(clip[key][0]).reshape(11, -1)[-1]
    path = tmp_path / "live.html"
    path.write_text(page(live_data(mechanism) | {"paused": True}), encoding="utf-8")
    with browser() as shell, opened(shell, path) as (sheet, requests, complaints):
        sheet.wait_for_function("typeof live !== 'undefined' && live.engine && live.rows > 0")
        plain = sheet.locator("#scene").screenshot()
        sheet.evaluate("() => { live.speed = 1; live.engine.step(0.1); recordRow(); showRows(); }")
        found = sheet.evaluate(f"[...clip.{key}[0]]")
        assert np.array(found)[-expected.size :] == pytest.approx(expected, rel=1e-3, abs=1e-7)
        sheet.evaluate("() => kinetree.seek(0.1)")
        assert sheet.evaluate("clip.stress") > 0.0
        assert "MPa" in sheet.locator("#heat-most").text_content()
        assert sheet.locator("#scene").screenshot() != plain
        assert not requests and not complaints


@needs_browser
def test_page_slider_scales_bending_and_stress_colours(bar, tmp_path):
    d = held(bar, gravity=[0, 0, -9.81], run={"stop_time": 0.2, "output_step": 0.01})
    path = load(d).compile().simulate().animate().save(tmp_path / "page.html")
    with browser() as shell, opened(shell, path) as (page, requests, complaints):
        page.click("#panel-view")
        page.evaluate("() => kinetree.seek(0.1)")
        pictures = [page.locator("#scene").screenshot()]
        assert page.locator("#bending-box").is_visible()
        assert "MPa" in page.locator("#heat-most").text_content()
        page.fill("#bending", "2")
        page.wait_for_timeout(200)
        pictures.append(page.locator("#scene").screenshot())
        page.click("#show-stress")
        page.wait_for_timeout(200)
        pictures.append(page.locator("#scene").screenshot())
        assert len(set(pictures)) == 3
        assert "100" in page.locator("#bending-times").text_content()
        assert not requests and not complaints
