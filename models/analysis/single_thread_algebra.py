"""Single-threaded linear algebra: the matrices of a mechanism have some hundred rows, for which
starting and joining threads takes longer than the work.
"""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import ParamSpec, TypeVar

from threadpoolctl import ThreadpoolController

P = ParamSpec("P")
R = TypeVar("R")


@lru_cache(maxsize=1)
def thread_controller() -> ThreadpoolController:
    """Return the thread-limit controller of the linear algebra libraries."""
    import scipy.linalg  # noqa: F401  has one of its own

    return ThreadpoolController()


def in_one_thread(function: Callable[P, R]) -> Callable[P, R]:
    """Return the function, run with linear algebra limited to one thread."""

    @wraps(function)
    def limited(*args: P.args, **kwargs: P.kwargs) -> R:
        with thread_controller().limit(limits=1, user_api="blas"):
            return function(*args, **kwargs)

    return limited
