"""Plots of the dynamics benchmark: times over the number of bodies, and selection diagrams."""

from pathlib import Path

from kinetree.scripts.bench import selection_diagrams as regions

COLOURS = {
    "DEC": "#d62728", "many": "#8c1c13", "ABM": "#ff9896", "LGR": "#1f77b4", "CBM": "#2ca02c", "DRT": "#98df8a", "ITR-M": "#9467bd",
    "ITR-G": "#c5b0d5", "ITR-DIRECT": "#e377c2", "pinocchio": "black", "mujoco": "grey",
}  # fmt: skip


def draw(data: dict, folder: Path) -> None:
    """Draw all plots that the results allow into a folder."""
    import matplotlib

    matplotlib.use("Agg")
    folder.mkdir(parents=True, exist_ok=True)
    draw_times(data["results"], folder / "dynamics_times.png")
    if data.get("regions"):
        draw_regions(data["regions"], folder / "dynamics_regions.png")


def draw_times(results: list[dict], path: Path) -> None:
    """Plot times [µs] over the number of bodies, one panel per topology and joint."""
    import matplotlib.pyplot as plt

    topologies = list(dict.fromkeys(row["topology"] for row in results))
    joints = list(dict.fromkeys(row["joint"] for row in results))
    lines, columns = len(topologies), len(joints)
    figure, areas = plt.subplots(
        lines, columns, figsize=(4 * columns, 3.4 * lines), squeeze=False, sharex=True, sharey=True
    )
    for line, topology in zip(areas, topologies, strict=True):
        for area, joint in zip(line, joints, strict=True):
            rows = [row for row in results if (row["topology"], row["joint"]) == (topology, joint)]
            for method in COLOURS:
                points = sorted(
                    (row["bodies"], row["us"]) for row in rows if row["method"] == method
                )
                if points:
                    area.loglog(*zip(*points), ".-", color=COLOURS[method], label=method, lw=1.2)
            area.set_title(f"{topology}, {joint}", fontsize=10)
            area.grid(True, which="major", alpha=0.3)
    for area in areas[-1]:
        area.set_xlabel("bodies")
    for line in areas:
        line[0].set_ylabel("time per evaluation [µs]")
    areas[0, min(1, columns - 1)].legend(
        fontsize=7, loc="lower right"
    )  # universal joints end at 200 bodies: there is room
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def draw_regions(points: list[dict], path: Path) -> None:
    """Draw the cheapest form of every tree, one row of diagrams per joint: predicted and measured,
    of all forms and of the literal ones.
    """
    import matplotlib.pyplot as plt
    from matplotlib.lines import Line2D

    joints = list(dict.fromkeys(each["joint"] for each in points))
    columns = [(kind, literal) for literal in (False, True) for kind in ("predicted", "measured")]
    figure, areas = plt.subplots(
        len(joints), 4, figsize=(13, 3 * len(joints)), squeeze=False, sharex=True, sharey=True
    )
    seen = set()
    for line, joint in zip(areas, joints, strict=True):
        mine = [each for each in points if each["joint"] == joint]
        for area, (kind, literal) in zip(line, columns, strict=True):
            found = regions.winners(mine, kind, literal)
            seen |= set(found.values())
            place(area, found)
            area.set_title(
                f"freedoms per joint: {mine[0]['freedoms']}, {kind}{', literal forms' if literal else ''}",
                fontsize=9,
            )
        line[0].set_ylabel("branch length")
    for area in areas[-1]:
        area.set_xlabel("branches")
    marks = [
        Line2D([], [], marker="s", ls="", ms=9, color=COLOURS[name], label=name)
        for name in COLOURS
        if name in seen
    ]
    figure.legend(handles=marks, loc="lower center", ncol=len(marks))
    figure.tight_layout(rect=(0, 0.03, 1, 1))
    figure.savefig(path, dpi=100)
    plt.close(figure)


def place(area, found: dict[tuple[int, int], str]) -> None:
    """Draw one coloured square per tree, at evenly spaced positions, into a selection diagram."""
    ticks = sorted({branches for branches, _ in found} | {length for _, length in found})
    for (branches, length), name in found.items():
        area.scatter(
            ticks.index(branches), ticks.index(length), s=260, marker="s", color=COLOURS[name]
        )
    for axis in (area.xaxis, area.yaxis):
        axis.set_ticks(range(len(ticks)), ticks)
