"""Force elements: gradients of their energies, balances of power, order four inside a step, and closed forms."""

from itertools import pairwise

import numpy as np
import pytest
import sympy as sp
from element_scenes import INERTIA, bodies

import recursive_dyn as rd
from recursive_dyn.errors import ModelError
from recursive_dyn.integrators import registry
from recursive_dyn.integrators.registry import INTEGRATORS
from recursive_dyn.simulation.flying.flight import Flight
from scene import Body, Scene, joints

CONSERVATIVE = {
    "spring": lambda s, a, h, st: s.spring(a, st, 60.0, rest=0.4, point_a=(0, 0, -0.5), point_b=(0, 0.1, 0)),
    "spring without length": lambda s, a, h, st: s.spring(
        h, s.world, 40.0, point_a=(0, 0, -0.4), point_b=(0.3, 0.2, -1)
    ),
    "gas spring": lambda s, a, h, st: s.gas_spring("hand", "stone", 8.0, 1.5, 4.0, 0.1),
    "bushing": lambda s, a, h, st: s.bushing(h, st, (3.0, 5.0, 4.0), (0.5, 0.4, 0.3), point_a=(0, 0, -0.3)),
    "gravitation": lambda s, a, h, st: s.gravitation([a, h, st], constant=0.5),
    "potential": lambda s, a, h, st: s.potential(3 * st.position[2] ** 2 + sp.sin(a.q[0]) * h.rotation[0, 2]),
}
WITHOUT = {
    "damper": lambda s, a, h, st: s.spring(a, st, 0.0, damping=3.0, point_b=(0, 0.1, 0)),
    "damped bushing": lambda s, a, h, st: s.bushing(h, st, 3.0, 0.5, (0.1, 0.2, 0.3), 0.02),
    "drag": lambda s, a, h, st: s.drag(st, 0.5, wind=(1, 2, 0), point=(0, 0.1, 0)),
    "muscle": lambda s, a, h, st: s.muscle([(s.world, (0, 0, 0.2)), (a, (0, 0.1, -0.2)), (h, (0, 0, -0.2))], 9.0, 0.9),
    "motor": lambda s, a, h, st: s.motor(a.q[0], [(-30, 5), (30, 1), (60, 0)], -0.7, 1.5),
    "force": lambda s, a, h, st: s.force(st, force=(sp.sin(a.q[0]), 0, st.velocity[0]), torque=(0, a.v[0], 1)),
    "measure": lambda s, a, h, st: s.force(a.q[0] * h.position[2], 2 - 3 * a.v[0]),
}  # fmt: skip
STRING = {
    "string": lambda s, a, h, st: s.string([(a, (0, 0, -0.3)), (h, (0, 0, -0.2)), (st, (0, 0, 0.1))], 80.0, 1.0, 2.0)
}
SMOOTH = CONSERVATIVE | WITHOUT


def with_element(make):
    parts = bodies()
    make(*parts)
    return parts[0]


def start(d, seed=3):
    rng = np.random.default_rng(seed)
    v = rng.normal(size=d.nv)
    return d.integrate(d.neutral(), 0.3 * rng.normal(size=d.nv), 1.0), v


@pytest.mark.parametrize("name", SMOOTH | STRING)
def test_power_is_what_energy_loses_and_terms_give(name):
    """v . passive forces = power of the terms - dU/dt, along the motion that v is the velocity of."""
    d = with_element((SMOOTH | STRING)[name]).compile()
    for seed in range(4):
        q, v = start(d, seed)
        rate = (d.elastic_energy(d.integrate(q, v, 1e-5)) - d.elastic_energy(d.integrate(q, v, -1e-5))) / 2e-5
        given = float(d.element_power(q, v))
        assert v @ d.passive_forces(q, v) == pytest.approx(given - rate, rel=3e-9, abs=2e-8)
        if name in CONSERVATIVE:
            assert given == 0.0
            assert np.array_equal(d.passive_forces(q, v), d.passive_forces(q, 0 * v))


