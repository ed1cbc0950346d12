"""The parts of the search for events on laws of time that are known: where each of them looks, and what it tells."""

import itertools
import math

import numpy as np
import pytest
from known_guards import E, G, Law, Locator, S, one
from unit_stand_in import entries

from kinetree.solvers import unit_layout as U
from kinetree.solvers.layout import Status

THIRD = 0.8 / 3


def ramp(root: float, slope: float = -1.0) -> Law:
    return lambda t: slope * (t - root)


def bowl(t: float) -> float:
    """Below zero between 0.6 and 0.8."""
    return (t - 0.6) * (t - 0.8)


def test_locator_starts_cleared_with_slopes_watched():
    """Head, records, vectors and one state fill the memory; what is not set is zero."""
    ev = U.LOCATOR.of(np.full(G.locator_size(3, 5), np.nan))
    E.start_locator(ev, 3, 5)
    assert (ev.guards, ev.states, ev.chatter_interval, ev.chatter_count) == (3, 5, 1e-7, 5)
    assert entries(ev, "watch").tolist() == [1.0] * 3
    assert entries(ev, "last_time").tolist() == [-math.inf] * 3
    entries(ev, "watch")[:] = entries(ev, "last_time")[:] = 0.0
    ev.guards, ev.states, guards = 0.0, 0.0, ev.guards
    ev.chatter_interval = ev.chatter_count = 0.0
    assert not ev.block.any()
    ev.guards, ev.states = guards, 5
    vectors = [G.guard_values(ev, j) for j in range(G.BLOCKS)] + [G.trial_state(ev)]
    assert [vector.size for vector in vectors] == [3] * G.BLOCKS + [5]
    for k, vector in enumerate(vectors):
        vector[:] = k + 1.0
    assert [set(vector) for vector in vectors] == [{k + 1.0} for k in range(len(vectors))]
    assert not entries(ev, "sign").any() and ev.block[-5:].tolist() == [6.0] * 5


# value, fired, band, direction -> sign, arm, band; at another instant than that of the last event, and at the same
FRESH = [
    ((0.5, 0, 0.6, 0), (1, 0, 0)), ((-0.5, 0, 0.6, 1), (-1, 0, 0)), ((0.0, 0, 0.6, 1), (-1, G.LEAVING, 0)), ((0.0, 0, 0.6, -1), (1, G.LEAVING, 0)),
    ((0.0, 0, 0.6, 0), (0, 1, 0)), ((0.2, 1, 0.3, 1), (1, 0, 0)), ((0.0, -1, 0.3, 1), (-1, G.LEAVING, 0)),
]  # fmt: skip
RECENT = [
    ((0.2, 1, 0.3, 1), (0, 1, 0.3)), ((-0.2, -1, 0.3, 0), (0, 1, 0.3)), ((0.4, 1, 0.3, 1), (1, 0, 0.3)), ((-0.4, 1, 0.3, 1), (-1, 0, 0.3)),
    ((0.3, 1, 0.3, 1), (0, 1, 0.3)), ((0.0, 1, 0.0, 1), (0, 1, 0.0)), ((0.2, 0, 0.3, 1), (1, 0, 0)), ((0.0, 0, 0.3, 1), (-1, G.LEAVING, 0)),
]  # fmt: skip


@pytest.mark.parametrize("rows, last", [(FRESH, 1.5), (RECENT, 2.0)])
def test_guard_signs_at_start_and_after_events(rows, last):
    given, expected = zip(*rows, strict=True)
    value, fired, band, direction = np.array(given, dtype=float).T
    locator = Locator(*[(lambda t, each=each: each) for each in value])
    locator.part("mark")[:], locator.part("band")[:], locator.part("direction")[:] = (
        fired,
        band,
        direction,
    )
    locator.ev.event_time, locator.ev.slopes_at = last, 2.0
    assert E.reset_signs(locator.ev, locator.guards, None, 2.0, np.array([2.0])) == 0
    assert (
        np.array([locator.part("sign"), locator.part("phase"), locator.part("band")]).T.tolist()
        == np.array(expected, dtype=float).tolist()
    )
    assert (
        not locator.part("mark").any()
        and locator.ev.checked == 2.0
        and locator.ev.calls == 1
        and locator.ev.slopes_at == -math.inf
    )
    assert locator.part(G.VALUE).tolist() == value.tolist()


