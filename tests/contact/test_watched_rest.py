"""By the rule that watches its energy, too, what stands stands still: stacks, sprung legs, motors, limits."""

import numpy as np
import pytest
from contact_scenes import energy, mirror, put

import recursive_dyn as rd
from scene import Body, Scene, joints, shapes

RULE, STILL = "linearly_implicit_rk4", 1e-4
UNDAMPED = pytest.mark.xfail(strict=True, reason="0.27 rad/s is told of knees whose stiff springs no damper has")


def stack():
    scene = Scene()
    for i in range(4):
        put(scene, f"box{i}", shapes.Box((0.2, 0.2, 0.2)), rd.pose((0.01 * i, 0, 0.11 + 0.205 * i)), mass=1.0)
    return scene


def legs(stiffness, damping):
    """A trunk on four legs of two links, which springs hold."""
    scene = Scene()
    trunk = put(scene, "trunk", shapes.Box((0.3, 0.3, 0.1)), rd.pose((0, 0, 0.75)), mass=5.0)
    for x in (-0.12, 0.12):
        for y in (-0.12, 0.12):
            node, at = trunk, rd.pose((x, y, -0.05))
            for part, mass in (("thigh", 0.3), ("shin", 0.2)):
                body = Body(f"{part}{x}{y}", [shapes.Capsule(0.02, 0.2, at=rd.pose((0, 0, -0.15)))], mass=mass)
                node = node.attach(body, joints.revolute("y", stiffness=stiffness, damping=damping), at=at)
                at = rd.pose((0, 0, -0.3))
    return scene


def arm(limit):
    """An arm that lies on a stop, or is held up."""
    scene = Scene()
    body = Body("arm", [shapes.Box((0.4, 0.05, 0.05), at=rd.pose((0.2, 0, 0)))], mass=1.0)
    scene.world.attach(body, joints.revolute("y", limits=(-3.0, 0.3) if limit else None), at=rd.pose((0, 0, 1)))
    return scene


CASES = {
    "stack": stack,
    "legs of 1e3": lambda: legs(1e3, 20.0),
    "legs of 1e5": lambda: legs(1e5, 100.0),
    "legs of 1e4, undamped": lambda: legs(1e4, 0.0),
    "limit": lambda: arm(True),
    "motor": lambda: arm(False),
}


@pytest.mark.parametrize("name", [pytest.param(n, marks=UNDAMPED if "undamped" in n else ()) for n in CASES])
def test_it_comes_to_rest(name):
    with mirror(CASES[name](), 1 / 240, RULE) as shown:
        sim = shown.sim
        if name == "motor":
            sim.motors["arm.angle"] = rd.Motor(position=0.2, kp=1e5, kd=10.0, max_force=np.inf)
        first = energy(sim)
        for _ in range(8):
            shown.step(240)
            assert energy(sim) < first + 1e-9 or name == "motor"
        fastest = []
        for _ in range(20):
            shown.step()
            fastest.append(np.abs(sim.v).max())
        assert sim.report.unexplained_energy == 0.0
        assert max(fastest) < STILL
