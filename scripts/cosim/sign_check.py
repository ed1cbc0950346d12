"""Detection of wires with the wrong sign.

A drive answers motion with a force against it: dF/dv < 0, and a force makes motion along it: dv/dF
> 0. Where the product of both around a bond is positive, every motion is amplified. Both are
computed by difference quotients over one step with rollback.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinetree.scripts.cosim.masters import Master
from kinetree.scripts.cosim.power_bonds import Bond
from kinetree.scripts.cosim.slave import CosimError

NUDGE = 1e-3  # of an input, relative; and absolute where it is zero
LEAST_PRODUCT = 1e-9  # product around the loop that is more than rounding


def crossed(master: Master, bonds: Sequence[Bond], t: float, h: float) -> list[tuple[Bond, str]]:
    """Return the bonds with a wrong sign and their messages; units without rollback are skipped."""
    if not bonds:
        return []
    try:
        states = master.saved()
    except CosimError:
        return []
    now, found = master.read(), []
    for bond in bonds:
        product = response(master, now, bond.effort, bond.flow, t, h, states) * response(
            master, now, bond.flow, bond.effort, t, h, states
        )
        if product > LEAST_PRODUCT:
            wires = f"{master.wires[bond.effort]} and {master.wires[bond.flow]}"
            what = "one of its wires has the wrong sign; give that one factor = -1, or turn the one it has"
            found.append(
                (bond, f"crossed signs: bond '{bond.name}' feeds every motion ({wires}): {what}")
            )
    master.forget(states)
    return found


def response(
    master: Master, now: np.ndarray, given: int, answered: int, t: float, h: float, states: Sequence
) -> float:
    """Return the sensitivity of the wire `answered` to the wire `given` over a step, by differences
    with rollback.
    """
    wire, values = master.wires[given], []
    nudge = NUDGE * (abs(now[given]) or 1.0)
    for amount in (0.0, nudge):
        moved = now.copy()
        moved[given] += amount
        try:
            master.give(moved, np.zeros_like(now), h, wire.target)
            wire.target.step(t, h)
            values.append(master.wires[answered].read())
        except CosimError:
            values.append(np.nan)
        finally:
            for slave, state in zip(master.slaves, states, strict=True):
                if slave is wire.target:
                    slave.restore(state)
    change = (values[1] - values[0]) / nudge
    return change if np.isfinite(change) else 0.0
