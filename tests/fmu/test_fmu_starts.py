"""Start values that are expressions of parameters follow the parameters until the host gives a number, in both back ends."""

import fmpy
import pytest

from kinetree.fmu.archive.build import build_fmu
from kinetree.models import load
from kinetree.scripts.fmi.fmpy_host import Archive, Host

MODEL = {
    "format": "kinetree/1",
    "name": "starts",
    "gravity": [0, 0, 0],
    "parameters": {"h": 2.0, "v": 0.0},
    "bodies": {"m": {"mass": 1.0}},
    "joints": {
        "J": {
            "child": "m",
            "transforms": [{"shift": "x", "coordinate": "x", "start": "h/2", "speed": "v"}],
        }
    },
    "states": {"s": {"rate": "0", "start": "3*h"}},
    "inputs": {"push": {"start": "5*h"}, "fixed": {"start": 0.25}},
    "forces": {"f": {"coordinate": "x", "value": "push + fixed"}},
    "outputs": {"sum": {"value": "push + fixed"}},
    "run": {"output_step": 0.1},
}
CASES = [
    ({}, (1.0, 0.0, 6.0, 10.25)),
    ({"h": 4.0, "v": 1.0}, (2.0, 1.0, 12.0, 20.25)),
    ({"h": 4.0, "x": 0.5}, (0.5, 0.0, 12.0, 20.25)),
    ({"h": 4.0, "s": 0.0, "der(x)": -1.0}, (2.0, -1.0, 0.0, 20.25)),
    ({"h": 4.0, "push": 0.0, "fixed": 1.0}, (2.0, 0.0, 12.0, 1.0)),
    (
        {"x": 1.0, "push": 10.0, "h": 4.0},
        (1.0, 0.0, 12.0, 10.25),
    ),  # what is given counts, also where it is the default
]


@pytest.fixture(scope="module", params=["native", "python"])
def archive(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("starts") / "starts.fmu"
    build_fmu(load(MODEL), path, backend=request.param)
    return path


@pytest.mark.parametrize("given, expected", CASES)
def test_start_values_follow_expressions_until_set(archive, given, expected):
    names = ["x", "der(x)", "s", "sum"]
    r = fmpy.simulate_fmu(
        str(archive), start_values=given, stop_time=0.1, output_interval=0.1, output=names
    )
    x, speed, s, force = (float(r[name][0]) for name in names)
    assert (x, speed, s, force) == expected
    assert float(r["x"][-1]) == pytest.approx(
        x + 0.1 * speed + 0.005 * force, rel=1e-12
    )  # the force acts from the beginning


def test_reset_clears_set_values(archive):
    """Every start of an instance is given anew."""
    with Archive(archive) as files:
        host = Host(files)
        assert host.start({"x": 7.0}).get(["x"]) == [7.0]
        host.fmu.terminate()
        host.fmu.reset()
        assert host.start({}).get(["x"]) == [1.0]
        host.close()
