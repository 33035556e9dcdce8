"""What a solve is given and what it finds, as plain arrays; world axes, lengths in m, impulses in N s or N m s."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Flags, Floats, Integers, compiled
from recursive_dyn.contact.contact_buffer import ContactTable
from recursive_dyn.contact.contacts import FreeBodies
from recursive_dyn.contact.layout import Layout
from recursive_dyn.contact.tuning import GUARDED, LIMITED

JUMPED = -1e300  # instead of an energy, J: impulses are not what they were a step before
MEETS, BOUNCES, ONLY_BOUNCES = 0, 1, 2  # of an island: something newly presses, something bounces, or all does
DRIVEN = 4  # is added where a surface that moves by itself may bring energy in
NOWHERE, ELSEWHERE = -1, -2  # instead of the number of a lone body


class BodyFrames(NamedTuple):
    """A model's bodies (nb of them).

    links (nb,): of each, -1 for one that does not move; poses (nb, 4, 4) where the flight ends; start_twists (nb, 6):
    at the step's start.
    """

    links: Integers
    poses: Annotated[np.ndarray, float, 4, 4]
    start_twists: Annotated[np.ndarray, float, 6]


class LoneBodies(NamedTuple):
    """Bodies of the model that float freely with nothing hung on them, lone ones, among k floating trees, and behind
    these the m bodies of the other floating trees, and last those that hang on the world.

    of (nb,): the number of each here, NOWHERE for what does not move, ELSEWHERE for anything else; links, bodies, home
    (k + m,): the link, the body and the floating tree of each, -1 for none. At centers (k + m, 3), of mass of lone
    ones, else where bodies have their origins, where the flight ends, twists (k + m, 6), [omega; v]: start, at the
    step's start; flown, at the end of the flight; coasting, there, with the centre as fast as at the start, of what
    hangs on the world less what is given to it besides. inertias (k, 6): upper halves, row by row; masses (k,); kicks
    (k + m, 6), [spin; momentum]: of corrections, which a solve writes; kicked (1,): 1 if it wrote any. gravity (3,).
    """

    of: Integers
    links: Integers
    bodies: Integers
    home: Integers
    centers: Annotated[np.ndarray, float, 3]
    start: Annotated[np.ndarray, float, 6]
    flown: Annotated[np.ndarray, float, 6]
    coasting: Annotated[np.ndarray, float, 6]
    inertias: Annotated[np.ndarray, float, 6]
    masses: Floats
    kicks: Annotated[np.ndarray, float, 6]
    kicked: Integers
    gravity: Floats


class AwakeParts(NamedTuple):
    """Which links, lone bodies and coordinates may move in a step: numbers, rising, of all but those of trees that
    sleep."""

    links: Integers
    lone: Integers
    slots: Integers


class FreeInertias(NamedTuple):
    """Free bodies (m of them), which contacts number after a model's own.

    centers (m, 3) of mass; start_twists, twists (m, 6): at the step's start, at the end of the flight; the roots of
    their inverse inertias: masses (m,), 1 / sqrt(mass), and spins (m, 3, 3), X with I^-1 = X X^T.
    """

    centers: Annotated[np.ndarray, float, 3]
    start_twists: Annotated[np.ndarray, float, 6]
    twists: Annotated[np.ndarray, float, 6]
    masses: Floats
    spins: Annotated[np.ndarray, float, 3, 3]


class GeneralizedRows(NamedTuple):
    """Rows (m of them) on generalized velocities: what they bound is v along their directions, plus offsets (m,).

    first (m + 1,), slots, values: coefficients of each direction, from first[i] to first[i + 1]. gaps (m,): of the
    limits among them, which ``stops`` (m,) marks; holds (m,): marks constraints, along which nothing may be moved;
    targets (m,): velocities to be met with an impulse between low and high (m,); compliance (m,): velocity by which an
    impulse of 1 gives way; impulses (m,): to start from.
    """

    first: Integers
    slots: Integers
    values: Floats
    offsets: Floats
    gaps: Floats
    stops: Flags
    holds: Flags
    targets: Floats
    low: Floats
    high: Floats
    compliance: Floats
    impulses: Floats


class EarlierContacts(NamedTuple):
    """The last step's contacts, to start from, size[0] of them: arrays of a ContactTable, or copies; gaps as it left
    them."""

    size: Integers
    a: Integers
    b: Integers
    keys: Integers
    points: Annotated[np.ndarray, float, 2, 3]
    normals: Annotated[np.ndarray, float, 3]
    gaps: Floats
    impulses: Annotated[np.ndarray, float, 3]
    moments: Annotated[np.ndarray, float, 3]
    arms: Annotated[np.ndarray, float, 2, 3]
    levels: Integers
    debts: Floats
    ways: Floats


@compiled
def is_short(iterations: float, microseconds: float, tolerance: float) -> bool:
    """Whether a solve has less time than by default, or need not come as near to the laws."""
    return iterations < LIMITED or microseconds < np.inf or tolerance > GUARDED


@compiled
def earlier_of(table: ContactTable) -> EarlierContacts:
    """The contacts of a table, as those to start from."""
    return EarlierContacts(
        table.size, table.a, table.b, table.keys, table.points, table.normals, table.gaps, table.impulses,
        table.moments, table.arms, table.levels, table.debts, table.ways,
    )  # fmt: skip


@compiled
def earlier_by(table: ContactTable, ratio: float) -> EarlierContacts:
    """The same, whose impulses are those that a step, or part of one, gives that is so many times as long; of what
    glides they are as they were, as they change by more than that where a step is cut for it."""
    these = earlier_of(table)
    if ratio == 1.0:
        return these
    impulses, moments = table.impulses.copy(), table.moments.copy()
    for c in range(table.size[0]):
        for i in range(3 if table.gliding[c] == 0 else 0):
            impulses[c, i] *= ratio
            moments[c, i] *= ratio
    return EarlierContacts(
        these.size, these.a, these.b, these.keys, these.points, these.normals, these.gaps, impulses, moments,
        these.arms, these.levels, these.debts, these.ways,
    )  # fmt: skip


class Options(NamedTuple):
    """h: the step, s; position_share: of it by which positions follow a change of velocity; rest_speed: of approach up
    to which surfaces rest on each other, m/s; clock: address of what counts microseconds (``budget``), 0 for none; the
    others as in Settings."""

    h: float
    position_share: float
    rest_speed: float
    restitution_threshold: float
    slop: float
    push_speed: float
    tolerance: float
    iterations: int
    microseconds: float
    clock: int


class Changes(NamedTuple):
    """What impulses do, which a solve writes.

    v, q (nv,): change of velocity, and way by which to move the configuration; since (nv,): how long before the
    moment that velocities are of what moves them bounced, s, 0 where nothing did; free_twists, free_ways (m, 6): change
    and way of free bodies; row_impulses (m,): of the generalized rows; acted (nv,): what of v the solve's own impulses
    do, steady (nv,): JUMPED unless that is, but for a little, what it was a step before, else the energy that is
    owed to the tree of each (``balance``), J; or none of them. strikes (1 + nv,): how many islands there are in which
    something bounces and trees float with more hung on them, or trees have springs, and what each does: MEETS, BOUNCES,
    or ONLY_BOUNCES, and DRIVEN; of those islands, if any, islands (nv,): the one of each coordinate, or -1, and struck
    (nv,): what of v the impulses do that bounce.
    """

    v: Floats
    q: Floats
    since: Floats
    free_twists: Annotated[np.ndarray, float, 6]
    free_ways: Annotated[np.ndarray, float, 6]
    row_impulses: Floats
    acted: Floats
    steady: Floats
    strikes: Integers
    islands: Integers
    struck: Floats


class ImpulseProblem(NamedTuple):
    """One solve: factors of M = L^T D L at the end of the flight (``momenta.impulse``), velocities v (nv,) there and
    start_v (nv,) at the step's start, and all that may push. astray (nv,): what both have that no row sees, as joints
    between bodies do not allow it, and that stays; or none. swing (2 nv,): what forces accelerate trees by, where the
    flight began and there, of those in which something turns freely the latter twice; or none. acted (nv,): changes of
    velocity that the last step's impulses made of trees with joints, carried to here, steady (nv,): as in Changes; or
    none. pull (nv,): what forces accelerate coordinates by here, at rest, or none where that is not known; forces
    (nv,): the same whatever else acts there, where a budget may end a solve early, or none. pushes (nv,): impulses on
    the coordinates that are given. sprung (groups,): 1 for groups of coordinates with springs.

    Into contacts are written impulses and moments on A, and gaps as they are left at the step's end; nothing else that
    is given is changed, but ``changes``, which is written anew.
    """

    layout: Layout
    factors: Floats
    v: Floats
    start_v: Floats
    astray: Floats
    swing: Floats
    acted: Floats
    steady: Floats
    pull: Floats
    forces: Floats
    pushes: Floats
    sprung: Integers
    bodies: BodyFrames
    lone: LoneBodies
    moving: AwakeParts
    contacts: ContactTable
    free: FreeInertias
    rows: GeneralizedRows
    earlier: EarlierContacts
    options: Options
    changes: Changes


class ImpulseFacts(NamedTuple):
    """rows, islands, sweeps: how many; residual: the largest velocity, m/s, that an island's last sweep still changed;
    deepest: the lowest gap left of contacts of the model's own bodies, at most 0; swept: how deep something got in, and
    was on its way out again, where nothing acts that would pay for pushing it."""

    rows: int
    islands: int
    sweeps: int
    residual: float
    deepest: float
    swept: float


def free_inertias(free: FreeBodies) -> FreeInertias:
    """Free bodies for a solve."""
    spins = np.linalg.cholesky(free.inverse_inertia) if len(free) else free.inverse_inertia
    return FreeInertias(free.position, free.before, free.twist, np.sqrt(free.inverse_mass), spins)


def changes(nv: int, free: int, rows: int) -> Changes:
    """Room for what a solve does to nv velocities and so many free bodies, by so many rows."""
    v, q, since, acted, steady, struck = np.zeros((6, nv))
    strikes, islands = np.zeros(1 + nv, dtype=np.int64), np.zeros(nv, dtype=np.int64)
    twists, ways = np.zeros((2, free, 6))
    return Changes(v, q, since, twists, ways, np.zeros(rows), acted, steady, strikes, islands, struck)
