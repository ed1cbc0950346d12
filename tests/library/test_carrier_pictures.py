"""Pictures of the carrier show what its runs have: histories in the units of their axes, bodies at their poses, the near before the far."""

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d import art3d

from kinetree.models.library.carrier_drives import LIFT, SLEW
from kinetree.models.library.carrier_parts import JACKS, RING, WHEELS
from kinetree.scripts.studies import carrier_pictures as pictures

TIME = np.linspace(0.0, 2.0, 5)
EPS = float(np.finfo(float).eps)
UPRIGHT = np.eye(3)
QUARTER = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])  # about z


class Columns(dict):
    """A run made by hand: columns, instants, what happened."""

    time = TIME
    events: Any = ()
    step = 0.002

    @property
    def trace(self) -> Any:
        return SimpleNamespace(time=TIME)

    @property
    def reference(self) -> "Columns":
        return self["reference"]

    @property
    def energy(self) -> np.ndarray:
        return 7.0 * TIME


def happens(*stages: tuple[float, str]) -> Any:
    return [SimpleNamespace(time=time, stage=stage) for time, stage in stages]


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Figures in the place of files."""
    found: list[Any] = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, path, **options: found.append(figure))
    monkeypatch.setattr(pictures, "whole_file", nullcontext)
    return found


def histories(axes: Any) -> dict[str, list[float]]:
    """Lines by their labels."""
    return {
        line.get_label(): list(line.get_ydata())
        for line in axes.lines
        if not line.get_label().startswith("_")
    }


def instants(axes: Any) -> list[float]:
    """Vertical lines."""
    return [line.get_xdata()[0] for line in axes.lines if line.get_label().startswith("_")]


@pytest.mark.parametrize("lifted", [True, False])
def test_motion_is_drawn_as_deviations_in_mrad_and_loads_in_kilonewton(
    drawn: list[Any], lifted: bool
):
    reference = Columns(slew=0.5 + 0.001 * TIME, luff=1.0 - 0.002 * TIME)
    reference.events = happens(
        (0.5, "swing 1"), (1.0, "travel 1"), (1.5, "swing 2"), (1.75, "travel 2")
    )
    run = Columns(reference=reference, slew=0.25 + 0.003 * TIME, luff=2.0 + 0.004 * TIME)
    run |= {f"jack_load_{name}": 1000.0 * (k + TIME) for k, name in enumerate(JACKS)}
    run |= {f"wheel_load_{name}": (0.0 if lifted else 500.0) * TIME for name in WHEELS}
    pictures.draw_motion(run, Path("a.png"))  # type: ignore[arg-type]
    slew, luff, loads = drawn[0].axes
    for axes, exact, coupled in ((slew, 1.0, 3.0), (luff, -2.0, 4.0)):
        told = histories(axes)
        assert told["one system"] == pytest.approx(
            list(exact * TIME), abs=1e3 * 4 * EPS
        )  # differences of numbers about 1, in thousandths
        assert told["coupled FMUs"] == pytest.approx(list(coupled * TIME), abs=1e3 * 8 * EPS)
    assert [axes.get_ylabel() for axes in drawn[0].axes] == [
        "slew, deviation [mrad]",
        "luff, deviation [mrad]",
        "load [kN]",
    ]
    assert [axes.get_xlabel() for axes in drawn[0].axes] == ["", "", "time [s]"]
    told = histories(loads)
    assert [told[f"jack {name.replace('_', ' ')}"] for name in JACKS] == [
        list(k + TIME) for k in range(len(JACKS))
    ]
    assert told["all wheels (lifted)" if lifted else "all wheels"] == pytest.approx(
        list((0.0 if lifted else 0.5 * len(WHEELS)) * TIME)
    )
    assert loads.get_ylim()[0] == -5.0 and all(
        instants(axes) == [0.5, 1.5] for axes in (slew, luff, loads)
    )
    assert slew.get_title() == "2 departures (dashed), communication step 2 ms"


def test_drives_are_drawn_in_bar_percent_and_joule_with_room_for_their_names(drawn: list[Any]):
    reference = Columns(drive_energy=3.0 * TIME, drive_work=2.0 * TIME)
    reference.events = happens((0.25, "swing 1"), (1.0, "travel 1"))
    run = Columns(reference=reference)
    for k, label in enumerate(("slew_left", "slew_right", "luff_drive")):
        run |= {
            f"{label}.pressure_a": 1e5 * (k + TIME),
            f"{label}.pressure_b": 2e5 * (k + TIME),
            f"{label}.spool": 0.01 * (k - TIME),
        }
    pictures.draw_drives(run, Path("a.png"))  # type: ignore[arg-type]
    pressures, spools, energies = drawn[0].axes
    for k, label in enumerate(("slew_left", "slew_right", "luff_drive")):
        assert histories(pressures)[f"{label} a"] == pytest.approx(list(k + TIME), rel=4 * EPS)
        assert histories(pressures)[f"{label} b"] == pytest.approx(
            list(2 * (k + TIME)), rel=4 * EPS
        )
        assert histories(spools)[label] == pytest.approx(list(k - TIME), rel=4 * EPS)
    told = {
        "taken from the supply": 7.0,
        "the same in one system": 3.0,
        "work of the drives in one system": 2.0,
    }
    assert histories(energies) == {name: list(slope * TIME) for name, slope in told.items()}
    assert [axes.get_ylabel() for axes in drawn[0].axes] == [
        "pressure [bar]",
        "spool [%]",
        "energy [J]",
    ]
    assert [axes.get_xlabel() for axes in drawn[0].axes] == ["", "", "time [s]"] and all(
        axes.get_legend() for axes in drawn[0].axes
    )
    margin = 0.05  # of what is shown, on both sides, as matplotlib has it
    for axes, low, high in ((pressures, 0.0, 8.0), (spools, -2.0, 2.0)):
        bottom, top = low - margin * (high - low), high + margin * (high - low)
        assert axes.get_ylim() == pytest.approx((bottom, top + 0.25 * (top - bottom)))
    assert all(instants(axes) == [0.25] for axes in drawn[0].axes)


def test_departed_modules_disappear_from_picture():
    """A module has gone when the stage that its departure began is over."""
    columns = Columns(
        {
            f"{name}_position[{k}]": 10.0 * k + TIME
            for name in ("base", "module1", "module2")
            for k in (1, 2, 3)
        }
    )
    half = np.sqrt(0.5)
    columns |= {
        f"{name}_orientation[{k}]": np.full(5, value)
        for name in ("base", "module1", "module2")
        for k, value in enumerate((half, 0, 0, half), 1)
    }
    columns.events = happens((0.5, "swing 1"), (1.0, "travel 1"), (1.5, "swing 2"))
    names = ["base", "module1", "module2"]
    for t, there in (
        (0.0, names),
        (0.75, names),
        (1.0, ["base", "module2"]),
        (2.0, ["base", "module2"]),
    ):
        found = pictures.poses(columns, names, t)  # type: ignore[arg-type]
        assert list(found) == there
        place, turn = found["base"]
        row = np.ceil(t / 0.5) * 0.5  # the first row that is not before
        assert place.tolist() == [10.0 + row, 20.0 + row, 30.0 + row] and turn == pytest.approx(
            QUARTER, abs=4 * EPS
        )


def test_picture_layers_are_sorted_by_depth(monkeypatch: pytest.MonkeyPatch):
    """The eye of the picture is that of matplotlib's view; polygons lie in their layer in the order of their nearness."""
    azimuth, elevation = np.radians([pictures.AZIMUTH, pictures.ELEVATION])
    eye = np.array(
        [
            np.cos(elevation) * np.cos(azimuth),
            np.cos(elevation) * np.sin(azimuth),
            np.sin(elevation),
        ]
    )
    assert pictures.VIEW * np.cos(elevation) == pytest.approx(eye, abs=4 * EPS)
    added: list[Any] = []
    monkeypatch.setattr(
        art3d, "Poly3DCollection", lambda polygons, zorder, **looks: (polygons, zorder)
    )
    square = np.array([[-1.0, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])
    far = [square + distance * eye for distance in (2.0, -3.0, 0.5)]
    pictures.faces(SimpleNamespace(add_collection3d=added.append), far, "#c79a3b", 4.0)
    assert [layer for _, layer in added] == [4.0, 4.0 + 1e-4, 4.0 + 2e-4]
    assert [float(polygon.mean(axis=0) @ eye) for (polygon,), _ in added] == pytest.approx(
        [-3.0, 0.5, 2.0], abs=8 * EPS
    )


def here() -> pictures.Poses:
    return {
        "base": (np.array([1.0, 2.0, 3.0]), QUARTER),
        "platform": (np.array([0.5, 0.0, 4.0]), UPRIGHT),
        "cradle": (np.array([2.0, 1.0, 5.0]), QUARTER),
    }


def test_wheels_jacks_and_cylinders_are_drawn_on_bodies(
    monkeypatch: pytest.MonkeyPatch,
):
    """Rims of 0.6 m in the plane of the wheel; jacks from the base over their foot down to the ground; what is far lies behind the base."""
    polygons, lines = list[Any](), list[Any]()
    monkeypatch.setattr(
        pictures, "faces", lambda axes, drawn, colour, layer: polygons.append((drawn[0], layer))
    )
    axes = SimpleNamespace(
        plot=lambda *ends, zorder, **looks: lines.append((np.array(ends).T, zorder))
    )
    pictures.stand(axes, here())
    (ground, lowest), *rims = polygons
    assert (
        lowest == 0.0
        and not ground[:, 2].any()
        and ground[:, 0].max() >= 8.0
        and len(rims) == len(WHEELS)
    )
    assert ground[[0, 2]].sum(axis=0) == pytest.approx(ground[[1, 3]].sum(axis=0))
    assert np.unique(ground[:, 0]).size == np.unique(ground[:, 1]).size == 2, (
        "a rectangle along the axes"
    )
    base, turn = here()["base"]
    for (x, y), (rim, layer) in zip(WHEELS.values(), rims, strict=True):
        own = (rim - base) @ turn - np.array([x, y, -0.7])
        assert (
            np.hypot(own[:, 0], own[:, 2]) == pytest.approx(0.6, rel=64 * EPS)
            and np.abs(own[:, 1]).max() < 64 * EPS
        )
        assert np.abs(own[:-1].mean(axis=0)).max() < 64 * EPS and layer == (
            1.0 if y > 0 else 3.0
        )  # all around
    for (x, y), (leg, layer), (foot, same) in zip(
        JACKS.values(), lines[0:8:2], lines[1:8:2], strict=True
    ):
        assert (leg - base) @ turn == pytest.approx(
            np.array([[x, np.sign(y) * 1.1, -0.3], [x, y, -0.4]]), abs=64 * EPS
        )
        assert (
            foot[0] == pytest.approx(leg[1])
            and foot[1].tolist() == [*foot[0, :2], 0.0]
            and layer == same == (1.0 if y > 0 else 3.5)
        )
    (top, stands), (cradle, turned) = here()["platform"], here()["cradle"]
    lift, left, right = lines[8:]
    assert lift[0] == pytest.approx(
        np.array([top + stands @ np.array(LIFT[0]), cradle + turned @ np.array(LIFT[1])])
    )
    for (ends, layer), sense, expected in ((left, 1, 2.5), (right, -1, 4.5)):
        outer, inner = ([x, sense * y, z] for x, y, z in SLEW)
        assert (
            ends
            == pytest.approx(
                np.array([base + turn @ (np.array(RING) + outer), top + stands @ np.array(inner)])
            )
            and layer == expected
        )


def test_boxes_have_six_faces_about_their_middle(monkeypatch: pytest.MonkeyPatch, drawn: list[Any]):
    """At every time: each face a rectangle on one side of the box, each side once; the nearer to the eye the higher the layer."""
    asked: list[Any] = []
    result = SimpleNamespace(events=happens((0.5, "swing 1"), (1.25, "travel 1")))
    size, middle = np.array([2.0, 3.0, 4.0]), np.array([0.5, 0.25, -1.0])
    monkeypatch.setattr(
        pictures,
        "posed",
        lambda modules, **settings: (
            asked.append((modules, settings)),
            (result, {"base": (size, middle), "module2": (size, middle)}),
        )[1],
    )
    monkeypatch.setattr(
        pictures,
        "poses",
        lambda result, names, t: {
            "base": here()["base"],
            "module2": (np.array([4.0, -2.0, t]), UPRIGHT),
        },
    )
    standing: list[Any] = []
    monkeypatch.setattr(pictures, "stand", lambda axes, here: standing.append((axes, sorted(here))))
    boxes: list[Any] = []
    monkeypatch.setattr(
        pictures,
        "faces",
        lambda axes, polygons, colour, layer: boxes.append((polygons, colour, layer)),
    )
    pictures.draw_carrier(Path("a.png"), 2, (0.25, 0.5, 1.3), height=1.0)
    assert asked == [(2, {"height": 1.0})] and len(boxes) == 6
    for k, (polygons, colour, layer) in enumerate(boxes):
        place, turn = (
            (np.array([4.0, -2.0, (0.25, 0.5, 1.3)[k // 2]]), UPRIGHT) if k % 2 else here()["base"]
        )
        own = [
            (((face - place) @ turn) - middle) / (0.5 * size) for face in polygons
        ]  # corners of a cube of ±1
        sides = [tuple(np.round(face.mean(axis=0), 9) + 0.0) for face in own]
        assert sorted(sides) == sorted(
            tuple(sign * axis) for axis in np.eye(3) for sign in (1.0, -1.0)
        )
        for face in own:
            assert np.abs(face) == pytest.approx(1.0, rel=64 * EPS) and np.abs(
                face - np.roll(face, 1, axis=0)
            ).sum(axis=1) == pytest.approx(2.0)
        kind = "module" if k % 2 else "base"
        assert colour == pictures.COLOURS[kind] and layer == pytest.approx(
            pictures.LAYERS[kind] + 0.01 * float(place @ pictures.VIEW)
        )
    assert standing == [(axes, ["base", "module2"]) for axes in drawn[0].axes], (
        "ground, wheels, jacks and cylinders in every one"
    )
    assert [axes.get_title() for axes in drawn[0].axes] == [
        "0.25 s: at rest on the jacks",
        "0.50 s: swing 1",
        "1.30 s: travel 1",
    ]
    assert all(
        (axes.elev, axes.azim) == (pictures.ELEVATION, pictures.AZIMUTH) and not axes.axison
        for axes in drawn[0].axes
    )
    low, high = (
        np.array([axes.get_w_lims() for axes in drawn[0].axes]).reshape(3, 3, 2).transpose(2, 0, 1)
    )
    assert (high - low) == pytest.approx(np.tile([12.0, 8.0, 7.0], (3, 1))), (
        "as long as the box that shows it: nothing is distorted"
    )
