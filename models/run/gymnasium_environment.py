"""A mechanism as an environment of Gymnasium for reinforcement learning: observations and actions
are named outputs and inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.models.engine.status import EvaluationError
from kinetree.models.run.stepper import Stepper

if TYPE_CHECKING:
    from kinetree.models.system.system import System

Start = Callable[[np.random.Generator], Mapping[str, float]]


def environment(
    system: System,
    observations: Sequence[str],
    actions: Mapping[str, tuple[float, float]],
    reward: Callable[[Stepper], float],
    step: float = 0.01,
    stop_time: float = 10.0,
    ended: Callable[[Stepper], bool] | None = None,
    start: Start | Mapping[str, float] | None = None,
    **how: Any,
) -> Any:
    """Return an environment: `actions` bounds the inputs that an agent sets; `reward` and `ended`
    are called with the stepper after every step.

    `start` is a mapping of start values, or a function that draws one from a random number
    generator. A failed simulation ends the episode.
    """
    try:
        import gymnasium
    except ImportError:
        raise ValueError(
            "environments need the package gymnasium: pip install 'kinetree[learning]'"
        ) from None
    names, low, high = list(actions), *np.array(list(actions.values()), dtype=float).T
    stepper = Stepper(system, step, **how)
    for name in names:
        if name not in stepper.inputs:
            raise KeyError(f"action '{name}' is not an input; inputs: {', '.join(stepper.inputs)}")
    stepper.read(observations)

    class Environment(gymnasium.Env):
        """The simulation of one mechanism as an environment."""

        metadata = {"render_modes": []}

        def __init__(self) -> None:
            self.stepper = stepper
            self.action_space = gymnasium.spaces.Box(low, high, dtype=np.float64)
            wide = np.full(len(observations), np.inf)
            self.observation_space = gymnasium.spaces.Box(-wide, wide, dtype=np.float64)

        def reset(
            self, *, seed: int | None = None, options: dict[str, Any] | None = None
        ) -> tuple[np.ndarray, dict[str, Any]]:
            super().reset(seed=seed)
            begin = start(self.np_random) if callable(start) else start
            stepper.reset({**(begin or {}), **((options or {}).get("start") or {})})
            return stepper.read(observations), self.told()

        def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
            for name, value in zip(names, np.clip(action, low, high), strict=True):
                stepper[name] = value
            try:
                stepper.advance()
            except EvaluationError as error:
                told = {**self.told(), "failed": str(error)}
                return stepper.read(observations), float(reward(stepper)), True, False, told
            over = bool(ended(stepper)) if ended else False
            late = stepper.time >= stepper.options.start_time + stop_time - 1e-9 * step
            return stepper.read(observations), float(reward(stepper)), over, late, self.told()

        def told(self) -> dict[str, Any]:
            """Return time and stage, the information dictionary of every observation."""
            return {"time": stepper.time, "stage": stepper.stage_name}

    return Environment()
