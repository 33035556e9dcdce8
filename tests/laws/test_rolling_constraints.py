"""Nonholonomic motion against its closed forms: rolling without slip, with and without pivoting, blades and discs."""

import numpy as np
import pytest
import sympy as sp
from trees import assert_close, random_body

import recursive_dyn as rd
from scene import Body, Scene, joints
from scene.joints import surfaces

G = 9.81
PAIRS = {
    "plane, ellipsoid": (surfaces.plane(), surfaces.ellipsoid(0.5, 0.3, 0.2, poles="x"), True),
    "ellipsoid, ellipsoid": (surfaces.ellipsoid(1.0, 0.8, 0.7), surfaces.ellipsoid(0.5, 0.3, 0.2), True),
    "torus, sphere": (surfaces.torus(1.0, 0.3), surfaces.sphere(0.2), True),
    "sphere in sphere": (surfaces.sphere(1.0), surfaces.sphere(0.4, poles="y"), False),
    "paraboloid, torus": (surfaces.paraboloid(2.0, 3.0), surfaces.torus(0.4, 0.1, poles="y"), False),
}


def rolling_scene(first, second, flip=True, spin=True, pivoting=True, turn=0.4, **scene_options):
    """A body rolling on another one that is free in space."""
    scene, rng = Scene(**scene_options), np.random.default_rng(1)
    table = scene.world.attach(random_body(rng, "table"), joints.free())
    joint = joints.surface_on_surface(first, second, flip=flip, spin=spin, turn=turn)
    body = table.attach(random_body(rng, "body"), joint, at=rd.pose((0.1, 0.2, 0.3), (0.4, 0.5, 0.6)))
    scene.roll(body, pivoting=pivoting)
    return scene, body


@pytest.mark.parametrize("pivoting", [True, False])
@pytest.mark.parametrize("spin", [True, False])
@pytest.mark.parametrize("pair", PAIRS)
def test_the_material_of_both_bodies_moves_alike_at_the_contact(pair, spin, pivoting):
    """What eq. 16 says of the contact point's ways over the surfaces, seen by the material points there."""
    first, second, flip = PAIRS[pair]
    scene, _ = rolling_scene(first, second, flip, spin, pivoting)
    d, rng = scene.compile(), np.random.default_rng(2)
    f = sp.Matrix(first.f)
    at = sp.lambdify(first.coordinates, first.f)
    across = sp.lambdify(first.coordinates, f.diff(first.coordinates[0]).cross(f.diff(first.coordinates[1])))
    placed = np.asarray(scene["body"].placement, dtype=float)
    for _ in range(4):
        q = d.neutral()
        q[7:] = rng.uniform(0.2, 0.8, d.nq - 7)
        v = d.project(q, rng.normal(size=d.nv))[1]
        assert np.abs(v[6:]).max() > 1e-3  # it does move, without spin and pivoting in one way only
        poses, twists = d.poses(q), d.velocities(q, v)
        contact = (poses[0] @ placed @ [*np.array(at(*q[7:9]), dtype=float), 1.0])[:3]
        points = [V[3:] + np.cross(V[:3], contact - X[:3, 3]) for X, V in zip(poses, twists, strict=True)]
        assert_close(points[0], points[1], 1e-10)
        normal = (poses[0] @ placed)[:3, :3] @ np.array(across(*q[7:9]), dtype=float).ravel()
        pivot = normal @ (twists[1, :3] - twists[0, :3]) / np.linalg.norm(normal)
        assert abs(pivot) < 1e-10 if not pivoting else abs(pivot) > 1e-3


def stone_on_its_pole(axes):
    """A stone that lies flat, where its chart about z has its pole, and starts to roll; (simulation, its energy)."""
    scene = Scene(gravity=(0, 0, -G))
    parts = [
        joints.surface_on_surface(surfaces.plane(), surfaces.ellipsoid(0.2, 0.1, 0.07, poles=axis), spin=True)
        for axis in axes
    ]
    body = Body("stone", mass=1.0, inertia=np.diag([0.0024, 0.0071, 0.008]))
    scene.world.attach(body, joints.charts(*parts) if len(parts) > 1 else parts[0])
    scene.roll("stone")
    sim = rd.Simulation(scene.compile(), timestep=1e-3, integrator="rk4")
    d = sim.dynamics
    sim.q[:] = [0.0, 0.0, 0.3, -1.3, 0.1]
    rows = np.vstack([d.jacobian(sim.q, "stone")[:3], d.call("constraint_jacobian", sim.q).reshape(2, 5)])
    sim.v[:] = np.linalg.solve(rows, [14.0, 0.5, 0.3, 0.0, 0.0])

    def energy():
        return float(d.kinetic_energy(sim.q, sim.v) + d.potential_energy(sim.q))

    return sim, energy


