"""A pin inside or outside a closed curve: joints with clearance of any shape."""

import numpy as np
import pytest

from kinetree.models import ModelError, load

RADIUS = 0.5
OVAL = [
    [float((0.4 + 0.05 * np.cos(3 * a)) * np.cos(a)), float((0.3 + 0.05 * np.cos(a)) * np.sin(a))]
    for a in 2 * np.pi * np.arange(40) / 40
]


def circle(count=16):
    angles = 2 * np.pi * np.arange(count) / count
    return [[float(RADIUS * np.cos(a)), float(RADIUS * np.sin(a))] for a in angles]


def in_a_hole(speed=(1.0, 0.0), at=(0.0, 0.0), **force) -> dict:
    law = {"curve": circle(), "radius": 0.05, "stiffness": 100.0, "sharpness": 50.0} | force
    return {
        "format": "kinetree/1",
        "name": "pin in a hole",
        "gravity": [0, 0, 0],
        "bodies": {"pin": {"mass": 2.0, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}},
        "joints": {
            "plane": {
                "child": "pin",
                "transforms": [
                    {"shift": "x", "coordinate": "x", "start": at[0], "speed": speed[0]},
                    {"shift": "y", "coordinate": "y", "start": at[1], "speed": speed[1]},
                ],
            }
        },
        "forces": {"hole": {"between": [{"body": "ground"}, {"body": "pin"}]} | law},
        "outputs": {"E": {"quantity": "energy"}, "d": {"value": "hole.distance"}},
    }


@pytest.mark.parametrize("turned", [False, True])
def test_boundary_along_diameter_equals_end_stop(turned):
    """Whichever way round the points stand."""
    curve = circle()[::-1] if turned else circle()
    for damping in (0.0, 20.0):
        found = load(in_a_hole(curve=curve, damping=damping)).compile()
        d = in_a_hole()
        d["forces"] = {
            "stop": {
                "coordinate": "x", "upper": 0.45, "lower": -0.45,
                "stiffness": 100.0, "sharpness": 50.0, "damping": damping,
            }
        }  # fmt: skip
        d["outputs"] = {}
        run = found.simulate(stop_time=2.0, output_step=0.02)
        stop = load(d).compile().simulate(stop_time=2.0, output_step=0.02)
        assert run["x"] == pytest.approx(stop["x"], abs=2e-6)


def test_boundary_conserves_energy_and_angular_momentum_in_round_hole():
    system = load(in_a_hole((0.6, 0.8), (0.2, 0.0), curve=circle(48))).compile()
    run = system.simulate(stop_time=3.0, output_step=0.02)
    momentum = run["x"] * run["der(y)"] - run["y"] * run["der(x)"]
    assert momentum == pytest.approx(0.16, rel=1e-4)  # a spline through 48 points is round
    assert np.ptp(run["E"]) < 1e-5
    uneven = load(in_a_hole(speed=(0.6, 0.8), curve=OVAL, sharpness=200.0)).compile()
    run = uneven.simulate(stop_time=3.0, output_step=0.02)
    assert np.ptp(run["E"]) < 1e-5 and run["d"].min() > -0.03
    assert abs(run["x"]).max() < 0.45 and abs(run["y"]).max() < 0.33


def test_outer_boundary_keeps_pin_outside():
    d = in_a_hole(at=(-1.0, 0.02), side="outside")
    run = load(d).compile().simulate(stop_time=3.0, output_step=0.02)
    away = np.hypot(run["x"], run["y"])
    assert away.min() > 0.5 and run["der(x)"][-1] < 0.0
    assert run["d"] == pytest.approx(away - RADIUS - 0.05, abs=1e-4)


def test_boundary_reactions_balance_between_two_bodies():
    """A ring that floats, with a pin in it: momentum of both is kept, and its turning moment too."""
    d = in_a_hole()
    d["bodies"]["ring"] = {"mass": 3.0, "inertia": [0.2, 0.2, 0.4, 0, 0, 0]}
    d["joints"] = {
        "ring": {"child": "ring", "type": "planar"},
        "pin": {
            "child": "pin",
            "type": "planar",
            "start": [0.1, 0.05, 0.3],
            "speed": [0.9, 0.4, 0],
        },
    }
    d["forces"]["hole"]["between"] = [{"body": "ring"}, {"body": "pin", "point": [0.02, 0.0, 0.0]}]
    d["forces"]["hole"] |= {"curve": OVAL, "damping": 30.0, "sharpness": 200.0}
    d["outputs"] = {
        f"{quantity}_{axis}": {"quantity": quantity, "axis": axis} | more
        for quantity, axes, more in (
            ("momentum", "xy", {}),
            ("angular_momentum", "z", {"about": "point"}),
        )
        for axis in axes
    }
    run = load(d).compile().simulate(stop_time=2.0, output_step=0.05)
    for name in d["outputs"]:
        assert run[name] == pytest.approx(run[name][0], abs=1e-6)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"curve": [[0, 0], [1, 0]]}, "2 points"),
        ({"curve": [[0, 0], [0, 0], [1, 1]]}, "same point twice"),
        ({"curve": [[0, 0], [1, 0], [2, 0]]}, "without an area"),
        ({"sharpness": 0.0}, "sharpness"),
        ({"curve": circle(4), "radius": 0.3}, "bend"),
    ],
)
def test_unsuitable_boundary_curves_are_refused(change, said):
    with pytest.raises(ModelError) as failure:
        load(in_a_hole(**change))
    assert said in str(failure.value)


@pytest.mark.slow
def test_boundary_fmu_matches_run(tmp_path):
    from kinetree.fmu.archive.build import build_fmu
    from kinetree.scripts.fmi.verify import verify

    for backend in ("native", "source"):
        path = tmp_path / f"{backend}.fmu"
        d = in_a_hole(speed=(0.6, 0.8), at=(0.2, 0.0)) | {"run": {"stop_time": 1.0}}
        build_fmu(load(d), path, backend)
        report = verify(path)
        assert report.good, [each for each in report.checks if not each.good]
