"""`kinetree info`: shows tree, constraints, variables and computational costs of a mechanism."""

from typing import Any

from kinetree.scripts.commands import Command
from kinetree.scripts.terminal.arguments import Settings, Source, loaded
from kinetree.scripts.terminal.json_output import Json, show_json

ROWS = 60  # bodies and parameters beyond this many are counted, not shown
FORMULATIONS = {
    "DRT": "mass matrix from Jacobians",
    "CBM": "mass matrix by composite rigid bodies",
    "LGR": "Lagrange multipliers of the joints",
    "ITR-M": "iteration on the mass matrix",
    "ITR-G": "iteration without a mass matrix",
    "ABM": "articulated bodies",
    "DEC": "recursive block elimination (LᵀDL)",
}


def info(
    file: Source,
    settings: Settings = None,
    json: Json = False,
) -> None:
    """Show joints, degrees of freedom, closed loops, inputs, outputs, parameters and operation counts."""
    from kinetree.scripts.terminal.model_info import anatomy

    mechanism = loaded(file, settings)
    chain = mechanism.chain() if mechanism.description.chain is not None else None
    content = chain.anatomy() if chain is not None else anatomy(mechanism.compile())
    if json:
        show_json(content)
    elif chain is not None:
        show_chain(content)
    else:
        show(content)


def show_chain(content: dict[str, Any]) -> None:
    """Print masses and natural frequencies of a linear chain."""
    from rich.console import Console
    from rich.markup import escape

    console = Console(highlight=False, soft_wrap=True)
    console.print(
        f"[bold]{escape(content['name'])}[/bold]"
        + (f": {escape(content['text'])}" if content["text"] else "")
    )
    console.print(
        f"chain of {count(content['coordinates'], 'mass', 'masses')}, {content['method']}"
    )
    frequencies = content["frequencies"]
    console.print(
        grid(
            "Natural frequencies",
            [(f"{k}", f"{value:.6g} Hz") for k, value in enumerate(frequencies[:ROWS], 1)],
        )
    )
    if len(frequencies) > ROWS:
        console.print(f"... {len(frequencies) - ROWS} more up to {frequencies[-1]:.6g} Hz")


def show(content: dict[str, Any]) -> None:
    """Print the tree, loops, variables and costs of a mechanism."""
    from rich.console import Console
    from rich.markup import escape

    console = Console(highlight=False, soft_wrap=True)
    console.print(
        f"[bold]{escape(content['name'])}[/bold]"
        + (f": {escape(content['text'])}" if content["text"] else "")
    )
    more = (
        ""
        if content["position_freedoms"] == content["freedoms"]
        else f" in velocities, {content['position_freedoms']} in positions"
    )
    pieces = sum(len(beam["pieces"]) for beam in content["beams"])
    beams = f"{count(content['beams'], 'beam', 'beams')}, " if content["beams"] else ""
    bodies = count(len(content["bodies"]) - pieces, "body", "bodies")
    console.print(
        f"{bodies}, {beams}{count(content['freedoms'], 'degree of freedom', 'degrees of freedom')}{more}\n"
    )
    console.print(tree(content))
    for beam in content["beams"]:
        slow = ", ".join(f"{each:.4g}" for each in beam["frequencies"])
        elements = count(beam["elements"], "element", "elements")
        console.print(
            f"beam {escape(beam['name'])}: {beam['length']:g} m, {elements}, {beam['hinges']} hinges; clamped at its root {slow} Hz"
        )
    for joint in content["joints"]:
        if joint["cut"]:
            console.print(
                f"loop joint {escape(joint['name'])}: closes a loop between {escape(joint['parent'])} and {escape(joint['child'])}"
                + ("" if joint["coordinates"] else ", without coordinates of its own")
            )
    if content["merged"]:
        left = len(content["bodies"]) - len(content["merged"])
        console.print(
            f"{count(content['merged'], 'body is', 'bodies are')} merged into rigid groups: {left} move"
        )
    if content["couplings"]:
        console.print(f"couplings: {escape(', '.join(content['couplings']))}")
    if content["redundant"]:
        console.print(
            "redundant constraints (their reactions are not unique): "
            + escape(", ".join(content["redundant"]))
        )
    console.print()
    for title, rows in tables(content):
        console.print(grid(title, rows))
    if content["stages"]:
        console.print(f"Stages: {escape(', '.join(content['stages']))}")
    console.print(costs(content))
    if content["straight_line"]:
        size, least = (content["straight_line"][key] for key in ("operations", "evaluations"))
        console.print(
            f"Machine code generated for this mechanism alone needs about {size:,} operations per evaluation.\n"
            f"`kinetree run` generates it by itself for runs of at least about {float(least):.1g} evaluations."
        )


