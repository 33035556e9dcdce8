"""Problems of one solve, made up: any tree, contacts of links with links, the world and free bodies, and rows."""

from __future__ import annotations

import numpy as np

import recursive_dyn as rd
from recursive_dyn.contact.contact_buffer import ContactBuffer, ContactTable
from recursive_dyn.contact.contacts import STATIC, Contacts, FreeBodies
from recursive_dyn.contact.forest_layout import layout
from recursive_dyn.contact.layout import body_links
from recursive_dyn.contact.problem import (
    ELSEWHERE,
    AwakeParts,
    BodyFrames,
    EarlierContacts,
    GeneralizedRows,
    ImpulseProblem,
    LoneBodies,
    Options,
    changes,
    earlier_of,
    free_inertias,
)
from recursive_dyn.maximal.acting.joint_step import JointStep
from recursive_dyn.maximal.maximal_dynamics import MaximalDynamics
from recursive_dyn.simulation.joint_laws.coordinate_rows import first_rows, room_for_rows
from recursive_dyn.simulation.joint_laws.held_rows import append_held, hold, room_to_hold


def earlier_contacts(table: ContactTable) -> EarlierContacts:
    """Copies of solved contacts, for the next solve to start from."""
    return EarlierContacts(*(a.copy() for a in earlier_of(table)))


def no_lone_bodies(bodies: int) -> LoneBodies:
    """For a solve that knows of none among so many bodies."""
    none, numbers = np.zeros((0, 6)), np.zeros(0, dtype=np.int64)
    of, centers = np.full(bodies, ELSEWHERE), np.zeros((0, 3))
    kicked = np.zeros(1, dtype=np.int64)
    return LoneBodies(
        of, numbers, numbers, numbers, centers, none, none, none, none, np.zeros(0), none, kicked, np.zeros(3)
    )  # fmt: skip


def free_bodies(rng: np.random.Generator, count: int) -> FreeBodies:
    twists, centers = rng.normal(size=(count, 6)), rng.normal(size=(count, 3))
    inertias = [np.diag(rng.uniform(1.0, 9.0, 3)) for _ in range(count)]
    return FreeBodies(centers, rng.uniform(0.5, 2.0, count), np.array(inertias).reshape(-1, 3, 3), twists, 1.1 * twists)


def contacts(
    rng: np.random.Generator, poses: np.ndarray, twists: np.ndarray, links: np.ndarray, count: int, free: FreeBodies
) -> Contacts:
    """Random ones, that A mostly runs into, for random pairs of bodies; some stick, roll, spin or bounce."""
    movable = np.flatnonzero(links >= 0)
    others = [STATIC, *movable, *(len(links) + np.arange(len(free)))]
    pairs = [(a, b) for a in movable for b in others if a != b]
    chosen = np.sort(rng.integers(0, len(pairs), count))
    a, b = np.array([pairs[k] for k in chosen], dtype=np.int64).reshape(-1, 2).T.copy()
    arms = rng.uniform(-0.3, 0.3, (count, 3))
    points = poses[a, :3, 3] + arms
    speeds = twists[a, 3:] + np.cross(twists[a, :3], arms)
    normals = 0.3 * rng.normal(size=(count, 3)) - speeds / np.linalg.norm(speeds, axis=1, keepdims=True)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    slide = rng.uniform(0.0, 0.8, count)
    friction = np.stack(
        [slide * rng.choice([1.0, 1.3], count), slide, *rng.choice([0.0, 0.0, 0.02], (2, count)),
         rng.choice([0.0, 0.6], count)], axis=1,
    )  # fmt: skip
    gaps = rng.uniform(-2e-5, 1e-5, count)
    return Contacts(
        a, b, points, points - gaps[:, None] * normals, normals, gaps, friction, chosen.astype(np.int64), free,
        rng.choice([0.0, 0.1], (count, 3)),
    )  # fmt: skip


