"""Steps of the variational rule that go into more parts for good, once they are off by energy of their own making."""

import pickle

import numpy as np
import pytest

import recursive_dyn as rd
from demos.benchmark.integrators import FAT, SLENDER, Start, energy, links
from recursive_dyn.integrators.compiled_loop import MADE
from scene import Body, Scene, joints

RULE = "variational_midpoint"


def simulation(start: Start, h: float) -> rd.Simulation:
    sim = rd.Simulation(start.dynamics, h, RULE)
    sim.q = start.q
    return sim


def sprung() -> Start:
    """Two links, a joint's spring, one of a ball and one between bodies, which is prestressed."""
    scene = Scene()
    arm = Body("arm", mass=1.0, center_of_mass=(0, 0.1, -0.25), inertia=FAT)
    hand = Body("hand", mass=0.5, center_of_mass=(0.1, 0, -0.25), inertia=FAT)
    scene.world.attach(arm, joints.revolute("x", stiffness=30.0, rest=0.2, armature=0.1))
    arm.attach(hand, joints.ball(), at=rd.pose((0, 0, -0.5)))
    scene.spring(scene.world, hand, stiffness=40.0, rest=0.3, point_a=(1.0, 0, 0))
    dynamics = scene.compile()
    return Start(dynamics, dynamics.neutral(), dynamics.neutral())


@pytest.mark.parametrize("start", [links(SLENDER, True, 3), links(SLENDER, False, 5), sprung()])
def test_a_step_tells_the_energy_that_it_makes(start):
    """To the rounding of the energy that is measured, which is a difference of large numbers."""
    sim = simulation(start, 1 / 240)
    sim.v = np.random.default_rng(0).normal(size=start.dynamics.nv)
    first = energy(sim)
    sim.step(40)
    made, gained = float(sim._timesteps.flight.watched[MADE]), energy(sim) - first
    assert abs(gained) > 1e-6
    assert made == pytest.approx(gained, rel=1e-3)  # 2^-16 of it is forgotten in every step


def wrapped(q: np.ndarray) -> np.ndarray:
    return (q + np.pi) % (2 * np.pi) - np.pi


@pytest.mark.parametrize("write", ["nothing", "velocities", "angles"])
def test_steps_that_do_not_resolve_a_whip_go_into_parts_whoever_writes_between_them(write):
    """Five slender hinges at 60 Hz: whole steps are off by more than 3 % within 20 s."""
    start = links(SLENDER, False)
    sim, off, parts = simulation(start, 1 / 60), [], [1]
    first = energy(sim)
    for _ in range(1200):
        sim.step()
        if write == "velocities":
            sim.v = sim.v.copy()
        elif write == "angles":
            sim.q = wrapped(sim.q)
        off.append(energy(sim) - first)
        parts.append(sim.report.step_parts)
    assert np.abs(off).max() < 6e-3 * (first - float(start.dynamics.potential_energy(start.rest)))
    assert parts[-1] > 1 and min(np.diff(parts)) == 0
    assert sim.report.steps_halved == 0


def test_parts_go_with_snapshots_and_copies_to_the_bit():
    """From before steps are doubled, in between and after that, one by one as all at once."""
    start = links(SLENDER, False)
    sim = simulation(start, 1 / 60)
    sim.step(900)
    assert sim.report.step_parts == 1
    for _ in range(4):
        kept, sent, twin = sim.snapshot(), sim.snapshot_bytes(), pickle.loads(pickle.dumps(sim))
        parts = sim.report.step_parts
        sim.step(90)
        end = sim.q.tobytes(), sim.v.tobytes(), sim.report.step_parts
        fresh = simulation(start, 1 / 60)
        fresh.restore(sent)
        fresh.step(90)
        for _ in range(90):
            twin.step()
        sim.restore(kept)
        assert sim.report.step_parts == parts
        sim.step(90)
        for other in (sim, twin, fresh):
            assert (other.q.tobytes(), other.v.tobytes(), other.report.step_parts) == end
    assert sim.report.step_parts > 1
    other = rd.Simulation(start.dynamics, 1 / 240, RULE)  # whose steps are others
    other.restore(sim.snapshot())
    assert other.report.step_parts == 1


