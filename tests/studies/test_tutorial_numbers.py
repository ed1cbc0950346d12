"""The tutorial on control, its commands run in order: every number of what they print and of the pages they write, by formulas of the boom."""

import json
import math
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from boom_reference import FRICTION, START, Held, Margins, T, lever, margins_of
from report_page import Page, numbers
from scipy.optimize import minimize
from tree import ROOT

from kinetree.models.controllers.expansion import first_seed
from kinetree.scripts import cli
from kinetree.scripts.site.code_blocks import blocks
from kinetree.scripts.studies.samplers import Distribution, drawn

pytestmark = pytest.mark.slow
PAGE = ROOT / "docs" / "tutorials" / "control.md"
FOUR, FIVE = 6e-4, 6e-5  # relative: digits that are printed


def setpoint(t: float) -> tuple[float, float, float]:
    """0.5 + 0.05 (1 - cos 2t) with its rates."""
    return 0.5 + 0.05 * (1 - math.cos(2 * t)), 0.1 * math.sin(2 * t), 0.2 * math.cos(2 * t)


def said(text: str, before: str) -> float:
    """The number after some words."""
    found = re.search(re.escape(before) + r"\s*([-+\d.e]+|inf)", text)
    assert found, (before, text)
    return float(found[1].rstrip("."))


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("control")
    for block in blocks(PAGE.read_text(encoding="utf-8")):
        if block.told("file"):
            (folder / block.told("file")).write_text(block.text, encoding="utf-8")
    return folder


