"""Motion under holonomic constraints: closed forms, the same mechanism in fewer coordinates, drift and orders."""

import numpy as np
import pytest
import sympy as sp
from trees import assert_close, curve, derivative

import recursive_dyn as rd
from scene import Body, Scene, joints

G = 9.81
INTEGRATORS = {"semi_implicit_euler": 1, "implicit_midpoint": 2, "rk4": 4}


def particle(mass: float, length: float, gravity=(0, 0, -G)):
    """A point mass on a rod to the origin."""
    scene = Scene(gravity=gravity)
    body = Body("mass", mass=mass, inertia=np.zeros((3, 3)))
    scene.world.attach(body, joints.prismatic("x") @ joints.prismatic("y") @ joints.prismatic("z"))
    scene.constrain(sp.sqrt(body.position.dot(body.position)) - length, name="rod")
    return scene


def test_a_hanging_weight_pulls_with_its_weight():
    simulation = rd.Simulation(particle(2.5, 0.7).compile())
    simulation.q = 0.0, 0.0, -0.7
    simulation.step(10)
    assert_close(simulation.multipliers, [-2.5 * G], 1e-12)  # against a longer rod
    assert_close(simulation.q, [0, 0, -0.7], 1e-12)
    simulation.tau[2] = -10.0
    assert_close(simulation.multipliers, [-2.5 * G - 10.0], 1e-12)


def test_springs_and_damping_are_borne_by_the_constraints():
    """A rod holds a spring's end: the multiplier is the spring's force and the weight."""
    scene = Scene()
    weight = scene.world.attach(Body("w", mass=2.0), joints.prismatic("z", stiffness=300.0, rest=0.5, damping=4.0))
    scene.constrain(weight.q[0] - 0.2, name="stop")
    simulation = rd.Simulation(scene.compile(), 1 / 60)
    simulation.step(3)
    assert_close(simulation.multipliers, [2.0 * G - 300.0 * 0.3], 1e-12)


@pytest.mark.parametrize(("q", "v"), [((0.0, 0.9), (0.0, 0.4)), ((0.5, 0.9), (1.1, 0.4))], ids=["plane", "spherical"])
def test_a_particle_on_a_rod_is_a_pendulum(q, v):
    """The tension is m (g cos + v^2 / l), and the path that of two hinges."""
    mass, length = 1.4, 0.8
    d = particle(mass, length).compile()
    hinges = Scene()
    bob = {"mass": mass, "center_of_mass": (0, 0, -length), "inertia": np.zeros((3, 3))}
    hinges.world.attach(Body("bob", **bob), joints.universal("x", "y"))
    e = hinges.compile("lagrangian")  # no inertia of its own about z
    X, tip = e.poses(q)[0], e.jacobian(q, "bob", (0, 0, -length))[3:]
    one, two = rd.Simulation(d, 1e-3, "rk4"), rd.Simulation(e, 1e-3, "rk4")
    one.q, one.v = X[:3, :3] @ [0, 0, -length], tip @ v
    two.q, two.v = q, v
    for _ in range(4):
        one.step(500)
        two.step(500)
        expected = e.poses(two.q)[0, :3, :3] @ [0, 0, -length]
        assert_close(one.q, expected, 1e-8)
        tension = mass * (one.v @ one.v / length - G * one.q[2] / length)
        assert_close(one.multipliers, [-tension], 1e-9)