def held(sim: rd.Simulation, start: Start, k: int) -> None:
    sim.q, sim.v = start.q, np.zeros(sim.dynamics.nv)


def begun_anew(sim: rd.Simulation, start: Start, k: int) -> None:
    if k % 40 == 0:
        held(sim, start, k)


@pytest.mark.parametrize(("write", "h"), [(held, 1 / 60), (begun_anew, 1 / 60), (begun_anew, 1 / 240)])
def test_steps_stay_whole_where_motion_is_taken_away_again_and_again(write, h):
    """Each time the same energy is missing, 4e-5 to 7e-4 of the motion, which is no part of what comes after; added up
    it is 0.12 % within 14 to 1300 steps."""
    start = links(FAT, False, 3)
    start = start._replace(q=np.array([0.5, 0.2, 0.1]))
    sim = simulation(start, h)
    for k in range(2000):
        write(sim, start, k)
        sim.step()
    assert sim.report.step_parts == 1


def test_a_chain_on_its_stops_keeps_whole_steps():
    """It falls by the same energy too little in every step, and is lifted again; added up, eight parts in 3 s."""
    scene = Scene()
    node = scene.world
    for i in range(3):
        body = Body(f"b{i}", mass=1.0, center_of_mass=(0, 0, -0.25), inertia=SLENDER)
        joint = joints.revolute("y", limits=(0.5, 1.5))
        node = node.attach(body, joint, at=rd.pose((0, 0, -0.5 if i else 0)))
    sim = rd.Simulation(scene.compile(), 1 / 60, RULE)
    sim.q = [0.5, 0.5, 0.5]
    sim.step(400)
    assert np.abs(sim.v).max() < 1e-9
    assert sim.report.step_parts == 1


@pytest.mark.parametrize("speed", [1e-12, 1e-8])
def test_what_rounding_makes_of_rest_where_nothing_falls_is_no_energy(speed):
    """A prestressed pendulum, and one on a spring of its ball: of 100 J more is rounded than there is motion."""
    scene = Scene(gravity=(0, 0, 0))
    arm = Body("arm", mass=1.0, center_of_mass=(0, 0, -0.3), inertia=FAT)
    scene.world.attach(arm, joints.revolute("y"))
    for x in (1.0, -1.0):
        scene.spring(scene.world, arm, 200.0, rest=0.3, point_a=(x, 0, -0.31), point_b=(0, 0, -0.3))
    scene.world.attach(Body("ball", mass=1.0, center_of_mass=(0.1, 0, -0.3), inertia=FAT), joints.ball(stiffness=50.0))
    sim = rd.Simulation(scene.compile(), 1 / 240, RULE)
    sim.v = speed * np.ones(sim.dynamics.nv)
    sim.step(4000)
    assert sim.report.step_parts == 1


def test_a_linear_model_is_of_a_step_in_parts():
    """As differences of steps that are taken tell, and not of a whole one, which is 1e-3 off; steps that are tried make
    nothing."""
    start = links(SLENDER, False)
    sim = simulation(start, 1 / 60)
    while sim.report.step_parts == 1:
        sim.step(60)
    kept, made = sim.snapshot(), sim._timesteps.flight.watched.tobytes()
    A, n, ends, e = sim.linearize()[0], sim.dynamics.nv, [], 1e-6
    assert sim._timesteps.flight.watched.tobytes() == made
    for way in (e, -e):
        sim.restore(kept)
        sim.v[0] += way
        sim.step()
        ends.append(np.append(sim.q, sim.v))
    np.testing.assert_allclose(A[:, n], (ends[0] - ends[1]) / (2 * e), atol=1e-7)


