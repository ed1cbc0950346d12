"""What the papers behind Kinetree ask for, each shown by one command: the commands run and print what they promise."""

import shlex
from pathlib import Path

import pytest

from kinetree.scripts import cli

FILES = Path(__file__).parents[2] / "examples"
# subject: command, words that it has to print; PLACE stands for a folder of the test
SHOWN: dict[str, tuple[str, list[str]]] = {
    # systems of bodies: dissertation, chapters 1 to 4, and the papers on methods
    "regular numbering and tree": ("info lib:mobile-robot", ["13 bodies", "18 degrees of freedom", "ground"]),
    "costs of the methods": ("info lib:spacecraft", ["DEC", "CBM", "LGR", "ITR"]),
    "second kind, matrices": ("run lib:puma560 --stop-time 0.1 --method CBM", ["steps"]),
    "first kind, multipliers": ("run lib:spacecraft --stop-time 0.1 --method LGR", ["steps"]),
    "variable-metric iteration": ("run lib:puma560 --stop-time 0.1 --method ITR-G", ["(2.51)"]),
    "articulated bodies": ("run lib:puma560 --stop-time 0.1 --method ABM", ["steps"]),
    "decomposition": ("run lib:puma560 --stop-time 0.1 --method DEC", ["steps"]),
    "momenta": ("run lib:regulator --stop-time 0.1 --method DEC-H", ["steps"]),
    "sixth order, fixed step": (
        "run lib:gyroscope --stop-time 0.1 --integrator stormer --step-size 0.001",
        ["steps"],
    ),
    "closed loops": ("info lib:closed-three-link", ["loop joint C", "redundant"]),
    "chains by matrices": ("run lib:train --stop-time 1", ["steps"]),
    "equations in text": ("equations lib:regulator --to latex -o PLACE/e.tex", []),
    "identification from a free decay": (
        f"identify {FILES}/identification/measured.csv",
        ["damping ratio", "correlation"],
    ),
    "statics and small motions": ("statics lib:boom-drive", ["Hz"]),
    "published numbers": ("bench published", ["misprint", "table 4.3"]),
    # the carrier: dissertation, chapter 5
    "carrier, states of preparation": (
        "statics lib:carrier --set modules=1",
        ["on wheels", "on jacks"],
    ),
    "carrier, departures as tables": (
        "run lib:carrier --set modules=2",
        ["departure 1", "departure 2"],
    ),
    "carrier, drives with margins": (
        "linearize lib:carrier --set modules=1 --set drives=1 --margins",
        ["gain margin", "luff"],
    ),
    "carrier, helical grooves": ("run lib:carrier --set modules=1 --set helical=1", ["departure 1"]),
    "carrier, a salvo that plans itself": (
        "run lib:carrier --set modules=1 --set drives=1 --set replan=1",
        ["departure 1"],
    ),
    "controllers with margins": (f"tune {FILES}/control/boom.toml", ["gain margin", "setpoint"]),
    "controller, drive and machine in the loop": (
        f"hil {FILES}/control/driven_boom.toml --simulated",
        ["kept", "settled"],
    ),
    "carrier, ways to hold its angles": ("study stabilisation --set modules=1", ["proportional"]),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("subject", SHOWN)
def test_each_example_result_is_shown_by_one_command(
    subject: str, tmp_path: Path, capsys: pytest.CaptureFixture
):
    line, words = SHOWN[subject]
    assert cli.main(shlex.split(line.replace("PLACE", str(tmp_path)))) == 0
    said = capsys.readouterr()
    for word in words:
        assert word in said.out + said.err, (subject, word)
