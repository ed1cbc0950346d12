"""Analyses of a system: ensembles, equilibria, linearisation (implemented in models/analysis and
models/run).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike

from kinetree.models.engine.instance import Numbers
from kinetree.models.system.contact_states import refuse_contacts

if TYPE_CHECKING:
    from kinetree.models.analysis.equilibrium import Equilibrium
    from kinetree.models.analysis.linearization import Linear
    from kinetree.models.run.ensemble import Ensemble
    from kinetree.models.run.parallel_steppers import Steppers
    from kinetree.models.run.stepper import Stepper
    from kinetree.models.system.system import System
    from kinetree.solvers.chain.constant_step_unit import Unit


class Analyses:
    """The methods of System for analyses."""

    @property
    def _whole(self) -> System:
        return cast("System", self)

    def simulate_many(
        self,
        parameters: Mapping[str, ArrayLike],
        stop_time: float | None = None,
        output_step: float | None = None,
        inputs: Mapping[str, ArrayLike] | None = None,
        **how: Any,
    ) -> Ensemble:
        """Return many runs with one row of values per parameter (or input): `runs["name"]` has the
        shape (runs, rows).

        `how`: integrator (explicit Runge-Kutta methods in lanes), step, tolerance, outputs (names),
        threads, lanes (True: raise unless lanes can be used), progress.
        """
        from kinetree.models.run.ensemble import simulate_many

        return simulate_many(self._whole, parameters, stop_time, output_step, inputs, **how)

    def stepper(
        self,
        step: float = 1e-3,
        inputs: Mapping[str, float] | None = None,
        integrator: str = "auto",
        method: str = "auto",
        tolerance: float | None = None,
        start_time: float | None = None,
    ) -> Stepper:
        """Return a simulation for a loop of the caller: set inputs, `advance()` by steps of `step`
        seconds, read outputs, save and restore.
        """
        from kinetree.models.run.stepper import Stepper

        return Stepper(self._whole, step, inputs, integrator, method, tolerance, start_time)

    def steppers(
        self, count: int, step: float = 1e-3, threads: int | None = None, **how: Any
    ) -> Steppers:
        """Return many simulations that are advanced together, with arrays of values; `how`: inputs,
        integrator, method, tolerance, start_time as for `stepper`.
        """
        from kinetree.models.run.parallel_steppers import Steppers

        return Steppers(self._whole, count, step, threads, **how)

    def environment(
        self,
        observations: Sequence[str],
        actions: Mapping[str, tuple[float, float]],
        reward: Callable[[Stepper], float],
        step: float = 0.01,
        stop_time: float = 10.0,
        **how: Any,
    ) -> Any:
        """Return a Gymnasium environment on a stepper: names of observations, bounds of the inputs
        that are actions, a reward computed from the stepper.

        `how`: ended (a function of the stepper), start (values, or a function of a random
        generator), and the arguments of `stepper`. Needs the extra `learning`.
        """
        from kinetree.models.run.gymnasium_environment import environment

        return environment(self._whole, observations, actions, reward, step, stop_time, **how)

    def equilibrium(
        self,
        t: float | None = None,
        q: Numbers | None = None,
        inputs: Mapping[str, float] | None = None,
        states: Mapping[str, float] | None = None,
        iterations: int = 200,
    ) -> Equilibrium:
        """Return the equilibrium reached from `q` and `states` (default: the start), with loads,
        modes and stability.
        """
        from kinetree.models.analysis.statics import equilibrium
        from kinetree.models.system.controller_variants import resting

        refuse_contacts(self._whole, "a state of rest")
        return equilibrium(
            resting(self._whole),
            t,
            None if q is None else np.asarray(q, dtype=float),
            inputs,
            states,
            iterations,
        )

    @property
    def preparations(self) -> dict[str, Equilibrium]:
        """Return every equilibrium of `run.prepare` by the name of its step, each computed from the
        one before.
        """
        from kinetree.models.analysis.preparation_stages import Preparations

        preparation = Preparations(self._whole)
        preparation.starts()
        return preparation.equilibria()

    def equilibria(
        self,
        steps: Sequence[Mapping[str, float | str]] | None = None,
        inputs: Mapping[str, float] | None = None,
    ) -> list[Equilibrium]:
        """Return successive equilibria: of every stage, or after steps that set parameters, inputs
        or `stage`.
        """
        from kinetree.models.analysis.preparation_stages import equilibria
        from kinetree.models.system.controller_variants import resting

        refuse_contacts(self._whole, "states of rest")
        return equilibria(resting(self._whole), steps, inputs)

    def linearize(
        self,
        t: float | None = None,
        q: Numbers | None = None,
        u: Numbers | None = None,
        inputs: Mapping[str, float] | None = None,
        outputs: Sequence[str] | None = None,
        states: Mapping[str, float] | None = None,
    ) -> Linear:
        """Return the linearisation about a state, in equilibrium or moving (default: the start at
        rest).

        A, B, C, D, modes, mass, damping and stiffness; controllers are included.
        """
        from kinetree.models.analysis.operating_point import linear_at_state

        refuse_contacts(self._whole, "small motions")
        system = self._whole
        place, t = (
            system.start()[0] if q is None else np.asarray(q, dtype=float),
            system.compiled.start_time if t is None else t,
        )
        return linear_at_state(
            system, t, place, None if u is None else np.asarray(u), inputs, outputs, states
        )

    def linear_chain(
        self, dt: float, channels: Sequence[str] | None = None, accuracy: float = 1e-10, **rest: Any
    ) -> Unit:
        """Return the linearisation about the equilibrium for steps of dt
        (kinetree.solvers.chain.advance).
        """
        return self.equilibrium(**rest).linear.linear_chain(dt, channels, accuracy)
