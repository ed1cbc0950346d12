"""Published operation counts beside those of `operation_counts`: tables 4.1 to 4.11, 5.2 and 5.3 of
[Sh24].
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from kinetree.scripts.bench.published_data import (
    Polynomial,
    Row,
    Tree,
    counted,
    difference,
    polynomial,
    published,
    text,
    value,
)
from kinetree.solvers.literal.operation_counts import costs, tree_numbers

SAMPLE = [2, 1, 3, 1, 2], [0, 1, 1, 2, 4]  # freedoms and predecessors on which steps are summed
ITERATIONS = 2  # K where a number is needed
MODULES = 50  # of a carrier, at most
GREEK = {"eta": "η", "mu": "μ"}


def chain(freedoms: int, bodies: int) -> Tree:
    """Return degrees of freedom and predecessors of a chain of equal joints."""
    return [freedoms] * bodies, list(range(bodies))


def star(freedoms: int, bodies: int) -> Tree:
    """Return degrees of freedom and predecessors of a star of equal joints: all bodies but the
    first hang on the first.
    """
    return [freedoms] * bodies, [0] + [1] * (bodies - 1)


TREES = {"chain": chain, "star": star}


def carrier(data: dict[str, Any], modules: int) -> Tree:
    """Return the tree of a carrier, whose modules have three degrees of freedom and hang on its
    last body.
    """
    first = data["freedoms"]
    return first + [3] * modules, data["parents"] + [len(first)] * modules


def freedoms_of(count: int) -> str:
    """Return a text such as "2 freedoms per joint"."""
    return f"{count} freedom{'s' * (count > 1)} per joint"


def compared(
    table: str, quantity: str, printed: Polynomial, ours: Polynomial, remark: str = ""
) -> Row:
    """Return the row that compares a printed polynomial with ours."""
    gap = text(difference(ours, printed))
    return Row("Sh24", table, quantity, text(printed), text(ours), gap, remark)


def closed_forms() -> Iterator[Row]:
    """Yield the rows of tables 4.3, 4.5, 4.8 and 4.11: operation counts of chains and stars."""
    for data in published()["counts"]:
        for key, coefficients in data["printed"].items():
            n, tree = int(key), TREES[data["tree"]]
            ours = counted(data["method"], lambda count, n=n, tree=tree: tree(n, count))
            name = f"{data['method']}, {data['tree']}, {freedoms_of(n)}"
            printed = polynomial(coefficients)
            remark = constant_remark(printed, ours) if key in data.get("constant", {}) else ""
            yield compared(data["table"], name, printed, ours, remark)


def constant_remark(printed: Polynomial, ours: Polynomial) -> str:
    """Return why a constant term is a misprint: with N = 1, chain and star are the same single
    body.
    """
    one, wrong = (text((tuple(map(sum, zip(*p, strict=True))),)) for p in (ours, printed))  # type: ignore[misc]
    return f"misprinted constant: one body, chain and star alike, takes {one}, not {wrong}"


def sums(tree: Tree) -> dict[str, int]:
    """Return the sums over the bodies of a tree in which the tables of single steps are written."""
    n, kappa = [0, *tree[0]], [-1, *tree[1]]
    eta, depth, mu = tree_numbers(n, kappa)
    before, later = [eta[k] for k in kappa[2:]], n[2:]
    powers = {
        f"{name}{k if k > 1 else ''}{suffix}": sum(x**k for x in values)
        for name, suffix, values in (
            ("n", "", n[1:]),
            ("n", "_later", later),
            ("m", "", [6 - f for f in n[1:]]),
            ("m", "_later", [6 - f for f in later]),
            ("mu", "", mu[1:]),
            ("eta", "", eta[1:]),
            ("eta", "_before", before),
        )
        for k in (1, 2, 3)
    }
    tau = sum(f * d for f, d in zip(n[1:], depth[1:], strict=True))
    return powers | {"one": 1, "N": len(n) - 1, "nn": sum(n) ** 2, "tau": tau}


def steps() -> Iterator[Row]:
    """Yield the sum of the rows of every table of single steps beside our count, for a branched
    tree.
    """
    times = {"1": 1, "K": ITERATIONS, "K + 1": ITERATIONS + 1}
    size, known = len(SAMPLE[0]), sums(SAMPLE)
    for data in published()["steps"]:
        total = Fraction(0)
        for row in data["rows"]:
            part = {key: Fraction(c) for key, c in row.items() if key not in ("object", "times")}
            total += times[row.get("times", "1")] * sum(c * known[key] for key, c in part.items())
        ours = Fraction(costs(*SAMPLE, iterations=ITERATIONS)[data["method"]]).limit_denominator(6)
        yield Row(
            "Sh24",
            data["tables"],
            f"{data['method']}: sum of the rows, {data['formula']}; branched tree of {size} bodies",
            str(total),
            str(ours),
            str(ours - total).replace("-", "−"),
            data.get("remark", ""),
        )


def comparisons() -> Iterator[Row]:
    """Yield the rows of the comparisons between two methods in the text of section 4.1."""
    data = published()["break_even"]
    for key, printed in data["printed"].items():
        with_0, with_1 = leading(int(key), 0), leading(int(key), 1)
        slope = {m: with_1[m] - with_0[m] for m in with_0}
        k = (with_0["ITR-M"] - with_0["ITR-G"]) / (slope["ITR-G"] - slope["ITR-M"])
        name = f"iterations above which ITR-M beats ITR-G, large star, {freedoms_of(int(key))}"
        yield number("Sh24", data["table"], name, printed, float(k))
    data = published()["saving"]
    abm, dec = (counted(m, lambda n: chain(1, n))[1][0] for m in ("ABM", "DEC"))
    saved = float(100 * (1 - dec / abm))
    name = "operations that DEC saves of ABM's, long chain, %"
    yield number("Sh24", data["table"], name, data["printed"], saved, data["remark"])


def leading(freedoms: int, iterations: int) -> dict[str, Fraction]:
    """Return the coefficients of N in the counts of ITR-M and ITR-G on a star; those of N² are
    equal.
    """
    found = {}
    for method in ("ITR-M", "ITR-G"):
        a, b = counted(method, lambda n: star(freedoms, n))[1]
        found[method] = a + b * iterations
    return found


def number(source: str, table: str, name: str, printed: str, ours: float, remark: str = "") -> Row:
    """Return the row of a single value; one that rounds to the printed digits has no deviation."""
    shown, gap = beside(printed, ours)
    return Row(source, table, name, printed, shown, gap, remark)


def beside(printed: str, ours: float, allowed: float = 0.0) -> tuple[str, str]:
    """Return our value with one digit more than printed, and the relative deviation.

    The deviation is 0 where our value rounds to the printed digits, within `allowed`, the error
    caused by the rounding of the printed data.
    """
    mantissa = printed.upper().partition("E")
    decimals = len(mantissa[0].partition(".")[2])
    exponent = int(mantissa[2] or 0)
    unit = 10.0 ** (exponent - decimals)
    shown = f"{ours:.{decimals + 1}e}" if mantissa[1] else f"{ours:.{decimals + 1}f}"
    away = ours - float(printed)
    shown = shown.replace("-", "−", 1) if ours < 0.0 else shown
    if abs(away) <= 0.5000001 * unit + allowed:
        return shown, "0"
    return shown, f"{100 * away / abs(float(printed)):+.2g} %".replace("-", "−")


def carriers() -> Iterator[Row]:
    """Yield the rows of section 5.2.3: tree numbers and operation counts of both carriers."""
    for data in published()["carriers"]:
        name, table = data["name"], data["table"]
        yield from tree_rows(data)
        for method, coefficients in data["printed"].items():
            ours = counted(method, lambda n, data=data: carrier(data, n))
            printed, remark = polynomial(coefficients), ""
            if method == "ITR-G":
                ours = tuple((a + ITERATIONS * b, Fraction(0)) for a, b in ours)
                remark = "the column does not follow from (4.5): 45 N² needs K = 3/4, section 5.2.3 says K = 2"
            yield compared(table, f"{method}, {name}", printed, ours, remark)
        yield best_range(data)


def tree_rows(data: dict[str, Any]) -> Iterator[Row]:
    """Yield the tree numbers η and μ of a carrier whose last body is a module."""
    one, two = (tree_numbers([0, *c[0]], [-1, *c[1]]) for c in (carrier(data, 1), carrier(data, 2)))
    eta = ", ".join(map(str, one[0][1:]))
    mine = ", ".join(
        linear(2 * a - b, b - a) for a, b in zip(one[2][1:], two[2][1 : len(one[2])], strict=True)
    )
    said = "the body with N modules has μ = 5 + 3N, which table 5.2 agrees with"
    for name, ours in (("eta", eta), ("mu", mine)):
        gap = "0" if ours == data[name] else "differs"
        remark = "" if ours == data[name] else f"misprint: {said}"
        what = f"{GREEK[name]} of {data['name']}'s bodies, a module last"
        yield Row("Sh24", "section 5.2.3", what, data[name], ours, gap, remark)


def linear(a: int, b: int) -> str:
    """Return the text "a + bN"."""
    return f"{a} + {b}N" if b else str(a)


def best_range(data: dict[str, Any]) -> Row:
    """Return the row with the largest number of modules for which ITR is cheapest by the printed
    columns.
    """
    columns = {m: polynomial(c) for m, c in data["printed"].items()}
    best = 0
    for n in range(1, MODULES + 1):
        if min(columns, key=lambda m: value(columns[m], n)) != "ITR-G":
            break
        best = n
    printed, rival = data["iterated_best_to"], data["iterated_rival"]
    at, beaten = value(columns["ITR-G"], printed), value(columns[rival], printed)
    remark = f"by the printed columns ITR takes {at} operations at N = {printed}, {rival} {beaten}"
    name = f"{data['name']}: modules up to which ITR is cheapest, by the printed columns"
    gap = f"{best - printed:+d}".replace("-", "−") if best != printed else "0"
    shown = remark if best != printed else ""
    return Row("Sh24", "section 5.2.3", name, str(printed), str(best), gap, shown)
