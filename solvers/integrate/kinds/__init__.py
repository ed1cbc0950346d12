"""Registry of integrators: each file of this folder declares one method.

Names and codes, kernel dispatch, the values that descriptions allow, the table in docs and the
parameters of tests come from the registry. A new method is one file: a Runge-Kutta method by its
tableau alone, any other by the module of its kernels. Nothing here imports numba.
"""

from importlib import import_module
from pkgutil import iter_modules
from typing import NamedTuple

from kinetree.solvers.integrate.tableau import Tableau


class Integrator(NamedTuple):
    """The declaration of an integration method without its kernels: name, code, order, options."""

    name: str
    code: int  # stands in payloads and states: never given twice, never changed; says nothing else
    title: str
    order: str
    evaluations: str  # per step
    use: str  # for it
    fixed: bool = False  # steps of given size
    kernels: str = ""  # module whose KERNELS these are
    tableau: Tableau | None = None  # or the table of an explicit Runge-Kutta method


def found() -> tuple[Integrator, ...]:
    """Return all integration methods in the order of the docs."""
    methods = [
        import_module(f"{__name__}.{module.name}").INTEGRATOR for module in iter_modules(__path__)
    ]
    codes = [method.code for method in methods]
    if len(set(codes)) < len(codes) or AUTO in codes:
        raise ValueError(f"two integrators have one code: {sorted(codes)}")
    return tuple(sorted(methods, key=lambda method: (method.fixed, method.code)))


AUTO = 6  # the code of the automatic choice
INTEGRATORS = found()
NAMES = ("auto", *(method.name for method in INTEGRATORS))
CODES = {method.name: method.code for method in INTEGRATORS} | {"auto": AUTO}
FIXED = tuple(method.name for method in INTEGRATORS if method.fixed)
# what the automatic choice works with: smooth motion, motion that is interrupted at every output, stiff motion
SMOOTH, INTERRUPTED, STIFF = "adams", "rk45", "radau"
