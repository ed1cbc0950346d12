"""Adams-Bashforth-Moulton method of fixed step and adaptive order."""

from kinetree.solvers.integrate.kinds import Integrator

INTEGRATOR = Integrator(
    name="adams-fixed",
    code=9,
    title="Adams-Bashforth-Moulton of adaptive order, the first steps by Runge-Kutta",
    order="1 to 8",
    evaluations="2, at most 4",
    use="real time in smooth motion: half the work of rk4, never more",
    fixed=True,
    kernels="kinetree.solvers.integrate.adams_fixed",
)
