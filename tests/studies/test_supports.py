"""The study of supports: a table on four legs against closed forms, the command with its files, mistakes."""

from types import SimpleNamespace

import numpy as np
import pytest

from kinetree.models.expressions.parse import evaluate_constant
from kinetree.scripts import cli
from kinetree.scripts.studies.support_study import Study, study, tilted
from kinetree.scripts.studies.supports_file import read_supports
from kinetree.scripts.studies.supports_report import drawing

G, MASS, HALF, STIFFNESS = 9.81, 800.0, 0.5, 2e6
TABLE = f"""
format = "kinetree/1"
[parameters]
push = {{ value = 300.0, unit = "N" }}
height = {{ value = 1.0, unit = "m" }}
[bodies.table]
mass = {MASS}
inertia = [100, 100, 150, 0, 0, 0]
[joints.j]
child = "table"
transforms = [{{ shift = "z", coordinate = "z", start = 1.0 }}, {{ rotate = "y", coordinate = "pitch" }}, {{ rotate = "x", coordinate = "roll" }}]
[forces."leg{{i}}"]
copies = 4
kind = "jack"
body = "table"
point = ["{HALF}*(1 - 2*floor(({{i}} - 1)/2))", "{HALF}*(1 - 2*(({{i}} - 1) % 2))", 0]
extension = "height"
stiffness = {STIFFNESS}
damping = 4e3
[forces.push]
body = "table"
point = [{HALF}, 0, 0]
force = [0, 0, "-push*if(t > 0.1, 1, 0)"]
[run]
stop_time = 8.0
"""
STUDY = """
mechanism = "table.toml"
supports = ["leg*"]
angles = ["pitch"]
hold = ["pitch", "z"]
[ground]
bedding = 1e7
damping = 1e4
footprint = 0.1
[vary]
bedding = [1e6, 1e7]
footprint = [0.2]
spread = [0.5]
slope = [0.1]
soft = [0.5]
push = [600.0]
"""


def test_support_without_point_uses_body_origin(tmp_path):
    """Spread about the middle of all, it moves as one whose point is given as zeros."""
    found = []
    for point in ("", "point = [0, 0, 0]"):
        post = f'[forces.leg5]\nkind = "jack"\nbody = "table"\n{point}\nextension = "height"\nstiffness = 1e6\n[run]'
        (tmp_path / "table.toml").write_text(
            TABLE.replace(f"{HALF}*(1 - 2*floor", f"0.2 + {HALF}*(1 - 2*floor").replace(
                "[run]", post
            )
        )
        (tmp_path / "study.toml").write_text(STUDY)
        made = Study(read_supports(tmp_path / "study.toml")).description("spread", 3.0)
        place = [evaluate_constant(text, {}) for text in made["forces"]["leg5"]["point"]]
        assert place == pytest.approx(
            [0.16 * (1 - 3.0), 0.0, 0.0], abs=1e-12
        )  # four of five points at 0.2 in the mean
        found.append(place)
    assert found[0] == found[1]


@pytest.fixture
def cases(tmp_path):
    (tmp_path / "table.toml").write_text(TABLE)
    (tmp_path / "study.toml").write_text(STUDY)
    return {
        (case.aspect, case.value): case for case in study(read_supports(tmp_path / "study.toml"))
    }


def leg(bedding: float, footprint: float = 0.1) -> float:
    """A leg in series with its ground."""
    return 1.0 / (1.0 / STIFFNESS + 1.0 / (bedding * footprint))


def tilt(half: float) -> float:
    """Pitch by the push at the edge: stiffness of the legs, less what the weight, a metre above the feet, takes from it."""
    return 300.0 * HALF / (4 * leg(1e7) * half**2 - MASS * G)


def test_table_on_four_legs_matches_hand_calculation(cases):
    """Heave √(4k/m), pitch √(4k a²/J); loads, slope and push by hand; one soft corner tilts it."""
    for key, bedding, footprint in (
        ("bedding", 1e6, 0.1),
        ("bedding", 1e7, 0.1),
        ("footprint", 0.2, 0.2),
    ):
        case = cases[key, bedding if key == "bedding" else footprint]
        k = leg(bedding if key == "bedding" else 1e7, footprint)
        found = sorted(frequency for frequency, _ in case.modes)
        # damping moves frequencies by half the square of its ratio
        assert found[0] == pytest.approx(np.sqrt(4 * k / MASS) / (2 * np.pi), rel=0.02)
        assert found[-1] == pytest.approx(np.sqrt(4 * k * HALF**2 / 100) / (2 * np.pi), rel=0.05)
        assert case.margin_at_rest == pytest.approx(1.0, abs=1e-6)
    base = cases["bedding", 1e7]
    assert base.left[0]["z"] == pytest.approx(-300.0 / (4 * leg(1e7)), rel=1e-3)
    assert base.left[0]["pitch"] == pytest.approx(tilt(HALF), rel=1e-3)
    assert cases["push", 600.0].left[0]["z"] == pytest.approx(2 * base.left[0]["z"], rel=1e-3)
    assert cases["spread", 0.5].left[0]["pitch"] == pytest.approx(
        tilt(HALF / 2), rel=3e-3
    )  # sin of 1e-3, legs that lean
    sloped = cases["slope", 0.1]
    assert sum(sloped.loads.values()) == pytest.approx(MASS * G / np.sqrt(1.01), rel=1e-3)
    assert cases["soft", 0.5].angles["pitch"] > 1e-4 > abs(base.angles["pitch"])
    assert base.margin < 1.0 < base.margin + 0.2


