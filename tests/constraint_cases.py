"""Random trees with random constraints, all of which hold at a known configuration."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import sympy as sp
from trees import GRAVITY, random_body, random_scene

import recursive_dyn as rd
from scene import Body, Scene, joints


@dataclass(frozen=True, eq=False)
class Bound:
    """A tree under constraints, and a configuration (nq,) in which they hold."""

    scene: Scene
    home: np.ndarray
    methods: dict

    def dynamics(self, method: str = "recursive") -> rd.Dynamics:
        if method not in self.methods:
            self.methods[method] = self.scene.compile(method)
        return self.methods[method]

    def states(self, count: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """q (count, nq) near home but off the constraints, v and tau (count, nv): random."""
        rng, d = np.random.default_rng(seed), self.dynamics()
        q = d.integrate(self.home, rng.normal(size=(count, d.nv)) * 0.3, np.ones(count))
        return q, rng.normal(size=(count, d.nv)), rng.normal(size=(count, d.nv))


@cache
def bound(seed: int, bodies: int, kinds: tuple[str, ...] | None = None, velocities: bool = True) -> Bound:
    """One constraint of every sort on a random tree, between ``velocities`` too; their sizes are what they are in a
    random configuration."""
    found = random_scene(seed, bodies, kinds, root="free")
    scene, rng = found.scene, np.random.default_rng(seed + 1000)
    free = found.dynamics()
    home = found.states(1, seed)[0][0]
    X = dict(zip(free.bodies, free.poses(home), strict=True))
    names = {"q": dict(zip(free.coordinates, home, strict=True))}

    def place(body: Body, p: np.ndarray) -> np.ndarray:
        return X[body.name][:3, :3] @ p + X[body.name][:3, 3]

    def pick() -> tuple[Body, np.ndarray]:
        return scene.bodies[int(rng.integers(bodies))], rng.uniform(-0.3, 0.3, 3)

    a, pa = scene.bodies[-1], rng.uniform(-0.3, 0.3, 3)
    b, pb = scene.bodies[0], rng.uniform(-0.3, 0.3, 3)
    length = scene.parameter("length", float(np.linalg.norm(place(a, pa) - place(b, pb))))
    gap = a.point(pa) - b.point(pb)
    scene.constrain(sp.sqrt(gap.dot(gap)) - length, name="rod")

    body, p = pick()
    normal = rng.normal(size=3)
    height = float(normal @ place(body, p))
    scene.constrain(body.point(p).dot(sp.Matrix(normal)) - height, name="plane")

    leaf, p = scene.bodies[-2], rng.uniform(-0.3, 0.3, 3)
    scene.constrain(leaf.point(p) - sp.Matrix(place(leaf, p)), name="pin", redundant="drop")

    skate, p = pick()
    direction = rng.normal(size=3)
    if velocities:
        scene.constrain(skate.point_velocity(p).dot(skate.direction(direction)), name="blade")

    plain = [s for body in scene.bodies for s in body.q if s.name in names["q"]]
    x, y = (plain[int(i)] for i in rng.choice(len(plain), 2, replace=False))
    value = {s: names["q"][s.name] for s in (x, y)}
    both = sp.sin(x) + x * y / 3 + y
    scene.constrain(both - float(both.subs(value)), name="cam")
    if not velocities:
        return Bound(scene, home, {})
    scene.constrain(
        scene.bodies[1].spin[2] * sp.cos(x) - scene.bodies[0].velocity[0], name="gear of rates", redundant="drop"
    )
    return Bound(scene, home, {})


@cache
def driven(velocities: bool = True) -> Bound:
    """Constraints on bodies that share a coordinate, on bodies fixed to them and on one fixed in the world; between
    ``velocities`` too."""
    scene, rng = Scene(gravity=GRAVITY), np.random.default_rng(9)
    theta = scene.coordinate("theta", armature=0.2)
    a = scene.world.attach(random_body(rng, "a"), joints.revolute("y").driven(theta + sp.sin(theta) / 3))
    b = a.attach(random_body(rng, "b"), joints.revolute("z").driven(theta**2 / 3), at=rd.pose((1, 0, 0)))
    c = b.attach(random_body(rng, "c"), joints.ball(), at=rd.pose((1, 0, 0)))
    cart = scene.world.attach(random_body(rng, "cart"), joints.prismatic("x"))
    load = cart.attach(random_body(rng, "load"), joints.fixed(), at=rd.pose((0.1, 0.2, 0.3), (0.3, 0.4, 0.5)))
    post = scene.world.attach(random_body(rng, "post"), joints.fixed(), at=rd.pose((0.5, 0.2, 0.3), (1, 2, 3)))
    gap = c.point((0.3, 0.4, 0)) - post.point((0.1, 0, 0))
    scene.constrain(gap.dot(gap) - 3, name="rod")
    scene.constrain(load.point((0.1, 0.2, 0.3))[0] - sp.cos(theta) * b.point((0.2, 0, 0))[1], name="cam")
    if velocities:
        scene.constrain(c.point_velocity((0.1, 0, 0)).dot(load.direction((1, 0, 0.4))), name="blade")
    return Bound(scene, scene.compile().neutral(), {})
