"""What a scene holds, filled by readers: bodies, gravity, parameters, coordinates, constraints, forces, pairs."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from operator import attrgetter
from typing import Any, cast

import numpy as np

from recursive_dyn.contact.material import Material
from recursive_dyn.dynamics.notebook import counted, short
from recursive_dyn.errors import ModelError, listed, misspelt
from recursive_dyn.graph.traversal import evaluate
from recursive_dyn.joint.coordinate import Coordinate
from recursive_dyn.model.force_element import ElementSpec
from scene.body import Body, Node, World
from scene.constraint_group import ConstraintGroup
from scene.named_parts import NamedParts
from scene.number_checks import entries, numbers
from scene.outline import html_tree, tree
from scene.pairs import Pair
from scene.scalars import lowered, shown

_CHILDREN = attrgetter("children")


class SceneContent:
    """Plain content of a scene.

    gravity (3,), m/s^2, of numbers or expressions of parameters; joint_names: in a scene from a robot file, the name of
    the body that each joint moves, by the joint's name there; pairs: what was said of two bodies by ``pair``, by the
    set of their names; passing: names of bodies of which no two collide, as a robot's without self-collision.
    """

    def __init__(self, gravity: Any = (0.0, 0.0, -9.81)) -> None:
        self.gravity = gravity
        self.world = World()
        self.parameters: dict[str, float] = {}
        self.coordinates: dict[str, Coordinate] = {}
        self.constraints: NamedParts[ConstraintGroup] = NamedParts("constraint")
        self.forces: NamedParts[ElementSpec] = NamedParts("force element")
        self.pairs: dict[frozenset[str], Pair] = {}
        self.passing: list[tuple[str, ...]] = []
        self.joint_names: dict[str, str] = {}

    def __setattr__(self, name: str, value: Any) -> None:
        # once it has all that it is made with, of which joint_names is the last
        asked = "joint_names" in vars(self) and not hasattr(type(self), name)
        if asked and (meant := misspelt(name, [*vars(self), "gravity"])):
            raise ModelError(f"a scene has no '{name}'; did you mean '{meant}'?")
        object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return f"{self._head()}\n{tree(self.world)}"

    def _repr_html_(self) -> str:
        return html_tree(self._head(), self.world)

    def _head(self) -> str:
        gravity = ", ".join(map(short, self.gravity.tolist()))
        parts = [counted(len(self.bodies), "body", "bodies"), f"gravity ({gravity}) m/s^2"]
        given = [f"{name} = {short(value)}" for name, value in self.parameters.items()]
        lists = {"parameters": given, "coordinates": [*self.coordinates]}
        lists |= {"constraints": [group.name for group in self.constraints]}
        return "Scene: " + "; ".join([*parts, *(f"{what} {', '.join(told)}" for what, told in lists.items() if told)])

    @property
    def gravity(self) -> np.ndarray:
        """Acceleration of gravity (3,), m/s^2, world axes: numbers, or SymPy expressions of scene parameters.

        Setting it raises ModelError for what is no such vector.
        """
        return self._gravity if self._gravity.dtype == float else shown(self._gravity)

    @gravity.setter
    def gravity(self, value: Any) -> None:
        given = entries("scene", "gravity", value, (3,))
        self._gravity = (
            lowered(given, "scene: gravity")
            if given.dtype == object
            else numbers("scene", "gravity", value, (3,)).copy()
        )

    def gravity_now(self) -> np.ndarray:
        """Gravity (3,) at the values that the scene's parameters start from."""
        scalars = self.gravity_scalars()
        if scalars.dtype == float:
            return scalars
        inputs = {("parameter", name): value for name, value in self.parameters.items()}
        return np.array(evaluate(list(scalars), inputs), dtype=float)

    def gravity_scalars(self) -> np.ndarray:
        """Gravity as scalars over ("parameter", name), its entries checked, as they may have been set."""
        return self._gravity if self._gravity.dtype == object else numbers("scene", "gravity", self._gravity, (3,))

    @property
    def bodies(self) -> list[Body]:
        """Every body hung on the world, in order of attachment, parents first."""
        if not any(map(_CHILDREN, self.world.children)):
            return list(self.world.children)
        ready = [(body.order, body) for body in self.world.children]
        heapq.heapify(ready)
        result: list[Body] = []
        while ready:
            _, first = heapq.heappop(ready)
            result.append(first)
            for child in first.children:
                heapq.heappush(ready, (child.order, child))
        return result

    def named(self) -> dict[str, Body]:
        """Every body hung on the world, by name."""
        found = self.world.together()
        del found[self.world.name]
        return cast(dict[str, Body], found)  # all but the world are

    def __getitem__(self, name: str) -> Body:
        found = self.world.find(name)
        if isinstance(found, Body):
            return found
        raise ModelError(f"unknown body '{name}'; the scene has {listed([b.name for b in self.bodies], name)}")

    def __contains__(self, name: str) -> bool:
        return isinstance(self.world.find(name), Body)

    def add_constraint(self, group: ConstraintGroup) -> ConstraintGroup:
        """Add rows to be kept, and return them. ModelError when the name is taken."""
        if any(known.name == group.name for known in self.constraints):
            raise ModelError(f"two constraints are named '{group.name}'; give each its own name")
        self.constraints.append(group)
        return group

    def pair(
        self,
        a: Body | World | str,
        b: Body | World | str,
        collide: bool | None = None,
        material: Material | None = None,
    ) -> None:
        """Say whether two bodies collide, and of what material their contact is whatever their shapes are of.

        a, b: bodies or their names; scene.world or "world" is the scenery. collide: True also lets neighbours collide,
        and bodies that pass each other otherwise; None leaves it as it would be, which for all others is that they do.
        A later call for the same two replaces an earlier one. Raises ModelError naming the pair.
        """
        names = [self._named("pair", node) for node in (a, b)]
        what = f"pair of '{names[0]}' and '{names[1]}'"
        if names[0] == names[1]:
            raise ModelError(f"{what}: a pair is of two bodies of this scene{self._known()}")
        try:
            self.pairs[frozenset(names)] = Pair(collide, material)
        except ModelError as error:
            raise ModelError(f"{what}: {error}") from None

    def let_pass(self, bodies: Iterable[Body | str]) -> None:
        """Let no two of these bodies, or names of bodies, collide with each other, unless ``pair`` says of two that
        they do. Raises ModelError naming what is no body of this scene."""
        names = tuple(dict.fromkeys(self._named("let_pass", body) for body in bodies))
        if self.world.name in names:
            raise ModelError(
                "let_pass takes bodies, not the world; scene.pair(body, 'world', collide=False) is for that"
            )
        self.passing.append(names)

    def _named(self, what: str, node: Node | str) -> str:
        """The name of a body of this scene or of its world. ModelError lists the known ones."""
        name = node.name if isinstance(node, Node) else node
        known = self.world.find(name)
        if known is not None and (known is node or name is node):
            return known.name
        raise ModelError(f"{what}: {name!r} is no body of this scene{self._known()}")

    def _apart(self, what: str, a: Node | str, b: Node | str) -> None:
        """ModelError where something is between a body and itself."""
        if self._named(what, a) == self._named(what, b):
            raise ModelError(
                f"{what} is between '{self._named(what, a)}' and itself, which nothing moves apart; give two bodies, or"
                " scene.world for one of them"
            )

    def _known(self) -> str:
        return f", which has {listed(['world', *(b.name for b in self.bodies)])}"
