"""Rosenbrock and symplectic Euler methods of fixed cost per step, for real time."""

from kinetree.solvers.integrate.kinds import Integrator

INTEGRATOR = Integrator(
    name="semi-implicit",
    code=4,
    title="Rosenbrock ROS2, L-stable, or symplectic Euler",
    order="2, or 1",
    evaluations="2 and n per k steps, or 1",
    use="real time at fixed cost, with or without stiffness",
    fixed=True,
    kernels="kinetree.solvers.integrate.semi_implicit",
)
