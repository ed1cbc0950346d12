"""How assembly, set speeds and the solution of loops go on from one attempt to the next, on answers that are given to them."""

from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from kinetree.models.trace.symbolic_kernels import PlainKernels
from kinetree.solvers.layout import Status

KERNELS = PlainKernels(symbolic=False)
A, N, S, V, T, P, K = (
    KERNELS.module(f"kinetree.solvers.loops.{name}")
    for name in (
        "assembly",
        "nearest_assembly",
        "set_speeds",
        "constrained_accelerations",
        "baumgarte",
        "constraint_projection",
        "constraint_rank",
    )
)
FAILED = int(Status.INCONSISTENT)


def workspace(n: int = 2) -> SimpleNamespace:
    arrays = {
        name: np.zeros(n)
        for name in ("q", "u", "udot", "loop_u", "loop_r", "loop_lam", "loop_weight", "loop_mark")
    }
    return SimpleNamespace(
        **arrays,
        loop_q=np.zeros(3 * n),
        head=SimpleNamespace(item=-1, stabilised=0.0, carried=1.0, factored=0.0),
    )


def replace(patch: pytest.MonkeyPatch, module: ModuleType, **functions: object) -> None:
    for name, function in functions.items():
        patch.setattr(module, name, function)


def test_start_perturbation_is_reproducible(monkeypatch):
    """Numbers of a generator that is known (multiplier 1103515245, step 12345, modulus 2^31) between -1 and 1; what is held stays."""
    moved = []
    replace(
        monkeypatch,
        A,
        retract=lambda model, ws, change, scale: moved.append((change.tolist(), scale)),
    )
    model, ws = SimpleNamespace(u_held=np.array([0, 1, 2, 3])), workspace(4)
    seeds = [1]
    for _ in range(4):
        seeds.append((1103515245 * seeds[-1] + 12345) % 2**31)
    assert A.shake(model, ws, 1, 0.6) == seeds[-1]
    assert moved == [
        (
            [
                pytest.approx(0.6 * (seeds[1] / 2**30 - 1)),
                0.0,
                pytest.approx(0.6 * (seeds[3] / 2**30 - 1)),
                0.0,
            ],
            1.0,
        )
    ]


@pytest.mark.parametrize("works", [0, 1, 2, 5, 23, 24])
def test_assembly_relaxes_given_values_then_perturbs_guesses(works: int, monkeypatch):
    seen, shaken = [], []

    def close(model, ws, t):
        attempt = len(seen) - 1
        ws.head.item = 10 + attempt
        if attempt == works:
            return 0
        ws.q[:] = 99.0
        return FAILED

    replace(
        monkeypatch, A, close=close, weigh=lambda model, ws, bit, held: seen.append((bit, held, ws.q.tolist())),
        shake=lambda model, ws, seed, size: shaken.append((seed, size)) or seed + 1,
    )  # fmt: skip
    ws = workspace()
    ws.q[:] = 3.0, 4.0
    status = A.close_positions(None, ws, 0.0)
    count = min(works + 1, 24)
    assert seen == [(1, 1e-4 if k % 2 else 0.0, [3.0, 4.0]) for k in range(count)]
    assert shaken == [(1 + k, pytest.approx(0.2 * (k + 2))) for k in range(count - 2)]
    assert (status, ws.head.item) == (
        (0, 10 + works) if works < 24 else (FAILED, 11)
    ) and ws.q.tolist() == [3.0, 4.0]
    monkeypatch.setattr(A, "close", lambda model, ws, t: 5)
    assert A.close_positions(None, ws, 0.0) == 5