@pytest.mark.parametrize("rule", ["rk4", "linearly_implicit_rk4"])
@pytest.mark.parametrize("name", SMOOTH)
def test_a_step_is_of_order_four(name, rule):
    """Forces are evaluated at the stages: half the step is a sixteenth of the error."""
    d = with_element(SMOOTH[name]).compile()
    q, v = start(d)

    def end(count):
        sim = rd.Simulation(d, 0.04 / count, rule)
        sim.q[:], sim.v[:] = q, v
        sim.step(count)
        return np.concatenate([d.difference(q, sim.q), sim.v])

    exact = end(512)
    coarse, fine = (np.abs(end(n) - exact).max() for n in (16, 32))  # steps that are not halved
    assert fine < 1e-6
    assert 11.0 < coarse / fine < 24.0


@pytest.mark.parametrize("rule", INTEGRATORS)
def test_every_rule_is_its_definition(rule):
    """The compiled step is the one written out over dense equations."""
    scene, *parts = bodies()
    for make in (CONSERVATIVE["spring"], CONSERVATIVE["bushing"], *WITHOUT.values()):
        make(scene, *parts)
    d = scene.compile()
    q, v = start(d)
    sim = rd.Simulation(d, 1e-3, rule)
    sim.q[:], sim.v[:] = q, v
    sim.step()
    q1, v1 = INTEGRATORS[rule].definition(d, q, v, np.zeros(d.nv), 1e-3)
    np.testing.assert_allclose(np.concatenate([sim.q, sim.v]), np.concatenate([q1, v1]), atol=1e-11)


@pytest.mark.parametrize("h", [1e-3, 1e-2])
def test_the_rule_for_what_is_pressed_is_its_definition(h):
    """By it springs, dampers and strings of any stiffness are implicit: stiff ones here, at h sqrt(k / m) up to 17."""
    scene, a, hand, stone = bodies()
    for make in (CONSERVATIVE["bushing"], *WITHOUT.values()):
        make(scene, a, hand, stone)
    scene.spring(a, stone, 1e6, 1e3, rest=1.0, point_a=(0, 0, -0.5))
    scene.spring(stone, scene.world, 3e4, 1e3, rest=0.8)
    d = scene.compile()
    q, v = start(d)
    flight, q1, v1 = Flight(d, "held_rk4"), q.copy(), v.copy()
    assert flight.advance(q1, v1, np.zeros(d.nv), h, 1, 0.0, False)[0] == 1
    expected = registry.rule("held_rk4").definition(d, q, v, np.zeros(d.nv), h)
    found, wanted = np.concatenate([q1, v1]), np.concatenate(expected)
    np.testing.assert_allclose(found, wanted, atol=1e-9 * np.abs(wanted).max())


def test_the_watch_explains_what_elements_do():
    """Energy less the work of what has none is kept: a muscle's, a wind's and a damper's too."""
    scene, *parts = bodies()
    for make in (*SMOOTH.values(), *STRING.values()):
        make(scene, *parts)
    d = scene.compile()
    sim = rd.Simulation(d, 1 / 240, "linearly_implicit_rk4")
    sim.q[:], sim.v[:] = start(d)
    sim.step(480)
    assert sim.report.unexplained_energy == 0.0


