"""Names of all entry points, in the order of their positions in the library.

Every entry has the signature (ints, floats, work, option, t) -> status; arguments and results are fields of the workspace.
"""

ENTRIES = (
    "prepare",  # parameters -> derived constants; initial registers must be in place
    "accelerations",  # q, u, x, inputs, extra -> udot, xdot, outputs; option = method
    "outputs",  # as accelerations, with reactions and energy
)
