"""Every law of the registry has its place in the docs, with equations, a picture and an example, and something outside that it is held against."""

import re
import tomllib
from pathlib import Path

import pytest
from test_shapes import PAIRS as TRIED

from kinetree.models.forces.contact_geometry import ON_PLANES, pair
from kinetree.models.forces.kinds import KINDS, force_kind
from kinetree.models.forces.outlines import SHAPES
from kinetree.scripts.site.code_blocks import blocks

HERE, DOCS = Path(__file__).parent, Path(__file__).parents[2] / "docs"
LAWS, OUTSIDE = "forces.md", "test_force_law_references.py"
# kind: page with its example, picture there, test against something outside
HELD = {
    "coordinate": (
        LAWS,
        "bench.png",
        OUTSIDE,
        "test_spring_and_damper_match_damped_oscillator",
    ),
    "line": (LAWS, "bench.png", OUTSIDE, "test_line_force_matches_mujoco_tendon"),
    "rope": ("guides.md", "guides.png", OUTSIDE, "test_rope_matches_mujoco_tendon_over_sites"),
    "stop": (LAWS, "force_laws.png", OUTSIDE, "test_damped_stop_matches_exponential_solution"),
    "friction": (
        LAWS,
        "force_laws.png",
        OUTSIDE,
        "test_dry_friction_decay_matches_den_hartog",
    ),
    "brake": ("wheels.md", "truck_trips.png", OUTSIDE, "test_brake_matches_elastoplastic_element"),
    "cylinder": (
        LAWS,
        "bench.png",
        OUTSIDE,
        "test_cylinder_pushes_with_pressures_and_oscillates_on_stops",
    ),
    "rail": (LAWS, "lift.png", OUTSIDE, "test_pin_between_rail_walls_matches_reference"),
    "wrench": (LAWS, "bench.png", OUTSIDE, "test_wrenches_and_pairs_match_mujoco_applied_forces"),
    "pair": (LAWS, "bench.png", OUTSIDE, "test_wrenches_and_pairs_match_mujoco_applied_forces"),
    "tyre": (
        "ground.md",
        "soil.png",
        OUTSIDE,
        "test_lunar_rover_compaction_matches_published_value",
    ),
    "contact": (LAWS, "outlines.png", "test_shapes.py", "test_ball_impact_matches_hertz"),
    "jack": (
        LAWS,
        "lift.png",
        "test_locked_oil.py",
        "test_locked_oil_supports_match_circuit_chambers",
    ),
    "wheel": (
        "wheels.md",
        "wheel_slip.png",
        "test_wheel.py",
        "test_steady_slip_matches_brush_model",
    ),
    "boundary": (
        "guides.md",
        "guides.png",
        "test_boundary_curves.py",
        "test_boundary_conserves_energy_and_angular_momentum_in_round_hole",
    ),  # fmt: skip
    "guide": ("guides.md", "guides.png", "test_guides.py", "test_a_bead_on_a_hoop_is_a_pendulum"),
    "bushing": (
        "guides.md",
        "guides.png",
        "test_guides.py",
        "test_bushing_force_is_derivative_of_its_energy",
    ),
    "latch": (
        "guides.md",
        "gears.png",
        "test_guides.py",
        "test_latch_opens_at_strength_and_stays_open",
    ),
    "electric": (
        LAWS,
        "electric_motor.png",
        "test_electric_motors.py",
        "test_motor_reaches_its_no_load_speed_with_its_time_constant",
    ),
    "gear": (
        "guides.md",
        "gears.png",
        "test_guides.py",
        "test_gear_contact_keeps_ratio",
    ),
}


def examples(page: str) -> set[str]:
    """Kinds of force elements in the whole descriptions that a page shows; they run in the tests of the pages."""
    found = [
        tomllib.loads(block.text)
        for block in blocks((DOCS / page).read_text(encoding="utf-8"))
        if block.language == "toml"
    ]
    return {
        str(force_kind(force))
        for each in found
        if "format" in each
        for force in each.get("forces", {}).values()
    }


def rows() -> dict[str, list[str]]:
    """Cells of the table of comparisons by kind; an empty last cell means the one above."""
    found, test = {}, ""
    for line in (DOCS / LAWS).read_text(encoding="utf-8").split("## Held against")[1].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `") and len(cells) == 4:
            test = cells[3].strip("`") or test
            found |= {kind: [*cells[1:3], test] for kind in re.findall(r"`(\w+)`", cells[0])}
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_every_law_has_documentation_and_reference(kind: str):
    assert kind in HELD, (
        f"'{kind}' needs a page with equations, picture and example, and a test against something outside: name them in HELD"
    )
    page, picture, file, test = HELD[kind]
    text = (DOCS / page).read_text(encoding="utf-8")
    assert f"`{kind}`" in text and re.search(r"^    \S.*=|^\| `.*\|", text, re.M), (
        f"no law of '{kind}' on {page}"
    )
    assert f"](pictures/{picture})" in text and (DOCS / "pictures" / picture).stat().st_size > 5000
    assert kind in examples(page), f"no example with '{kind}' on {page}"
    against, found, told = rows()[kind]
    assert against and found and told == file
    assert f"def {test}(" in (HERE / file).read_text(encoding="utf-8")


def test_references_name_existing_laws():
    assert set(HELD) == set(KINDS) == set(rows())


def test_every_pair_of_contact_shapes_is_tested():
    """Against coal and, swapped, against itself; the pairs and only they are on the page."""
    known = {(a, b) for a in SHAPES for b in SHAPES if pair(a, b)[0]} - {
        ("plane", each) for each in SHAPES
    }
    assert known == set(TRIED) and set(ON_PLANES) < set(SHAPES)
    table = (
        (DOCS / LAWS)
        .read_text(encoding="utf-8")
        .split("| first | second | spots |")[1]
        .split("\n\n")[0]
    )
    lines = [
        [cell.strip().split(", ") for cell in line.strip("|").split("|")[:2]]
        for line in table.splitlines()
        if line.startswith("| ")
    ]
    shown = {(a, b) for first, second in lines for a in first for b in second if b != "ground"}
    assert {frozenset(each) for each in shown} == {frozenset(each) for each in known}
