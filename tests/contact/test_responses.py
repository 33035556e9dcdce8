"""The factors of M answer impulses as M does, on random trees of all joints, with shared coordinates and loops."""

import numpy as np
import pytest
from trees import SAMPLED_KINDS, TREES, assert_close, mechanism, named

import recursive_dyn as rd
from recursive_dyn.contact.contacts import STATIC, Contacts, FreeBodies
from recursive_dyn.contact.forest_layout import layout
from recursive_dyn.contact.layout import body_links
from recursive_dyn.contact.problem import GeneralizedRows
from recursive_dyn.contact.rows import responses, scalar_rows
from recursive_dyn.contact.rows.reach import reach_of
from scene import Body, Scene, joints

SMALL = [name for name in TREES if name not in ("tree of 20", "tree of 40")]
SHARED = {f"shared {seed}": {"seed": seed, "bodies": 9, "couplings": True, "charts": False} for seed in (3, 4)}
# inverses of M magnify rounding by its condition, up to 1e6 in these trees
ROUNDING = 1e-8


def any_mechanism(name: str):
    return mechanism(**SHARED[name]) if name in SHARED else named(name)


def generalized(first: np.ndarray, slots: np.ndarray, values: np.ndarray) -> GeneralizedRows:
    """Rows of which only the directions are told."""
    m = len(first) - 1
    numbers, marks = np.zeros(m), np.zeros(m, dtype=bool)
    return GeneralizedRows(first, slots, values, numbers, numbers, marks, marks, *[numbers] * 5)


class Factors:
    """The factors of M + h damping + h^2 stiffness at q (nq,), and the links' twists at v (nv,)."""

    def __init__(self, dynamics: rd.Dynamics, q: np.ndarray, v: np.ndarray, h: float = 0.0) -> None:
        self.layout = layout(dynamics.model)
        self.numbers = dynamics.call("impulse_factors", q, np.array([h]), np.array([h]), *np.zeros((2, dynamics.nv)))
        self.root, self.V = np.zeros(dynamics.nv), np.zeros((len(self.layout.parent), 6))
        self.links = np.arange(len(self.V))
        responses.inverses(self.layout, self.numbers, self.links, self.root)
        responses.twists(self.layout, self.numbers, np.ascontiguousarray(v), self.links, self.V)

    def whitened(self, C: np.ndarray) -> np.ndarray:
        """Rows (m, nv) of directions (m, nv)."""
        result, reduced, nv = np.zeros_like(C), np.zeros(self.layout.nv), self.layout.nv
        for k, direction in enumerate(C):
            used = np.flatnonzero(direction)
            slots, values = np.zeros(nv, dtype=np.int64), np.zeros(nv)
            first = np.array([0, len(used)])
            given = generalized(first, used, direction[used])
            reach = reach_of(self.layout, np.zeros((0, 2), dtype=np.int64), given)
            end = scalar_rows.whitened(self.layout, reach, self.numbers, self.root, given, 0, reduced, slots, values, 0)
            result[k, slots[:end]] = values[:end]
            assert not reduced.any()
        return result

    def unwhitened(self, y: np.ndarray) -> np.ndarray:
        x = np.zeros(len(y))
        responses.expand(self.layout, self.numbers, self.root, y, self.links, np.zeros_like(self.V), x)
        return x

    def point(self, link: int) -> np.ndarray:
        """Where the link's twist is taken."""
        at = self.layout.refs + 3 * link
        return self.numbers[at : at + 3]


@pytest.mark.parametrize("name", [*SAMPLED_KINDS, *SMALL, *SHARED])
def test_whitened_directions_multiply_to_the_inverse_of_the_mass_matrix(name):
    found = any_mechanism(name)
    d = found.dynamics()
    for q, v in zip(*found.states(2, 11), strict=True):
        A = Factors(d, q, v).whitened(np.eye(d.nv))
        M = d.mass_matrix(q)
        assert_close(A @ A.T @ M, np.eye(d.nv), ROUNDING)


@pytest.mark.parametrize("name", [*SMALL, *SHARED])
def test_whitening_back_and_forth(name):
    """y -> v = L^-1 D^-1/2 y is undone by M: v . M v = y . y, and A M v = y."""
    found = any_mechanism(name)
    d, rng = found.dynamics(), np.random.default_rng(2)
    for q, v in zip(*found.states(2, 12), strict=True):
        factors, y = Factors(d, q, v), rng.normal(size=d.nv)
        back = factors.unwhitened(y)
        momentum = d.mass_matrix(q) @ back
        assert_close(np.array([back @ momentum]), np.array([y @ y]), ROUNDING)
        assert_close(factors.whitened(momentum[None])[0], y, ROUNDING)


@pytest.mark.parametrize("h", [0.0, 0.004, 0.5])
def test_damping_and_stiffness_enter_with_the_step(h):
    rng = np.random.default_rng(5)
    scene = Scene()
    node = scene.world
    for k, joint in enumerate((joints.revolute, joints.prismatic, joints.revolute, joints.prismatic)):
        settings = {"damping": rng.uniform(0, 3), "stiffness": rng.uniform(0, 50), "rest": 0.1}
        inertia = np.diag(rng.uniform(0.1, 0.15, 3))
        node = node.attach(
            Body(f"b{k}", mass=1.0, center_of_mass=rng.uniform(-0.2, 0.2, 3), inertia=inertia),
            joint("xyzx"[k], **settings), at=rd.pose(rng.uniform(-0.3, 0.3, 3)),
        )  # fmt: skip
    d = scene.compile()
    q = rng.uniform(-0.5, 0.5, d.nq)
    resisting = [h * c.damping + h * h * c.stiffness for c in d.model.coordinates]
    M = d.mass_matrix(q) + np.diag(resisting)
    A = Factors(d, q, np.zeros(d.nv), h).whitened(np.eye(d.nv))
    assert_close(A @ A.T @ M, np.eye(d.nv), 1e-12)


