"""Newton's method on an island: who takes part, and how far its steps go."""

import numpy as np
import pytest
from test_block_equations import random_island

from recursive_dyn.codegen.nanoseconds import clock
from recursive_dyn.contact.blocks import Island, accumulate, velocity
from recursive_dyn.contact.islands.methods import solved
from recursive_dyn.contact.islands.squeezing import squeezed
from recursive_dyn.contact.newton.assembly import assemble
from recursive_dyn.contact.newton.block_equations import block_equations
from recursive_dyn.contact.newton.block_factors import factor, solve
from recursive_dyn.contact.newton.line_search import dot, go, missing, way_of
from recursive_dyn.contact.newton.natural import follow, missed, trial
from recursive_dyn.contact.newton.newton import entering, near, newton
from recursive_dyn.contact.newton.node_rows import still
from recursive_dyn.contact.newton.second_order_cone import scaled, scaling
from recursive_dyn.contact.sweeps.sweep import sweep
from recursive_dyn.contact.tuning import FAR, PART_LEFT


def island(seed: int, bodies: int, contacts: int, friction: float) -> Island:
    """Contacts of three rows that open and close at random speeds, with the mobilities of their rows."""
    rng = np.random.default_rng(seed)
    it = random_island(rng, bodies, contacts, 0)
    slots, first = it.rows.slots, it.rows.first
    sizes = 3 * np.diff(first)
    start = np.r_[0, np.cumsum(sizes)]
    values, mobility = rng.normal(size=start[-1]), np.zeros((contacts, 21))
    for c in range(contacts):
        A = values[start[c] : start[c + 1]].reshape(-1, 3)
        mobility[c, :6] = (A.T @ A)[np.tril_indices(3)]
    nothing = np.zeros(contacts, dtype=np.int64)
    rows = it.rows._replace(
        slots=slots, start=start, values=values, kind=nothing, height=nothing + 3, mobility=mobility,
        speed=rng.normal(size=(contacts, 6)) * (1, 1, 1, 0, 0, 0),
    )  # fmt: skip
    frictions = np.tile((friction, friction, 0.0, 0.0, 0.0), (contacts, 1))
    return it._replace(rows=rows, frictions=frictions)


def openings(it: Island) -> np.ndarray:
    """Velocities along the normals."""
    return np.array([velocity(it.rows, c, 0, it.y) for c in it.contacts])


@pytest.mark.parametrize("seed", range(3))
def test_what_opens_by_far_more_than_laws_are_missed_takes_no_part(seed):
    it = island(seed, 6, 20, 0.5)
    it.P[::4, 0] = 0.1
    accumulate(it)
    speeds = openings(it)
    kept = near(it, 0.2).contacts
    assert kept.tolist() == np.flatnonzero((it.P[:, 0] > 0.0) | (speeds <= 0.2 * FAR)).tolist()
    assert 0 < len(kept) < 20
    assert entering(it) == pytest.approx(-speeds[it.P[:, 0] <= 0.0].min(), rel=1e-12)


@pytest.mark.parametrize("seed", range(2, 7))
def test_what_was_left_out_is_taken_in_where_it_is_reached(seed):
    """At first all that opens at all is left out, some of which is pressed in the end."""
    it, miss = island(seed, 12, 14, 0.3), 1e-6
    accumulate(it)
    apart = set(range(14)) - set(near(it, miss).contacts.tolist())
    _, change = newton(it, 0, 400, 1e-6, miss)
    pressed = set(np.flatnonzero(it.P[:, 0] > 0.0).tolist())
    these, system = trial(it), block_equations(it)
    follow(it, these, system, still(system))
    assert change <= 1e-6
    assert missed(it, these) <= 3e-6
    assert apart & pressed


