"""Joints and constraints between free bodies break: loads in closed form and as in joint coordinates, what goes on."""

import time

import numpy as np
import pytest

import recursive_dyn as rd
from bridge import PyBulletMirror
from recursive_dyn.codegen.evaluator import Evaluator
from recursive_dyn.simulation.loads.breaking import prepare_breaks
from scene import Body, Scene, joints, shapes

H, G = 1 / 240, 9.81
METHODS = "velocity_constraints", "penalty"
INTEGRATOR = {"velocity_constraints": None, "penalty": "implicit_euler"}


def running(scene: Scene, method: str, timestep: float = H, **settings) -> rd.Simulation:
    return rd.Simulation(scene.compile(method, **settings), timestep, INTEGRATOR[method])


def rope(count: int, strength: float = np.inf) -> Scene:
    """Rods on ball joints below each other, of 1 kg each."""
    scene, node = Scene(), None
    for k in range(count):
        rod = Body(f"rod{k}", [shapes.Capsule(0.02, 0.2)], mass=1.0, inertia=np.eye(3) * 0.01,
                   center_of_mass=(0, 0, -0.2))  # fmt: skip
        node = (node or scene.world).attach(rod, joints.ball(), rd.pose((0, 0, -0.4)) if k else None)
        if strength < np.inf:
            rod.breaks_at(force=strength)
    return scene


@pytest.mark.parametrize("joint", [joints.ball, lambda: joints.revolute("y"), joints.fixed])
@pytest.mark.parametrize("share", [1 - 1e-9, 1 + 1e-9])
def test_a_joint_holds_the_weight_that_hangs_on_it_and_no_more(joint, share):
    scene = Scene()
    carrier = scene.world.attach(Body("carrier", mass=1.0, inertia=np.eye(3)), joints.revolute("x"))
    load = Body("load", mass=3.0, inertia=np.eye(3), center_of_mass=(0, 0, -0.2))
    carrier.attach(load, joint(), rd.pose((0, 0, -0.5))).breaks_at(force=3.0 * G * share)
    sim = running(scene, "velocity_constraints")
    sim.step(3)
    assert len(sim.broken) == (share < 1.0)
    if sim.broken:
        (broken,) = sim.broken
        assert broken.body == "load" and broken.parent == "carrier" and broken.point == pytest.approx((0, 0, -0.5))
        assert broken.force == pytest.approx(3.0 * G, rel=1e-12) and scene["load"].parent is scene.world


