"""What kinds of joint elements have in common, as kernels."""

from kinetree.solvers.kernel import kernel
from kinetree.solvers.layout import Element


@kernel
def has_quaternion(kind):
    """Whether an element turns by a quaternion."""
    return kind == Element.BALL or kind == Element.FREE or kind == Element.BALL_BACK


@kernel
def is_constant(kind):
    """Whether nothing moves an element."""
    return kind == Element.SHIFT or kind == Element.ROTATE


@kernel
def is_given(kind):
    """Whether a given function of time moves an element."""
    return kind == Element.SHIFT_T or kind == Element.ROTATE_T
