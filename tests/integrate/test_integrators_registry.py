"""The registry of integrators: tables meet their order conditions, and whatever lists integrators is drawn from it."""

from pathlib import Path

import numpy as np
import pytest
from integrator_runs import METHODS, memory, run

from kinetree.models.description.schema import INTEGRATORS as IN_DESCRIPTIONS
from kinetree.scripts.bench.integrator_problems import kepler, kepler_end
from kinetree.solvers import unit_layout
from kinetree.solvers.integrate.controller import STEPS, T_NEW, T_OLD
from kinetree.solvers.integrate.kinds import CODES, INTEGRATORS
from kinetree.solvers.integrate.tableau import trees

DOCS = Path(__file__).parents[2] / "docs" / "integrators.md"
TABLES = {method.name: method.tableau for method in INTEGRATORS if method.tableau is not None}
# number of rooted trees with n vertices: A. Cayley, 1857
CAYLEY = (1, 1, 2, 4, 9, 20, 48, 115)


def test_rooted_trees_are_counted():
    assert tuple(len(trees(n)) for n in range(1, 9)) == CAYLEY


@pytest.mark.parametrize("name", TABLES)
def test_runge_kutta_tableaus_meet_order_conditions(name):
    """Numbers of 16 digits: the sums over up to ten stages, relative to the size of their terms, are right to 1e-11; no order is claimed too low."""
    table = TABLES[name]
    assert all(defect < 1e-11 for defect in table.defects().values()), table.defects()
    assert table.excess() > 1e-7
    assert len(table.c) == len(table.a) == len(table.weights) and len(table.error) == table.stages
    assert (
        table.c[table.stages - 1] == table.c[table.stages - 2] == 1.0
    )  # first stage of the next step, and the two that tell stiffness


def test_wrong_tableau_coefficient_is_detected():
    """One digit in the eighth place of one weight breaks the conditions."""
    table = TABLES["tsit5"]
    rows = [list(row) for row in table.a]
    rows[4][1] += 1e-8
    assert max(table._replace(a=tuple(map(tuple, rows))).defects().values()) > 1e-11


@pytest.mark.parametrize("name", TABLES)
def test_tableau_dense_output_has_its_order(name):
    """Error in the middle of one step of size h, from a state at rest in time: h^(dense + 1)."""
    table = TABLES[name]
    errors = []
    steps = 0.4 * 0.5 ** np.arange(4)
    for h in steps:
        case = kepler(0.2, h)
        mem = memory(name, case, 1e-2, 1e-2, h)  # wide enough to accept the step that is given
        assert (
            run(name, case, np.array([h]), mem).status == 0
            and mem[STEPS] == 1
            and mem[T_OLD] == 0.0
            and mem[T_NEW] >= h
        )
        out = np.empty(4)
        METHODS[name].interpolate(out, mem, 0.4 * mem[T_NEW])
        errors.append(np.abs(out - kepler_end(0.2, 0.4 * mem[T_NEW])).max())
    slope = np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert slope == pytest.approx(table.dense + 1, abs=0.5), errors


def test_stability_functions_match_known_methods():
    """The real interval of the classical method is 2.785, that of Tsitouras about 3.5: the function scans the polynomial of any table."""
    rk4 = TABLES["tsit5"]._replace(
        order=4,
        stages=5,
        c=(0.0, 0.5, 0.5, 1.0, 1.0),
        a=((), (0.5,), (0.0, 0.5), (0.0, 0.0, 1.0), (1 / 6, 1 / 3, 1 / 3, 1 / 6)),
    )
    assert rk4.stability() == pytest.approx(2.785, abs=0.02)
    assert all(3.0 < table.stability() < 5.0 for table in TABLES.values())


def test_integrator_codes_match_old_archives():
    """Payloads and saved states hold the code of their integrator."""
    old = {"adams": 0, "rk45": 1, "radau": 2, "rk4": 3, "semi-implicit": 4, "stormer": 5, "auto": 6}
    assert old.items() <= CODES.items() and unit_layout.KINDS == CODES


def test_descriptions_and_documentation_list_registered_integrators():
    assert (
        set(IN_DESCRIPTIONS)
        == {"auto", *(method.name for method in INTEGRATORS)}
        == {"auto", *METHODS}
    )
    text = DOCS.read_text(encoding="utf-8")
    for method in INTEGRATORS:
        step = "fixed" if method.fixed else "variable"
        assert (
            f"| `{method.name}` | {method.title} | {method.order} | {method.evaluations} | {step} | {method.use} |"
            in text
        )
