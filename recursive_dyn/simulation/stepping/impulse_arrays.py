"""What impulses of a step are solved for and move a state with: programs, flags of coordinates, and room."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Flags, Floats, Integers
from recursive_dyn.contact.forest_layout import layout, tree_arrays
from recursive_dyn.contact.layout import Layout
from recursive_dyn.contact.problem import Changes, changes
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.dynamics.program_calls import NO_PROGRAM, ProgramCall, program_call
from recursive_dyn.model.constraint import RATE, SPIN, VELOCITY
from recursive_dyn.model.forest import blocks_of, once_alike
from recursive_dyn.model.model import WORLD, Model

_SPRINGS, _ELEMENTS = 1, 2  # of groups
_FREE = 6  # slots of what floats, or would


class ImpulseArrays(NamedTuple):
    """What impulses are solved for and move a state with.

    factors, integrate, accelerations: programs, the last one of steps of no length, with which it has most in common;
    passive, difference: where there are springs; turning (k, 2): first slot and number of slots of what turns freely;
    guided, grounded (nv,): slots of trees in which nothing turns freely, and of those in which nothing floats, but of
    none with springs; sprung (groups,): 1 for those with springs, 2 with force elements; elasticity (nv,): of joints'
    springs; rates (groups,): how fast those with springs swing on them, rad^2/s^2, inf with force elements, NaN until
    known; leading: slots of what is prescribed, and of time; hanging (nv,): of all but bodies that float alone;
    conserving (nv,): of those of them without springs, dampers and force elements; swing (2 nv,), acted, pull, forces
    (nv,): as a solve is given it; moving (1,): whether anything moves that impulses last on; changes: what a solve
    finds, of as many rows as there can be, and no free bodies; answering (2 + 2 nv,): the step with which damping and
    springs answer, by how much positions follow velocities in it, what is added to the diagonal of M, and 1 for
    coordinates of trees that bounce; varied, rest (nv + 1,), whole (1,): room, zeros and 1; still (nv,): 1 for slots of
    trees that sleep, of which nothing is asked; bound (2,): whether
    bounces of what constraints hold keep their energies (``bounced_parts``), as whoever steps it says, and whether they
    do in this step.
    """

    factors: ProgramCall
    integrate: ProgramCall
    accelerations: ProgramCall
    passive: ProgramCall
    difference: ProgramCall
    turning: Annotated[np.ndarray, int, 2]
    guided: Flags
    grounded: Flags
    sprung: Integers
    elasticity: Floats
    rates: Floats
    leading: Integers
    hanging: Flags
    conserving: Flags
    swing: Floats
    acted: Floats
    pull: Floats
    forces: Floats
    moving: Flags
    changes: Changes
    answering: Floats
    varied: Floats
    rest: Floats
    whole: Floats
    still: Integers
    bound: Flags


def impulse_arrays(
    dynamics: Dynamics, rows: int, still: np.ndarray | None = None, still_places: np.ndarray | None = None
) -> ImpulseArrays:
    """Those of a model with at most so many rows on coordinates; still (nv,), still_places (1 + nq,): 1 for what is of
    trees that sleep, as ``evaluated_awake`` reads the latter."""
    factors, integrate, accelerations = (
        program_call(dynamics, name, still_places) for name in ("impulse_factors", "integrate", "step_accelerations")
    )
    model = dynamics.model
    turning, guided, grounded, hanging, conserving = _slots(model)
    if model.held:
        hanging, conserving = np.zeros_like(hanging), np.zeros_like(conserving)
    sprung = sprung_groups(model)
    springs = (sprung > 0)[layout(model).group]
    passive, difference = (
        program_call(dynamics, name) if sprung.any() else NO_PROGRAM for name in ("passive_forces", "difference")
    )
    room = changes(model.nv, 0, rows)
    if not hanging.any():
        room = room._replace(acted=np.zeros(0), steady=np.zeros(0))
    return ImpulseArrays(
        factors, integrate, accelerations, passive, difference, turning, guided & ~springs, grounded & ~springs, sprung,
        *_spring_rates(model, sprung), np.array(sorted(model.prescribed), dtype=np.int64), hanging, conserving,
        np.full(2 * model.nv, np.nan), np.zeros(model.nv), np.zeros(model.nv), np.zeros(model.nv),
        np.zeros(1, dtype=bool), room, np.zeros(2 + 2 * model.nv), np.zeros(model.nv + 1), np.zeros(model.nv + 1),
        np.ones(1), np.zeros(model.nv, dtype=np.int64) if still is None else still, np.zeros(2, dtype=bool),
    )  # fmt: skip


@once_alike
def sprung_groups(model: Model) -> np.ndarray:
    """For groups (groups,) of coordinates: 1 with springs, 2 if force elements act on them, else 0."""
    known = layout(model)
    found = np.zeros(known.groups, dtype=np.int64)
    for kind in blocks_of(model):
        own = [s for s, c in enumerate(kind.model.coordinates) if c.elasticity]
        found[known.group[kind.slots[:, own]]] = _SPRINGS
    found[_element_groups(model, known)] = _ELEMENTS
    return found


def _spring_rates(model: Model, sprung: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """``elasticity`` and ``rates``, of which none is known."""
    elasticity, rates = np.zeros(model.nv), np.where(sprung == _ELEMENTS, np.inf, np.nan)
    for kind in blocks_of(model):
        elasticity[kind.slots] = [c.elasticity or 0.0 for c in kind.model.coordinates]
    return elasticity, rates


def _element_groups(model: Model, known: Layout) -> list[int]:
    """The groups of coordinates that force elements act on."""
    gradients = [key for element in model.forces for row in element.rows for key in row.rows.gradient]
    slots = {key[1][1] for key in gradients if key[0] == RATE}
    links = {model.bodies[key[1]].link for key in gradients if key[0] in (VELOCITY, SPIN)} - {WORLD}
    return sorted({*known.group[sorted(slots)].tolist(), *known.link_groups[sorted(links)].tolist()} - {-1})


class _Slots(NamedTuple):
    """``turning``, ``guided``, ``grounded``, ``hanging`` and ``conserving`` of ``ImpulseArrays``."""

    turning: np.ndarray
    guided: np.ndarray
    grounded: np.ndarray
    hanging: np.ndarray
    conserving: np.ndarray


@once_alike
def _slots(model: Model) -> _Slots:
    """Those of a model whose rows of joints nobody holds."""
    group, groups, turning = (known := layout(model)).group, known.groups, _turning(model)
    guided, grounded, hanging = np.ones((3, groups), dtype=bool)
    guided[group[turning[:, 0]]] = False
    if not model.constraints:  # which tie all that they may to the world
        own = group[turning[turning[:, 1] == _FREE, 0]]
        grounded[own], hanging[own[np.bincount(group, minlength=groups)[own] == _FREE]] = False, False
    conserving = hanging & _conserving(model, group, groups)
    return _Slots(turning, guided[group], grounded[group], hanging[group], conserving[group])


def _conserving(model: Model, group: np.ndarray, groups: int) -> np.ndarray:
    """Trees (groups,) in which nothing gives way by itself, nor changes its chart: near where one ends M says little of
    the next step's."""
    trees = np.full(groups, not model.forces)
    for kind in blocks_of(model):
        soft = [s for s, c in enumerate(kind.model.coordinates) if c.damping or c.stiffness or c.torsion]
        trees[group[kind.slots[:, soft]]] = False
    for link in model.charted:
        trees[group[list(link.slots)]] = False
    return trees


def _turning(model: Model) -> np.ndarray:
    known = tree_arrays(model)
    if known is not None:
        return known.turning
    turning = [np.zeros((0, 2), dtype=np.int64)]
    for kind in blocks_of(model):
        for _, factor, _, slot in kind.model.owners:
            own = kind.slots[:, slot]
            turning.append(np.stack([own, np.full_like(own, factor.nv)], axis=1))
    return np.concatenate(turning)
