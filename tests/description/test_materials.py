"""Materials of a description: what they are given by, and what is refused."""

import pytest

from kinetree.models import ModelError, load

BASE = {
    "format": "kinetree/1",
    "bodies": {"arm": {"mass": 1.0, "inertia": [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]}},
    "joints": {"j": {"child": "arm", "type": "revolute"}},
}


def test_material_takes_expressions_and_units():
    steel = {"density": {"value": 7.85, "unit": "t/m3"}, "youngs_modulus": "stiff*1e9"}
    found = load(BASE | {"parameters": {"stiff": 210.0}, "materials": {"steel": steel}})
    assert float(found.description.materials["steel"].density) == pytest.approx(7850.0)


@pytest.mark.parametrize("key", ["density", "youngs_modulus", "shear_modulus", "yield_stress"])
def test_non_positive_material_value_is_refused(key: str):
    with pytest.raises(ModelError) as refused:
        load(BASE | {"materials": {"steel": {"density": 7850.0, key: -1.0}}})
    assert f"materials.steel.{key}" in str(refused.value)