def test_given_start_speeds_change_only_if_necessary(monkeypatch):
    """Twenty corrections with them as they are, then twenty with them soft; what is closed, relative to the largest speed, ends it."""
    held: list[tuple[int, float]] = []
    residuals: list[float] = []

    def change(model, ws, damping, inertia, use):
        assert (damping, inertia, use) == (1e-10, False, A.ALL)
        ws.udot[:] = 1.0

    replace(
        monkeypatch, A, weigh=lambda model, ws, bit, weight: held.append((bit, weight)), place_loops=lambda model, ws, t: placed,
        velocity_residual=lambda model, ws: None, largest=lambda model, ws: residuals[0] if len(residuals) == 1 else residuals.pop(0),
        least_change=change,
    )  # fmt: skip

    def tried(
        given: list[float], start: float = 1.0
    ) -> tuple[int, list[float], list[tuple[int, float]]]:
        ws = workspace(1)
        ws.u[:], ws.loop_u[:], residuals[:], held[:] = start, start, given, []
        return A.close_speeds(None, ws, 0.0, 2), ws.u.tolist(), list(held)

    placed = 0
    assert tried([0.9e-13]) == (0, [1.0], [(2, 0.0)]) and tried([1.1e-13, 0.0]) == (
        0,
        [2.0],
        [(2, 0.0)],
    )
    assert tried([0.9e-11], 100.0) == (0, [100.0], [(2, 0.0)])
    assert tried([1.0]) == (FAILED, [1.0], [(2, 0.0), (2, 1e-4)])
    assert tried([1e-9] * 20 + [0.9e-10 * 21]) == (
        0,
        [21.0],
        [(2, 0.0)],
    )  # stalled where it counts as closed
    assert tried([1.0] * 21 + [0.5, 0.0]) == (0, [2.0], [(2, 0.0), (2, 1e-4)])
    placed = 6
    assert tried([1.0])[0] == 6


def test_nearest_assembly_follows_decreasing_distance(monkeypatch):
    """Steps of half a radian at most; what leads no nearer, or opens the loops, is taken back and tried by a quarter, to a thousandth."""
    moves: list[float] = []
    closed = [0]

    def retract(model, ws, change, scale):
        moves.append(scale)
        ws.q[:] += 1.0

    replace(
        monkeypatch, N, way_back=lambda model, ws, t: top, retract=retract, close=lambda model, ws, t: closed[min(len(moves), len(closed)) - 1],
        distance=lambda model, ws: 4.0, place_loops=lambda model, ws, t: 0,
    )  # fmt: skip
    ws, top = workspace(), 0.9e-11
    ws.loop_u[:] = 7.0
    assert N.slide_to_nearest(None, ws, 0.0) == 0 and not moves and ws.u.tolist() == [7.0, 7.0]
    top = 2.0  # two steps lead nearer, then none: by quarters until a thousandth is left
    monkeypatch.setattr(
        N,
        "distance",
        lambda model, ws: [4.0, 3.0, 3.0][min(int(ws.q[0]), 2)] if ws.q[0] < 2.5 else 9.0,
    )
    assert N.slide_to_nearest(None, ws, 0.0) == 0
    assert moves == [0.25, 0.25, 0.25, 0.25, 0.0625, 0.015625, 0.00390625] and ws.q.tolist() == [
        2.0,
        2.0,
    ]
    moves[:], ws.q[:], closed[:] = [], 0.0, [FAILED]
    assert N.slide_to_nearest(None, ws, 0.0) == 0 and len(moves) == 5 and not ws.q.any()
    moves[:], closed[:], top = [], [0], 0.1
    monkeypatch.setattr(N, "distance", lambda model, ws: 1.0)
    assert N.slide_to_nearest(None, ws, 0.0) == 0 and moves == [1.0] * N.SLIDES


def test_set_values_take_precedence_over_projection(monkeypatch):
    for loops, hold, mark, failing, expected in (
        (1, 1, 1, "", ["set_position", "set_velocity"]), (1, 0, 0, "", ["project_position", "project_velocity"]), (0, 0, 1, "", ["set_velocity"]),
        (1, 0, 1, "", ["project_position", "set_velocity"]), (0, 1, 0, "", []), (1, 1, 1, "set_position", ["set_position"]),
        (1, 0, 0, "project_position", ["project_position"]), (1, 1, 0, "project_velocity", ["set_position", "project_velocity"]),
    ):  # fmt: skip
        called: list[str] = []
        for name in ("set_position", "project_position", "set_velocity", "project_velocity"):
            answer = 3 if name == failing else 0
            monkeypatch.setattr(
                S,
                name,
                lambda model, ws, t, name=name, answer=answer, called=called: (
                    called.append(name) or answer
                ),
            )
        ws = SimpleNamespace(set_hold=np.array([0.0, hold]), set_mark=np.array([mark, 0.0]))
        assert (
            S.settle(SimpleNamespace(l_kind=np.zeros(loops)), ws, 0.0) == (3 if failing else 0)
            and called == expected
        )