def test_start_with_undefined_guards_is_refused():
    locator = Locator(one, fails_after=-1.0)
    locator.part("sign")[:] = 7.0
    assert (
        E.reset_signs(locator.ev, locator.guards, None, 0.5, np.array([0.5])) == Status.NOT_A_NUMBER
        and locator.part("sign") == 7.0
    )


@pytest.mark.parametrize("watch, ends", [((0, 0), 1), ((0, 1), 1), ((2, 1), 2), ((1, 3), 3)])
def test_guard_sampling_points_of_a_step(watch, ends):
    """At the ends of as many parts as are asked for at most, near them for slopes if any guard is watched, and inside of the first one."""
    locator = Locator(one, ramp(3.0))
    locator.part("watch")[:] = watch
    assert E.locate_event(*locator.how, 0.8) == 0 and locator.ev.calls == len(locator.asked)
    for k in range(ends):
        assert min(abs(t - 0.8 * (k + 1) / ends) for t in locator.asked) < 1e-15
    assert len(locator.asked) == (2 * ends + 5 if any(watch) else ends)
    assert locator.ev.checked == 0.8 and locator.part(G.VALUE) == pytest.approx([1.0, 2.2])
    looks = len(locator.asked)
    assert E.locate_event(*locator.how, 0.8) == 0 and len(locator.asked) == looks
    if watch[1]:
        slopes = locator.part(G.SLOPE_A), locator.part(G.SLOPE_B)
        assert slopes == (pytest.approx([0.0, -1.0]), pytest.approx([0.0, -1.0]))


def test_whole_step_is_searched_only_with_guards():
    locator = Locator(one)
    assert E.locate_event(*locator.how, 5.0) == 0 and locator.ev.checked == 1.0
    empty = Locator()
    assert E.locate_event(*empty.how, 0.5) == 0 and not empty.asked and empty.ev.checked == 0.0


def test_undefined_guard_ends_search():
    locator = Locator(ramp(0.9), fails_after=0.5)
    assert (
        E.locate_event(*locator.how, 1.0) == Status.NOT_A_NUMBER
        and locator.ev.failed == 0.0
        and locator.ev.checked == 0.0
    )
    locator.fails_after = math.inf
    assert E.locate_event(
        *locator.how, 1.0
    ) == Status.EVENT and locator.ev.event_time == pytest.approx(0.9, abs=2e-13)


ROOTS: dict[
    str, tuple[Law, float, float, int]
] = {  # law, its root with the noise 0.001, without; evaluations at most
    "line": (lambda t: 0.3 - t, 0.301, 0.3, 2),
    "cubic": (lambda t: 0.008 - t**3, 0.009 ** (1 / 3), 0.2, 21),
    "flat": (lambda t: (0.7 - t) ** 5, 0.7 + 0.001**0.2, 0.7, 118),
    "steep": (lambda t: math.tanh(1e4 * (0.45 - t)), 0.45 + math.atanh(0.001) / 1e4, 0.45, 28),
    "jump": (lambda t: 1.0 if t <= 0.625 else -5.0, 0.625, 0.625, 65),
    "late": (lambda t: 1e-9 if t < 0.9 else 0.9 - t + 1e-9, 0.901 + 1e-9, 0.9 + 1e-9, 98),
}


@pytest.mark.parametrize(
    "name, sign, noise", list(itertools.product(ROOTS, (1.0, -1.0), (0.0, 0.001)))
)
def test_located_root_lies_beyond_crossing_within_tolerance(name, sign, noise):
    """1e-13 of the step or of time; bisection alone would take 43 evaluations, which steps that look for more may treble at worst."""
    law, exact, most = ROOTS[name][0], ROOTS[name][1 if noise else 2], ROOTS[name][3]
    locator = Locator(lambda t: 2.0 * t, lambda t: sign * law(t))
    b = S.find_root(*locator.how, 1, sign, 0.0, sign * law(0.0), 1.0, sign * law(1.0), noise)
    assert sign * locator.at(b)[1] < -noise and abs(b - exact) < 1.01e-13 + 3e-16
    assert len(locator.asked) <= most


