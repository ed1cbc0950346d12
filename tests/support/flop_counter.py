"""Counts the arithmetic of kernels: they run in plain Python on numbers that count what is done to them.

NUMBA_DISABLE_JIT=1 python tests/support/flop_counter.py            one JSON object: counts and predictions of all forms, factorisations
"""

import json
import math
import sys
from types import SimpleNamespace

import numpy as np
from random_trees import instance, random_tree

from kinetree.solvers.literal import (
    abm,
    cbm,
    composite_bodies,
    dec,
    drt,
    itr_g,
    itr_m,
    lgr,
    mass_matrix_cholesky,
    multiplier_cholesky,
)
from kinetree.solvers.literal import body_axes_kinematics as literal
from kinetree.solvers.literal import multiplier_matrix as constraints
from kinetree.solvers.literal.operation_counts import costs, sparse_solve
from kinetree.solvers.model_records import HEAD

ops = {"multiply": 0, "add": 0, "divide": 0, "root": 0}


def counting(kind, method):
    def operation(self, other):
        ops[kind] += 1
        return Number(method(self, other))

    return operation


class Number(float):
    """A float that counts additions, multiplications and divisions; changes of sign are free."""

    __add__ = __radd__ = counting("add", float.__add__)
    __sub__, __rsub__ = counting("add", float.__sub__), counting("add", float.__rsub__)
    __mul__ = __rmul__ = counting("multiply", float.__mul__)
    __truediv__, __rtruediv__ = (
        counting("divide", float.__truediv__),
        counting("divide", float.__rtruediv__),
    )

    def __neg__(self):
        return Number(float.__neg__(self))

    def __abs__(self):
        return Number(float.__abs__(self))


def root(x):
    ops["root"] += 1
    return Number(plain_root(x))


plain_root = math.sqrt


def counted(call) -> int:
    """Operations of a call."""
    ops.update(dict.fromkeys(ops, 0))
    math.sqrt = root
    try:
        assert call() in (0, None)
    finally:
        math.sqrt = plain_root
    return sum(ops.values())


def numbers(fields: SimpleNamespace) -> SimpleNamespace:
    """The same fields filled with counting numbers; flags stay plain."""
    out = {}
    for name, array in vars(fields).items():
        out[name] = (
            HEAD.of(array.block.copy())
            if name == "head"
            else np.array([Number(x) for x in array], object)
        )
    return SimpleNamespace(**out)


def common_passes(model, ws) -> int:
    """v, w' and F' from given joint matrices, as the formulas count them: v^r, ŵ and F are not counted."""
    done = [literal.joint_rates(model, ws, i) for i in range(1, model.parent.size)]
    kept = literal.joint_rates
    literal.joint_rates = lambda model, ws, i: done[i - 1]
    try:
        return counted(
            lambda: (literal.literal_velocities(model, ws), literal.inertia_forces(model, ws))[1]
        )
    finally:
        literal.joint_rates = kept


FORMS = {
    "DRT": drt.drt,
    "CBM": cbm.cbm,
    "LGR": lgr.lgr,
    "ITR-M": itr_m.itr_m,
    "ITR-G": itr_g.itr_g,
    "ABM": abm.abm,
    "DEC": dec.dec,
}


def count_forms(tree) -> dict:
    """Counted and predicted operations by form; ITR on the second of two neighbouring states."""
    I = instance(tree)
    model = I.model
    I.ws.head.itr_tolerance = 1e-10
    assert literal.literal_kinematics(model, I.ws) == 0
    assert itr_m.itr_m(model, I.ws) == 0
    I.ws.q[:] = tree.q + 1e-4 * np.resize(tree.u, len(tree.q))
    assert literal.literal_kinematics(model, I.ws) == 0
    out = {}
    for name, form in FORMS.items():
        ws = numbers(I.ws)
        common = common_passes(model, ws)
        if name == "LGR":  # M_i⁻¹ is constant and not counted
            constraints.inverse_inertias(model, ws)
            kept, lgr.inverse_inertias = lgr.inverse_inertias, lambda model, ws: 0
            own = counted(lambda ws=ws: lgr.lgr(model, ws))
            lgr.inverse_inertias = kept
        else:
            own = counted(lambda form=form, ws=ws: form(model, ws))
        udot = ws.udot.astype(float)
        expected = out and next(iter(out.values()))["udot"]
        assert not out or np.allclose(
            udot, expected, rtol=1e-6, atol=1e-6 * max(map(abs, expected))
        ), name  # ITR stops at 1e-10
        iterations = int(ws.head.iterations) if name.startswith("ITR") else 0
        predicted = costs(list(tree.freedoms), tree.parent[1:], iterations)[name]
        out[name] = {
            "counted": common + own,
            "predicted": predicted,
            "iterations": iterations,
            "udot": udot.tolist(),
        }
    return out


def count_factorisations(tree) -> dict:
    """Operations of the two block Cholesky factorisations and solutions against (B.8) for factors without fill-in."""
    I = instance(tree)
    model = I.model
    assert literal.literal_kinematics(model, I.ws) == 0
    composite_bodies.composite_bodies(model, I.ws)
    composite_bodies.mass_rows(model, I.ws)
    composite_bodies.generalized_forces(model, I.ws)
    ws = numbers(I.ws)
    noise_test = 2 * len(tree.u)  # square and product of `diagonal_ok`
    rows = [
        int(model.eta[i]) - k
        for i in range(1, tree.bodies + 1)
        for k in range(tree.freedoms[i - 1])
    ]
    path = (
        counted(
            lambda: (
                mass_matrix_cholesky.factor_mass(model, ws),
                mass_matrix_cholesky.solve_mass(model, ws, ws.Q),
            )[0]
        )
        - noise_test
    )
    out = {"path": [path, sparse_solve(rows)]}
    assert constraints.inverse_inertias(model, I.ws) == 0
    constraints.constraint_rows(model, I.ws)
    I.ws.lam[:] = 1.0
    ws = numbers(I.ws)
    m = 6 - tree.freedoms
    rows = [int(model.h_col[i + 1] + m[i]) - k for i in range(tree.bodies) for k in range(m[i])]
    sibling = counted(
        lambda: (
            multiplier_cholesky.factor_multipliers(model, ws),
            multiplier_cholesky.solve_multipliers(model, ws),
        )[0]
    ) - 2 * int(m.sum())
    return out | {"sibling": [sibling, sparse_solve(rows)]}


def joint_of(n: int) -> str:
    return {1: "revolute", 2: "universal", 3: "ball"}[n]


def main() -> None:
    bodies = int(sys.argv[1]) if len(sys.argv) > 1 else 8
    result = {"bodies": bodies, "forms": {}, "factorisations": []}
    for shape in ("chain", "star"):
        for n in (1, 2, 3):
            tree = random_tree(np.random.default_rng(n), bodies, shape, joint_of(n))
            result["forms"][f"{shape} {n}"] = count_forms(tree)
    for seed in range(6):
        result["factorisations"].append(
            count_factorisations(random_tree(np.random.default_rng(seed), bodies))
        )
    print(json.dumps(result, default=float))


if __name__ == "__main__":
    main()