def test_a_rod_between_two_masses_is_the_second_link_of_a_double_pendulum():
    masses, lengths = (1.0, 0.6), (0.7, 0.5)
    links, rods = Scene(), Scene()
    upper = {"mass": masses[0], "center_of_mass": (0, 0, -lengths[0]), "inertia": np.eye(3) * 0.01}
    lower = {"mass": masses[1], "center_of_mass": (0, 0, -lengths[1]), "inertia": np.zeros((3, 3))}
    first = links.world.attach(Body("upper", **upper), joints.revolute("y"))
    first.attach(Body("lower", **lower), joints.revolute("y"), at=rd.pose((0, 0, -lengths[0])))
    arm = rods.world.attach(Body("upper", **upper), joints.revolute("y"))
    bob = Body("bob", mass=masses[1], inertia=np.zeros((3, 3)))
    rods.world.attach(bob, joints.prismatic("x") @ joints.prismatic("z"))
    gap = bob.position - arm.point((0, 0, -lengths[0]))
    rods.constrain(sp.sqrt(gap.dot(gap)) - lengths[1], name="rod")
    d, e = links.compile(), rods.compile()
    one, two = rd.Simulation(d, 5e-4, "rk4"), rd.Simulation(e, 5e-4, "rk4")
    one.q, one.v = [0.9, 0.7], [1.0, -2.0]

    def seen():
        tip = (d.poses(one.q)[1] @ [0, 0, -lengths[1], 1])[:3]
        J = d.jacobian(one.q, "lower", (0, 0, -lengths[1]))[3:]
        return [one.q[0], tip[0], tip[2]], [one.v[0], *(J @ one.v)[[0, 2]]]

    two.q, two.v = seen()
    for _ in range(4):
        one.step(1000)
        two.step(1000)
        assert_close(two.q, seen()[0], 1e-8)


CRANK, COUPLER, ROCKER, GROUND = 0.4, 1.1, 0.9, 1.2


def four_bar(closed_form: bool) -> Scene:
    """Crank, coupler, rocker in the xy-plane: driven by the crank in closed form, or closed by a pin constraint."""
    scene = Scene(gravity=(0, -G, 0))
    theta = scene.coordinate("theta") if closed_form else None
    bars = [
        Body(name, mass=m, center_of_mass=(size / 2, 0.05, 0), inertia=np.eye(3) * 0.04 * m)
        for name, m, size in (("crank", 1.0, CRANK), ("coupler", 1.5, COUPLER), ("rocker", 0.8, ROCKER))
    ]
    hinges = [joints.revolute("z") for _ in bars]
    if closed_form:
        x, y = CRANK * sp.cos(theta) - GROUND, CRANK * sp.sin(theta)
        reach = sp.sqrt(x**2 + y**2)
        rock = sp.atan2(y, x) - sp.acos((reach**2 + ROCKER**2 - COUPLER**2) / (2 * ROCKER * reach))
        lean = sp.atan2(ROCKER * sp.sin(rock) - y, GROUND + ROCKER * sp.cos(rock) - x - GROUND)
        hinges = [h.driven(e) for h, e in zip(hinges, (theta, lean - theta, rock), strict=True)]
    crank = scene.world.attach(bars[0], hinges[0])
    coupler = crank.attach(bars[1], hinges[1], at=rd.pose((CRANK, 0, 0)))
    rocker = scene.world.attach(bars[2], hinges[2], at=rd.pose((GROUND, 0, 0)))
    if not closed_form:
        loop = coupler.point((COUPLER, 0, 0)) - rocker.point((ROCKER, 0, 0))
        scene.constrain(loop[0], loop[1], name="pin")
    return scene


def angles(d: rd.Dynamics, q: np.ndarray) -> np.ndarray:
    """(crank, coupler against crank, rocker) of the closed form."""
    X = d.poses(q)
    turned = np.arctan2(X[..., 1, 0], X[..., 0, 0])
    return turned - np.stack([0 * turned[..., 0], turned[..., 0], 0 * turned[..., 0]], axis=-1)


def started(h: float, integrator: str = "rk4") -> tuple[rd.Simulation, rd.Simulation]:
    """(closed form, pin) in the same state."""
    exact, pinned = four_bar(True).compile(), four_bar(False).compile()
    one, two = rd.Simulation(exact, h, integrator), rd.Simulation(pinned, h, integrator)
    one.q, one.v = [0.3], [2.0]
    rates = exact.velocities(one.q, one.v)[:, 2]
    two.q, two.v = angles(exact, one.q), rates - [0, rates[0], 0]
    return one, two