def test_internal_elements_keep_momentum():
    """What all bodies do together as one rigid body costs no work."""
    scene, nodes = Scene(gravity=(0, 0, 0)), []
    for i in range(3):
        body = Body(f"b{i}", mass=1.0 + i, inertia=INERTIA, center_of_mass=(0.1, 0, 0.05 * i))
        nodes.append(scene.world.attach(body, joints.free(), at=rd.pose((i, 0.3 * i * i, 0))))
    a, b, c = nodes
    scene.spring(a, b, 50.0, damping=2.0, rest=0.5, point_a=(0, 0.2, 0))
    scene.bushing(b, c, 4.0, 0.5, 0.3, 0.1)
    scene.muscle([(a, (0, 0, 0.1)), (b, (0.1, 0, 0)), (c, (0, 0, 0))], 5.0, 1.0)
    scene.gravitation(constant=1.0)
    d = scene.compile()
    rng = np.random.default_rng(2)
    for _ in range(4):
        q, v = d.random(rng), rng.normal(size=d.nv)
        omega, u = rng.normal(size=(2, 3))
        poses = d.poses(q)
        together = np.concatenate([[X[:3, :3].T @ omega, X[:3, :3].T @ (u + np.cross(omega, X[:3, 3]))] for X in poses])
        tau = d.passive_forces(q, v)
        assert together.ravel() @ tau == pytest.approx(0.0, abs=1e-12 * np.abs(tau).max())


def slider(scene, name="mass", mass=2.0, at=(0, 0, 0)):
    return scene.world.attach(Body(name, mass=mass, inertia=INERTIA), joints.prismatic("z"), at=rd.pose(at))


def run(scene, seconds, h=1 / 1000, rule="rk4", v=None):
    sim = rd.Simulation(scene.compile(), h, rule)
    if v is not None:
        sim.v[:] = v
    sim.step(round(seconds / h))
    return sim


def test_two_masses_on_a_spring():
    """The distance swings with sqrt(k / m) of the reduced mass."""
    scene = Scene(gravity=(0, 0, 0))
    a, b = slider(scene, "a", 2.0), slider(scene, "b", 3.0, (0, 0, 1))
    scene.spring(a, b, 30.0, rest=1.0)
    period = 2 * np.pi / np.sqrt(30.0 / (2.0 * 3.0 / 5.0))
    sim = rd.Simulation(scene.compile(), period / 1000, "rk4")
    sim.q[1] = 0.1
    sim.step(250)
    assert sim.q[1] - sim.q[0] == pytest.approx(0.0, abs=1e-9)
    sim.step(250)
    assert sim.q[1] - sim.q[0] == pytest.approx(-0.1, abs=1e-9)


def test_a_string_pulls_only():
    """A mass thrown up against gravity falls freely until its string of 1 m is taut, and never feels a push."""
    scene = Scene()
    mass = slider(scene)
    scene.string([(scene.world, (0, 0, 0)), (mass, (0, 0, 0))], 1e4, 1.0, damping=1e3)
    d = scene.compile()
    for z, speed, force in (
        (0.5, -9.0, 0.0), (-1.01, 0.0, 100.0), (-1.01, -0.02, 120.0), (-1.01, 0.02, 80.0), (-1.01, 5.0, 0.0),
    ):  # fmt: skip
        assert d.passive_forces([z], [speed])[0] == pytest.approx(force, abs=1e-6)


def test_a_gas_spring_pushes_by_its_ratio():
    scene = Scene()
    mass = slider(scene)
    scene.gas_spring(scene.world, mass, 100.0, 1.4, extended=0.5, compressed=0.2)
    d = scene.compile()
    assert d.passive_forces([0.5], [0.0])[0] == pytest.approx(100.0)
    assert d.passive_forces([0.2], [0.0])[0] == pytest.approx(140.0)


def test_terminal_speed():
    scene = Scene()
    scene.drag(slider(scene), area=0.4, coefficient=0.9, density=1.2)
    sim = run(scene, 20.0, 1 / 100)
    assert sim.v[0] == pytest.approx(-np.sqrt(2 * 2.0 * 9.81 / (1.2 * 0.9 * 0.4)), rel=1e-9)


def test_a_circular_orbit():
    """Two masses about their centre: omega^2 = G (m + M) / r^3."""
    scene = Scene(gravity=(0, 0, 0))
    for name, mass, x in (("sun", 3.0, -0.25), ("planet", 1.0, 0.75)):
        scene.world.attach(Body(name, mass=mass, inertia=INERTIA), joints.free(), at=rd.pose((x, 0, 0)))
    scene.gravitation(constant=2.0)
    omega = np.sqrt(2.0 * 4.0)
    d = scene.compile()
    h = 2 * np.pi / omega / 400
    sim = rd.Simulation(d, h, "rk4")
    sim.v[4], sim.v[10] = -0.25 * omega, 0.75 * omega
    start = d.poses(sim.q)[:, :3, 3]
    sim.step(400)
    np.testing.assert_allclose(d.poses(sim.q)[:, :3, 3], start, atol=1e-6)