def test_set_coordinates_are_kept_while_the_loops_close(monkeypatch):
    """A residual that no longer counts as closed is said, and of a coordinate that has moved its register."""
    looked = []
    replace(
        monkeypatch, S, look_at_loops=lambda model, ws, t, before: looked.append(before) or (status, worst, len(looked) > 2),
        least_change_with=lambda model, ws, marks, damping, use: steps.append((marks, damping, use)) or refused, retract=lambda model, ws, c, s: None,
    )  # fmt: skip
    model = SimpleNamespace(set_speed=np.array([0, 1]), header=SimpleNamespace(r_q=20))
    for status, worst, refused, to, off, expected in (
        (0, 0.9e-9, 0, 5.0, 4e-8, (0, -1)), (0, 1.1e-9, 0, 5.0, 0.0, (FAILED, -1)), (0, 0.0, 0, 5.0, 6e-8, (int(Status.CANNOT_SET), 21)),
        (0, 0.0, 0, 0.1, 0.9e-8, (0, -1)), (0, 0.0, 0, 0.1, -1.1e-8, (int(Status.CANNOT_SET), 21)), (4, 0.0, 0, 5.0, 0.0, (4, -1)),
        (0, 0.0, 8, 5.0, 0.0, (8, -1)),
    ):  # fmt: skip
        ws, steps = workspace(), []
        ws.set_want, ws.set_hold, ws.set_q = (
            np.full(2, 9.0),
            np.array([1.0, 0.0]),
            np.array([np.nan, to]),
        )
        ws.q[:] = 1.0, to + off
        looked[:] = []
        assert (S.set_position(model, ws, 0.0), ws.head.item) == expected
        assert (
            looked[:2] == [0.0, worst][: len(looked)]
            and all(step[1:] == (1e-9, S.PLACING) for step in steps)
            and not ws.set_want.any()
        )
        if not refused and not status:
            assert len(steps) == 2


def test_assembly_steps_damp_singular_directions(monkeypatch):
    """A squared sine s gets the part 1 - (blur/(s + blur))^6 of what it asks for."""
    model = SimpleNamespace(
        l_kind=np.zeros(2), l_row=np.array([0, 1, 3]), l_part=np.array([0, 4, 1])
    )
    ws = workspace(3)
    sines, scales = (
        np.array([1.0, 1e-8, 2e-9]),
        np.array([4.0, 9.0, 1.0]),
    )  # shift of the first group; turn and shift of the second
    ws.loop_scale = np.array([4.0, np.nan, 1.0, 9.0])
    ws.loop_r = np.array([2.0, -3.0, 5.0])

    def solve_factor(model, ws, x):
        x[:] /= scales * (sines + 1e-8)

    monkeypatch.setattr(V, "solve_factor", solve_factor)
    ws.loop_lam[:] = -ws.loop_r
    V.solve_filtered(model, ws)
    part = 1.0 - (1e-8 / (sines + 1e-8)) ** 6
    assert ws.loop_lam == pytest.approx(-part * ws.loop_r / (scales * sines), rel=1e-9)


