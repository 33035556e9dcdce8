"""Typed errors: each message names the body, joint or coordinate and says what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

_LISTED = 12
_MISSPELT = 0.8  # likeness from which on a name is taken for another one


def listed(names: Sequence[str], asked: object = None) -> str:
    """Names as a message lists them, a dozen at most, and which of them may be meant by what was asked for."""
    known = [str(name) for name in names]
    more = f" and {len(known) - _LISTED} more" if len(known) > _LISTED else ""
    near = difflib.get_close_matches(str(asked), known, 1)
    meant = f"; did you mean '{near[0]}'?" if near else ""
    return f"{', '.join(known[:_LISTED]) or 'none'}{more}{meant}"


def misspelt(name: str, known: Iterable[str]) -> str:
    """The known name that this one nearly is, "" if it is known, or like none of them."""
    names = list(known)
    near = [] if name in names else difflib.get_close_matches(name, names, 1, _MISSPELT)
    return near[0] if near else ""


class ModelError(ValueError):
    """A scene, body, shape or joint that cannot be turned into dynamics."""


class StateError(ValueError):
    """A state, input array or simulation step that is malformed or not finite."""


class SceneFileError(ValueError):
    """A file of a scene, a robot or a recording that cannot be read or written."""


class OperandError(ModelError, TypeError):
    """Operands that an operation does not take: a vector added to a matrix, the dot product of a scalar."""


class MissingError(StateError, KeyError):
    """What is asked for by a name that has nothing now, though it could: a coordinate without a motor."""

    __str__ = Exception.__str__  # not a KeyError's, which quotes
