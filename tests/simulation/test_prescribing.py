"""Prescribed motion: hybrid dynamics. What is told moves as told to rounding, all else as it must, and energy tells."""

import copy
import pickle

import numpy as np
import pytest
import sympy as sp
from trees import assert_close

import recursive_dyn as rd
from bridge import Plugin
from scene import Body, Scene, joints, shapes

RULES = ["semi_implicit_euler", "rk4", "linearly_implicit_rk4", "implicit_midpoint", "variational_midpoint"]
W = 3.0
TIME = Scene().time


def two_bars(crank=None, **settings):
    """A crank that may be driven by time, and a rod on it."""
    scene = Scene()
    bar = Body("crank", mass=1.0, center_of_mass=(0, 0, -0.3), inertia=np.diag([0.05, 0.06, 0.02]))
    rod = Body("rod", mass=0.7, center_of_mass=(0.05, 0, -0.3), inertia=np.diag([0.03, 0.04, 0.02]))
    joint = joints.revolute("y", **settings)
    hung = scene.world.attach(bar, joint if crank is None else joint.driven(crank(scene.time)))
    hung.attach(rod, joints.revolute("y"), at=rd.pose((0, 0, -0.6)))
    return scene


def swing(t):
    return 0.4 * np.sin(W * t)


@pytest.mark.parametrize("rule", RULES)
def test_a_prescribed_crank_is_a_joint_driven_by_time(rule):
    """The same as the scene in which time stands in the joint; a function of time as its expression."""
    driven = rd.Simulation(two_bars(lambda t: 0.4 * sp.sin(W * t)).compile(), 1 / 200, rule)
    driven.step(100)
    for motion, tolerance in ((0.4 * sp.sin(W * TIME), 1e-12), (swing, 1e-8)):
        sim = rd.Simulation(two_bars().compile(), 1 / 200, rule)
        sim.prescribe("crank.angle", motion)
        sim.v[1] = 0.0  # as it hangs on the crank that is driven from the start, and not as the crank's jerk leaves it
        sim.step(100)
        assert_close(sim.q, [swing(0.5), *driven.q], tolerance)
        assert_close(sim.v[1:], driven.v, 10 * tolerance)
        told = sim.prescribed["crank.angle"]
        assert_close([told.position, told.velocity], [swing(0.5), 0.4 * W * np.cos(W * 0.5)], tolerance)
        assert_close(told.acceleration, -W * W * swing(0.5), 1e3 * tolerance)
        assert_close(told.power, driven.prescribed["time"].force, 1e3 * tolerance)


@pytest.mark.parametrize("method", ["recursive", "lagrangian"])
def test_the_told_force_gives_the_motion_that_is_told(method):
    """Forward dynamics of the free scene under that force has the acceleration that was prescribed."""
    free = two_bars(stiffness=2.0, damping=0.3).compile(method)
    sim = rd.Simulation(free, 1 / 200, "rk4")
    sim.prescribe("crank.angle", 0.4 * sp.sin(W * TIME))
    sim.tau[1] = 0.2
    sim.step(70)
    told = sim.prescribed["crank.angle"]
    q, v = sim.q[:2], sim.v[:2]
    tau = np.array([told.force, 0.2]) + free.passive_forces(q, v)
    assert_close(free.forward_dynamics(q, v, tau)[0], told.acceleration, 1e-10)


@pytest.mark.parametrize("rule", ["rk4", "linearly_implicit_rk4"])
def test_energy_changes_by_the_power_of_the_drive(rule):
    d, h, n = two_bars(damping=0.2).compile(), 1 / 200, 100
    sim = rd.Simulation(d, h, rule)
    sim.prescribe("crank.angle", 0.4 * sp.sin(W * TIME))
    energies, powers = [], []
    for _ in range(n + 1):
        q, v = sim.q[:2].copy(), sim.v[:2].copy()
        energies.append(d.kinetic_energy(q, v) + d.potential_energy(q))
        powers.append(sim.prescribed["crank.angle"].power - 0.2 * v[0] ** 2)
        sim.step()
    weights = np.ones(n + 1)
    weights[1:-1:2], weights[2:-1:2] = 4.0, 2.0
    work = h / 3 * weights @ powers
    assert abs(work) > 0.1
    assert abs(energies[-1] - energies[0] - work) < 1e-6
    assert sim.report.halvings == 0


def test_functions_of_time_leave_a_rule_of_order_four():
    def end(steps):
        sim = rd.Simulation(two_bars().compile(), 1 / steps, "rk4")
        sim.prescribe("crank.angle", lambda t: np.sin(4 * t) + t * t)
        sim.step(steps)
        return sim.q[1]

    exact = end(1600)
    errors = [abs(end(n) - exact) for n in (50, 100)]
    assert abs(np.log2(errors[0] / errors[1]) - 4.0) < 0.3


