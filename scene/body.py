"""Nodes of the scene: bodies hung on parametric joints."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from recursive_dyn.dynamics.hanging import Strength
from recursive_dyn.errors import ModelError
from scene.body_symbols import BodySymbols
from scene.joints.elementary import free
from scene.joints.parametric_joint import Joint
from scene.mass_properties import MassProperties, of_body
from scene.number_checks import as_floats, entries, rigid_pose
from scene.refused_settings import refused
from scene.scalars import lowered, shown
from scene.shapes import Shape
from scene.standing_alone import Lone, StandingAlone

_order = itertools.count()


class NodeTable:
    """Everything that hangs together: its ``root`` and its ``nodes`` by name; changes: counts up where something was
    said of bodies that stood alone."""

    def __init__(self, root: Node, nodes: dict[str, Node]) -> None:
        self.root, self.nodes, self.changes = root, nodes, 0


class Node:
    """Something that bodies can be attached to: the world or a body. Its name is its own in all that hangs together."""

    lone: Lone | None = None  # what is known of a body that stands alone; None where it does not, or is another since

    def __init__(self, name: str) -> None:
        self._name = _checked_name(name)
        self.parent: Node | None = None
        self.children: list[Body] = []
        self._tree = NodeTable(self, {name: self})

    @property
    def changes(self) -> int:
        """As counted of all that it hangs together with."""
        return self._tree.changes

    @property
    def name(self) -> str:
        """What it is called; a name that another one has is refused with ModelError."""
        return self._name

    @name.setter
    def name(self, name: str) -> None:
        if self._tree.nodes.get(_checked_name(name), self) is not self:
            raise ModelError(f"body '{self._name}' cannot be renamed: another one is named '{name}'")
        del self._tree.nodes[self._name]
        self._name, self._tree.nodes[name] = name, self

    def attach(self, child: Body, joint: Joint, at: Any = None) -> Body:
        """Hang ``child`` on ``joint``, whose place in this body's frame is the pose ``at`` (4, 4); returns the child.

        Raises ModelError when the child is attached already, is this body or one that carries it, or when a name occurs
        twice in the scene.
        """
        if not isinstance(child, Body):
            raise ModelError(f"'{self.name}'.attach takes a Body, not {type(child).__name__}")
        if not isinstance(joint, Joint):
            raise ModelError(f"body '{child.name}' needs a joint from scene.joints, not {type(joint).__name__}")
        if child.parent is not None:
            raise ModelError(f"body '{child.name}' is attached to '{child.parent.name}' already; detach it first")
        if child._tree is self._tree:
            raise ModelError(
                f"body '{child.name}' cannot be attached to itself or to a body it carries ('{self.name}')"
            )
        pose = _placement(child.name, at)
        self._join(child._tree)
        self._tree.changes += child.order >= 0  # one that was here before may be known as what it was
        child.parent, child.joint, child.place, child.order = self, joint, pose, next(_order)
        child.act = child.order
        self.children.append(child)
        self._stand_no_more()
        return child

    def _stand_no_more(self) -> None:
        """It does not stand alone, or is another since."""
        if self.lone is not None:
            self.lone = None
            if self.parent is not None:  # who goes is missed
                self._tree.changes += 1

    def _join(self, other: NodeTable) -> None:
        """Make one tree of two; the smaller is rewritten, so that building n bodies in any order costs O(n log n)."""
        own = self._tree
        small, large = sorted((own, other), key=lambda tree: len(tree.nodes))
        for name in small.nodes:
            if name in large.nodes:
                raise ModelError(f"two bodies are named '{name}'; give each body of a scene its own name")
        large.root = own.root
        large.nodes |= small.nodes
        large.changes += small.changes
        for node in small.nodes.values():
            node._tree = large

    def root(self) -> Node:
        """The world, or the body a loose subtree hangs on."""
        return self._tree.root

    def find(self, name: object) -> Node | None:
        """The node of that name among all that this one hangs together with; None if there is none."""
        return self._tree.nodes.get(name) if isinstance(name, str) else None

    def together(self) -> dict[str, Node]:
        """All that this one hangs together with, and itself, by name."""
        return dict(self._tree.nodes)

    def walk(self) -> Iterator[Node]:
        """This node and all below it, parents first."""
        stack: list[Node] = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))


class World(Node):
    """The fixed frame that a scene's bodies hang on. Shapes given to it are static scenery."""

    def __init__(self) -> None:
        super().__init__("world")
        self.shapes: list[Shape] = []
        self.alone: StandingAlone | None = None  # as was found last

    def __repr__(self) -> str:
        return f"<World with {len(self.together()) - 1} bodies>"


_SAID = frozenset(("_name", "joint", "properties", "place", "strength"))  # a body is lowered from all but the last
_SET = _SAID | {"name", "parent", "children", "shapes", "order", "act", "lowered", "charted", "lone"}