def rows(rng: np.random.Generator, nv: int, limits: int, motors: int, constraints: int) -> GeneralizedRows:
    """Limits and motors of random coordinates, constraints on random combinations of all."""
    plain, m = limits + motors, limits + motors + constraints
    number = np.arange(m)
    lengths = np.where(number < plain, 1, nv)
    slots = np.concatenate([rng.integers(0, nv, plain), np.tile(np.arange(nv), constraints)])
    values = np.concatenate([rng.choice([-1.0, 1.0], plain), rng.normal(size=constraints * nv)])
    bounds = np.where((number >= limits) & (number < plain), 0.02, np.inf)
    return GeneralizedRows(
        np.concatenate([[0], np.cumsum(lengths)]), slots, values, 0.01 * rng.normal(size=m),
        rng.uniform(-1e-4, 1e-3, m), number < limits, number >= plain, 0.1 * rng.normal(size=m),
        np.where(number < limits, 0.0, -bounds), bounds, np.where(bounds < np.inf, 0.01, 0.0), np.zeros(m),
    )  # fmt: skip


def problem(
    d: rd.Dynamics,
    state: tuple[np.ndarray, np.ndarray],
    found: Contacts,
    given: GeneralizedRows,
    earlier: EarlierContacts | None = None,
    iterations: int = 20,
    h: float = 1 / 240,
    pushes: np.ndarray | None = None,
) -> ImpulseProblem:
    """What found contacts and given rows ask for at the state q, v, where the step ends without impulses."""
    q, v = state
    start_v, pushes = 0.9 * v, np.zeros(d.nv) if pushes is None else pushes
    buffer = ContactBuffer()
    buffer.fill(found)
    bodies = BodyFrames(body_links(d.model), d.poses(q), d.velocities(q, start_v))
    options = Options(
        h, position_share=0.5, rest_speed=1e-3, restitution_threshold=0.2, slop=2e-5, push_speed=1.0, tolerance=1e-6,
        iterations=iterations, microseconds=np.inf, clock=0,
    )  # fmt: skip
    factors = d.call("impulse_factors", q, np.zeros(1), np.zeros(1), *np.zeros((2, d.nv)))
    return ImpulseProblem(
        layout(d.model), factors, v, start_v, np.zeros(0),
        np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(0), pushes,
        np.zeros(layout(d.model).groups, dtype=np.int64), bodies, no_lone_bodies(len(d.bodies)),
        AwakeParts(np.arange(d.model.nl), np.arange(0), np.arange(d.nv)), buffer.table, free_inertias(found.free),
        given, earlier or earlier_contacts(ContactBuffer(0).table), options,
        changes(d.nv, len(found.free), len(given.offsets)),
    )  # fmt: skip


def held_problem(d: MaximalDynamics, state: tuple[np.ndarray, np.ndarray], found: Contacts) -> ImpulseProblem:
    """What found contacts ask for in maximal coordinates, where joints hold: at the state's bodies, whatever twists
    these have that joints do not allow."""
    q, v = state
    touched = body_links(d.model)[np.concatenate([found.a, found.b[found.b >= 0]])]
    h, (rows, astray) = 1 / 240, JointStep(d, implicit=False).held(q, v, 1 / 240, touched)
    m, held, room = len(rows), room_to_hold(len(d.model.held), d.model.held_width, d.nv), room_for_rows(d.model, 999)
    hold(held, rows, astray)
    numbers = np.zeros(len(d.model.held), dtype=np.int64)
    append_held(held, room, numbers, np.zeros(len(numbers)), 0, 0)
    given = problem(d, state, found, first_rows(room, m), iterations=200, h=h)
    return at_once(given, d, state)._replace(astray=astray)


def at_once(given: ImpulseProblem, d: rd.Dynamics, state: tuple[np.ndarray, np.ndarray]) -> ImpulseProblem:
    """The same of a step in which no force acts: velocities at its start are the state's."""
    return given._replace(start_v=state[1].copy(), bodies=given.bodies._replace(start_twists=d.velocities(*state)))
