"""Trees that are built in the studio: what is written into descriptions, taken back, refused."""

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.description.reading.read_source import Text
from kinetree.models.joints.kinds import KINDS
from kinetree.scripts.studio.building import (
    NewBody,
    NewJoint,
    built,
    inertia_of_box,
    snapped,
    with_body,
    with_other,
    without_body,
)
from kinetree.scripts.studio.session import Session
from kinetree.scripts.studio.texts import NOTHING_YET

ARM = NewBody("arm", 2.0, (1.0, 0.1, 0.2), (0.5, 0.0, 0.0))
SHOULDER = NewJoint("shoulder", "ground", "arm", "revolute", ("-y",), (0.0, 0.0, 1.0))


def test_built_pendulum_swings_with_the_frequency_of_its_box():
    """w² = m g l/(I + m l²) of a box that hangs on the end of its longest edge, l half of that."""
    text = with_body(
        NOTHING_YET,
        NewBody("bar", 2.0, (0.1, 0.2, 0.8), (0.0, 0.0, -0.4)),
        NewJoint("pivot", "ground", "bar", "revolute", ("y",)),
    )
    rest = load(Text(text, "built.toml")).compile().equilibrium()
    inertia = 2.0 * (0.1**2 + 0.8**2) / 12.0 + 2.0 * 0.4**2
    assert 2.0 * np.pi * rest.modes[0].frequency == pytest.approx(
        np.sqrt(2.0 * 9.81 * 0.4 / inertia), rel=1e-6
    )
    assert inertia_of_box(12.0, (1.0, 2.0, 3.0)) == [13.0, 10.0, 5.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("language", ["toml", "json"])
def test_every_kind_of_joint_can_be_built(kind: str, language: str):
    start = NOTHING_YET
    if language == "json":
        start = '{"format": "kinetree/1", "name": "Built", "gravity": [0, 0, -9.81]}'
    text = with_body(start, ARM, SHOULDER)
    joint = NewJoint("wrist", "arm", "hand", kind, ("y", "z"), (1.0, 0.0, 0.0), pitch=0.01)
    text = with_body(text, NewBody("hand", 0.5, (0.2, 0.1, 0.1)), joint)
    made = load(Text(text, f"built.{language}")).description
    assert made.joints["wrist"].parent == "arm" and made.joints["wrist"].type == kind
    back = without_body(text, "hand")
    assert set(load(Text(back, f"built.{language}")).description.bodies) == {"arm"}


def test_bodies_are_taken_out_and_notes_stay():
    text = with_body(NOTHING_YET, ARM, SHOULDER) + "\n# how long it runs\n[run]\nstop_time = 2.0\n"
    bare = without_body(text, "arm")
    assert bare.startswith(NOTHING_YET) and "# how long it runs\n[run]" in bare
    assert "arm" not in bare
    inline = "bodies = { arm = { mass = 1.0 } }\n"
    with pytest.raises(ValueError, match="not written as a table of its own"):
        without_body(inline, "arm")
    with pytest.raises(ValueError, match="no body 'leg'"):
        without_body(text, "leg")


def test_what_cannot_be_built_is_refused_by_the_checks_of_the_description():
    session = Session("new:empty")
    assert session.mechanism is None and session.problems
    assert session.rewrite(with_body(session.text, ARM, SHOULDER)) == []
    good = session.text
    gone = NewJoint("wrist", "leg", "hand")
    for body in (NewBody("hand", -1.0, (1, 1, 1)), NewBody("hand", 1.0, (1, 1, 1))):
        problems = session.rewrite(with_body(good, body, gone))
        assert problems and session.text == good and session.problems == []
    with pytest.raises(ValueError, match="of that name already"):
        with_body(good, ARM, SHOULDER)
    with pytest.raises(ValueError, match="expected"):
        with_body(good, NewBody("2 hands", 1.0, (1, 1, 1)), NewJoint("j", "arm", "2 hands"))
    assert session.undo() and "arm" not in session.text
    assert session.redo() and session.text == good


def test_joint_between_bodies_closes_a_loop(tmp_path):
    """Two arms of one length on one point, joined at their ends, move as one: one freedom left."""
    session = Session("new:empty")
    for k, name in enumerate(("left", "right")):
        body = NewBody(name, 1.0, (1.0, 0.1, 0.1), (0.5, 0.0, 0.0))
        joint = NewJoint(f"pivot{k}", "ground", name, "revolute", ("y",), (0.0, 0.2 * k, 0.0))
        assert session.rewrite(with_body(session.text, body, joint)) == []
    pin = NewJoint("pin", "left", "right", "spherical", (), (1.0, 0.1, 0.0), (1.0, -0.1, 0.0))
    assert session.rewrite(with_body(session.text, None, pin)) == []
    assert session.ready().compile().freedoms == 1
    path = session.save(str(tmp_path / "built.toml"))
    assert load(str(path)).compile().freedoms == 1


def test_clicks_snap_to_the_middle_of_faces():
    table = ARM.table()
    assert snapped(table, [0.98, 0.05, 0.03]) == [1.0, 0.0, 0.0]
    assert snapped(table, [0.25, 0.05, 0.1]) == [0.25, 0.05, 0.1]
    assert snapped({"shape": {"box": ["L", 1, 1]}}, [0.98, 0.05, 0.03]) == [0.98, 0.05, 0.03]


def test_built_bodies_are_changed_and_their_children_stay():
    text = with_body(NOTHING_YET, ARM, SHOULDER)
    text = with_body(
        text,
        NewBody("hand", 0.5, (0.2, 0.1, 0.1)),
        NewJoint("wrist", "arm", "hand", "screw", pitch=0.02),
    )
    assert built(text, "arm") == (ARM, SHOULDER)
    longer = NewBody("arm", 3.0, (2.0, 0.1, 0.2), (1.0, 0.0, 0.0))
    made = load(Text(with_other(text, longer, SHOULDER), "built.toml")).description
    assert made.bodies["arm"].mass == 3.0 and made.joints["wrist"].parent == "arm"
    other = text.replace("mass = 2.0", "mass = 2.0\ntext = 'mine'")
    assert built(other, "arm") is None, "what the panel has no field for would be lost"
    with pytest.raises(ValueError, match="in another way"):
        with_other(other, longer, SHOULDER)