class Body(Node, BodySymbols):
    """A rigid body.

    shapes: its geometry, each at its own pose; mass (kg), center_of_mass (3,) in m, inertia (3, 3) about the centre of
    mass in body axes, kg m^2: numbers or expressions of scene parameters; what is not given follows from the shapes and
    density (kg/m^3, 1000 if not given). The body's frame is its joint's child frame. Raises ModelError naming the body,
    also for setting what it does not have.

    Its list ``shapes`` may be changed later: a mirror and a plugin follow at ``update()``. What it weighs,
    ``properties``, stays as it was made.
    """

    lowered: Any  # what it was lowered to as it is; None where it is something else since
    charted: bool  # whether its joint has charts by itself

    def __init__(
        self,
        name: str,
        shapes: Sequence[Shape] = (),
        mass: Any = None,
        density: Any = None,
        center_of_mass: Any = None,
        inertia: Any = None,
    ) -> None:
        super().__init__(name)
        if isinstance(shapes, Shape):
            raise ModelError(f"body '{name}': shapes is a list; write [shapes.{type(shapes).__name__}(...)]")
        self.shapes = list(shapes)
        self.properties = of_body(name, self.shapes, mass, density, center_of_mass, inertia)
        self.joint: Joint | None = None
        self.place = np.eye(4)
        self.order = self.act = -1  # the act of attachment, and the place that it has among the others
        self.strength: Strength | None = None

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in _SET and not name.startswith("_") and not self._declares(name):
            raise refused(self._name, name, dir(self))
        super().__setattr__(name, value)
        if name in _SAID:
            own = vars(self)
            own["lowered"] = own.get("lowered") if name == "strength" else None
            if name == "joint":
                own["charted"] = value is not None and value.of_one_chart is not value
            self._stand_no_more()

    @classmethod
    def _declares(cls, name: str) -> bool:
        """Whether a subclass has an attribute of that name, other than what follows from others here."""
        own = [kind for kind in cls.__mro__ if kind not in Body.__mro__]
        return any(name in vars(kind) or name in vars(kind).get("__annotations__", {}) for kind in own)

    def keep(self, lowered: Any) -> None:
        """Keep what it was lowered to, for as long as it stays what it is."""
        self.place.setflags(write=False)
        self.lowered = lowered

    @classmethod
    def of_properties(cls, name: str, shapes: Sequence[Shape], properties: MassProperties) -> Body:
        """A body with exactly these mass properties, whatever its shapes weigh.

        For files, whose rounded inertias often break the triangle inequality a little, and whose links may have shapes
        and no mass: nothing is checked beyond what MassProperties checks itself.
        """
        body = cls(name)
        body.shapes, body.properties = list(shapes), properties
        return body

    def __repr__(self) -> str:
        on = f"{self.joint!r} of '{self.parent.name}'" if self.joint and self.parent else "nothing"
        return f"<Body '{self.name}' on {on}>"

    @property
    def mass(self) -> Any:
        """Mass, kg: a number, or a SymPy expression of scene parameters, as are the entries of the others."""
        return shown(self.properties.mass).item()

    @property
    def center_of_mass(self) -> Any:
        """Centre of mass (3,) in the body frame, m."""
        return shown(self.properties.center_of_mass)

    @property
    def inertia(self) -> Any:
        """Moment of inertia (3, 3) about the centre of mass in body axes, kg m^2."""
        return shown(self.properties.inertia)

    @property
    def placement(self) -> Any:
        """Pose (4, 4) of the joint in the parent's frame; ``place`` holds it in graph scalars."""
        return shown(self.place)

    @property
    def is_free(self) -> bool:
        """Whether it floats in the world."""
        joint = self.joint
        return isinstance(self.parent, World) and joint is not None and joint.program.key == free().program.key

    def detach(self) -> Body:
        """Take this body, with everything it carries, off its parent; returns it."""
        if self.parent is None:
            raise ModelError(f"body '{self.name}' is not attached to anything")
        self.parent.children.remove(self)
        own = NodeTable(self, {node.name: node for node in self.walk()})
        for node in own.nodes.values():
            del node._tree.nodes[node.name]
            node._tree = own
        self.parent, self.joint, self.place, self.strength = None, None, np.eye(4), None
        return self

    def breaks_at(self, force: Any = np.inf, torque: Any = np.inf) -> Body:
        """Let the joint that this body hangs on break when it transmits more, N, or N m about the body's origin.

        Contacts, limits and motors of the step are in it, as means over the step. What broke goes on as a free body
        with all it carries; see ``Simulation.broken``. Belongs to the joint: detaching forgets it. Returns the body;
        ModelError for what is not positive, or where there is no joint, or one that leaves the body free.
        """
        if self.joint is None:
            raise ModelError(f"body '{self.name}' hangs on no joint that could break; attach it first")
        sizes = [float(as_floats(x)) if as_floats(x).shape == () else np.nan for x in (force, torque)]
        for what, size in zip(("force", "torque"), sizes, strict=True):
            if not size > 0.0:
                raise ModelError(f"body '{self.name}' breaks at a {what} above 0, or never at infinity, not {size:g}")
        strength = None if min(sizes) == np.inf else Strength(*sizes)
        if strength is not None and self.is_free:
            raise ModelError(f"body '{self.name}' is free: it hangs on no joint that could break")
        self.strength = strength
        return self


def _checked_name(name: object) -> str:
    if not isinstance(name, str) or not name:
        raise ModelError(f"a body needs a name, not {name!r}")
    return name


def _placement(name: str, at: Any) -> np.ndarray:
    if at is None:
        return np.eye(4)
    pose = entries(f"body '{name}'", "at, a 4 x 4 pose (rd.pose makes one),", at, (4, 4))
    if pose.dtype == object:
        return lowered(pose, f"body '{name}': at")
    return rigid_pose(f"body '{name}'", "at", at)
