"""The central path of an island's laws: its equations, where it leads, and walls that nothing else solves."""

import math

import numpy as np
import pytest
from frozen_walls import bystander, flown, problem, wall
from impulse_problems import earlier_contacts
from test_newton import island

from recursive_dyn.contact.blocks import Island, ScalarRows
from recursive_dyn.contact.newton import central_equations as equations
from recursive_dyn.contact.newton.augmented import augmented
from recursive_dyn.contact.newton.block_equations import block_equations
from recursive_dyn.contact.newton.central_lengths import go, leave, product, size, weigh
from recursive_dyn.contact.newton.central_path import along_path, from_outside
from recursive_dyn.contact.newton.central_point import central
from recursive_dyn.contact.newton.natural import follow, missed, take, trial
from recursive_dyn.contact.newton.node_rows import still
from recursive_dyn.contact.solve import solve
from recursive_dyn.contact.tuning import HARD, LEFT_BY, MOST_LENGTH

BOUNDS = [(-np.inf, np.inf), (0.0, np.inf), (-np.inf, 0.1), (-0.2, 0.3), (0.05, 0.05), (-1e-3, 1e-3)]


def with_rows(it: Island, seed: int) -> Island:
    """The same island with scalar rows: nothing that bounds, one or two bounds, an impulse that is given, some soft."""
    rng, count = np.random.default_rng(seed), len(BOUNDS)
    slots = np.concatenate([rng.choice(it.slots, 4, replace=False) for _ in BOUNDS])
    values, (low, high) = rng.normal(size=4 * count), np.array(BOUNDS).T
    lines = ScalarRows(
        4 * np.arange(count + 1), slots, values, rng.normal(size=count), rng.normal(size=count), low.copy(),
        high.copy(), rng.choice([0.0, 0.5], count), (values.reshape(count, 4) ** 2).sum(1),
    )  # fmt: skip
    return it._replace(lines=lines, scalars=np.arange(count), Q=np.zeros(count))


class Place:
    """A point of the path's equations at random, and what they miss elsewhere."""

    def __init__(self, it: Island, seed: int) -> None:
        self.it, self.these, self.system = it, trial(it), block_equations(it)
        self.at, self.y = central(it, self.these, 0.5, 0.0), still(self.system)
        rng, n = np.random.default_rng(seed), len(it.contacts)
        self.at.w[:n] = rng.normal(size=(n, 3))
        self.at.w[n : n + len(it.scalars), 0] = rng.normal(size=len(it.scalars))

    def miss(self, w: np.ndarray, tau: float) -> np.ndarray:
        here = self.at.w.copy()
        self.at.w[:] = w
        equations.evaluate(self.it, self.these, self.at, self.system, self.y, math.exp(tau))
        self.at.w[:] = here
        return self.at.miss.copy()


def slopes(place: Place, tau: float) -> tuple[np.ndarray, ...]:
    """What a point misses, and what that changes by along the change that equations find for it; the path's direction
    there, by the same equations, and what is missed along that."""
    it, at, w, h = place.it, place.at, place.at.w.copy(), 1e-6
    first = place.miss(w, tau)
    assert equations.factored(it, place.these, at, place.system, math.exp(tau))
    equations.answered(it, place.these, at, place.system, at.miss, 0.0, at.change, place.y)
    change = at.change.copy()
    lessened = (place.miss(w + h * change, tau) - place.miss(w - h * change, tau)) / (2.0 * h)
    place.miss(w, tau)
    equations.answered(it, place.these, at, place.system, at.none, 1.0, at.along, place.y)
    along = at.along.copy()
    return first, lessened, along, (place.miss(w + h * along, tau + h) - place.miss(w - h * along, tau - h)) / (2.0 * h)


@pytest.mark.parametrize("seed", range(4))
def test_its_linear_equations_are_those_of_what_it_misses(seed):
    first, lessened, along, missed_along = slopes(Place(with_rows(island(seed, 5, 12, 0.6), seed), seed), -1.5)
    assert lessened == pytest.approx(-first, abs=1e-6 * np.abs(first).max())
    assert np.abs(missed_along).max() <= 1e-6 * np.abs(along).max()


