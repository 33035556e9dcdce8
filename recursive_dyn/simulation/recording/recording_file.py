"""Recordings as .npz files: arrays, and a text in JSON that says what they are; nothing in one is executed.

``head`` holds the bytes of the JSON: format, version, timestep and the names of columns. The other arrays are named as
in ``Recording``; those of contacts, events and outputs have "contacts.", "events." and "outputs." before their names.
"""

from __future__ import annotations

import io
import json
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

from recursive_dyn.codegen.making import whole_file
from recursive_dyn.errors import SceneFileError, StateError
from recursive_dyn.simulation.recording.recorded_rows import EVENT_KINDS, ColumnNames, RecordedContacts, RecordedEvents
from recursive_dyn.simulation.state import checked_timestep

FORMAT, VERSION = "recursive-dyn recording", 1
# what NumPy, zipfile and zlib raise for bytes that they did not write; headers of arrays are read as Python's literals
_UNREADABLE = (
    ValueError, KeyError, TypeError, EOFError, MemoryError, OSError, RuntimeError, OverflowError, SyntaxError,
    zipfile.BadZipFile, zlib.error, tokenize.TokenError, struct.error,
)  # fmt: skip
_STATES = ("q", "v", "parameters")


def write(
    path: Path, names: ColumnNames, timestep: float, contact_rows: RecordedContacts, event_rows: RecordedEvents,
    outputs: Mapping[str, np.ndarray], **states: np.ndarray,
) -> Path:  # fmt: skip
    """Write what a recording consists of, all of it or nothing. SceneFileError if it cannot be."""
    head = {"format": FORMAT, "version": VERSION, "timestep": timestep, **asdict(names)}
    arrays: dict[str, Any] = {"head": np.frombuffer(json.dumps(head).encode(), dtype=np.uint8), **states}
    for prefix, rows in (("contacts", contact_rows), ("events", event_rows)):
        arrays |= {f"{prefix}.{entry.name}": getattr(rows, entry.name) for entry in fields(rows)}
    arrays |= {f"outputs.{name}": values for name, values in outputs.items()}
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **arrays)
    whole_file.replace(path, file.getvalue())
    return path


def read(path: Path) -> dict[str, Any]:
    """What the recording in a file consists of. Raises SceneFileError, which names what is wrong with it."""
    try:
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        raise SceneFileError(f"{path}: cannot be read ({whole_file.reason(error)}); check the path") from error
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as entries:
            arrays = {name: entries[name] for name in entries.files}
    except _UNREADABLE as error:
        raise SceneFileError(f"{path}: is no .npz file of plain arrays, or is damaged; record it again") from error
    try:
        return _Reader(arrays).parts()
    except _Wrong as wrong:
        raise SceneFileError(f"{path}: {wrong}; record it again") from wrong


class _Wrong(Exception):
    """What is wrong with a file's content."""


class _Reader:
    def __init__(self, arrays: dict[str, np.ndarray]) -> None:
        self._arrays = arrays
        head = self._head()
        try:
            self.timestep = checked_timestep(head["timestep"])
            self.names = ColumnNames(**{entry.name: _texts(head[entry.name]) for entry in fields(ColumnNames)})
        except (KeyError, TypeError, StateError) as trouble:
            raise _Wrong(f"its head is damaged ({trouble})") from trouble
        if self.names.touched[: len(self.names.bodies)] != self.names.bodies:
            raise _Wrong("its head is damaged (touched)")

    def parts(self) -> dict[str, Any]:
        """All of it, after it was checked that the parts fit together."""
        names, n = self.names, self._count("time")
        if not n:
            raise _Wrong("it has no frames")
        time = self.numbers("time", (n,))
        if (np.diff(time) <= 0.0).any():
            raise _Wrong("'time' does not increase")
        widths = len(names.coordinates), len(names.velocities), len(names.parameters)
        states = {name: self.numbers(name, (n, width)) for name, width in zip(_STATES, widths, strict=True)}
        contacts, events = self._contacts(n), self._events()
        outputs = {
            name.removeprefix("outputs."): self.numbers(name, (n, *self._arrays[name].shape[1:]))
            for name in list(self._arrays)
            if name.startswith("outputs.")
        }
        if self._arrays:
            raise _Wrong(f"it has an array too many, {next(iter(self._arrays))!r}")
        parts = {"names": names, "timestep": self.timestep, "contact_rows": contacts, "event_rows": events}
        return parts | {"outputs": outputs, "time": time} | states

    def _contacts(self, frames: int) -> RecordedContacts:
        m = self._count("contacts.a")
        start = self.whole("contacts.start", frames + 1, 0, m)
        if start[0] != 0 or start[-1] != m or (np.diff(start) < 0).any():
            raise _Wrong("'contacts.start' does not number the contacts")
        a, b = (self.whole(f"contacts.{side}", m, -1, len(self.names.touched) - 1) for side in "ab")
        shapes = (("points", (m, 2, 3)), ("normals", (m, 3)), ("distances", (m,)), ("impulses", (m, 3)))
        return RecordedContacts(start, a, b, *(self.numbers(f"contacts.{name}", shape) for name, shape in shapes))

    def _events(self) -> RecordedEvents:
        e = self._count("events.times")
        times, kinds = self.numbers("events.times", (e,)), self.whole("events.kinds", e, 0, len(EVENT_KINDS) - 1)
        a, b = (self.whole(f"events.{side}", e, -1, len(self.names.touched) - 1) for side in "ab")
        return RecordedEvents(
            times, kinds, a, b, self.numbers("events.impulses", (e,)), self.numbers("events.points", (e, 3))
        )

    def numbers(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        """Finite numbers of that shape."""
        array = self._taken(name, shape)
        if array.dtype != np.float64 or not np.isfinite(array).all():
            raise _Wrong(f"'{name}' holds something else than finite numbers")
        return array

    def whole(self, name: str, count: int, low: int, high: int) -> np.ndarray:
        """So many whole numbers from low to high."""
        array = self._taken(name, (count,))
        if array.dtype.kind != "i" or (count and (array.min() < low or array.max() > high)):
            raise _Wrong(f"'{name}' holds something else than whole numbers from {low} to {high}")
        return array

    def _count(self, name: str) -> int:
        """How many rows an array has that is there, and is no single number."""
        array = self._arrays.get(name)
        return len(array) if array is not None and array.ndim else 0

    def _taken(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        if name not in self._arrays:
            raise _Wrong(f"it has no array {name!r}")
        array = self._arrays.pop(name)
        if array.shape != shape:
            raise _Wrong(f"'{name}' has shape {array.shape} where {shape} belongs")
        return array

    def _head(self) -> dict[str, Any]:
        try:
            head = json.loads(self._arrays.pop("head").tobytes().decode())
            known = head["format"] == FORMAT
        except (KeyError, ValueError, TypeError, RecursionError):
            known = False
        if not known:
            raise _Wrong("it is an .npz file of another kind")
        if head.get("version") != VERSION:
            raise _Wrong(f"it is of version {head.get('version')!r}, and this program reads version {VERSION}")
        result: dict[str, Any] = head
        return result


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise TypeError("names must be texts")
    return tuple(value)
