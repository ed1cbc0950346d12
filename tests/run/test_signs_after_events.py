"""Signs of guards of known laws where a motion goes on after the actions of events: by value, by rate, by verdict."""

import math

import pytest
from known_guards import G, Law, Locator, one
from plain_kernels import plain

from kinetree.solvers.layout import Status

R, C = plain("events.event_handling"), plain("integrate.controller")


def resumed(
    locator: Locator,
    t: float,
    met: float | list[float],
    noise: float | list[float] = 0.0,
    next_step: float = 1.0,
) -> int:
    """Go on at t with a state that is the time."""
    locator.mem[C.T_NEW], locator.mem[C.H_NEXT] = t, next_step
    C.block(locator.mem, C.Y_NEW)[:], C.block(locator.mem, C.F_NEW)[:] = t, 1.0
    locator.part("verdict")[:], locator.part("noise")[:] = met, noise
    return R.resume_signs(locator.ev, locator.guards, None, locator.mem)


# law, met, noise, state, band, sign -> sign, state, band, value; at t = 2 with a next step of 1
ON, AWAY = 1e-9, 0.5
RESUMED: list[tuple[tuple, tuple]] = [
    ((lambda t: AWAY, 0, 0.0, 0.0, 0.1, -1.0), (1, 0, 0.1, AWAY)),
    ((lambda t: -AWAY, 0, 9.0, 0.0, 0.1, 1.0), (-1, 0, 0.1, -AWAY)),
    ((lambda t: -AWAY, 0, 9.0, 0.0, 0.5, 1.0), (1, 0, 0.5, -AWAY)),
    ((lambda t: -AWAY, 0, 9.0, G.LEAVING, 0.1, 1.0), (1, G.LEAVING, 0.1, -AWAY)),
    ((lambda t: -AWAY, 0, 0.1, G.LEAVING, 9.0, 1.0), (1, G.LEAVING, 9.0, -AWAY)),
    ((lambda t: -AWAY, 0, 0.1, G.LEAVING, 0.2, 1.0), (-1, G.LEAVING, 0.2, -AWAY)),
    ((lambda t: AWAY, G.EVALUATED_FALSE, 0.0, G.LEAVING, 0.2, 1.0), (-1, 0, 0, AWAY)),
    ((lambda t: AWAY, G.FORCED_OPEN, 0.7, 0.0, 0.2, 1.0), (-1, G.LEAVING, 0.7, 0)),
    ((lambda t: AWAY, 1, 0.1, G.LEAVING, 0.2, -1.0), (1, 0, 0, AWAY)),
    ((lambda t: -AWAY, 1, 0.1, G.LEAVING, 0.2, 1.0), (-1, 0, 0, -AWAY)),
    ((lambda t: ON + t - 2.0, 1, 2 * ON, 0.0, 0.2, -1.0), (1, G.LEAVING, 2 * ON, 0)),
    ((lambda t: ON - (t - 2.0), 1, 2 * ON, 0.0, 0.2, 1.0), (-1, G.LEAVING, 2 * ON, 0)),
    ((lambda t: -ON + t - 2.0, 1, 2 * ON, 0.0, 0.2, -1.0), (1, G.LEAVING, 2 * ON, 0)),
    ((lambda t: -ON - (t - 2.0), 1, 2 * ON, 0.0, 0.2, -1.0), (-1, G.LEAVING, 2 * ON, 0)),
    ((lambda t: ON, 1, 2 * ON, G.LEAVING, 0.2, -1.0), (0, 1, 2 * ON, 0)),
    ((lambda t: 1.9e-11 * 3.0 + 3.0 * (t - 2.0), 1, 0.0, 0.0, 0.2, -1.0), (1, G.LEAVING, 1.9e-11 * 6.0, 0)),
    ((lambda t: 2.1e-11 * 3.0 - 3.0 * (t - 2.0), 1, 0.0, 0.0, 0.2, -1.0), (1, 0, 0, 2.1e-11 * 3.0)),
]  # fmt: skip