@pytest.mark.parametrize("seed", range(3))
def test_lengths_along_it_count_each_eigenvalue_by_its_own_size(seed):
    """Of one contact: by the spectral decomposition of w, and what turns its tangential part by that one's size."""
    it, nu = island(seed, 5, 12, 0.6), 1e-3
    place, rng = Place(it, seed), np.random.default_rng(seed)
    at, (d, e) = place.at, np.zeros((2, 12, 3))
    equations.evaluate(it, place.these, at, place.system, place.y, nu)
    weigh(at, 12, nu)
    w, d[7], e[7] = at.w[7].copy(), rng.normal(size=3), rng.normal(size=3)
    slip = np.hypot(w[1], w[2])
    t, across = w[1:] / slip, np.array([-w[2], w[1]]) / slip

    def parts(x: np.ndarray) -> np.ndarray:
        first, second = x[0] + t @ x[1:], x[0] - t @ x[1:]
        sizes = np.sqrt(np.array([w[0] + slip, w[0] - slip, slip]) ** 2 + 4.0 * nu)
        return np.array([first, second, across @ x[1:]]) / sizes

    assert product(at, d, e) == pytest.approx(parts(d[7]) @ parts(e[7]), rel=1e-12)
    assert size(at, 12, nu, d, 0.7) == pytest.approx((np.sum(parts(d[7]) ** 2) ** 2 + 0.7**4) ** 0.25, rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_what_turns_goes_round_and_otherwise_straight(seed):
    """To first order both are the same, in one go or two; a friction that turns and is far from nothing neither grows
    nor shrinks."""
    it, nu, turn = island(seed, 5, 12, 0.6), 1e-12, 0.02
    place, rng = Place(it, seed), np.random.default_rng(seed)
    at = place.at
    w, way = at.w.copy(), rng.normal(size=(12, 3))

    def gone(length: float, nu: float) -> np.ndarray:
        at.w[:] = w
        leave(at)
        go(at, 12, nu, way, 0.25 * length)
        go(at, 12, nu, way, 0.75 * length)
        return at.w.copy()

    for each in (nu, 0.1, 1e3):
        assert (gone(1e-5, each) - gone(-1e-5, each)) / 2e-5 == pytest.approx(way, abs=1e-8)
    assert gone(1.0, 1e12) == pytest.approx(w + way, abs=1e-9)
    way[:] = turn * np.stack([0.0 * w[:, 0], -w[:, 2], w[:, 1]], 1)
    assert np.hypot(*gone(1.0, nu)[:, 1:].T) == pytest.approx(np.hypot(*w[:, 1:].T), rel=1e-9)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("friction", [0.0, 0.3, 1.0])
@pytest.mark.parametrize(("soft", "least"), [(False, 0.0), (False, HARD), (True, HARD)])
def test_it_ends_at_impulses_that_meet_the_laws(seed, friction, soft, least):
    it = with_rows(island(seed, 8, 14, friction), seed)
    these, system = trial(it), block_equations(it)
    took, arrived = along_path(it, these, system, from_outside(it, these, system, soft, least), 400)
    take(it, these)
    follow(it, these, system, still(system))
    assert arrived and took < 200
    assert missed(it, these) <= 1e-4


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("soft", [False, True])
def test_it_goes_on_from_where_it_was_left(seed, soft):
    """After other solves have used the same room, and to the same place."""
    it = island(seed, 8, 14, 0.6)
    these, system = trial(it), block_equations(it)
    path, whole = from_outside(it, these, system, soft, HARD), from_outside(it, these, system, soft, HARD)
    took, arrived = along_path(it, these, system, whole, 400)
    parts, left, pieces = 0, False, 0
    while not left and parts < 400:
        more, left = along_path(it, these, system, path, 7)
        parts, pieces = parts + more, pieces + 1
        take(it, these)
        augmented(it, these, system, 2, 1e-12)
    assert arrived and left and pieces > 3
    assert parts <= took + 2 * pieces
    np.testing.assert_allclose(path.place[0], whole.place[0], atol=1.0)


def pressed_from_both_sides(it: Island) -> Island:
    """The same with each contact once more from the other side, so that nothing opens both."""
    rows, n = it.rows, len(it.contacts)
    values, speed, mobility = rows.values.copy(), rows.speed.copy(), rows.mobility.copy()
    for c in range(n):
        height, end = rows.height[c], rows.start[c] + rows.height[c] * (rows.first[c + 1] - rows.first[c])
        values[rows.start[c] : end : height] *= -1.0
    speed[:, 0] *= -1.0
    mobility[:, [1, 3, 6, 10, 15]] *= -1.0  # of the normal with all else
    twice = {
        name: np.tile(getattr(rows, name), (2,) + (1,) * (getattr(rows, name).ndim - 1))
        for name in ("links", "axes", "kind", "height", "before", "coasting", "forced", "rising", "beside", "lasting")
    }
    return it._replace(
        rows=rows._replace(
            first=np.r_[rows.first, rows.first[1:] + rows.first[-1]], slots=np.tile(rows.slots, 2),
            start=np.r_[rows.start[:n], rows.start[:n] + len(rows.values)], values=np.r_[rows.values, values],
            speed=np.r_[rows.speed, speed], mobility=np.r_[rows.mobility, mobility], **twice,
        ),
        targets=np.tile(it.targets, 2), frictions=np.tile(it.frictions, (2, 1)), contacts=np.arange(2 * n),
        P=np.zeros((2 * n, 6)),
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("friction", [0.3, 1.0])
def test_where_nothing_opens_it_begins_if_contacts_give_way(seed, friction):
    it = pressed_from_both_sides(island(seed, 8, 6, friction)._replace(targets=np.zeros(6)))
    these, system = trial(it), block_equations(it)
    hard = from_outside(it, these, system, False, 0.0)
    assert not along_path(it, these, system, hard, 4000)[1]
    assert hard.place[2] == 0.0  # it is given up: impulses that grow for ever ended at such as are not finite
    assert hard.place[0] <= hard.place[1] + LEFT_BY + MOST_LENGTH
    took, arrived = along_path(it, these, system, from_outside(it, these, system, True, HARD), 400)
    take(it, these)
    assert arrived and took < 200
    assert augmented(it, these, system, 100, 1e-8)[1] <= 1e-8


@pytest.mark.parametrize("seed", [103, *(pytest.param(k, marks=pytest.mark.slow) for k in (101, 102, 104))])
def test_walls_that_are_kicked_are_solved_if_iterations_are_many(seed):
    """Of such solves a third ended above 1e-6 m/s before it, up to 1e-3, by as many iterations."""
    d, these, earlier, residuals = bystander(), wall(np.random.default_rng(seed), 10, 10), None, list[float]()
    these.twists[:] = 0.0
    these.twists[:, 4] = 0.2 * np.random.default_rng(seed).normal(size=len(these.masses))
    for _ in range(4):
        given = problem(d, these, earlier, 1000)
        residuals.append(solve(given).residual)
        twists = flown(these) + given.changes.free_twists
        assert these.kinetic(twists) <= these.kinetic(flown(these)) * (1.0 + 1e-12)
        earlier, these.twists = earlier_contacts(given.contacts), twists
    assert np.median(residuals) <= 1e-6
    assert max(residuals) <= 1e-6