@pytest.mark.parametrize(("throttle", "ratio"), [(1.0, 1.0), (-1.0, 1.0), (1.0, -6.0), (-0.5, 6.0)])
def test_a_motor_runs_up_to_its_idle_speed(throttle, ratio):
    """By a straight curve exponentially: w = w0 (1 - exp(-t T r^2 / (I w0))), of the motor."""
    scene = Scene(gravity=(0, 0, 0))
    wheel = scene.world.attach(Body("wheel", mass=1.0, inertia=np.diag([0.5, 0.5, 0.5])), joints.revolute("z"))
    given = scene.parameter("throttle", throttle)
    scene.motor(wheel.q[0], [(0.0, 3.0), (40.0, 0.0)], given, ratio)
    sim = rd.Simulation(scene.compile(), 1e-3, "rk4")
    sim.step(500)
    speed = 40.0 * (1.0 - np.exp(-0.5 * abs(throttle) * 3.0 * ratio**2 / (0.5 * 40.0)))
    assert sim.v[0] * ratio == pytest.approx(np.sign(throttle) * speed, rel=1e-11)


def test_a_motors_curve_is_smooth_and_overshoots_nothing():
    """Through a table with a flat, a peak and a steep end; straight beyond."""
    table = np.array([(-5.0, 2.0), (0.0, 8.0), (10.0, 8.0), (20.0, 9.0), (22.0, 1.0), (30.0, 0.0)])
    scene = Scene(gravity=(0, 0, 0))
    wheel = scene.world.attach(Body("wheel", mass=1.0, inertia=np.eye(3)), joints.revolute("z"))
    scene.motor(wheel.q[0], table)
    d = scene.compile()

    def force(x):
        return d.passive_forces(np.zeros((len(x), 1)), x[:, None])[:, 0]

    np.testing.assert_allclose(force(table[:, 0]), table[:, 1], atol=1e-14)
    for (a, f), (b, g) in pairwise(table):
        between = force(np.linspace(a, b, 50))
        assert (np.diff(between) * np.sign(g - f) >= -1e-14).all()
        assert between.min() >= min(f, g) - 1e-14 and between.max() <= max(f, g) + 1e-14
    ends = np.array([-9.0, 50.0])
    np.testing.assert_allclose(force(ends), [2.0 - 4.0 * 1.2, -20.0 / 8.0], atol=1e-13)
    before, after = ((force(table[:, 0] + s * 1e-6) - table[:, 1]) / (s * 1e-6) for s in (-1, 1))
    np.testing.assert_allclose(before, after, atol=1e-4)


@pytest.mark.parametrize("curve", [[(0.0, 1.0)], [(1.0, 2.0), (1.0, 3.0)], [1.0, 2.0], "steep", [(0, np.nan), (1, 2)]])
def test_what_is_no_curve_of_a_motor(curve):
    scene, arm, _, _ = bodies()
    with pytest.raises(ModelError, match=r"force element 'motor.*curve"):
        scene.motor(arm.q[0], curve)


