"""A motion that was recorded: arrays by frame, the contacts of each, and what began and ended to touch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from recursive_dyn.contact.contacts import STATIC, Contacts
from recursive_dyn.errors import ModelError, StateError
from recursive_dyn.simulation.kept.events import WORLD, ContactEvent
from recursive_dyn.simulation.recording import recording_file, tables
from recursive_dyn.simulation.recording.recorded_rows import EVENT_KINDS, ColumnNames, RecordedContacts, RecordedEvents
from recursive_dyn.simulation.state import checked_time


@dataclass(frozen=True, eq=False)
class Recording:
    """A motion in n frames: time (n,), s, increasing, q (n, nq), v (n, nv), parameters (n, np), ``outputs`` (n, ...).

    outputs: by name; timestep: of the simulation, s. It belongs to every scene whose bodies and coordinates have these
    names.

    ``save``, ``load``, ``csv`` and ``plot`` say what is wrong by SceneFileError, ModelError and StateError.
    """

    names: ColumnNames
    timestep: float
    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    parameters: np.ndarray
    contact_rows: RecordedContacts
    event_rows: RecordedEvents
    outputs: Mapping[str, np.ndarray] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.time)

    @property
    def duration(self) -> float:
        """From the first frame to the last, s."""
        return float(self.time[-1] - self.time[0])

    @property
    def events(self) -> tuple[tuple[float, ContactEvent], ...]:
        """When, s, and who began to touch or parted, also between frames."""
        e = self.event_rows
        rows = zip(*(x.tolist() for x in (e.times, e.kinds, e.a, e.b, e.impulses, e.points)), strict=True)
        return tuple(
            (time, ContactEvent(EVENT_KINDS[kind], self._name(a), self._name(b), impulse, (p[0], p[1], p[2])))
            for time, kind, a, b, impulse, p in rows
        )

    def contacts(self, frame: int) -> Contacts:
        """Contacts of a frame with their impulses, as ``Simulation.contacts`` was; without materials and moments.

        Other bodies than the simulation's are numbered after those, as ``names.touched`` has them.
        """
        if not isinstance(frame, Integral) or not -len(self) <= frame < len(self):
            raise StateError(f"there is no frame {frame!r}; this recording has {len(self)}")
        c, k = self.contact_rows, int(frame) % len(self)
        own = slice(int(c.start[k]), int(c.start[k + 1]))
        n = own.stop - own.start
        result = Contacts(
            c.a[own].astype(np.int64), c.b[own].astype(np.int64), c.points[own, 0], c.points[own, 1], c.normals[own],
            c.distances[own], np.zeros((n, 5)), np.zeros(n, dtype=np.int64), trusted=True,
            free_names=self.names.touched[len(self.names.bodies) :],
        )  # fmt: skip
        result.impulse[:] = c.impulses[own]
        return result

    def frame_at(self, time: float) -> int:
        """Number of the last frame that is not later than a time, s; the first one for times before it.

        Raises StateError for what is no finite number.
        """
        time = checked_time(time)
        return max(0, int(np.searchsorted(self.time, time + 1e-12, side="right")) - 1)

    def column(self, name: str) -> np.ndarray:
        """Numbers (n, ...) by name: a coordinate's, its velocity as "v: name", or an output's.

        Raises ModelError, which lists the names, for another one.
        """
        names = self.names
        if name in self.outputs:
            return self.outputs[name]
        if name in names.coordinates:
            return self.q[:, names.coordinates.index(name)]
        if isinstance(name, str) and name.startswith("v: ") and name[3:] in names.velocities:
            return self.v[:, names.velocities.index(name[3:])]
        known = ", ".join((*self.outputs, *names.coordinates[:20]))
        raise ModelError(f"this recording has no column {name!r}; it has {known} and velocities as 'v: name'")

    def save(self, path: str | Path) -> Path:
        """Write an .npz file, which NumPy reads anywhere; nothing in it is executed. Returns the path."""
        return recording_file.write(Path(path), **{entry.name: getattr(self, entry.name) for entry in fields(self)})

    @staticmethod
    def load(path: str | Path) -> Recording:
        """The recording in a file. SceneFileError, naming what is wrong, for one that is damaged or of another kind."""
        return Recording(**recording_file.read(Path(path)))

    def csv(self, path: str | Path) -> Path:
        """Write a table with a row a frame: time, coordinates, velocities, outputs. Returns the path."""
        return tables.csv(Path(path), self._columns())

    def plot(self, *columns: str, path: str | Path | None = None) -> Any:
        """A Matplotlib figure of columns over time, named as in ``column``; outputs, or else coordinates, if none are.

        With a path it is also written there. Raises StateError where Matplotlib is missing.
        """
        chosen: Sequence[str] = columns or tuple(self.outputs) or self.names.coordinates[:8]
        return tables.plot(self.time, {name: self.column(name) for name in chosen}, path)

    def _columns(self) -> dict[str, np.ndarray]:
        names = [*self.names.coordinates, *(f"v: {name}" for name in self.names.velocities), *self.outputs]
        return {"time": self.time} | {name: self.column(name) for name in names}

    def _name(self, number: int) -> str:
        return WORLD if number == STATIC else self.names.touched[number]