@pytest.mark.parametrize("begin, step", [(0.0, 1.0), (7.3, 1e-3), (123.4, 0.02)])
def test_an_instant_that_time_alone_tells_needs_three_evaluations(begin: float, step: float):
    """A guard that is linear in time is exactly zero at its root, more often than not: what lies behind is looked at, not the middle."""
    for part in np.linspace(0.01, 0.99, 50):
        root, end = begin + part * step, begin + step
        locator = Locator(ramp(root), begin=begin, end=end)
        b = S.find_root(*locator.how, 0, 1.0, begin, root - begin, end, root - end, 0.0)
        assert 0.0 < b - root < 1e-13 * max(step, min(end, 1.0)) + 4e-15 * end
        assert len(locator.asked) <= 3


@pytest.mark.parametrize(
    "begin, end, tolerance", [(0.0, 1000.0, 1e-10), (1e6, 1e6 + 1.0, 1e-7), (0.0, 1e-3, 1e-16)]
)
def test_root_tolerance_follows_step_and_time_resolution(begin, end, tolerance):
    middle = begin + 0.37 * (end - begin)
    locator = Locator(lambda t: (middle - t) * (2.0 + math.sin(t)), begin=begin, end=end)
    b = S.find_root(*locator.how, 0, 1.0, begin, locator.at(begin)[0], end, locator.at(end)[0], 0.0)
    assert 0.0 <= b - middle <= 1.01 * tolerance and len(locator.asked) < 30
    locator = Locator(ramp(0.3), fails_after=-1.0)
    assert (
        S.find_root(*locator.how, 0, 1.0, 0.0, 0.3, 1.0, -0.7, 0.0) == 1.0
        and len(locator.asked) == 1
    )


def test_leaving_guard_is_bisected():
    locator = Locator(one, lambda t: 1.0 if 0.2 < t < 0.35 else 0.25)
    for sign, noise, found, asked in (
        (1.0, 0.5, 0.25, 2),
        (1.0, 0.25, 0.25, 2),
        (1.0, 0.2, 0.5, 1),
        (-1.0, 0.0, 0.0, 50),
    ):
        locator.asked.clear()
        assert S.find_departure(
            *locator.how, 1, sign, 0.0, 1.0, noise
        ) == found and locator.asked == [0.5 ** (k + 1) for k in range(asked)]
    failing = Locator(one, fails_after=0.3)
    assert S.find_departure(*failing.how, 0, 1.0, 0.0, 1.0, 2.0) == 0.0 and failing.asked == [0.5]
    late = Locator(lambda t: -1.0, begin=3.0, end=4.0)
    assert (
        S.find_departure(*late.how, 0, 1.0, 3.0, 4.0, 0.0) == 3.0
        and late.asked[0] == 3.5
        and min(late.asked) > 3.0
    )


def test_guard_slopes_at_step_start_are_computed_once():
    locator = Locator(lambda t: 3.0 * t * t, begin=2.0, end=4.0)
    S.compute_start_slopes(*locator.how, 2.0, 4.0)
    d = 2e-4
    assert (
        locator.asked == [2.0 + d]
        and locator.part(G.SLOPE_B) == pytest.approx([12.0 + 3.0 * d], rel=1e-10)
        and locator.ev.slopes_at == 2.0
    )
    S.compute_start_slopes(*locator.how, 2.0, 4.0)
    assert len(locator.asked) == 1


