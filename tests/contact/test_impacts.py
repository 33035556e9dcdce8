"""Bounces, collisions and impacts of linkages against their closed forms."""

from itertools import pairwise

import numpy as np
import pytest
import sympy
from contact_scenes import INTEGRATORS, G, at, energy, mirror, position, put, set_twist, twist

import recursive_dyn as rd
from scene import Body, Scene, joints, shapes

H = 1 / 240
EXACT = ("rk4", "implicit_midpoint")  # their paths in free fall are exact
ICE = rd.Material(0.0, restitution=1.0)


def dropped(height: float, material: rd.Material, h: float, integrator: str, **settings):
    scene = Scene()
    put(scene, "ball", shapes.Sphere(0.1, material=material), at(z=0.1 + height))
    shown = mirror(scene, h, integrator)
    for name, value in settings.items():
        setattr(shown.sim.contact, name, value)
    return shown


@pytest.mark.parametrize("integrator", EXACT)
def test_an_elastic_bounce_keeps_energy(integrator):
    """To rounding; rk4 follows a spinning body's path to (h w)^4, 1e-9."""
    with dropped(0.2, ICE, H, integrator) as shown:
        set_twist(shown.sim, "ball", (3.0, -2.0, 1.0), (0.3, 0.1, 0.5))
        energies, twists = [energy(shown.sim)], [twist(shown.sim)]
        for _ in range(1000):
            shown.step()
            energies.append(energy(shown.sim))
            twists.append(twist(shown.sim))
        np.testing.assert_allclose(energies, energies[0], rtol=1e-8 if integrator == "rk4" else 1e-10)
        V = np.array(twists)
        assert np.count_nonzero(np.diff(np.sign(V[:, 5])) > 0) > 6, "it bounces"
        np.testing.assert_allclose(V[:, :5], V[:1, :5].repeat(1001, 0), atol=1e-9)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("e", [0.5, 0.8])
def test_each_bounce_reaches_e_squared_of_the_last(e, integrator):
    """Heights fall by e^2 from bounce to bounce (Euler: to first order in h)."""
    exact = integrator != "semi_implicit_euler"
    with dropped(1.0, rd.Material(0.0, restitution=e), 1e-3, integrator) as shown:
        tops, before = [], 0.0
        level = 0.1 - shown.sim.contact.slop / 2
        while len(tops) < 4:
            shown.step()
            v, z = twist(shown.sim)[5], position(shown.sim)[2] - level
            if before > 0.0 >= v:
                tops.append(z + v**2 / (2 * G))
            before = v
        top = 1.1 - level
        assert tops == pytest.approx([top * e ** (2 * k) for k in (1, 2, 3, 4)], rel=1e-9 if exact else 0.03)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("e", [0.5, 0.8])
def test_bounces_come_to_an_end(e, integrator):
    """After sqrt(2 h / g) (1 + e) / (1 - e); bounces shorter than a step or slower than the threshold are cut off."""
    h, threshold = 1 / 1000, 0.02
    with dropped(0.1, rd.Material(0.0, restitution=e), h, integrator, restitution_threshold=threshold) as shown:
        end = np.sqrt(2 * 0.1 / G) * (1 + e) / (1 - e)
        cut = 2 * threshold / G / (1 - e) + 4 * h / (1 - e)  # all bounces after the threshold, a step at each bounce
        last = 0.0
        while shown.sim.time < end + 0.1:
            shown.step()
            if abs(twist(shown.sim)[5]) > 1e-6:
                last = shown.sim.time
        assert end - cut < last < end + 4 * h / (1 - e)
        assert abs(position(shown.sim)[2] - 0.1) < 2e-5


