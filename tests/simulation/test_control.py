"""A function that drives a simulation, and is held: asked once a timestep, for the forces of that timestep."""

import copy

import numpy as np
import pytest
from trees import mechanism

import recursive_dyn as rd
from bridge import PyBulletMirror
from recursive_dyn import control
from scene import Body, Scene, joints, shapes

INTEGRATORS = ["semi_implicit_euler", "rk4", "implicit_midpoint"]


def tree(integrator="semi_implicit_euler"):
    m = mechanism(6, 6)
    sim = rd.Simulation(m.dynamics(), 1e-3, integrator)
    sim.q, sim.v = (x[0] for x in m.states(1, 6))
    return sim


def law(q, v, time):
    return np.sin(3.0 * time) - 0.5 * v


law.held = True


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_it_does_what_forces_set_by_hand_before_every_step_do(integrator):
    driven, by_hand = tree(integrator), tree(integrator)
    driven.control = law
    for sim in (driven, by_hand):
        sim.apply_force("b3", (1.0, 2.0, 3.0))
    driven.step(20)
    for k in range(20):
        by_hand.tau = law(by_hand.q, by_hand.v, by_hand.time)
        if k:
            by_hand.apply_force("b3", (1.0, 2.0, 3.0))  # a force acts for the length of a call
        by_hand.step()
    for name in ("q", "v", "tau"):
        np.testing.assert_array_equal(getattr(driven, name), getattr(by_hand, name))
    driven.control = None  # its forces go with it
    by_hand.tau[:] = 0.0
    driven.step(5)
    by_hand.step(5)
    np.testing.assert_array_equal(driven.q, by_hand.q)


def test_a_controller_of_a_scene_that_changed_is_refused():
    """Also where numbers are as many as before: what it foresees is not what will be."""
    scene = Scene()
    for name in ("one", "two"):
        scene.world.attach(Body(name, mass=1.0, inertia=np.eye(3)), joints.free(), at=rd.pose((0, 0, 1)))
    scene.pin("world", "one", (0, 0, 1), (0, 0, 0), name="held")
    sim = rd.Simulation(scene.compile())
    sim.control = control.StablePD(sim.dynamics, sim.q, timestep=sim.timestep, frequency=2.0)
    sim.step()
    scene.constraints.clear()
    sim.update(scene.compile())
    before = sim.q.copy()
    with pytest.raises(rd.StateError, match=r"this StablePD was made: make it anew, for simulation\.dynamics"):
        sim.step()
    np.testing.assert_array_equal(sim.q, before)
    sim.control = control.StablePD(sim.dynamics, sim.q, timestep=sim.timestep, frequency=2.0)
    sim.step(10)
    sim.control = None
    assert not sim.tau.any()


def test_it_is_asked_once_a_timestep_also_where_contact_cuts_one_into_parts():
    """A ball fast enough to pass through the plate in one step."""
    scene = Scene(gravity=(0, 0, 0))
    scene.world.shapes.append(shapes.Box((2, 2, 0.01)))
    scene.world.attach(Body("ball", [shapes.Sphere(0.05)], mass=1.0), joints.free(), at=rd.pose((0, 0, 0.5)))
    sim = rd.Simulation(scene.compile(), 1 / 60, "semi_implicit_euler")
    sim.v[5] = -60.0
    times = []
    sim.control = lambda q, v, time: times.append(time) or np.zeros(6)
    with PyBulletMirror(scene, sim, gui=False):
        sim.step(3)
    np.testing.assert_allclose(times, [0, 1 / 60, 2 / 60], atol=1e-12)
    assert sim.q[2] > -0.5  # above the plate


def test_it_gets_copies_and_is_no_part_of_a_snapshot():
    sim, seen = tree(), []

    def law_of_copies(q, v, time):
        seen.append(q)
        q[:], v[:] = np.nan, np.nan
        return np.zeros(sim.v.size)

    sim.control = law_of_copies
    start = sim.snapshot()
    sim.step(2)
    assert np.isfinite(sim.q).all() and len(seen) == 2
    sim.control = None
    sim.restore(start)
    assert sim.control is None


def test_copies_are_driven_alike():
    sim = tree()
    sim.control = law
    other = copy.deepcopy(sim)
    sim.step(3)
    other.step(3)
    np.testing.assert_array_equal(sim.q, other.q)


@pytest.mark.parametrize(
    ("control", "message"),
    [
        (lambda q, v, t: np.zeros(3), r"what its control returned: 'tau' has shape \(3,\)"),
        (lambda q, v, t: None, "what its control returned: 'tau'"),
        (lambda q, v, t: np.full(v.shape, np.nan), "what its control returned: 'tau' is not finite at coordinate 'b0"),
        (3.0, "control is a function of q, v and time"),
    ],
)
def test_what_it_returns_is_checked_and_the_state_kept(control, message):
    sim = tree()
    start = sim.q.copy()
    sim.control = control
    with pytest.raises(rd.StateError, match=message):
        sim.step()
    np.testing.assert_array_equal(sim.q, start)
