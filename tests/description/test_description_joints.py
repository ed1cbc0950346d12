"""Joints as sequences of elements: names, starts, shorthands."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinetree.models.description.joints import joint_elements
from kinetree.models.description.schema import JointSpec
from kinetree.models.joints.elements import JointProblem, perpendiculars
from kinetree.models.joints.kinds import KINDS
from kinetree.solvers.layout import Element


def form(**keys):
    return joint_elements(JointSpec.model_validate({"child": "b"} | keys), "J")


def kinds(joint):
    return [Element(element.kind.code) for element in joint.elements]


DEFAULTS = {
    "rigid": ((), (), []),
    "revolute": (("J.angle",), ("der(J.angle)",), [Element.ROTATE_Q]),
    "prismatic": (("J.s",), ("der(J.s)",), [Element.SHIFT_Q]),
    "cylindrical": (
        ("J.s", "J.angle"),
        ("der(J.s)", "der(J.angle)"),
        [Element.SHIFT_Q, Element.ROTATE_Q],
    ),
    "universal": (
        ("J.angle1", "J.angle2"),
        ("der(J.angle1)", "der(J.angle2)"),
        [Element.ROTATE_Q, Element.ROTATE_Q],
    ),
    "planar": (
        ("J.x", "J.y", "J.angle"),
        ("der(J.x)", "der(J.y)", "der(J.angle)"),
        [Element.SHIFT_Q, Element.SHIFT_Q, Element.ROTATE_Q],
    ),
    "screw": (("J.angle",), ("der(J.angle)",), [Element.ROTATE_Q, Element.SHIFT_Q]),
    "spherical": (("J.qw", "J.qx", "J.qy", "J.qz"), ("J.wx", "J.wy", "J.wz"), [Element.BALL]),
    "free": (
        ("J.x", "J.y", "J.z", "J.qw", "J.qx", "J.qy", "J.qz"),
        ("J.vx", "J.vy", "J.vz", "J.wx", "J.wy", "J.wz"),
        [Element.FREE],
    ),
}


@pytest.mark.parametrize("kind", DEFAULTS)
def test_typed_joints_have_their_names_and_elements(kind):
    joint = form(type=kind, **({"pitch": 0.01} if kind == "screw" else {}))
    coordinates, speeds, elements = DEFAULTS[kind]
    assert (joint.coordinates, joint.speeds, kinds(joint)) == (coordinates, speeds, elements)
    assert len(joint.starts) == len(coordinates)
    assert joint.start_speeds == (0.0,) * len(speeds)


@pytest.mark.parametrize("kind", KINDS)
def test_every_type_of_the_registry_is_expanded(kind):
    """Its elements move with all of its coordinates, which have names and starts; an axis and a pitch are refused where they mean nothing."""
    declared = KINDS[kind]
    axes = (
        {"axis": [[0.0, 0.6, 0.8], [1.0, 0.0, 0.0], [0.0, 0.8, -0.6]][: len(declared.axes)]}
        if declared.axes
        else {}
    )
    if len(declared.axes) == 1:
        axes = {"axis": axes["axis"][0]}
    joint = form(type=kind, **axes, **({"pitch": 0.01} if declared.pitch else {}))
    assert joint.coordinates == tuple(f"J.{suffix}" for suffix in declared.coordinates)
    assert len(joint.starts) == len(joint.coordinates) and len(joint.start_speeds) == len(
        joint.speeds
    )
    assert {element.coordinate for element in joint.elements} == (
        {0} if declared.quaternion else set(range(len(joint.coordinates)))
    )
    assert joint.quaternion == (len(joint.coordinates) == len(joint.speeds) + 1)
    for key in ("axis",) * (not declared.axes) + ("pitch",) * (not declared.pitch):
        with pytest.raises(JointProblem, match=key):
            form(
                type=kind,
                **({"pitch": 0.01} if declared.pitch else {}),
                **{key: "x" if key == "axis" else 0.01},
            )


def test_joint_location_precedes_motion():
    joint = form(type="revolute", at=[1, 0, "l"], frame=[{"rotate": "x", "by": "pi/2"}], axis="-y")
    assert kinds(joint) == [Element.SHIFT, Element.ROTATE, Element.ROTATE_Q]
    assert joint.elements[0].axis == (1.0, 0.0, "l")
    assert joint.elements[1].amount == "pi/2"
    assert joint.elements[2].axis == (0.0, -1.0, 0.0)


def test_screw_advances_by_pitch_per_turn():
    turn, slide = form(type="screw", axis="x", pitch=0.02).elements
    assert turn.coordinate == slide.coordinate == 0
    assert slide.factor * 2 * math.pi == pytest.approx(0.02, rel=1e-15)
    assert form(type="screw", pitch="p").elements[1].factor == "(p)/(2*pi)"


def test_transforms_keep_their_order_and_starts():
    joint = form(
        transforms=[
            {"shift": "y", "coordinate": "y2", "start": 0.5},
            {"rotate": "x", "coordinate": "alpha", "speed": 2},
            {"rotate": [0, 0, 1], "by": "0.1*sin(2*t)"},
            {"shift": [1, 2, 3]},
            {"shift": "x", "by": "0.3*t"},
            {"rotate": "y", "by": 0.25},
        ]
    )
    assert kinds(joint) == [
        Element.SHIFT_Q,
        Element.ROTATE_Q,
        Element.ROTATE_T,
        Element.SHIFT,
        Element.SHIFT_T,
        Element.ROTATE,
    ]
    assert joint.coordinates == ("y2", "alpha")
    assert (joint.starts, joint.start_speeds) == ((0.5, 0.0), (0.0, 2.0))


def test_time_is_recognised_as_a_name_only():
    assert kinds(form(transforms=[{"rotate": "x", "by": "tan(theta_t) + t2*tt"}])) == [
        Element.ROTATE
    ]
    assert kinds(form(transforms=[{"rotate": "x", "by": "2*(t)"}])) == [Element.ROTATE_T]


def test_constant_shift_by_an_amount_is_along_the_unit_vector():
    assert form(transforms=[{"shift": [0, 3, 4], "by": 10}]).elements[0].axis == pytest.approx(
        (0, 6, 8), rel=1e-15
    )


def test_shared_coordinate_needs_a_factor():
    rack = [
        {"rotate": "z", "coordinate": "phi"},
        {"shift": "x", "coordinate": "phi", "factor": "-r"},
    ]
    joint = form(transforms=rack)
    assert joint.coordinates == ("phi",)
    assert joint.elements[1].factor == "-r"
    with pytest.raises(JointProblem, match="twice"):
        form(transforms=[{"rotate": "z", "coordinate": "phi"}, {"shift": "x", "coordinate": "phi"}])


def test_quaternions_start_normalised():
    assert form(type="spherical").starts == (1, 0, 0, 0)
    assert form(type="spherical", start=[2, 0, 0, 0]).starts == (1, 0, 0, 0)
    start = form(type="free", start=[1, 2, 3, 1, 1, 1, 1]).starts
    assert start == (1, 2, 3, 0.5, 0.5, 0.5, 0.5)
    assert form(type="spherical", start=["c", "s", 0, 0]).starts == ("c", "s", 0, 0)
    with pytest.raises(JointProblem, match="length 0"):
        form(type="spherical", start=[0, 0, 0, 0])


def test_scalar_start_suits_single_coordinate():
    assert form(type="revolute", start=0.3, speed="w").starts == (0.3,)
    assert form(type="revolute", start=0.3, speed="w").start_speeds == ("w",)


@pytest.mark.parametrize(
    ("keys", "key"),
    [
        ({}, ""),
        ({"type": "revolute", "transforms": []}, ""),
        ({"type": "spherical", "coordinates": ["a", "b", "c"]}, "coordinates"),
        ({"type": "universal", "coordinates": ["a", "a"]}, "coordinates"),
        ({"type": "free", "start": [0, 0, 0]}, "start"),
        ({"type": "spherical", "speed": [0, 0, 0, 0]}, "speed"),
        ({"type": "revolute", "axis": [0, 0, 0]}, "axis"),
        ({"type": "revolute", "axis": ["x", "y"]}, "axis"),
        ({"type": "universal", "axis": "x"}, "axis"),
        ({"type": "free", "axis": "x"}, "axis"),
        ({"type": "screw"}, "pitch"),
        ({"type": "revolute", "pitch": 1}, "pitch"),
        ({"type": "planar", "axis": ["a", "b", "c"]}, "axis"),
        ({"type": "rigid", "frame": [{"rotate": "x", "coordinate": "q"}]}, "frame[0]"),
        ({"type": "rigid", "frame": [{"rotate": "x", "by": "t"}]}, "frame[0]"),
        ({"transforms": [{}]}, "transforms[0]"),
        ({"transforms": [{"shift": "x", "rotate": "y", "by": 1}]}, "transforms[0]"),
        ({"transforms": [{"rotate": "y"}]}, "transforms[0]"),
        ({"transforms": [{"rotate": "y", "by": 1, "coordinate": "a"}]}, "transforms[0]"),
        ({"transforms": [{"rotate": [0, 0, 0], "coordinate": "a"}]}, "transforms[0]"),
        ({"transforms": [{"shift": [0, 0, 0], "by": 1}]}, "transforms[0]"),
        ({"transforms": [{"shift": [1, 2, 3], "start": 1}]}, "transforms[0].start"),
        ({"transforms": [], "start": 1}, "start"),
    ],
)
def test_contradictory_joint_keys_are_named(keys, key):
    with pytest.raises(JointProblem) as error:
        form(**keys)
    assert error.value.key == key


@given(st.tuples(*[st.floats(-10, 10)] * 3).filter(lambda axis: np.linalg.norm(axis) > 1e-3))
def test_planar_joint_moves_in_a_right_handed_frame(axis):
    """Orthonormal and right-handed to 8 roundings, for any direction of the normal."""
    first, second = (np.array(each) for each in perpendiculars(axis))
    frame = np.column_stack([first, second, np.array(axis) / np.linalg.norm(axis)])
    assert np.allclose(frame.T @ frame, np.eye(3), atol=8 * np.finfo(float).eps)
    assert np.linalg.det(frame) > 0


def test_planar_joint_planes_follow_coordinate_axes():
    assert perpendiculars((0, 0, 1)) == ((1, 0, 0), (0, 1, 0))
    assert perpendiculars((1, 0, 0)) == ((0, 1, 0), (0, 0, 1))
    assert perpendiculars((0, 1, 0)) == ((0, 0, 1), (1, 0, 0))