A = 1.0 / math.pi
BENT: list[tuple[Law, float]] = [
    (
        lambda t: 1.0 - 0.66 * t * t,
        1.0,
    ),  # off its chord in the middle by c/4; half of the lower end is (1 - c)/2: c = 2/3
    (lambda t: 1.0 - 0.67 * t * t, 0.5),
    (lambda t: 0.66 * t * t - 1.0, 1.0),
    (lambda t: 0.67 * t * t - 1.0, 0.5),
    (
        lambda t: 1.0 + 0.98 * A * math.sin(2 * math.pi * t),
        1.0,
    ),  # on its chord in the middle, off its tangent by pi times the swing
    (lambda t: 1.0 + 1.02 * A * math.sin(2 * math.pi * t), 0.5),
    (
        lambda t: 1.0 - 1.5 * t + 0.98 * A * math.sin(2 * math.pi * t),
        1.0,
    ),  # it crosses: against the larger end
    (lambda t: 1.0 - 1.5 * t + 1.02 * A * math.sin(2 * math.pi * t), 0.25),
    (lambda t: 0.5 - 1.5 * t + 0.98 * A * math.sin(2 * math.pi * t), 1.0),
    (lambda t: 0.5 - 1.5 * t + 1.02 * A * math.sin(2 * math.pi * t), 0.25),
    (lambda t: 1.0 if t == 0.0 else -1.0, 2.0**-10),
    (lambda t: 1.0 if t in (0.0, 1.0) else 1.0 - 2.0 * math.sin(math.pi * t), 0.5),
]


@pytest.mark.parametrize("law, reached", BENT)
def test_stiff_guards_are_searched_in_linear_pieces(law, reached):
    locator = Locator(law, one)
    locator.part("sampled")[:] = 1.0, 0.0
    locator.part(G.AT_B)[:] = locator.at(1.0)
    assert S.shrink_to_nearly_linear(*locator.how, 0.0, 1.0) == reached
    assert locator.part(G.AT_B).tolist() == locator.at(reached)
    assert locator.asked[:2] == [1e-4, 0.5]


@pytest.mark.parametrize("end", [1.0, np.nextafter(1.0, 2.0)])
def test_guard_jump_ends_search(end):
    """Between two neighbouring numbers there is no middle: the law of time is read behind a corner at its end alone."""
    locator = Locator(lambda t: -0.02 if t < end else -0.12, end=end)
    locator.part("sampled")[:] = 1.0
    assert (
        E.locate_event(*locator.how, end) == 0
        and locator.ev.checked == end
        and len(locator.asked) < 300
    )
    locator.part(G.VALUE)[:], locator.part(G.AT_B)[:] = -0.02, -0.12
    assert S.shrink_to_nearly_linear(*locator.how, np.nextafter(end, 0.0), end) == end


def test_smooth_guards_are_checked_at_step_ends():
    bent = BENT[-2][0]
    for unseen, sign in ((0.0, 1.0), (1.0, 0.0)):
        locator = Locator(bent)
        locator.part("sampled")[:], locator.part("sign")[:], locator.part(G.AT_B)[:] = (
            unseen,
            sign,
            -1.0,
        )
        assert S.shrink_to_nearly_linear(*locator.how, 0.0, 1.0) == 1.0 and not locator.asked
    beside = Locator(bent, one)  # the other one, which bends not, decides alone
    beside.part("sampled")[:], beside.part(G.AT_B)[:] = (0.0, 1.0), (-1.0, 1.0)
    assert S.shrink_to_nearly_linear(*beside.how, 0.0, 1.0) == 1.0 and len(beside.asked) == 2
    failing = Locator(bent, fails_after=0.1)
    failing.part("sampled")[:], failing.part(G.AT_B)[:] = 1.0, -1.0
    assert S.shrink_to_nearly_linear(*failing.how, 0.0, 1.0) == 1.0 and len(failing.asked) == 2


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_golden_section_finds_dips(sign):
    """40 of them leave 4e-9 of the interval: what is below for 4e-8 of it is met wherever it lies."""
    locator = Locator(one, lambda t: sign * bowl(t))
    for noise, found in ((0.0, True), (0.0099, True), (0.0101, False)):
        locator.asked.clear()
        t = S.find_dip(*locator.how, 1, sign, 0.0, 1.0, noise)
        assert (bowl(t) < -noise) if found else (t == 0.0 and len(locator.asked) == 40)
    for place in np.linspace(2.0, 4.0, 31)[1:-1]:
        narrow = Locator(lambda t, place=place: sign * (abs(t - place) - 4e-8), begin=2.0, end=4.0)
        assert (
            abs(S.find_dip(*narrow.how, 0, sign, 2.0, 4.0, 0.0) - place) < 4e-8
            and len(narrow.asked) <= 40
        )
    failing = Locator(bowl, fails_after=0.2)
    assert S.find_dip(*failing.how, 0, 1.0, 0.0, 1.0, 0.0) == 0.0 and len(failing.asked) == 1