def test_a_muscle_at_its_optimal_length():
    """Isometric: activation times force, and what stretching takes; at its fastest: that alone; stretched as fast: 1.79
    (De Groote et al. 2016); without activation force is what stretches it by 0.6 (Thelen 2003)."""
    scene = Scene(gravity=(0, 0, 0))
    mass = slider(scene)
    activation = scene.parameter("activation", 0.6)
    path = [(scene.world, (0, 0, 0)), (mass, (0, 0, 0))]
    scene.muscle(path, 500.0, 0.3, activation, tendon=0.2, fastest=8.0)
    d = scene.compile()
    stretch = 500.0 * np.expm1(4.0 / 0.6) / np.expm1(1.6 * 4.0 / 0.6)
    fastest = 0.3 * 8.0
    assert stretch < 0.02 * 500.0
    assert d.passive_forces([0.5], [0.0])[0] == pytest.approx(-300.0 - stretch)
    for v in (-fastest, -3.0 * fastest):
        assert d.passive_forces([0.5], [v])[0] == pytest.approx(-stretch)
    assert d.passive_forces([0.5], [fastest])[0] == pytest.approx(-300.0 * 1.794 - stretch, rel=1e-3)
    d.parameters["activation"] = 0.0
    assert d.passive_forces([0.5 + 0.6 * 0.3], [0.0])[0] == pytest.approx(-500.0)
    assert d.passive_forces([0.2], [0.0])[0] == pytest.approx(0.0, abs=1e-6)


def test_a_muscle_is_smooth_at_its_optimal_length_and_at_rest():
    """Swinging through both, it keeps order four."""
    scene = Scene(gravity=(0, 0, 0))
    mass = slider(scene)
    path = [(scene.world, (0, 0, 0)), (mass, (0, 0, 0))]
    scene.muscle(path, 20.0, 1.0, 0.7, fastest=8.0)
    scene.spring(scene.world, mass, 200.0, rest=1.1)
    d = scene.compile()

    def way(count):
        sim = rd.Simulation(d, 1.0 / count, "rk4")
        sim.q[:] = 1.4
        told = []
        for _ in range(count // 60):
            sim.step(60)
            told.append((sim.q[0], sim.v[0]))
        return np.array(told)

    exact = way(3840)
    assert exact[:, 0].min() < 0.95 < 1.1 < exact[:, 0].max()
    assert exact[:, 1].min() < 0.0 < exact[:, 1].max()
    coarse, fine = (np.abs(way(n)[-1] - exact[-1]).max() for n in (120, 240))
    assert 13.0 < coarse / fine < 19.0


def test_elements_are_in_the_file(tmp_path):
    scene, *parts = bodies()
    for make in (SMOOTH | STRING).values():
        make(scene, *parts)
    scene.muscle([("arm", (0, 0, 0)), ("stone", (0, 0, 0))], 5.0, 1.0, scene.parameter("nerve", 0.5))
    scene.save(tmp_path / "scene.json")
    loaded = Scene.load(tmp_path / "scene.json")
    assert loaded.model().key == scene.model().key
    assert [e.name for e in loaded.forces] == [e.name for e in scene.forces]
    loaded.forces.remove(loaded.forces[0])
    assert loaded.model().key != scene.model().key


def test_derivatives_of_a_step_with_elements():
    """The linear model of a step is the step's difference quotient."""
    scene, *parts = bodies()
    for make in (CONSERVATIVE["spring"], WITHOUT["damped bushing"], WITHOUT["muscle"]):
        make(scene, *parts)
    d = scene.compile()
    q, v = start(d)
    for rule in ("semi_implicit_euler", "linearly_implicit_rk4"):
        A, _ = d.linearize(q, v, timestep=1e-3, integrator=rule)

        def end(q, v, rule=rule):
            sim = rd.Simulation(d, 1e-3, rule)
            sim.q[:], sim.v[:] = q, v
            sim.step()
            return sim.q, sim.v

        q0, _ = end(q, v)
        for k in range(d.nv):
            e = 1e-6 * np.eye(d.nv)[k]
            for column, (qa, va), (qb, vb) in (
                (k, end(d.integrate(q, e, 1.0), v), end(d.integrate(q, -e, 1.0), v)),
                (d.nv + k, end(q, v + e), end(q, v - e)),
            ):
                quotient = np.concatenate([d.difference(q0, qa) - d.difference(q0, qb), va - vb]) / 2e-6
                np.testing.assert_allclose(A[:, column], quotient, atol=2e-6)
