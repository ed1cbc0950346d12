"""Records are declared once: kernels, Python, the C shell and the docs read the same declaration."""

import ast
import re

import pytest
from tree import ROOT, modules, nodes, short

from kinetree.fmu.native import matrix_steps
from kinetree.models.gradients import adjoint_layout
from kinetree.scripts.reports import records as reports
from kinetree.solvers import fields, model_records, unit_layout
from kinetree.solvers.records import Entry, Record

RECORDS = {
    record.name: record
    for record in (
        *model_records.RECORDS,
        *unit_layout.RECORDS,
        *adjoint_layout.RECORDS,
        matrix_steps.RECORD,
        matrix_steps.LEVEL,
    )
}


@pytest.mark.parametrize("record", RECORDS.values(), ids=RECORDS)
def test_entries_fill_a_record_without_gaps(record: Record):
    at = 0
    for entry in record.entries:
        assert record.places[entry.name] == (at, entry.count) and entry.text
        at += entry.count
    assert at == record.size == len(record.filled())


def test_record_view_reads_and_writes_its_block():
    """What one entry is given no other one sees, whatever stands before and behind the record."""
    record = Record("pair", "test", Entry("a", "one"), Entry("b", "two", 2), Entry("c", "one"))
    block = [9, 1, 2, 3, 4, 9]
    view = record.of(block, 1)
    assert (view.a, view.b, view.c, view[3], len(view)) == (1, [2, 3], 4, 4, 5)
    view.b, view.c = [7, 8], 5
    assert block == [9, 1, 7, 8, 5, 9]
    with pytest.raises(AttributeError):
        view.d = 1
    with pytest.raises(ValueError):
        Record("twice", "test", Entry("a", "one"), Entry("a", "other"))


def test_records_page_matches_declarations():
    assert reports.PAGE.read_text(encoding="utf-8") == reports.page(), (
        "python -m kinetree.scripts.reports.records writes it anew"
    )


def test_registers_follow_the_header():
    """Hosts find registers behind the head of a workspace."""
    assert [field.name for field in fields.WORK[:2]] == [
        "head",
        "val",
    ] and fields.REGISTERS == model_records.HEAD.size


def test_records_define_all_offsets():
    """No constant stands for a place in the header, the head, a unit, or a record of a table."""
    old, somewhere = (
        re.compile(r"^(U|V|H|K|S|T|G)_[A-Z0-9_]+$"),
        re.compile(r"\b(U|V|H|K|S|T|G)_[A-Z0-9_]+\b"),
    )
    kept = {"V_", "E_STAGE", "E_RESET"}
    wrong = [
        f"{short(path)}:{node.lineno} {name}"
        for path in modules("solvers", "models", "fmu_src", "scripts")
        if "integrate" not in short(path)
        and somewhere.search(path.read_text(encoding="utf-8"))  # to take others apart takes longer
        for node in nodes(path)
        for name in [
            node.id
            if isinstance(node, ast.Name)
            else node.attr
            if isinstance(node, ast.Attribute)
            else ""
        ]
        if old.match(name) and name not in kept and hasattr(node, "ctx")
        if name
        not in ("H_GIVEN", "H_NEXT", "H_MAX", "T_NEW", "T_OLD", "S_IWGRP", "S_IWOTH", "S_IMODE")
    ]
    assert not wrong, "\n".join(wrong)


def test_every_constant_of_the_shell_is_declared():
    """The C files use no name of a layout that the header does not have."""
    from kinetree.fmu.native.shell import layout_header

    declared = set(re.findall(r"^#define (\w+)", layout_header(), re.M))
    used = set()
    for path in (ROOT / "fmu_src" / "native").glob("*.c"):
        used |= set(
            re.findall(r"\b(?:[UVSM]|STATUS|KIND|UNIT|STAGE)_[A-Z0-9_]+\b", path.read_text())
        )
    assert used <= declared, used - declared
