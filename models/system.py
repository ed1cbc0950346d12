"""A compiled mechanism: one evaluation of its equations in any form."""
from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kinetree.models.compilation.blocks import allocate
from kinetree.models.compilation.builder import Compiled
from kinetree.models.description.schema import Description
from kinetree.models.engine import engine
from kinetree.models.status import check_status
from kinetree.solvers import layout as L

Numbers = Sequence[float] | np.ndarray


class System:
    """Equations of motion of a mechanism; arguments and results are numpy arrays in the order of `coordinates`, `speeds`, `bodies`."""

    def __init__(self, description: Description, compiled: Compiled):
        self.description = description
        self.compiled = compiled
        self.name = description.name
        self.coordinates = compiled.coordinates
        self.speeds = compiled.speeds
        self.bodies = compiled.bodies
        self.parents = compiled.parents
        self.n = len(compiled.speeds)
        self._use(compiled.ints)

    def _use(self, ints: np.ndarray) -> None:
        """Allocate the workspace laid out in `ints` and derive its constants."""
        self._ints, self._floats = ints, self.compiled.floats
        self._work, self._ws = allocate(ints, self._floats)
        bind = lambda name: engine().bind(name, self._ints, self._floats, self._work)  # noqa: E731
        self._prepare, self._evaluate, self._outputs = bind("prepare"), bind("accelerations"), bind("outputs")
        self._check(self._prepare(0, 0.0))
        self._set_inputs(None)

    def _check(self, status: int) -> None:
        if status != 0:
            check_status(status, self._ws.head, self.compiled)

    # -- start and arguments --------------------------------------------------------------------------------------------------------------
    def start(self) -> tuple[np.ndarray, np.ndarray]:
        """Initial coordinates and speeds."""
        c, val = self.compiled, self._ws.val
        q = val[c.start_q : c.start_q + len(c.coordinates)].copy()
        for k in c.quaternions:
            q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
        return q, val[c.start_u : c.start_u + self.n].copy()

    def start_states(self) -> np.ndarray:
        """Initial first-order states."""
        c = self.compiled
        return self._ws.val[c.start_x : c.start_x + len(c.states)].copy()

    def _set_inputs(self, inputs: Mapping[str, float] | None) -> None:
        c, val = self.compiled, self._ws.val
        for k, name in enumerate(c.inputs):
            val[c.registers[name]] = val[c.start_inputs + k]
        for name, value in (inputs or {}).items():
            if name not in c.inputs:
                raise KeyError(f"'{name}' is not an input; inputs: {', '.join(c.inputs) or 'none'}")
            val[c.registers[name]] = value

    def _set(self, q: Numbers, u: Numbers | None = None, x: Numbers | None = None, inputs: Mapping[str, float] | None = None, loads=None) -> None:
        """Write the arguments of an evaluation into the workspace."""
        ws = self._ws
        ws.q[:] = self._shaped(q, ws.q.size, "q")
        ws.u[:] = 0.0 if u is None else self._shaped(u, ws.u.size, "u")
        ws.x[:] = self.start_states() if x is None else self._shaped(x, ws.x.size, "x")
        if self.compiled.inputs or inputs:
            self._set_inputs(inputs)
        if loads is None:
            ws.head[L.K_EXTRA] = 0.0
        else:
            ws.extra[6:] = self._shaped(np.asarray(loads, dtype=float).reshape(-1), 6 * len(self.bodies), "loads")
            ws.head[L.K_EXTRA] = 1.0

    def _shaped(self, values, size: int, name: str) -> np.ndarray:
        array = np.asarray(values, dtype=float)
        if array.shape != (size,):
            raise ValueError(f"{name} has shape {array.shape}, expected ({size},)")
        return array

    # -- evaluation -----------------------------------------------------------------------------------------------------------------------
    def accelerations(self, t: float, q: Numbers, u: Numbers, inputs=None, method: str = "auto", loads=None) -> np.ndarray:
        """Rates of the speeds, u̇; `loads` are extra wrenches (bodies, 6): force and moment at the body frame's origin, body axes."""
        self._set(q, u, None, inputs, loads)
        self._check(self._evaluate(self._method(method), t))
        return self._ws.udot.copy()

    def reactions(self, t: float, q: Numbers, u: Numbers, method: str = "auto", loads=None) -> np.ndarray:
        """Joint reactions (bodies, 6): force and moment at O_i in frame i."""
        self._set(q, u, None, None, loads)
        self._check(self._outputs(self._method(method), t))
        return self._ws.reaction[6:].reshape(-1, 6).copy()

    def energy(self, t: float, q: Numbers, u: Numbers) -> tuple[float, float]:
        """Kinetic and potential energy (weight is zero at the ground's origin)."""
        self._set(q, u)
        self._check(self._outputs(0, t))
        return float(self._ws.head[L.K_KINETIC]), float(self._ws.head[L.K_POTENTIAL])

    def outputs(self, t: float, q: Numbers, u: Numbers, inputs=None) -> dict[str, float]:
        """All outputs of one state by name."""
        self._set(q, u, None, inputs)
        self._check(self._outputs(0, t))
        return {column.name: float(self._ws.val[column.register]) for column in self.compiled.outputs}

    def _method(self, method: str) -> int:
        """Number of a method; `auto` is the default engine."""
        return 0
