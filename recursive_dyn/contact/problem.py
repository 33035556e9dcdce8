"""What a solve is given and what it finds, as plain arrays; world axes, lengths in m, impulses in N s or N m s."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recursive_dyn.contact.contacts import STATIC, Contacts, FreeBodies
from recursive_dyn.contact.layout import Layout


class ContactArrays(NamedTuple):
    """Contacts (n of them) where the flight ends.

    links (n, 2): of A and B; free body k counts as link len(layout.parent) + k, what is immovable as negative. bodies
    (n, 2): rows of origins (m, 3) and start_twists (m, 6), the twists there at the step's start, or negative. points
    (n, 2, 3): on A and on B; gaps (n,), normals (n, 3), frictions (n, 5), drift (n, 3) and keys (n,) as in Contacts.
    """

    links: np.ndarray
    bodies: np.ndarray
    points: np.ndarray
    gaps: np.ndarray
    normals: np.ndarray
    frictions: np.ndarray
    drift: np.ndarray
    keys: np.ndarray
    origins: np.ndarray
    start_twists: np.ndarray


class FreeInertias(NamedTuple):
    """Free bodies (m of them): centers (m, 3) of mass, twists (m, 6) at the end of the flight, and the roots of their
    inverse inertias: masses (m,), 1 / sqrt(mass), and spins (m, 3, 3), X with I^-1 = X X^T."""

    centers: np.ndarray
    twists: np.ndarray
    masses: np.ndarray
    spins: np.ndarray


class GeneralizedRows(NamedTuple):
    """Rows on generalized velocities: directions (m, nv) times v plus offsets (m,) is what they bound.

    gaps (m,): of the limits among them, which ``stops`` (m,) marks; holds (m,): marks constraints, along which nothing
    may be moved; targets (m,): velocities to be met with an impulse between low and high (m,); softness (m,): share of
    what its impulse does by which a row gives way; impulses (m,): to start from.
    """

    directions: np.ndarray
    offsets: np.ndarray
    gaps: np.ndarray
    stops: np.ndarray
    holds: np.ndarray
    targets: np.ndarray
    low: np.ndarray
    high: np.ndarray
    softness: np.ndarray
    impulses: np.ndarray


class EarlierContacts(NamedTuple):
    """The last step's contacts, to start from: keys (k,), points (k, 3) on B, impulses and moments (k, 2, 3) on A."""

    keys: np.ndarray
    points: np.ndarray
    impulses: np.ndarray


class Options(NamedTuple):
    """h: the step, s; position_share: of it by which positions follow a change of velocity; rest_speed: of approach up
    to which surfaces rest on each other, m/s; the others as in Settings."""

    h: float
    position_share: float
    rest_speed: float
    restitution_threshold: float
    slop: float
    tolerance: float
    iterations: int


class ImpulseProblem(NamedTuple):
    """One solve: factors of M = L^T D L at the end of the flight (``recursion.impulse``), velocities v (nv,) there and
    start_v (nv,) at the step's start, and all that may push."""

    layout: Layout
    factors: np.ndarray
    v: np.ndarray
    start_v: np.ndarray
    contacts: ContactArrays
    free: FreeInertias
    rows: GeneralizedRows
    earlier: EarlierContacts
    options: Options


class ImpulseResult(NamedTuple):
    """What impulses do. v, q (nv,): change of velocity, and way by which to move the configuration; free_twists,
    free_ways (m, 6): the same of free bodies.

    impulses, moments (n, 3): on A of each contact; gaps (n,): left at the step's end; deepest: the lowest of those of
    the model's own bodies, at most 0; row_impulses (m,). rows, islands, sweeps: how many; residual: the largest
    velocity, m/s, that an island's last sweep still changed.
    """

    v: np.ndarray
    q: np.ndarray
    free_twists: np.ndarray
    free_ways: np.ndarray
    impulses: np.ndarray
    moments: np.ndarray
    gaps: np.ndarray
    deepest: float
    row_impulses: np.ndarray
    rows: int
    islands: int
    sweeps: int
    residual: float


def contact_arrays(
    contacts: Contacts, layout: Layout, body_links: np.ndarray, origins: np.ndarray, start_twists: np.ndarray
) -> ContactArrays:
    """Contacts for a solve. body_links (nb + 1,): link of every body, then the world's; origins (nb, 3): of the bodies,
    start_twists (nb, 6): at the step's start."""
    free, bodies = contacts.free, len(body_links) - 1
    owners = np.stack([contacts.a, contacts.b], axis=1)
    if len(free):
        outside = owners >= bodies
        links = np.where(outside, len(layout.parent) + owners - bodies, body_links[np.where(outside, STATIC, owners)])
    else:
        links = body_links[owners]
    origins, start_twists = np.concatenate([origins, free.position]), np.concatenate([start_twists, free.before])
    return ContactArrays(
        links, owners, np.stack([contacts.point_a, contacts.point_b], axis=1), contacts.distance, contacts.normal,
        contacts.friction, contacts.drift, contacts.key, origins, start_twists,
    )  # fmt: skip


def free_inertias(free: FreeBodies) -> FreeInertias:
    """Free bodies for a solve."""
    spins = np.linalg.cholesky(free.inverse_inertia) if len(free) else free.inverse_inertia
    return FreeInertias(free.position, free.twist, np.sqrt(free.inverse_mass), spins)


def earlier_contacts(contacts: Contacts) -> EarlierContacts:
    """Solved contacts, for the next solve to start from."""
    return EarlierContacts(contacts.key, contacts.point_b, np.stack([contacts.impulse, contacts.moment], axis=1))
