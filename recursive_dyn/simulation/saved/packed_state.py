"""A simulation's state as bytes: what the next step starts from, and nothing else.

Little-endian: a head of fixed length, floats, integers, pairs of bodies, names. A checksum is over all but the head.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from recursive_dyn.contact.rows.lasting import LASTING, PLACED, PUT
from recursive_dyn.errors import StateError
from recursive_dyn.simulation.flying.applied_forces import AppliedForce
from recursive_dyn.simulation.kept.events import Events
from recursive_dyn.simulation.kept.memory import Memory
from recursive_dyn.simulation.kept.momentum import is_of
from recursive_dyn.simulation.saved.scene_mark import DIGEST, PARTS, difference
from recursive_dyn.simulation.saved.state_transfer import SLEEPING, TURNING, PackedNumbers
from recursive_dyn.simulation.state import State

MAGIC, VERSION = b"RDYN", 12
_HEAD = struct.Struct(f"<4sHHII{DIGEST * len(PARTS)}s9I")  # magic, version, flags, length, checksum, mark; counts
_CLOCKS = struct.Struct("<2d")
# tau is not zero; momenta are carried; contacts have moments; joints between free bodies were found; trees are pressed;
# trees rest or sleep; impulses changed velocities of trees that hang on the world; motors bear something; flights begin
# by rates; parameters moved constraints; contacts press on coordinates of trees with motors
_FLAGS = 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024
_MOVED = b"\1"  # after all others
_BODY, _KEY = "<i4", "<i8"
Data = bytes | bytearray | memoryview


class _Counts(NamedTuple):
    """Into how many parts the step was cut that rows are of, and how many of each: forces on bodies, and those that
    acted in the last step, floating trees, rows on coordinates, contacts, those of them that turn with their bodies,
    touching pairs, and bytes of the names of bodies among these that are not the scene's."""

    cut: int
    forces: int
    acted: int
    trees: int
    rows: int
    contacts: int
    turning: int
    pairs: int
    names: int


def packed(
    mark: bytes, state: State, tau: np.ndarray, remainder: float, parameters: np.ndarray,
    forces: Sequence[AppliedForce], acted_before: Sequence[AppliedForce], memory: Memory, events: Events, moved: bool,
) -> bytes:  # fmt: skip
    """The bytes of a simulation; acted_before: what pushed bodies in the last step, as it is to be told."""
    kept, momentum, table, n = memory.arrays, memory.arrays.momentum, memory.contacts.table, memory.contacts.count
    carried = is_of(momentum, state.q, state.v, parameters)
    rows = kept.rows.nonzero()[0]
    moments = table.moments[:n]
    turned, forced = bool(moments.any()), bool(tau.any())
    pairs, names = events.numbers()
    parts = [_CLOCKS.pack(state.time, remainder), state.q.tobytes(), state.v.tobytes(), parameters.tobytes()]
    if forced:
        parts.append(tau.tobytes())
    found = bool(kept.joints.size and np.isfinite(kept.joints).all())
    if found:
        parts.append(kept.joints.tobytes())
    pressed = bool(kept.pressed.any())
    if pressed:
        parts.append(kept.pressed.tobytes())
    acted = bool(kept.acted.any())
    if acted:
        parts += [kept.acted.tobytes(), kept.steady.tobytes()]
    bears, led, presses = bool(kept.borne.any()), bool(kept.rates.any()), bool(kept.pressing.any())
    vectors = (kept.borne, bears), (kept.rates, led), (kept.pressing, presses)
    parts += [vector.tobytes() for vector, there in vectors if there]
    slept, asleep = kept.slept, int(kept.slept.contacts[0])
    rested = bool(slept.rested.any())
    if rested:
        parts += [numbers.tobytes() for numbers in (slept.rested, slept.q, slept.parameters, slept.step)]
        parts.append(np.float64(asleep).tobytes())
    if carried:
        parts += [momentum.linear.tobytes(), momentum.spin.tobytes()]
    parts += [kept.rows[rows].tobytes(), table.points[:n, 1].tobytes(), table.gaps[:n].tobytes()]
    parts.append(table.impulses[:n].tobytes())
    if turned:
        parts.append(moments.tobytes())
    turning = table.levels[:n].nonzero()[0]
    known = turning, table.levels[turning], table.debts[turning], table.ways[turning], table.normals[turning]
    parts.append(np.column_stack([*known, table.arms[turning].reshape(-1, 6)]).tobytes())
    first = slice(asleep)
    whose = table.a[first], table.b[first], table.points[first, 0], table.normals[first], table.frictions[first]
    parts.append(np.column_stack(whose).tobytes())
    pushes = [*forces, *acted_before]
    parts += [vector.tobytes() for _, *given in pushes for vector in given]
    pushed, called = np.array([number for number, *_ in pushes], _KEY), "\n".join(names).encode()
    parts += [rows.astype(_KEY).tobytes(), table.keys[:n].tobytes(), pushed.tobytes()]
    parts += [pairs.astype(_BODY).tobytes(), called, _MOVED * moved]
    body = b"".join(parts)
    there = forced, carried, turned, found, pressed, rested, acted, bears, led, moved, presses
    flags = sum(flag for flag, holds in zip(_FLAGS, there, strict=True) if holds)
    trees = len(momentum.linear) if carried else 0
    counts = _Counts(
        int(kept.cut[0]), len(forces), len(acted_before), trees, len(rows), n, len(turning), len(pairs), len(called)
    )
    head = _HEAD.pack(MAGIC, VERSION, flags, len(body), 0, mark, *counts)
    checksum = zlib.crc32(body, zlib.crc32(head))  # of all, with 0 in its own place
    return _HEAD.pack(MAGIC, VERSION, flags, len(body), checksum, mark, *counts) + body


