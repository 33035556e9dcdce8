"""What happened in the steps of a frame, for whoever keeps score or plays sounds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bridge.plugin.approach import Meeting, Movers, approach
from recursive_dyn.contact.contacts import STATIC, Contacts
from recursive_dyn.simulation.kept.events import BEGIN, STAY, WORLD, ContactEvent
from recursive_dyn.simulation.simulation import Simulation

HIT, LIMIT, BROKEN = "hit", "limit", "broken"
_LIMIT = "limit of "
_Pair = frozenset[str]


@dataclass(frozen=True)
class GameEvent:
    """kind: "begin", "stay", "end" of a touch, "hit", "limit", "broken", or what a callback told; time: of the step's
    end, s.

    body_a, body_b: names, "world" for what does not move; impulse: normal, N s, of a stay of all steps of the frame;
    point (3,): where, world axes, m; normal (3,): from B to A and speed: of approach along it, m/s, of a hit.
    side, coordinate: "low" or "high", and "arm.angle", of a limit that was reached, body_a being the body.
    force, N, torque, N m: that a joint between body_a and its parent body_b transmitted in the step in which it broke,
    or the force that ``constraint`` did; then there is no body_a.
    """

    kind: str
    time: float
    body_a: str
    body_b: str = ""
    impulse: float = 0.0
    point: tuple[float, float, float] = (0.0, 0.0, 0.0)
    normal: tuple[float, float, float] = (0.0, 0.0, 0.0)
    speed: float = 0.0
    coordinate: str = ""
    side: str = ""
    force: float = 0.0
    torque: float = 0.0
    constraint: str = ""


def _impulse(event: ContactEvent) -> float:
    return event.impulse


class EventLog:
    """Events of a frame, step after step; hit_speed: of approach, m/s, from which on a touch is a hit.

    Each begin of a pair has one end: one that touches again within a frame has several, in their order. A stay is told
    once a frame, at its end, of pairs that did neither.
    """

    def __init__(self, hit_speed: float) -> None:
        self.hit_speed = hit_speed
        self.told: list[GameEvent] = []
        self._staying: dict[tuple[str, str], list[Any]] = {}  # impulses so far, and the strongest
        self._changed: set[tuple[str, str]] = set()
        self._at_limits: set[str] = set()
        self._twists = np.zeros((0, 6))
        approach.warm()  # no frame waits for it

    def ahead(self, simulation: Simulation) -> None:
        """Before a step: how fast who approaches whom."""
        self._twists = simulation.present.twists.copy()

    def note(self, simulation: Simulation) -> None:
        """After a step."""
        now = simulation.time
        events = simulation.contact_events
        for event in events:
            pair = event.body_a, event.body_b
            if event.kind == STAY:
                known = self._staying.get(pair)
                if known is None:
                    self._staying[pair] = [event.impulse, event]
                else:
                    known[0] += event.impulse
                    known[1] = max(known[1], event, key=_impulse)
            else:
                self.told.append(GameEvent(event.kind, now, *pair, event.impulse, event.point))
                self._changed.add(pair)
        self.told += self._hits(simulation, events)
        self._note_limits(simulation)
        for c in simulation.broken_constraints:
            self.told.append(GameEvent(BROKEN, c.time, "", force=c.force, constraint=c.constraint))
        for j in simulation.broken:
            self.told.append(GameEvent(BROKEN, j.time, j.body, j.parent, point=j.point, force=j.force, torque=j.torque))

    def finish(self, time: float) -> tuple[GameEvent, ...]:
        """A frame ends, at this time: all that happened. What is told from now on is of the next one."""
        staying = {pair: own for pair, own in self._staying.items() if pair not in self._changed}
        stays = [GameEvent(STAY, time, *pair, total, event.point) for pair, (total, event) in staying.items()]
        happened = *self.told, *stays
        self.told, self._staying, self._changed = [], {}, set()
        return happened

    def forget_limits(self, simulation: Simulation) -> None:
        """The state is another one: limits that it is at were reached before."""
        self._at_limits = _limits(simulation)

    def _note_limits(self, simulation: Simulation) -> None:
        reached = _limits(simulation)
        for row in sorted(reached - self._at_limits):
            side, _, coordinate = row.partition(" " + _LIMIT)
            impulse = simulation.coordinate_impulses[row]
            body = coordinate.rpartition(".")[0]
            self.told.append(
                GameEvent(LIMIT, simulation.time, body, impulse=abs(impulse), coordinate=coordinate, side=side)
            )
        self._at_limits = reached

    def _hits(self, simulation: Simulation, events: tuple[ContactEvent, ...]) -> list[GameEvent]:
        """The fastest approach of each pair that pushed in this step, where it was fast enough."""
        if not events:
            return []
        contacts = simulation.contacts
        speeds, fastest = self._approach(contacts, simulation.arrived.poses), dict[_Pair, GameEvent]()
        fast = np.flatnonzero(speeds >= self.hit_speed)
        fast = fast[np.einsum("ij,ij->i", contacts.impulse[fast], contacts.normal[fast]) > 0.0]
        names = (*simulation.dynamics.bodies, *contacts.free_names) if len(fast) else ()
        impulses = {frozenset((e.body_a, e.body_b)): e.impulse for e in events} if len(fast) else {}
        for k in fast.tolist():
            a, b = (WORLD if side[k] == STATIC else names[side[k]] for side in (contacts.a, contacts.b))
            pair, known = frozenset((a, b)), fastest.get(frozenset((a, b)))
            if known is None or known.speed < speeds[k]:
                where: Any = tuple(contacts.point_b[k].tolist())
                normal: Any = tuple(contacts.normal[k].tolist())
                told = GameEvent(HIT, simulation.time, a, b, impulses.get(pair, 0.0), where)
                fastest[pair] = replace(told, normal=normal, speed=float(speeds[k]))
        if simulation.solution.substeps > 1:  # contacts are those of the last part, and who hit may be gone by then
            begun = [event for event in events if event.kind == BEGIN and event.impulse > 0.0]
            for event in begun:
                fastest.setdefault(frozenset((event.body_a, event.body_b)), self._turned(simulation, event))
        return [event for event in fastest.values() if event.speed >= self.hit_speed]

    def _turned(self, simulation: Simulation, event: ContactEvent) -> GameEvent:
        """A hit of which only its point is known: its normal is how the velocity there changed."""
        arrived, bodies, point = simulation.arrived, simulation.dynamics.bodies, np.array(event.point)
        before, after = np.zeros(3), np.zeros(3)
        for name, sign in ((event.body_a, 1.0), (event.body_b, -1.0)):
            if name in bodies:
                k = bodies.index(name)
                for result, twist in ((before, self._twists[k]), (after, arrived.twists[k])):
                    result += sign * (twist[3:] + np.cross(twist[:3], point - arrived.poses[k, :3, 3]))
        turn = after - before
        normal = turn / max(float(np.linalg.norm(turn)), 1e-300)
        told = GameEvent(HIT, simulation.time, event.body_a, event.body_b, event.impulse, event.point)
        x, y, z = normal.tolist()
        return replace(told, normal=(x, y, z), speed=float(-before @ normal))

    def _approach(self, contacts: Contacts, poses: np.ndarray) -> np.ndarray:
        """Speeds (n,) at which the points of contacts approached each other at the step's start, m/s."""
        movers = Movers(self._twists, poses, contacts.free.before, contacts.free.position)
        c, speeds = contacts, np.empty(len(contacts))
        approach(movers, Meeting(c.a, c.b, c.point_a, c.point_b, c.normal, c.drift), speeds)
        return speeds


def _limits(simulation: Simulation) -> set[str]:
    """Rows of limits that pushed in the last step."""
    return {row for row, impulse in simulation.coordinate_impulses.items() if _LIMIT in row and impulse}
