"""The cost formulas against every closed form of the source, exactly."""

from fractions import Fraction

import pytest

from kinetree.scripts.bench.published_counts import carrier, chain, star
from kinetree.scripts.bench.published_data import Polynomial, polynomial, published, value
from kinetree.solvers.literal.operation_counts import FORMS, costs, sparse_solve


def corrected(data: dict, freedoms: str) -> Polynomial:
    """The printed closed form with the constant that it must have."""
    printed = list(data["printed"][freedoms])
    printed[0] = data.get("constant", {}).get(freedoms, printed[0])
    return polynomial(printed)


@pytest.mark.parametrize("bodies", [2, 3, 7, 40])
@pytest.mark.parametrize("iterations", [0, 2, 3.5])
def test_operation_counts_match_closed_forms(bodies: int, iterations: float):
    """Tables 4.3, 4.5, 4.8 and 4.11 of [Sh24]."""
    for data in published()["counts"]:
        tree = {"chain": chain, "star": star}[data["tree"]]
        for freedoms in data["printed"]:
            found = costs(*tree(int(freedoms), bodies), iterations=iterations)[data["method"]]
            expected = value(corrected(data, freedoms), bodies, Fraction(iterations))
            assert found == pytest.approx(float(expected), rel=1e-15), (data["table"], freedoms)


def test_corrected_constants_agree_for_a_single_body():
    """With one body a chain is a star: what tells which of the printed constants is wrong."""
    known: dict[tuple, Fraction] = {}
    for data in published()["counts"]:
        for freedoms in data["printed"]:
            one = value(corrected(data, freedoms), 1)
            assert known.setdefault((data["method"], freedoms), one) == one


@pytest.mark.parametrize("modules", [1, 4, 50])
def test_carrier_operation_counts_match_prediction(modules: int):
    """The two variants of the module carrier, tables 5.2 and 5.3 of [Sh24]; their ITR columns follow from no formula."""
    for data in published()["carriers"]:
        found = costs(*carrier(data, modules))
        for method in ("CBM", "DEC", "LGR"):
            assert found[method] == value(polynomial(data["printed"][method]), modules)


def test_sparse_solve_cost_of_full_matrix_matches_dense():
    """(B.8) on a full matrix is (B.6): n³/3 + 3n²/2 + n/6 plus the n² by which (B.8) counts both triangular solves in full."""
    n = 9
    assert sparse_solve(range(1, n + 1)) == (2 * n**3 + 15 * n**2 + n) / 6


def test_cost_formulas_cover_all_forms_and_check_numbering():
    assert tuple(costs([1, 1], [0, 1])) == FORMS
    with pytest.raises(ValueError, match="regular"):
        costs([1, 1], [2, 0])
