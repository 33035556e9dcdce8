"""Numbers of a snapshot into the arrays that steps read, in one compiled call."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.codegen.loops.calling import Bound
from recursive_dyn.contact.contact_buffer import ContactTable
from recursive_dyn.contact.contacts import STATIC
from recursive_dyn.simulation.kept.events import Events
from recursive_dyn.simulation.kept.memory import KeptArrays, Memory
from recursive_dyn.simulation.kept.touches import Touches, recalled
from recursive_dyn.simulation.state import State

TURNING = SLEEPING = 13  # numbers


class PackedNumbers(NamedTuple):
    """floats: clocks, q, v, parameters, tau, joints, steps for which coordinates are pressed, acted and steady, borne,
    rates, pressing, all of Slept, momenta, impulses of rows, points, gaps, impulses and moments of contacts, then
    TURNING numbers of each that turns: which, level, debt, way, normal, arms, and SLEEPING of each of what sleeps, the
    first ones: A, B, point on A, normal, frictions; whole: rows, keys of contacts; pairs (n, 2): who is in touch.
    sizes (16,): whether there are tau, momenta, moments; how many rows, contacts, pairs, and contacts that turn;
    whether there are joints, pressed coordinates, trees that rest; how many contacts of what sleeps; whether
    impulses are known that acted; whether motors bear something; whether there are rates,
    and what contacts press on coordinates with; into how many parts the step was cut that rows are of."""

    floats: Floats
    whole: Integers
    pairs: Annotated[np.ndarray, int, 2]
    sizes: Integers


class Restored(NamedTuple):
    """A simulation's own arrays."""

    q: Floats
    v: Floats
    clock: Floats
    tau: Floats
    parameters: Floats
    kept: KeptArrays
    table: ContactTable
    touches: Touches


class StateTransfer:
    """Takes packed numbers over; bound to a simulation's arrays as long as they are the same."""

    def __init__(self) -> None:
        self._room = _room(0, 0, 0)
        self._to: tuple[Any, ...] = ()
        self._call: Bound | None = None

    def __reduce__(self) -> Any:
        return StateTransfer, ()

    def take(
        self,
        found: PackedNumbers,
        state: State,
        tau: np.ndarray,
        parameters: np.ndarray,
        memory: Memory,
        events: Events,
    ) -> None:
        """Let a simulation be there; there is room for its contacts and pairs."""
        room, given = self._room, (len(found.floats), len(found.whole), len(found.pairs))
        if any(need > len(own) for need, own in zip(given, room, strict=False)):
            room = self._room = _room(*(2 * need for need in given))
            self._call = None
        room.floats[: given[0]], room.whole[: given[1]], room.pairs[: given[2]] = found[:3]
        room.sizes[:] = found.sizes
        to = state.q, state.v, tau, parameters, memory.arrays, memory.contacts.table, events.touches
        if self._call is None or any(new is not old for new, old in zip(to, self._to, strict=True)):
            own = Restored(state.q, state.v, state.clock, tau, parameters, *to[4:])
            self._to, self._call = to, taken.bind(room, own)
        self._call()


def _room(floats: int, whole: int, pairs: int) -> PackedNumbers:
    sizes = np.zeros(16, dtype=np.int64)
    return PackedNumbers(np.zeros(floats), np.zeros(whole, np.int64), np.zeros((pairs, 2), np.int64), sizes)


