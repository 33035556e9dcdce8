"""Bodies that show a motion: their poses follow it, their twists are the poses' rates, and a mirror takes them."""

import numpy as np
import pytest
from moving import VALUES, R, compiled, e3, l, m, moving, q, spherical, system, x

import recursive_dyn as rd
from bridge import PyBulletMirror
from demos import quadrotor_load as demo
from demos.stage import total_energy
from recursive_dyn.manifold import Motion, cross, derive, dt, rotations, scalars, vectors
from recursive_dyn.simulation.moving import Moving
from scene import Body, Scene, joints, shapes

H = 1e-4  # s
CRAFT = demo.CRAFT
TURNS = {"still": None, "by the rotation": R, "along the rod": q, "against the rod": -q, "transposed": R.T}


def upset_flight() -> demo.LoadFlight:
    flight = demo.LoadFlight()
    flight.state = demo.upset(flight.state)
    return flight


@pytest.mark.parametrize("turn", TURNS)
def test_twists_are_the_rates_of_poses(turn):
    """Central differences over the motion, in error by h^2 / 6 times third derivatives of some hundreds."""
    motion = moving("quadrotor with load", seed=4, timestep=H, speed=2.0, forced=True)
    motion.dynamics.show({"body": (x - l * q + cross(q, R * e3), TURNS[turn])})
    poses, twists = [], []
    for _ in range(3):
        (pose,), (twist,) = motion.frames()
        poses.append(pose)
        twists.append(twist)
        assert pose[:3, :3].T @ pose[:3, :3] == pytest.approx(np.eye(3), abs=1e-14)
        assert np.linalg.det(pose[:3, :3]) == pytest.approx(1.0) and (pose[3] == [0, 0, 0, 1]).all()
        motion.step()
    rate = (poses[2] - poses[0]) / (2 * H)
    spin = rate[:3, :3] @ poses[1][:3, :3].T
    assert [spin[2, 1], spin[0, 2], spin[1, 0]] == pytest.approx(twists[1][:3], abs=1e-5)
    assert rate[:3, 3] == pytest.approx(twists[1][3:], abs=1e-5)
    assert np.abs(twists[1]).max() > 0.1


def test_poses_are_those_of_the_formulas():
    motion = moving("quadrotor with load", seed=1)
    motion.dynamics.show({"craft": (x - l * q, R), "load": (x, -q), "mast": (np.array([1.0, 2.0, 3.0]), None)})
    assert motion.dynamics.bodies == ("craft", "load", "mast")
    (craft, load, mast), twists = motion.frames()
    assert craft[:3, 3] == pytest.approx(motion[x] - VALUES["l"] * motion[q], abs=1e-15)
    assert craft[:3, :3] == pytest.approx(motion[R], abs=1e-15)
    assert load[:3, 2] == pytest.approx(-motion[q], abs=1e-15) and load[:3, 3] == pytest.approx(motion[x], abs=0)
    assert (mast[:3, 3] == [1, 2, 3]).all() and (mast[:3, :3] == np.eye(3)).all() and not twists[2].any()
    assert twists[0][:3] == pytest.approx(motion[R] @ motion.rate(R), abs=1e-14)


@pytest.mark.parametrize("away", [0.0, 1e-9, 1e-3])
def test_a_direction_straight_down(away):
    """The frame is a rotation whose e3 is the direction, and whose rate turns it as it should."""
    motion = Motion(compiled(spherical()), bodies={"rod": (l * q, q)})
    below = np.array([away, 0, -np.sqrt(1 - away**2)])
    motion.place(q, below, [0, 2.0, 0])
    (pose,), (twist,) = motion.frames()
    C = pose[:3, :3]
    assert pytest.approx(np.eye(3), abs=1e-12) == C.T @ C and np.linalg.det(C) == pytest.approx(1.0)
    assert C[:, 2] == pytest.approx(below, abs=2e-9)
    if away != 1e-9:  # there the frame spins so fast that rounding is all that is left
        assert np.cross(twist[:3], below) == pytest.approx([0, 2.0, 0], abs=1e-9)


