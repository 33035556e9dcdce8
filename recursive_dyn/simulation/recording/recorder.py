"""What keeps a simulation's motion while it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from recursive_dyn.contact.contacts import STATIC, Contacts
from recursive_dyn.errors import ModelError, StateError
from recursive_dyn.simulation.kept.events import WORLD
from recursive_dyn.simulation.recording.growing_rows import GrowingRows
from recursive_dyn.simulation.recording.recorded_rows import ColumnNames, RecordedContacts, RecordedEvents
from recursive_dyn.simulation.recording.recording import Recording
from recursive_dyn.simulation.simulation import Simulation

Output = Callable[[Simulation], Any]
BEGIN, END = 0, 1


class Recorder:
    """Keeps what a simulation does from now on: every ``every``-th timestep's q, v, time, parameters and contacts, who
    began to touch and parted in any of them, and ``outputs``, functions of the simulation that give numbers, by name.

        recorder = rd.Recorder(simulation, outputs={"height": lambda s: s.dynamics.center_of_mass(s.q)[2]})

    However it is stepped, by itself, a mirror or a viewer, its steps are recorded one by one; the state that a call of
    ``step`` starts from is a frame where it was changed by hand. Where time goes back, what came later is forgotten.
    ``stop()``, or the end of a ``with`` block, ends it. Copies of the simulation are not recorded. A scene that is
    edited needs another recorder. Raises StateError for anything else than a simulation, for an ``every`` that is no
    whole number above 0, and, in the step, for outputs that are not finite or change their shape.
    """

    def __init__(self, simulation: Simulation, every: int = 1, outputs: Mapping[str, Output] | None = None) -> None:
        if not isinstance(simulation, Simulation):
            raise StateError(f"a recorder records an rd.Simulation, not {type(simulation).__name__}")
        if type(every) is not int or every < 1:
            raise StateError(f"every is the whole number of timesteps a frame, 1 or more, not {every!r}")
        d = simulation.dynamics
        self.simulation, self.every, self._dynamics = simulation, every, d
        if outputs is not None and not isinstance(outputs, Mapping):
            raise ModelError(f"outputs are functions of the simulation by name, not {type(outputs).__name__}")
        self._outputs = {} if outputs is None else dict(outputs)
        for name, output in self._outputs.items():
            if not isinstance(name, str) or not callable(output) or name in ("time", *d.coordinates):
                raise ModelError(f"output {name!r} needs a name of its own and a function of the simulation")
        self._touched = list(d.bodies)
        self._numbers = {name: k for k, name in enumerate(d.bodies)} | {WORLD: STATIC}
        self._states = GrowingRows((1 + d.nq + d.nv + len(simulation.parameters),))
        self._ends, self._pairs = GrowingRows(kind=np.int64), GrowingRows((2,), np.int32)
        self._geometry = GrowingRows((13,))  # points on A and B, normal, distance, impulse
        self._marks, self._facts = GrowingRows((3,), np.int32), GrowingRows((5,))  # of events
        self._values = {name: GrowingRows(self._value(name).shape) for name in self._outputs}
        self._touching = simulation.touching
        self._since, self._noted = 0, np.nan
        simulation.observers.append(self)

    def stop(self) -> None:
        """Record no further; harmless when repeated."""
        if self in self.simulation.observers:
            self.simulation.observers.remove(self)

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __len__(self) -> int:
        return len(self._states)

    @property
    def recording(self) -> Recording:
        """What there is up to now, a copy; StateError before the first step."""
        if not len(self):
            raise StateError("nothing is recorded yet: take a step")
        d, n = self._dynamics, len(self)
        time, q, v, parameters = np.split(self._states.rows.copy(), np.cumsum([1, d.nq, d.nv]), axis=1)
        start = np.concatenate([[0], self._ends.rows])
        a, b = self._pairs.rows.T.copy()
        g, marks, facts = self._geometry.rows.copy(), self._marks.rows.T.copy(), self._facts.rows.copy()
        contacts = RecordedContacts(start, a, b, g[:, :6].reshape(-1, 2, 3), g[:, 6:9], g[:, 9], g[:, 10:])
        events = RecordedEvents(facts[:, 0], marks[0], marks[1], marks[2], facts[:, 1], facts[:, 2:])
        names = ColumnNames(
            d.bodies, d.coordinates, d.velocity_coordinates, tuple(self.simulation.parameters), tuple(self._touched)
        )
        outputs = {name: rows.rows.copy() for name, rows in self._values.items()}
        return Recording(names, self.simulation.timestep, time[:n, 0], q, v, parameters, contacts, events, outputs)

    def save(self, path: str | Path) -> Path:
        """As ``Recording.save``."""
        return self.recording.save(path)

    load = staticmethod(Recording.load)

    def csv(self, path: str | Path) -> Path:
        """As ``Recording.csv``."""
        return self.recording.csv(path)

    def plot(self, *columns: str, path: str | Path | None = None) -> Any:
        """As ``Recording.plot``."""
        return self.recording.plot(*columns, path=path)

    def begin(self) -> None:
        """A call of the simulation's ``step`` begins: a state that was changed since the last one is a frame."""
        if self.simulation.dynamics is not self._dynamics:
            raise StateError("the scene was edited while it was recorded: stop() this recorder and make another one")
        time = self.simulation.time
        if time != self._noted:  # the first step, or time was set
            self._forget(time)
            self._touching = self.simulation.touching
            self._frame()
        elif len(self) and self._states.rows[-1, 0] == time and (self._states.rows[-1] != self._state()).any():
            self._cut(len(self) - 1)
            self._frame()
        self._noted = time

    def note(self) -> None:
        """A timestep was taken."""
        touching, self._noted = self.simulation.touching, self.simulation.time
        if touching is not self._touching:
            self._happened(touching)
        self._since += 1
        if self._since >= self.every:
            self._frame()

    def _state(self) -> np.ndarray:
        sim = self.simulation
        return np.concatenate([[sim.time], sim.q, sim.v, sim.parameters.values_array])

    def _frame(self) -> None:
        values = {name: self._value(name) for name in self._outputs}
        for name, value in values.items():
            known = self._values[name].rows.shape[1:]
            if known != value.shape:
                raise StateError(f"output '{name}' has shape {value.shape}; it had {known} before")
        contacts = self.simulation.contacts
        self._since = 0
        self._states.add()[0] = self._state()
        for name, value in values.items():
            self._values[name].add()[0] = value
        if len(contacts):
            pairs, rows = self._pairs.add(len(contacts)), self._geometry.add(len(contacts))
            pairs[:, 0], pairs[:, 1] = self._owners(contacts, contacts.a), self._owners(contacts, contacts.b)
            rows[:, :3], rows[:, 3:6], rows[:, 6:9] = contacts.point_a, contacts.point_b, contacts.normal
            rows[:, 9], rows[:, 10:] = contacts.distance, contacts.impulse
        self._ends.add()[0] = len(self._pairs)

    def _value(self, name: str) -> np.ndarray:
        try:
            value = np.asarray(self._outputs[name](self.simulation), dtype=float)
        except (TypeError, ValueError) as trouble:
            raise StateError(f"output '{name}' must give numbers of one shape: {trouble}") from trouble
        if not np.isfinite(value).all():
            raise StateError(f"output '{name}' is not finite at t = {self.simulation.time:.6g} s")
        return value

    def _happened(self, touching: frozenset[tuple[str, str]]) -> None:
        """Note who began to touch, and who parted."""
        changes = [(BEGIN, pair) for pair in sorted(touching - self._touching)]
        changes += [(END, pair) for pair in sorted(self._touching - touching)]
        contacts = self.simulation.contacts
        normal = np.einsum("ij,ij->i", contacts.impulse, contacts.normal)
        a, b = self._owners(contacts, contacts.a), self._owners(contacts, contacts.b)
        for kind, pair in changes:
            first, second = (self._number(name) for name in pair)
            self._marks.add()[0] = kind, first, second
            own = np.flatnonzero((a == first) & (b == second))
            fact = self._facts.add()[0]
            fact[0], fact[1:] = self.simulation.time, 0.0
            if len(own):
                fact[1] = normal[own].sum()
                fact[2:] = contacts.point_b[own[normal[own].argmax()]]
        self._touching = touching

    def _owners(self, contacts: Contacts, bodies: np.ndarray) -> np.ndarray:
        """Numbers (n,) of ``names.touched``: another world's bodies are known by name, as they come and go."""
        count = len(self._dynamics.bodies)
        if not len(bodies) or bodies.max() < count:
            return bodies
        known = np.array([self._number(name) for name in contacts.free_names])
        return np.where(bodies < count, bodies, known[np.maximum(bodies - count, 0)])

    def _number(self, name: str) -> int:
        if name not in self._numbers:
            self._numbers[name] = len(self._touched)
            self._touched.append(name)
        return self._numbers[name]

    def _forget(self, time: float) -> None:
        """Keep frames and events before a time."""
        self._cut(int(np.searchsorted(self._states.rows[:, 0], time)))
        kept = int(np.searchsorted(self._facts.rows[:, 0], time, side="right"))
        self._marks.cut(kept)
        self._facts.cut(kept)

    def _cut(self, frames: int) -> None:
        for rows in (self._states, self._ends, *self._values.values()):
            rows.cut(frames)
        contacts = int(self._ends.rows[-1]) if frames else 0
        self._pairs.cut(contacts)
        self._geometry.cut(contacts)
