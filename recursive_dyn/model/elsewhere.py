"""A body of the world that is one known before but for its name and where it stands: its model is not made anew."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cached_property
from typing import NamedTuple

import numpy as np

from recursive_dyn.graph.recent import Recent
from recursive_dyn.joint.coordinate import Coordinate
from recursive_dyn.model.lifting import Reader, exchanged_pose
from recursive_dyn.model.model import Model
from recursive_dyn.model.model_parts import ModelTree, altered
from recursive_dyn.model.reframe import TINY, turning_axis
from recursive_dyn.model.specification import BodySpec, PartOfWorld


class _Like(Model):
    """The model of one body that is like that of ``other`` but for its name and where it stands: names of coordinates
    are made where they are asked for."""

    other: Model

    @cached_property
    def coordinates(self) -> tuple[Coordinate, ...]:
        return tuple([altered(c, name=self._named(c.name)) for c in self.other.coordinates])

    @cached_property
    def coordinate_names(self) -> tuple[str, ...]:
        return tuple(map(self._named, self.other.coordinate_names))

    def _named(self, label: str) -> str:
        return self.body_names[0] + label[len(self.other.body_names[0]) :]


class _Known(NamedTuple):
    """Model and tree of a body; of the tree's numbers, those from ``first`` on say where it stands."""

    model: _Like
    tree: ModelTree
    first: int


_KNOWN = Recent[_Known](256)


def found(spec: BodySpec) -> PartOfWorld | None:
    """What ``spec``, on which nothing hangs, is by itself, if one like it was noted."""
    known = _KNOWN.get(_content(spec))
    place = [float(x) for x in spec.placement[:3, 3]]
    if known is None or not np.isfinite(place).all():  # what is wrong is said where models are made
        return None
    model, tree, first = known
    (link,), (body,) = model.links, model.bodies
    placement, numbers, place = link.placement.copy(), tree.numbers.copy(), [0.0 if abs(x) < TINY else x for x in place]
    placement[:3, 3], numbers[first : first + 3] = place, place
    own = altered(
        model,
        links=(altered(link, name=spec.name, placement=placement),),
        bodies=(altered(body, name=spec.name),),
        body_names=(spec.name,),
    )
    return PartOfWorld([spec], own, [altered(tree, numbers=numbers, packed=numbers.tobytes())])


def note(spec: BodySpec, part: PartOfWorld) -> None:
    """Others like ``spec`` may come, if it is a body whose model depends on its place by the placement only."""
    model = part.model
    if model is None or spec.drive is not None or len(model.links) != 1 or spec.joint.split[0]:
        return
    if model.charted or turning_axis(model.links[0]) is not None:
        return
    (tree,), read = part.trees, Reader()
    model = model.changed()  # without anything found of it that depends on the name and the place
    for same in ("nb", "nl", "packed_sizes", "charted", "bounded"):  # in all that will be like it
        getattr(model, same)
    exchanged_pose(model.links[0].placement, read)
    like = object.__new__(_Like)
    vars(like).update(vars(model), other=model)
    del vars(like)["coordinates"], vars(like)["coordinate_names"]
    _KNOWN.keep(_content(spec), _Known(like, tree, len(read.numbers) - 3))


def _content(spec: BodySpec) -> Hashable:
    """All that a specification says but the name and the place."""
    return spec.likeness, *spec.placement[:3, :3].flat, *spec.placement[3]