@pytest.mark.parametrize("mu", [0.05, 0.15, 0.5])
@pytest.mark.parametrize("e", [0.0, 0.6, 1.0])
def test_an_oblique_bounce(mu, e):
    """J_n = (1 + e) m v_n; J_t = min(mu J_n, 2/7 m slip): the ball slides through the bounce, or leaves rolling."""
    m, r, v, w = 2.0, 0.1, np.array([1.5, 0.4, -3.0]), np.array([4.0, 9.0, -5.0])
    material = rd.Material(mu, restitution=e)
    scene = Scene(gravity=(0, 0, 0))
    scene.world.shapes.append(shapes.Plane(material=material))
    put(scene, "ball", shapes.Sphere(r, material=material), at(z=r + 0.005), m)
    with mirror(scene) as shown:
        set_twist(shown.sim, "ball", w, v)
        shown.step(2 if e else 1)
        slip = v[:2] + np.cross(w, [0, 0, -r])[:2]
        J = np.zeros(3)
        J[2] = (1 + e) * m * -v[2]
        J[:2] = -min(mu * J[2], 2 / 7 * m * np.linalg.norm(slip)) * slip / np.linalg.norm(slip)
        expected = np.concatenate([w + np.cross([0, 0, -r], J) / (0.4 * m * r**2), v + J / m])
        # the point of contact is that of the overlapping ball at the step's end: O(h)
        np.testing.assert_allclose(twist(shown.sim), expected, atol=1e-6)


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_two_balls_collide(e):
    """v' of masses m, M on one line, whatever overlap the step ends in; both momenta exact."""
    m, M, u, U = 1.0, 3.0, 2.0, -0.5
    material = rd.Material(0.0, restitution=e)
    scene = Scene(gravity=(0, 0, 0))
    put(scene, "light", shapes.Sphere(0.1, material=material), at(-0.3), m)
    put(scene, "heavy", shapes.Sphere(0.2, material=material), at(0.3), M)
    with mirror(scene, ground=False) as shown:
        set_twist(shown.sim, "light", velocity=(u, 0, 0))
        set_twist(shown.sim, "heavy", velocity=(U, 0, 0))
        shown.step(60)
        common = (m * u + M * U) / (m + M)
        assert twist(shown.sim, "light")[3] == pytest.approx(common - e * M * (u - U) / (m + M), abs=1e-12)
        assert twist(shown.sim, "heavy")[3] == pytest.approx(common + e * m * (u - U) / (m + M), abs=1e-12)


def test_newtons_cradle():
    """Five equal balls nearly in touch: what comes in at one end leaves at the other, the rest stay."""
    scene = Scene(gravity=(0, 0, 0))
    for k in range(5):
        ball = Body(f"ball{k}", [shapes.Sphere(0.05, material=ICE)], mass=0.3)
        scene.world.attach(ball, joints.prismatic("x"), at=at(0.1001 * k - (0.2 if k == 0 else 0.0)))
    with mirror(scene, ground=False) as shown:
        shown.sim.v[0] = 1.0
        shown.step(120)
        np.testing.assert_allclose(shown.sim.v, [0, 0, 0, 0, 1], atol=1e-6)


