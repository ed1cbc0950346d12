"""Linear multi-mass chains by the numerical-analytical matrix method; the names below are loaded on first use (numba is not imported before)."""

from importlib import import_module

_HOMES = {
    "matrices": "dense_matrices",
    "simulate": "chain_motion",
    "scale": "coefficients",
    "ChainError": "coefficients",
    "Springs": "coefficients",
    "generate": "doubling",
    "simulate_varying": "varying_coefficients",
    "simulate_piecewise": "piecewise_linear",
    "Element": "piecewise_linear",
    "slack": "piecewise_linear",
    "stop": "piecewise_linear",
    "linear_chain": "constant_step_unit",
    "advance": "constant_step_unit",
    "largest_step": "excitation",
    "choose": "series_order",
    "optimum": "series_order",
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
