"""What a scene says of a body, in plain scalars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from recursive_dyn.graph.expression import Expression, Scalar
from recursive_dyn.graph.recent import Recent
from recursive_dyn.joint.coordinate import Coordinate
from recursive_dyn.joint.joint_program import JointProgram
from recursive_dyn.model.model import Model
from recursive_dyn.model.model_parts import ModelTree, PartFacts

_LIKENESSES = Recent[object](256)


@dataclass(frozen=True)
class Coupling:
    """A joint's one coordinate follows another body's: q = multiplier * q_leader + offset."""

    leader: str
    multiplier: float
    offset: float


@dataclass(frozen=True, eq=False)
class PartOfWorld:
    """Some specifications as a model of their own, with its trees; None if they need to know others."""

    specs: Sequence[BodySpec]
    model: Model | None = None
    trees: Sequence[ModelTree] = ()

    @cached_property
    def facts(self) -> PartFacts | None:
        """What a whole asks of it; None if it needs to know others."""
        model = self.model
        if model is None:
            return None
        one = self.trees[0] if len(self.trees) == 1 else None
        return PartFacts(
            model, self.trees, model.nb, model.packed_sizes, one and one.structure, one and one.packed, model.bounded,
            bool(model.charted),
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class BodySpec:
    """What a scene says of one body.

    ``parent``: what it says of the parent, None for the world. mass, center (3,) and inertia (3, 3) about the centre of
    mass in body axes, and the placement (4, 4), are scalars over the model graph's parameter inputs.

    ``drive`` is what moves the joint's coordinates if they are not its own: another body's coordinate, or functions,
    one a coordinate. A name ("parameter", name) in such functions, or in the joint's transform, is a shared coordinate,
    the label "body.coordinate" of one before it, or a parameter.
    """

    name: str
    parent: BodySpec | None
    placement: np.ndarray
    joint: JointProgram
    coordinates: tuple[Coordinate, ...]
    mass: Scalar
    center: np.ndarray
    inertia: np.ndarray
    drive: Coupling | tuple[Scalar, ...] | None = None
    part: PartOfWorld | None = field(default=None, init=False)  # what hangs on it, of one on the world, once known
    facts: PartFacts | None = field(default=None, init=False)  # of it, where nothing else hangs on it

    @cached_property
    def root(self) -> BodySpec:
        """What it hangs on that hangs on the world."""
        return self if self.parent is None else self.parent.root

    @cached_property
    def likeness(self) -> object:
        """The same object for those that say the same but for name, parent and placement, as long as it is known."""
        scalars = (self.mass, *self.center, *self.inertia.flat)
        return _LIKENESSES.of((self.joint.key, self.coordinates, self.drive is None, scalars), object)

    @cached_property
    def plain(self) -> bool:
        """Whether it stands for itself: no parameter and no coordinate of elsewhere, but for one that it follows."""
        scalars = (*self.placement.flat, self.mass, *self.center, *self.inertia.flat)
        own = self.drive is None or isinstance(self.drive, Coupling)
        return own and not self.joint.parameters and Expression not in map(type, scalars)
