"""Registry of the forms (formulations) of the equations of motion: each file of this folder
declares one.

Names and codes, memory needs, dispatch, entry points, the values that descriptions allow,
benchmarks and parameters of tests come from the registry. A new form is its kernel and one file
here. Nothing here imports numba.
"""

from importlib import import_module
from pkgutil import iter_modules
from typing import NamedTuple

LINEAR = frozenset({"literal"})
PATH = frozenset({"literal", "path"})
SIBLING = frozenset({"literal", "sibling"})
MASS = frozenset({"literal", "path", "dense"})


class Form(NamedTuple):
    """The declaration of a form without its kernels: name, code, memory needs, order in lists."""

    name: str
    code: int  # stands in payloads and states: never given twice, never changed; says nothing else
    kernel: str = ""  # in solvers/literal, as module.function; none: the default engine
    needs: frozenset[str] = LINEAR  # groups of the workspace besides the kinematics
    momenta: bool = False  # Hamiltonian: the state is (q, p)
    iterated: bool = False
    reactions: str = "newton_euler.reactions"  # the kernel that finds them; none: they come with the accelerations
    place: int = 100  # in lists

    @property
    def entry(self) -> str:
        """Return the name of its entry point."""
        return self.name.lower().replace("-", "_")


def found() -> tuple[Form, ...]:
    """Return all forms, Lagrangian ones first."""
    forms: list[Form] = [
        import_module(f"{__name__}.{module.name}").FORM for module in iter_modules(__path__)
    ]
    codes = [form.code for form in forms]
    if len(set(codes)) < len(codes):
        raise ValueError(f"two forms have one code: {sorted(codes)}")
    return tuple(sorted(forms, key=lambda form: (form.momenta, form.place, form.name)))


FORMS = found()
LITERAL = tuple(form for form in FORMS if form.kernel)
