"""Entry points: every one has the signature (ints, floats, work, option, t) -> status; arguments and results are fields of the workspace.

They come in two libraries: `core` is what an FMU carries, `forms` holds the literal methods.
"""

from collections.abc import Callable
from importlib import import_module

LIBRARIES = {
    "core": {
        "evaluate": ("prepare", "accelerations", "outputs", "repeat"),
        "unit": ("unit_reset", "unit_start", "unit_prepare", "unit_refresh", "unit_advance", "unit_derivatives", "unit_event"),
        "closure": ("assemble", "project", "constraints"),
    },
    "forms": {
        "literal": (
            "literal_state",
            "literal_places",
            "literal_reactions",
            "literal_rates",
            "momenta",
            "mass_matrix",
            "inverse_dynamics",
            "drt",
            "cbm",
            "lgr",
            "itr_m",
            "itr_g",
            "itr_direct",
            "abm",
            "dec_h",
            "cbm_h",
            "lgr_h",
            "itr_h",
            "abm_h",
        ),  # fmt: skip
        "form_motion": ("form_speeds", "form_rates", "form_momenta"),
    },
}


def entries(library: str) -> dict[str, Callable]:
    """All entry points of a library by name (imports numba)."""
    found = {}
    for module, names in LIBRARIES[library].items():
        source = import_module(f"kinetree.solvers.entries.{module}")
        found |= {name: getattr(source, name) for name in names}
    return found


def jitted(name: str) -> Callable:
    """One entry point for calls from Python, with everything it needs compiled."""
    from kinetree.solvers.boundary import provide

    found = entries(library_of(name))[name]
    provide()
    return found


def library_of(entry: str) -> str:
    """The library an entry point belongs to."""
    return next(library for library, modules in LIBRARIES.items() if any(entry in names for names in modules.values()))
