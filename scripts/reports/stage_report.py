"""Tables over stages requested in a description or on the command line: shown, and written as CSV,
HTML or LaTeX.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from kinetree.models.language.parts.report_parts import REPORT_ROWS, ReportTable
from kinetree.models.result.atomic_file import opened, write_text
from kinetree.models.result.stage_tables import StageTable, not_there, stage_table
from kinetree.scripts.terminal.arguments import one_of
from kinetree.scripts.terminal.error_messages import BadInput

ENDINGS = (".html", ".csv", ".tex")
LATEX = {
    "\\": r"\textbackslash{}",
    "_": r"\_",
    "%": r"\%",
    "&": r"\&",
    "#": r"\#",
    "$": r"\$",
    "{": r"\{",
    "}": r"\}",
    "^": r"\^{}",
    "~": r"\~{}",
}


def asked(spec: str) -> ReportTable:
    """Parse the request of a stage table, ROWS[:COLUMNS[:STAGES[:REFERENCE]]] with commas in lists,
    as in end:slew,luff:swing*:stage.
    """
    kind, columns, stages, reference, *more = [
        *(part.strip() for part in spec.split(":")),
        "",
        "",
        "",
    ][: max(4, spec.count(":") + 1)]
    if more:
        raise BadInput(f"--table {spec}: expected ROWS:COLUMNS:STAGES:REFERENCE")
    values: dict[str, Any] = {
        "rows": one_of(kind, REPORT_ROWS, "--table"),
        "columns": listed(columns),
        "stages": listed(stages),
        "title": spec,
    }
    if reference:
        values["reference"] = number_or_text(reference)
    try:
        return ReportTable.model_validate(values)
    except ValidationError:
        raise BadInput(
            f"--table {spec}: REFERENCE is start, stage or an instant in s, found '{reference}'"
        ) from None


def listed(text: str) -> list[str]:
    """Return the names in a list separated by commas."""
    return [part.strip() for part in text.split(",") if part.strip()]


def number_or_text(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def wanted_tables(description: Any, specs: Sequence[str]) -> dict[str, ReportTable]:
    """Return the tables requested on the command line, or else those of the description."""
    return {spec: asked(spec) for spec in specs} if specs else dict(description.report.tables)


def made_tables(
    result: Any, wanted: dict[str, ReportTable], coordinates: Sequence[str] = ()
) -> list[StageTable]:
    """Return the requested tables of a run; raise BadInput for unknown columns and stages."""
    made = []
    for name, table in wanted.items():
        try:
            made.append(stage_table(result, table, name, coordinates))
        except KeyError as error:
            raise BadInput(f"table '{name}': {error.args[0]}") from None
    return made


def check_tables(
    result: Any, wanted: dict[str, ReportTable], coordinates: Sequence[str] = ()
) -> None:
    """Raise BadInput for unknown columns and stages before the run; `result` is a result without
    rows.
    """
    for name, objection in not_there(result, wanted, coordinates).items():
        raise BadInput(f"table '{name}': {objection}")


def write_tables(path: Path, tables: Sequence[StageTable], title: str) -> Path:
    """Write all tables to one file, CSV in SI with all digits, other formats rounded."""
    if path.suffix.lower() == ".csv":
        with opened(path) as stream:
            writer = csv.writer(stream, lineterminator="\n")
            for k, each in enumerate(tables):
                writer.writerows([*([[]] if k else []), [each.title], *each.plain_rows()])
    elif path.suffix.lower() == ".tex":
        write_text(path, "\n".join(map(latex, tables)))
    else:
        from kinetree.scripts.reports.html_report import table, write_report

        write_report(path, title or "Tables", [table(each.rows(), each.title) for each in tables])
    return path


def latex(table: StageTable) -> str:
    """Return a table as LaTeX with booktabs."""
    head, *lines = [
        [re.sub(r"[\\_%&#${}^~]", lambda found: LATEX[found[0]], cell) for cell in row]
        for row in table.rows()
    ]
    title = re.sub(r"[\\_%&#${}^~]", lambda found: LATEX[found[0]], table.title)
    body = [" & ".join(row) + r" \\" for row in lines]
    rule = [r"\midrule"] if table.sums else []
    cut = len(body) - len(table.sums)
    return "\n".join([
        r"\begin{table}", rf"\caption{{{title}}}", rf"\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}", r"\toprule", " & ".join(head) + r" \\",
        r"\midrule", *body[:cut], *rule, *body[cut:], r"\bottomrule", r"\end{tabular}", r"\end{table}", "",
    ])  # fmt: skip
