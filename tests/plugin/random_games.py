"""Games of random acts: trees of any joints and shapes, cut, hung anew, pushed, held, broken and put elsewhere."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import recursive_dyn as rd
from bridge import Plugin
from recursive_dyn.simulation.handling.grab import Grab
from scene import Body, Scene, joints, shapes
from scene.body import Node
from scene.joints.parametric_joint import Joint
from scene.shapes import Shape

SHAPES: tuple[Callable[[], Shape], ...] = (
    lambda: shapes.Sphere(0.1),
    lambda: shapes.Box((0.2, 0.15, 0.25)),
    lambda: shapes.Capsule(0.07, 0.2),
    lambda: shapes.Cylinder(0.1, 0.2),
    lambda: shapes.Ellipsoid((0.1, 0.15, 0.08)),
)
JOINTS: tuple[Callable[..., Joint], ...] = (
    lambda **own: joints.revolute("x", **own),
    lambda **own: joints.revolute("y", limits=(-0.5, 0.7), **own),
    lambda **own: joints.ball(**own),
    lambda **own: joints.universal("x", "y", **own),
    lambda **own: joints.prismatic("z", limits=(-0.2, 0.3), **own),
    lambda **own: joints.fixed(),
)


class RandomGame:
    """A game whose scene and acts follow from a seed."""

    def __init__(self, seed: int, method: str) -> None:
        self.rng, self.made = np.random.default_rng(seed), 0
        self.scene = Scene()
        self.scene.world.shapes.append(shapes.Plane())
        for _ in range(self.rng.integers(2, 4)):
            self._grow_in_the_world()
        timestep = float(self.rng.choice([1 / 240, 1 / 60]))
        self.game = Plugin(self.scene, timestep, collisions="bullet", method=method)
        if self.rng.random() < 0.5:
            self.game.simulation.contact.sleep_after = 0.3
        self.hands: list[Grab] = []
        self.acts = (
            self._cut, self._swap, self._grow_in_the_world, self._grow_on, self._detach, self._push, self._grab,
            self._release, self._weaken, self._go_back, self._place,
        )  # fmt: skip

    def act(self) -> None:
        """One act, or a refusal by name that changes nothing, and some steps. All is finite and no body is lost."""
        try:
            self.acts[self.rng.integers(len(self.acts))]()
        except rd.ModelError as refusal:
            assert "'" in str(refusal)
        except rd.StateError as refusal:
            assert "does not come to the pose" in str(refusal)  # of _place
        self.game.update()
        self.game.step(int(self.rng.integers(1, 20)))
        sim = self.game.simulation
        assert np.isfinite(sim.q).all() and np.abs(sim.v).max(initial=0.0) < 300.0
        assert sim.report.unexplained_energy < 1.0

    def _any(self) -> str:
        return str(self.rng.choice([body.name for body in self.scene.bodies]))

    def _joint(self) -> Joint:
        return JOINTS[self.rng.integers(len(JOINTS))](**({"damping": 0.05} if self.rng.random() < 0.5 else {}))

    def _grow(self, node: Node, joint: Joint, at: np.ndarray, depth: int) -> None:
        body = Body(
            f"body {self.made}", [SHAPES[self.rng.integers(len(SHAPES))]()], density=self.rng.choice([200, 900])
        )
        self.made += 1
        node.attach(body, joint, at)
        for _ in range(self.rng.integers(0, 3) if depth < 2 else 0):
            self._grow(body, self._joint(), rd.pose(self.rng.uniform(-0.35, 0.35, 3)), depth + 1)

    def _grow_in_the_world(self) -> None:
        joint = joints.free() if self.rng.random() < 0.8 else self._joint()
        self._grow(self.scene.world, joint, rd.pose((*self.rng.uniform(-2, 2, 2), self.rng.uniform(0.5, 2.5))), 0)

    def _grow_on(self) -> None:
        self._grow(self.scene[self._any()], self._joint(), rd.pose(self.rng.uniform(-0.35, 0.35, 3)), 1)

    def _cut(self) -> None:
        self.scene.cut(self._any())

    def _swap(self) -> None:
        self.scene.swap(self._any(), self._joint())

    def _detach(self) -> None:
        if len(self.scene.bodies) > 2:
            self.scene[self._any()].detach()

    def _push(self) -> None:
        self.game.simulation.apply_force(self._any(), 20.0 * self.rng.normal(size=3))

    def _grab(self) -> None:
        self.hands.append(self.game.simulation.grab(self._any()))
        self.hands[-1].move(self.rng.uniform(-1, 2, 3))

    def _release(self) -> None:
        while self.hands:
            self.hands.pop().release()

    def _weaken(self) -> None:
        self.scene[self._any()].breaks_at(force=float(self.rng.choice([20.0, 1000.0])))

    def _go_back(self) -> None:
        """What follows a state follows it again, to the bit."""
        self._release()
        state, hung = self.game.snapshot(), [body.joint for body in self.scene.bodies]
        self.game.step(3)
        if hung == [body.joint for body in self.scene.bodies]:  # nothing broke
            end = self.game.simulation.snapshot_bytes()
            self.game.restore(state)
            self.game.step(3)
            assert self.game.simulation.snapshot_bytes() == end

    def _place(self) -> None:
        self.game.simulation.place(self._any(), rd.pose(self.rng.uniform(-1, 2, 3)))