def count(things: int | list, one: str, many: str) -> str:
    """Return the number of things with its noun in singular or plural."""
    number = things if isinstance(things, int) else len(things)
    return f"{number} {one if number == 1 else many}"


def tree(content: dict[str, Any]) -> Any:
    """Return the spanning tree for printing, each body with the joint to its parent."""
    from rich.markup import escape
    from rich.tree import Tree

    joints = {joint["name"]: joint for joint in content["joints"]}
    branches = {"ground": Tree("ground")}
    whole = {piece: beam["name"] for beam in content["beams"] for piece in beam["pieces"]}
    shown = 0
    for body in content["bodies"]:
        if whole.get(body["name"], "") == whole.get(body["parent"], "ground"):
            branches[body["name"]] = branches.get(body["parent"], branches["ground"])
            continue  # a piece of a beam stands where the beam stands
        shown += 1
        if shown > ROWS:
            continue
        joint = joints[body["joint"]]
        kind = "" if joint["type"] == "transforms" else f" {joint['type']}"
        moves = escape(", ".join(joint["coordinates"]) or "fixed")
        carrier = content["merged"].get(body["name"], "")
        part = f", merged with {escape(carrier)}" if carrier else ""
        name = whole.get(body["name"], body["name"])
        label = (
            f"[bold]{escape(name)}[/bold]  [dim]{escape(joint['name'])}:{kind} {moves}{part}[/dim]"
        )
        branches[body["name"]] = branches[body["parent"]].add(label)
    if shown > ROWS:
        branches["ground"].add(f"[dim]... and {shown - ROWS} more (--json shows all)[/dim]")
    return branches["ground"]


def tables(content: dict[str, Any]) -> list[tuple[str, list[tuple[str, ...]]]]:
    """Return the tables of inputs, outputs and parameters, with rows of name, value, unit and text."""
    kinds = (
        ("Inputs", "inputs", ("start",)),
        ("Outputs", "outputs", ()),
        ("Parameters", "parameters", ("value",)),
    )
    found = []
    for title, key, values in kinds:
        entries = content[key][:ROWS]
        rows: list[tuple[str, ...]] = [
            (each["name"], *(str(each[value]) for value in values), each["unit"], each["text"])
            for each in entries
        ]
        if len(content[key]) > ROWS:
            rows.append(("...", f"{len(content[key]) - ROWS} more"))
        if rows:
            found.append((title, rows))
    return found


def grid(title: str, rows: list[tuple[str, ...]]) -> Any:
    """Return a table for rich without borders and headings."""
    from rich.markup import escape
    from rich.table import Table

    table = Table(
        title=title,
        title_justify="left",
        title_style="bold",
        show_header=False,
        box=None,
        padding=(0, 2),
    )
    for row in rows:
        table.add_row(*map(escape, row))
    return table


def marks(content: dict[str, Any], method: str) -> list[str]:
    """Return the notes on a method in the cost table, such as which one runs.

    The form with the lowest operation count is not always the one that runs: the engine's form is
    compiled to far fewer instructions.
    """
    numbers, chosen = content["costs"], content["cheapest"]
    words = {"used for runs": content["engine"]}
    if numbers.get(chosen) == min(numbers.values()):
        words["fewest operations"] = chosen
    return [word for word, which in words.items() if which == method]


def cost_caption(content: dict[str, Any]) -> str:
    """Return the sentence below the cost table: why the method with fewest operations does not run."""
    numbers, chosen = content["costs"], content["cheapest"]
    if numbers.get(chosen) != min(numbers.values()):
        return f"Of these, only {chosen} handles closed loops and flexible bodies."
    if content["engine"] == chosen:
        return ""
    return (
        f"Runs use {content['engine']} although {chosen} has fewer operations: the counts belong to\n"
        f"the published formulas; only the compiled code of {content['engine']} is optimised for speed."
    )


def costs(content: dict[str, Any]) -> Any:
    """Return the table of floating-point operations per evaluation by method."""
    from rich.table import Table

    table = Table(
        title="Floating-point operations of one evaluation of all accelerations, by method",
        title_justify="left",
        title_style="bold",
        box=None,
        padding=(0, 2),
        caption=cost_caption(content) or None,
        caption_justify="left",
    )
    table.add_column("method")
    table.add_column("operations", justify="right")
    table.add_column("meaning")
    for method, flops in sorted(content["costs"].items(), key=lambda pair: pair[1]):
        notes = "; ".join([FORMULATIONS.get(method, ""), *marks(content, method)])
        table.add_row(method, f"{flops:,.0f}", notes)
    return table


COMMAND = Command("info", info, place=20)
