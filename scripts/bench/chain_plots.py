"""Tables and plots of `kinetree bench chain`."""

from pathlib import Path
from typing import Any

METHODS = {
    "kinetree chain": ("C0", "o-"), "kinetree matrices": ("C0", "s--"), "scipy expm": ("C1", "o-"), "scipy expm, blocks": ("C1", "s--"),
    "scipy lsim": ("C2", "o-"), "scipy Radau": ("C3", "v"), "SUNDIALS CVODE": ("C4", "^"), "Runge-Kutta 4": ("C5", "D"),
}  # fmt: skip


def show(report: dict[str, Any]) -> None:
    """Print the machine, the tables and the ratios of a report."""
    print("  ".join(f"{k} {v}" for k, v in report["machine"].items()))
    print(
        f"{'chain':20} {'n':>5} {'ratio':>8} {'method':18} {'ms':>12} {'error':>9} {'band':>6} {'MB':>6} {'peer/chain':>10}"
    )
    for r in report["results"]:
        place = f"{r['chain'][:20]:20} {r['n']:5} {r['ratio']:8.0f} {r['method']:18}"
        ratio = (
            f"{r['best_equal_peer_over_chain']:.1f}"
            if r["best_equal_peer_over_chain"] and r["method"] == "kinetree chain"
            else ""
        )
        print(
            f"{place} {r['seconds'] * 1e3:12.2f} {r['error']:9.1e} {r['half_width']:6} {r['matrices_MB']:6.1f} {ratio:>10}"
        )
    if report["headline"]:
        print(
            f"fastest peer of equal accuracy over chain, least of the chains of the headline: {report['headline']:.1f}"
        )
    for row in report.get("bands", ()):
        part = row["half_width"] / row["n"]
        times = "  ".join(
            f"{what} {row[f'band_{what}'] * 1e3:.1f} / {row[f'dense_{what}'] * 1e3:.1f} ms"
            for what in ("doubling", "steps")
        )
        print(
            f"half-width {part:.2f} n, band / dense: {times}, {row['band_memory_MB']:.1f} / {row['dense_memory_MB']:.1f} MB"
        )
    if "fill_in" in report:
        print(
            "dense is faster from half-widths of "
            + ", ".join(f"{part:.2f} n ({what})" for what, part in report["fill_in"].items())
        )
    for row in report.get("forms", ()):
        print(
            f"omega*dt {row['omega_dt']:.0e}, ratio {row['ratio']:.0e}: {row['form']:18} {row['seconds'] * 1e3:8.1f} ms, "
            f"U_0 {row['U_0']:.0e}, U_k {row['U_k']:.0e}"
        )
    for row in report.get("choices", ()):
        print(
            f"{row['chain']}, omega*dt {row['omega_dt']:.0f}: r, m = {row['chosen']}, {100 * row['slower']:.0f} % slower than {row['fastest']}"
        )
    for row in report.get("rule", ()):
        way = "agree" if row["agree"] else "DISAGREE"
        print(
            f"Runge-Kutta over matrices, n {row['n']}, omega*dt {row['omega_dt']:g}, {row['steps']} steps: "
            f"counted {row['counted']:.2g}, measured {row['measured']:.2g}, {way}"
        )


def plot(report: dict[str, Any], folder: Path) -> None:
    """Plot times over the number of masses, over the ratio of frequencies, and of bands with dense
    matrices.
    """
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    results = [r for r in report["results"] if r["chain"] == "two-mass cars"]
    figure, area = plt.subplots(figsize=(6.4, 4.2))
    curves(area, [r for r in results if abs(r["ratio"] / 1e4 - 1.0) < 0.03], "n", "seconds")
    area.set(xlabel="masses", ylabel="s for 1000 steps")
    area.legend(fontsize=8, loc=(0.02, 0.25))  # the room between exponentials and adaptive methods
    save(figure, folder / "chain_size.png")
    figure, areas = plt.subplots(1, 2, figsize=(9.6, 4.2))
    for area, what, label in zip(
        areas, ("seconds", "error"), ("s for 1000 steps", "largest error"), strict=True
    ):
        curves(area, [r for r in results if r["n"] == 200], "ratio", what)
        area.set(xlabel="omega_max / omega_min", ylabel=label)
    areas[0].legend(fontsize=8, loc="center right")
    save(figure, folder / "chain_stretch.png")
    if "bands" in report:
        plot_bands(report["bands"], folder / "chain_bands.png")


def curves(area: Any, results: list[dict], across: str, up: str) -> None:
    """Draw one line per method into a diagram of column `up` over column `across`."""
    for method, (colour, style) in METHODS.items():
        points = sorted((r[across], r[up]) for r in results if r["method"] == method)
        if points:
            area.loglog(*zip(*points, strict=True), style, color=colour, label=method, markersize=4)
    area.grid(True, which="both", alpha=0.3)


def plot_bands(rows: list[dict], path: Path) -> None:
    """Plot the times of the last doubling and of the steps over the half-width of the bands."""
    import matplotlib.pyplot as plt

    figure, area = plt.subplots(figsize=(6.4, 4.2))
    widths = [row["half_width"] / row["n"] for row in rows]
    for what, colour in (("doubling", "C0"), ("steps", "C1")):
        for kind, style in (("band", "o-"), ("dense", "--")):
            area.semilogy(
                widths,
                [row[f"{kind}_{what}"] * 1e3 for row in rows],
                style,
                color=colour,
                label=f"{what}, {kind}",
                markersize=4,
            )
    area.set(
        xlabel=f"half-width / n, n = {rows[0]['n']}",
        ylabel=f"ms (one doubling; {rows[0]['steps']} steps)",
    )
    area.grid(True, which="both", alpha=0.3)
    area.legend(fontsize=8)
    save(figure, path)


def save(figure: Any, path: Path) -> None:
    import matplotlib.pyplot as plt

    figure.tight_layout()
    figure.savefig(path, dpi=130)
    plt.close(figure)
