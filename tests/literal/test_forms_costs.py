"""The cost formulas against every closed form of the source, exactly."""

import pytest

from kinetree.solvers.literal.operation_counts import FORMS, costs, sparse_solve


def chain(n, bodies):
    return [n] * bodies, list(range(bodies))


def star(n, bodies):
    return [n] * bodies, [0] + [1] * (bodies - 1)


CHAINS = {
    ("DRT", 1): lambda N: 7 * N**3 / 3 + 107 * N**2 / 2 + 1375 * N / 6,
    ("DRT", 2): lambda N: 32 * N**3 / 3 + 118 * N**2 + 715 * N / 3,
    ("DRT", 3): lambda N: 27 * N**3 + 387 * N**2 / 2 + 499 * N / 2,
    ("CBM", 1): lambda N: N**3 / 3 + 59 * N**2 / 2 + 2797 * N / 6 - 205,
    ("CBM", 2): lambda N: 8 * N**3 / 3 + 76 * N**2 + 1516 * N / 3 - 205,
    ("CBM", 3): lambda N: 9 * N**3 + 279 * N**2 / 2 + 1089 * N / 2 - 205,
    ("LGR", 1): lambda N: 2100 * N - 1173,
    ("LGR", 2): lambda N: 1554 * N - 784,
    ("LGR", 3): lambda N: 1127 * N - 489,
}
ANY = {
    ("ABM", 1): lambda N: 1421 * N - 1194,
    ("ABM", 2): lambda N: 1637 * N - 1266,
    ("ABM", 3): lambda N: 1892 * N - 1338,
    ("DEC", 1): lambda N: 1068 * N - 744,
    ("DEC", 2): lambda N: 1313 * N - 828,
    ("DEC", 3): lambda N: 1601 * N - 912,
}
STARS = {
    ("LGR", 1): lambda N: 125 * N**3 / 3 + 425 * N**2 / 2 + 7025 * N / 6 - 498,
    ("LGR", 2): lambda N: 64 * N**3 / 3 + 136 * N**2 + 2990 * N / 3 - 384,
    ("LGR", 3): lambda N: 9 * N**3 + 153 * N**2 / 2 + 1669 * N / 2 - 282,
    ("CBM", 1): lambda N: 557 * N - 266,
    ("CBM", 2): lambda N: 752 * N - 373,
    ("CBM", 3): lambda N: 1026 * N - 538,
    ("DRT", 1): lambda N: 406 * N - 121,
    ("DRT", 2): lambda N: 667 * N - 300,
    ("DRT", 3): lambda N: 1019 * N - 549,
}


@pytest.mark.parametrize("bodies", [2, 3, 7, 40])
@pytest.mark.parametrize("topology, table", [(chain, CHAINS | ANY), (star, STARS | ANY)])
def test_operation_counts_match_closed_forms(topology, table, bodies):
    for (form, n), value in table.items():
        assert costs(*topology(n, bodies))[form] == pytest.approx(value(bodies), rel=1e-15), (
            form,
            n,
        )


@pytest.mark.parametrize("k", [0, 2, 3.5])
def test_iteration_on_chains(k):
    """Table 4.8, chain column, and both topologies of ITR-G: K stands in the coefficients."""
    N = 11
    for n, (a, b, c, d) in {
        1: (6, 29, 9, 467),
        2: (24, 74, 18, 507),
        3: (54, 135, 27, 547),
    }.items():
        assert costs(*chain(n, N), iterations=k)["ITR-M"] == pytest.approx(
            (a * k + b) * N**2 + (c * k + d) * N - 206, rel=1e-15
        )
    for n, (a, b, c, d) in {
        1: (4, 2, 168, 442),
        2: (16, 8, 201, 479),
        3: (36, 18, 234, 516),
    }.items():
        for topology in (chain, star):
            assert costs(*topology(n, N), iterations=k)["ITR-G"] == pytest.approx(
                (a * k + b) * N**2 + (c * k + d) * N - (96 * k + 145), rel=1e-15
            )


@pytest.mark.parametrize("modules", [1, 4, 50])
def test_carrier_operation_counts_match_prediction(modules):
    """The two variants of the module carrier."""
    M = modules
    basic = costs([3, 1, 1] + [3] * M, [0, 1, 2] + [3] * M)
    assert basic["CBM"] == 1446 * M + 1757
    assert basic["DEC"] == 1601 * M + 2825
    assert basic["LGR"] == 9 * M**3 + 243 * M**2 / 2 + 2329 * M / 2 + 4538
    detailed = costs([3, 3, 2, 2, 1] + [3] * M, [0, 1, 1, 3, 4] + [5] * M)
    assert detailed["CBM"] == 1869 * M + 4103
    assert detailed["DEC"] == 1601 * M + 5984
    assert detailed["LGR"] == 9 * M**3 + 243 * M**2 / 2 + 2329 * M / 2 + 7066


def test_sparse_solve_of_a_full_matrix():
    """(B.8) on a full matrix is (B.6): n³/3 + 3n²/2 + n/6 plus the n² by which (B.8) counts both triangular solves in full."""
    n = 9
    assert sparse_solve(range(1, n + 1)) == (2 * n**3 + 15 * n**2 + n) / 6


def test_forms_are_complete_and_numbering_is_checked():
    assert tuple(costs([1, 1], [0, 1])) == FORMS
    with pytest.raises(ValueError, match="regular"):
        costs([1, 1], [2, 0])