def test_guard_noise_is_that_of_dense_output():
    locator = Locator(one, one)
    locator.part("phase")[:], locator.part("band")[:] = (0.0, G.LEAVING), (0.3, 3e-12)
    assert S.crossing_noise(locator.ev, 0, 5.0, 7.0) == 0.0
    assert [
        S.crossing_noise(locator.ev, 1, *ends) for ends in ((2.0, -1.0), (-5.0, 2.0), (2.0, -7.0))
    ] == [3e-12, 5e-12, 7e-12]


@pytest.mark.parametrize("t, step", [(1.0, 3.0), (5.0, 1.0), (1e5, 1.0)])
def test_nearby_crossings_happen_together(t, step):
    """Watched for this way, and not on its way from its bound; two tolerances of a root after it."""
    after = t + 2.0 * max(1e-13 * step, 3.6e-15 * t)
    rows = [  # root, sign, direction, state -> state
        (t, 1.0, 0.0, 0.0, G.SIMULTANEOUS), (t, 1.0, -1.0, 0.0, G.SIMULTANEOUS), (t, 1.0, 1.0, 0.0, 0.0), (t, -1.0, 1.0, 0.0, G.SIMULTANEOUS),
        (t, -1.0, -1.0, 0.0, 0.0), (t, 1.0, 0.0, G.LEAVING, G.LEAVING), (after, 1.0, 0.0, 0.0, 0.0), (t, 0.0, 0.0, 0.0, 0.0),
        (t + 1, 1.0, 0.0, 0.0, 0.0),
    ]  # fmt: skip
    locator = Locator(
        *[ramp(root, -sign if sign else 1.0) for root, sign, *_ in rows], begin=t - step, end=t
    )
    locator.part("sign")[:], locator.part("direction")[:], locator.part("phase")[:] = np.array(
        rows
    ).T[1:4]
    E.mark_simultaneous(*locator.how, t)
    assert locator.asked == [after] and locator.part("phase").tolist() == [row[-1] for row in rows]


def test_unknown_guard_signs_are_determined_later():
    """At 1e-9 of the interval, and ten times as far each time; a later one waits until the next interval."""
    locator = Locator(lambda t: t, lambda t: -t, lambda t: 1e-3 * t, one, begin=0.0, end=2.0)
    locator.part("sign")[:], locator.part("phase")[:], locator.part("band")[:] = (
        0.0,
        (1.0, 1.0, 1.0, G.LEAVING),
        3e-6,
    )
    assert E.find_unknown_signs(*locator.how, 0.0, 2.0) == pytest.approx(2e-5)
    assert locator.asked == pytest.approx([2e-9, 2e-8, 2e-7, 2e-6, 2e-5])
    assert locator.part("sign").tolist() == [1, -1, 0, 0] and locator.part("phase").tolist() == [
        0,
        0,
        1,
        G.LEAVING,
    ]
    locator.asked.clear()
    locator.part("band")[:] = 9.0
    assert E.find_unknown_signs(*locator.how, 0.0, 2.0) == 2.0 and len(locator.asked) == 9
    assert locator.part("sign").tolist() == [1, -1, 0, 0] and locator.part("phase").tolist() == [
        0,
        0,
        0,
        G.LEAVING,
    ]
    assert E.find_unknown_signs(*locator.how, 0.0, 2.0) == 2.0 and len(locator.asked) == 9
    late = Locator(
        lambda t: 0.0, begin=1e9, end=1e9 + 1.0
    )  # where the first ones are the instant itself
    late.part("phase")[:] = 1.0
    assert (
        E.find_unknown_signs(*late.how, 1e9, 1e9 + 1.0) == 1e9 + 1.0
        and 1e9 not in late.asked
        and len(late.asked) < 9
    )
    failing = Locator(lambda t: t, fails_after=0.0)
    failing.part("phase")[:] = 1.0
    assert (
        E.find_unknown_signs(*failing.how, 0.0, 1.0) == 1.0
        and len(failing.asked) == 1
        and not failing.part("phase").any()
    )