def test_edits_keep_the_parts():
    scene = Scene()
    body = scene.world.attach(
        Body("a", mass=1.0, center_of_mass=(0, 0, -0.2), inertia=0.001 * np.eye(3)), joints.ball()
    )
    sim = rd.Simulation(scene.compile(), 1 / 60, RULE)
    sim.q, sim.v = [0.7, 0, 0, 0.7], [1.0, 9.0, 1.0]
    sim.step(600)
    parts = sim.report.step_parts
    assert parts > 1
    body.attach(Body("b", mass=0.1, inertia=1e-3 * np.eye(3)), joints.revolute("x"), at=rd.pose((0, 0, -0.4)))
    sim.update(scene.compile())
    assert sim.report.step_parts == parts


def pushed(sim: rd.Simulation) -> None:
    sim.tau = [3.0, 3.0, 0.0]


def controlled(sim: rd.Simulation) -> None:
    sim.control = lambda q, v, t: 5.0 * np.sin(3.0 * t) - 0.1 * v


def spun(sim: rd.Simulation) -> None:
    sim.motors["wheel.angle"] = rd.Motor(velocity=50.0, kd=1.0, max_force=0.5)


def swinging(sim: rd.Simulation) -> None:
    sim.q = 1e-7 * np.ones(sim.dynamics.nq)


@pytest.mark.parametrize(
    "done, damping", [(None, 0.01), (pushed, 0.0), (controlled, 0.0), (swinging, 0.0), (spun, 0.0)]
)
def test_steps_stay_whole_where_work_is_done_or_nothing_whips(done, damping):
    """Dampers and forces from outside change energy; a wheel turns by 0.8 rad a step, which costs none; of a swing of
    1e-7 rad there is as little energy as rounding makes of what gravity's is counted from."""
    scene = Scene()
    node = scene.world
    if done is spun:
        node.attach(Body("wheel", mass=1.0, inertia=np.diag([0.01, 0.01, 0.02])), joints.revolute("z"))
    else:
        for i in range(3):
            body = Body(f"b{i}", mass=1.0, center_of_mass=(0, 0, -0.25), inertia=SLENDER)
            node = node.attach(body, joints.revolute("xyz"[i], damping=damping), at=rd.pose((0, 0, -0.5 if i else 0)))
    sim = rd.Simulation(scene.compile(), 1 / 60, RULE)
    if done is not spun:
        sim.q = [1.5, 0.5, 0.3]
    if done is not None:
        done(sim)
    sim.step(600)
    assert sim.report.step_parts == 1


@pytest.mark.parametrize("timestep", [1 / 60, 1 / 240])
@pytest.mark.parametrize("at_once", [True, False])
def test_a_step_that_does_not_resolve_a_spring_is_taken_again_in_parts(timestep, at_once):
    """It swings by 4.2 radians in a step, which multiplied its energy by 2.3 to 12; parts are as many in a run of
    several steps as one by one."""
    scene = Scene(gravity=(0, 0, 0))
    block = Body("block", mass=1.0, inertia=np.eye(3))
    scene.world.attach(block, joints.prismatic("x"))
    scene.spring(scene.world, block, stiffness=(4.2 / timestep) ** 2, point_a=(0, 1, 0))
    sim = rd.Simulation(scene.compile(), timestep, RULE)
    sim.q[0] = 0.1
    first = energy(sim)
    for _ in range(1 if at_once else 100):
        sim.step(100 if at_once else 1)
        assert energy(sim) == pytest.approx(first, rel=2e-3)
    assert sim.report.step_parts == 8


def test_whole_steps_stay_whole_while_there_are_motors():
    """What a motor bears holds for a whole step; once it has gone parts are taken as ever."""
    start = links(SLENDER, False)
    sim = simulation(start, 1 / 60)
    motor = start.dynamics.velocity_coordinates[0]
    sim.motors[motor] = rd.Motor(velocity=0.0, max_force=1e-9)
    sim.step(600)
    assert sim.report.step_parts == 1
    del sim.motors[motor]
    sim.step(1200)
    assert sim.report.step_parts == 8