def test_a_stone_in_two_charts_rolls_over_its_pole():
    sim, energy = stone_on_its_pole("zx")
    start, places, charts = energy(), [], {sim.charts["stone"]}
    for _ in range(2000):
        sim.step()
        charts.add(sim.charts["stone"])
        places.append(sim.dynamics.poses(sim.q)[0])
        d = sim.dynamics
        assert np.abs(d.call("constraint_velocities", sim.q, sim.v)).max() < 1e-7
    assert charts == {0, 1} and min(X[2, 2] for X in places) < -0.99 and max(X[2, 2] for X in places) > 0.99
    assert abs(energy() - start) < 1e-6 * start


@pytest.mark.parametrize("pivoting", [True, False])
def test_a_ball_rolls_down_an_incline_with_five_sevenths(pivoting):
    """a = 5/7 g sin(slope), whatever its own orientation."""
    slope, mass, radius = 0.3, 2.0, 0.25
    scene = Scene(gravity=(G * np.sin(slope), 0, -G * np.cos(slope)))
    joint = joints.surface_on_surface(surfaces.plane(), surfaces.sphere(radius), spin=True)
    ball = scene.world.attach(Body("ball", mass=mass, inertia=np.eye(3) * 0.4 * mass * radius**2), joint)
    scene.roll(ball, pivoting=pivoting)
    d = scene.compile()
    simulation = rd.Simulation(d, 1e-3, "rk4")
    simulation.q, simulation.v = d.project([0, 0, 0.4, 0.3, 0.7], [0.0, 0.3, 0, 0, 0])
    start, speed = simulation.q.copy(), simulation.v[:2].copy()
    simulation.step(500)
    expected = start[:2] + speed * 0.5 + np.array([5 / 7 * G * np.sin(slope), 0]) * 0.5**2 / 2
    assert_close(simulation.q[:2], expected, 1e-10)
    # friction at the contact is 2/7 m g sin(slope), up the slope
    force = np.linalg.norm(simulation.multipliers[:2])
    assert force == pytest.approx(2 / 7 * mass * G * np.sin(slope), rel=1e-9)


def test_a_ball_on_a_turntable_circles_with_two_sevenths_of_its_turning():
    """The centre of a rolling ball on a table of angular velocity W goes round a circle with 2/7 W."""
    W, radius, mass = 3.0, 0.1, 1.3
    scene = Scene()
    heavy = 1e9  # kg m^2: what the ball does to it is below rounding of the result
    table = scene.world.attach(Body("table", mass=1.0, inertia=np.eye(3) * heavy), joints.revolute("z"))
    joint = joints.surface_on_surface(surfaces.plane(), surfaces.sphere(radius), spin=True)
    ball = table.attach(Body("ball", mass=mass, inertia=np.eye(3) * 0.4 * mass * radius**2), joint)
    scene.roll(ball)
    d = scene.compile()
    simulation = rd.Simulation(d, 1e-3, "rk4")
    simulation.q, simulation.v = d.project([0, 0.5, 0.2, 0.3, 0.2, 0.1], [W, 0.2, -0.7, 1.0, 0.5, 0.3])
    assert simulation.v[0] == pytest.approx(W, abs=1e-8)
    place, speed = d.poses(simulation.q)[1, :3, 3], d.velocities(simulation.q, simulation.v)[1, 3:]
    w = 2 / 7 * W
    simulation.step(1000)
    s, c = np.sin(w), np.cos(w)
    turned = np.array([s * speed[0] - (1 - c) * speed[1], (1 - c) * speed[0] + s * speed[1], 0.0]) / w
    assert_close(d.poses(simulation.q)[1, :3, 3], place + turned, 1e-7)


def disc_scene(mass: float, radius: float, A: float, C: float) -> Scene:
    """A disc on the plane: centre (x, y), heading, lean from the ground, spin; its rim does not slip."""
    x, y, heading, lean, spin = sp.symbols("x y heading lean spin", real=True)
    turn = sp.rot_axis3(-heading) * sp.rot_axis1(-lean) * sp.rot_axis3(-spin)
    transform = turn.row_join(sp.Matrix([x, y, radius * sp.sin(lean)])).col_join(sp.Matrix([[0, 0, 0, 1]]))
    scene = Scene()
    joint = joints.Joint(transform, (x, y, heading, lean, spin))
    disc = scene.world.attach(Body("disc", mass=mass, inertia=np.diag([A, A, C])), joint)
    angle = disc.q[4]
    rim = disc.point_velocity((-radius * sp.sin(angle), -radius * sp.cos(angle), 0))
    scene.constrain(rim[0], rim[1], name="rim")
    return scene


