"""RK4: the classical Runge-Kutta method with fixed step."""

from kinetree.solvers.integrate.kinds import Integrator

INTEGRATOR = Integrator(
    name="rk4",
    code=3,
    title="classical Runge-Kutta",
    order="4",
    evaluations="4",
    use="comparisons, undemanding real time",
    fixed=True,
    kernels="kinetree.solvers.integrate.rk4",
)
