"""Bodies that are hung anew while a scene runs, cut off or given other joints, and how the scene tells of it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from operator import attrgetter
from typing import Any, Protocol, cast

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.dynamics.hanging import UNKNOWN, Bearing, Hanging
from recursive_dyn.errors import ModelError
from recursive_dyn.model.force_element import ElementSpec
from recursive_dyn.model.model import Model
from scene.body import Body, Node, World
from scene.constraint_group import ConstraintGroup
from scene.joints.elementary import free
from scene.joints.parametric_joint import Joint
from scene.named_parts import NamedParts
from scene.pairs import Pair
from scene.standing_alone import Lone

_ACT = attrgetter("act")


class Hung(Protocol):
    """A scene, as far as its bodies hang."""

    world: World
    joint_names: dict[str, str]
    pairs: dict[frozenset[str], Pair]

    @property
    def bodies(self) -> list[Body]: ...

    def __getitem__(self, name: str) -> Body: ...

    def __contains__(self, name: str) -> bool: ...

    constraints: NamedParts[ConstraintGroup]
    forces: NamedParts[ElementSpec]

    def model_of(self, bodies: Sequence[Body]) -> Model:
        """The tree of these bodies, with all else that it has; ModelError if there is none."""
        ...

    def compile(self, method: str = "auto", **settings: Any) -> Dynamics:
        """Equations of motion."""
        ...

    def dynamics_of(
        self, bodies: Sequence[Body], hanging: Hanging, method: str, settings: Mapping[str, Any]
    ) -> Dynamics:
        """Those of these bodies, that hang so."""
        ...


def cut(scene: Hung, body: Body | str) -> Body:
    """Take a body, with all it carries, off its joint, and hang it free in the world. ModelError if it is free."""
    own = _of(scene, body)
    if own.is_free:
        raise ModelError(f"body '{own.name}' is free already: there is no joint to cut")
    joints = [other.joint for other in scene.bodies if other.joint is not None]
    needed = bool(scene.constraints) or bool(scene.forces) or any(j.coupling or j.drive for j in joints)
    return swap(scene, own, free(), scene.world, check=needed)


def swap(
    scene: Hung, body: Body | str, joint: Joint, parent: Node | str | None = None, at: Any = None, check: bool = True
) -> Body:
    """Hang a body, with all it carries, on another joint; ModelError leaves the scene as it was. check: whether the
    scene still is a model."""
    own = _of(scene, body)
    before, order, place = own.parent, own.order, own.placement
    assert before is not None
    to = before if parent is None else scene.world if parent == scene.world.name else parent
    node = scene[to] if isinstance(to, str) else to
    with _undone_on_error(own):
        own.detach()
        node.attach(own, joint, place if at is None and parent is None else at)
        if node.root() is not scene.world:
            raise ModelError(f"body '{own.name}' cannot be hung on '{node.name}', which is not in this scene")
        own.order = order  # who touches whom, and by which keys, stays as it is
        node.children.sort(key=lambda body: body.order)
        if check:
            scene.model_of(scene.bodies)
    return own


def hanging(scene: Hung, bodies: Sequence[Body]) -> Hanging:
    """How a scene's bodies hang now."""
    strengths = {body.name: body.strength for body in bodies if body.strength is not None}
    bearing = {c.name: Bearing(tuple(c.row_names), c.strength) for c in scene.constraints if c.strength < np.inf}
    without = partial(_without, scene) if strengths or bearing else None
    acts = [*map(_ACT, bodies)]
    by_joint = dict(scene.joint_names)
    cut_all = partial(_cut_all, scene)
    return Hanging(scene, lambda: acts, strengths, bearing, cut_all, without, by_joint, partial(_unheld, scene))


def hanging_alone(scene: Hung, bodies: Sequence[Lone]) -> Hanging:
    """How they hang where each stands alone."""
    cut_all, unheld = partial(_cut_all, scene), partial(_unheld, scene)
    return Hanging(scene, lambda: [*map(_ACT, bodies)], cut=cut_all, unheld=unheld)


def _unheld(scene: Hung) -> str | None:
    """A free body whose shapes would be held by scenery, if there is any."""
    world = scene.world
    if not any(shape.collision for shape in world.shapes):
        return None
    for body in world.children:
        if body.is_free and any(shape.collision for node in body.walk() for shape in cast("Body", node).shapes):
            said = scene.pairs.get(frozenset((world.name, body.name)))
            if said is None or said.collide is not False:
                return body.name
    return None


def _cut_all(scene: Hung, names: Sequence[str], constraints: Sequence[str]) -> Callable[..., Dynamics]:
    """Cut bodies of these names off, of those that are in the scene and not free, and take constraints out."""
    scene.constraints[:] = [group for group in scene.constraints if group.name not in constraints]
    for name in names:
        if name in scene and not _of(scene, name).is_free:
            cut(scene, name)
    return scene.compile


def _without(
    scene: Hung, names: Sequence[str], constraints: Sequence[str], method: str, settings: Mapping[str, Any]
) -> Dynamics:
    """The dynamics of a scene as it would be with bodies of these names cut off, without these constraints; it stays
    as it is."""
    rest = copy.copy(scene)
    kept = (group for group in scene.constraints if group.name not in constraints)
    rest.constraints = NamedParts("constraint", kept)
    others: dict[Node | None, Body] = {}
    for body in scene.bodies:
        other = others[body] = copy.copy(body)
        other.parent = others.get(body.parent, body.parent)
        if body.name in names:
            other.parent, other.joint, other.place = scene.world, free(), np.eye(4)
    return rest.dynamics_of(list(others.values()), UNKNOWN, method, settings)


def _of(scene: Hung, body: Body | str) -> Body:
    name = body.name if isinstance(body, Body) else body
    own = scene[name]
    if isinstance(body, Body) and own is not body:
        raise ModelError(f"body '{name}' is not the one of this name in the scene; attach it first")
    return own


@contextmanager
def _undone_on_error(body: Body) -> Iterator[None]:
    """Hang a body as it hung, where its being hung anew fails."""
    assert body.parent is not None
    parent, number = body.parent, body.parent.children.index(body)
    kept = body.joint, body.place, body.order, body.act, body.strength
    try:
        yield
    except BaseException:
        if body.parent is not None:
            body.detach()
        assert kept[0] is not None
        parent.attach(body, kept[0])
        body.joint, body.place, body.order, body.act, body.strength = kept
        parent.children.insert(number, parent.children.pop())
        raise