def test_a_motion_that_begins_with_a_jerk_leaves_momenta_of_the_others():
    """The drive's impulse acts on its own coordinate: the row of M v of the rod stays."""
    d = two_bars().compile()
    sim = rd.Simulation(d, 1 / 200)
    sim.q, sim.v = [0.3, -0.5], [0.1, 0.9]
    before = d.mass_matrix(sim.q) @ sim.v
    sim.prescribe("crank.angle", 0.3 + 2.0 * TIME)
    after = d.mass_matrix(sim.q[:2]) @ sim.v[:2]
    assert_close(sim.v[0], 2.0, 1e-12)
    assert_close(after[1], before[1], 1e-12)


def test_what_is_let_go_goes_on_as_it_moved():
    sim = rd.Simulation(two_bars().compile(), 1 / 200, "rk4")
    sim.prescribe("crank.angle", swing)
    sim.step(20)
    q, v = sim.q.copy(), sim.v.copy()
    sim.prescribe("crank.angle", None)
    np.testing.assert_array_equal(sim.q, q[:2])
    np.testing.assert_array_equal(sim.v, v[:2])
    free = rd.Simulation(two_bars().compile(), 1 / 200, "rk4")
    free.q, free.v = q[:2], v[:2]
    free.step(30)
    sim.step(30)
    np.testing.assert_array_equal(sim.q, free.q)
    assert not sim.prescribed


def test_another_function_of_time_compiles_nothing():
    sim = rd.Simulation(two_bars().compile(), 1 / 200, "rk4")
    sim.prescribe("crank.angle", swing)
    sim.step(5)
    known = sim.dynamics.compiled_functions
    x, rate = sim.q[0], sim.v[0]
    t0 = sim.time
    sim.prescribe("crank.angle", lambda t: x + rate * (t - t0))
    sim.step(5)
    assert sim.dynamics.compiled_functions == known
    assert_close(sim.q[0], x + 5 * rate / 200, 1e-12)


def test_a_motion_is_there_before_the_first_step():
    sim = rd.Simulation(two_bars().compile(), 1 / 200)
    sim.time, sim.q[0] = 0.2, swing(0.2)
    before = sim.dynamics.poses(sim.q)
    sim.prescribe("crank.angle", swing)
    assert_close(sim.dynamics.poses(sim.q), before, 1e-13)
    assert_close(sim.frames()[0], before, 1e-13)
    assert_close(sim.dynamics.velocities(sim.q, sim.v)[0, 1], 0.4 * W * np.cos(0.2 * W), 1e-9)


def test_two_drives_and_a_parameter():
    scene = two_bars()
    reach = scene.parameter("reach", 0.2)
    sim = rd.Simulation(scene.compile(), 1 / 100)
    sim.prescribe(scene["crank"].q[0], reach * sp.sin(TIME))
    sim.prescribe("rod.angle", lambda t: t)
    sim.step(10)
    assert_close(sim.q, [0.2 * np.sin(0.1), 0.1, 0.1], 1e-13)
    sim.parameters["reach"] = 0.5
    sim.step(10)
    assert_close(sim.q[:2], [0.5 * np.sin(0.2), 0.2], 1e-13)
    assert {*sim.prescribed} == {"crank.angle", "rod.angle", "time"}


def test_a_driven_four_bar_keeps_its_loop():
    scene = Scene()
    for k, x in enumerate((0.0, 1.0)):
        bar = Body(f"b{k}", mass=1.0, center_of_mass=(0, 0, -0.25), inertia=np.eye(3) / 50)
        scene.world.attach(bar, joints.revolute("y"), at=rd.pose((x, 0, 0)))
    coupler = Body("coupler", mass=1.0, center_of_mass=(0.5, 0, 0), inertia=np.eye(3) / 50)
    scene["b0"].attach(coupler, joints.revolute("y"), at=rd.pose((0, 0, -0.5)))
    gap = scene["coupler"].point((1, 0, 0)) - scene["b1"].point((0, 0, -0.5))
    scene.constrain(gap[0], gap[2], name="pin")
    d = scene.compile()
    sim = rd.Simulation(d, 1 / 240, "rk4")
    sim.prescribe("b0.angle", 0.5 * sp.sin(2 * TIME))
    sim.step(120)
    assert np.abs(d.constraint_errors(sim.q[:-1], sim.v[:-1])[0]).max() < 1e-11
    assert_close(sim.q[0], 0.5 * np.sin(1.0), 1e-13)
    told = sim.prescribed["b0.angle"]
    tau = np.zeros(d.nv)
    tau[0] = told.force
    assert_close(d.forward_dynamics(sim.q[:-1], sim.v[:-1], tau)[0], told.acceleration, 1e-9)


