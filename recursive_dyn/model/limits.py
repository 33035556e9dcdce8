"""Limits and dry friction of a model's coordinates, as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from recursive_dyn.model.model import UNLIMITED, Model, once
from recursive_dyn.model.model_parts import ModelParts

Array = np.ndarray


class Limited(NamedTuple):
    """Coordinates with limits, in the order of their slots (l,) in v: places in q; low, high."""

    slots: Array
    places: Array
    low: Array
    high: Array


class Rubbing(NamedTuple):
    """Coordinates with dry friction, in the order of their slots (r,) in v."""

    slots: Array
    friction: Array


def limited(model: Model) -> Limited:
    """The coordinates of a model that have limits."""
    return _known(model)[0]


def rubbing(model: Model) -> Rubbing:
    """The coordinates of a model that have dry friction."""
    return _known(model)[1]


@once
def _known(model: Model) -> tuple[Limited, Rubbing]:
    return _of_parts(model.parts) if model.parts else _of_one(model)


def _of_one(model: Model) -> tuple[Limited, Rubbing]:
    places = {slot: place for place, slot in model.plain_slots}
    numbered = [(s, c) for s, c in enumerate(model.coordinates) if s not in model.prescribed]
    limits = [(s, places[s], *c.limits) for s, c in numbered if c.limits != UNLIMITED and s in places]
    friction = [(s, c.friction) for s, c in numbered if c.friction > 0.0]
    slots, own, low, high = _columns(limits, 4)
    rubbing_slots, values = _columns(friction, 2)
    return (
        Limited(slots.astype(np.int64), own.astype(np.int64), low, high),
        Rubbing(rubbing_slots.astype(np.int64), values),
    )


def _columns(rows: Sequence[Sequence[float]], count: int) -> Array:
    return np.ascontiguousarray(np.array(rows, dtype=float).reshape(-1, count).T)


def _of_parts(parts: ModelParts[Model]) -> tuple[Limited, Rubbing]:
    limits, frictions, slots, places = [_NO_LIMITS], [_NO_FRICTION], parts.slots, parts.places
    if not any(parts.facts.bounded):
        return _NO_LIMITS, _NO_FRICTION
    for k in np.flatnonzero(parts.facts.bounded).tolist():
        own, rubs = _known(parts.models[k])
        if len(own.slots):
            at = slots.all[slots.first[k] + own.slots], places.all[places.first[k] + own.places]
            limits.append(Limited(*at, own.low, own.high))
        if len(rubs.slots):
            frictions.append(Rubbing(slots.all[slots.first[k] + rubs.slots], rubs.friction))
    return Limited(*_in_order(limits)), Rubbing(*_in_order(frictions))


def _in_order(parts: Sequence[Sequence[Array]]) -> list[Array]:
    """The columns of all, in the order of the first."""
    columns = [np.concatenate(own) for own in zip(*parts, strict=True)]
    order = np.argsort(columns[0])
    return [column[order] for column in columns]


_NONE, _NOWHERE = np.zeros(0), np.zeros(0, dtype=np.int64)
_NO_LIMITS, _NO_FRICTION = Limited(_NOWHERE, _NOWHERE, _NONE, _NONE), Rubbing(_NOWHERE, _NONE)
