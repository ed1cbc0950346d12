"""Pictures of the pages on hydraulics and OpenModelica; `python -m` this module renews docs/pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kinetree.models import load

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"
BAR = 1e5
INK, PALE, ACCENT, SECOND, THIRD = "#222222", "#eef2f6", "#1f5fa8", "#c0532b", "#3a8a4d"


def plain(axes: Any, label: str) -> None:
    """Light axes with a label in place of a legend's title."""
    axes.set_ylabel(label)
    axes.grid(True, alpha=0.25)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def hydraulics(path: Path) -> None:
    """The boom with its drive: command and spool, pressures, oil of the accumulator, luff angle."""
    import matplotlib.pyplot as plt

    result = load("lib:boom-drive").compile().simulate()
    t = result.time
    figure, rows = plt.subplots(4, 1, figsize=(8.5, 7.6), sharex=True, constrained_layout=True)
    rows[0].plot(t, result["servo.spool"], color=INK)
    plain(rows[0], "spool")
    for name, color in (("rail", ACCENT), ("hose_a", SECOND), ("hose_b", THIRD)):
        rows[1].plot(t, result[f"{name}.pressure"] / BAR, color=color, label=name)
    plain(rows[1], "pressure [bar]")
    rows[1].legend(frameon=False, ncol=3, loc="upper left")
    rows[1].set_ylim(0, 260)
    rows[2].plot(t, 1e3 * result["accumulator.oil"], color=ACCENT, label="oil in the accumulator [l]")
    rows[2].plot(t, 1e3 * result["pump.flow"], color=SECOND, label="flow of the pump [l/s]")
    plain(rows[2], "oil")
    rows[2].legend(frameon=False)
    rows[3].plot(t, result["luff"], color=INK)
    plain(rows[3], "luff angle [rad]")
    rows[3].set_xlabel("time [s]")
    figure.savefig(path, dpi=110)
    plt.close(figure)


PICTURES = {"hydraulics.png": hydraulics}


def main() -> None:
    import matplotlib

    matplotlib.use("Agg")
    for name, draw in PICTURES.items():
        draw(FOLDER / name)
        print(FOLDER / name)


if __name__ == "__main__":
    main()
