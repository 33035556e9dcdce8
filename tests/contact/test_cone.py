"""Coulomb's law: one contact alone meets it exactly, many together to the residual that is reported."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from test_responses import SHORT, rubbing
from trees import mechanism

import recursive_dyn as rd
from recursive_dyn.contact.sweeps.cone import bounded, coulomb

seeds = st.integers(0, 2**32 - 1)
EXACT = 1e-9


def mobility(rng: np.random.Generator, size: int = 3, spread: float = 2.0) -> np.ndarray:
    """Symmetric, positive definite, with eigenvalues over up to twice ``spread`` decades, and any coupling."""
    axes = np.linalg.qr(rng.normal(size=(size, size)))[0]
    return axes @ np.diag(10.0 ** rng.uniform(-spread, spread, size)) @ axes.T


def solved(G, c, target, sticking, sliding, law=coulomb, before=(0.0, 0.0)) -> np.ndarray:
    upper = [float(G[i, j]) for i in range(3) for j in range(i, 3)]
    return np.array(law(*upper, *map(float, c), float(target), float(sticking), float(sliding), *before))


def assert_coulomb(p, v, target, sticking, sliding, size, tolerance=EXACT) -> str:
    """Open, stick or slide; velocities to ``tolerance`` of ``size``, impulses to that of their own."""
    push = np.abs(p).max()
    assert p[0] >= 0.0
    assert v[0] >= target - tolerance * size
    if p[0] == 0.0:
        assert not p.any()
        return "open"
    assert abs(v[0] - target) <= tolerance * size
    friction, slip = np.linalg.norm(p[1:]), np.linalg.norm(v[1:])
    if slip <= tolerance * size:
        assert friction <= sticking * p[0] + tolerance * push
        return "stick"
    assert friction == pytest.approx(sliding * p[0], abs=tolerance * push)
    assert v[1:] @ p[1:] <= -(1.0 - 1e-6) * slip * friction + tolerance * size * push, "antiparallel to the slip"
    return "slide"


@given(seeds, st.floats(0.0, 3.0), st.floats(-2.0, 2.0))
@example(1, 0.0, 0.0)
def test_one_contact_meets_coulombs_law(seed, mu, target):
    rng = np.random.default_rng(seed)
    G, c = mobility(rng), rng.normal(size=3) * 10.0 ** rng.uniform(-3, 3)
    p = solved(G, c, target, mu, mu)
    assert_coulomb(p, c + G @ p, target, mu, mu, np.abs(c).max() + abs(target) + np.abs(G @ p).max())


@given(seeds, st.floats(0.01, 1.0), st.floats(0.0, 1.0))
def test_static_friction_holds_whenever_it_can(seed, sliding, more):
    """It sticks exactly where the impulse that stops all motion lies in the wider cone, else slides in the other."""
    rng = np.random.default_rng(seed)
    G, c = mobility(rng, spread=1.0), rng.normal(size=3)
    sticking = sliding + more
    p = solved(G, c, 0.0, sticking, sliding)
    found = assert_coulomb(p, c + G @ p, 0.0, sticking, sliding, np.abs(c).max() + np.abs(G @ p).max())
    held = np.linalg.solve(G, -c)
    room = sticking * held[0] - np.linalg.norm(held[1:])
    if c[0] < 0.0 and abs(room) > 1e-6 * np.abs(held).max():
        assert (found == "stick") == (room > 0.0)


@pytest.mark.parametrize("mu", [0.0, 0.3, 1.0])
def test_all_three_cases_occur(mu):
    """So that the tests above are tests."""
    rng, cases = np.random.default_rng(4), set()
    for _ in range(300):
        G, c = mobility(rng, spread=0.5), rng.normal(size=3)
        p = solved(G, c, 0.0, mu, mu)
        cases.add(assert_coulomb(p, c + G @ p, 0.0, mu, mu, 10.0))
    assert cases == ({"open", "slide"} if mu == 0.0 else {"open", "stick", "slide"})


def test_a_ball_on_a_plane_by_hand():
    """G of a ball of mass m: 1/m across, 7/(2 m) along; c = (-2, 3, -4): J_t = min(mu J_n, 2/7 m 5)."""
    m = 1.5
    G = np.diag([1.0, 3.5, 3.5]) / m
    for mu in (0.1, 0.4, 0.8):
        size = min(mu * 2.0 * m, 2 / 7 * m * 5.0)
        np.testing.assert_allclose(
            solved(G, (-2.0, 3.0, -4.0), 0.0, mu, mu), [2.0 * m, -0.6 * size, 0.8 * size], rtol=1e-12
        )


@pytest.mark.parametrize("spoil", ["zero", "no normal", "one tangent", "no tangents"])
def test_what_cannot_move_gets_finite_impulses(spoil):
    rng = np.random.default_rng(6)
    G = mobility(rng, spread=0.5)
    keep = {"zero": (), "no normal": (1, 2), "one tangent": (0, 1), "no tangents": (0,)}[spoil]
    mask = np.isin(np.arange(3), keep)
    G = np.where(np.outer(mask, mask), G, 0.0)
    p = solved(G, (-1.0, 0.5, 0.5), 0.0, 0.5, 0.5)
    v = np.array([-1.0, 0.5, 0.5]) + G @ p
    assert np.isfinite(p).all() and p[0] >= 0.0
    assert np.linalg.norm(p[1:]) <= 0.5 * p[0] * (1 + 1e-9)
    if 0 in keep:
        assert v[0] == pytest.approx(0.0, abs=1e-9)
    else:
        assert not p.any()


@given(seeds, st.floats(0.0, 10.0))
def test_the_bounded_impulse(seed, radius):
    """(S + z) x = -r with the least z >= 0 that keeps |x| within the radius: slip opposes what is at its bound."""
    rng = np.random.default_rng(seed)
    S, r = mobility(rng, 2), rng.normal(size=2)
    z, *x = bounded(*map(float, (S[0, 0], S[0, 1], S[1, 1], *r, radius)))
    size = np.linalg.norm(x)
    assert z >= 0.0 and size <= radius * (1 + EXACT)
    if radius == 0.0 or z == np.inf:
        assert x == [0.0, 0.0]
        return
    np.testing.assert_allclose(S @ x + z * np.array(x), -r, atol=EXACT * (1.0 + z * size))
    assert z == 0.0 or size == pytest.approx(radius, rel=EXACT)


# Many contacts


def stepped(seed: int, iterations: int, tolerance: float, mu: float = 0.6):
    """A random tree on fixed roots struck at random places: (simulation, what the detector saw)."""
    found = mechanism(seed, 8, root="revolute", kinds=("revolute", "prismatic", "universal", "cylindrical", "screw"))
    d = found.dynamics()
    (q,), (v,) = found.states(1, seed)
    sim = rd.Simulation(d, SHORT, "rk4")
    sim.q, sim.v = q, v
    sim.contact.iterations, sim.contact.tolerance = iterations, tolerance
    sim.detect, seen = rubbing(d, np.random.default_rng(seed), 8, mu=mu)
    sim.step()
    return sim, seen


def relative(sim: rd.Simulation, seen: dict, v: np.ndarray) -> np.ndarray:
    """Velocities (n, 3) of A against B at the contacts, world axes."""
    c, d, q = seen["contacts"], sim.dynamics, seen["q"]
    X, V = d.poses(q), d.velocities(q, v)

    def at(body, point):
        arm = point - X[body, :3, 3]
        return V[body, 3:] + np.cross(V[body, :3], arm) if body >= 0 else np.zeros(3)

    return np.array([at(a, p) - at(b, p) for a, b, p in zip(c.a, c.b, c.point_a, strict=True)])


def violation(sim: rd.Simulation, seen: dict) -> float:
    """How far velocities are from what the law of each contact's own impulse says, m/s."""
    c, worst = seen["contacts"], 0.0
    for v, n, p, mu in zip(relative(sim, seen, sim.v), c.normal, c.impulse, c.friction[:, 0], strict=True):
        normal, slip = v @ n, v - (v @ n) * n
        push, rub = p @ n, p - (p @ n) * n
        assert push >= -1e-12 and np.linalg.norm(rub) <= mu * push * (1 + 1e-9) + 1e-12
        worst = max(worst, -normal)
        if push > 1e-9:
            worst = max(worst, abs(normal))
            if np.linalg.norm(rub) < mu * push * (1 - 1e-6):
                worst = max(worst, np.linalg.norm(slip))
            else:
                worst = max(worst, np.linalg.norm(np.cross(slip, rub / np.linalg.norm(rub))), slip @ rub / (mu * push))
    return worst


