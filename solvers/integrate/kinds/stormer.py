"""Stormer's multistep method for q'' = f."""

from kinetree.solvers.integrate.kinds import Integrator

INTEGRATOR = Integrator(
    name="stormer",
    code=5,
    title="Störmer's summed formula for q'' = f(t, q, q') [Sh24]",
    order="6",
    evaluations="1 (2 with the corrector)",
    use="long smooth runs at one step size",
    fixed=True,
    kernels="kinetree.solvers.integrate.stormer_dense",
)
