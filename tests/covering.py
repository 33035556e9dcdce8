"""Of tests of several parameters a subset in which every value of every parameter occurs; the rest is slow."""

from collections import Counter
from collections.abc import Hashable, Sequence
from fnmatch import fnmatchcase

import pytest

# Laws of motion over products of parameters; but for what is refused, which costs nothing.
ROOMS = ("bridge", "contact", "control", "demos", "laws", "manifold", "maximal_form", "plugin", "simulation", "scene")
WHOLE = ("*refused*", "*refusals", "*named*", "*_is_told*", "*not_finite*", "*_none_are_*", "*_peer_*")

Value = tuple[str, Hashable]


def is_covered(place: str, test: str) -> bool:
    """Whether a covering subset of the test in the file at ``place`` is enough for the default command."""
    return place.split("/")[0] in ROOMS and not any(fnmatchcase(test, pattern) for pattern in WHOLE)


def values(item: pytest.Item) -> list[Value]:
    """What a case takes of each ``parametrize`` of its test, what is named together there as one, and of fixtures."""
    if not hasattr(item, "callspec"):
        return []
    given, together = item.callspec.params, []
    for mark in item.iter_markers("parametrize"):
        names = mark.args[0]
        together.append([name.strip() for name in names.split(",")] if isinstance(names, str) else list(names))
    of_fixtures = given.keys() - {name for names in together for name in names}
    together += [[name] for name in sorted(of_fixtures)]
    return [(names[0], tuple(id(given[name]) for name in names)) for names in together]  # arrays do not compare


def covering(cases: Sequence[list[Value]]) -> set[int]:
    """Numbers of few cases in which all values occur: greedily, first the one with most that are new.

    Among equals, one whose values occurred least, so that none of them is always there with the same others.
    """
    left, used, kept = {value for case in cases for value in case}, Counter(), set()
    while left:
        rest = [k for k in range(len(cases)) if k not in kept]
        best = max(rest, key=lambda k: (len(left.intersection(cases[k])), -sum(used[value] for value in cases[k])))
        kept.add(best)
        left.difference_update(cases[best])
        used.update(cases[best])
    return kept
