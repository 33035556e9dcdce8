"""Spinning and rolling friction on the central path: its equations, its lengths, and where it ends."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from frozen_walls import bystander, flown, problem, wall
from impulse_problems import earlier_contacts
from test_central_path import Place, pressed_from_both_sides, slopes, with_rows
from test_newton import island

from recursive_dyn.contact.blocks import Island
from recursive_dyn.contact.newton.augmented import augmented
from recursive_dyn.contact.newton.block_equations import block_equations
from recursive_dyn.contact.newton.central_lengths import product, weigh
from recursive_dyn.contact.newton.central_moments import gap
from recursive_dyn.contact.newton.central_path import along_path, from_outside
from recursive_dyn.contact.newton.natural import follow, missed, take, trial
from recursive_dyn.contact.newton.node_rows import still
from recursive_dyn.contact.solve import solve
from recursive_dyn.contact.tuning import HARD

COMPONENTS = [[0, 1, 2], [0, 1, 2, 3], [0, 1, 2, 4, 5], [0, 1, 2, 3, 4, 5]]  # of each kind


def with_moments(it: Island, seed: int) -> Island:
    """The same island, whose contacts spin, roll, do both or neither, with friction against it, mostly."""
    rng, n = np.random.default_rng(seed), len(it.contacts)
    kind = rng.permutation(np.arange(n) % 4)
    height = np.array([len(COMPONENTS[k]) for k in kind])
    start = np.r_[0, np.cumsum(np.diff(it.rows.first) * height)]
    values, mobility = rng.normal(size=start[-1]), np.zeros((n, 21))
    for c in range(n):
        A = np.zeros(((start[c + 1] - start[c]) // height[c], 6))
        A[:, COMPONENTS[kind[c]]] = values[start[c] : start[c + 1]].reshape(-1, height[c])
        mobility[c] = (A.T @ A)[np.tril_indices(6)]
    rows = it.rows._replace(
        values=values, start=start, kind=kind, height=height, mobility=mobility, speed=rng.normal(size=(n, 6))
    )
    frictions = it.frictions.copy()
    frictions[:, 2:4] = rng.choice([0.0, 0.05, 0.05, 0.5], (n, 2))
    return it._replace(rows=rows, frictions=frictions)


@dataclass
class Turned(Place):
    """A point at random of an island with moments too."""

    def __init__(self, seed: int) -> None:
        super().__init__(with_rows(with_moments(island(seed, 5, 16, 0.6), seed), seed), seed)
        moments, first, rng = self.at.moments, len(self.at.weight), np.random.default_rng(seed)
        self.at.w[first:, :2] = rng.normal(size=(len(moments.contact), 2)) * 10.0 ** rng.integers(-2, 2, (1, 2))
        self.at.w[first:, 1] *= moments.rows > 1


def radii(at) -> tuple[np.ndarray, np.ndarray]:
    """z_0 of each moment, and the size of its z."""
    first = len(at.weight)
    return 0.5 * at.roots[at.moments.contact, :2].sum(1), at.roots[first:, 2].copy()


@pytest.mark.parametrize("nu", [1e-11, 1e-4, 1.0, 1e4])
@pytest.mark.parametrize("radius", [1e-9, 1e-3, 1.0, 1e5])
def test_the_room_of_a_moment_is_known_to_rounding(radius, nu):
    """r + nu r / (radius^2 - r^2) = |w|, wherever that is small or large."""
    for w in [0.0, *10.0 ** np.arange(-12.0, 7.0), radius, 0.999 * radius]:
        g = gap(w, radius, nu)
        h = 2.0 * radius - g
        assert 0.0 < g <= radius
        scale = max(w, radius, nu / g)
        assert radius - g + 0.5 * nu * (1.0 / g - 1.0 / h) == pytest.approx(w, abs=1e-14 * scale)


@pytest.mark.parametrize("seed", range(6))
def test_their_linear_equations_are_those_of_what_is_missed(seed):
    place = Turned(seed)
    first, lessened, _, missed_along = slopes(place, -1.5)
    assert len(place.at.moments.contact) > 6 and (first[len(place.at.weight) :, 0] != 0.0).all()
    assert lessened == pytest.approx(-first, abs=1e-6 * np.abs(first).max())
    assert missed_along == pytest.approx(np.zeros_like(missed_along), abs=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_a_moment_meets_its_law_with_friction_as_it_is(seed):
    """z is in the ball, s = -nu z / (z_0^2 - |z|^2) and w = z - s."""
    place, tau = Turned(seed), -1.5
    at, first = place.at, len(place.at.weight)
    place.miss(at.w, tau)
    z0, r = radii(at)
    s, w = at.roots[first:, 3], np.linalg.norm(at.w[first:, :2], axis=1)
    assert (r < z0).all()
    np.testing.assert_allclose(s, math.exp(tau) * r / (z0**2 - r**2), rtol=1e-9)
    np.testing.assert_allclose(r + s, w, rtol=1e-12)


def rooms(place: Turned, d: np.ndarray, tau: float, own: np.ndarray) -> float:
    """What a change of w does to log (z_0 - |z|) and log (z_0 + |z|) of some moments: the sum of squares."""
    h, ends = 1e-7, []
    for sign in (-1.0, 1.0):
        place.miss(place.at.w + sign * h * d, tau)
        z0, r = radii(place.at)
        ends.append(np.log([z0[own] - r[own], z0[own] + r[own]]))
    return float((((ends[1] - ends[0]) / (2.0 * h)) ** 2).sum())


@pytest.mark.parametrize("seed", range(4))
def test_changes_count_by_what_they_leave_of_the_room(seed):
    """As friction's count by what they do to its eigenvalues, those of a contact count for its moments as well."""
    place, tau, rng = Turned(seed), -1.5, np.random.default_rng(seed)
    at, first = place.at, len(place.at.weight)
    for j in rng.permutation(len(at.moments.contact))[:4]:
        own = at.moments.contact == at.moments.contact[j]
        for k, way in ((first + j, at.w[first + j]), (at.moments.contact[j], rng.normal(size=3))):
            d = np.zeros_like(at.w)
            d[k] = way
            place.miss(at.w, tau)
            weigh(at, len(place.it.contacts), math.exp(tau))
            whole = product(at, d, d)
            at.moments.weight[own] = 0.0
            assert whole - product(at, d, d) == pytest.approx(rooms(place, d, tau, own), rel=1e-4)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("friction", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("soft", [False, True])
def test_it_ends_at_impulses_and_moments_that_meet_the_laws(seed, friction, soft):
    it = with_rows(with_moments(island(seed, 8, 14, friction), seed), seed)
    these, system = trial(it), block_equations(it)
    took, arrived = along_path(it, these, system, from_outside(it, these, system, soft, HARD), 400)
    take(it, these)
    follow(it, these, system, still(system))
    assert arrived and took < 200
    assert missed(it, these) <= 1e-4
    assert np.abs(it.P[:, 3:]).max() > 1e-3


@pytest.mark.parametrize("seed", range(1, 5))
@pytest.mark.parametrize("friction", [0.3, 1.0])
def test_where_nothing_opens_moments_give_way_too(seed, friction):
    it = pressed_from_both_sides(with_moments(island(seed, 8, 8, friction), seed)._replace(targets=np.zeros(8)))
    these, system = trial(it), block_equations(it)
    took, arrived = along_path(it, these, system, from_outside(it, these, system, True, HARD), 800)
    take(it, these)
    assert arrived and took < 600
    assert augmented(it, these, system, 100, 1e-8)[1] <= 1e-8


@pytest.mark.parametrize("frictions", [(0.5, 0.5, 0.0, 0.005, 0.0), (0.3, 0.3, 0.01, 0.0, 0.0)])
@pytest.mark.parametrize(
    "size, seed", [((3, 3), 0), ((3, 3), 1), *(pytest.param((5, 6), k, marks=pytest.mark.slow) for k in range(4))]
)
def test_walls_whose_masses_differ_by_a_million_are_solved(size, seed, frictions):
    """Of 30 bricks 0.1 m/s was left, in the median."""
    d, these, earlier, residuals = bystander(), wall(np.random.default_rng(seed), *size, ratio=1e6), None, list[float]()
    these.frictions = np.array(frictions)
    for _ in range(4):
        given = problem(d, these, earlier)
        residuals.append(solve(given).residual)
        twists = flown(these) + given.changes.free_twists
        assert these.kinetic(twists) <= these.kinetic(flown(these)) * (1.0 + 1e-12)
        earlier, these.twists = earlier_contacts(given.contacts), twists
    assert np.median(residuals) <= 1e-6
    assert max(residuals) <= 1e-3