@pytest.mark.parametrize("name", [*SMALL, *SHARED])
def test_twists_are_the_velocities_of_the_dynamics(name):
    found = any_mechanism(name)
    d = found.dynamics()
    links = body_links(d.model)
    for q, v in zip(*found.states(2, 13), strict=True):
        factors = Factors(d, q, v)
        X, V = d.poses(q), d.velocities(q, v)
        for body, link in enumerate(links):
            if link < 0:
                assert_close(V[body], np.zeros(6), 1e-12, 1.0)
                continue
            omega, arm = factors.V[link, :3], X[body, :3, 3] - factors.point(link)
            there = np.concatenate([omega, factors.V[link, 3:] + np.cross(omega, arm)])
            assert_close(there, V[body], 1e-11, 1.0 + np.abs(V).max())


@pytest.mark.parametrize("name", [*SMALL, *SHARED])
def test_an_impulse_reaches_what_it_is_said_to_and_nothing_else(name):
    """c = L^-T J^T F: the same as of the row J^T F itself, and zero outside what the link reaches."""
    found = any_mechanism(name)
    d, rng = found.dynamics(), np.random.default_rng(3)
    (q,), (v,) = found.states(1, 14)
    factors, links = Factors(d, q, v), body_links(d.model)
    pairs = np.array([(link, -1) for link in links], dtype=np.int64)
    nothing = generalized(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0))
    reach = reach_of(factors.layout, pairs, nothing)
    for body, link in enumerate(links):
        if link < 0:
            continue
        point = rng.normal(size=3)
        J, X = d.jacobian(q, d.bodies[body], point), d.poses(q)[body]
        F = rng.normal(size=(3, 6))  # three at the point
        arm = X[:3, :3] @ point + X[:3, 3] - factors.point(link)
        moved = np.concatenate([F[:, :3] + np.cross(arm, F[:, 3:]), F[:, 3:]], axis=1)
        c = np.zeros((d.nv, 3))
        responses.push(factors.layout, factors.numbers, int(link), *moved.ravel().tolist(), c)
        expected = factors.whitened(F @ J)
        assert_close((c * factors.root[:, None]).T, expected, ROUNDING, 1.0 + np.abs(c).max())
        reached = reach.slots[reach.first[link] : reach.first[link] + reach.size[link]]
        assert list(reached) == sorted(set(reached))
        assert not np.delete(c, reached, axis=0).any()


def approach(sim: rd.Simulation, a, b, points: np.ndarray, free: FreeBodies | None = None) -> np.ndarray:
    """Velocities (n, 3) of A's points against B's, world axes."""
    X, V = sim.frames()
    centers, twists = X[:, :3, 3], V
    if free:
        centers, twists = np.concatenate([centers, free.position]), np.concatenate([twists, free.twist])

    def at(body, point):
        fixed = np.zeros(3)
        return twists[body, 3:] + np.cross(twists[body, :3], point - centers[body]) if body >= 0 else fixed

    return np.array([at(i, p) - at(j, p) for i, j, p in zip(a, b, points, strict=True)])


# overlaps by half the slop, where surfaces rest, ask for no velocity and move no position
def rubbing(d: rd.Dynamics, rng: np.random.Generator, count: int, free: FreeBodies | None = None, mu: float = 0.6):
    """(detector, seen): contacts of random bodies with each other, the world and free bodies; what it was shown."""
    movable = [k for k, link in enumerate(body_links(d.model)) if link >= 0]
    others = [STATIC, *movable, *(len(d.bodies) + np.arange(len(free or ())))]
    pairs = []
    while len(pairs) < count:
        a, b = rng.choice(movable), rng.choice(others)
        if a != b:
            pairs.append((a, b))
    normals = rng.normal(size=(count, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    arms = rng.uniform(-0.4, 0.4, (count, 3))
    friction = np.column_stack([np.full((count, 2), mu), rng.choice([0.0, 0.03 * mu], (count, 2)), np.zeros(count)])
    seen: dict = {}

    def detect(sim):
        seen.update(q=sim.q.copy(), v=sim.v.copy())
        first, second = (np.array(side) for side in zip(*pairs, strict=True))
        points = sim.frames()[0][first, :3, 3] + arms
        signs = np.where(np.einsum("ij,ij->i", approach(sim, first, second, points, free), normals) > 0.0, -1.0, 1.0)
        seen["contacts"] = Contacts(
            first, second, points, points, normals * signs[:, None], np.full(count, -sim.contact.slop / 2), friction,
            np.arange(count), *([free] if free else []),
        )  # fmt: skip
        return seen["contacts"]

    return detect, seen


def pushed(d: rd.Dynamics, q: np.ndarray, contacts: Contacts) -> np.ndarray:
    """Generalized impulse (nv,) of contacts: sum of J^T p."""
    total, X = np.zeros(d.nv), d.poses(q)
    sides = ((contacts.a, contacts.point_a, 1.0), (contacts.b, contacts.point_b, -1.0))
    for side, points, sign in sides:
        for body, point, p, m in zip(side, points, contacts.impulse, contacts.moment, strict=True):
            if 0 <= body < len(d.bodies):
                local = X[body, :3, :3].T @ (point - X[body, :3, 3])
                total += sign * d.jacobian(q, d.bodies[body], local).T @ np.concatenate([m, p])
    return total


SHORT = 1e-9  # s: positions stay where they are
