"""Forces on bodies act at the stages of a rule, at points that bodies carry along: what is exact; orders."""

from functools import cache

import numpy as np
import pytest
from trees import GRAVITY, assert_close, mechanism, random_body

import recursive_dyn as rd
from recursive_dyn.contact.contacts import Contacts
from recursive_dyn.integrators.registry import INTEGRATORS
from recursive_dyn.simulation.flying.applied_forces import applied, generalized, moved_slots, pushes, world_wrenches
from recursive_dyn.simulation.flying.flight import Flight
from scene import Body, Scene, joints

STAGED = [name for name, rule in INTEGRATORS.items() if rule.order > 1]


@cache
def chain(gravity=(0.0, 0.0, 0.0)):
    """A ball, a hinge and a free body, off their centres of mass."""
    scene, rng = Scene(gravity=gravity), np.random.default_rng(3)
    arm = scene.world.attach(random_body(rng, "arm"), joints.ball())
    hand = arm.attach(random_body(rng, "hand"), joints.revolute("y"), at=rd.pose((0.1, 0, -0.6)))
    hand.attach(random_body(rng, "thumb"), joints.ball(), at=rd.pose((0, 0.1, -0.3)))
    scene.world.attach(random_body(rng, "stone"), joints.free())
    return scene.compile()


def started(d, integrator, h=1 / 240):
    sim = rd.Simulation(d, h, integrator)
    sim.v = np.linspace(-1.5, 2.0, d.nv)
    return sim


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_forces_at_centres_of_mass_move_as_gravity_does(integrator):
    """Which every rule has at its stages: the same motion, and as much of it explained."""
    falling, pushed = started(chain(GRAVITY), integrator), started(chain(), integrator)
    rng = np.random.default_rng(3)
    for body in [random_body(rng, name) for name in falling.dynamics.bodies]:
        pushed.apply_force(body.name, body.mass * np.array(GRAVITY), body.center_of_mass)
    pushed.step(100)
    falling.step(100)
    within = 1e-9 if integrator == "variational_midpoint" else 1e-10  # a hundred steps that are found to 1e-8 at worst
    assert_close(pushed.q, falling.q, within)
    assert_close(pushed.v, falling.v, within)
    assert pushed.report.unexplained_energy == 0.0
    assert pushed.report.halvings == falling.report.halvings


@cache
def thrown(integrator, steps, time=0.25):
    sim = started(chain(GRAVITY), integrator, time / steps)
    sim.apply_force("hand", (20.0, -10.0, 5.0), (0.1, 0.2, -0.3))
    sim.apply_force("hand", (-3.0, 8.0, 5.0), (-0.2, 0.1, 0.3))
    sim.apply_force("thumb", (0.0, 6.0, -4.0), (0.0, 0.3, -0.1))
    sim.apply_force("stone", (9.0, 0.0, 3.0), (0.3, 0.0, 0.2))
    sim.apply_torque("stone", (0.5, -1.0, 0.2))
    sim.step(steps)
    return np.concatenate([sim.q, sim.v])


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_pushed_steps_keep_their_order(integrator):
    """Forces frozen at the start of steps would leave 1."""
    rule, exact = INTEGRATORS[integrator], thrown("rk4", 2000)
    order = {"linearly_implicit_rk4": 4}.get(integrator, rule.order)  # where nothing is stiff
    steps = {1: (400, 800), 2: (100, 200), 4: (60, 120)}[order]
    coarse, fine = (np.abs(thrown(integrator, n) - exact).max() for n in steps)
    assert abs(np.log2(coarse / fine) - order) < 0.15


class Pushed:
    """A model's equations with forces on bodies among those that a scene has of its own."""

    def __init__(self, d, forces):
        self._d, self._forces, self.model, self.parameters = d, forces, d.model, d.parameters

    def call(self, function, q, *others):
        value = self._d.call(function, q, *others)
        if function == "passive_forces":
            return value + generalized(self._d, q, self._forces)
        if function == "element_power":
            return value + np.sum(world_wrenches(self._d, q, self._forces) * self._d.velocities(q, others[0]))
        if function == "rates":
            v, tau = others
            return self._d.call(function, q, v, tau + generalized(self._d, q, self._forces))
        return value