@pytest.mark.parametrize(
    "law, sign, direction, earliest, watch, exact",
    [
        (ramp(0.5), 1.0, 0.0, 1.0, 1.0, 0.5),
        (ramp(0.5), 1.0, -1.0, 1.0, 1.0, 0.5),
        (ramp(0.5), 1.0, 1.0, 1.0, 1.0, 1.0),
        (ramp(0.5, 1.0), -1.0, 1.0, 1.0, 1.0, 0.5),
        (ramp(0.5, 1.0), -1.0, -1.0, 0.9, 1.0, 0.9),
        (ramp(0.5), 0.0, 0.0, 1.0, 1.0, 1.0),
        (ramp(0.5), 1.0, 0.0, 0.7, 1.0, 0.5),
        (ramp(0.5), 1.0, 0.0, 0.3, 1.0, 0.3),
        (ramp(0.5), 1.0, 0.0, 0.5, 1.0, 0.5),
        (ramp(1.0), 1.0, 0.0, 0.9, 0.0, 0.9),
        (bowl, 1.0, 0.0, 1.0, 1.0, 0.6),
        (bowl, 1.0, -1.0, 0.8, 1.0, 0.6),
        (bowl, 1.0, -1.0, 0.5, 1.0, 0.5),
        (bowl, 1.0, 0.0, 1.0, 0.0, 1.0),
        (bowl, 1.0, 1.0, 0.1, 1.0, 0.1),
        (lambda t: bowl(t) + 0.011, 1.0, 0.0, 1.0, 1.0, 1.0),
        (lambda t: bowl(t) + 0.011, 1.0, 1.0, 1.0, 1.0, 1.0),
        (lambda t: -bowl(t), -1.0, 1.0, 1.0, 1.0, 0.6),
    ],
)
def test_first_guard_crossing_in_its_direction_is_found(
    law, sign, direction, earliest, watch, exact
):
    locator = Locator(law, watch=1.0, direction=direction)
    locator.part("sign")[:] = sign
    locator.interval(0.0, 1.0)
    locator.part("watch")[:] = watch
    assert E.first_crossing(*locator.how, 0, 0.0, 1.0, earliest) == pytest.approx(
        exact, abs=1.1e-13
    )


def test_known_guard_values_are_reused():
    locator = Locator(ramp(0.5))
    locator.interval(0.0, 1.0)
    for earliest, there in ((1.0, False), (0.7, True)):
        locator.asked.clear()
        assert (
            E.first_crossing(*locator.how, 0, 0.0, 1.0, earliest) == pytest.approx(0.5)
            and (locator.asked[0] == earliest) == there
        )


def test_second_crossing_is_searched_inside_step():
    locator = Locator(bowl, direction=1.0)
    locator.interval(0.0, 1.0)
    assert bowl(E.first_crossing(*locator.how, 0, 0.0, 1.0, 1.0)) < 0.0


def test_returning_guard_crosses_at_zero():
    def hop(t):
        return t * (1.0 - 2.0 * t)

    for state, exact in ((G.LEAVING, 0.5), (0.0, 0.5)):
        locator = Locator(hop)
        locator.part("sign")[:], locator.part("phase")[:], locator.part("band")[:] = (
            1.0,
            state,
            0.01,
        )
        assert E.find_return(
            *locator.how, 0, 0.0, 1.0, hop(1.0), 0.01 if state else 0.0
        ) == pytest.approx(exact, abs=1.1e-13)
        assert locator.part("phase") == (G.RETURNED if state else 0.0) and (
            locator.part("returned") == pytest.approx(exact) or not state
        )
    falls = Locator(lambda t: -t)  # it never leaves: beyond the noise it has crossed
    falls.part("sign")[:], falls.part("phase")[:], falls.part("band")[:] = 1.0, G.LEAVING, 0.25
    assert (
        E.find_return(*falls.how, 0, 0.0, 1.0, -1.0, 0.25) == pytest.approx(0.25, abs=1.1e-13)
        and falls.part("phase") == G.LEAVING
    )
    falls.interval(0.0, 0.2)
    assert E.first_crossing(*falls.how, 0, 0.0, 0.2, 0.2) == 0.2
    falls.interval(0.0, 1.0)
    assert E.first_crossing(*falls.how, 0, 0.0, 1.0, 0.2) == 0.2
    assert E.first_crossing(*falls.how, 0, 0.0, 1.0, 1.0) == pytest.approx(0.25, abs=1.1e-13)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("ends", [(0.497, 0.503), (0.503,), (0.2, 0.497, 0.499, 0.503)])