@pytest.fixture(autouse=True)
def in_it(room: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(room)
    monkeypatch.setenv("COLUMNS", "300")


@pytest.fixture(scope="module")
def tuned(room: Path) -> Held:
    """What `kinetree tune` wrote into the mechanism, read from its file."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(room)
        assert cli.main(["tune", "boom.toml", "--into", "held.toml"]) == 0
    content = tomllib.loads((room / "held.toml").read_text())
    control, values = (
        content["controllers"]["lift_control"],
        {name: p["value"] for name, p in content["parameters"].items() if isinstance(p, dict)},
    )
    gains = [values[f"lift_control.{key}"] for key in ("kp", "ki", "kd")]
    forward = [values[f"lift_control.{key}_forward"] for key in ("speed", "acceleration")]
    assert (control["period"], control["delay"], control["jitter"]) == (T, 3 * T, T / 2)
    return Held(70.0, *gains, control["filter"], *forward)


@pytest.fixture(scope="module")
def seed() -> int:
    return first_seed(0, 0)


def test_tutorial_boom_eigenvalues_match_page(capsys: pytest.CaptureFixture):
    """Eigenvalues of J φ'' = k φ - c φ'."""
    assert (
        cli.main(
            ["linearize", "lib:boom", "--inputs", "lift.force", "--outputs", "luff", "--margins"]
        )
        == 0
    )
    out = capsys.readouterr().out
    A, _ = Held(70.0, 0, 0, 0, 0).plant()
    for number, value in enumerate(sorted(np.linalg.eigvals(A).real, reverse=True), 1):
        row = next(line.split() for line in out.splitlines() if line.split()[:1] == [str(number)])
        assert [float(cell) for cell in row[1:5]] == pytest.approx(
            [abs(value) / (2 * math.pi), -np.sign(value), value, 0.0], rel=FIVE
        )
    assert "control loop closed by lift.force = -luff: unstable" in out


def agrees(line: str, wanted: Margins) -> None:
    """Every number of a line of margins."""
    assert said(line, "gain margin") == pytest.approx(wanted.gain, rel=FOUR)
    assert said(line, "Hz, gain at least") == pytest.approx(wanted.below, rel=FOUR)
    assert said(line, "phase margin") == pytest.approx(wanted.phase, rel=FOUR)
    assert said(line, "delay margin") == pytest.approx(wanted.delay, rel=FOUR)
    assert said(line, "disk margin") == pytest.approx(wanted.disk, rel=2e-3)
    half = wanted.disk / 2
    low, high, angle = re.search(r"gain within ([\d.]+) to ([\d.]+), or ([\d.]+)°", line).groups()
    expected = [(1 - half) / (1 + half), (1 + half) / (1 - half), 2 * math.degrees(math.atan(half))]
    assert [float(low), float(high), float(angle)] == pytest.approx(expected, rel=3e-3)
    at = [float(number) for number in re.findall(r"at ([\d.]+) Hz", line)]
    assert at == pytest.approx([wanted.turn, wanted.crossing], rel=FOUR)


def test_tutorial_controller_has_documented_margins(tuned: Held, capsys: pytest.CaptureFixture):
    """As designed and in the mechanism, by L(exp(jωT)) of the command held and late; feed-forward by the equation of motion."""
    assert cli.main(["tune", "boom.toml"]) == 0
    out = capsys.readouterr().out
    design = margins_of(tuned.sampled(), 0.999 * math.pi / T)
    assert said(out, "crosses at") == pytest.approx(design.crossing, rel=1e-3)
    assert (said(out, "sampled every"), said(out, "ms, commands")) == (1e3 * T, 7.0)
    assert said(out, "feed-forward:") == pytest.approx(FRICTION / lever(START), rel=FIVE)
    assert said(out, "per speed,") == pytest.approx(tuned.inertia / lever(START), rel=FIVE)
    agrees(next(line for line in out.splitlines() if "gain margin" in line), design)
    assert (
        design.phase == pytest.approx(45.0, abs=1e-3)
        and design.gain >= 2.0
        and design.modulus >= 0.5
    )
    shown = tomllib.loads(out[out.index("[[loops]]") :].split("loops, controller")[0])["loops"][0]
    assert [shown[key] for key in ("kp", "ki", "kd", "filter")] == pytest.approx(
        [tuned.kp, tuned.ki, tuned.kd, tuned.filter], rel=FIVE
    )
    assert cli.main(["linearize", "held.toml", "--margins"]) == 0
    out = capsys.readouterr().out
    agrees(
        next(line for line in out.splitlines() if line.startswith("controller")),
        margins_of(tuned.sampled(), 0.999 * math.pi / T),
    )
    values = sorted(tuned.small_motions(), key=lambda value: (abs(value), value.imag))
    rows = [line.split()[1:5] for line in out.splitlines() if re.match(r"\s*\d\s", line)]
    told = [
        complex(float(real), sign * float(imaginary))
        for _, _, real, imaginary in rows
        for sign in ((-1, 1) if float(imaginary) else (1,))
    ]
    assert told == pytest.approx(values, rel=1e-4)
    sizes = [
        (abs(value) / (2 * math.pi), -value.real / abs(value))
        for value in values
        if value.imag >= 0.0
    ]
    assert np.array([row[:2] for row in rows], dtype=float) == pytest.approx(
        np.array(sizes), rel=1e-4
    )


def test_tutorial_map_over_loads_matches_page(tuned: Held):
    """Margins of the sampled loop by its frequency response, 0 where the matrix from sample to sample has an eigenvalue outside the unit circle."""
    assert (
        cli.main(["study", "robust.toml", "-q", "--report", "robust.html", "-o", "robust.csv"]) == 0
    )
    page, rows = Page(Path("robust.html")), np.loadtxt("robust.csv", delimiter=",", skiprows=1)
    table = np.array([numbers(row) for row in page.rows("load_mass", "lift_control.kd")])
    assert table == pytest.approx(rows, rel=1e-5, abs=1e-9) and len(table) == 25
    for load, kd, phase, modulus in rows:
        held = tuned.with_(load=load, kd=kd)
        if abs(held.closed()).max() > 1.0:
            assert (phase, modulus) == (0.0, 0.0)
            continue
        wanted = margins_of(held.sampled(), 0.999 * math.pi / T)
        assert (phase, modulus) == pytest.approx((abs(wanted.phase), wanted.modulus), rel=1e-4), (
            load,
            kd,
        )
    for k, (name, row) in enumerate(page.table("measure", "1 %").items(), 2):
        values = rows[:, k]
        assert name == ("phase_margin", "modulus_margin")[k - 2]
        assert numbers(row) == pytest.approx(
            [*np.percentile(values, (1, 5, 50, 95, 99)), values.min(), values.max()],
            rel=1e-5,
            abs=1e-9,
        )
    from scipy.stats import spearmanr

    for k, row in enumerate(page.table("measure", "load_mass").values(), 2):
        assert numbers(row) == pytest.approx(
            [spearmanr(rows[:, j], np.round(rows[:, k], 8)).statistic for j in (0, 1)], abs=1e-4
        )
    assert page.said(
        "Rank correlation of every measure with every parameter: ±# follows it alone, # not at all."
    ) == [1.0, 0.0]
    assert page.unread() == []


def rms(held: Held, seed: int) -> float:
    return float(np.sqrt((held.errors(2.0, 0.02, setpoint, seed) ** 2).mean()))


def test_tutorial_feed_forward_optimum_matches_page(
    tuned: Held, seed: int, capsys: pytest.CaptureFixture
):
    """The worse of two loads by runs of the formulas: the gains of the page lie at their least, and the error there is what it says."""
    assert (
        cli.main(
            ["optimize", "follow.toml", "-q", "--state", "follow.jsonl", "--report", "follow.html"]
        )
        == 0
    )
    page = Page(Path("follow.html"))

    def worst(gains) -> float:
        return max(
            rms(tuned.with_(load=load, speed=gains[0], acceleration=gains[1]), seed)
            for load in (60.0, 80.0)
        )

    low, high, start, found, _ = zip(*page.table("variable", "from").values(), strict=True)
    assert (numbers(low), numbers(high), numbers(start)) == (
        [-5000.0, 0.0],
        [5000.0, 3000.0],
        [0.0, 0.0],
    )
    gains = numbers(found)
    value, begun = numbers(page.table("measure", "value")["rms(lift_control.error)"])
    assert begun == pytest.approx(worst([0.0, 0.0]), rel=5e-3)
    assert value == pytest.approx(worst(gains), rel=5e-3)
    best = minimize(
        worst,
        gains,
        method="Nelder-Mead",
        options={
            "maxfev": 60,
            "initial_simplex": [gains, [gains[0] + 50, gains[1]], [gains[0], gains[1] + 50]],
        },
    )
    assert value == pytest.approx(best.fun, rel=1e-2)
    assert worst([0.0, 0.0]) == pytest.approx(
        0.288e-3, rel=5e-3
    )  # what the page says of no feed-forward
    (row,) = page.rows(
        "lift_control.speed_forward", "lift_control.acceleration_forward", "objective"
    )
    *ended, there = numbers(
        row
    )  # the search's last point, a bit beside the best one that it has seen
    assert (
        there == pytest.approx(1e3 * worst(ended), rel=5e-3)
        and 1e3 * value * (1 - 1e-5) <= there < 1e3 * value * 1.01
    )
    sentence = next(text for text in page.texts if text.startswith("objective"))
    objective, evaluations = (float(sentence.split()[k]) for k in (1, 3))
    lines = Path("follow.jsonl").read_text().splitlines()
    assert objective == pytest.approx(1e3 * value, rel=1e-4) and evaluations == len(lines) - 1
    assert page.unread() == []


def test_tutorial_variant_errors_match_page(tuned: Held, seed: int):
    """Errors of three ways over time and over sixteen loads by runs of the formulas; small motions and margins by theirs."""
    assert cli.main(["study", "ways.toml", "-q", "--report", "ways.html"]) == 0
    page = Page(Path("ways.html"))
    ways = {
        "as tuned": tuned,
        "without feed-forward": tuned.with_(speed=0.0, acceleration=0.0),
        "half the derivative": tuned.with_(kd=22500.0),
    }
    held, rest, loops = (
        page.rows("way", "lift_control.error"[:0] or page.tables[0][0][1]),
        page.table("way", "largest growth [1/s]"),
        page.table("way", "controller"),
    )
    factor = 1e3 if "[mrad]" in str(page.tables[0][0][1]) else 1.0
    spread = {str(row[1]): row[2:] for row in page.rows("", "way")}
    loads = drawn("latin", {"load_mass": Distribution("uniform", 20.0, 120.0)}, 16, 0)["load_mass"]
    for way, largest, mean, end, settled in held:
        one = ways[str(way)]
        errors = one.errors(2.0, 0.02, setpoint, seed)
        size = float(np.abs(errors).max())
        wanted = [size, float(np.sqrt((errors**2).mean())), errors[-1]]
        assert [float(largest), float(mean), float(end)] == pytest.approx(
            [factor * w for w in wanted], rel=5e-3, abs=5e-3 * factor * size
        )
        late = np.flatnonzero(np.abs(errors) > 2e-4)
        assert float(settled.split()[0]) == pytest.approx(
            0.02 * (late[-1] + 1) if late.size else 0.0, abs=0.0201
        )
        values = one.small_motions()
        swings = [value for value in values if value.imag > 1e-6 * abs(value)]
        slow = min(map(abs, swings)) / (2 * math.pi)
        least = min(-value.real / abs(value) for value in swings)
        assert numbers(rest[str(way)]) == pytest.approx([values.real.max(), slow, least], rel=1e-4)
        m = margins_of(one.sampled(), 0.999 * math.pi / T)
        assert loops[str(way)][:2] == ["lift_control", "stable"]
        assert numbers(loops[str(way)][2:]) == pytest.approx(
            [m.gain, m.phase, 1e3 * m.delay, m.modulus], rel=1e-4
        )
        sizes = [
            factor * np.abs(one.with_(load=load).errors(2.0, 0.02, setpoint, seed)).max()
            for load in loads
        ]
        assert numbers(spread[str(way)]) == pytest.approx(
            [*np.percentile(sizes, (5, 50, 95)), max(sizes), 0.0], rel=1e-2
        )
    assert page.said(
        "Largest deviations over # runs per variant, parameters from a Latin hypercube:"
    ) == [16.0]
    assert page.said("load_mass: uniform(#, #)") == [20.0, 120.0]
    told = "Settled: within # until the next disturbance; what stays outside is marked not. Rms: root of the mean square over the run."
    assert page.said(told) == [2e-4] and page.unread() == []


def test_tutorial_hil_run_matches_page(tuned: Held, capsys: pytest.CaptureFixture):
    """Counts that must add up, and the margins with the dead times that are said."""
    assert (
        cli.main(["hil", "boom.toml", "--simulated", "-q", "--report", "hil.html", "-o", "run.csv"])
        == 0
    )
    page, table = Page(Path("hil.html")), tomllib.loads(Path("boom.toml").read_text())["loops"][0]
    told = "# steps of # ms, simulated, bit for bit repeatable; # frames sent, # commands applied"
    steps, size, sent, applied, lost, stale = page.said(
        f"{told}, # frames lost by injection, # steps without a new command (hold)"
    )
    assert (steps, size, sent) == (2000.0, 2.0, 2001.0) and len(
        np.loadtxt("run.csv", delimiter=",", skiprows=1)
    ) == 2000
    assert lost == pytest.approx(
        sent * (1 - 0.99**2), abs=4 * math.sqrt(sent * 0.02)
    )  # one in a hundred each way
    assert (
        0 <= sent - lost - applied <= 5 and 0 <= applied + stale - (steps - 3) <= 5
    )  # the first and the last are under way
    mean, most = page.said("loop delay: # steps on average, # at most")
    assert 2.0 < mean < most <= 6.0  # both ways take 4 to 6 ms, and frames wait for a step
    held = Held(70.0, *(table[key] for key in ("kp", "ki", "kd", "filter")))
    for name, row in page.table("loop", "delay [ms]").items():
        dead = float(row[0])
        wanted = {"continuous": 0.0, "sampled and held": 1.0, "as it ran": 1.0 + 2.0 * mean}[name]
        assert dead == pytest.approx(wanted, rel=2e-3) and row[1] == "stable"
        m = margins_of(held.continuous(1e-3 * dead), 2e4)
        assert numbers(row[2:]) == pytest.approx(
            [m.gain, m.phase, 1e3 * m.delay, m.modulus], rel=1e-4
        )
    assert page.unread() == []


def test_tutorial_page_is_short():
    """At 200 words a minute, with everything that stands in its blocks."""
    assert len(PAGE.read_text(encoding="utf-8").split()) / 200 < 10.0


def test_state_files_are_json(tuned: Held):
    """The search of the page can be gone on with."""
    assert all(json.loads(line) for line in Path("follow.jsonl").read_text().splitlines())