TREES = {
    "floating": {
        "seed": 4,
        "bodies": 6,
        "kinds": ("free", "ball", "revolute", "helix"),
        "root": "free",
        "springs": True,
    },
    "any": {"seed": 11, "bodies": 5},
}


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("integrator", STAGED)
def test_a_pushed_step_is_the_definitions_with_forces_on_bodies(integrator, name):
    m = mechanism(**TREES[name])
    d, (q, v) = m.dynamics(), (x[0] for x in m.states(1, 2))
    rng, tau = np.random.default_rng(1), np.linspace(-1.0, 1.0, d.nv)
    forces = [applied(d, body, *rng.normal(size=(3, 3))) for body in (0, 2, 2, -1) for body in [d.bodies[body]]]
    flight = Flight(d, integrator)
    flight.drive(pushes(d, forces), moved_slots(d, forces))
    for _ in range(5):
        expected = INTEGRATORS[integrator].definition(Pushed(d, forces), q, v, tau, 2e-3)
        flight.advance(q, v, tau, 2e-3, 1, 0.0, False)
        assert_close(q, expected[0], 1e-12)
        assert_close(v, expected[1], 1e-12)


def forest(count):
    scene, rng = Scene(), np.random.default_rng(5)
    for k in range(count):
        root = scene.world.attach(random_body(rng, f"base{k}"), joints.ball(), at=rd.pose((k, 0, 0)))
        root.attach(random_body(rng, f"tip{k}"), joints.revolute("x"), at=rd.pose((0, 0, -0.4)))
    return scene.compile()


@pytest.mark.parametrize("integrator", ["rk4", "linearly_implicit_rk4"])
def test_trees_are_pushed_in_lanes_too(integrator):
    """One of equal trees among others, as alone."""
    many, alone = (rd.Simulation(forest(n), 1 / 240, integrator) for n in (12, 3))
    for sim in (many, alone):
        sim.apply_force("tip1", (4.0, 3.0, 2.0), (0.1, 0.2, 0.3))
        sim.step(30)
    n, nq = len(alone.v), len(alone.q)
    assert_close(many.q[:nq], alone.q, 1e-12)
    assert_close(many.v[:n], alone.v, 1e-12)


def test_what_floats_keeps_the_momentum_that_it_was_given():
    """Among surroundings, where momenta are carried from step to step; and after the push."""
    scene = Scene(gravity=(0, 0, 0))
    scene.world.attach(random_body(np.random.default_rng(1), "stone", mass=2.0), joints.free())
    sim = rd.Simulation(scene.compile(), 1 / 120, "linearly_implicit_rk4")
    sim.detect = lambda simulation: Contacts.none()
    sim.v = [1.0, 2.0, -0.5, 0.3, 0.0, 0.1]
    before = sim.dynamics.momentum(sim.q, sim.v)
    sim.apply_force("stone", (6.0, 0.0, -2.0), (0.3, 0.1, 0.0))
    sim.step(60)
    gained = sim.dynamics.momentum(sim.q, sim.v)
    np.testing.assert_allclose((gained - before)[3:], (3.0, 0.0, -1.0), atol=1e-7)
    sim.step(60)
    np.testing.assert_allclose(sim.dynamics.momentum(sim.q, sim.v), gained, atol=1e-12)


def test_a_motion_under_a_force_is_mujocos():
    """Its xfrc_applied acts at the centre of mass, evaluated at each stage of RK4 as it is here."""
    mujoco = pytest.importorskip("mujoco")
    rods, close, scene = "", "", Scene()
    node = scene.world
    for k in range(3):
        node = node.attach(
            Body(f"rod{k}", mass=1.0, center_of_mass=(0, 0, -0.25), inertia=np.diag([0.02, 0.021, 0.001])),
            joints.revolute("xy"[k % 2]), at=rd.pose((0, 0, -0.5 if k else 0)),
        )  # fmt: skip
        axis, at = ("1 0 0", "0 1 0")[k % 2], -0.5 if k else 0
        rods += (
            f'<body name="rod{k}" pos="0 0 {at}"><joint axis="{axis}"/>'
            '<inertial pos="0 0 -0.25" mass="1" diaginertia="0.02 0.021 0.001"/>'
        )
        close += "</body>"
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{1 / 60:.17g}" integrator="RK4"/><worldbody>{rods}{close}</worldbody></mujoco>'
    )
    data, sim = mujoco.MjData(model), rd.Simulation(scene.compile(), 1 / 60, "rk4")
    data.qvel[:] = sim.v = [1.0, -2.0, 0.5]
    force, torque = (3.0, 2.0, 4.0), (0.1, -0.2, 0.3)
    data.xfrc_applied[3] = [*force, *torque]
    for _ in range(60):
        mujoco.mj_step(model, data)
    sim.apply_force("rod2", force, (0, 0, -0.25))
    sim.apply_torque("rod2", torque)
    sim.step(60)
    np.testing.assert_allclose(sim.q, data.qpos, atol=1e-12)
    np.testing.assert_allclose(sim.v, data.qvel, atol=1e-11)