def pusher():
    """A ram that slides along a floor towards a box."""
    scene, slick = Scene(), rd.Material(friction=0.0)
    ram = Body("ram", [shapes.Box((0.2, 0.2, 0.2), material=slick)], mass=3.0)
    scene.world.attach(ram, joints.prismatic("x"), at=rd.pose((0, 0, 0.3)))
    box = Body("box", [shapes.Box((0.2, 0.2, 0.2), material=slick)], mass=2.0)
    scene.world.attach(box, joints.prismatic("x"), at=rd.pose((0.25, 0, 0.3)))
    return scene


@pytest.mark.parametrize("rule", RULES[:4])
def test_a_ram_pushes_a_box_and_tells_what_that_takes(rule):
    """x = t^2: both accelerate by 2 m/s^2 once they touch, which takes 2 (3 + 2) N; the ram does not notice."""
    game = Plugin(pusher(), timestep=1 / 240, integrator=rule)
    sim = game.simulation
    sim.prescribe("ram.distance", TIME**2)
    sim.step(120)
    assert_close(sim.q[0], 0.25, 1e-13)
    assert_close(sim.v[:2], [1.0, 1.0], 2e-4)
    assert_close(sim.q[1] + 0.25 - sim.q[0], 0.2, 1e-3)
    assert_close(sim.prescribed["ram.distance"].force, 2.0 * (3.0 + 2.0), 1e-2)


@pytest.mark.parametrize("rule", RULES[:2])
def test_a_ball_bounces_off_a_plate_that_time_moves(rule):
    """Restitution is of the speed against the plate: v' = V + e (V - v)."""
    scene, m, lift = Scene(gravity=(0, 0, 0)), rd.Material(restitution=0.5, friction=0.0), sp.eye(4)
    lift[2, 3] = 1.5 * scene.time
    scene.world.attach(Body("plate", [shapes.Box((1, 1, 0.1), material=m)]), joints.Joint(lift, ()))
    ball = Body("ball", [shapes.Sphere(0.1, material=m)], mass=1.0)
    scene.world.attach(ball, joints.free(), at=rd.pose((0, 0, 1)))
    sim = Plugin(scene, timestep=1 / 240, integrator=rule).simulation
    sim.v[5] = -2.0
    sim.step(120)
    assert_close(sim.v[5], 1.5 + 0.5 * 3.5, 1e-12)


def test_a_box_between_a_ram_and_a_wall_is_told():
    """Nothing stops the ram: the solve says that it has no solution, and all stays finite."""
    scene = pusher()
    scene.world.shapes.append(shapes.Box((0.2, 1, 1), at=rd.pose((0.6, 0, 0.3))))
    sim = Plugin(scene, timestep=1 / 240).simulation
    sim.prescribe("ram.distance", TIME)
    sim.step(60)
    assert not sim.solution.converged
    assert sim.solution.penetration > 0.02
    assert sim.prescribed["ram.distance"].force > 100.0


def test_motions_outlive_edits_of_the_scene():
    scene = two_bars()
    game = Plugin(scene, timestep=1 / 100)
    game.simulation.prescribe("crank.angle", swing)
    game.simulation.step(10)
    scene.world.attach(Body("ball", [shapes.Sphere(0.1)], mass=1.0), joints.free(), at=rd.pose((3, 0, 5)))
    game.update()
    sim = game.simulation
    sim.step(10)
    assert_close(sim.q[sim.dynamics.coordinates.index("crank.angle")], swing(0.2), 1e-12)
    assert sim.dynamics.coordinates[-1] == "time"


def test_snapshots_copies_and_pickles_go_on_bit_by_bit():
    sim = rd.Simulation(two_bars().compile(), 1 / 100, "rk4")
    sim.prescribe("crank.angle", swing)
    sim.step(10)
    kept, twin, sent = sim.snapshot(), copy.deepcopy(sim), pickle.loads(pickle.dumps(sim))
    sim.step(10)
    end = sim.q.copy()
    sim.restore(kept)
    for other in (sim, twin, sent):
        other.step(10)
        np.testing.assert_array_equal(other.q, end)


def unchanged(sim, call, kind, message):
    before = sim.q.copy(), sim.v.copy(), sim.dynamics
    with pytest.raises(kind, match=message):
        call()
    np.testing.assert_array_equal(sim.q, before[0])
    np.testing.assert_array_equal(sim.v, before[1])
    assert sim.dynamics is before[2]


