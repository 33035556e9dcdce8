"""Motors on stiff springs that something touches as well: neither do they let go nor fly into what holds them."""

from contextlib import AbstractContextManager, nullcontext

import numpy as np
import pytest
from contact_scenes import mirror, put

import recursive_dyn as rd
from recursive_dyn.contact.contacts import STATIC, Contacts
from recursive_dyn.simulation.flying import plausible
from scene import Body, Scene, joints, shapes

H = 1 / 60
ROUGH = rd.Material(friction=0.8)
MOTORS = {
    "velocity": lambda K: rd.Motor(velocity=0.4),
    "position": lambda K: rd.Motor(position=0.4, kp=10 * K, kd=K / 10),
    "as soft as the spring": lambda K: rd.Motor(position=0.4, kp=K, kd=K / 100),
}
ENDS = {"velocity": 0.4 * (1.2 - H / 2), "position": 0.4 * 10 / 11, "as soft as the spring": 0.2}


@pytest.mark.parametrize("z", [60.0, *(pytest.param(z, marks=pytest.mark.slow) for z in (2.0, 5.0, 20.0))])
@pytest.mark.parametrize("kind", MOTORS)
def test_a_ball_that_drops_on_a_sprung_arm_does_not_move_it(kind, z):
    """z = h sqrt(K / 0.5 kg m^2), motors without bounds: what holds springs held on, and none ran away by 1e70 rad."""
    K, scene = 0.5 * (z / H) ** 2, Scene()
    arm = Body("arm", [shapes.Box((0.8, 0.3, 0.04), material=ROUGH)], mass=1.0)
    scene.world.attach(arm, joints.revolute("z", stiffness=K), at=rd.pose((0.3, 0, 1)))
    put(scene, "ball", shapes.Sphere(0.06, material=ROUGH), rd.pose((0.3, 0, 1.4)), 0.5)
    with mirror(scene, H, "linearly_implicit_rk4") as shown:
        sim = shown.sim
        sim.motors["arm.angle"] = MOTORS[kind](K)
        shown.step(72)
        assert len(sim.contacts)
        assert sim.q[0] == pytest.approx(ENDS[kind], abs=2e-3)
        assert sim.v[0] == pytest.approx(0.4 if kind == "velocity" else 0.0, abs=1e-3)
        assert sim.motor_forces["arm.angle"].force == pytest.approx(K * sim.q[0], rel=3e-3)


PRESSING = {  # motors, in stiffnesses of the spring, and what they give at an angle
    "firm": (lambda K: rd.Motor(position=0.6, kp=3 * K, kd=K / 10), lambda q: 3 * (0.6 - q)),
    "soft": (lambda K: rd.Motor(position=1.5, kp=K / 3, kd=K / 100), lambda q: (1.5 - q) / 3),
    "at its bound": (lambda K: rd.Motor(position=0.6, kp=10 * K, kd=K / 10, max_force=0.6 * K), lambda q: 0.6),
    "held up": (lambda K: rd.Motor(velocity=0.5, max_force=0.6 * K), lambda q: 0.6),
}


@pytest.mark.parametrize("by", ["block", "stop"])
@pytest.mark.parametrize("z", [6.0, *(pytest.param(z, marks=pytest.mark.slow) for z in (0.5, 2.0, 30.0))])
@pytest.mark.parametrize("kind", PRESSING)
def test_a_motor_presses_on_what_blocks_a_sprung_arm_with_what_its_law_says(kind, z, by):
    """And the block bears the rest: it told half to two thirds of that, and 27 rad/s of arms that stood still."""
    K, scene = 0.0542 * (z / H) ** 2, Scene(gravity=(0, 0, 0))
    limits = {"limits": (-1.0, 0.2)} if by == "stop" else {}
    arm = Body("arm", [shapes.Box((0.8, 0.1, 0.04))], mass=1.0)
    scene.world.attach(arm, joints.revolute("z", stiffness=K, **limits), at=rd.pose((0, 0, 1)))
    if by == "block":
        scene.world.shapes.append(shapes.Box((0.2, 0.2, 0.2), at=rd.pose((0.35, 0.25, 1))))
    motor, law = PRESSING[kind]
    with mirror(scene, H, "linearly_implicit_rk4", ground=False) as shown:
        sim = shown.sim
        sim.motors["arm.angle"] = motor(K)
        shown.step(60)
        q, force = sim.q[0], sim.motor_forces["arm.angle"].force / K
        assert q == pytest.approx(0.2 if by == "stop" else 0.25683, abs=2e-4)
        assert np.abs(sim.v).max() < 1e-6
        assert force == pytest.approx(law(q), rel=1e-3)
        if by == "block":
            borne = sum(np.cross(c.point_on_a, c.impulse)[2] for c in sim.contacts) / H / K
            assert force + borne == pytest.approx(q, abs=1e-3)


