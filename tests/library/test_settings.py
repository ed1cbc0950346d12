"""Settings of the library: what is declared of them is what their generators accept."""

import pytest

from kinetree.models import ModelError
from kinetree.models.checks.loader import arguments_of, generated, settings_of
from kinetree.models.description.reading.read_source import library_names

GENERATED = [f"lib:{name}" for name in library_names() if arguments_of(f"lib:{name}")]
NEEDED = {"forward": {"drives": 1}, "replan": {"drives": 1}, "estimated": {"drives": 1}}


@pytest.mark.parametrize("source", GENERATED)
def test_every_setting_has_a_meaning_and_its_range_is_the_one_accepted(source: str):
    settings = settings_of(source)
    assert set(settings) == set(arguments_of(source))
    for name, argument in settings.items():
        assert argument.text and argument.default is not None and argument.least is not None
        last = argument.most if argument.most is not None else argument.default
        assert argument.least <= argument.default <= last
        if argument.words:
            assert len(argument.words) == last - argument.least + 1
        for value in (argument.least, last):
            generated(source, {**NEEDED.get(name, {}), name: value})
        if argument.most is not None:
            for value in (argument.least - 1, argument.most + 1):
                with pytest.raises(ModelError, match=name.removeprefix("known_")):
                    generated(source, {name: value})
