"""What the arrays of a recording are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

EVENT_KINDS = ("begin", "end")


@dataclass(frozen=True)
class ColumnNames:
    """What the columns of a recording are called; touched: the simulation's bodies, then others that they met."""

    bodies: tuple[str, ...]
    coordinates: tuple[str, ...]
    velocities: tuple[str, ...]
    parameters: tuple[str, ...] = ()
    touched: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class RecordedContacts:
    """Contacts of all frames, one after the other: those of frame k are rows start[k] to start[k + 1].

    a, b (m,): numbers of ``ColumnNames.touched``, -1 for what does not move; points (m, 2, 3): on A and on B, normals
    (m, 3) from B to A, world axes; distances (m,), m; impulses (m, 3): on A, N s, of the step that the frame ended.
    """

    start: np.ndarray
    a: np.ndarray
    b: np.ndarray
    points: np.ndarray
    normals: np.ndarray
    distances: np.ndarray
    impulses: np.ndarray


@dataclass(frozen=True, eq=False)
class RecordedEvents:
    """Pairs that began to touch, kinds 0, or parted, 1, in the step that ended at times (e,), s; a, b (e,) as in
    RecordedContacts; impulses (e,): the normal ones of that step, N s, at points (e, 3)."""

    times: np.ndarray
    kinds: np.ndarray
    a: np.ndarray
    b: np.ndarray
    impulses: np.ndarray
    points: np.ndarray