def test_bytes_know_into_how_many_parts_a_step_was_cut_of_which_they_hold_impulses():
    """What motors bore is what they gave in the last part, over its length: what follows follows again, to the bit."""
    K, scene = 0.0542 * (2.0 / H) ** 2, Scene(gravity=(0, 0, 0))
    arm = Body("arm", [shapes.Box((0.8, 0.1, 0.04))], mass=1.0)
    scene.world.attach(arm, joints.revolute("z", stiffness=K), at=rd.pose((0, 0, 1)))
    scene.world.shapes.append(shapes.Box((0.2, 0.2, 0.2), at=rd.pose((0.35, 0.25, 1))))
    with mirror(scene, H, "linearly_implicit_rk4", ground=False) as shown:
        sim = shown.sim
        sim.motors["arm.angle"] = PRESSING["firm"][0](K)
        for _ in range(4):
            shown.step()
            data = sim.snapshot_bytes()
            shown.step(2)
            later = sim.snapshot_bytes()
            sim.restore(data)
            assert sim.snapshot_bytes() == data
            shown.step(2)
            assert sim.snapshot_bytes() == later
            sim.restore(data)
        assert sim.report.steps_cut > 0


def leg(K: float) -> Scene:
    """A trunk on a slide, a thigh and a shank whose knee has a spring: its foot comes to the ground."""
    scene, body = Scene(), lambda name, mass, turn: Body(name, mass=mass, inertia=turn * np.eye(3))
    trunk = scene.world.attach(body("trunk", 8.0, 0.1), joints.prismatic("z"), at=rd.pose((0, 0, 0.86)))
    thigh = trunk.attach(body("thigh", 1.0, 0.05), joints.revolute("y"))
    shank = thigh.attach(body("shank", 0.6, 0.006), joints.revolute("y", stiffness=K), at=rd.pose((0, 0, -0.4)))
    foot = Body("foot", [shapes.Sphere(0.04, material=ROUGH)], mass=0.2)
    shank.attach(foot, joints.fixed(), at=rd.pose((0, 0, -0.4)))
    return scene


@pytest.mark.parametrize("h", [1 / 60, pytest.param(1 / 240, marks=pytest.mark.slow)])
@pytest.mark.parametrize("K", [500.0, *(pytest.param(k, marks=pytest.mark.slow) for k in (50.0, 200.0, 5e3, 5e4))])
def test_a_sprung_knee_bends_as_its_motor_says_with_a_foot_on_the_ground(K, h):
    """0.8 rad/s for a second, and still then, by motors that keep velocities: it stalled at 0.01 to 0.5 rad, or its
    foot trembled. Told to halt, they hold on to what they hold."""
    with mirror(leg(K), h, "linearly_implicit_rk4") as shown:
        sim, steps = shown.sim, round(1 / h)
        for rate, wanted in ((0.8, 0.8), (0.0, 0.8)):
            sim.motors["shank.angle"], sim.motors["thigh.angle"] = rd.Motor(velocity=rate), rd.Motor(velocity=-rate / 2)
            shown.step(steps)
            assert sim.q[2] == pytest.approx(wanted, abs=0.6 * h if rate else 1e-4)
            assert sim.q[1] == pytest.approx(-wanted / 2, abs=0.3 * h if rate else 5e-5)
        assert np.abs(sim.v).max() < 1e-4
        lowest = sim.dynamics.poses(sim.q)[3][2, 3] - 0.04
        assert lowest == pytest.approx(0.0, abs=2e-4)
        weight = sum(9.81 * mass for mass in (8.0, 1.0, 0.6, 0.2))
        assert sum(contact.impulse[2] / h for contact in sim.contacts) == pytest.approx(weight, rel=1e-3)


def test_what_is_too_swift_after_impulses_is_told_by_its_name(monkeypatch):
    """No flight alone makes energy of nothing, nor does any impulse: steps are weighed whole. A wheel that has no more
    than a motor gave it, where half of that is already too much."""
    scene = Scene()
    wheel = Body("wheel", [shapes.Sphere(0.1, material=ROUGH)], mass=1.0)
    scene.world.attach(wheel, joints.revolute("y"), at=rd.pose((0, 0, 0.0999)))
    with mirror(scene, H, "linearly_implicit_rk4") as shown:
        sim = shown.sim
        sim.motors["wheel.angle"] = rd.Motor(velocity=5000.0)
        monkeypatch.setattr(plausible, "_MOST", 0.5)
        with pytest.raises(rd.StateError, match=r"more energy than there was .* 'wheel\.angle'"):
            shown.step()
        assert (sim.time, *sim.q, *sim.v) == (0.0, 0.0, 0.0)
        monkeypatch.undo()
        shown.step(2)
        assert sim.v[0] == pytest.approx(5000.0, rel=1e-6)


