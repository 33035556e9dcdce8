"""Implicit motors in contact: the law holds at the step's end, contact included; balls and free joints of any gain."""

import numpy as np
import pytest
from contact_scenes import INTEGRATORS, energy, mirror, put

import recursive_dyn as rd
from recursive_dyn.spatial.rotations import quaternion_exp
from scene import Body, Scene, joints, shapes


@pytest.mark.parametrize(("h", "kp", "kd"), [(1 / 240, 300.0, 8.0), (1 / 60, 1e4, 0.0), (1 / 60, 1e7, 0.0)])
def test_in_contact_a_motor_gives_what_its_spring_has_at_the_steps_end(h, kp, kd):
    """force = kp (target - q - h v') - kd v', v' being the velocity after contact: Tan, Liu & Turk's law, exactly.

    A box on a slide, pressed onto the floor; with several coordinates the law is that of the solve, before velocities
    are those of the masses' new places.
    """
    scene = Scene()
    box = Body("box", [shapes.Box((0.2, 0.2, 0.2))], mass=1.0)
    scene.world.attach(box, joints.prismatic("z"), at=rd.pose((0, 0, 0.4)))
    with mirror(scene, h, "semi_implicit_euler") as shown:
        sim, target, touched = shown.sim, -0.5, 0
        sim.motors["box.distance"] = rd.Motor(position=target, kp=kp, kd=kd, max_force=np.inf)
        for _ in range(round(0.6 / h)):
            q = sim.q[0]
            shown.step()
            if sim.solution.substeps == 1:
                touched += sim.solution.contacts > 0
                wanted = kp * (target - q - h * sim.v[0]) - kd * sim.v[0]
                assert sim.motor_forces["box.distance"].force == pytest.approx(wanted, abs=1e-12 * (kp + kd / h))
        pressed = kp * (sim.q[0] - target) + 9.81
        assert touched > 10 and sim.contact_wrench("box")[5] == pytest.approx(pressed, rel=1e-6)


@pytest.mark.parametrize("kd", [0.0, 1e4])
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_no_gain_is_too_stiff_for_ball_joints_that_fall_on_the_ground(integrator, kd):
    """Two arms on a box by balls, 10^7 N m/rad at 60 steps a second: no energy is gained, they keep their angles."""
    scene = Scene()
    trunk = put(scene, "trunk", shapes.Box((0.3, 0.2, 0.1)), rd.pose((0, 0, 0.6), (0.2, 0.1, 0)), mass=4.0)
    targets = {}
    for side, sign in (("left", 1.0), ("right", -1.0)):
        arm = Body(side, [shapes.Capsule(0.04, 0.3, at=rd.pose((0, 0, -0.2)))], mass=0.8)
        trunk.attach(arm, joints.ball(), at=rd.pose((0, 0.17 * sign, 0)))
        targets[side] = quaternion_exp(np.array([0.5 * sign, 0.2, -0.1]))
    with mirror(scene, 1 / 60, integrator) as shown:
        sim, names = shown.sim, shown.sim.dynamics.coordinates
        at = {side: slice(names.index(f"{side}.qx"), names.index(f"{side}.qx") + 4) for side in targets}
        for side, target in targets.items():
            sim.q[at[side]] = target
            sim.motors[side] = rd.Motor(position=target, kp=1e7, kd=kd)
        first, touched = energy(sim), 0
        for _ in range(120):
            shown.step()
            touched += sim.solution.contacts > 0
            assert energy(sim) <= first + 1e-6
            for side, target in targets.items():
                assert 2 * np.arccos(min(1.0, abs(sim.q[at[side]] @ target))) < 1e-3
        assert touched > 60


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_no_gain_is_too_stiff_for_a_free_body_on_the_ground(integrator):
    """Dropped on an edge and kept on it by its orientation, 10^7 N m/rad; pressed on the floor by a place below it."""
    turn = quaternion_exp(np.array([0.6, 0.0, 0.0]))
    scene = Scene()
    put(scene, "box", shapes.Box((0.4, 0.4, 0.4)), rd.pose((0, 0, 0.5)), mass=3.0)
    with mirror(scene, 1 / 60, integrator) as shown:
        sim = shown.sim
        sim.q[3:] = turn
        sim.motors["box"] = rd.Motor(position=turn, kp=1e7)
        for _ in range(90):
            shown.step()
        assert 2 * np.arccos(min(1.0, abs(sim.q[3:] @ turn))) < 1e-4
        edge = 0.2 * (np.cos(0.6) + np.sin(0.6))
        assert sim.frames()[0][0, 2, 3] == pytest.approx(edge, abs=1e-3) and np.abs(sim.v).max() < 1e-6
        assert sim.contact_wrench("box")[5] == pytest.approx(3.0 * 9.81, rel=1e-3)
        del sim.motors["box"]
        low = np.array([*sim.q[:2], sim.q[2] - 0.01])
        sim.motors["box"] = rd.Motor(position=np.append(low, turn), kp=1e4, kd=100.0)
        for _ in range(60):
            shown.step()
        assert sim.frames()[0][0, 2, 3] == pytest.approx(edge, abs=1e-3)
        pressed = 1e4 * (sim.q[2] - low[2]) + 3.0 * 9.81
        assert sim.contact_wrench("box")[5] == pytest.approx(pressed, rel=1e-3)