def test_springs_that_stretch_come_to_bear_the_weight():
    scene = rope(3, 1e6)
    sim = running(scene, "penalty", damping=100.0)
    sim.step(480)
    loads = sim._timesteps.loads.means[:, 3:]
    np.testing.assert_allclose(loads, [[0, 0, 3 * G], [0, 0, 2 * G], [0, 0, G]], atol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_a_rope_under_a_growing_load_breaks_at_its_top(method):
    scene = rope(4, 100.0)
    sim, load = running(scene, method), 0.0
    while not sim.broken:
        load += 0.05
        sim.apply_force("rod3", (0, 0, -load), (0, 0, -0.4))
        sim.step()
    assert [broken.body for broken in sim.broken] == ["rod0"]
    assert load == pytest.approx(100.0 - 4 * G, abs=0.3 if method == "penalty" else 0.06)


def test_loads_in_motion_are_those_of_joint_coordinates():
    """In a rope that swings, after the first steps, over which impulses meet the rates that were set."""
    scene = rope(3, 1e6)
    free = running(scene, "velocity_constraints", 1e-4)
    reduced = rd.Simulation(scene.compile(), 1e-4)
    reduced.v = np.random.default_rng(1).normal(size=9)
    free.q, free.v = free.dynamics.from_reduced(reduced.q, reduced.v)
    free.step(200), reduced.step(200)
    expected = reduced._timesteps.loads.means[:, 3:]
    np.testing.assert_allclose(free._timesteps.loads.means[:, 3:], expected, atol=2e-3 * np.abs(expected).max())


@pytest.mark.parametrize("method", METHODS)
def test_both_halves_go_on_with_the_momentum_they_had(method):
    """What runs is held by the same springs as before, and goes on as if the scene had been cut so from the start."""
    scene = rope(4)
    scene["rod2"].breaks_at(force=30.0)
    settings = {"stiffness": 5e3, "damping": 60.0} if method == "penalty" else {"stabilization": 0.5}
    sim = running(scene, method, **settings)
    sim.q, sim.v = sim.dynamics.from_reduced(
        sim.dynamics.reduced.neutral(), np.random.default_rng(3).normal(size=sim.dynamics.reduced.nv)
    )
    for _ in range(500):
        sim.step()
        if sim.broken:
            break
    assert sim.broken and scene["rod2"].parent is scene.world and sim.dynamics.settings == settings
    again = running(scene, method, **settings)
    again.q, again.v = sim.q, sim.v
    np.testing.assert_array_equal(again.dynamics.momentum(again.q, again.v), sim.dynamics.momentum(sim.q, sim.v))
    sim.step(50), again.step(50)
    np.testing.assert_allclose(sim.q, again.q, atol=1e-9)
    np.testing.assert_allclose(sim.v, again.v, atol=1e-9)


def test_a_mirror_keeps_how_stiff_joints_are():
    scene = rope(2)
    sim = running(scene, "penalty", stiffness=(10.0, 4e3))
    with PyBulletMirror(scene, sim, ground=False) as mirror:
        scene.world.attach(Body("ball", [shapes.Sphere(0.05)], mass=0.1), joints.free(), rd.pose((1, 0, 1)))
        mirror.update()
        mirror.step(2)
        assert sim.dynamics.settings == {"stiffness": (10.0, 4e3)} and sim.dynamics.stiffness.tolist() == [10.0, 4e3]


def portal(force: float) -> Scene:
    """A beam of 2 kg on two hung posts of 1 kg, the second one held by a pin, which bears 2 g."""
    scene, inertia = Scene(), np.eye(3) * 0.1
    post = Body("post", mass=1.0, inertia=inertia, center_of_mass=(0, 0, -0.5))
    beam = Body("beam", [shapes.Box((1.0, 0.4, 0.1), at=rd.pose((0.5, 0, 0)))], mass=2.0, inertia=inertia,
                center_of_mass=(0.5, 0, 0))  # fmt: skip
    other = Body("other", mass=1.0, inertia=inertia, center_of_mass=(0, 0, 0.5))
    scene.world.attach(post, joints.revolute("y"))
    post.attach(beam, joints.revolute("y"), rd.pose((0, 0, -1)))
    beam.attach(other, joints.revolute("y"), rd.pose((1, 0, 0)))
    end = other.point((0, 0, 1))
    scene.constrain(end[0] - 1, end[2], name="pin", breaks_at=force)
    return scene


@pytest.mark.parametrize("share", [0.999, 1.001])
def test_a_pin_bears_its_share_of_the_weight_and_no_more(share):
    scene = portal(2 * G * share)
    sim = running(scene, "velocity_constraints")
    sim.step()
    told = sim.broken_constraints
    assert len(told) == (share < 1.0) and len(scene.constraints) == (share > 1.0)
    assert all(broken.constraint == "pin" and broken.force == pytest.approx(2 * G, rel=1e-9) for broken in told)


def test_a_push_loads_a_pin_as_in_joint_coordinates():
    """On a body that turns, in its own axes."""
    peaks = []
    for method in ("recursive", "velocity_constraints"):
        scene = portal(1e6)
        sim = rd.Simulation(scene.compile(method), H)
        q, v = np.array([0.4, -0.4, 0.4]), np.zeros(3)
        sim.q, sim.v = (q, v) if method == "recursive" else sim.dynamics.from_reduced(q, v)
        sim.apply_force("post", (30.0, 0.0, -20.0), (0.0, 0.0, -1.0))
        sim.step()
        peaks.append(sim._timesteps.loads.constraints.sizes["pin"])
    assert peaks[1] == pytest.approx(peaks[0], rel=1e-6)


def test_joints_of_a_loop_carry_what_the_loop_leaves_them():
    for share, broken in ((1 + 1e-9, []), (1 - 1e-9, ["beam"])):
        scene = portal(np.inf)
        scene["beam"].breaks_at(force=G * share)
        sim = running(scene, "velocity_constraints")
        sim.step(5)
        assert [joint.body for joint in sim.broken] == broken
        sim.step(30)
        assert np.abs(sim.dynamics.constraint_errors(sim.q, sim.v)[0]).max() < 1e-6


@pytest.mark.slow
def test_contact_loads_a_pin_and_breaks_it_in_a_game():
    """A ball of 1 kg that comes to rest on the beam's middle: the pin bears half a kg more, and then no more."""
    for force, count in ((1e6, 0), (2.25 * G, 1)):
        scene = portal(force)
        ball = Body("ball", [shapes.Sphere(0.1)], mass=1.0)
        scene.world.attach(ball, joints.free(), rd.pose((0.5, 0, -0.8)))
        sim = running(scene, "velocity_constraints")
        with PyBulletMirror(scene, sim, ground=False) as mirror:
            sim.motors["post.angle"] = rd.Motor(velocity=0.0, max_force=100.0)
            told = []
            for _ in range(480):
                mirror.step()
                told += sim.broken_constraints
            assert [broken.constraint for broken in told] == ["pin"] * count
            if not count:
                assert sim._timesteps.loads.constraints.sizes["pin"] == pytest.approx(2.5 * G, rel=2e-2)


@pytest.mark.parametrize("method", METHODS)
def test_what_was_welded_goes_on_as_it_moved(method):
    """A load that is cut off the carrier that it was fixed to, in motion; then it is welded to it again."""
    scene = Scene(gravity=(0, 0, 0))
    carrier = scene.world.attach(Body("carrier", mass=2.0, inertia=np.eye(3) * 0.3), joints.free())
    load = Body("load", mass=1.0, inertia=np.diag([0.1, 0.2, 0.15]), center_of_mass=(0, 0.1, -0.2))
    carrier.attach(load, joints.fixed(), rd.pose((0.3, 0, -0.5), (0.4, 0.5, 0.6)))
    sim = running(scene, method)
    sim.v = [0.5, -0.7, 0.9, 0.1, 0.2, 0.3]
    sim.step(50)
    poses, twists = sim.frames()
    momentum, place = sim.dynamics.momentum(sim.q, sim.v), carrier.children[0].place
    scene.cut("load")
    sim.update(scene.compile(method))
    np.testing.assert_allclose(sim.frames()[0], poses, atol=1e-12)
    np.testing.assert_allclose(sim.frames()[1], twists, atol=1e-12)
    np.testing.assert_allclose(sim.dynamics.momentum(sim.q, sim.v), momentum, atol=1e-12)
    sim.v = sim.v + np.arange(12) * 0.01
    momentum = sim.dynamics.momentum(sim.q, sim.v)
    energy = sim.dynamics.kinetic_energy(sim.q, sim.v)
    scene.swap("load", joints.fixed(), parent="carrier", at=place)
    sim.update(scene.compile(method))
    assert sim.dynamics.nv == 6 and sim.dynamics.kinetic_energy(sim.q, sim.v) < energy
    np.testing.assert_allclose(sim.dynamics.momentum(sim.q, sim.v), momentum, atol=1e-12)


def test_a_cut_among_many_makes_no_program_of_the_whole_tree():
    scene = rope(300)
    sim = running(scene, "velocity_constraints")
    sim.step(2)
    scene.cut("rod150")
    sim.update(scene.compile("velocity_constraints"))
    sim.step(2)
    assert not sim.dynamics.reduced.compiled_functions
    assert np.abs(sim.dynamics.joint_errors(sim.q, None, sim.joint_coordinates)[0]).max() < 1e-6


def test_what_is_prepared_for_a_break_is_not_compiled_in_it():
    """The joint of the body that is cut off then is one that the scene did not have."""
    scene = rope(3)
    scene["rod1"].breaks_at(force=1.0)
    sim = running(scene, "velocity_constraints")
    sim.warm_up()
    prepare_breaks(sim)
    while not sim.preparing.idle:
        time.sleep(0.01)
    made = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Evaluator, "_of_program", lambda self, function, *rest: made.append(function))
        sim.step()
        broken = [joint.body for joint in sim.broken]
        sim.step(2)
    assert broken == ["rod1"] and not made
