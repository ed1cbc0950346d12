"""Traced equations as LaTeX: aligned equations with typeset symbols."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kinetree.models.equations.printer import Language, Printer
from kinetree.models.equations.product_layout import FlatPrinter, written_out
from kinetree.models.trace.trace import Trace

GREEK = set(
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau phi chi psi omega Gamma Delta Theta Lambda Xi Pi "
    "Sigma Phi Psi Omega".split()
)
SPELL = {name: rf"\{name}\left({{0}}\right)" for name in "sin cos tan sinh cosh tanh exp".split()}
SPELL |= {
    "asin": r"\arcsin\left({0}\right)",
    "acos": r"\arccos\left({0}\right)",
    "atan": r"\arctan\left({0}\right)",
}
SPELL |= {
    "sqrt": r"\sqrt{{{0}}}",
    "abs": r"\left|{0}\right|",
    "log": r"\ln\left({0}\right)",
    "pow": r"\left({0}\right)^{{{1}}}",
}
SPELL |= {
    "atan2": r"\operatorname{{atan2}}\left({0}, {1}\right)",
    "mod": r"{0} \bmod {1}",
    "floor": r"\lfloor {0} \rfloor",
    "ceil": r"\lceil {0} \rceil",
}
SPELL |= {
    "lt": "{0} < {1}",
    "le": r"{0} \le {1}",
    "eq": "{0} = {1}",
    "ne": r"{0} \ne {1}",
    "and": r"{0} \wedge {1}",
    "or": r"{0} \vee {1}",
}
SPELL |= {
    "not": r"\neg\left({0}\right)",
    "select": r"\begin{{cases}} {1} & {0} \\ {2} & \text{{otherwise}} \end{{cases}}",
}
SYMBOLS = {
    "w": r"\omega",
    "al": r"\varepsilon",
    "dw": r"\Delta\varepsilon",
    "dv": r"\Delta w",
    "rho": r"\rho",
    "tau": r"\tau",
    "Dinv": "D^{-1}",
}
SYMBOLS |= {
    "Un": "U^{n}",
    "Uf": "U^{f}",
    "a0": "a^{0}",
    "el": "e^{l}",
    "Ms": "M^{*}",
    "Fs": "F^{*}",
    "Fp": "F'",
}


MATRICES = {"rho": r"\rho", "Adot": r"\dot{A}"}


def latex_name(name: str) -> str:
    """Return the LaTeX form of a name: gamma_2 as a letter with an index, words upright."""
    derivative = re.fullmatch(r"der\((.*)\)", name)
    if derivative:
        return dotted("dot", latex_name(derivative[1]))
    momentum = re.fullmatch(r"p\(der\((.*)\)\)", name)
    if momentum:
        return rf"p_{{{latex_name(momentum[1])}}}"
    letters = re.fullmatch(r"([A-Za-z]+)_?(\d*)((?:_\w+)?)", name)
    if not letters:
        return rf"\mathrm{{{escaped(name)}}}"
    head, digits, tail = letters.groups()
    symbol = (
        rf"\{head}"
        if head in GREEK
        else head
        if len(head) == 1
        else SYMBOLS.get(head, rf"\mathrm{{{escaped(head)}}}")
    )
    index = ",".join(filter(None, (digits, *(escaped(each) for each in tail.split("_")))))
    return (
        symbol
        if not index
        else rf"{symbol}_{{{index if index.isdigit() or len(index) == 1 else rf'{chr(92)}mathrm{{{index}}}'}}}"
    )


def dotted(accent: str, name: str) -> str:
    """Return a derivative with the dots over the letter, not over its index."""
    letter, mark, index = name.partition("_{")
    return rf"\{accent}{{{letter}}}{mark}{index}"


def escaped(text: str) -> str:
    return text.replace("_", r"\_").replace("%", r"\%").replace("#", r"\#").replace("&", r"\&")


def latex_number(x: float) -> str:
    mantissa, _, exponent = f"{x:.10g}".partition("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if exponent else mantissa


def label(text: str) -> str:
    """Return the LaTeX form of a result's name: the second derivative of a coordinate, an element
    of a matrix, a name.
    """
    second = re.fullmatch(r"der\(der\((.*)\)\)", text)
    if second:
        return dotted("ddot", latex_name(second[1]))
    slope = re.fullmatch(r"d (.*) / d (.*)", text)
    if slope:
        return rf"\frac{{\partial {label(slope[1])}}}{{\partial {label(slope[2])}}}"
    return latex_name(text)


def raised(text: str, count: int) -> str:
    """Return the LaTeX power of a factor; the exponent of a sine or cosine precedes its angle."""
    turned = re.match(r"\\(sin|cos) ", text)
    return rf"\{turned[1]}^{count} {text[turned.end() :]}" if turned else f"{text}^{count}"


def matrix_lines(trace: Trace, printer: Printer) -> Iterator[str]:
    """Return the matrices of all bodies as LaTeX."""
    at = 0
    for matrix in trace.matrices:
        entries = [printer.result(i) for i in trace.results[at : at + matrix.rows * matrix.columns]]
        at += len(entries)
        rows = [
            " & ".join(entries[matrix.columns * k : matrix.columns * (k + 1)])
            for k in range(matrix.rows)
        ]
        name = (
            rf"{MATRICES.get(matrix.symbol, matrix.symbol)}_{{\mathrm{{{escaped(matrix.body)}}}}}"
            if matrix.body
            else matrix.symbol
        )
        yield rf"{name} &= \begin{{pmatrix}} " + r" \\ ".join(rows) + r" \end{pmatrix} \\"


def latex(trace: Trace) -> str:
    """Return the equations in an align environment; the mass matrix as a matrix."""

    def symbol(group: str, k: int) -> str:
        return "t" if group == "t" else label(trace.arguments[group][k])

    heading = f"% {trace.heading}"
    trace = written_out(trace)
    printer = FlatPrinter(
        trace,
        Language(
            symbol,
            latex_number,
            SPELL,
            product=r" \, ",
            quotient=r"\frac{{{0}}}{{{1}}}",
            fraction=True,
        ),
        raised,
    )
    plain = [
        i
        for i in printer.live
        if trace.tape.nodes[i][0] in ("sin", "cos")
        and trace.tape.nodes[trace.tape.nodes[i][1]][0] == "symbol"
    ]
    printer.assigned |= dict.fromkeys(plain, "")
    written = dict(printer.assigned)
    for i, name in written.items():
        kind, *rest = trace.tape.nodes[i]
        if kind in ("sin", "cos") and trace.tape.nodes[rest[0]][0] == "symbol":
            printer.assigned[i] = rf"\{kind} {symbol(*trace.tape.nodes[rest[0]][1:])}"
        else:
            printer.assigned[i] = latex_name(name)
    lines = []
    for i in sorted(written):
        kind, *rest = trace.tape.nodes[i]
        if not (kind in ("sin", "cos") and trace.tape.nodes[rest[0]][0] == "symbol"):
            lines.append(rf"{printer.assigned[i]} &= {printer.expression(i)[0]} \\")
    if trace.matrices:
        lines += list(matrix_lines(trace, printer))
    elif trace.of == "mass_matrix":
        n = trace.shape[0]
        rows = [
            " & ".join(printer.result(i) for i in trace.results[n * k : n * k + n])
            for k in range(n)
        ]
        lines.append(r"M &= \begin{pmatrix} " + r" \\ ".join(rows) + r" \end{pmatrix}")
    else:
        lines += [
            rf"{label(name)} &= {printer.result(i)} \\"
            for name, i in zip(trace.labels, trace.results, strict=True)
        ]
    valid = printer.watched(r" \wedge ")
    if valid:
        lines.append(rf"&\text{{while }} {valid} \\")
    return (
        "\n".join([heading, r"\begin{align*}", *lines]).removesuffix(r" \\")
        + "\n"
        + r"\end{align*}"
        + "\n"
    )
