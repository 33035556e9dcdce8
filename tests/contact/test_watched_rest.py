"""By the rule that watches its energy, too, what stands stands still: stacks, sprung legs, motors, limits."""

import numpy as np
import pytest
from contact_scenes import energy, mirror, put

import recursive_dyn as rd
from scene import Body, Scene, joints, shapes

RULE, STILL = "linearly_implicit_rk4", 1e-4


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


@pytest.mark.parametrize("name", CASES)
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


class Pushing:
    """1 N m on the only coordinate, asked at stages or once a step."""

    def __init__(self, held):
        self.held = held

    def __call__(self, q, v, time):
        return np.array([1.0])


@pytest.mark.parametrize("law", ["motor", "stages", "held"])
@pytest.mark.parametrize("damping", [0.0, 0.05, 5.0, 500.0])
def test_a_joint_presses_on_its_stop_with_the_force_it_has(damping, law):
    """Whatever dampers it has: the stop gives back the 1 N m that drive it, and it stays there."""
    scene, h = Scene(), 1 / 60
    body = Body("arm", mass=1.0, inertia=np.eye(3) * 0.1)
    scene.world.attach(body, joints.revolute("z", limits=(-3.0, 0.3), damping=damping))
    sim = rd.Simulation(scene.compile(), h, integrator=RULE)
    sim.q = [0.3]
    if law == "motor":
        sim.motors["arm.angle"] = rd.Motor(velocity=1e3, kd=1e3, max_force=1.0)
    else:
        sim.control = Pushing(law == "held")
    sim.step(20)
    for _ in range(5):
        sim.step()
        assert sim.coordinate_impulses["high limit of arm.angle"] / h == pytest.approx(1.0, abs=1e-9)
    assert sim.q[0] == pytest.approx(0.3, abs=2e-5)
    if law != "motor":  # whose impulse and the stop's cancel to the last bit, or do not
        assert sim.report.steps_pressed == (24 if damping or law == "stages" else 0)  # all after the one that met it