def test_a_falling_rod_strikes_with_one_end():
    """Free, horizontal: J = (1 + e) v / (1 / m + (l / 2)^2 / I), three quarters of the mass being elsewhere."""
    m, e, v = 1.2, 0.4, 2.0
    material = rd.Material(0.0, restitution=e)
    scene = Scene(gravity=(0, 0, 0))
    scene.world.shapes.append(shapes.Box((0.2, 0.2, 1.0), at=at(0.5, 0.0, -0.5), material=material))
    inertia = np.diag([1e-3, 0.1, 0.1])  # m l^2 / 12 with l = 1
    rod = Body("rod", [shapes.Sphere(0.05, at=at(x=0.5), material=material)], mass=m, center_of_mass=(0, 0, 0),
               inertia=inertia)  # fmt: skip
    scene.world.attach(rod, joints.free(), at=at(z=0.052))
    with mirror(scene, ground=False) as shown:
        set_twist(shown.sim, "rod", velocity=(0, 0, -v))
        shown.step(1)
        J = (1 + e) * v / (1 / m + 0.25 / 0.1)
        V = twist(shown.sim)
        assert V[5] == pytest.approx(-v + J / m, rel=1e-3)
        assert V[1] == pytest.approx(-0.5 * J / 0.1, rel=1e-3)
        assert shown.sim.contacts.impulse.sum(axis=0)[2] == pytest.approx(J, rel=1e-3)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_double_pendulum_strikes_a_post(integrator):
    """v+ = v- + M^-1 J^T p with J v+ = -e J v-: for any mechanism, here checked against its mass matrix."""
    e = 0.5
    material = rd.Material(0.0, restitution=e)
    scene = Scene(gravity=(0, 0, 0))
    rod = {"mass": 1.0, "center_of_mass": (0, 0, -0.25), "inertia": np.diag([0.02, 0.02, 0.001])}
    upper = scene.world.attach(Body("upper", **rod), joints.revolute("y"))
    lower = Body("lower", [shapes.Sphere(0.04, at=at(z=-0.5), material=material)], **rod)
    upper.attach(lower, joints.revolute("y"), at=at(z=-0.5))
    scene.world.shapes.append(shapes.Box((0.2, 0.2, 0.2), at=at(-0.1405, 0.0, -1.0), material=material))
    with mirror(scene, 1e-4, integrator, ground=False) as shown:
        sim = shown.sim
        sim.v = [1.0, 3.0]  # towards -x
        start = sim.v.copy()
        J = sim.dynamics.jacobian(sim.q, "lower", (-0.04, 0, -0.5))[3]
        assert J @ start < 0
        while sim.contacts.impulse.sum() == 0.0 and sim.time < 0.01:
            shown.step()
        M = sim.dynamics.mass_matrix(sim.q)
        p = -(1 + e) * (J @ start) / (J @ np.linalg.solve(M, J))
        np.testing.assert_allclose(sim.v, start + np.linalg.solve(M, J) * p, rtol=5e-3)
        assert sim.contacts.impulse[:, 0].sum() == pytest.approx(p, rel=5e-3)


def rimless_wheel(scene: Scene, spokes: int) -> None:
    """A point mass of 1 kg on spokes of 0.5 m in the xz-plane, their ends rounded by 1 mm; two of them stand."""
    ends = [np.pi / spokes * (2 * k + 1) for k in range(spokes)]
    feet = [shapes.Sphere(1e-3, at=at(0.5 * np.sin(a), 0, -0.5 * np.cos(a))) for a in ends]
    wheel = Body("wheel", feet, mass=1.0, center_of_mass=(0, 0, 0), inertia=np.eye(3) * 1e-6)
    joint = joints.prismatic("x") @ joints.prismatic("z") @ joints.revolute("y")
    scene.world.attach(wheel, joint, at=at(z=0.5 * np.cos(np.pi / spokes) + 1e-3))
    scene.pair("wheel", "world", material=rd.Material(5.0))


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("spokes", [5, 6, 8, 12])
def test_a_rimless_wheel_goes_from_one_spoke_to_the_next(spokes, integrator):
    """w+ / w- = (H^2 - s^2) / (H^2 + s^2), the hub H up and s behind the spoke's end: cos(2 pi / n) on sharp ends."""
    scene = Scene()
    rimless_wheel(scene, spokes)
    with mirror(scene, 1e-5, integrator) as shown:
        sim, up, behind, w = shown.sim, position(shown.sim)[2], 0.5 * np.sin(np.pi / spokes), 1.0
        sim.contact.substeps = 1
        sim.q = [0.0, behind * 5e-5, -5e-5]  # a moment before the front end lands
        sim.v = [up * w, -behind * w, w]
        rates = [w]
        for _ in range(15):
            shown.step()
            rates.append(sim.v[2])
        ratios = np.array(rates[1:]) / rates[:-1]
        landing = ratios.min()
        assert np.count_nonzero(ratios < 0.99) == 1, "gravity changes it by 2e-4 a step"
        assert landing == pytest.approx((up**2 - behind**2) / (up**2 + behind**2), abs=1e-3)
        assert landing == pytest.approx(np.cos(2 * np.pi / spokes), abs=5e-3)


