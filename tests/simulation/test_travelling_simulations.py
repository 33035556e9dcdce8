"""Simulations go on in copies and in worker processes as they would have here: state, motors, charts, impulses."""

import copy
import multiprocessing
import pickle

import numpy as np
import pytest
from chart_cases import euler, run_counting, single, started
from constraint_cases import driven

import recursive_dyn as rd
from recursive_dyn.contact.contacts import Contacts
from scene import Body, Scene, joints, shapes

TIMEOUT = 120  # s: a worker that hangs fails the test instead of the session
METHODS = ["fork", "spawn", "forkserver"]


def floor(simulation):
    """The lowest point of a ball of radius 0.1 against a floor at z = 0, which sticks and lifts a little."""
    (centre,) = simulation.frames()[0][:, :3, 3]
    ones = np.ones(1)
    return Contacts(
        a=np.zeros(1, dtype=np.int64), b=np.array([-1]), point_a=np.array([centre - (0, 0, 0.1)]),
        point_b=np.array([[centre[0], centre[1], 0.0]]), normal=np.array([[0.0, 0.0, 1.0]]),
        distance=np.array([centre[2] - 0.1]), friction=np.array([[0.7, 0.5, 0.01, 0.01, 0.3]]),
        key=np.zeros(1, dtype=np.int64), drift=0.0 * ones[:, None].repeat(3, axis=1),
    )  # fmt: skip


def rolling():
    """A ball thrown onto the floor: contacts with memory, momenta that are carried along."""
    scene = Scene()
    scene.world.attach(Body("ball", shapes=[shapes.Sphere(0.1)], mass=1.0), joints.free())
    sim = rd.Simulation(scene.compile(), 1 / 240)
    sim.q[:3], sim.v = (0, 0, 0.2), (1.0, 2.0, 3.0, 1.0, 0.5, 0.0)
    sim.detect = floor
    return sim


def driven_arm():
    """Motor, dry friction, a limit, a parameter that was changed and a force that still acts."""
    scene = Scene()
    mass = scene.parameter("mass", 1.0)
    inertia = np.diag([0.1, 0.1, 0.1])
    upper = scene.world.attach(
        Body("upper", mass=mass, center_of_mass=(0, 0, -0.3), inertia=inertia), joints.revolute("y", limits=(-0.5, 0.5))
    )
    upper.attach(
        Body("lower", mass=0.5, center_of_mass=(0, 0, -0.3), inertia=inertia), joints.revolute("x", friction=0.1),
        at=rd.pose((0, 0, -0.6)),
    )  # fmt: skip
    sim = rd.Simulation(scene.compile(), 1e-3, "implicit_midpoint")
    sim.parameters["mass"] = 2.0
    sim.motors["upper.angle"] = rd.Motor(velocity=2.0, max_force=3.0)
    sim.contact.iterations = 31
    sim.v = 1.0, 4.0
    sim.tau = 0.1, 0.2
    return sim


def tumbling():
    """Between two gimbal locks, in the second chart."""
    sim = started(single(euler("xyz", "zxz")), [0.3, 5.0, 0.2], 1e-3)
    while sim.charts["body"] == 0:
        sim.step()
    return sim


def constrained():
    case = driven()
    sim = rd.Simulation(case.dynamics(), 1e-3, "rk4")
    sim.q, sim.v = sim.dynamics.project(case.home, np.full(sim.dynamics.nv, 0.3))
    return sim


SIMULATIONS = {"contacts": rolling, "motors": driven_arm, "charts": tumbling, "constraints": constrained}


def gone_on(sim, steps=150):
    """Everything that a simulation tells after some steps, bit for bit."""
    sim.apply_force(sim.dynamics.bodies[0], (0.1, 0.2, 0.3))
    sim.step(2)
    for _ in range(steps):
        sim.step()
    arrays = sim.q, sim.v, sim.tau, sim.contacts.impulse, *sim.frames()
    told = sim.time, sim.charts, sim.coordinate_impulses, sim.contact_events, dict(sim.parameters), dict(sim.motors)
    return [a.tobytes() for a in arrays], told, sim.contact.iterations


@pytest.fixture(scope="module", params=SIMULATIONS)
def begun(request):
    """A simulation in the middle of something, and where it goes from there."""
    sim = SIMULATIONS[request.param]()
    sim.step(70)
    saved = sim.snapshot()
    end = gone_on(sim)
    sim.restore(saved)
    return sim, end


def test_copies_go_on_as_the_original_does_and_leave_it_alone(begun):
    sim, end = begun
    before = sim.q.tobytes(), sim.v.tobytes(), sim.time, sim.charts
    for other in (copy.deepcopy(sim), copy.copy(sim), pickle.loads(pickle.dumps(sim))):
        assert gone_on(other) == end
        other.parameters.values_array[:] = 0.0
        other.motors.clear()
        assert (sim.q.tobytes(), sim.v.tobytes(), sim.time, sim.charts) == before
    assert copy.deepcopy(sim).dynamics.kernel("poses") is sim.dynamics.kernel("poses")


@pytest.mark.parametrize("method", METHODS)
def test_workers_go_on_as_this_process_does(method):
    sims = [make() for make in SIMULATIONS.values()]
    for sim in sims:
        sim.step(70)
    with multiprocessing.get_context(method).Pool(2) as workers:
        there = workers.map_async(gone_on, sims).get(TIMEOUT)
    assert there == [gone_on(sim) for sim in sims]


def test_a_snapshot_travels():
    sim = tumbling()
    saved = pickle.loads(pickle.dumps(sim.snapshot()))
    run_counting(sim, 300)
    end = sim.q.tobytes()
    sim.restore(saved)
    run_counting(sim, 300)
    assert sim.q.tobytes() == end


class Walls:
    """Surroundings that are more than a function, as a mirror's are."""

    def detect(self, simulation):
        raise AssertionError("of the process it was made in")

    substeps = advance = atomic = detect


def test_what_is_of_one_process_stays_behind():
    sim = driven_arm()
    sim.surroundings = walls = Walls()
    for other in (copy.deepcopy(sim), pickle.loads(pickle.dumps(sim))):
        assert other.surroundings is None and other.detect is None
        other.step()
    assert sim.surroundings is walls


def test_a_detector_that_cannot_be_pickled_is_told():
    sim = rolling()
    sim.detect = lambda simulation: floor(simulation)
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(sim)
    assert copy.deepcopy(sim).detect is not None
