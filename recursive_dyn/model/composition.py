"""A model put together from models that know nothing of each other, so that what did not change is not made again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from recursive_dyn.graph.expression import Graph
from recursive_dyn.model.model import WORLD, BodyFrame, Link, Model, Part

Frozen = TypeVar("Frozen", Link, BodyFrame)


def composed(
    models: Sequence[Model],
    order: Sequence[tuple[int, int]],
    gravity: Sequence[float] | np.ndarray,
    parameters: Sequence[tuple[str, float]],
) -> Model:
    """The model of all bodies; order: (number of its model, number in it) of each body, in order of attachment.

    The models have no parameters but their joints' charts, and no constraints.
    """
    parts = [Part(model, [], [], [], []) for model in models]
    owned = [_owned(model) for model in models]
    links: list[Link] = []
    bodies: list[BodyFrame] = []
    nq = nv = 0
    for number, own in order:
        part = parts[number]
        body = part.model.bodies[own]
        part.bodies.append(len(bodies))
        if body.jointed and body.link != WORLD:
            link, more_slots, more_places = owned[number][body.link]
            part.links.append(len(links))
            part.slots.extend(range(nv, nv + more_slots))
            part.places.extend(range(nq, nq + more_places))
            nv, nq = nv + more_slots, nq + more_places
            parent = WORLD if link.parent == WORLD else part.links[link.parent]
            own_places, own_slots = part.places, part.slots
            links.append(
                _with(
                    link,
                    parent=parent,
                    places=tuple([own_places[k] for k in link.places]),
                    slots=tuple([own_slots[k] for k in link.slots]),
                )
            )
        on = WORLD if body.link == WORLD else part.links[body.link]
        bodies.append(_with(body, parent=WORLD if body.parent == WORLD else part.bodies[body.parent], link=on))
    return Model(
        graph=Graph(),
        links=tuple(links),
        bodies=tuple(bodies),
        gravity=(float(gravity[0]), float(gravity[1]), float(gravity[2])),
        parameters=(*parameters, *((link.chart, 0.0) for link in links if link.chart is not None)),
        nq=nq,
        nv=nv,
        parts=tuple(parts),
        **_coordinates(parts, nq, nv),
    )


def _coordinates(parts: Sequence[Part], nq: int, nv: int) -> dict[str, Any]:
    """The fields of a model that are of coordinates."""
    coordinates: list[Any] = [None] * nv
    names: list[Any] = [None] * nq
    plain: list[tuple[int, int]] = []
    units: list[tuple[int, int]] = []
    for part in parts:
        model, slots, places = part.model, part.slots, part.places
        for slot, coordinate in zip(slots, model.coordinates, strict=True):
            coordinates[slot] = coordinate
        for place, name in zip(places, model.coordinate_names, strict=True):
            names[place] = name
        plain += [(places[p], slots[s]) for p, s in model.plain_slots]
        units += [(places[first], places[end - 1] + 1) for first, end in model.units]
    return {
        "coordinates": tuple(coordinates),
        "coordinate_names": tuple(names),
        "plain_slots": tuple(sorted(plain)),
        "units": tuple(sorted(units)),
    }


_OWNED: WeakKeyDictionary[Model, list[tuple[Link, int, int]]] = WeakKeyDictionary()


def _owned(model: Model) -> list[tuple[Link, int, int]]:
    """Every link, and how many slots and places came with it; counted once."""
    found = _OWNED.get(model)
    if found is None:
        found = _OWNED[model] = _counted(model)
    return found


def _counted(model: Model) -> list[tuple[Link, int, int]]:
    found, nv, nq = [], 0, 0
    for link in model.links:
        slots, places = max((nv, *(s + 1 for s in link.slots))), max((nq, *(p + 1 for p in link.places)))
        found.append((link, slots - nv, places - nq))
        nv, nq = slots, places
    return found


def _with(frozen: Frozen, **changes: Any) -> Frozen:
    """``dataclasses.replace`` for objects made by the thousand: nothing is checked, nothing computed anew."""
    result = object.__new__(type(frozen))
    result.__dict__.update(frozen.__dict__)
    result.__dict__.update(changes)
    return result