def test_bodies_follow_prescribed_motions():
    p, y = vectors("p"), scalars("y")
    cart = p + y * e3
    L = m * dt(cart).dot(dt(cart)) / 2 - m * cart.dot(cart) / 2
    motion = Motion(compiled(derive(L, None, y, prescribed=p)), bodies={"cart": cart})
    motion.forces.update({"p": [0, 2.0, 0], "p'": [1.0, 0, 0], "p''": [0, 0, 0]})
    motion.step(100)
    (pose,), (twist,) = motion.frames()
    assert pose[:3, 3] == pytest.approx([0.1, 2.0, motion[y]]) and (pose[:3, :3] == np.eye(3)).all()
    assert twist == pytest.approx([0, 0, 0, 1.0, 0, motion.rate(y)])


REFUSED = {
    "a scalar position": ({"b": (m, None)}, "position of body 'b'.*vector of R\\^3, not the scalar m"),
    "two numbers": ({"b": ([0.0, 1.0], R)}, "position of body 'b'"),
    "a scalar turn": ({"b": (x, m)}, "turn of body 'b' must be a rotation matrix, a unit vector"),
    "an array as turn": ({"b": (x, np.eye(3))}, "turn of body 'b'"),
    "an unknown symbol": ({"b": (x, rotations("S"))}, "body 'b' is shown by 'S', which the equations do not hold"),
    "an unknown constant": ({"b": x + vectors("rho", constant=True)}, "body 'b' is shown by 'rho'"),
    "an acceleration": ({"b": dt(x)}, "body 'b' is shown by 'x''', which"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_shown_is_refused(what):
    bodies, words = REFUSED[what]
    with pytest.raises(rd.ModelError, match=words):
        Motion(system("quadrotor with load"), bodies=bodies)


def test_a_mirror_shows_a_motion():
    """The protocol of whatever moves; bodies of the scene and of the motion have the same names."""
    flight = upset_flight()
    motion: Moving = flight.motion
    scene = Scene()
    for body in (demo.craft_body(), demo.load_body()):
        scene.world.attach(body, joints.free())
    with PyBulletMirror(scene, motion, gui=False, contact=False) as mirror:
        before = mirror.image(64, 48)
        mirror.step(120)
        assert motion.time == pytest.approx(0.25) and (mirror.image(64, 48) != before).any()
    other = Scene()
    other.world.attach(Body("wing", [shapes.Sphere(0.1)], mass=1.0), joints.free())
    with pytest.raises(rd.ModelError):
        PyBulletMirror(other, motion, gui=False)


def test_the_demo_shows_the_machine_with_its_energy():
    stage = demo.build()
    motion = stage.simulation
    assert total_energy(motion) == motion.energy
    motion.step(200)
    hull, load = motion.frames()[0]
    assert load[:3] @ [0, 0, CRAFT.l, 1] == pytest.approx(hull[:3, 3], abs=1e-12)  # the rod reaches the quadrotor


def test_control_is_asked_before_every_step():
    motion = moving("spherical pendulum")
    times = []

    def control(m: Motion) -> None:
        times.append(m.time)
        m.forces["tau"] = [m.time, 0, 0]

    motion.control = control
    motion.step(3)
    assert times == pytest.approx([0.0, 1e-3, 2e-3]) and motion.forces["tau"][0] == pytest.approx(2e-3)


def test_a_motion_returns_to_a_snapshot():
    flight = upset_flight()
    motion = flight.motion
    motion.step(50)
    kept = motion.snapshot()
    ends = []
    for _ in range(2):
        motion.restore(kept)
        assert motion.advance(1.6 * motion.timestep) == 1  # what a frame leaves of a timestep is of the snapshot
        motion.step(50)
        ends.append((motion.q.copy(), motion.v.copy(), motion.time))
    assert ends[0][2] == ends[1][2] and all((a == b).all() for a, b in zip(ends[0][:2], ends[1][:2], strict=True))
    with pytest.raises(rd.StateError, match="restore takes"):
        motion.restore("yesterday")
