"""What force elements pull on a body, its joint transmits: to sensors, and until it breaks."""

import numpy as np
import pytest

import recursive_dyn as rd
from scene import Body, Scene, joints, shapes

PULL = 150.0  # N


def pulled(joint: joints.Joint, method: str = "auto") -> Scene:
    """A ball on a ball on a hinge at one place, pulled up by a spring that does not give way."""
    scene = Scene(gravity=(0, 0, 0))
    lower = scene.world.attach(Body("lower", [shapes.Sphere(0.1)], mass=1.0), joints.revolute("x"), rd.pose((0, 0, 1)))
    upper = lower.attach(Body("upper", [shapes.Sphere(0.1)], mass=1.0), joint)
    scene.spring(upper, scene.world, PULL, point_b=(0, 0, 2))
    return scene


@pytest.mark.parametrize("method", ["auto", "velocity_constraints"])
@pytest.mark.parametrize("joint", [joints.fixed, lambda: joints.revolute("y")], ids=["fixed", "hinge"])
def test_a_sensor_feels_what_holds_a_body_against_a_spring(joint, method):
    simulation = rd.Simulation(pulled(joint()).compile(method), 1 / 240)
    simulation.sensors.force("force", "upper")
    simulation.sensors.force("foot", "lower")
    simulation.step(3)
    np.testing.assert_allclose(simulation.sensors["force"], [0, 0, 0, 0, 0, -PULL], atol=1e-9)
    np.testing.assert_allclose(simulation.sensors["foot"], [0, 0, 0, 0, 0, -PULL], atol=1e-9)


@pytest.mark.parametrize("method", ["auto", "velocity_constraints"])
@pytest.mark.parametrize("strength", [0.99 * PULL, 1.01 * PULL])
def test_a_joint_breaks_by_the_pull_of_a_spring(strength, method):
    scene = pulled(joints.revolute("y"))
    scene["upper"].breaks_at(force=strength)
    simulation = rd.Simulation(scene.compile(method), 1 / 240)
    simulation.step(2)
    assert [broken.body for broken in simulation.broken] == (["upper"] if strength < PULL else [])
    if simulation.broken:
        assert simulation.broken[0].force == pytest.approx(PULL, rel=1e-9)


def test_wrenches_of_elements_are_their_generalized_forces():
    scene = pulled(joints.ball())
    lower, upper = scene.bodies
    scene.bushing(lower, upper, 20.0, 3.0, 1.0, 0.1, point_a=(0.1, 0, 0))
    scene.drag(upper, 0.2, point=(0, 0.1, 0), wind=(1, 2, 3))
    scene.muscle([(scene.world, (0, 1, 0)), (lower, (0, 0.1, 0)), (upper, (0.1, 0, 0))], 20.0, 1.0, 0.5)
    d, rng = scene.compile(), np.random.default_rng(4)
    q, v = np.array([d.random(rng) for _ in range(5)]), rng.normal(size=(5, d.nv))
    wrenches = d.element_wrenches(q, v)
    assert wrenches.shape == (5, 2, 6)
    np.testing.assert_allclose(
        d.call("external_forces", q, wrenches.reshape(5, -1)), d.passive_forces(q, v), atol=1e-10
    )
    scene.forces.clear()
    assert not scene.compile().element_wrenches(q, v).any()
