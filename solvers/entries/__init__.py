"""Entry points: every one has the signature (ints, floats, work, option, t) -> status; arguments and results are fields of the workspace."""
from collections.abc import Callable

NAMES = ("prepare", "accelerations", "outputs")


def entries() -> dict[str, Callable]:
    """All entry points by name (imports numba)."""
    from kinetree.solvers.entries import evaluate

    return {name: getattr(evaluate, name) for name in NAMES}
