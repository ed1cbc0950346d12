"""Parts of the studio's page: parameters, structure as graph and tree, numbers and tables of a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nicegui import ui

from kinetree.models.result.number_format import written
from kinetree.models.result.shown_names import shown_name
from kinetree.scripts.reports.summary import read_extremes
from kinetree.scripts.studio.graph import GROUND, Graph, graph_of
from kinetree.scripts.studio.session import Finished, Session
from kinetree.scripts.studio.values import inside, shown, unit_of

DIGITS = 8  # of a parameter
HEADING = "text-xs uppercase opacity-60 mt-3"
EDGES = {
    "joint": {"color": "#4878a8", "width": 2},
    "loop": {"color": "#b5473c", "width": 2},
    "force": {"color": "#c98a1b", "type": "dashed"},
}


def parameter_rows(
    session: Session, changed: Callable[[str, float | None], Any], wanted: str
) -> None:
    """Add a row per parameter: name, value with unit, bounds, reset."""
    rows = session.parameters()
    if not rows:
        ui.label("The description has no parameters.").classes("text-sm opacity-70")
    words = wanted.lower().split()
    for name, (parameter, value) in rows.items():
        if all(word in f"{name} {parameter.text}".lower() for word in words):
            parameter_row(session, name, parameter, shown(parameter, value), changed)


def parameter_row(
    session: Session,
    name: str,
    parameter: Any,
    value: float,
    changed: Callable[[str, float | None], Any],
) -> None:
    """Add a field of one parameter, applied on Enter or when left."""
    was = written(value, DIGITS)

    def typed(text: Any) -> None:
        try:
            given = number(text)
        except ValueError:
            ui.notify(f"{name}: {text!r} is not a number", type="negative")
            return
        if str(text) != was:
            changed(name, None if given is None else inside(parameter, given))

    with ui.row().classes("w-full items-center no-wrap gap-2"):
        with ui.column().classes("grow gap-0 min-w-0"):
            ui.label(name).classes("text-sm font-medium")
            follows = (
                "an expression"
                if isinstance(parameter.value, str) and name not in session.overrides
                else ""
            )
            ui.label(
                " · ".join(filter(None, (parameter.text, bounds(parameter), follows)))
            ).classes("text-xs opacity-60")
        field = (
            ui.input(value=was)
            .props(f'dense outlined input-class="text-right" suffix="{unit_of(parameter)}"')
            .classes("w-36 shrink-0")
        )
        field.mark(f"parameter-{name}").props(f'aria-label="{name}" data-parameter="{name}"')
        field.on("keydown.enter", lambda: typed(field.value))
        field.on("blur", lambda: typed(field.value))
        if name in session.overrides:
            back = ui.button(icon="restart_alt", on_click=lambda: changed(name, None))
            back.props('flat dense round size=sm title="back to the value of the description"')


def bounds(parameter: Any) -> str:
    """Return the limits of a parameter as text, in its display unit."""
    low, high = (
        written(shown(parameter, float(each))) if isinstance(each, (int, float)) else each
        for each in (parameter.min, parameter.max)
    )
    if low is not None and high is not None:
        return f"{low} to {high}"
    return f"at least {low}" if low is not None else f"at most {high}" if high is not None else ""


def number(text: Any) -> float | None:
    """Return typed text as a number; None for an empty text."""
    cleaned = str(text or "").strip().replace(",", ".")
    return float(cleaned) if cleaned else None


def structure(session: Session, ink: str) -> None:
    """Show the graph of bodies, joints and forces, the spanning tree, loops and stages."""
    mechanism = session.mechanism
    if mechanism is None or mechanism.description.chain is not None:
        ui.label("A linear chain." if mechanism else "").classes("text-sm")
        return
    from kinetree.scripts.commands.info import count
    from kinetree.scripts.terminal.model_info import anatomy

    content = anatomy(mechanism.compile())
    joints = {joint["name"]: joint for joint in content["joints"]}
    nodes: dict[str, dict[str, Any]] = {GROUND: {"id": GROUND, "label": GROUND, "children": []}}
    for body in content["bodies"]:
        joint = joints[body["joint"]]
        kind = (
            joint["type"]
            if joint["type"] != "transforms"
            else ", ".join(joint["coordinates"]) or "fixed"
        )
        nodes[body["name"]] = {
            "id": body["name"],
            "label": f"{body['name']}  ({joint['name']}: {kind})",
            "children": [],
        }
        nodes[body["parent"]]["children"].append(nodes[body["name"]])
    cuts = f", closed by {', '.join(content['cut_joints'])}" if content["cut_joints"] else ""
    counted = f"{count(content['bodies'], 'body', 'bodies')}, {count(content['freedoms'], 'degree of freedom', 'degrees of freedom')}"
    ui.label(f"{counted}{cuts}; solved by {content['engine']}").classes("text-sm")
    graph = graph_of(mechanism)
    ui.echart(graph_options(graph, ink)).classes("w-full").style(
        f"height: {min(120 + 80 * graph.rows, 520)}px"
    ).mark("graph")
    ui.label(
        "blue: joints, red: joints that close loops, dashed: forces, contacts, drives"
    ).classes("text-xs opacity-60")
    ui.tree([nodes[GROUND]], label_key="label").props("dense").classes("pt-2").expand()
    for heading, names in (
        ("Stages", content["stages"]),
        ("Inputs", [each["name"] for each in content["inputs"]]),
        ("States", content["states"]),
    ):
        if names:
            ui.label(f"{heading}: " + ", ".join(names)).classes("text-sm")


def graph_options(graph: Graph, ink: str) -> dict[str, Any]:
    """Return a structure graph as options for ECharts."""
    beside: dict[frozenset[str], int] = {}
    links = []
    for edge in graph.edges:
        pair = frozenset((edge.a, edge.b))
        beside[pair] = k = beside.get(pair, -1) + 1
        bend = 0.18 * ((k + 1) // 2) * (1 if k % 2 else -1)
        links.append({
            "source": edge.a, "target": edge.b, "name": edge.name, "value": edge.text,
            "lineStyle": {**EDGES[edge.kind], "curveness": bend, "opacity": 0.9},
        })  # fmt: skip
    few = len(graph.places) <= 12
    data = [
        {"name": body, "x": 100.0 * column, "y": 80.0 * row, "symbolSize": 26 if body == GROUND else 18,
         "symbol": "rect" if body == GROUND else "circle", "itemStyle": {"color": "#7d8894" if body == GROUND else "#1f6fb5"}}
        for body, (column, row) in graph.places.items()
    ]  # fmt: skip
    return {
        "animation": False, "tooltip": {"confine": True},
        "series": [{
            "type": "graph", "layout": "none", "roam": True, "preserveAspect": "contain", "data": data, "links": links,
            "left": 40, "right": 70, "top": 20, "bottom": 30,
            "label": {"show": len(graph.places) <= 30, "position": "right", "color": ink, "fontSize": 11},
            "edgeLabel": {"show": few and len(graph.edges) <= 12, "formatter": "{c}", "fontSize": 9, "color": ink, "opacity": 0.7},
            "edgeSymbol": ["none", "none"],
        }],
    }  # fmt: skip


def plain_table(head: list[str], rows: list[list[str]], title: str = "") -> None:
    """Add a table with names aligned left and numbers aligned right."""
    columns = [
        {
            "name": str(k),
            "label": text,
            "field": str(k),
            "align": "right" if k and text != "unit" else "left",
            "sortable": not k,
        }
        for k, text in enumerate(head)
    ]
    made = ui.table(
        rows=[{str(k): cell for k, cell in enumerate(row)} for row in rows],
        columns=columns,
        row_key="0",
        title=title or None,
    )
    made.props("dense flat").classes("w-full")


def table_of(finished: Finished) -> None:
    """Show start, end and extremes of a run's columns."""
    result = finished.result
    names = [name for name in result.names if name not in result.EXTRA or name == "energy"]
    plain_table(
        ["", "start", "end", "smallest", "largest", "unit"],
        [[shown_name(result, name), *read_extremes(result, name, 5)] for name in names],
    )
