"""Adams: predictor-corrector method of variable step and order."""

from kinetree.solvers.integrate.kinds import Integrator

INTEGRATOR = Integrator(
    name="adams",
    code=0,
    title="predict-evaluate-correct-evaluate on divided differences (Shampine, Gordon)",
    order="1 to 12",
    evaluations="2",
    use="smooth motion, tight tolerances; the default",
    kernels="kinetree.solvers.integrate.adams",
)
