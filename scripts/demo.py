"""The product's main job in one go: from a description to motion, numbers and a picture."""

import sys
import time
from pathlib import Path

MECHANISM = "lib:regulator"
FOLDER = Path("out") / "demo"


def main(folder: Path = FOLDER) -> int:
    """Simulate the speed regulator, print what happened and draw it."""
    from kinetree.models import load
    from kinetree.scripts.summary import summary

    folder.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    system = load(MECHANISM).compile()
    print(f"{system.name}: {len(system.bodies)} bodies, {system.n} freedoms; cheapest method {system.choose()}")
    result = system.simulate()
    result.to_csv(folder / "regulator.csv")
    result.plot(folder / "regulator.png", ("radius", "height", "power"))
    summary(system, result, [folder / "regulator.csv", folder / "regulator.png"])
    print(f"done in {time.perf_counter() - start:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