def test_return_is_found_independent_of_step_ends(sign, ends):
    """They may end just before or behind the return, within the noise by which it lay on its bound; a hop that stays within that is none."""
    for height, event in ((1.0, True), (0.05, False)):
        locator = Locator(lambda t, height=height: sign * height * t * (1.0 - 2.0 * t))
        locator.part("sign")[:], locator.part("phase")[:], locator.part("band")[:] = (
            sign,
            G.LEAVING,
            0.01,
        )
        found = [E.locate_event(*locator.how, end) for end in ends]
        assert found == [0] * (len(ends) - 1) + ([int(Status.EVENT)] if event else [0])
        if event:
            assert (
                locator.ev.event_time == pytest.approx(0.5, abs=1.1e-13)
                and locator.part("mark") == G.PENDING
                and locator.part("sign") == -sign
            )
        assert locator.part("phase") == (0.0 if event else G.LEAVING)


NEVER = -math.inf
# phase, sign, value, at_b, direction, band, last, count, returned -> phase, sign, band, last, count, mark; at t = 1
TAKEN = [
    ((0, 1, 0.5, -0.25, 0, 9, NEVER, 3, 1), (0, -1, 0.5 + 0.5e-13, 1, 0, 1)),
    ((0, 1, 0.5, -0.25, -1, 9, NEVER, 3, 0), (0, -1, 0.5 + 0.5e-13, 1, 0, 1)),
    ((0, 1, 0.5, -0.25, 1, 9, NEVER, 3, 1), (0, -1, 9, NEVER, 3, 0)),
    ((0, -1, -0.5, 0.25, 1, 9, NEVER, 3, 0), (0, 1, 0.5 + 0.5e-13, 1, 0, 1)),
    ((0, -1, -0.5, 0.25, -1, 9, NEVER, 3, 0), (0, 1, 9, NEVER, 3, 0)),
    ((0, 1, 0.5, 0.1, 0, 9, NEVER, 3, 1), (0, 1, 9, NEVER, 3, 0)),
    ((0, 1, 0.5, 0.0, 0, 9, NEVER, 3, 1), (0, 1, 9, NEVER, 3, 0)),
    ((G.SIMULTANEOUS, 1, 0.5, 0.1, 0, 9, NEVER, 3, 0), (0, -1, 0.2 + 0.5e-13, 1, 0, 1)),
    ((0, 0, 0.5, 0.2, 0, 0.1, NEVER, 3, 0), (0, 1, 0.1, NEVER, 3, 0)),
    ((0, 0, 0.5, -0.2, 0, 0.1, NEVER, 3, 0), (0, -1, 0.1, NEVER, 3, 0)),
    ((0, 0, 0.5, 0.2, 0, 0.2, NEVER, 3, 0), (0, 0, 0.2, NEVER, 3, 0)),
    ((G.LEAVING, 1, 0.0, -0.05, 0, 0.1, NEVER, 3, 0), (G.LEAVING, 1, 0.1, NEVER, 3, 0)),
    ((G.LEAVING, 1, 0.0, -0.1, 0, 0.1, NEVER, 3, 0), (G.LEAVING, 1, 0.1, NEVER, 3, 0)),
    ((G.LEAVING, 1, 0.0, 0.3, 0, 0.1, NEVER, 3, 0), (0, 1, 0.1, NEVER, 3, 0)),
    ((G.LEAVING, 1, 0.0, -0.3, 0, 0.1, NEVER, 3, 0), (0, -1, 0.6, 1, 0, 1)),
    ((G.RETURNED, 1, 0.0, -0.05, 0, 0.1, NEVER, 3, 1.0), (0, -1, 0.1, 1, 0, 1)),
    ((G.RETURNED, 1, 0.0, -0.05, 0, 0.1, NEVER, 3, 1.5), (G.LEAVING, 1, 0.1, NEVER, 3, 0)),
    ((1, 0, 0.0, 0.0, 0, 0.1, NEVER, 3, 0), (1, 0, 0.1, NEVER, 3, 0)),
    ((0, 1, 0.5, -0.25, 0, 9, 1 - 0.9e-7, 3, 0), (0, -1, 0.5 + 0.5e-13, 1, 4, 1)),
    ((0, 1, 0.5, -0.25, 0, 9, 1 - 1.1e-7, 3, 0), (0, -1, 0.5 + 0.5e-13, 1, 0, 1)),
    ((0, 1, 0.5, -0.25, 0, 9, 1 - 0.9e-7, 4, 0), (0, -1, 0.5 + 0.5e-13, 1, 5, 1)),
]  # fmt: skip


