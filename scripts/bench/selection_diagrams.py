"""Selection diagrams: the cheapest form over number of branches and their length, predicted by operations and measured by time.

A first body carries equal branches; all joints of a tree have 1, 2, 3 or 4 degrees of freedom.
Forms that need many times the operations of the cheapest one are not timed.
"""

from kinetree.scripts.bench import dynamics_kinetree as own
from kinetree.scripts.bench import dynamics_trees as trees

GRID = (1, 2, 3, 5, 8, 13, 20)
MOST_BODIES = 265  # on the diagrams
HOPELESS = 6.0


def diagram(joint: str, grid: tuple[int, ...] = GRID) -> list[dict]:
    """Return the points of the selection diagram of a kind of joint."""
    return [
        point(joint, branches, length)
        for branches in grid
        for length in grid
        if branches * length < MOST_BODIES
    ]


def point(joint: str, branches: int, length: int) -> dict:
    """Return operation counts and times of all forms for one tree; times include the kinematics."""
    case = trees.branched(joint, branches, length)
    system = trees.system(case)
    predicted = system.costs()
    limit = HOPELESS * min(flops for name, flops in predicted.items())
    methods = [name for name, flops in predicted.items() if flops <= limit]
    measured = own.measure(own.Forms(system), methods, rounds=20).us
    return {
        "joint": joint,
        "freedoms": trees.JOINTS[joint],
        "branches": branches,
        "length": length,
        "predicted": predicted,
        "measured": measured,
    }


def winners(points: list[dict], kind: str, literal: bool) -> dict[tuple[int, int], str]:
    """Return the cheapest form by (branches, length); `literal` leaves out the engine's own form."""
    found = {}
    for each in points:
        costs = {
            name: cost
            for name, cost in each[kind].items()
            if not (literal and name == "DEC") and name in each["measured"]
        }
        found[each["branches"], each["length"]] = min(costs, key=costs.__getitem__)
    return found


def judgement(points: list[dict], literal: bool) -> dict:
    """Return how often the prediction names the fastest form, and how many times slower the
    predicted form is than the fastest (mean and largest).
    """
    predicted, measured = (
        winners(points, "predicted", literal),
        winners(points, "measured", literal),
    )
    times = {(each["branches"], each["length"]): each["measured"] for each in points}
    loss = [times[at][predicted[at]] / times[at][measured[at]] for at in predicted]
    agree = sum(predicted[at] == measured[at] for at in predicted) / len(predicted)
    return {"agree": agree, "largest_loss": max(loss), "mean_loss": sum(loss) / len(loss)}