@pytest.mark.parametrize("row", range(len(RESUMED)))
def test_guard_signs_after_event_actions(row):
    """What nothing has met keeps its sign on its bound; what has happened goes where its rate takes it, unless the actions have moved it away."""
    (law, met, noise, state, band, sign), expected = RESUMED[row]
    locator = Locator(law, one, begin=1.0, end=2.0)
    for name, number in {"phase": state, "band": band, "sign": sign}.items():
        locator.part(name)[:] = number, 0.0
    locator.part("mark")[:] = 1.0
    locator.ev.slopes_at = 2.0
    assert resumed(locator, 2.0, [float(met), 0.0], noise) == 0
    found = [locator.part(block)[0] for block in ("sign", "phase", "band", G.VALUE)]
    assert found == pytest.approx(expected, rel=1e-5, abs=1e-15)
    assert [locator.part(block)[1] for block in ("sign", "phase", "band", G.VALUE)] == [1, 0, 0, 1]
    assert (
        not locator.part("mark").any()
        and locator.ev.checked == 2.0
        and locator.ev.slopes_at == -math.inf
    )
    assert (
        locator.ev.calls
        == len(locator.asked)
        == (1 if met in (0, G.EVALUATED_FALSE) else 3 if len(set(map(law, (2.0, 2.1)))) > 1 else 11)
    )


@pytest.mark.parametrize(
    "t, step, border", [(5.0, 1.0, 5e-11), (0.5, 40.0, 4e-10), (4e5, 1.0, 1.441e-7)]
)
def test_time_resolution_follows_time_and_next_step(t, step, border):
    for part, state in ((0.9, G.LEAVING), (1.1, 0.0)):
        locator = Locator(lambda s, part=part: part * border - (s - t), begin=0.0, end=t)
        assert (
            resumed(locator, t, 1.0, 0.0, step) == 0
            and locator.part("phase") == state
            and locator.part("sign") == (-1.0 if state else 1.0)
        )


def test_undefined_guards_after_an_event_are_a_failure():
    failing = Locator(one, fails_after=0.5, begin=0.0, end=1.0)
    assert resumed(failing, 1.0, 1.0) == Status.NOT_A_NUMBER and len(failing.asked) == 1


def rates(
    law: Law, met: float = 1.0, fails_after: float = math.inf
) -> tuple[list[float], list[float]]:
    """Rates of a guard, and of one that rises by 2, at t = 1 with a next step of 2; distances at which they were asked for."""
    locator = Locator(law, lambda t: 2.0 * t, begin=1.0, end=2.0, fails_after=fails_after)
    locator.mem[C.T_NEW], locator.mem[C.H_NEXT] = 1.0, 2.0
    C.block(locator.mem, C.Y_NEW)[:], C.block(locator.mem, C.F_NEW)[:] = 1.0, 1.0
    locator.part(G.SLOPE_A)[:] = 9.0
    locator.part("verdict")[:] = met, 1.0
    R.estimate_guard_rates(locator.ev, locator.guards, None, locator.mem)
    return locator.part(G.SLOPE_A).tolist(), [t - 1.0 for t in locator.asked]


D = 2e-3  # the first distance: 1e-3 of the next step


def test_one_sided_rates_converge():
    found, asked = rates(lambda t: 5.0 - 3.0 * (t - 1.0))
    assert found == pytest.approx([-3.0, 2.0]) and asked == pytest.approx([D, D / 2])
    found, asked = rates(lambda t: 5.0 - 3.0 * (t - 1.0), met=0.0)
    assert found == pytest.approx([0.0, 2.0]) and asked == pytest.approx([D, D / 2])
    late = 1.0 + 5.0 * D
    found, asked = rates(lambda t: max(0.0, t - late))
    assert found == pytest.approx([11 / 16, 2.0]) and asked == pytest.approx(
        [D, D / 2, 32 * D, 16 * D]
    )
    found, asked = rates(lambda t: (t - 1.0) ** 2)
    assert found == pytest.approx([0.0, 2.0]) and asked == pytest.approx(
        [part * D * 32**k for k in range(5) for part in (1.0, 0.5)]
    )
    found, asked = rates(lambda t: (t - 1.0) ** 2, fails_after=1.0 + 20 * D)
    assert found == pytest.approx([0.0, 2.0]) and asked == pytest.approx([D, D / 2, 32 * D])
    found, asked = rates(lambda t: (t - 1.0) ** 2, fails_after=1.0 + 0.7 * D)
    assert found == [0.0, 0.0] and len(asked) == 1


@pytest.mark.parametrize(
    "near, steady", [(0.65, False), (0.68, True), (1.48, True), (1.52, False), (-1.0, False)]
)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_guard_rates_agree_within_half(near, steady, sign):
    found, _ = rates(
        lambda t: (
            sign * (1.0 if t - 1.0 > 0.75 * D else near) * (t - 1.0) if t < 1.0 + 2 * D else 0.0
        )
    )
    assert found == pytest.approx([sign * near if steady else 0.0, 2.0])
