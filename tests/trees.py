"""Seeded random mechanisms of every joint type, their states, and what the laws compare them with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from joint_case import Case
from joint_cases import KINDS, MOVING
from transforms import random_pose

import recursive_dyn as rd
from scene import Body, Scene, joints

GRAVITY = (0.7, -1.1, -9.6)  # along no axis


def random_body(rng: np.random.Generator, name: str, **given) -> Body:
    """A body with an off-centre mass and an inertia that some mass distribution has."""
    mass = rng.uniform(0.5, 2.0)
    axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    second = axes @ np.diag(rng.uniform(0.02, 0.2, 3)) @ axes.T  # sum of m r r^T / m, positive definite
    inertia = mass * (np.trace(second) * np.eye(3) - second)
    return Body(name, **{"mass": mass, "center_of_mass": rng.uniform(-0.3, 0.3, 3), "inertia": inertia, **given})


@dataclass(frozen=True, eq=False)
class Mechanism:
    """A scene, its bodies' cases in order of attachment, and compiled dynamics by method."""

    scene: Scene
    cases: tuple[Case, ...]
    compiled: dict

    def dynamics(self, method: str = "auto") -> rd.Dynamics:
        if method not in self.compiled:
            self.compiled[method] = self.scene.compile(method)
        return self.compiled[method]

    @property
    def coupled(self) -> bool:
        return any(body.joint.coupling for body in self.scene.bodies)

    def states(self, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Random q (count, nq) in the joints' domains, v (count, nv) of order 1."""
        rng = np.random.default_rng(seed)
        pairs = zip(self.cases, self.scene.bodies, strict=True)
        q = [case.sample(rng, count) for case, body in pairs if body.joint.coupling is None]
        nv = self.dynamics().nv
        return np.hstack(q), rng.normal(size=(count, nv))

    def poses(self, q: np.ndarray) -> np.ndarray:
        """World poses (nb, 4, 4) of one configuration by multiplying the transforms as they are written."""
        result: dict = {}
        values: dict = {}
        rest = list(q)
        for case, body in zip(self.cases, self.scene.bodies, strict=True):
            coupling = body.joint.coupling
            if coupling is None:
                own = [rest.pop(0) for _ in case.symbols]
            else:
                own = [coupling.multiplier * values[coupling.leader][0] + coupling.offset]
            values[body.name] = own
            base = result.get(body.parent.name, np.eye(4))
            result[body.name] = base @ np.asarray(body.placement, dtype=float) @ case.pose(own)
        return np.array(list(result.values()))


def random_scene(
    seed: int,
    bodies: int,
    kinds: Sequence[str] | None = None,
    gravity: Sequence[float] = GRAVITY,
    couplings: bool = False,
    root: str | None = None,
    untie: bool = False,
    springs: bool = False,
    charts: bool = True,
) -> Mechanism:
    """A tree of ``bodies`` bodies on random joints: chains with branches, some on a second root, some with rotors.

    kinds: joint types to draw from (all). root: joint type of the first body, which then carries every other.
    couplings: half of the joints of one coordinate follow an earlier one (``untie``: the same tree without them).
    springs: joints that can have them have springs and dampers. charts: False for joints of one chart only, whose
    coordinates can be led.
    """
    rng = np.random.default_rng(seed)
    scene = Scene(gravity=gravity)
    nodes, cases, leaders = [scene.world], [], []
    for i in range(bodies):
        moving_yet = any(case.nq for case in cases)
        name = str(rng.choice(list(kinds or (KINDS if moving_yet else MOVING))))
        if i == 0 and root:
            name = root
        settings = (
            {} if name in ("fixed", "free", "ball") or rng.random() < 0.7 else {"armature": rng.uniform(0.1, 0.4)}
        )
        if springs and name not in ("fixed", "free", "ball"):
            settings |= {"stiffness": rng.uniform(1.0, 9.0), "rest": rng.normal(), "damping": rng.uniform(0.1, 2.0)}
        if not charts and name == "spinning_contact":
            settings |= {"charts": False}
        case = KINDS[name](rng, settings)
        joint = case.joint
        if couplings and case.nv == 1 and leaders and rng.random() < 0.5:
            tied = joint.follow(str(rng.choice(leaders)), float(rng.choice([-1.0, 0.5, 0.7])), 0.1)
            joint = joint if untie else tied
        elif case.nv == 1:
            leaders.append(f"b{i}")
        # half of the time the newest body, so that there are long chains as well as branches
        oldest = 1 if root and i else 0
        parent = nodes[-1] if rng.random() < 0.5 else nodes[int(rng.integers(oldest, len(nodes)))]
        nodes.append(parent.attach(random_body(rng, f"b{i}"), joint, at=random_pose(rng)))
        cases.append(case)
    return Mechanism(scene, tuple(cases), {})


@cache
def mechanism(seed: int, bodies: int, **options) -> Mechanism:
    """``random_scene``, shared by the tests of one process."""
    return random_scene(seed, bodies, **options)


@cache
def single(name: str) -> Mechanism:
    """One joint type between two hinges, so that it is neither first nor last in the tree."""
    rng = np.random.default_rng(list(KINDS).index(name))
    scene = Scene(gravity=GRAVITY)
    cases = [KINDS["revolute"](rng, {}), KINDS[name](rng, {}), KINDS["revolute"](rng, {})]
    node = scene.world
    for i, case in enumerate(cases):
        node = node.attach(random_body(rng, f"b{i}"), case.joint, at=random_pose(rng))
    return Mechanism(scene, tuple(cases), {})


TREES = {f"tree of {n}": (n, n) for n in (1, 2, 3, 5, 8, 13, 20, 40)}  # name: seed, bodies
ALL = [*KINDS, *TREES]
_VARIED = {
    "fixed", "prismatic", "screw", "euler", "ball", "free", "helix", "ellipsoid_on_ellipsoid", "gibbs_six", "telescope",
    "tree of 3", "tree of 8",
}  # fmt: skip
# A few by default, for what is the same of any joint; all of them among the slow tests.
SAMPLED = [name if name in _VARIED else pytest.param(name, marks=pytest.mark.slow) for name in ALL]
SAMPLED_KINDS = SAMPLED[: len(KINDS)]


def named(name: str) -> Mechanism:
    """The mechanism of that name in ``ALL``: one joint type between hinges, or a random tree."""
    return single(name) if name in KINDS else mechanism(*TREES[name])


def curve(dynamics: rd.Dynamics, q: np.ndarray, v: np.ndarray, a: np.ndarray, t: np.ndarray):
    """(q(t), v(t)) on a motion with velocity v and acceleration a at t = 0; times t (n,) become the first axis.

    Exact to first order in q-dot and v-dot at t = 0, on manifolds too: exp(v t + a t^2 / 2) has rate v + a t + O(t^2).
    """
    shape = (len(t), *np.broadcast_shapes(np.shape(q)[:-1], np.shape(v)[:-1]))
    steps = t.reshape(-1, *[1] * (len(shape)))
    velocity = np.broadcast_to(v + steps * a, (*shape, dynamics.nv))
    middle = np.broadcast_to(v + steps * a / 2, velocity.shape)
    return dynamics.integrate(q, middle, np.broadcast_to(steps[..., 0], shape)), velocity


_WEIGHTS = np.array([4 / 5, -1 / 5, 4 / 105, -1 / 280])
_REACH = np.array([1.0, 2.0, 3.0, 4.0])


def derivative(f: Callable[[np.ndarray], np.ndarray], h: float = 1.5e-3) -> np.ndarray:
    """df/dt at 0 of a function of times (n,) -> (n, ...), by central differences of eighth order.

    The truncation error is about h^8 f^(9) / 630 = 4e-26 f^(9); rounding of f adds about 1e-16 f / h = 1e-13 f. Motions
    here have rates up to about 30 per second, so that both stay under 1e-11 of the size of f.
    """
    times = np.concatenate([_REACH, -_REACH]) * h
    values = f(times)
    ahead, behind = values[:4], values[4:]
    return np.einsum("n,n...->...", _WEIGHTS / h, ahead - behind)


def assert_close(actual, expected, tolerance: float, scale=None) -> None:
    """|actual - expected| <= tolerance times the largest size of either, or times ``scale``."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape
    assert np.isfinite(actual).all()
    size = max(np.abs(actual).max(initial=0.0), np.abs(expected).max(initial=0.0)) if scale is None else scale
    error = np.abs(actual - expected).max(initial=0.0)
    assert error <= tolerance * size, f"error {error:.3g} of {size:.3g} is {error / size:.3g}, allowed {tolerance:.3g}"


def chain_of_hinges(seed: int, root: joints.Joint, count: int) -> rd.Dynamics:
    """Random bodies on so many hinges behind one another, without gravity."""
    scene, rng = Scene(gravity=(0, 0, 0)), np.random.default_rng(seed)
    parent = scene.world.attach(random_body(rng, "base"), root)
    for k in range(count):
        parent = parent.attach(random_body(rng, f"b{k}"), joints.revolute(rng.normal(size=3)), at=rd.pose((0.3, 0, 0)))
    return scene.compile()
