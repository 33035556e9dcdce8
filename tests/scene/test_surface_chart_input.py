"""Which joints of surfaces have charts by themselves, and what gives them one."""

import numpy as np
import pytest
from saved_scenes import assert_the_same_when_loaded

import recursive_dyn as rd
from recursive_dyn import control
from scene import Body, Scene, joints
from scene.joints import surfaces

BALL, EGG = surfaces.sphere(0.2), surfaces.ellipsoid(0.3, 0.2, 0.2, poles="x")


def rolling(joint, use=None):
    scene = Scene()
    stone = scene.world.attach(Body("stone", mass=1.0, inertia=np.diag([0.02, 0.03, 0.04])), joint)
    scene.roll(stone)
    if use:
        use(scene, stone)
    return scene


def on_plane(surface=EGG, **how):
    return joints.surface_on_surface(surfaces.plane(), surface, **{"spin": True, **how})


@pytest.mark.parametrize(
    ("joint", "count"),
    [
        (on_plane(), 2),
        (on_plane(BALL), 2),
        (joints.surface_on_surface(BALL, EGG, spin=True), 4),
        (on_plane(surfaces.torus(0.3, 0.1)), 0),
        (on_plane(charts=False), 0),
        (on_plane(spin=False), 0),
        (on_plane(damping=0.1, stiffness=2.0), 2),
        (on_plane(limits=joints.TurnLimits(swing=1.0)), 2),
        (on_plane(damping=0.1, armature=0.1), 0),
        (on_plane(friction=0.1), 0),
        (on_plane(armature=[1, 1, 0, 0, 0], friction=[1, 1, 0, 0, 0]), 2),
        (on_plane(limits=[(-1, 1)] * 2 + [(-np.inf, np.inf)] * 3), 2),
        (on_plane(effort=3.0), 0),
        (on_plane(damping=0.1, charts=False), 0),
        (on_plane().adjusted(limits=[(-1, 1)] * 5), 0),
        (on_plane() @ joints.fixed(), 0),
        (joints.charts(on_plane(), on_plane(surfaces.ellipsoid(0.3, 0.2, 0.2, poles="y"))), 2),
    ],
)
def test_spheres_and_ellipsoids_with_spin_have_two_charts_each(joint, count):
    assert len(joint.charts) == count


def test_a_joint_that_is_adjusted_to_what_it_is_stays_as_it_is():
    joint = on_plane()
    assert joint.adjusted() is joint and joint.adjusted(damping=0.1).contact is joint.contact


@pytest.mark.parametrize(
    "use",
    [
        lambda scene, stone: scene.constrain(stone.q[0] - 0.1, name="held"),
        lambda scene, stone: scene.constrain(stone.v[4], name="turned"),
        lambda scene, stone: scene.motor(stone.q[0], [(-1.0, 1.0), (1.0, -1.0)]),
    ],
    ids=["constraint", "rate", "force"],
)
def test_who_uses_coordinates_by_name_has_them_in_one_chart(use):
    scene = rolling(on_plane())
    body = scene["stone"]
    assert rd.Simulation(scene.compile()).charts == {"stone": 0}
    use(scene, body)
    d = scene.compile()
    plain = rolling(on_plane(charts=False), use).compile()
    assert rd.Simulation(d).charts == {}
    q, v = 0.3 * np.ones(5), 0.1 * np.ones(5)
    np.testing.assert_allclose(d.forward_dynamics(q, v), plain.forward_dynamics(q, v), atol=1e-12)


def test_who_leads_a_coordinate_is_told_that_its_meaning_changes():
    sim = rd.Simulation(rolling(on_plane()).compile())
    for lead in (
        lambda: sim.motors.__setitem__("stone.spin", rd.Motor(velocity=1.0)),
        lambda: sim.prescribe("stone.spin", lambda t: t),
        lambda: control.PD(sim.dynamics, sim.q),
    ):
        with pytest.raises((rd.StateError, rd.ModelError), match=r"chart.*charts=False"):
            lead()
    plain = rd.Simulation(rolling(on_plane(charts=False)).compile())
    plain.motors["stone.spin"] = rd.Motor(velocity=1.0)
    plain.step()


def test_bodies_of_their_own_have_the_same_charts():
    scene = rolling(on_plane())
    free = rd.Simulation(scene.compile(method="velocity_constraints"))
    assert free.q.shape == (7,)
    assert rd.Simulation(scene.compile()).charts == free.charts == {"stone": 0}


def test_a_batch_is_in_the_chart_in_force():
    d, rng = rolling(on_plane(surfaces.ellipsoid(0.3, 0.2, 0.1))).compile(), np.random.default_rng(2)
    q, v = rng.uniform(-1, 1, (2, 9, 5))
    for chart in (0, 1):
        d.parameters["stone.chart"] = chart
        batch = d.forward_dynamics(q, v)
        for row, a, b in zip(batch, q, v, strict=True):
            np.testing.assert_allclose(row, d.forward_dynamics(a, b), rtol=1e-12, atol=1e-11)


def test_sizes_may_be_parameters_that_change_while_it_rolls():
    scene = Scene()
    size = scene.parameter("size", 0.2)
    egg = surfaces.ellipsoid(0.3, size, 2 * size)
    scene.world.attach(Body("stone", mass=1.0, inertia=np.diag([0.02, 0.03, 0.04])), on_plane(egg))
    sim = rd.Simulation(scene.compile())
    sim.q[:], sim.v[:] = 0.4, 1.0
    for value in (0.2, 0.15):
        sim.parameters["size"] = value
        pose, twist = sim.dynamics.poses(sim.q), sim.dynamics.velocities(sim.q, sim.v)
        sim.rechart("stone", 1 - sim.charts["stone"])
        np.testing.assert_allclose(sim.dynamics.poses(sim.q), pose, atol=1e-14)
        np.testing.assert_allclose(sim.dynamics.velocities(sim.q, sim.v), twist, atol=1e-13)


@pytest.mark.slow
def test_scenes_of_them_come_back_from_their_files(tmp_path):
    scene = Scene()
    node = scene.world
    for i, joint in enumerate((on_plane(), on_plane(damping=0.1), on_plane(charts=False), on_plane() @ joints.fixed())):
        node = node.attach(Body(f"b{i}", mass=1.0, inertia=np.eye(3)), joint)
        if i < 3:
            scene.roll(node)
    assert_the_same_when_loaded(scene, tmp_path)
