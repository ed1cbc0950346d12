"""Writes a linear system to files: matrices and names as .npz, .mat or .json, or frequency
responses as .csv.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinetree.models.result.atomic_file import opened
from kinetree.scripts.terminal.json_output import keep_json

if TYPE_CHECKING:
    from kinetree.models.analysis.linearization import Linear


def write(
    linear: Linear, ins: list[str], outputs: list[str], plain: dict[str, Any], path: Path
) -> None:
    """Write matrices and names of a linear system in the format of the suffix."""
    import numpy as np

    part = linear.part(ins, outputs)
    arrays = {key: getattr(part, key) for key in "ABCD"} | {
        "M": linear.mass,
        "F": linear.damping,
        "K": linear.stiffness,
    }
    names = {
        "states": linear.states,
        "inputs": tuple(ins),
        "outputs": tuple(outputs),
        "coordinates": linear.coordinates,
    }
    suffix = path.suffix.lower()
    if suffix == ".npz":
        with opened(path, "wb") as stream:
            every: dict[str, Any] = {
                **arrays,
                **{key: np.array(value, dtype=str) for key, value in names.items()},
            }
            np.savez(stream, **every)
    elif suffix == ".mat":
        from scipy.io import savemat

        with opened(path, "wb") as stream:
            savemat(
                stream,
                arrays | {key: np.array(value, dtype=object) for key, value in names.items()},
            )
    elif suffix == ".json":
        keep_json(plain, path)
    else:
        write_responses(linear, ins, outputs, path)


def write_responses(linear: Linear, ins: list[str], outputs: list[str], path: Path) -> None:
    """Write frequency responses as columns of gain and phase."""
    import csv

    import numpy as np

    part = linear.part(ins, outputs)
    omega = part.frequencies()
    values = part.response(omega)
    pairs = [(i, o) for i in range(len(ins)) for o in range(len(outputs))]
    heads = [
        text
        for i, o in pairs
        for text in (f"|{outputs[o]}/{ins[i]}|", f"phase {outputs[o]}/{ins[i]} [deg]")
    ]
    columns = [
        column
        for i, o in pairs
        for column in (np.abs(values[:, o, i]), np.degrees(np.unwrap(np.angle(values[:, o, i]))))
    ]
    with opened(path) as stream:
        csv.writer(stream).writerows(
            [["frequency [Hz]", *heads], *np.column_stack((omega / (2 * np.pi), *columns)).tolist()]
        )
