"""What is left of products of parameters: every value of every one, in no more cases than the longest list needs."""

from collections import Counter
from itertools import product

import pytest
from covering import covering, is_covered

LISTS = {"rule": range(5), "step": range(3), "chart": range(2)}


def cases(*names):
    return [list(zip(names, values, strict=True)) for values in product(*(LISTS[name] for name in names))]


@pytest.mark.parametrize("names", [("rule",), ("rule", "step"), ("step", "rule"), ("chart", "step", "rule")], ids=str)
def test_every_value_occurs_in_as_few_cases_as_can_be(names):
    given = cases(*names)
    kept = covering(given)
    assert {value for k in kept for value in given[k]} == {value for case in given for value in case}
    assert len(kept) == max(len(LISTS[name]) for name in names)


def test_values_of_the_shorter_lists_take_turns():
    given = cases("rule", "chart")
    counts = Counter(value for k in covering(given) for value in given[k])
    assert sorted(counts[value] for value in counts if value[0] == "chart") == [2, 3]


def test_what_is_missing_of_a_product_is_missed_by_none():
    given = [case for case in cases("rule", "step") if case != [("rule", 1), ("step", 1)]]
    kept = covering(given)
    assert {value for k in kept for value in given[k]} == {value for case in given for value in case}


def test_what_is_refused_is_never_left():
    assert is_covered("simulation/test_motors.py", "test_a_limit_wins_against_any_motor")
    assert not is_covered("laws/test_bad_arrays.py", "test_a_wrong_shape_is_named")
    assert not is_covered("test_expression.py", "test_value_and_derivatives_of_every_operation")