@compiled
def taken(found: PackedNumbers, own: Restored) -> None:
    """Be in the state that the numbers say. Whose contacts were is not known: of them nothing is told."""
    floats, whole, sizes, kept, m = found.floats, found.whole, found.sizes, own.kept, own.kept.momentum
    r, n, at = sizes[3], sizes[4], 2
    own.clock[0] = floats[0]
    own.q[:] = floats[at : at + len(own.q)]
    at += len(own.q)
    own.v[:] = floats[at : at + len(own.v)]
    at += len(own.v)
    own.parameters[:] = floats[at : at + len(own.parameters)]
    at += len(own.parameters)
    if sizes[0] > 0:
        own.tau[:] = floats[at : at + len(own.v)]
        at += len(own.v)
    else:
        own.tau[:] = 0.0
    kept.joints[:] = np.nan
    if sizes[7] > 0:
        kept.joints[:] = floats[at : at + len(kept.joints)]
        at += len(kept.joints)
    at = _pressed(floats, at, sizes, own)
    at = _rest(floats, at, sizes, own)
    m.known[0] = sizes[1]
    if sizes[1] > 0:
        m.q[:] = own.q
        m.v[:] = own.v
        m.parameters[:] = own.parameters
        trees = len(m.linear)
        for k in range(trees):
            for c in range(3):
                m.linear[k, c], m.spin[k, c] = floats[at + 3 * k + c], floats[at + 3 * (trees + k) + c]
        at += 6 * trees
    kept.rows[:] = 0.0
    kept.totals[:] = np.nan
    for k in range(r):
        row = whole[k]
        kept.rows[row] = kept.totals[row] = floats[at + k]
        kept.numbers[k] = row
    at += r
    kept.told[0] = r
    kept.counts[:] = 0
    kept.parts[0], kept.cut[0] = 1, sizes[15]
    kept.steps[0] += 1
    table = own.table
    table.size[0] = n
    for k in range(n):
        table.a[k] = table.b[k] = STATIC
        table.levels[k] = 0
        table.keys[k], table.gaps[k] = whole[r + k], floats[at + 3 * n + k]
        for c in range(3):
            table.points[k, 1, c], table.impulses[k, c] = floats[at + 3 * k + c], floats[at + 4 * n + 3 * k + c]
            table.felt[k, c] = table.impulses[k, c]
            table.moments[k, c] = floats[at + 7 * n + 3 * k + c] if sizes[2] > 0 else 0.0
    at += 10 * n if sizes[2] > 0 else 7 * n
    _turning(floats[at:], sizes[6], table)
    _asleep(floats[at + TURNING * sizes[6] :], sizes[10], table)
    recalled(own.touches, found.pairs[: sizes[5]])
    own.touches.fresh[0] = 1


@compiled
def _turning(floats: Floats, count: int, table: ContactTable) -> None:
    """What is known of contacts that turn with their bodies."""
    at = 0
    for _ in range(count):
        c = int(floats[at])
        table.levels[c], table.debts[c], table.ways[c] = int(floats[at + 1]), floats[at + 2], floats[at + 3]
        for i in range(3):
            table.normals[c, i] = floats[at + 4 + i]
            table.arms[c, 0, i], table.arms[c, 1, i] = floats[at + 7 + i], floats[at + 10 + i]
        at += TURNING


@compiled
def _pressed(floats: Floats, at: int, sizes: Integers, own: Restored) -> int:
    """What was pressed, what impulses did to what hangs on the world, what motors bear, and rates, from a place on;
    where that ends."""
    kept, nv = own.kept, len(own.v)
    kept.pressed[:], kept.acted[:], kept.steady[:], kept.borne[:], kept.rates[:] = 0.0, 0.0, 0.0, 0.0, 0.0
    kept.pressing[:] = 0.0
    if sizes[8] > 0:
        kept.pressed[:] = floats[at : at + nv]
        at += nv
    if sizes[11] > 0:
        kept.acted[:], kept.steady[:] = floats[at : at + nv], floats[at + nv : at + 2 * nv]
        at += 2 * nv
    if sizes[12] > 0:
        kept.borne[:] = floats[at : at + nv]
        at += nv
    if sizes[13] > 0:
        kept.rates[:] = floats[at : at + len(kept.rates)]
        at += len(kept.rates)
    if sizes[14] > 0:
        kept.pressing[:] = floats[at : at + nv]
        at += nv
    return at


@compiled
def _rest(floats: Floats, at: int, sizes: Integers, own: Restored) -> int:
    """Who rested, or sleeps, from a place on; where that ends."""
    slept = own.kept.slept
    slept.rested[:] = 0.0
    slept.contacts[0] = sizes[10]
    if sizes[9] > 0:
        slept.rested[:] = floats[at : at + len(own.v)]
        at += len(own.v)
        slept.q[:] = floats[at : at + len(own.q)]
        at += len(own.q)
        slept.parameters[:] = floats[at : at + len(own.parameters)]
        at += len(own.parameters)
        slept.step[0] = floats[at]
        at += 2
    return at


@compiled
def _asleep(floats: Floats, count: int, table: ContactTable) -> None:
    """Whose the first contacts are, which are those of what sleeps."""
    for c in range(count):
        at = SLEEPING * c
        table.a[c], table.b[c] = int(floats[at]), int(floats[at + 1])
        for i in range(3):
            table.points[c, 0, i], table.normals[c, i] = floats[at + 2 + i], floats[at + 5 + i]
            table.drift[c, i] = 0.0
        for i in range(5):
            table.frictions[c, i] = floats[at + 8 + i]
