"""IPOPT from casadi's package: the functions of a search as callbacks with gradients; second
derivatives by BFGS.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from kinetree.scripts.studies.optimise_search import Search
from kinetree.scripts.terminal.error_messages import BadInput


def ipopt(search: Search, start: np.ndarray, scale: float) -> Any:
    """Minimise the objective of a search by IPOPT; return a result with scipy's attributes x and
    message.
    """
    try:
        import casadi
    except ImportError:
        raise BadInput("IPOPT comes with casadi: pip install 'kinetree[optimize]'") from None
    size, interrupted = start.size, []

    def clipped(value: Any) -> np.ndarray:
        return np.clip(np.array(value, dtype=float).ravel(), 0.0, 1.0)

    def objective(s: np.ndarray) -> np.ndarray:
        return np.array([search.objective(search.measures(s[None])[0]) / scale])

    def limits(s: np.ndarray) -> np.ndarray:
        return search.limits(search.measures(s[None])[0])

    functions = [
        (objective, lambda s: search.slope(s)[None] / scale),
        (limits, search.limit_slopes),
    ]
    count = limits(start).size

    class Slopes(casadi.Callback):
        def __init__(self, name: str, rows: int, slopes: Any):
            super().__init__()
            self.rows, self.slopes = rows, slopes
            self.construct(name, {})

        def get_n_in(self) -> int:
            return 2

        def get_n_out(self) -> int:
            return 1

        def get_sparsity_in(self, k: int) -> Any:
            return casadi.Sparsity.dense(size, 1) if k == 0 else casadi.Sparsity(self.rows, 1)

        def get_sparsity_out(self, k: int) -> Any:
            return casadi.Sparsity.dense(self.rows, size)

        def eval(self, given: Any) -> Any:
            return [guarded(self.slopes, clipped(given[0]), (self.rows, size))]

    class Value(casadi.Callback):
        def __init__(self, name: str, rows: int, value: Any, slopes: Any):
            super().__init__()
            self.rows, self.value, self.slopes = rows, value, slopes
            self.construct(name, {})

        def get_n_in(self) -> int:
            return 1

        def get_n_out(self) -> int:
            return 1

        def get_sparsity_in(self, k: int) -> Any:
            return casadi.Sparsity.dense(size, 1)

        def get_sparsity_out(self, k: int) -> Any:
            return casadi.Sparsity.dense(self.rows, 1)

        def has_jacobian(self) -> bool:
            return True

        def get_jacobian(self, name: str, *_: Any) -> Any:
            self.jacobian_kept = Slopes(name, self.rows, self.slopes)
            return self.jacobian_kept

        def eval(self, given: Any) -> Any:
            return [guarded(self.value, clipped(given[0]), (self.rows, 1))]

    def guarded(function: Any, s: np.ndarray, shape: tuple[int, int]) -> Any:
        try:
            if interrupted:
                raise KeyboardInterrupt
            return casadi.DM(np.asarray(function(s), dtype=float).reshape(shape))
        except KeyboardInterrupt as stop:
            interrupted.append(stop)
            raise

    x = casadi.MX.sym("x", size)
    goal = Value("objective", 1, *functions[0])
    problem, bounds = {"x": x, "f": goal(x)}, {}
    if count:
        kept = Value("limits", count, *functions[1])
        problem["g"], bounds = kept(x), {"lbg": np.zeros(count), "ubg": np.full(count, np.inf)}
    options = {
        "print_time": False, "ipopt.print_level": 0, "ipopt.sb": "yes", "ipopt.hessian_approximation": "limited-memory",
        "ipopt.max_iter": search.task.iterations, "ipopt.tol": 1e-9, "ipopt.honor_original_bounds": "yes",
    }  # fmt: skip
    solver = casadi.nlpsol("solver", "ipopt", problem, options)
    try:
        answer = solver(x0=start, lbx=0.0, ubx=1.0, **bounds)
    except Exception:
        if interrupted:
            raise KeyboardInterrupt from None
        raise
    if interrupted:
        raise KeyboardInterrupt
    return SimpleNamespace(x=clipped(answer["x"]), message=solver.stats()["return_status"])
