"""What simulations have in joint coordinates, in maximal ones: motors, elements, rolling, edits, places and hands."""

import numpy as np
import pytest
import sympy as sp
from formulations import EACH, WAYS, rod
from trees import assert_close

import recursive_dyn as rd
from scene import Body, Scene, joints


def arm(count: int = 3) -> Scene:
    """Rods of half a metre on hinges."""
    scene, node = Scene(), None
    for k in range(count):
        joint = joints.revolute("y", damping=0.1)
        node = (node or scene.world).attach(rod(f"rod{k}"), joint, at=rd.pose((0.5 if node else 0, 0, 0)))
    return scene


def simulated(scene: Scene, method: str, integrator: str, h: float = 1 / 240) -> rd.Simulation:
    return rd.Simulation(scene.compile(method), h, integrator)


def missed(sim: rd.Simulation) -> float:
    return float(np.abs(sim.dynamics.joint_errors(sim.q)[0]).max())


@pytest.mark.parametrize("method, integrator", WAYS[:2])  # explicit springs ring on
def test_motors_lead_joints_as_in_joint_coordinates(method: str, integrator: str) -> None:
    """One holds a place against gravity, one a velocity, and one gives all that it may."""
    sims = [simulated(arm(), method, integrator), simulated(arm(), "recursive", "semi_implicit_euler")]
    for sim in sims:
        sim.motors["rod0.angle"] = rd.Motor(position=0.3, kp=500.0, kd=200.0)
        sim.motors["rod1.angle"] = rd.Motor(velocity=0.5)
        sim.motors["rod2.angle"] = rd.Motor(position=1.0, kp=100.0, kd=10.0, max_force=1.0)
        sim.step(48)
    q, v = sims[0].dynamics.to_reduced(sims[0].q, sims[0].v, sims[1].q)
    assert abs(v[1] - 0.5) < 1e-5 and np.abs(q - sims[1].q)[:2].max() < 4e-3
    found, want = (sim.motor_forces for sim in sims)
    assert found["rod2.angle"].saturated and abs(found["rod2.angle"].force) == pytest.approx(1.0)
    for name in ("rod0.angle", "rod1.angle"):
        assert found[name].force == pytest.approx(want[name].force, rel=0.02)


@EACH
def test_a_motor_holds_an_arm_where_its_spring_meets_gravity(method: str, integrator: str) -> None:
    """kp (position - q) = m g c cos q of one rod."""
    sim = simulated(arm(1), method, integrator)
    sim.motors["rod0.angle"] = rd.Motor(position=-0.4, kp=50.0, kd=4.0)
    sim.step(480)
    (q,), (rate,) = sim.dynamics.to_reduced(sim.q, sim.v)
    assert abs(50.0 * (-0.4 - q) + 9.81 * 0.25 * np.cos(q)) < 1e-3 and abs(rate) < 1e-4


