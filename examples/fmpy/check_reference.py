"""Check the reference results that an FMU carries (draft layered standard FMI-LS-REF).

It needs fmpy and numpy alone: python check_reference.py FILE.fmu
"""

import csv
import json
import sys
from zipfile import ZipFile

import numpy as np
from fmpy import simulate_fmu

FOLDER = "extra/org.fmi-standard.fmi-ls-ref/"


def table(archive: ZipFile, name: str) -> np.ndarray:
    """Return a table of the archive with named columns, the first of which is time."""
    heading, *rows = csv.reader(archive.read(FOLDER + name).decode().splitlines())
    return np.array([tuple(map(float, row)) for row in rows], dtype=[(n, float) for n in heading])


def main(path: str) -> int:
    with ZipFile(path) as archive:
        experiment = json.loads(archive.read(f"{FOLDER}experiment.json"))
        expected = table(archive, experiment["results"])
        stimuli = table(archive, experiment["stimuli"]) if experiment["stimuli"] else None
    found = simulate_fmu(
        path,
        fmi_type=experiment["interface"],
        start_time=experiment["startTime"],
        stop_time=experiment["stopTime"],
        step_size=experiment["stepSize"],
        output_interval=experiment["stepSize"],
        input=stimuli,
        output=list(experiment["tolerances"]),
    )
    status = 0
    for name, allowed in experiment["tolerances"].items():
        values = np.interp(expected["time"], found["time"], found[name])
        deviation = float(np.max(np.abs(values - expected[name])))
        status = status if deviation <= allowed else 1
        state = "good" if deviation <= allowed else "BAD"
        print(f"{state}  {name}: deviation {deviation:.2e}, allowed {allowed:.2e}")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
