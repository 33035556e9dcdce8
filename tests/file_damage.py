"""Damage to the content of a scene file, for the tests that load what is left of it."""

import copy
from collections.abc import Iterable, Sequence
from typing import Any

WEIRD = [None, True, 0, -1, 7, 1e308, 10**400, 1e-320, "", "q0", "'R'", "t0", "x", [], [[]], {}, {"a": 1}, [0, 0, 0]]
DELETE = "delete"


def damage(content: Any, damages: Iterable[tuple[Sequence[Any], Any]]) -> None:
    """Put each value at its path into the content, or delete what is there; a path that is gone is passed over."""
    for (*path, last), value in damages:
        target = content
        try:
            for step in path:
                target = target[step]
            if value == DELETE:
                del target[last]
            else:
                target[last] = copy.deepcopy(value)
        except (KeyError, IndexError, TypeError):
            continue  # an earlier damage took it away


def changed(content: Any, place: Sequence[str], value: Any) -> Any:
    """The content with what stands at a path of names and numbers replaced, in place; None takes it away."""
    *path, last = [int(p) if p.isdigit() else p for p in place]
    target = content
    for step in path:
        target = target[step]
    if value is None:
        del target[last]
    else:
        target[last] = value
    return content