@EACH
def test_springs_between_bodies_pull_as_in_joint_coordinates(method: str, integrator: str) -> None:
    """The same to the first order of the timestep."""
    scene = arm()
    scene.spring(scene["rod2"], scene.world, stiffness=30.0, damping=1.0, point_a=(0.5, 0, 0), point_b=(1, 0, 0.5))
    exact, off = rd.Simulation(scene.compile(), 1 / 1000, "rk4"), []
    exact.step(100)
    for rate in (500, 1000):
        sim = simulated(scene, method, integrator, 1 / rate)
        sim.step(rate // 10)
        off.append(np.abs(sim.dynamics.poses(sim.q) - exact.dynamics.poses(exact.q)).max())
    assert off[1] < 0.7 * off[0] and off[1] < 0.01


@EACH
def test_a_ball_rolls_as_in_joint_coordinates(method: str, integrator: str) -> None:
    u, v, a, b = sp.symbols("u v a b", real=True)
    ball = [0.3 * sp.cos(a) * sp.cos(b), 0.3 * sp.sin(a) * sp.cos(b), 0.3 * sp.sin(b)]
    scene = Scene()
    joint = joints.surface_on_surface([u, v, 0], (u, v), ball, (a, b))
    scene.roll(scene.world.attach(Body("ball", mass=1.0, inertia=np.eye(3) * 0.02), joint))
    exact = rd.Simulation(scene.compile(), 1 / 500)
    exact.q, exact.v = exact.dynamics.project(exact.q, np.array([0.3, 0.1, 0.2, 0.4]))
    sim = simulated(scene, method, integrator, 1 / 500)
    sim.q, sim.v = sim.dynamics.from_reduced(exact.q, exact.v)
    for one in (sim, exact):
        one.step(50)
    assert np.abs(sim.dynamics.poses(sim.q) - exact.dynamics.poses(exact.q)).max() < (
        5e-4 if missed(sim) > 1e-5 else 5e-6
    )
    assert np.abs(sim.dynamics.constraint_errors(sim.q, sim.v)[1]).max() < 2e-5


@EACH
def test_edits_leave_what_stays_where_it_is_and_hang_what_is_new_on_it(method: str, integrator: str) -> None:
    scene = arm(2)
    sim = simulated(scene, method, integrator)
    sim.step(60)
    poses, twists = sim.dynamics.poses(sim.q), sim.dynamics.velocities(sim.q, sim.v)
    before = missed(sim)
    scene["rod1"].attach(rod("new"), joints.revolute("y"), at=rd.pose((0.5, 0, 0)))
    sim.update(scene.compile(method))
    d = sim.dynamics
    assert_close(d.poses(sim.q)[:2], poses, 1e-14)
    assert_close(d.velocities(sim.q, sim.v)[:2], twists, 1e-14)
    assert missed(sim) < 2 * before + 1e-9
    assert np.abs(d.to_reduced(sim.q, sim.v)[1][2]) < 0.3  # it moves along with what it hangs on
    scene.swap("rod1", joints.ball(), at=rd.pose((0.45, 0, 0)))  # 5 cm from where it was
    sim.update(scene.compile(method))
    assert missed(sim) < 2 * before + 1e-9
    scene["new"].detach()
    momentum = sim.dynamics.momentum(sim.q, sim.v)
    scene.cut("rod1")
    sim.update(scene.compile(method))
    sim.step(20)
    assert np.abs(sim.dynamics.momentum(sim.q, sim.v)[4] - momentum[4]) < 1e-9  # nothing acts along y
    assert missed(sim) < 0.05


@pytest.mark.parametrize("method, integrator", WAYS[:2])
def test_turns_of_hinges_are_kept_through_edits(method: str, integrator: str) -> None:
    """A spring that has been wound up by two turns goes on pulling."""
    scene = Scene(gravity=(0, 0, 0))
    scene.world.attach(rod("wound"), joints.revolute("y", stiffness=0.2))
    sim = simulated(scene, method, integrator)
    sim.motors["wound.angle"] = rd.Motor(velocity=15.0)
    sim.step(240)
    del sim.motors["wound.angle"]
    scene.world.attach(rod("other"), joints.revolute("y"), at=rd.pose((0, 1, 0)))
    sim.update(scene.compile(method))
    rates = [sim.dynamics.to_reduced(sim.q, sim.v)[1][0]]
    sim.step(1)
    rates.append(sim.dynamics.to_reduced(sim.q, sim.v)[1][0])
    assert (rates[1] - rates[0]) * 240 == pytest.approx(-0.2 * 15.0 / (0.03 + 0.0625), rel=0.05)


@EACH
def test_a_body_is_put_somewhere_with_all_that_hangs_with_it(method: str, integrator: str) -> None:
    sim = simulated(arm(), method, integrator)
    sim.place("rod2", pose=rd.pose((0.5, 0, -0.5)))
    assert missed(sim) < 1e-9
    assert_close(sim.dynamics.poses(sim.q)[2][:3, 3], np.array([0.5, 0, -0.5]), 1e-9)


@pytest.mark.slow
@EACH
def test_a_hand_leads_a_body(method: str, integrator: str) -> None:
    sim = simulated(arm(), method, integrator)
    hand = sim.grab("rod2", (0.5, 0, 0))
    hand.move((0.5, 0, 0.9))
    sim.step(480)
    assert np.abs((sim.dynamics.poses(sim.q)[2] @ [0.5, 0, 0, 1])[:3] - (0.5, 0, 0.9)).max() < 0.04
    hand.release()
    sim.step(240)
    assert (sim.dynamics.poses(sim.q)[2] @ [0.5, 0, 0, 1])[2] < 0.5


PLACES = {
    "ball": (joints.ball, (0.1, 0.2, 0.3, 0.9), {}),
    "free": (joints.free, (0.1, 0.2, 0.3, 0.2, -0.1, 0.3, 0.9), {}),
    "charts": (lambda: joints.charts(joints.euler("xyz"), joints.euler("zxz")), (0.3, 0.8, -0.2), {"chart": 1}),
}


@pytest.mark.parametrize("method, integrator", WAYS[:2])
@pytest.mark.parametrize("name", PLACES)
def test_motors_lead_joints_as_a_whole_as_in_joint_coordinates(name: str, method: str, integrator: str) -> None:
    """To a pose, on a hinge that rests on a motor, with a tail that swings: on the way to the first order of the step,
    and in the end where springs meet gravity."""
    joint, position, settings = PLACES[name]
    scene = Scene()
    base = scene.world.attach(rod("base"), joints.revolute("y"))
    held = base.attach(rod("held"), joint(), at=rd.pose((0.5, 0, 0)))
    held.attach(rod("tail"), joints.revolute("y", damping=0.3), at=rd.pose((0.5, 0, 0)))
    off, ends = [], []
    for rate in (240, 480):
        sims = [simulated(scene, method, integrator, 1 / rate)]
        sims.append(simulated(scene, "recursive", "semi_implicit_euler", 1 / rate))
        for sim in sims:
            sim.motors["base.angle"] = rd.Motor(position=0.1, kp=500.0, kd=50.0)
            sim.motors["held"] = rd.Motor(position=position, kp=300.0, kd=30.0, max_force=40.0, **settings)
            sim.step(rate // 10)
        off.append(np.abs(sims[0].dynamics.poses(sims[0].q) - sims[1].dynamics.poses(sims[1].q)).max())
        if rate == 480:
            for sim in sims:
                sim.step(4 * rate)
                forces = {n: f.force for n, f in sim.motor_forces.items()}
                ends.append((sim.dynamics.poses(sim.q), np.array(list(forces.values()))))
    assert off[1] < 0.7 * off[0] < 0.02
    assert np.abs(ends[0][0] - ends[1][0]).max() < 1e-3
    assert np.abs(ends[0][1]).max() > 1.0 and np.abs(ends[0][1] - ends[1][1]).max() < 0.02 * np.abs(ends[1][1]).max()


def test_a_motor_of_what_is_no_coordinate_of_a_joint_is_refused_by_name() -> None:
    scene = arm()
    sim = rd.Simulation(scene.compile("penalty"))
    with pytest.raises(rd.ModelError, match=r"unknown coordinate 'rod0\.wx'; the scene has rod0\.angle"):
        sim.motors["rod0.wx"] = rd.Motor(velocity=1.0)