def test_what_cannot_be_prescribed_is_named():
    scene = two_bars()
    scene.world.attach(Body("stone", mass=1.0, inertia=np.eye(3)), joints.free())
    sim = rd.Simulation(scene.compile(), 1 / 100)
    sim.q[0] = 0.3
    prescribe = sim.prescribe
    unchanged(sim, lambda: prescribe("crnk", 0.0), rd.ModelError, "no coordinate 'crnk'; the scene has crank.angle")
    whole = r"part of a ball or free joint.*euler.*motors\['stone'\]"
    unchanged(sim, lambda: prescribe("stone.wx", 0.0), rd.ModelError, whole)
    unchanged(sim, lambda: prescribe("stone.x", 0.0), rd.ModelError, whole)
    unchanged(
        sim, lambda: prescribe("crank.angle", 0.5), rd.StateError, "is at 0.3, its motion begins at 0.5, 0.2 away"
    )
    unchanged(
        sim, lambda: prescribe("crank.angle", sp.Symbol("x")), rd.ModelError, "neither scene.time nor a parameter"
    )
    unchanged(sim, lambda: prescribe("crank.angle", lambda t: np.nan), rd.StateError, "finite number at t = ")
    unchanged(sim, lambda: prescribe("crank.angle", "fast"), rd.ModelError, "neither a number nor a SymPy")
    unchanged(sim, lambda: prescribe("crank.angle", 0.3 + sp.sqrt(TIME)), rd.StateError, "not finite at t = 0 s")
    sim.motors["crank.angle"] = rd.Motor(position=0.0, max_force=1.0)
    unchanged(sim, lambda: prescribe("crank.angle", 0.3), rd.StateError, "has a motor")
    del sim.motors["crank.angle"]
    prescribe("crank.angle", lambda t: 0.3 if t < 0.055 else np.inf)
    with pytest.raises(rd.StateError, match="that is prescribed"):
        sim.motors["crank.angle"] = rd.Motor(position=0.0, max_force=1.0)
    with pytest.raises(rd.ModelError, match=r"no motion of 'rod.angle'"):
        sim.prescribed["rod.angle"]
    with pytest.raises(rd.StateError, match=r"motion of 'crank.angle' must be a finite number at t = 0.05"):
        sim.step(20)
    assert_close([sim.time, sim.q[0]], [0.05, 0.3], 1e-12)


def test_a_motion_prevails_over_limits():
    sim = rd.Simulation(two_bars(limits=(-0.1, 0.1)).compile(), 1 / 100)
    sim.prescribe("crank.angle", swing)
    sim.step(30)
    assert_close(sim.q[0], swing(0.3), 1e-12)


@pytest.mark.parametrize("driven", [0, 1, 2])
@pytest.mark.parametrize("rule", ["semi_implicit_euler", "rk4", "linearly_implicit_rk4"])
def test_what_hangs_beside_a_motion_meets_its_limits(rule, driven):
    """Of a chain of three: one is told, the others come to their stops at speed, and stay within them."""
    scene, on = Scene(), None
    for k in range(3):
        bar = Body(f"bar {k}", mass=1.0, center_of_mass=(0, 0, -0.25), inertia=np.diag([0.02, 0.021, 0.008]))
        joint = joints.revolute("y", **({} if k == driven else {"limits": (-0.3, 0.3)}))
        on = (on or scene.world).attach(bar, joint, at=rd.pose((0, 0, -0.5 if k else 0.0)))
    sim = rd.Simulation(scene.compile(), 1 / 240, integrator=rule)
    sim.prescribe(f"bar {driven}.angle", lambda t: 3.0 * t)
    sim.v[[k for k in range(3) if k != driven]] = -3.0
    others, met = [k for k in range(3) if k != driven], set[str]()
    for _ in range(240):
        sim.step()
        met |= {name for name, x in sim.coordinate_impulses.items() if x != 0.0}
        assert np.all(np.abs(sim.q[others]) < 0.3 + 1e-4)
    assert met and abs(sim.q[driven] - 3.0) < 1e-12


@pytest.mark.parametrize("place", [0.1, 0.3, 0.7, 1.1])
def test_what_is_told_to_stay_takes_no_dry_friction(place):
    """What holds a bar level with no rate is m g c, whatever rounding makes of a polynomial's rate."""
    scene = Scene()
    bar = Body("bar", mass=1.0, center_of_mass=(0.3, 0, 0), inertia=np.diag([0.01, 0.05, 0.05]))
    scene.world.attach(bar, joints.revolute("y", friction=0.5))
    sim = rd.Simulation(scene.compile(), 1 / 100)
    sim.q[0] = place
    sim.prescribe("bar.angle", place)
    sim.step(5)
    assert_close(sim.prescribed["bar.angle"].force, -9.81 * 0.3 * np.cos(place), 1e-9)
