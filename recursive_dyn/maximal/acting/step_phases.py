"""What joints do over a timestep, and how bodies land on them, in machine code: phases of it, and all of them in a row.

A phase that is of some bodies, of some joints or of one part of the trees may run beside itself for others, see
``step_parts``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.dynamics.program_calls import ProgramCall, all_finite, evaluated
from recursive_dyn.maximal.acting.coasting import coasting
from recursive_dyn.maximal.acting.joint_action import DISPLACEMENTS, MET, SMALL
from recursive_dyn.maximal.acting.joint_landing import displaced
from recursive_dyn.maximal.acting.step_system import (
    SPRUNG,
    SystemArrays,
    assemble,
    assemble_some,
    errors_taken,
    lacking_from,
    pulled,
    turn_pulls,
)
from recursive_dyn.maximal.joint_rows.joint_elements import ElementCall, pushed
from recursive_dyn.maximal.joint_rows.light_bodies import LightBodies, lightened
from recursive_dyn.maximal.kinds.kind_calls import KindCalls
from recursive_dyn.maximal.kinds.row_arrays import LoopCall, RowArrays, followed, placed, rows_at, rows_beside
from recursive_dyn.maximal.sparse.block_ldlt import SparseEquations, solve_between, solve_once
from recursive_dyn.maximal.sparse.lanes import LaneBlocks, blocks_inward, blocks_outward
from recursive_dyn.maximal.sparse.tree_ldlt import Blocks, Sixes

FOUND, AWAY, LOST = range(3)  # what joints said: one is not where it was expected, or no number is finite


class BodyArrays(NamedTuple):
    """Of n bodies. q, v, tau, pushes, parameters: state, forces on them, those of elements of joints' coordinates, the
    scene's parameters; settings (2,): h, the share of
    C that is taken back; inertias, inverses (n, 6, 6); free (n + 1, 6): twists as if there were no joints, straight
    (n + 1, 6): rates of twists that nothing acts on, change (n, 6): of twists, forces (n + 1, 6): what joints do;
    elements, accelerations: programs of force elements and of free bodies."""

    q: Floats
    v: Floats
    tau: Floats
    pushes: Floats
    parameters: Floats
    settings: Floats
    inertias: Blocks
    inverses: Blocks
    free: Sixes
    straight: Sixes
    change: Sixes
    forces: Sixes
    elements: ProgramCall
    accelerations: ProgramCall


class Part(NamedTuple):
    """What one thread does at once. kinds: of some joints; joints, bodies (2,): from which to which joint or loop, and
    body; blocks: of some trees."""

    kinds: KindCalls
    joints: Integers
    bodies: Integers
    blocks: LaneBlocks


@compiled
def rows_of_state(kinds: KindCalls, loops: LoopCall, it: RowArrays, s: SystemArrays, on: BodyArrays) -> int:
    """Rows at the state, as impulses meet them."""
    placed(it, on.q, on.v)
    if not rows_at(kinds, loops, it, on.parameters):
        return AWAY
    assemble(it, s, on.settings[0], on.straight, 0.0)
    return FOUND


@compiled
def over_step(
    part: Part, loops: LoopCall, it: RowArrays, s: SystemArrays, on: BodyArrays, solving: SparseEquations,
    acting: ElementCall, light: LightBodies,
) -> int:  # fmt: skip
    """Forces of the joints over a step from the state, all of them one ``part``."""
    placed(it, on.q, on.v)
    said = rows_followed(part, it, on, solving)
    if said == FOUND:
        said = accelerated(loops, it, s, on, acting)
    if said != FOUND:
        return said
    freed(part, it, s, on)
    if targeted(part, it, s, on):
        if len(light.links) > 0:
            light.given[:] = s.c
            if solve_once(solving, on.inertias, on.change, s.c) >= 0:
                return LOST
            lightened(light, on.settings[0], on.q, on.v, on.free, solving, on.change, s.c)
        else:
            eliminated(part, s, on, solving)
            if solve_between(solving, on.change, s.c) >= 0:
                return LOST
            blocks_outward(part.blocks, on.change, 0, len(part.blocks.address))
    return forced(part, on)


@compiled
def began(it: RowArrays, on: BodyArrays) -> int:
    """Bodies where they are."""
    placed(it, on.q, on.v)
    return FOUND


@compiled
def rows_followed(part: Part, it: RowArrays, on: BodyArrays, solving: SparseEquations) -> int:
    """Rows of a part's joints; no changes and no factors of its bodies yet."""
    cleared(on, solving, part.bodies[0], part.bodies[1])
    return FOUND if followed(part.kinds, it, 0, len(part.kinds.still)) else AWAY


@compiled
def cleared(on: BodyArrays, solving: SparseEquations, begin: int, end: int) -> None:
    """No changes and no factors of some bodies yet."""
    for i in range(begin, end):
        on.change[i] = 0.0
        solving.D[i] = on.inertias[i]


@compiled
def accelerated(loops: LoopCall, it: RowArrays, s: SystemArrays, on: BodyArrays, acting: ElementCall) -> int:
    """The other rows, force elements, and accelerations as if there were no joints."""
    if not rows_beside(loops, it, on.parameters):
        return AWAY
    if on.elements.address:
        if not evaluated(on.elements, on.q, on.v, on.q[:0], on.parameters):
            return LOST
        for k in range(len(on.tau)):
            on.tau[k] += on.elements.outputs[k]
    if len(acting.links) + len(acting.joints) > 0:
        on.pushes[:] = 0.0
        if not pushed(acting, it, on.pushes, on.parameters):
            return LOST
        for k in range(len(on.tau)):
            on.tau[k] += on.pushes[k]
    if not evaluated(on.accelerations, on.q, on.v, on.tau, on.parameters):
        return LOST
    on.forces[:] = 0.0
    if s.method[0] == SPRUNG:
        pulled(it, s, on.forces)
    turn_pulls(it, s)
    return FOUND