@pytest.mark.parametrize("seed", range(8))
def test_many_contacts_meet_coulombs_law_to_the_tolerance(seed):
    sim, seen = stepped(seed, 3000, 1e-7)
    assert sim.solution.converged and sim.solution.residual <= 1e-7
    assert np.abs(seen["contacts"].impulse).max() > 1e-3
    assert violation(sim, seen) < 1e-5


@pytest.mark.parametrize("seed", range(8))
def test_a_solve_that_did_not_converge_is_off_by_about_what_it_says(seed):
    """The residual is a change of velocities: it is neither zero where laws are missed, nor far from the miss."""
    sim, seen = stepped(seed, 2, 1e-12)
    missed = violation(sim, seen)
    if missed > 1e-6:
        assert not sim.solution.converged
        assert missed / 100.0 < sim.solution.residual < 100.0 * missed + 1e-6


@pytest.mark.parametrize("seed", range(8))
def test_accelerated_and_plain_sweeps_agree(seed):
    """Without friction there is one velocity that meets all laws; 3 sweeps a solve are plain ones."""
    fast, seen = stepped(seed, 200, 1e-9, mu=0.0)
    slow, _ = stepped(seed, 20000, 1e-13, mu=0.0)
    assert fast.solution.converged
    np.testing.assert_allclose(fast.v, slow.v, atol=1e-6)
    # what contacts do to a tree takes energy: none bounces
    d, q = fast.dynamics, seen["q"]
    assert d.kinetic_energy(q, fast.v) <= d.kinetic_energy(q, seen["v"]) * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_contacts_does_not_matter(seed):
    """Without friction, which may have several answers."""
    one, seen = stepped(seed, 5000, 1e-8, mu=0.0)
    inner = one.detect
    order = np.random.default_rng(9).permutation(len(seen["contacts"]))
    two = rd.Simulation(one.dynamics, SHORT, "rk4")
    found = mechanism(seed, 8, root="revolute", kinds=("revolute", "prismatic", "universal", "cylindrical", "screw"))
    (two.q,), (two.v,) = found.states(1, seed)
    two.contact.iterations, two.contact.tolerance = 5000, 1e-8

    def shuffled(sim):
        c = inner(sim)
        picked = (
            getattr(c, name)[order] for name in ("a", "b", "point_a", "point_b", "normal", "distance", "friction")
        )
        return type(c)(*picked, c.key[order])

    two.detect = shuffled
    two.step()
    assert one.solution.converged and two.solution.converged
    np.testing.assert_allclose(two.v, one.v, atol=1e-5)