@pytest.mark.parametrize("row", range(len(TAKEN)))
def test_guard_values_at_event_instant(row):
    """Alone, and before and after one that has crossed: its verdict is its own, and chatter outlives what happens beside it."""
    state, sign, value, at_b, direction, band, last, count, fired = (
        np.array(each, dtype=float) for each in TAKEN[row][0]
    )
    for other in ((), (TAKEN[0],), (TAKEN[5],)):
        for rows in ((TAKEN[row], *other), (*other, TAKEN[row])):
            locator = Locator(*([one] * len(rows)))
            names = (
                "phase",
                "sign",
                G.VALUE,
                G.AT_B,
                "direction",
                "band",
                "last_time",
                "quick_events",
                "returned",
            )
            for name, numbers in zip(
                names, zip(*(given for given, _ in rows), strict=True), strict=True
            ):
                locator.part(name)[:] = numbers
            locator.ev.event_time, locator.ev.events = 0.25, 6.0
            status = E.update_signs(locator.ev, 1.0)
            names = ("phase", "sign", "band", "last_time", "quick_events", "mark")
            found = np.array([locator.part(name) for name in names]).T
            assert np.allclose(
                found, np.array([expected for _, expected in rows]), rtol=0, atol=1e-15
            )
            happened = [expected for _, expected in rows if expected[-1] != 0]
            chatters = any(expected[4] == 5 for expected in happened)
            assert status == (Status.CHATTERING if chatters else Status.EVENT if happened else 0)
            assert (locator.ev.event_time, locator.ev.events) == (
                (1.0, 7.0) if happened else (0.25, 6.0)
            ) and locator.ev.checked == 1.0
            assert locator.part(G.VALUE).tolist() == locator.part(G.AT_B).tolist()


@pytest.mark.parametrize(
    "t, shortest", [(1.0, 1e-7), (100.0, 1e-7), (1e4, 1e-7), (1e6, 2.2e-7), (-1e6, 2.2e-7)]
)
def test_chatter_threshold_follows_time_resolution(t, shortest):
    """Not of the time that has passed; what runs evenly with time never chatters."""
    for part, timed, count in ((0.9, 0.0, 1.0), (1.1, 0.0, 0.0), (0.9, 1.0, 0.0)):
        locator = Locator(one)
        locator.part("course")[:] = timed
        locator.part(G.AT_B)[:], locator.part("last_time")[:] = -1.0, t - part * shortest
        assert E.update_signs(locator.ev, t) == Status.EVENT
        assert locator.part("quick_events") == count


def test_earliest_guard_fires_first():
    locator = Locator(
        ramp(0.7),
        ramp(0.4),
        ramp(0.4, -5.0),
        ramp(0.4 + 1e-13),
        lambda t: 0.7 - t if t < 0.5 else 3.0,
        one,
    )
    told = []
    while (status := E.locate_event(*locator.how, 1.0)) == Status.EVENT:
        told.append(
            (
                locator.ev.event_time,
                locator.part("mark").tolist(),
                locator.part("sign").tolist(),
            )
        )
    assert (
        status == 0
        and [t for t, *_ in told] == pytest.approx([0.4, 0.7], abs=4e-13)
        and locator.ev.events == 2
    )
    assert told[0][1:] == ([0, 1, 1, 1, 0, 0], [1, -1, -1, -1, 1, 1]) and told[1][1:] == (
        [1, 0, 0, 0, 0, 0],
        [-1, -1, -1, -1, 1, 1],
    )