@pytest.mark.parametrize("seed", range(6))
def test_a_step_goes_to_where_it_has_no_part_of_what_is_left(seed):
    """Without friction F is minus the slope of an energy, which is less there."""
    it, share = island(seed, 5, 16, 0.0), 0.01
    these, system = trial(it), block_equations(it)
    y, F, step = still(system), still(system), still(system)
    follow(it, these, system, y)

    def energy() -> float:
        push = np.maximum(it.P[:, 0] - these.u[:, 0] / (share * these.scale[:, 0]), 0.0)
        return 0.5 * dot(y, y) + 0.5 * float((share * these.scale[:, 0] * push**2).sum())

    for _ in range(3):
        missing(it, these, system, share, y, F)
        assemble(it, system, these.X, these.x)
        assert factor(system)
        step[:] = F
        solve(system, step)
        before, start = energy(), dot(step, F)
        go(it, these, system, share, y, step, way_of(it), F)
        assert energy() <= before + 1e-12
        assert -PART_LEFT * start - 1e-12 <= dot(step, F) <= start


def test_such_a_step_is_that_of_newtons_method():
    """Where nothing opens or closes on the way it is whole, and F is nothing at its end."""
    it, share = island(1, 5, 3, 0.0), 1.0
    it.rows.speed[:, 0] = -1.0
    these, system = trial(it), block_equations(it)
    y, F, step = still(system), still(system), still(system)
    follow(it, these, system, y)
    missing(it, these, system, share, y, F)
    assemble(it, system, these.X, these.x)
    assert factor(system)
    step[:] = F
    solve(system, step)
    go(it, these, system, share, y, step, way_of(it), F)
    assert (these.p[:, 0] > 0.0).all()
    assert np.abs(F).max() <= 1e-12


@pytest.mark.parametrize("apart", [1.0, 1e-6, 1e-13])
def test_the_scaling_of_two_points_takes_one_to_the_other(apart):
    """W^2 z = s, however near s is to the boundary."""
    rng = np.random.default_rng(2)
    (s1, s2), (z1, z2) = rng.normal(size=(2, 2))
    s, z = np.array([apart + np.hypot(s1, s2), s1, s2]), np.array([0.3 + np.hypot(z1, z2), z1, z2])
    square, w0, w1, w2 = scaling(apart * (2.0 * s[0] - apart), s, z)
    eta = float(np.sqrt(square))
    assert scaled(eta, w0, w1, w2, *scaled(eta, w0, w1, w2, *z)) == pytest.approx(s, rel=1e-12)
    assert abs(w0 * w0 - w1 * w1 - w2 * w2 - 1.0) <= 1e-14 * w0 * w0


@pytest.mark.parametrize("bodies, contacts", [(12, 14), (4, 30)])
def test_time_that_is_over_ends_it(bodies, contacts):
    """It went on for ever, with nothing done in each round."""
    it = island(0, bodies, contacts, 0.3)
    accumulate(it)
    done, change = newton(it._replace(time=np.array([clock(), 1])), 3, 200, 1e-6, 1.0)
    assert done < 20 and np.isfinite(change)


@pytest.mark.parametrize("number", [np.nan, np.inf, 1e200])
@pytest.mark.parametrize("iterations", [10, 50, 200, 1000])
def test_impulses_that_are_not_finite_are_never_taken(number, iterations):
    """No sweep changed them, so laws seemed to be met."""
    it = island(3, 6, 12, 0.5)
    these, system = trial(it), block_equations(it)
    it.P[4, 0] = number
    accumulate(it)
    follow(it, these, system, still(system))
    assert squeezed(it)
    assert missed(it, these) >= 1e100
    _, change = solved(it, iterations, 1e-6)
    assert np.isfinite(it.P).all() and np.isfinite(it.y).all()
    assert change <= (1.0 if iterations < 200 else 1e-6)


def test_a_sweep_says_so_where_velocities_are_not_finite():
    it = island(3, 6, 12, 0.5)
    accumulate(it)
    it.y[it.slots[5]] = np.nan
    assert sweep(it, 0.0) == sweep(it, 0.0) == np.inf
