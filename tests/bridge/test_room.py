"""Memory of a step that is given to it with whatever was there: nothing of that is read."""

import numpy as np
import pytest

import recursive_dyn as rd
from bridge import PyBulletMirror
from recursive_dyn.codegen.kernel import Kernel
from scene import Body, Scene, joints, shapes

FILLING = {"f": np.nan, "i": 99, "b": True}  # by the kind of number; whole ones may be larger than what they count


def motion() -> np.ndarray:
    """Of an arm that a motor leads against a limit, with dry friction, and of balls and boxes that come and go."""
    scene = Scene()
    arm = Body("arm", [shapes.Box((0.1, 0.1, 1.0))], mass=1.0)
    hinge = joints.revolute("y", limits=(-0.3, 0.3), friction=0.1)
    scene.world.attach(arm, hinge, at=rd.pose((0, 0, 2.0)))
    sim = rd.Simulation(scene.compile(), 1 / 240)
    sim.motors["arm.angle"] = rd.Motor(position=1.0, kp=50.0, kd=2.0)
    states = list[np.ndarray]()
    with PyBulletMirror(scene, sim, gui=False) as mirror:
        for k, shape in enumerate((shapes.Sphere(0.1), shapes.Box((0.2,) * 3), shapes.Capsule(0.1, 0.2))):
            body = Body(f"b{k}", [shape], mass=1.0)
            scene.world.attach(body, joints.free(), at=rd.pose((2.0 + 0.15 * k, 0, 0.15 + 0.25 * k)))
            mirror.update()
            mirror.step(30)
            states += [sim.q.copy(), sim.v.copy()]
        scene["b0"].detach()
        mirror.update()
        mirror.step(30)
        return np.concatenate([*states, sim.q, sim.v])


def test_nothing_is_read_of_what_was_in_memory(monkeypatch: pytest.MonkeyPatch):
    expected, empty, memory = motion(), np.empty, Kernel.memory

    def filled(*given, **named) -> np.ndarray:
        result = empty(*given, **named)
        if result.dtype.kind in FILLING:
            result[...] = FILLING[result.dtype.kind]
        return result

    def outputs_filled(kernel: Kernel) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        given, made, scratch = memory(kernel)
        made[: kernel.output_size * kernel.width] = np.nan  # what is left of the last register stays 0
        return given, made, scratch

    monkeypatch.setattr(np, "empty", filled)
    monkeypatch.setattr(Kernel, "memory", outputs_filled)
    np.testing.assert_array_equal(motion(), expected)
