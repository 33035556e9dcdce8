"""Forests of random trees, several of each kind, whose bodies are attached in a random order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from joint_cases import KINDS, MOVING
from transforms import random_pose
from trees import GRAVITY, random_body

import recursive_dyn as rd
from scene import Body, Scene, joints, shapes


@dataclass(frozen=True, eq=False)
class Grove:
    """A scene of many trees and what samples each of its moving bodies' own coordinates, in order of attachment."""

    scene: Scene
    cases: tuple

    def states(self, dynamics: rd.Dynamics, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Random q (count, nq) in the joints' domains, v (count, nv) of order 1."""
        rng = np.random.default_rng(seed)
        q = [case.sample(rng, count) for case in self.cases]
        return np.hstack(q), rng.normal(size=(count, dynamics.nv))


def _plan(seed: int, bodies: int, kinds: tuple[str, ...], scale, numbers: np.random.Generator | None) -> list:
    """(parent's number, -1 for the world; case; what the body is; place; leader) of each body of a tree, parents first.

    numbers: what masses and the place in the world are drawn from, if not from the same seed.
    """
    rng = np.random.default_rng(seed)
    plan: list = []
    tied = False
    for i in range(bodies):
        name = str(rng.choice(kinds if i else [k for k in kinds if k != "fixed"]))
        springs = name not in ("fixed", "free", "ball") and rng.random() < 0.5
        settings = {"stiffness": rng.uniform(1.0, 9.0), "damping": rng.uniform(0.1, 2.0)} if springs else {}
        case = KINDS[name](rng, settings)
        given, place = random_body(rng, "x"), random_pose(rng)
        if numbers is not None:
            given, place = random_body(numbers, "x"), place if i else random_pose(numbers)
        mass = scale * given.mass if i == 0 and numbers is None else given.mass
        body = {"mass": mass, "center_of_mass": given.center_of_mass, "inertia": given.inertia}
        parent = int(rng.integers(0, i)) if i else -1
        leaders = [k for k, other in enumerate(plan) if other[1].nv == 1 and other[4] is None]
        leader = int(rng.choice(leaders)) if case.nv == 1 and leaders and not tied and rng.random() < 0.5 else None
        tied = tied or leader is not None
        plan.append((parent, case, body, place, leader))
    return plan


def grove(
    seed: int,
    trees: int = 2,
    bodies: int = 3,
    copies: int = 3,
    kinds: tuple[str, ...] = MOVING,
    scenery: int = 0,
    tied: bool = False,
    varied: bool = False,
) -> Grove:
    """``copies`` of each of some random trees; a parameter scales masses.

    scenery: bodies that do not move; tied: two more trees that share a coordinate; varied: each tree has masses, which
    no parameter scales, and a place of its own.
    """
    rng = np.random.default_rng(seed)
    scene = Scene(gravity=GRAVITY)
    scale = scene.parameter("scale", 1.3)
    waiting = []
    for t in range(trees):
        tree, size = int(rng.integers(1 << 30)), int(rng.integers(1, bodies + 1))
        numbers = rng if varied else None
        waiting += [(f"t{t}c{c}", iter(_plan(tree, size, kinds, scale, numbers)), []) for c in range(copies)]
    cases = []
    for k in range(scenery):
        box = Body(f"scenery {k}", shapes=[shapes.Box((1, 1, 0.1))])
        scene.world.attach(box, joints.fixed(), at=random_pose(rng))
    while waiting:
        at = int(rng.integers(len(waiting)))
        name, plan, nodes = waiting[at]
        step = next(plan, None)
        if step is None:
            del waiting[at]
            continue
        parent, case, body, place, leader = step
        joint = case.joint if leader is None else case.joint.follow(f"{name}b{leader}", 0.7, 0.1)
        host = scene.world if parent < 0 else nodes[parent]
        nodes.append(host.attach(Body(f"{name}b{len(nodes)}", **body), joint, at=place))
        cases += [case] if leader is None else []
    if tied:
        shared = scene.coordinate("shared", damping=0.3)
        for k in range(2):
            body = random_body(rng, f"tied {k}")
            scene.world.attach(body, joints.revolute("x").driven(shared * (k + 1)), at=random_pose(rng))
        cases.append(_Angle())
    return Grove(scene, tuple(cases))


class _Angle:
    """Samples one angle."""

    def sample(self, rng: np.random.Generator, count: int) -> np.ndarray:
        return rng.uniform(-1.0, 1.0, (count, 1))