@compiled
def freed(part: Part, it: RowArrays, s: SystemArrays, on: BodyArrays) -> int:
    """Twists of a part's bodies as if there were no joints, and rates of those that nothing acts on."""
    freed_some(it, s, on, part.bodies[0], part.bodies[1])
    return FOUND


@compiled
def freed_some(it: RowArrays, s: SystemArrays, on: BodyArrays, begin: int, end: int) -> None:
    """``freed`` for some bodies."""
    for i in range(begin, end):
        _free(on, i, on.settings[0], s.method[0] == SPRUNG)
    coasting(on.inertias[begin:end], it.twists[begin:end], on.straight[begin:end])


@compiled
def targeted(part: Part, it: RowArrays, s: SystemArrays, on: BodyArrays) -> bool:
    """What a part's rows are to reach; whether any is solved for."""
    return targeted_some(it, s, on, part.joints[0], part.joints[1])


@compiled
def targeted_some(it: RowArrays, s: SystemArrays, on: BodyArrays, begin: int, end: int) -> bool:
    """``targeted`` for some joints and loops."""
    h = on.settings[0]
    assemble_some(it, s, h, on.straight, h, begin, end)
    return lacking_from(it, s, on.free, begin, end)


@compiled
def erring(part: Part, it: RowArrays, s: SystemArrays, on: BodyArrays) -> float:
    """The most that a part's joints are not met by, m or rad, of which the share is to be taken back."""
    return errors_taken(it, s, on.settings[1], part.joints[0], part.joints[1])


@compiled
def eliminated(part: Part, s: SystemArrays, on: BodyArrays, solving: SparseEquations) -> int:
    """A part's trees, from their leaves on."""
    blocks_inward(part.blocks, solving.rows, solving.D, on.change, s.c, 0, len(part.blocks.address))
    return FOUND


@compiled
def changed(part: Part, on: BodyArrays) -> int:
    """Changes of a part's trees, what these hang on being found."""
    blocks_outward(part.blocks, on.change, 0, len(part.blocks.address))
    return FOUND


@compiled
def most_changed(part: Part, on: BodyArrays) -> float:
    """The most of the changes of a part's bodies, infinite where one is not finite."""
    return most_of(on, part.bodies[0], part.bodies[1])


@compiled
def most_of(on: BodyArrays, begin: int, end: int) -> float:
    """``most_changed`` for some bodies."""
    most = 0.0
    for i in range(begin, end):
        if not all_finite(on.change[i]):
            return np.inf
        for k in range(6):
            most = max(most, abs(on.change[i, k]))
    return most


@compiled
def forced(part: Part, on: BodyArrays) -> int:
    """Forces on a part's bodies that make their changes, and of elements."""
    return forced_some(on, part.bodies[0], part.bodies[1])


@compiled
def forced_some(on: BodyArrays, begin: int, end: int) -> int:
    """``forced`` for some bodies."""
    for i in range(begin, end):
        _push(on, i, 1.0 / on.settings[0])
        for k in range(6):
            on.forces[i, k] += on.pushes[6 * i + k]
        if not all_finite(on.forces[i]):
            return LOST
    return FOUND


@compiled
def landing(
    part: Part, loops: LoopCall, it: RowArrays, s: SystemArrays, on: BodyArrays, solving: SparseEquations,
    assemblies: Integers, roots: Integers,
) -> int:  # fmt: skip
    """Bring the state onto its joints, all of them one ``part``."""
    for _ in range(DISPLACEMENTS):
        placed(it, on.q, on.v)
        if rows_followed(part, it, on, solving) != FOUND or not rows_beside(loops, it, on.parameters):
            return AWAY
        if erring(part, it, s, on) <= MET:
            return FOUND
        eliminated(part, s, on, solving)
        if solve_between(solving, on.change, s.c) >= 0:
            return LOST
        blocks_outward(part.blocks, on.change, 0, len(part.blocks.address))
        most = most_changed(part, on)
        if most == np.inf:
            return LOST
        displaced(on.inertias, assemblies, roots, on.q, on.v, on.change)
        if on.settings[1] < 1.0 or most < SMALL:
            return FOUND
    return FOUND


@compiled
def _free(on: BodyArrays, i: int, h: float, pushed: bool) -> None:
    """free <- v + h (a + [0; omega x v]), in the axes of the step's start, with the forces there are, if any."""
    x, a, f = on.v[6 * i : 6 * i + 6], on.accelerations.outputs[6 * i : 6 * i + 6], on.forces[i]
    to, M = on.free[i], on.inverses[i]
    for k in range(6):
        more = 0.0
        for m in range(6 if pushed else 0):
            more += M[k, m] * f[m]
        to[k] = x[k] + h * (a[k] + more)
    to[3] += h * (x[1] * x[5] - x[2] * x[4])
    to[4] += h * (x[2] * x[3] - x[0] * x[5])
    to[5] += h * (x[0] * x[4] - x[1] * x[3])


@compiled
def _push(on: BodyArrays, i: int, scale: float) -> None:
    """Add the force that makes a body's change of its twist."""
    x, M = on.change[i], on.inertias[i]
    for k in range(6):
        total = 0.0
        for m in range(6):
            total += M[k, m] * x[m]
        on.forces[i, k] += scale * total
