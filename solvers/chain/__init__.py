"""Linear multi-mass chains by the numerical-analytical matrix method; the names below are loaded on first use (numba is not imported before)."""

from importlib import import_module

_HOMES = {
    "matrices": "assembly",
    "simulate": "motion",
    "scale": "coefficients",
    "ChainError": "coefficients",
    "Springs": "coefficients",
    "generate": "doubling",
    "simulate_varying": "varying",
    "simulate_piecewise": "piecewise",
    "Element": "piecewise",
    "slack": "piecewise",
    "stop": "piecewise",
    "linear_chain": "unit",
    "advance": "unit",
    "largest_step": "excitation",
    "choose": "choice",
    "optimum": "choice",
    "cheaper_than_runge_kutta": "costs",
    "operations": "costs",
}
__all__ = sorted(_HOMES)


def __getattr__(name: str):
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