@pytest.mark.parametrize(("shape", "lean", "rate"), [("hoop", 1.1, 0.9), ("coin", 0.4, 3.0), ("hoop", 1.5, -2.0)])
def test_a_disc_rolls_round_a_circle(shape, lean, rate):
    """(C + m r^2) n W sin - A W^2 sin cos + m g r cos = 0 of lean, turn rate W and spin n about the axis."""
    mass, r = 1.5, 0.3
    A, C = (0.5 * mass * r**2, mass * r**2) if shape == "hoop" else (0.25 * mass * r**2, 0.5 * mass * r**2)
    s, c = np.sin(lean), np.cos(lean)
    n = (A * rate**2 * s * c - mass * G * r * c) / ((C + mass * r**2) * rate * s)
    d = disc_scene(mass, r, A, C).compile()
    q, v = d.project([0, 0, 0, lean, 0], [-n * r, 0, rate, 0, n - rate * c])
    assert_close(v, [-n * r, 0, rate, 0, n - rate * c], 1e-14)
    assert_close(d.forward_dynamics(q, v), [0, -n * r * rate, 0, 0, 0], 1e-12, scale=10.0)
    simulation = rd.Simulation(d, 1e-3, "rk4")
    simulation.q, simulation.v = q, v
    simulation.step(1000)
    angle, reach = rate, -n * r / rate
    expected = [reach * np.sin(angle), reach * (1 - np.cos(angle)), rate, lean, n - rate * c]
    assert_close(simulation.q, expected, 1e-8)  # unstable ones grow rounding by some e-foldings


def sleigh(offset: float, gravity=(0, 0, 0), mass: float = 2.0, inertia: float = 0.5) -> Scene:
    """A blade along x of a planar body whose centre of mass is ``offset`` ahead of it."""
    scene = Scene(gravity=gravity)
    body = Body("sleigh", mass=mass, inertia=np.eye(3) * inertia, center_of_mass=(offset, 0, 0))
    joint = joints.prismatic("x") @ joints.prismatic("y") @ joints.revolute("z")
    scene.world.attach(body, joint)
    scene.constrain(body.velocity.dot(body.direction((0, 1, 0))), name="blade")
    return scene


def test_chaplygin_sleigh():
    """u = U tanh(a m U t / (J + m a^2) + start), turning ever slower: it ends with its mass ahead."""
    a, mass, inertia = 0.4, 2.0, 0.5
    d = sleigh(a).compile()
    simulation = rd.Simulation(d, 1e-3, "rk4")
    u, w = -0.3, 1.2
    simulation.v = u, 0.0, w
    whole = inertia + mass * a**2
    U = np.sqrt(u**2 + whole * w**2 / mass)
    for _ in range(5):
        simulation.step(1000)
        speed = U * np.tanh(a * mass * U / whole * simulation.time + np.arctanh(u / U))
        heading = simulation.q[2]
        along = simulation.v[0] * np.cos(heading) + simulation.v[1] * np.sin(heading)
        turning = np.sqrt(mass * (U**2 - speed**2) / whole)
        assert_close([along, simulation.v[2]], [speed, turning], 1e-10)


def test_a_skate_on_an_incline_draws_a_cycloid():
    """It does not slide down: x = k (1 - cos 2 w t), y = k (2 w t - sin 2 w t), k = g sin(slope) / (4 w^2)."""
    slope, w = 0.5, 1.7
    d = sleigh(0.0, gravity=(G * np.sin(slope), 0, -G * np.cos(slope))).compile()
    simulation = rd.Simulation(d, 1e-3, "rk4")
    simulation.v = 0.0, 0.0, w
    k = G * np.sin(slope) / (4 * w**2)
    for _ in range(6):
        simulation.step(1000)
        angle = 2 * w * simulation.time
        assert_close(simulation.q, [k * (1 - np.cos(angle)), k * (angle - np.sin(angle)), angle / 2], 1e-10)


def test_what_rolls_must_hang_on_two_surfaces():
    scene = Scene()
    ball = scene.world.attach(Body("ball", mass=1.0), joints.revolute("x"))
    with pytest.raises(rd.ModelError, match=r"'rolling of ball'.*'ball' rolls .*surface_on_surface"):
        scene.roll(ball)
    with pytest.raises(rd.ModelError, match=r"'loose'.*surface_on_surface"):
        scene.roll(Body("free"), name="loose")
