"""What the stages of a timestep in machine code read and write, but contacts: arrays that stay where they are."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers
from recursive_dyn.contact.problem import BodyFrames, FreeInertias, GeneralizedRows, LoneBodies
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.dynamics.program_calls import NO_PROGRAM, ProgramCall, program_call
from recursive_dyn.simulation.flying.engine import FlightArrays
from recursive_dyn.simulation.joint_laws.coordinate_rows import RowSources
from recursive_dyn.simulation.kept.memory import KeptArrays
from recursive_dyn.simulation.kept.momentum import FloatingTrees, Momentum
from recursive_dyn.simulation.kept.sleeping import Sleepers
from recursive_dyn.simulation.present import FrameArrays
from recursive_dyn.simulation.stepping.impulse_arrays import ImpulseArrays
from recursive_dyn.simulation.stepping.pressed import PressedTrees


class LedBodies(NamedTuple):
    """Where a solve leads bodies (``led_into``): frames, a program; bodies (nb + 1,): 1 for those that were led away,
    or are solved with such, at last 0 for what stands still. What blows lead from (``struck_into``): q (nq,), v (nv,)
    and poses (16 nb,), and the way (nv,) by which they do."""

    frames: ProgramCall
    bodies: Integers
    q: Floats
    v: Floats
    poses: Floats
    way: Floats


class Lending(NamedTuple):
    """What flights are lent (``lent_forces``).

    inverse: program of the forces by which a tree accelerates so; lent (nv,), N or N m; v (nv,): velocities where that
    led; ways (nv,): how far what takes it back leads; lends (groups,): 1 for trees that it holds; pressing (nv,): what
    contacts of this step do to coordinates, N s or N m s.
    """

    inverse: ProgramCall
    lent: Floats
    v: Floats
    ways: Floats
    pressing: Floats
    lends: Integers


class StepArrays(NamedTuple):
    """All that a step reads and writes but contacts, in memory that stays where it is.

    q, v, clock (1,), tau, parameters: the simulation's own; start_q, start_v, start_tally, start_noted: these, what
    flights took and what was noted at the start of a step, or of a part of one; flown (1,): 1 from there on until all
    of it is done. settings (15,): as in Options, but before the last two of these the time for which damping and
    springs enter the mass matrix, and that by which positions follow there, then microseconds that solves of this step
    took (``time_left``), and how many parts a step may have; placed (1,): whether frames are needed. flight, present,
    frames, trees, sources, impulses: see there; owed: momenta that the step ends with; lone: bodies that float by
    themselves; part (2,): which one of how many parts it is; times (6,), s: when its stages began, and the last one
    ended; rows: room for them.
    numbers, counts, facts: as in KeptArrays, of this step; kept: those of the last one. other: the flight of trees that
    are pressed. noted (3,): solves that did not converge, steps with trees that were pressed, and parts that were too
    long, so far. sleep: who may sleep. into (4,): whether what a solve leads into is looked for (``led_into``), whether
    that begins anew, or was looked for and is done, whether bounds are of all there is, and how often it may be looked
    for what blows lead into (``struck_into``). lending, led: see there.
    """

    q: Floats
    v: Floats
    clock: Floats
    tau: Floats
    parameters: Floats
    start_q: Floats
    start_v: Floats
    start_tally: Floats
    start_noted: Integers
    flown: Integers
    settings: Floats
    placed: Integers
    flight: FlightArrays
    present: FrameArrays
    frames: BodyFrames
    trees: FloatingTrees
    owed: Momentum
    lone: LoneBodies
    sources: RowSources
    part: Integers
    times: Floats
    rows: GeneralizedRows
    impulses: ImpulseArrays
    numbers: Integers
    counts: Integers
    facts: Floats
    kept: KeptArrays
    other: FlightArrays
    pressed: PressedTrees
    noted: Integers
    sleep: Sleepers
    into: Integers
    lending: Lending
    led: LedBodies


def lending(dynamics: Dynamics, groups: int, motors: bool) -> Lending:
    """Room for what so many trees are lent, which needs a program only where there are motors."""
    inverse = program_call(dynamics, "inverse_dynamics") if motors else NO_PROGRAM
    lent, v, ways, pressing = np.zeros((4, dynamics.nv))
    return Lending(inverse, lent, v, ways, pressing, np.zeros(groups, dtype=np.int64))


def led_bodies(dynamics: Dynamics, motors: bool) -> LedBodies:
    """Room for where bodies are led, which needs a program only where there are motors and surroundings."""
    frames, nb = program_call(dynamics, "frames") if motors else NO_PROGRAM, dynamics.model.nb
    q, (v, way) = np.zeros(dynamics.nq), np.zeros((2, dynamics.nv))
    return LedBodies(frames, np.zeros(nb + 1, dtype=np.int64), q, v, np.zeros(16 * nb), way)


class FreeRoom(NamedTuple):
    """Room for free bodies, of which there are size[0], and for what a solve does to them, as in Changes."""

    size: Integers
    given: FreeInertias
    twists: Annotated[np.ndarray, float, 6]
    ways: Annotated[np.ndarray, float, 6]


def free_room(m: int) -> FreeRoom:
    """Room for m free bodies."""
    start, twists, changes, ways = np.zeros((4, m, 6))
    given = FreeInertias(np.zeros((m, 3)), start, twists, np.zeros(m), np.zeros((m, 3, 3)))
    return FreeRoom(np.zeros(1, dtype=np.int64), given, changes, ways)