@pytest.mark.parametrize("restitution", [0.0, 1.0])
def test_what_is_swift_and_has_its_energy_from_somewhere_is_no_matter(restitution):
    """A ball of 3 km/s against a wall, a wheel that a motor brings to 5000 rad/s on a table within a step."""
    material, scene = rd.Material(friction=0.5, restitution=restitution), Scene(gravity=(0, 0, 0))
    wall, table = rd.pose((160, 0, 0)), rd.pose((0, 30, -0.1999))
    scene.world.shapes += [shapes.Box((200, 40, 40), at=wall, material=material)]
    scene.world.shapes += [shapes.Box((1, 1, 0.2), at=table, material=material)]
    put(scene, "ball", shapes.Sphere(0.05, material=material), rd.pose((0, 0, 5)), 0.1)
    wheel = Body("wheel", [shapes.Sphere(0.1, material=material)], mass=1.0)
    scene.world.attach(wheel, joints.revolute("y"), at=rd.pose((0, 30, 0)))
    with mirror(scene, H, "linearly_implicit_rk4", ground=False) as shown:
        shown.sim.place("ball", velocity=np.array([0, 0, 0, 3000.0, 0, 0]))
        shown.sim.motors["wheel.angle"] = rd.Motor(velocity=5000.0)
        shown.step(10)
        v = shown.sim.dynamics.velocities(shown.sim.q, shown.sim.v)
        assert v[0, 3] == pytest.approx(-3000.0 * restitution, abs=1.0)
        assert v[1, 1] == pytest.approx(5000.0, rel=1e-6)


def test_motors_of_joints_between_free_bodies_are_none_either():
    scene = Scene()
    scene.world.attach(Body("rotor", mass=1.0, inertia=0.01 * np.eye(3)), joints.revolute("z"))
    sim = rd.Simulation(scene.compile(method="velocity_constraints"), 1 / 240)
    sim.motors["rotor.angle"] = rd.Motor(velocity=2000.0)
    sim.step(5)
    assert sim.dynamics.velocities(sim.q, sim.v)[0, 2] == pytest.approx(2000.0, rel=1e-6)


class Table:
    """Below z = 10 mm a body is known to touch it, at two points; told: the contacts that it was given as solved."""

    told = Contacts.none()

    def detect(self, sim: rd.Simulation) -> Contacts:
        z, two = float(sim.q[0]), np.zeros(2, dtype=np.int64)
        if z > 0.01:
            return Contacts.none()
        on = np.array([[0.1, 0, 0], [-0.1, 0, 0]])
        up = np.array([[0.0, 0.0, 1.0]] * 2)
        return Contacts(two, two + STATIC, on + z * up, on, up, np.full(2, z), np.zeros((2, 5)), np.array([1, 2]))

    def substeps(self, sim: rd.Simulation, h: float) -> int:
        return 1

    def advance(self, sim: rd.Simulation, contacts: Contacts, h: float) -> None:
        self.told = contacts

    def forget(self, sim: rd.Simulation) -> None:
        """Nothing was remembered."""

    def atomic(self) -> AbstractContextManager[None]:
        return nullcontext()


@pytest.mark.parametrize(("z", "speed", "touches"), [(0.0, 5.0, 2), (0.04, -5.0, 2), (0.2, -5.0, 0)])
def test_surroundings_that_find_contacts_are_told_of_those_that_were_solved(z, speed, touches):
    """Wherever a motor led in the step: up from the table, where there are none, down to it, from where there were
    none, and on above it. It raised ValueError."""
    scene, table = Scene(), Table()
    scene.world.attach(Body("slide", mass=1.0), joints.prismatic("z"))
    sim = rd.Simulation(scene.compile(), 1 / 60, "semi_implicit_euler")
    sim.surroundings = table
    sim.q[0] = z
    sim.motors["slide.distance"] = rd.Motor(velocity=speed, max_force=1e4)
    sim.step()
    assert len(table.told) == len(sim.contacts) == touches
    np.testing.assert_array_equal(table.told.impulse, sim.contacts.impulse)
    assert table.told.impulse.any() == (speed < 0.0 < touches)