def test_support_study_slope_rotates_gravity():
    found = np.array([eval(text) for text in tilted([0, 0, -G], 0.1, 0.0)])  # noqa: S307
    assert found == pytest.approx(np.array([-0.1, 0.0, -1.0]) * G / np.sqrt(1.01))
    found = np.array([eval(text) for text in tilted([0, 0, -G], 0.3, 0.2)])  # noqa: S307
    assert np.linalg.norm(found) == pytest.approx(G) and found[0] < 0 and found[1] < 0


def test_support_study_command_writes_its_files(tmp_path, capsys):
    (tmp_path / "table.toml").write_text(TABLE.replace("stop_time = 8.0", "stop_time = 1.0"))
    (tmp_path / "study.toml").write_text(STUDY)
    names = [str(tmp_path / name) for name in ("a.csv", "a.png", "a.html")]
    assert (
        cli.main(
            [
                "study",
                str(tmp_path / "study.toml"),
                "-o",
                names[0],
                "--plot",
                names[1],
                "--report",
                names[2],
            ]
        )
        == 0
    )
    shown = capsys.readouterr().out
    assert (
        "as described" in shown
        and "bedding 1e6 N/m³" in shown
        and "push 600 N" in shown
        and "-0.000 " not in shown
    )
    text = (tmp_path / "a.html").read_text()
    assert "Loads at rest" in text and text.count("data:image/png") == 18
    assert (tmp_path / "a.png").stat().st_size > 20_000 and (tmp_path / "a.csv").read_text().count(
        "\n"
    ) == 9


def test_support_plot_shows_cases():
    """By value: frequencies on the left, margins in the middle, deviations in thousandths on the right; failed cases nowhere."""
    made = [
        SimpleNamespace(
            aspect="bedding", value=10.0 * k, unit="N/m³", described=30.0, failed="no rest" * (k == 2), modes=[(2.0 + k, 0.1), (5.0 + k, 0.1)],
            margin_at_rest=0.5 + k, margin=0.25 + k, largest=[{"z": 1e-3}, {"z": 3e-3 + k}], left=[{"z": 9.0}, {"z": -2e-3 - k}], units={"z": "N"},
        )
        for k in (3, 2, 1)
    ]  # fmt: skip
    figure = drawing(SimpleNamespace(hold=["z"]), made, ["bedding"])
    left, middle, right = (
        {line.get_label(): line.get_ydata() for line in place.lines} for place in figure.axes
    )
    assert list(left["mode 1"]) == [3.0, 5.0] and list(left["mode 2"]) == [6.0, 8.0]
    assert [list(y) for y in middle.values()] == [[1.5, 3.5], [1.25, 3.25]]
    assert right["z, largest"] == pytest.approx([1003.0, 3003.0]) and right[
        "z, left at the end"
    ] == pytest.approx([1002.0, 3002.0])
    assert [place.get_ylabel() for place in figure.axes] == [
        "frequency [Hz]",
        "share of the load",
        "deviation [1e-3]",
    ]
    assert list(figure.axes[0].lines[0].get_xdata()) == [10.0, 30.0]


@pytest.mark.parametrize(
    "change, wanted",
    [
        ('supports = ["foot*"]', "foot"), ("[vary]\nnothing = [1.0]", "nothing"), ('corner = "leg9"', "leg9"), ('hold = ["nobody"]', "nobody"),
        ("[vary]\npreload = [0.1]", "extension"),
    ],
)  # fmt: skip
def test_support_study_mistakes_are_named(tmp_path, capsys, change: str, wanted: str):
    (tmp_path / "table.toml").write_text(TABLE)
    lines = STUDY.splitlines()
    key = change.split("\n")[0].split(" = ")[0]
    text = "\n".join(line for line in lines if not line.startswith(f"{key} ="))
    text = text[: text.index("[vary]")] + change + "\n" if key == "[vary]" else change + "\n" + text
    (tmp_path / "study.toml").write_text(text)
    assert cli.main(["study", str(tmp_path / "study.toml")]) == 2
    assert wanted in capsys.readouterr().err


