"""Coordinates as bodies are added: who owns them, who shares them, which places in q and slots in v they have."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import Graph
from recursive_dyn.joint.charted_program import chart_name
from recursive_dyn.joint.coordinate import CLOCK, TIME, Coordinate
from recursive_dyn.joint.drive import Drive, names_in
from recursive_dyn.joint.drive import drive as make_drive
from recursive_dyn.joint.joint_check import coordinate_labels
from recursive_dyn.joint.joint_program import JointProgram, borrow
from recursive_dyn.model.constraint import COORDINATE, RATE, rate_name
from recursive_dyn.model.model import Link
from recursive_dyn.model.specification import BodySpec, Coupling

UNKNOWN = (-1, -1)  # place and slot of time until all other coordinates have theirs


class Numbering:
    """``names`` (nq,), ``coordinates`` (nv,); ``units``: (first, end) of what has length 1; ``plain``: place and slot
    by name; ``charted``: charts' names by those of coordinates, and of rates, whose meaning changes with them."""

    def __init__(self, parameters: dict[str, float], shared: dict[str, Coordinate]) -> None:
        self.parameters, self.shared = parameters, {**shared, CLOCK: TIME}
        self.coordinates: list[Coordinate] = []
        self.names: list[str] = []
        self.units: list[tuple[int, int]] = []
        self.plain: dict[str, tuple[int, int]] = {}
        self.charted: dict[str, str] = {}
        self.timed = False  # whether anything depends on time
        self.owned: dict[str, range] = {}  # slots of a body's own coordinates

    def is_coordinate(self, name: str) -> bool:
        """True for a shared coordinate and for a plain one of a body before."""
        return name in self.shared or name in self.plain

    def coordinate(self, name: str) -> Coordinate:
        """The coordinate of that name."""
        return self.shared[name] if name in self.shared else self.coordinates[self.plain[name][1]]

    def bind(self, spec: BodySpec) -> tuple[JointProgram, list[str]]:
        """The joint with the shared coordinates in its transform as coordinates after its own, and their names."""
        self.refuse_charted(f"joint of '{spec.name}'", spec.joint.parameters)
        borrowed = sorted(name for name in spec.joint.parameters if self.is_coordinate(name))
        if not borrowed:
            return spec.joint, []
        curved = any(not f.space.flat for f in spec.joint.factors)
        if spec.drive is not None or spec.joint.charts or curved:
            raise ModelError(
                f"joint of '{spec.name}': its transform uses the shared coordinate '{borrowed[0]}', which a ball, a"
                " free, a driven joint or one of several charts cannot; put a body between two joints"
            )
        return borrow(spec.joint, borrowed), borrowed

    def number(self, spec: BodySpec, core: JointProgram, own: int) -> tuple[list[int], list[int]]:
        """Give the joint's first ``own`` velocity coordinates, and what belongs to them in q, their places; (q, v)."""
        place, slot = len(self.names), len(self.coordinates)
        self.names += coordinate_labels(core, spec.coordinates, spec.name)[: core.nq - core.nv + own]
        self.coordinates += [replace(c, name=f"{spec.name}.{c.name}") for c in spec.coordinates]
        self.owned[spec.name] = range(slot, len(self.coordinates))
        for f in core.factors:
            self.units += [(place + f.first_q + first, place + f.first_q + end) for first, end in f.space.units]
            if f.space.flat:
                for j in range(f.nv):
                    if f.first_v + j < own:
                        name = self.names[place + f.first_q + j]
                        self.plain[name] = (place + f.first_q + j, slot + f.first_v + j)
                        if core.charts:
                            self.charted |= dict.fromkeys((name, rate_name(name)), chart_name(spec.name))
        return [*range(place, len(self.names))], [*range(slot, len(self.coordinates))]

    def slot(self, name: str) -> tuple[int, int]:
        """Place and slot of a coordinate; a shared one is numbered at its first use, time at the end: UNKNOWN."""
        if name == CLOCK:
            self.timed = True
            return UNKNOWN
        if name not in self.plain:
            self.plain[name] = (len(self.names), len(self.coordinates))
            self.names.append(name)
            self.coordinates.append(self.shared[name])
        return self.plain[name]

    def drive(self, spec: BodySpec, core: JointProgram) -> tuple[Drive, list[str]] | None:
        """The functions that drive the joint's coordinates and the names of the coordinates they depend on."""
        if isinstance(spec.drive, Coupling):
            leader = self._leader(spec.name, spec.drive, core)
            slot = self.plain[leader][1]
            self.coordinates[slot] = _with_follower(self.coordinates[slot], spec.coordinates[0], spec.drive)
            q = Graph().input(("parameter", leader))
            return make_drive([q * spec.drive.multiplier + spec.drive.offset], {leader: 0}), [leader]
        if spec.drive is None:
            return None
        used = names_in(spec.drive)
        self.refuse_charted(f"joint of '{spec.name}'", used)
        names = [name for name in used if self.is_coordinate(name)]
        unknown = [name for name in used if name not in names and name not in self.parameters]
        if unknown:
            raise ModelError(
                f"joint of '{spec.name}' is driven by '{unknown[0]}', which is no scene.coordinate, no coordinate"
                ' "body.name" of a body before it and no scene.parameter'
            )
        if not names:
            raise ModelError(f"joint of '{spec.name}' is driven by no coordinate; use a fixed joint or name one")
        return make_drive(spec.drive, {name: k for k, name in enumerate(names)}), names

    def _leader(self, body: str, coupling: Coupling, core: JointProgram) -> str:
        own = [self.coordinates[slot].name for slot in self.owned.get(coupling.leader, ())]
        if not own:
            raise ModelError(
                f"joint of '{body}' follows '{coupling.leader}', which is not a moving body attached before it"
            )
        self.refuse_charted(f"joint of '{body}'", own)
        if core.nv != 1 or len(own) != 1:
            raise ModelError(f"joint of '{body}' follows '{coupling.leader}': both need exactly one own coordinate")
        return own[0]

    def finish(self, links: Sequence[Link], names: Collection[str]) -> tuple[list[Link], tuple[int, int] | None]:
        """Give time, if anything depends on it or it is among ``names``, the last place and slot, in links too."""
        if not self.timed and CLOCK not in names:
            return list(links), None
        self.plain[CLOCK] = place, slot = len(self.names), len(self.coordinates)
        self.names.append(CLOCK)
        self.coordinates.append(TIME)
        found = [
            replace(
                link,
                places=tuple(place if p == UNKNOWN[0] else p for p in link.places),
                slots=tuple(slot if s == UNKNOWN[1] else s for s in link.slots),
            )
            for link in links
        ]
        return found, (place, slot)

    @property
    def inputs(self) -> dict[str, tuple[Any, ...]]:
        """What the names of coordinates and of their rates stand for in constraints."""
        result: dict[str, tuple[Any, ...]] = {name: (COORDINATE, place) for name, place in self.plain.items()}
        place_of = {slot: place for place, slot in self.plain.values()}
        for slot, coordinate in enumerate(self.coordinates):
            result[rate_name(coordinate.name)] = (RATE, (place_of.get(slot), slot))
        return result

    def refuse_charted(self, what: str, names: Iterable[str]) -> None:
        """ModelError if one of ``names`` is a coordinate, or its rate, of a joint of several charts.

        Unless that joint's chart is among them: what holds it is written in all charts.
        """
        names = set(names)
        found = sorted(name for name in names & self.charted.keys() if self.charted[name] not in names)
        if found:
            raise ModelError(
                f"{what} uses '{found[0]}', a coordinate whose meaning changes with the chart of its joint; use"
                " positions and rotations of bodies, or a joint of one chart"
            )

    def refuse_unused(self) -> None:
        """ModelError for a shared coordinate that moves nothing."""
        unused = [name for name in self.shared if name not in self.plain and name != CLOCK]
        if unused:
            raise ModelError(f"coordinate '{unused[0]}' moves no body; use it in a joint, or do not declare it")


def _with_follower(leader: Coordinate, own: Coordinate, coupling: Coupling) -> Coordinate:
    """The leader with a follower's damping, spring, rotor and friction, which act through q = m q_l + offset."""
    m = coupling.multiplier
    stiffness = leader.stiffness + m * m * own.stiffness
    pull = leader.stiffness * leader.rest + m * own.stiffness * (own.rest - coupling.offset)
    return replace(
        leader,
        damping=leader.damping + m * m * own.damping,
        armature=leader.armature + m * m * own.armature,
        friction=leader.friction + abs(m) * own.friction,
        stiffness=stiffness,
        rest=pull / stiffness if stiffness else leader.rest,
    )