def lever(r: np.ndarray) -> np.ndarray:
    """The row (2,) by which a force at r from the axis becomes a moment about z."""
    return np.array([-r[1], r[0]])


def newton_euler_pin_force(d: rd.Dynamics, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Force (2,) on the coupler at the pin to the rocker, from the accelerations of the closed form's bodies."""
    a = d.forward_dynamics(q, v)
    bodies = d.model.bodies
    centers = np.array([[0.55, 0.05, 0.0], [0.45, 0.05, 0.0]])  # coupler, rocker

    def motion(t):
        state = curve(d, q, v, a, t)
        J = np.stack([d.jacobian(state[0], bodies[i].name, c) for i, c in zip((1, 2), centers, strict=True)], axis=1)
        return np.einsum("tbij,tj->tbi", J, state[1])

    A, X = derivative(motion), d.poses(q)
    mass, inertia = np.array([1.5, 0.8]), np.array([1.5, 0.8]) * 0.04
    place = [(X[i] @ [*c, 1])[:2] for i, c in zip((1, 2), centers, strict=True)]
    pin, joint = (X[1] @ [COUPLER, 0, 0, 1])[:2], X[1, :2, 3]
    to_pin, to_joint = pin - place[0], joint - place[0]
    out = pin - [GROUND, 0.0]
    arm = place[1] - [GROUND, 0.0]
    # unknown: the pin's force on the coupler, the crank's force on the coupler
    rows = [[1, 0, 1, 0], [0, 1, 0, 1], [*lever(to_pin), *lever(to_joint)], [*-lever(out), 0, 0]]
    inertial = mass[:, None] * (A[:, 3:5] + [0, G])
    moment = inertia[1] * A[1, 2] + lever(arm) @ inertial[1]
    return np.linalg.solve(rows, [*inertial[0], inertia[0] * A[0, 2], moment])[:2]


def test_a_four_bar_closed_by_a_pin_moves_as_its_closed_form():
    one, two = started(2e-3)
    for _ in range(20):
        one.step(50)
        two.step(50)
        gap = two.q - angles(one.dynamics, one.q)
        assert np.abs(gap - 2 * np.pi * np.round(gap / (2 * np.pi))).max() < 1e-8
        expected = newton_euler_pin_force(one.dynamics, one.q, one.v)
        assert_close(two.multipliers, expected, 1e-6)


def test_a_row_between_coordinates_is_a_gear():
    """A rack constraint between a rail and a pinion equals the pinion that follows the rail."""
    results = []
    for tied in (True, False):
        scene = Scene(gravity=(3.0, 0, 0))
        rail = scene.world.attach(Body("rail", mass=2.0), joints.prismatic("x", armature=0.3))
        hinge = joints.revolute("z")
        wheel = Body("wheel", mass=1.0, center_of_mass=(0.1, 0.2, 0), inertia=np.eye(3) * 0.2)
        scene.world.attach(wheel, hinge.follow("rail", 4.0, 0.5) if tied else hinge)
        if not tied:
            scene.constrain(wheel.q[0] - 4 * rail.q[0] - sp.Rational(1, 2), name="rack")
        d = scene.compile()
        simulation = rd.Simulation(d, 1e-3, "rk4")
        simulation.q, simulation.v = ([0.1], [0.7]) if tied else ([0.1, 0.9], [0.7, 2.8])
        simulation.step(1000)
        results.append((simulation.q[0], simulation.v[0]))
    assert_close(results[0], results[1], 1e-10)


def swinging_table() -> Scene:
    """A plate on two rods with a blade under it, and a ball on a third: holonomic and nonholonomic rows."""
    scene = Scene()
    plate = scene.world.attach(Body("plate", mass=2.0, inertia=np.diag([0.2, 0.3, 0.4])), joints.free())
    for i, (p, anchor) in enumerate((((0.3, 0, 0), (0.4, 0, 0.8)), ((-0.3, 0.1, 0), (-0.4, 0, 0.9)))):
        gap = plate.point(p) - sp.Matrix(anchor)
        scene.constrain(sp.sqrt(gap.dot(gap)) - 1.0, name=f"rod {i}")
    scene.constrain(plate.point_velocity((0, 0.1, 0)).dot(plate.direction((0.2, 1, 0.3))), name="blade")
    bob = plate.attach(Body("bob", mass=0.5, center_of_mass=(0, 0, -0.4), inertia=np.eye(3) * 0.01), joints.ball())
    gap = bob.point((0, 0, -0.5)) - sp.Matrix([0.0, 0.5, 0.2])
    scene.constrain(sp.sqrt(gap.dot(gap)) - 0.6, name="tie")
    return scene


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_constraints_hold_to_rounding_for_ten_thousand_steps(integrator):
    d = swinging_table().compile()
    simulation = rd.Simulation(d, 2e-3, integrator)
    simulation.q, simulation.v = d.project(d.neutral(), np.linspace(-1, 1, d.nv))
    for _ in range(100):
        simulation.step(100)
        phi, psi = d.constraint_errors(simulation.q, simulation.v)
        assert np.abs(phi).max() < 1e-9 and np.abs(psi).max() < 1e-9


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_states_converge_with_the_integrators_order(integrator):
    d = swinging_table().compile()
    start = d.project(d.neutral(), np.linspace(-1, 1, d.nv))

    def end(h: float, integrator: str) -> np.ndarray:
        simulation = rd.Simulation(d, h, integrator)
        simulation.q, simulation.v = start
        simulation.step(round(0.6 / h))
        return np.concatenate([d.poses(simulation.q).ravel(), simulation.v])

    fine = end(2.5e-4, "rk4")
    h = {"rk4": 0.01, "implicit_midpoint": 5e-3, "semi_implicit_euler": 2e-3}[integrator]
    errors = [np.abs(end(s, integrator) - fine).max() for s in (h, h / 2, h / 4)]
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    assert orders[-1] == pytest.approx(INTEGRATORS[integrator], abs=0.35)


@pytest.mark.parametrize(("stiffness", "damping"), [(1e6, 0.0), (1e6, 1e3), (0.0, 1e4)])
def test_stiff_springs_in_a_loop_make_no_energy_at_30_hz(stiffness, damping):
    """A closed chain that springs of 1e6 pull to and fro, which no step resolves: it went to 5e8 J. Steps that are
    taken as at singular positions keep its energy within 0.2 % of what it began with, others take it; where one of the
    first has more than the step before, by 1.4 % of that in all, this is told."""
    scene, rest = Scene(), (0.5, -0.8, 0.6)
    node = scene.world
    for k in range(3):
        link = Body(f"link{k}", mass=1.0, center_of_mass=(0.25, 0, 0), inertia=np.eye(3) * 0.02)
        joint = joints.revolute("z", stiffness=stiffness, damping=damping, rest=rest[k])
        node = node.attach(link, joint, at=rd.pose((0.5 if k else 0.0, 0, 0)))
    turned = np.cumsum(rest)
    tip = 0.5 * np.array([np.cos(turned).sum(), np.sin(turned).sum(), 0.0])
    scene.pin(node, scene.world, point_a=(0.5, 0, 0), point_b=tip, axis=(0, 0, 1))
    d = scene.compile()
    sim = rd.Simulation(d, 1 / 30)
    sim.q, sim.v = d.project(np.array(rest) + 1e-3, [0.05, 0.0, 0.0])

    def energy():
        return float(d.kinetic_energy(sim.q, sim.v) + d.potential_energy(sim.q) + d.elastic_energy(sim.q))

    start = energy()
    for _ in range(60):
        sim.step()
        assert energy() <= 1.002 * start
    assert energy() < 1e-6 * start and sim.report.unexplained_energy < 0.02 * start
