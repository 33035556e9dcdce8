"""The programs whose start is timed do what they say."""

import os

import pytest

from demos.benchmark import startup


@pytest.mark.parametrize("name", startup.PROGRAMS)
def test_a_program_comes_to_its_first_contact(name):
    folder = os.environ["RECURSIVE_DYN_CACHE"]
    told = startup.measure(name, folder)
    assert set(told) == {*startup.PARTS, "all", "children"}
    assert sum(told[part] for part in startup.PARTS) == pytest.approx(told["all"]) and told["all"] > 0.0
