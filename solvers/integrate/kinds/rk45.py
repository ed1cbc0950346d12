"""RK45: the Runge-Kutta pair 5(4) of Dormand and Prince."""

from kinetree.solvers.integrate.kinds import Integrator

INTEGRATOR = Integrator(
    name="rk45",
    code=1,
    title="Dormand-Prince 5(4)",
    order="5",
    evaluations="6",
    use="many events, loose tolerances: restarts cost nothing",
    kernels="kinetree.solvers.integrate.rk45",
)
