"""The product's main job in one go: from a description to motion, to an FMU, and to the FMU's motion in a host."""

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kinetree.models import Result
    from kinetree.models.mechanism import Mechanism

MECHANISM = "lib:regulator"
SHOWN = ("radius", "height", "power")
FOLDER = Path("out") / "demo"


def main(folder: Path = FOLDER) -> int:
    """Simulate the speed regulator, pack it as an FMU, co-simulate that with fmpy, compare, print and draw."""
    from kinetree.models import load
    from kinetree.scripts.summary import summary

    folder.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    mechanism = load(MECHANISM)
    system = mechanism.compile()
    print(f"{system.name}: {len(system.bodies)} bodies, {system.n} freedoms; cheapest method {system.choose()}")
    result = system.simulate()
    result.to_csv(folder / "regulator.csv")
    result.plot(folder / "regulator.png", SHOWN)
    summary(system, result, [folder / "regulator.csv", folder / "regulator.png"])
    cosimulate(mechanism, result, folder / "regulator.fmu")
    print(f"done in {time.perf_counter() - start:.1f} s")
    return 0


def cosimulate(mechanism: "Mechanism", result: "Result", path: Path) -> None:
    """Pack the mechanism and let fmpy run the archive beside the motion already known."""
    import fmpy
    import numpy as np

    from kinetree.fmu.build import FmuError, build_fmu

    start = time.perf_counter()
    try:
        build_fmu(mechanism, path, backend="native")
    except FmuError as error:
        print(f"no FMU on this machine: {error}")
        return
    print(f"written: {path} ({path.stat().st_size / 1e6:.2f} MB, packed in {time.perf_counter() - start:.2f} s)")
    start = time.perf_counter()
    found = fmpy.simulate_fmu(
        str(path),
        fmi_type="CoSimulation",
        stop_time=float(result.time[-1]),
        output_interval=float(result.time[1] - result.time[0]),
        output=list(SHOWN),
    )
    seconds = time.perf_counter() - start
    worst = max(float(np.abs(np.interp(result.time, found["time"], found[name]) - result[name]).max()) for name in SHOWN)
    print(f"fmpy ran the FMU over {result.time[-1]:g} s in {seconds:.2f} s; largest difference from the motion above {worst:.1e}")


if __name__ == "__main__":
    sys.exit(main())