def test_constrained_solution_steps_run_in_order(monkeypatch):
    """The factor serves where no angle is small; bodies without mass borrow and pay back; open loops are pulled; contacts hold after all."""
    order: list[str] = []

    def note(name: str, answer: object = 0):
        return lambda *arguments: order.append(name) or answer

    plain = {
        name: note(name)
        for name in (
            "lend",
            "apply_loads",
            "residual_at_rest",
            "spread_rows",
            "form_gram",
            "solve_factor",
            "solve_filtered",
        )
    }
    plain |= {
        name: note(name) for name in ("yield_to", "accelerate_all", "carry", "pull_closed")
    } | {"dec": note("dec"), "solve_contact_forces": note("contacts", 2)}
    replace(
        monkeypatch,
        V,
        **plain,
        repay=note("repay", 7),
        eliminate_all=note("eliminate_all"),
        factor=note("factor", 1.0),
    )
    before, after = (
        ["apply_loads", "eliminate_all", "residual_at_rest", "spread_rows", "form_gram", "factor"],
        ["yield_to", "accelerate_all"],
    )

    def steps(
        loops: int = 1, ghosts: int = 0, contacts: int = 0, stabilised: float = 0.0
    ) -> tuple[int, list[str], float]:
        order[:] = []
        ws = workspace()
        ws.head.stabilised = stabilised
        model = SimpleNamespace(
            l_kind=np.zeros(loops), ghosts=np.zeros(ghosts), c_law=np.zeros(contacts)
        )
        ws.loop_r[:] = 3.0, -4.0
        answer = V.accelerations_of(model, ws)
        assert ws.loop_lam.tolist() == (
            [-3.0, 4.0] if "factor" in order else [0.0, 0.0]
        )  # what the free tree does along the rows is taken back
        return answer, list(order), ws.head.factored

    assert steps() == (0, [*before, "solve_factor", *after], 1.0) and steps(loops=0) == (
        0,
        ["dec"],
        0.0,
    )
    assert steps(ghosts=1) == (7, ["lend", *before, "solve_factor", *after, "carry", "repay"], 1.0)
    assert steps(stabilised=1.0) == (
        0,
        [*before, "solve_factor", *after, "carry", "pull_closed"],
        1.0,
    )
    assert steps(contacts=1) == (2, [*before, "solve_factor", *after, "contacts"], 1.0) and steps(
        loops=0, contacts=1
    ) == (2, ["dec", "contacts"], 0.0)
    assert steps(ghosts=1, contacts=1)[1][-1] == "repay"
    for clear, filtered in ((1.1e-5, False), (0.9e-5, True), (0.0, True)):
        monkeypatch.setattr(V, "factor", note("factor", clear))
        expected = (
            [*before, "form_gram", "factor", "solve_filtered", *after]
            if filtered
            else [*before, "solve_factor", *after]
        )
        assert steps() == (0, expected, float(not filtered))
    monkeypatch.setattr(V, "eliminate_all", note("eliminate_all", 3))
    assert steps()[:2] == (3, ["apply_loads", "eliminate_all"])


def test_open_loops_are_closed_by_gap_and_gap_rate(monkeypatch):
    """-2 v/τ - g/τ² with 1/τ three times the rate of the motion; the multipliers that were there stay."""
    order: list[str] = []

    def fill(values: list[float], name: str):
        return lambda model, ws: order.append(name) or ws.loop_r.__setitem__(slice(None), values)

    replace(
        monkeypatch, T, rate_of_motion=lambda model, ws: 0.5, velocities=lambda model, ws: order.append("velocities"),
        position_residual=fill([2.0, -1.0], "gap"), velocity_residual=fill([3.0, 5.0], "rate"),
        solve_factor=lambda model, ws, x: x.__imul__(10.0), place_multipliers=lambda model, ws: order.append(f"place {ws.loop_lam.tolist()}"),
        respond=lambda model, ws: order.append("respond"),
    )  # fmt: skip
    ws = workspace()
    ws.loop_lam[:], ws.loop_free = [7.0, 8.0], np.zeros(2)
    T.pull_closed(None, ws)
    pulled = [10.0 * (-2.25 * 2.0 - 3.0 * 3.0), 10.0 * (2.25 - 3.0 * 5.0)]
    assert order == [
        "velocities",
        "gap",
        "rate",
        f"place {pulled}",
        "respond",
    ] and ws.loop_lam.tolist() == [7.0 + pulled[0], 8.0 + pulled[1]]


def test_near_projection_reuses_factor(monkeypatch):
    for known, positions, speeds in ((1, 1, 1), (0, 1, 1), (1, 0, 1), (1, 1, 0)):
        answers = {"familiar": known, "positions_near": positions, "speeds_near": speeds}
        replace(
            monkeypatch,
            P,
            project=lambda model, ws, t: 9,
            **{name: lambda *_, said=said: bool(said) for name, said in answers.items()},
        )
        assert P.project_near(None, None, 0.0) == (0 if known and positions and speeds else 9)
    monkeypatch.undo()
    for first, second, expected in ((0, 0, (0, 2)), (4, 0, (4, 1)), (0, 5, (5, 2))):
        calls: list[str] = []
        replace(
            monkeypatch, P, project_position=lambda model, ws, t, a=first, c=calls: c.append("q") or a,
            project_velocity=lambda model, ws, t, a=second, c=calls: c.append("u") or a,
        )  # fmt: skip
        assert (P.project(None, None, 0.0), len(calls)) == expected


