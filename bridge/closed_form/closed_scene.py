"""A scene's shapes, pairs and planes as what closed forms read."""

from __future__ import annotations

from typing import Any

import numpy as np

from bridge.bodies.apart import apart, neighbours, ordered, still
from bridge.closed_form.closed_contacts import BITS
from bridge.closed_form.near_pairs import APART, Rules
from bridge.closed_form.solids import Solids, knows, reaches, solids_of
from bridge.outsiders import WORLD
from bridge.planes.plane_contacts import PlaneContacts, plane_key, plane_numbers
from recursive_dyn.contact.contacts import STATIC
from recursive_dyn.contact.material import Material, combined
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.errors import ModelError
from scene import Scene, shapes

_PLAIN = Material()
_NEVER = -(1 << 62)  # a key that no contact has


def foreign(scene: Scene) -> str | None:
    """The first shape of which closed forms know no contacts; None if they know all of them."""
    scenery = [shape for shape in scene.world.shapes if not isinstance(shape, shapes.Plane)]
    for name, own in ((WORLD, scenery), *((body.name, body.shapes) for body in scene.bodies)):
        for shape in own:
            if not knows(shape):
                return f"{shape.label} of '{name}'"
    return None


class ClosedScene:
    """solids, rules, frictions (m, 5), materials (how many there are), reach (nb, 3), planes: as they are compiled for.

    places: of each solid what it is: its body, and which shape of it, by id. Raises ModelError for other shapes.
    """

    def __init__(self, scene: Scene, dynamics: Dynamics) -> None:
        strange = foreign(scene)
        if strange:
            raise ModelError(
                f"contacts of {strange} are not known in closed form; make the plugin with collisions='bullet', or"
                " give it collision=False"
            )
        self.names = tuple(dynamics.bodies)
        fixed, owned, places = still(dynamics), list[tuple[int, shapes.Shape]](), list[tuple[int, int]]()
        bodies = {name: scene[name] for name in self.names}
        parts = [(number, body.shapes) for number, body in enumerate(bodies.values())]
        for number, own in (*parts, (STATIC, scene.world.shapes)):
            for shape in own:
                if shape.collision and not isinstance(shape, shapes.Plane):
                    owned.append((number, shape))
                    places.append((id(bodies[self.names[number]]) if number != STATIC else STATIC, id(shape)))
        self.places, self._alive = places, (bodies, owned)  # by whose ids places are known
        materials = list(dict.fromkeys(shape.material or _PLAIN for _, shape in owned))
        numbers = [materials.index(shape.material or _PLAIN) for _, shape in owned]
        unmoved = [number == STATIC or self.names[number] in fixed for number, _ in owned]
        self.solids: Solids = solids_of(owned, numbers, unmoved)
        self.materials, self.reach = len(materials), reaches(self.solids, len(self.names))
        rows = [combined(a, b).row for a in materials for b in materials]
        self.rules = self._rules(scene, dynamics, rows)
        self.frictions = np.array(rows, dtype=float).reshape(-1, 5)
        self.planes = PlaneContacts(scene.world.shapes, scene.pairs)
        for name, body in bodies.items():
            self.planes.add(name, body.shapes)
        self.planes.arrange(self.names)
        self.owners = {name: id(body) for name, body in bodies.items()}

    def _rules(self, scene: Scene, dynamics: Dynamics, rows: list[Any]) -> Rules:
        """Whoever is not as usual to whom; materials of pairs are added to the rows."""
        count, side = len(self.names) + 1, {name: k + 1 for k, name in enumerate(self.names)} | {WORLD: 0}
        said: dict[tuple[str, str], int] = {}
        for both, pair in scene.pairs.items():
            if pair.material is not None and pair.collide is not False:
                said[ordered(*both)] = len(rows)
                rows.append(pair.material.row)
        said |= dict.fromkeys(apart(scene, neighbours(scene, dynamics)), APART)
        keys = dict[int, int]()
        for (a, b), row in said.items():
            if a in side and b in side:
                low, high = sorted((side[a], side[b]))
                keys[low * count + high] = row
        order = sorted(keys)
        sides = np.where(self.solids.bodies == STATIC, 0, self.solids.bodies + 1)
        return Rules(sides, count, np.array(order, np.int64), np.array([keys[k] for k in order], np.int64))

    def renumbered(self, keys: np.ndarray, before: ClosedScene) -> np.ndarray:
        """Keys (n,) of contacts among these shapes, of those before an edit; one that no contact has for what went."""
        now = {place: k for k, place in enumerate(self.places)}
        to = np.array([*(now.get(place, -1) for place in before.places), -1], dtype=np.int64)
        result, pairs = np.full(len(keys), _NEVER), keys >= 0
        first, other = to[keys[pairs] >> BITS], to[keys[pairs] & ((1 << BITS) - 1)]
        result[pairs] = np.where((first < 0) | (other < 0), _NEVER, (first << BITS) + other)
        shape, feature, plane = plane_numbers(keys[~pairs])
        shape, plane = self._lying(before)[shape], self._planes(before)[plane]
        result[~pairs] = np.where((shape < 0) | (plane < 0), _NEVER, plane_key(shape, feature, plane))
        return result

    def _lying(self, before: ClosedScene) -> np.ndarray:
        """The number now of each shape that lay on planes."""
        (names, ends), (own, firsts) = before.planes.lying, self.planes.lying
        now = dict(zip(own, firsts.tolist(), strict=False))
        result = np.full(ends[-1] + 1, -1)
        for name, first, end in zip(names, ends[:-1].tolist(), ends[1:].tolist(), strict=True):
            if name in now and self.owners.get(name) == before.owners[name]:
                result[first:end] = now[name] + np.arange(end - first)
        return result

    def _planes(self, before: ClosedScene) -> np.ndarray:
        now = {id(plane): k for k, plane in enumerate(self.planes.planes)}
        return np.array([*(now.get(id(plane), -1) for plane in before.planes.planes), -1], dtype=np.int64)
