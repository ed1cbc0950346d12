"""Registry of joint elements: each file of this folder declares one kind.

Codes, flags, the dispatch of kernels, `layout.Element`, the page of records and the parameters of tests come from the registry. A new element is one
file here, its kernels (`solvers/elements`), and what descriptions do with it (`models/joints/moves`). Nothing here imports numba.
"""

from importlib import import_module
from pkgutil import iter_modules
from typing import NamedTuple


class Kind(NamedTuple):
    """The declaration of a kind of joint element without its kernels: name, code, numbers of
    coordinates and speeds.
    """

    name: str
    code: int  # stands in payloads: never given twice, never changed; says nothing else
    says: str
    kernels: str  # in solvers/elements, as module.NAME
    coordinates: int = 0
    speeds: int = 0
    given: bool = False  # moved by a given function of time: amount, rate and second rate
    shifts: bool = False  # it can move the origin of what comes after it
    turns: bool = False  # it can turn what comes after it
    quaternion: int = -1  # place of a unit quaternion among its coordinates; none: -1
    back: str = ""  # the kind that takes its place in a joint used from child to parent; none: such a joint is refused
    whole: str = (
        ""  # the pattern of the fast path where it ends a joint of constants (`layout.Joint`)
    )
    pure: bool = False  # what it moves is at rest at the origin after it: columns are rotations where it ends a joint

    @property
    def constant(self) -> bool:
        """Return whether the element has neither a coordinate nor a prescribed motion."""
        return not self.coordinates and not self.given

    @property
    def plain(self) -> bool:
        """Return whether the speeds of the element are the time derivatives of its coordinates."""
        return self.coordinates == self.speeds


def found() -> tuple[Kind, ...]:
    """Return all kinds of joint elements in the order of their codes."""
    kinds: list[Kind] = [
        import_module(f"{__name__}.{module.name}").KIND for module in iter_modules(__path__)
    ]
    codes = [kind.code for kind in kinds]
    if (
        len(set(codes)) < len(codes) or min(codes) < 0 or max(codes) > 62
    ):  # sets of codes are bits of a word
        raise ValueError(
            f"two elements have one code, or a code is none of 0 to 62: {sorted(codes)}"
        )
    return tuple(sorted(kinds, key=lambda kind: kind.code))


KINDS = found()
BY_CODE = {kind.code: kind for kind in KINDS}
BY_NAME = {kind.name: kind for kind in KINDS}