def test_a_rimless_wheel_finds_its_pace_downhill():
    """The pace w before each landing settles where (1 - cos^2(2 pi / n)) w^2 = 4 g sin(slope) sin(pi / n) / l."""
    slope, n = 0.12, 8
    scene = Scene(gravity=(G * np.sin(slope), 0.0, -G * np.cos(slope)))
    rimless_wheel(scene, n)
    with mirror(scene, 1 / 500, "rk4") as shown:
        sim = shown.sim
        sim.contact.substeps = 1
        sim.v = [0.5 * 2.4, 0.0, 2.4]
        rates = []
        for _ in range(2000):
            shown.step()
            rates.append(sim.v[2])
        paces = [a for a, b in pairwise(rates) if b < 0.8 * a]
        pace = np.sqrt(4 * G / 0.5 * np.sin(slope) * np.sin(np.pi / n) / np.sin(2 * np.pi / n) ** 2)
        assert len(paces) > 8
        assert paces[-3:] == pytest.approx([pace] * 3, rel=0.01)


@pytest.mark.parametrize("h", [1 / 60, 1 / 240])
@pytest.mark.parametrize("walls", [2, 3])
@pytest.mark.parametrize("friction", [1.0, 2.0])
def test_what_comes_straight_into_a_corner_leaves_it_as_what_hits_one_wall_just_before(friction, walls, h):
    """All walls at once have no common solution, as each rubs as hard as the others push: it stopped dead there."""

    def left(speeds):
        scene, rubber = Scene(gravity=(0, 0, 0)), rd.Material(friction, restitution=1.0)
        for axis in range(walls):
            size, place = np.where(np.arange(3) == axis, 0.2, 4.0), np.where(np.arange(3) == axis, 1.1, 0.0)
            scene.world.shapes.append(shapes.Box(tuple(size), at=at(*place), material=rubber))
        put(scene, "ball", shapes.Sphere(0.1, material=rubber), at(), 1.0)
        with mirror(scene, h, "linearly_implicit_rk4", ground=False) as shown:
            set_twist(shown.sim, "ball", velocity=np.r_[speeds[:walls], np.zeros(3 - walls)])
            first = energy(shown.sim)
            shown.step(round(0.6 / h))
            assert (position(shown.sim, "ball") < 0.9 + 1e-4).all()
            return energy(shown.sim) / first

    straight, before = left(np.array([3.0, 3.0, 3.0])), left(np.array([3.0, 2.99, 2.98]))
    assert 0.7 < straight < 0.9
    assert straight == pytest.approx(before, rel=0.02)


@pytest.mark.parametrize("led", ["by time", "prescribed"])
@pytest.mark.parametrize("acceleration", [4.0, -4.0])
def test_a_bounce_off_what_is_led_meets_the_speed_that_it_has_then(led, acceleration):
    """A platform at a t^2 / 2, fallen on from half a metre: not the speed that it has where the step ends, which is off
    by (1 + e) a times what is left of the step: 0.1 m/s at 1/60 s."""
    scene, material, e = Scene(), rd.Material(0.0, restitution=0.8), 0.8
    height, lift = 0.5 * acceleration * scene.time**2, sympy.eye(4)
    lift[2, 3] = height
    joint = joints.Joint(lift, ()) if led == "by time" else joints.prismatic("z")
    put(scene, "platform", shapes.Box((4, 4, 0.2), material=material), at(z=-0.1), joint=joint)
    put(scene, "ball", shapes.Sphere(0.1, material=material), at(z=0.6))
    with mirror(scene, 1 / 60, ground=False) as shown:
        if led == "prescribed":
            shown.sim.prescribe("platform.distance", height)
        hit = np.sqrt(1.0 / (G + acceleration))
        shown.step(round((hit + 0.15) * 60))
        left = shown.sim.time - hit
        rebound = acceleration * hit + e * (G + acceleration) * hit
        assert twist(shown.sim, "ball")[5] == pytest.approx(rebound - G * left, abs=2e-4)
        exact = 0.1 + 0.5 * acceleration * hit**2 + (rebound - 0.5 * G * left) * left
        assert position(shown.sim, "ball")[2] == pytest.approx(exact, abs=1e-4)