class Unpacked(NamedTuple):
    """What bytes say, checked."""

    numbers: PackedNumbers
    remainder: float
    forces: list[AppliedForce]
    acted: list[AppliedForce]
    names: list[str]
    moved: bool


def unpacked(
    data: Data, mark: bytes, state: State, parameters: np.ndarray, memory: Memory, bodies: int
) -> Unpacked:  # fmt: skip
    """What bytes say. Raises StateError for what is no snapshot, is of another version or scene, or damaged."""
    view = memoryview(data.tobytes() if isinstance(data, memoryview) else data)  # views may have any stride and type
    if len(view) < _HEAD.size or view[:4] != MAGIC:
        raise StateError("restore takes what snapshot() or snapshot_bytes() gave; these bytes are no snapshot")
    _, version, flags, length, checksum, known, *numbers = _HEAD.unpack_from(view)
    if version != VERSION:
        raise StateError(f"the snapshot is of version {version}, this program reads version {VERSION}")
    body, counts = view[_HEAD.size :], _Counts(*numbers)
    head = _HEAD.pack(MAGIC, version, flags, length, 0, known, *numbers)
    if len(body) != length or zlib.crc32(body, zlib.crc32(head)) != checksum:
        raise StateError(f"the snapshot is damaged: {len(body)} of {length} bytes, or not those that were written")
    other = difference(known, mark, stepped=True)
    if other:
        raise StateError(other)
    try:
        if flags & ~sum(_FLAGS):
            raise ValueError
        found = _read(body, flags, counts, state, parameters, memory)
    except ValueError:
        raise StateError("the snapshot is damaged: its parts are not those that it says") from None
    _check(found, memory, bodies)
    return found


def _read(
    body: memoryview, flags: int, counts: _Counts, state: State, parameters: np.ndarray, memory: Memory
) -> Unpacked:
    """The parts of a body, one after the other: floats, integers, pairs, names."""
    cut, applied, acted_before, t, r, n, l, p, e = counts
    f = applied + acted_before
    nq, nv = len(state.q), len(state.v)
    forced, carried, turned, known, pressed, rested, acted, bears, led, moved, presses = (
        int(bool(flags & flag)) for flag in _FLAGS
    )
    trees = t if carried else 0
    own = 2 + nq + nv + len(parameters) + known * len(memory.arrays.joints)
    own += nv * (forced + pressed + 2 * acted + bears + presses) + led * len(memory.arrays.rates)
    s = 0  # contacts of what sleeps
    if rested:
        own += nv + nq + len(parameters) + 2
        asleep = float(np.frombuffer(body, "<f8", 1, 8 * own - 8)[0])
        if not 0.0 <= asleep <= n:
            raise ValueError
        s = int(asleep)
    own += 6 * trees + r + 7 * n + 3 * n * turned + TURNING * l + SLEEPING * s
    floats = np.frombuffer(body, "<f8", own + 9 * f)
    whole = np.frombuffer(body, _KEY, r + n + f, 8 * len(floats))
    at = 8 * (len(floats) + len(whole))
    pairs = np.frombuffer(body, _BODY, 2 * p, at).reshape(-1, 2)
    end = at + 8 * p + e
    if end + moved != len(body) or bytes(body[end:]) != _MOVED * moved:
        raise ValueError
    if carried and t != len(memory.arrays.momentum.linear):
        raise ValueError
    if (known and not len(memory.arrays.joints)) or not 0 < cut < 1 << 31:
        raise ValueError
    names = bytes(body[at + 8 * p : end]).decode().split("\n") if e else []
    forces = list[AppliedForce]()
    if f:
        vectors = floats[own:].reshape(-1, 3, 3).copy()
        forces = [(number, *given) for number, given in zip(whole[r + n :].tolist(), vectors, strict=True)]
    sizes = forced, carried, turned, r, n, p, l, known, pressed, rested, s, acted, bears, led, presses, cut
    numbers = PackedNumbers(floats, whole, pairs, np.array(sizes, dtype=np.int64))
    return Unpacked(numbers, float(floats[1]), forces[:applied], forces[applied:], names, bool(moved))


def _check(found: Unpacked, memory: Memory, bodies: int) -> None:
    """What a checksum cannot say of bytes that somebody made up."""
    numbers = found.numbers
    rows, pairs = numbers.whole[: numbers.sizes[3]], numbers.pairs
    good = len(rows) == 0 or bool(rows.min() >= 0 and rows.max() < len(memory.arrays.rows))
    good = good and (pairs.size == 0 or bool(pairs.min() >= -1 and pairs.max() < bodies + len(found.names)))
    pushes = [*found.forces, *found.acted]
    good = good and all(0 <= body < bodies for body, *_ in pushes)
    good = good and bool(np.isfinite(numbers.floats).all())
    whose = len(numbers.floats) - 9 * len(pushes) - SLEEPING * int(numbers.sizes[10])
    sides = numbers.floats[whose : whose + SLEEPING * int(numbers.sizes[10])].reshape(-1, SLEEPING)[:, :2]
    good = good and bool(((sides >= -1) & (sides < bodies)).all())
    at = whose - TURNING * int(numbers.sizes[6])
    turning = numbers.floats[at : at + TURNING * int(numbers.sizes[6])].reshape(-1, TURNING)
    good = good and bool(((turning[:, 0] >= 0) & (turning[:, 0] < numbers.sizes[4])).all())
    good = good and bool(np.isin(turning[:, 1], (PLACED, LASTING, PUT, PUT + PLACED, PUT + LASTING)).all())
    if not good:
        raise StateError("the snapshot is damaged: its numbers are not those of a state")
