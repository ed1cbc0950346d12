"""Radau IIA: implicit Runge-Kutta method of order 5."""

from kinetree.solvers.integrate.kinds import Integrator

INTEGRATOR = Integrator(
    name="radau",
    code=2,
    title="Radau IIA (Hairer, Wanner)",
    order="5",
    evaluations="about 8 and n per Jacobian",
    use="stiff contacts, hydraulics, strong damping",
    kernels="kinetree.solvers.integrate.radau",
)
