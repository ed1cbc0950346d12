"""Every refusal of a force element to the letter, beside a neighbour that is accepted; the numbers stand at the borders."""

import pytest
from plant_description import changed, said, without

ENDS = [{"body": "a"}, {"body": "b"}]
CONTACT = {"kind": "contact", "body": "a", "stiffness": 1}
WHEEL = {
    "kind": "wheel",
    "body": "a",
    "radius": 0.3,
    "stiffness": 1,
    "patch_stiffness": [1, 1],
    "slip_stiffness": [1, 1],
    "friction": 1,
}
TYRE = {"kind": "tyre", "body": "a", "radius": 0.3, "stiffness": 1}
SOIL = {"strength": 1, "viscosity": 1}
BEKKER = {"friction_modulus": 1, "viscosity": 1, "width": 1, "area": 1}
SHEAR = {"angle": 0.5, "modulus": 1, "width": 1, "length": 1}
JACK = {"kind": "jack", "body": "a", "stiffness": 1}
OIL = {"area_a": 1, "area_b": 1, "volume_a": 1, "volume_b": 1, "stroke": 1}
GUIDE = {"kind": "guide", "between": ENDS, "stiffness": 1, "points": [[0, 0, 0], [1, 0, 0]]}
HELIX = {"radius": 1, "pitch": 1, "end": 2}
TRACK = {"length": 3}
ALONG = [
    (
        {"coordinate": "q", "stiffness": 1, "damping": 1, "value": 2},
        [": found value and damping, stiffness, expected value alone, or the others"],
    ),
    ({"coordinate": "q", "value": 2}, []),
    (
        {"coordinate": "q", "length": 2},
        [": found no law of the force, expected value, stiffness, damping or law"],
    ),
    ({"coordinate": "q", "damping_law": "T"}, []),
    (
        {"coordinate": "jc.qw", "value": 2},
        [
            ".coordinate: found the coordinate 'jc.qw' of a spherical or free joint; use a wrench or a pair of forces"
        ],
    ),
    ({"between": ENDS, "value": 2, "tension_only": True}, []),
    ({"between": ENDS, "damping": 2}, []),
    (
        {"between": ENDS, "stiffness": 2},
        [".length: found nothing, expected the length without spring force"],
    ),
    (
        {"between": [{"body": "ground"}, {"body": "ground"}], "value": 2},
        [".between: found 'ground' twice, expected two different bodies"],
    ),
    ({"coordinate": "q", "coulomb": 1, "speed": 0}, [".speed: found 0, expected a number > 0"]),
    (
        {"coordinate": "q", "coulomb": 1, "speed": "p - 1"},
        [".speed: found 0, expected a number > 0"],
    ),
    (
        {"coordinate": "q", "largest": 1, "stiffness": 0, "reach": 0, "damping": -1},
        [
            ".stiffness: found 0, expected a number > 0",
            ".reach: found 0, expected a number > 0",
            ".damping: found -1, expected 0 or more",
        ],
    ),
    ({"coordinate": "q", "largest": 1, "stiffness": 1, "damping": 0}, []),
    ({"coordinate": "q", "stiffness": 1, "sharpness": 1, "lower": 1, "upper": 1}, []),
    ({"coordinate": "q", "stiffness": 1, "sharpness": 1, "upper": 1}, []),
    (
        {"coordinate": "q", "stiffness": 1, "sharpness": 1, "lower": 1, "upper": 0.5},
        [".upper: found 0.5, expected a number above lower, 1"],
    ),
    (
        {"between": ENDS, "strength": 1, "stiffness": 0, "length": 0, "release": 0, "damping": -1},
        [
            ".stiffness: found 0, expected a number > 0",
            ".release: found 0, expected a number > 0",
            ".length: found 0, expected a number > 0",
            ".damping: found -1, expected 0 or more",
        ],
    ),
    (
        {
            "coordinate": "q",
            "other": "x",
            "ratio": 1,
            "stiffness": 0,
            "damping": -1,
            "backlash": -1,
        },
        [
            ".stiffness: found 0, expected a number > 0",
            ".damping: found -1, expected 0 or more",
            ".backlash: found -1, expected 0 or more",
        ],
    ),
    (
        {"coordinate": "q", "other": "x", "ratio": 1, "stiffness": 1, "damping": 0, "backlash": 0},
        [],
    ),
    (
        {"coordinate": "q", "other": "y", "ratio": 1, "stiffness": 1},
        [".other: found the unknown coordinate 'y'; known: x, q, jc.qw, jc.qx, jc.qy, jc.qz"],
    ),
    (
        {"between": ENDS, "area_a": 0, "speed": 0},
        [".area_a: found 0, expected a number > 0", ".speed: found 0, expected a number > 0"],
    ),
    (
        {"between": ENDS, "area_a": 1, "area_b": -1, "end_stiffness": -1, "end_damping": -1},
        [
            ".area_b: found -1, expected 0 or more",
            ".end_stiffness: found -1, expected 0 or more",
            ".end_damping: found -1, expected 0 or more",
        ],
    ),
    (
        {"between": ENDS, "area_a": 1, "shortest": 1, "longest": 0.5},
        [".longest: found 0.5, expected a number above shortest, 1"],
    ),
    ({"between": ENDS, "area_a": 1, "shortest": 1, "longest": 1}, []),
    (
        {
            "between": ENDS,
            "over": [{"body": "z"}],
            "length": 1,
            "stiffness": 1,
            "drum": {"coordinate": "y", "radius": 1},
        },
        [
            ".drum.coordinate: found the unknown coordinate 'y'; known: x, q, jc.qw, jc.qx, jc.qy, jc.qz",
            ".over[0].body: found the unknown body 'z'; known: a, b, c",
        ],
    ),
    (
        {"between": ENDS, "clearance": -1, "stiffness": 1},
        [".clearance: found -1, expected 0 or more"],
    ),
    (
        {"between": ENDS, "clearance": 0, "stiffness": 1, "begin": 1, "end": 0.5},
        [".end: found 0.5, expected a number above begin, 1"],
    ),
    ({"between": ENDS, "clearance": 0, "stiffness": 1, "begin": 1, "end": 1}, []),
    (
        {"between": ENDS, "clearance": 0, "stiffness": 1, "axis": [0, 0, 0], "across": [0, 0, 0]},
        [
            ".axis: found a direction of length 0, expected three numbers that are not all 0",
            ".across: found a direction of length 0, expected three numbers that are not all 0",
        ],
    ),
    (
        {"between": ENDS, "clearance": 0, "stiffness": 1, "friction_speed": 0.1},
        [".friction_speed: found a speed that nothing reads, expected friction, which it develops"],
    ),
]
TOUCHING = [
    (CONTACT, []),
    (
        without(CONTACT, "stiffness") | {"friction": 1},
        [".stiffness: found nothing, expected stiffness or modulus"],
    ),
    (
        CONTACT | {"modulus": 1},
        [
            ".stiffness: found stiffness and modulus, expected stiffness or modulus",
            ".radius: found 0, expected a radius, for Hertz's law",
        ],
    ),
    (without(CONTACT, "stiffness") | {"modulus": 1, "radius": 0.1}, []),
    (
        without(CONTACT, "stiffness") | {"modulus": 0, "radius": 0.1},
        [".modulus: found 0, expected a number > 0"],
    ),
    (
        without(CONTACT, "stiffness") | {"modulus": 1},
        [".radius: found 0, expected a radius, for Hertz's law"],
    ),
    (
        without(CONTACT, "stiffness") | {"modulus": 1, "radius": 1, "exponent": 1.5},
        [".exponent: found modulus and exponent, expected no exponent: Hertz says 1.5"],
    ),
    (
        CONTACT | {"exponent": 0, "friction_speed": 0, "friction": 1},
        [
            ".exponent: found 0, expected a number > 0",
            ".friction_speed: found 0, expected a number > 0",
        ],
    ),
    (CONTACT | {"radius": -1}, [".radius: found -1, expected 0 or more"]),
    (
        CONTACT | {"against": {"body": "b", "sphere": 1}},
        [".shape: found nothing, expected the outline that touches: a shape"],
    ),
    (
        CONTACT | {"shape": {"sphere": 1}, "radius": 1},
        [".radius: found shape and radius, expected one of them"],
    ),
    (
        CONTACT | {"shape": {"sphere": 1}, "soil": SOIL},
        [".soil: found shape and soil, expected one of them"],
    ),
    (CONTACT | {"shape": {"sphere": 0}}, [".shape.sphere: found 0, expected numbers > 0"]),
    (
        CONTACT | {"shape": {"sphere": 1, "box": [1, 1, 1]}},
        [
            ".shape: found sphere and box, expected one of sphere, capsule, box, cylinder, polygon, hull"
        ],
    ),
    (
        CONTACT | {"shape": {}},
        [".shape: found no outline, expected one of sphere, capsule, box, cylinder, polygon, hull"],
    ),
    (CONTACT | {"shape": {"capsule": [1, 0]}}, [".shape.capsule: found 0, expected numbers > 0"]),
    (CONTACT | {"shape": {"box": [1, 1, 0]}}, [".shape.box: found 0, expected numbers > 0"]),
    (
        CONTACT | {"shape": {"sphere": 1, "axis": "x", "rotate": [0, 0, 1]}},
        [".shape: found axis and rotate, expected one of them"],
    ),
    (
        CONTACT | {"shape": {"sphere": 1, "axis": [0, 0, 0]}},
        [".shape.axis: found a direction of length 0, expected three numbers that are not all 0"],
    ),
    (
        CONTACT | {"shape": {"sphere": 1}, "against": {"body": "a", "sphere": 1}},
        [".against.body: found 'a' against itself, expected another body, or ground"],
    ),
    (
        CONTACT | {"shape": {"sphere": 1}, "against": {"body": "b", "sphere": 1}, "height": 1},
        [".height: found against and height, expected one of them: the ground surface or a body"],
    ),
    (
        CONTACT | {"shape": {"sphere": 1}, "against": {"body": "b", "sphere": 1}, "normal": "z"},
        [".normal: found against and normal, expected one of them: the ground surface or a body"],
    ),
    (
        CONTACT | {"shape": {"sphere": 1}, "against": {"body": "z", "sphere": 1}},
        [".against.body: found the unknown body 'z'; known: a, b, c"],
    ),
    (CONTACT | {"shape": {"sphere": 1}, "against": {"body": "b", "plane": True}}, []),
    (
        CONTACT | {"shape": {"sphere": 1}, "against": {"body": "b"}},
        [
            ".against: found no outline, expected one of sphere, capsule, box, cylinder, polygon, hull, plane"
        ],
    ),
    (
        CONTACT | {"shape": {"sphere": 1}, "against": {"body": "b", "plane": False}},
        [
            ".against: found no outline, expected one of sphere, capsule, box, cylinder, polygon, hull, plane"
        ],
    ),
    (
        CONTACT | {"shape": {"box": [1, 1, 1]}, "against": {"body": "b", "box": [1, 1, 1]}},
        [
            (
                ".against: found a box against a box; spheres touch everything, capsules each other and planes, "
                "boxes, cylinders and hulls planes and spheres, polygons planes, spheres "
                "and each other; or describe it by several contacts"
            )
        ],
    ),
    (CONTACT | {"shape": {"box": [1, 1, 1]}, "against": {"body": "b", "plane": True}}, []),
    (CONTACT | {"shape": {"capsule": [1, 1]}, "against": {"body": "b", "sphere": 1}}, []),
    (
        CONTACT | {"shape": {"cylinder": [1, 1]}, "against": {"body": "b", "capsule": [1, 1]}},
        [
            (
                ".against: found a cylinder against a capsule; spheres touch everything, capsules each other "
                "and planes, boxes, cylinders and hulls planes and spheres, polygons planes, spheres "
                "and each other; or describe it by several contacts"
            )
        ],
    ),
    (
        without(CONTACT, "stiffness") | {"modulus": 1, "shape": {"box": [1, 1, 1]}},
        [
            ".modulus: found a box against the ground, expected a sphere against a sphere or something flat, for Hertz's law"
        ],
    ),
    (without(CONTACT, "stiffness") | {"modulus": 1, "shape": {"sphere": 1}}, []),
    (
        without(CONTACT, "stiffness")
        | {"modulus": 1, "shape": {"sphere": 1}, "against": {"body": "b", "box": [1, 1, 1]}},
        [],
    ),
    (
        without(CONTACT, "stiffness")
        | {"modulus": 1, "shape": {"sphere": 1}, "against": {"body": "b", "capsule": [1, 1]}},
        [
            ".modulus: found a sphere against a capsule, expected a sphere against a sphere or something flat, for Hertz's law"
        ],
    ),
    (WHEEL, []),
    (without(WHEEL, "friction"), [".friction: found nothing, expected friction, or shear of soil"]),
    (
        WHEEL | {"shear": SHEAR},
        [".friction: found friction and shear, expected friction, or shear of soil"],
    ),
    (without(WHEEL, "friction", "slip_stiffness") | {"shear": SHEAR}, []),
    (
        without(WHEEL, "friction") | {"shear": SHEAR},
        [".slip_stiffness: found a slip stiffness, expected none: shear has its own"],
    ),
    (
        without(WHEEL, "slip_stiffness"),
        [".slip_stiffness: found nothing, expected slip and cornering stiffness"],
    ),
    (
        WHEEL | {"slip_stiffness": [0, 1], "patch_stiffness": [1, -1]},
        [
            ".slip_stiffness[0]: found 0, expected a number > 0",
            ".patch_stiffness[1]: found -1, expected a number > 0",
        ],
    ),
    (
        WHEEL
        | {
            "radius": 0,
            "standing_speed": 0,
            "patch_reach": 0,
            "patch_damping": -1,
            "patch_length": -1,
            "rolling": -1,
            "exponent": 0,
        },
        [
            ".exponent: found 0, expected a number > 0",
            ".radius: found 0, expected a number > 0",
            ".standing_speed: found 0, expected a number > 0",
            ".patch_reach: found 0, expected a number > 0",
            ".patch_damping: found -1, expected 0 or more",
            ".patch_length: found -1, expected 0 or more",
            ".rolling: found -1, expected 0 or more",
        ],
    ),
    (
        WHEEL | {"friction_speed": 0.1},
        [
            ".friction_speed: found a speed that nothing reads, expected none; the elastic side force holds at rest and develops friction"
        ],
    ),
    (
        without(WHEEL, "friction", "slip_stiffness")
        | {"shear": SHEAR | {"cohesion": -1, "angle": 0, "modulus": 0, "width": 0, "length": 0}},
        [
            ".shear.angle: found 0, expected a number > 0",
            ".shear.modulus: found 0, expected a number > 0",
            ".shear.width: found 0, expected a number > 0",
            ".shear.length: found 0, expected a number > 0",
            ".shear.cohesion: found -1, expected 0 or more",
        ],
    ),
    (without(WHEEL, "friction", "slip_stiffness") | {"shear": SHEAR | {"cohesion": 0}}, []),
    (
        CONTACT | {"soil": {"viscosity": 1}},
        [
            ".soil: found nothing that carries, expected strength, hardening, friction_modulus or cohesion_modulus"
        ],
    ),
    (CONTACT | {"soil": SOIL}, []),
    (
        CONTACT | {"soil": SOIL | {"viscosity": 0}},
        [".soil.viscosity: found 0, expected a number > 0"],
    ),
    (CONTACT | {"soil": BEKKER}, []),
    (
        CONTACT | {"soil": without(BEKKER, "area")},
        [".soil.area: found nothing, expected a number above 0, for Bekker's law"],
    ),
    (
        CONTACT | {"soil": without(BEKKER, "width")},
        [".soil.width: found nothing, expected a number above 0, for Bekker's law"],
    ),
    (
        CONTACT | {"soil": BEKKER | {"width": 0, "area": 0, "exponent": 0}},
        [
            ".soil.exponent: found 0, expected a number > 0",
            ".soil.width: found 0, expected a number > 0",
            ".soil.area: found 0, expected a number > 0",
        ],
    ),
    (
        TYRE | {"soil": BEKKER},
        [".soil.area: found area, expected no area: that of a wheel follows from its sinkage"],
    ),
    (TYRE | {"soil": without(BEKKER, "area")}, []),
    (
        TYRE | {"soil": without(BEKKER, "area", "width")},
        [".soil.width: found nothing, expected a number above 0, for Bekker's law"],
    ),
    (
        CONTACT | {"soil": SOIL | {"width": 1}},
        [
            ".soil.width: found width, expected friction_modulus or cohesion_modulus, of whose law it is a part"
        ],
    ),
    (
        CONTACT | {"soil": SOIL | {"exponent": 1}},
        [
            ".soil.exponent: found exponent, expected friction_modulus or cohesion_modulus, of whose law it is a part"
        ],
    ),
    (
        CONTACT | {"soil": SOIL | {"stiffness": 1}},
        [
            ".soil.damping: found 0, expected a number > 0: an elastic part without damping has no time of its own"
        ],
    ),
    (CONTACT | {"soil": SOIL | {"stiffness": 1, "damping": 1, "stiffening": 0}}, []),
    (
        CONTACT | {"soil": SOIL | {"stiffness": 0, "damping": 1}},
        [".soil.stiffness: found 0, expected a number > 0"],
    ),
    (
        CONTACT | {"soil": SOIL | {"damping": 1}},
        [
            ".soil.stiffness: found nothing, expected the stiffness that stiffening and damping belong to"
        ],
    ),
    (
        CONTACT | {"soil": SOIL | {"stiffening": 1}},
        [
            ".soil.stiffness: found nothing, expected the stiffness that stiffening and damping belong to"
        ],
    ),
    (
        CONTACT | {"soil": SOIL | {"track": TRACK}},
        [".soil.track: found a track, expected no track: only tyres roll"],
    ),
    (TYRE | {"soil": SOIL | {"track": TRACK}}, []),
    (
        TYRE | {"soil": SOIL | {"track": {"length": 0}}},
        [".soil.track.length: found 0, expected a number > 0"],
    ),
    (
        TYRE | {"soil": SOIL | {"track": {"length": 1, "cells": 1}}},
        [".soil.track.cells: found 1, expected Input should be greater than or equal to 2"],
    ),
    (TYRE | {"soil": SOIL | {"track": {"length": 1, "cells": 2}}}, []),
    (
        TYRE | {"soil": SOIL | {"track": {"length": 1, "cells": 501}}},
        [".soil.track.cells: found 501, expected Input should be less than or equal to 500"],
    ),
    (TYRE | {"soil": SOIL | {"track": {"length": 1, "cells": 500}}}, []),
    (
        TYRE | {"soil": SOIL | {"track": TRACK | {"follows": ["z"]}}},
        [".soil.track.follows: found the unknown force 'z'; known: f"],
    ),
    (TYRE | {"soil": SOIL | {"track": TRACK | {"follows": ["f"]}}}, []),
    (
        TYRE
        | {
            "soil": {
                "strength": -1,
                "hardening": -1,
                "viscosity": 1,
                "friction_modulus": -1,
                "cohesion_modulus": -1,
                "width": 1,
            }
        },
        [
            ".soil.strength: found -1, expected 0 or more",
            ".soil.hardening: found -1, expected 0 or more",
            ".soil.friction_modulus: found -1, expected 0 or more",
            ".soil.cohesion_modulus: found -1, expected 0 or more",
        ],
    ),
    (JACK, []),
    (without(JACK, "stiffness"), [".stiffness: found nothing, expected stiffness, law or oil"]),
    (JACK | {"law": "T"}, [".law: found stiffness and law, expected one law of the leg"]),
    (without(JACK, "stiffness") | {"law": "T"}, []),
    (
        without(JACK, "stiffness") | {"law": "z"},
        [".law: found the unknown table 'z'; known: T, flat"],
    ),
    (
        without(JACK, "stiffness") | {"law": "T", "exponent": 2},
        [".exponent: found exponent, expected a stiffness, of whose law it is a part"],
    ),
    (JACK | {"exponent": 2}, []),
    (without(JACK, "stiffness") | {"oil": OIL}, []),
    (JACK | {"oil": OIL}, [".oil: found stiffness and oil, expected one law of the leg"]),
    (
        without(JACK, "stiffness")
        | {
            "oil": OIL
            | {
                "area_a": 0,
                "area_b": 0,
                "volume_a": 0,
                "volume_b": 0,
                "stroke": 0,
                "bulk_modulus": 0,
                "pressure_b": -1,
            }
        },
        [
            ".oil.area_a: found 0, expected a number > 0",
            ".oil.area_b: found 0, expected a number > 0",
            ".oil.volume_a: found 0, expected a number > 0",
            ".oil.volume_b: found 0, expected a number > 0",
            ".oil.stroke: found 0, expected a number > 0",
            ".oil.bulk_modulus: found 0, expected a number > 0",
            ".oil.pressure_b: found -1, expected 0 or more",
        ],
    ),
    (without(JACK, "stiffness") | {"oil": OIL | {"pressure_b": 0}}, []),
    (GUIDE, []),
    (GUIDE | {"points": [[0, 0, 0]]}, [".points: found 1 points, expected from 2 to 60"]),
    (GUIDE | {"closed": True}, [".points: found 2 points, expected from 3 to 60"]),
    (GUIDE | {"closed": True, "points": [[0, 0, 0], [1, 0, 0], [1, 1, 0]]}, []),
    (
        GUIDE | {"closed": True, "points": [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 0, 0]]},
        [".points: found the same point twice in a row, expected points apart from each other"],
    ),
    (GUIDE | {"points": [[0, 0, 0], [1, -0.5, 0], [2, 0.5, 0], [1, 1, 0], [0, 0, 0]]}, []),
    (GUIDE | {"points": [[k, 0, 0] for k in range(60)]}, []),
    (
        GUIDE | {"points": [[k, 0, 0] for k in range(61)]},
        [".points: found 61 points, expected from 2 to 60"],
    ),
    (
        GUIDE | {"points": [[0, 0, 0], [1, 0, 0], [1, 0, 0]]},
        [".points: found the same point twice in a row, expected points apart from each other"],
    ),
    (
        GUIDE | {"helix": HELIX},
        [".points: found both or neither of points and helix, expected one of them"],
    ),
    (without(GUIDE, "points") | {"helix": HELIX}, []),
    (
        without(GUIDE, "points"),
        [".points: found both or neither of points and helix, expected one of them"],
    ),
    (
        without(GUIDE, "points") | {"helix": HELIX | {"end": 0}},
        [".helix.end: found 0, expected more than begin, 0"],
    ),
    (
        without(GUIDE, "points")
        | {"helix": HELIX | {"begin": 1, "end": 0.5, "pitch": 0, "radius": 0}},
        [
            ".helix.radius: found 0, expected a number > 0",
            ".helix.end: found 0.5, expected more than begin, 1",
            ".helix.pitch: found 0, expected a rise; points and closed make a circle",
        ],
    ),
    (without(GUIDE, "points") | {"helix": HELIX | {"pitch": -1}}, []),
    (
        without(GUIDE, "points") | {"helix": HELIX, "closed": True},
        [".closed: found a closed helix, expected no closed: a helix has two ends"],
    ),
    ({"kind": "bushing", "between": ENDS, "stiffness": [1, 1, 1, 1, 1, 0]}, []),
    (
        {"kind": "bushing", "between": ENDS, "stiffness": [1, 1, 1, 1, 1, -1e-06]},
        [
            ".stiffness: found a matrix with a negative eigenvalue, expected none below 0, so that it gives no energy"
        ],
    ),
    (
        {"kind": "bushing", "between": ENDS, "damping": [1, 1, 1, 1, 1, -1e-06]},
        [
            ".damping: found a matrix with a negative eigenvalue, expected none below 0, so that it gives no energy"
        ],
    ),
    (
        {
            "kind": "bushing",
            "between": ENDS,
            "stiffness": [[1, 1, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0], *[[0] * 6] * 4],
        },
        [
            ".stiffness: found a matrix that is not symmetric, expected a symmetric one, which has a potential"
        ],
    ),
    (
        {
            "kind": "bushing",
            "between": ENDS,
            "damping": [[1, 1, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0], *[[0] * 6] * 4],
        },
        [],
    ),
    (
        {
            "kind": "bushing",
            "between": ENDS,
            "damping": [[1, 3, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0], *[[0] * 6] * 4],
        },
        [
            ".damping: found a matrix with a negative eigenvalue, expected none below 0, so that it gives no energy"
        ],
    ),
]


@pytest.mark.parametrize("cases", [ALONG, TOUCHING], ids=["along", "touching"])
def test_invalid_forces_are_refused_and_similar_valid_ones_accepted(cases: list):
    """Nothing is said of the ones, exactly this of the others."""
    for table, words in cases:
        assert said(changed("forces/f", table), "forces.f") == words, table