@pytest.mark.slow
def test_support_study_of_the_carrier_runs():
    """Softer ground lowers the modes and enlarges the deviations of departures; less spread too; more preload takes load off the jacks."""
    wanted = read_supports().with_settings({"modules": 1})
    wanted = wanted.model_copy(
        update={
            "vary": {
                "bedding": [2e7, 1e9],
                "spread": [0.7, 1.15],
                "preload": [0.0, 0.2],
                "soft": [0.1],
            }
        }
    )
    found = {(case.aspect, case.value): case for case in study(wanted)}
    assert not any(case.failed for case in found.values())
    assert found["spread", 0.7].modes[0][0] < found["spread", 1.15].modes[0][0]
    assert found["spread", 0.7].largest[0]["roll"] > found["spread", 1.15].largest[0]["roll"]
    carried = [
        sum(
            load for name, load in found["preload", share].loads.items() if name.startswith("wheel")
        )
        for share in (0.0, 0.2)
    ]
    total = sum(found["preload", 0.2].loads.values())
    assert carried[0] < 1e-3 * total and carried[1] == pytest.approx(0.2 * total, rel=0.01)
    # one corner gives way by sunk more: a rigid frame on four equal legs leans by sunk over four times its half width and length
    firm, soft = found["", next(value for aspect, value in found if not aspect)], found["soft", 0.1]
    stiffness = wanted.ground.bedding * wanted.ground.footprint
    sunk = soft.loads["jack_front_left"] / stiffness * (1 / 0.1 - 1)
    assert soft.angles["roll"] - firm.angles["roll"] == pytest.approx(-sunk / (4 * 1.9), rel=0.05)
    assert soft.angles["pitch"] - firm.angles["pitch"] == pytest.approx(sunk / (4 * 2.9), rel=0.05)


def test_support_without_position_uses_body_origin():
    """The mean of (1, 2) and the origin is (0.5, 1)."""
    forces = {"near": {"point": [1, 2, 0]}, "own": {}}
    given = SimpleNamespace(base={"forces": forces}, supports=["near", "own"])
    assert [evaluate_constant(text, {}) for text in Study.middle(given)] == [0.5, 1.0]  # pyright: ignore[reportArgumentType]


POSTS = """[forces."post{i}"]
copies = 4
kind = "jack"
body = "table"
point = ["0.5*(1 - 2*floor(({i} - 1)/2))", "0.5*(1 - 2*(({i} - 1) % 2))", 0]
extension = 1.0
stiffness = 2e6
damping = 4e3
"""


def test_preload_shares_match_formula(tmp_path):
    """Legs that reach out by e lift a table off equally stiff posts: these carry W/2 - 2ke, a share s at e = (1/2 - s) W/(2k), nothing at twice that
    of a half; what no extension in the range gives is said."""
    text = TABLE.replace('extension = "height"', 'extension = "jack"').replace(
        "[parameters]", '[parameters]\njack = { value = 1.0, unit = "m" }'
    )
    (tmp_path / "table.toml").write_text(
        text.replace("[forces.push]", f"{POSTS}[forces.push]").replace(
            "stop_time = 8.0", "stop_time = 0.2"
        )
    )
    wanted = 'mechanism = "table.toml"\nsupports = ["leg*"]\nothers = ["post*"]\nhold = ["z"]\nextension = "jack"\nrange = [1.0, 1.002]\n'
    (tmp_path / "study.toml").write_text(wanted + "[vary]\npreload = [0.25, 0.0, 0.9]\n")
    described, quarter, lifted, beyond = study(read_supports(tmp_path / "study.toml"))
    assert sum(described.loads[f"post{i}"] for i in range(1, 5)) == pytest.approx(
        MASS * G / 2, rel=1e-6
    )
    reach = MASS * G / (2 * STIFFNESS)
    close = 1e-4 * 2e-3  # of the range
    assert quarter.extension == pytest.approx(
        1.0 + 0.25 * reach, abs=close
    ) and lifted.extension == pytest.approx(1.0 + 0.5 * reach, abs=2 * close)
    assert sum(quarter.loads[f"post{i}"] for i in range(1, 5)) == pytest.approx(
        0.25 * MASS * G, abs=2 * STIFFNESS * close * 1.1
    )
    assert beyond.failed == "preload 0.9: no jack from 1 to 1.002 gives it" and not beyond.loads


def test_disturbance_spans_follow_stages():
    """By the stages of a run: each begins at a stage of one name, and ends before one of the other, before the next, or with the run."""
    stages = ((1.0, "swing"), (3.0, "travel"), (4.0, "swing again"), (6.0, "other"))
    result = SimpleNamespace(
        time=np.linspace(0.0, 8.0, 9),
        events=[SimpleNamespace(time=t, stage=stage) for t, stage in stages],
    )

    def spans(disturbed: str, until: str) -> list[tuple[float, float]]:
        return Study.spans(
            SimpleNamespace(wanted=SimpleNamespace(disturbed=disturbed, until=until)), result
        )  # type: ignore[arg-type]

    assert spans("", "travel") == [(0.0, 8.0)] and spans("swing", "travel") == [
        (1.0, 3.0),
        (4.0, 8.0),
    ]
    assert spans("swing", "") == [(1.0, 4.0), (4.0, 8.0)] and spans("nothing", "travel") == [
        (0.0, 8.0)
    ]
