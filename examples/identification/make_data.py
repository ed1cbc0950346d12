"""The measured motion of this example: a run with other numbers, a row each 20 ms, with the noise of its sensors (seed 7)."""

import csv

import numpy as np

from kinetree.models import load

TRUE = {"stiffness": 41.0, "damping": 0.25, "tip_mass": 0.8, "angle_0": 0.35}
NOISE = {"angle": 2e-3, "acceleration": 0.05}  # rad, m/s2

run = load("lever.toml").compile(**TRUE).simulate()
random = np.random.default_rng(7)
columns = {"time": run.time} | {
    name: run[name] + sigma * random.normal(size=run.time.size) for name, sigma in NOISE.items()
}
with open("measured.csv", "w", newline="", encoding="utf-8") as file:
    writer = csv.writer(file)
    writer.writerow(columns)
    writer.writerows(
        [f"{value:.6g}" for value in row] for row in zip(*columns.values(), strict=True)
    )
