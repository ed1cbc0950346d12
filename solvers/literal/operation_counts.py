"""Predicted floating-point operations of one evaluation by each form ([Sh24] (4.1)-(4.7)).

n_i degrees of freedom of joint i, m_i = 6 − n_i, η_i degrees of freedom on the path 0 -> i (η_0 =
0), τ_i = n_i |P_i|, μ_i = m_i + Σ m_j over the children, K iterations of ITR. Sums are computed in
sixths, so that the closed forms for chains and stars come out exactly. Joint matrices and applied
forces are not counted.
"""

from collections.abc import Sequence

FORMS = ("DRT", "CBM", "LGR", "ITR-M", "ITR-G", "ABM", "DEC")


def costs(
    freedoms: Sequence[int], parents: Sequence[int], iterations: float = 2
) -> dict[str, float]:
    """Return the floating-point operations of one evaluation by form; `freedoms` and `parents`
    describe the bodies 1..N in regular numbering (parents 0..N−1).
    """
    n = [0, *freedoms]
    kappa = [-1, *parents]
    eta, depth, mu = tree_numbers(n, kappa)
    return {
        "DRT": direct(eta, kappa),
        "CBM": composite(n, eta, depth, kappa),
        "LGR": first_kind(n, mu),
        "ITR-M": iterated(n, eta, depth, kappa, iterations),
        "ITR-G": iterated_by_sweeps(n, iterations),
        "ABM": articulated(n),
        "DEC": decomposed(n),
    }


def tree_numbers(n: list[int], kappa: list[int]) -> tuple[list[int], list[int], list[int]]:
    """Return per body the numbers η_i, |P_i| and μ_i of the cost formulas; entry 0 is the root."""
    count = len(n)
    eta, depth = [0] * count, [0] * count
    mu = [0] + [6 - f for f in n[1:]]
    for i in range(1, count):
        k = kappa[i]
        if not 0 <= k < i:
            raise ValueError(f"body {i} has predecessor {k}: the numbering is not regular")
        eta[i] = eta[k] + n[i]
        depth[i] = depth[k] + 1
        mu[k] += 6 - n[i]
    return eta, depth, mu


def direct(eta: list[int], kappa: list[int]) -> float:
    """Return the operations of the direct form DRT, formula (4.1)."""
    total = sum(2 * e**3 + 51 * e**2 + 325 * e + 1332 for e in eta[1:])
    before = (eta[k] for k in kappa[2:])
    return (total - sum(2 * e**3 + 15 * e**2 - 251 * e for e in before)) / 6


def composite(n: list[int], eta: list[int], depth: list[int], kappa: list[int]) -> float:
    """Return the operations of the composite-body form CBM, formula (4.2)."""
    total = sum(
        2 * e**3 + 51 * e**2 + 109 * e + 1332 + 252 * f * d
        for e, f, d in zip(eta[1:], n[1:], depth[1:], strict=True)
    )
    before = (eta[k] for k in kappa[2:])
    return (total - sum(2 * e**3 + 51 * e**2 + 109 * e - 1230 for e in before)) / 6


def first_kind(n: list[int], mu: list[int]) -> float:
    """Return the operations of the multiplier form LGR, formula (4.3)."""
    total = sum(2 * x**3 + 51 * x**2 + 361 * x + 2520 for x in mu[1:])
    own = (6 - f for f in n[2:])
    return (total - sum(2 * m**3 + 15 * m**2 + m for m in own) - 288) / 6


def iterated(n: list[int], eta: list[int], depth: list[int], kappa: list[int], k: float) -> float:
    """Return the operations of the iterated form ITR-M with k iterations, formula (4.4)."""
    rows = sum(
        (2 * k + 6) * (e**2 - eta[p] ** 2) + 42 * f * d
        for e, p, f, d in zip(eta[1:], kappa[1:], n[1:], depth[1:], strict=True)
    )
    total = sum(n)
    return rows + (4 * k + 2) * total**2 + (9 * k + 19) * total + 427 * (len(n) - 1) - 206


def iterated_by_sweeps(n: list[int], k: float) -> float:
    """Return the operations of the iterated form ITR-G with k iterations, formula (4.5)."""
    total, bodies = sum(n), len(n) - 1
    return (
        2 * total**2
        + 37 * total
        + 405 * bodies
        - 145
        + (4 * total**2 + 33 * total + 135 * bodies - 96) * k
    )


def articulated(n: list[int]) -> float:
    """Return the operations of the articulated-body form ABM, formula (4.6)."""
    return (sum(2 * f**3 + 105 * f**2 + 967 * f + 7452 for f in n[1:]) - 6 * (72 * n[1] + 1122)) / 6


def decomposed(n: list[int]) -> float:
    """Return the operations of the LᵀDL form DEC, formula (4.7)."""
    return (sum(2 * f**3 + 117 * f**2 + 1105 * f + 5184 for f in n[1:]) - 6 * (84 * n[1] + 660)) / 6


def sparse_solve(rows: Sequence[int]) -> int:
    """Return the operations (B.8) of factoring and solving a symmetric positive definite system
    whose factor has `rows[k]` elements in row k and no fill-in.
    """
    return sum(r**2 for r in rows) + 4 * sum(rows) - 2 * len(rows)