def test_dead_points_are_detected(monkeypatch):
    """Of two groups on bodies of one and two speeds; what a group does not feel does not count."""
    monkeypatch.setattr(K, "spread_rows", lambda model, ws, metric: None)
    model = SimpleNamespace(
        l_kind=np.zeros(2), l_row=np.array([0, 2, 3]), l_at=np.array([0, 2, 3]), l_body=np.array([1, 2, 2]), u_at=np.array([0, 0, 1, 3]),
        l_x=np.array([0, 2, 6]),
    )  # fmt: skip
    x = np.array(
        [0.0, 1.0, 1.0, 0.0, 0.9e-11, 0.9e-11, 1.0, -1.0]
    )  # group 0: speed 0, 1, not 2; group 1: speeds 1 and 2
    for marks, row in (
        ((0, 0, 0), None),
        ((1, 0, 0), 0),
        ((1, 2, 0), None),
        ((1, 0, 2), 0),
        ((0, 1, 2), 0),
        ((2, 1, 0), 2),
        ((2, 0, 1), 2),
        ((2, 2, 1), None),
    ):
        ws = SimpleNamespace(
            loop_x=x, loop_mark=np.array(marks, float), head=SimpleNamespace(item=-1)
        )
        assert (K.dead_point(model, ws), ws.head.item) == (
            (0, -1) if row is None else (int(Status.DEAD_POINT), row)
        ), marks


@pytest.mark.parametrize("n", [-1, 0, 1])
def test_impulses_along_set_speeds_satisfy_constraints(n: int, monkeypatch):
    """A unit along one of them, whose answer without constraints is kept, or all that were found; multipliers by what the rows say against it."""

    def respond(model, ws):
        pushed.append([*ws.push, *ws.push_u])
        ws.udot += ws.push_u

    def residual(model, ws):
        ws.loop_r[:] = 10.0 * ws.udot[:2]

    def place(model, ws):
        ws.push[:], ws.push_u[:] = 0.0, [*ws.loop_lam, 0.0]

    replace(
        monkeypatch, S, forget_bias=lambda model, ws: ws.udot.__imul__(0.0), respond=respond, acceleration_residual=residual, place_multipliers=place,
        solve_factor=lambda model, ws, x: x.__imul__(0.5), forget_debts=lambda ws: paid.append(0), repay=lambda m, w: paid.append(1),
    )  # fmt: skip
    for loops, ghosts in ((0, 0), (1, 0), (1, 1)):
        model = SimpleNamespace(
            set_speed=np.array([2, 0]), l_kind=np.zeros(loops), ghosts=np.zeros(ghosts)
        )
        ws, paid, pushed = workspace(3), [], []
        ws.loop_r, ws.loop_lam = np.zeros(2), np.full(2, 9.0)
        ws.push, ws.push_u, ws.set_lam, ws.set_own = (
            np.full(6, 9.0),
            np.full(3, 9.0),
            np.array([7.0, 8.0]),
            np.full(2, 9.0),
        )
        ws.set_rest = np.array([1.0, 2.0])
        S.answer(model, ws, n)
        own = {-1: [8.0, 0.0, 7.0], 0: [0.0, 0.0, 1.0], 1: [1.0, 0.0, 0.0]}[n]
        lam = [0.5 * (1.0 - 10.0 * own[0]), 0.5 * (2.0 - 10.0 * own[1])]
        assert pushed == [[0.0] * 6 + own] + [[0.0] * 6 + [*lam, 0.0]] * loops
        assert (
            ws.set_own.tolist() == {-1: [9.0, 9.0], 0: [1.0, 9.0], 1: [9.0, 1.0]}[n]
            and paid == [0, 1] * ghosts
        )
        assert ws.udot.tolist() == ([own[0] + lam[0], own[1] + lam[1], own[2]] if loops else own)
