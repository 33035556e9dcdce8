"""The contact scenes are what their definitions say, and every engine builds and steps them."""

from contextlib import closing

import numpy as np
import pytest

from demos.benchmark.contact import endurance, measures, piles, run, simbench
from demos.benchmark.contact.description import GRAVITY, Ball, Block
from demos.benchmark.contact.engines import ENGINES
from demos.benchmark.contact.engines.engine import Engine, Unable
from demos.benchmark.contact.robots import HINGES, LEGS, laikago, total_mass

PEERS = [label for label in ENGINES if label != "ours"]

tasks = pytest.mark.parametrize("name", list(run.tasks()))
peers = pytest.mark.parametrize("label", PEERS)
engines = pytest.mark.parametrize("label", list(ENGINES))


def engine_of(task, label) -> Engine:
    try:
        return ENGINES[label](task)
    except Unable as reason:
        pytest.skip(str(reason))


def touching(task):
    """Smallest gaps of a solid's underside to z = 0, and of its centre to others' along z, m."""
    return min(s.position[2] - (s.shape.radius if isinstance(s.shape, Ball) else s.shape.size[2] / 2)
               for s in task.solids)  # fmt: skip


def test_rolling_accelerations_solve_the_equations_of_motion():
    box, ball = simbench.rolling_accelerations()
    assert (box, ball) == pytest.approx((0.7385, 0.211), abs=5e-4)
    between = simbench.BALL_MASS * ball  # N, friction that each ball feels
    ground = 0.4 * 35.0 * GRAVITY
    assert simbench.BOX_MASS * box == pytest.approx(150.0 - ground - 25 * between)
    assert box == pytest.approx(ball + 5.0 / 2.0 * between / simbench.BALL_MASS)  # rolls: box = ball + spin r
    assert between < 0.8 * simbench.BALL_MASS * GRAVITY


def test_rolling_is_simbenchs():
    task = simbench.rolling()
    box, *balls = task.solids
    assert box.shape == Block((20.0, 20.0, 1.0)) and box.mass == 10.0
    assert len(balls) == 25 and all(ball.shape == Ball(0.5) and ball.mass == 1.0 for ball in balls)
    places = np.array([ball.position for ball in balls])
    assert np.allclose(np.unique(places[:, 0]), (-4, -2, 0, 2, 4)) and np.allclose(places[:, 2], 1.5, atol=1e-4)
    assert (task.friction, task.ground_friction, task.duration, task.timestep) == (0.8, 0.4, 4.0, 1e-3)
    (push,) = task.pushes
    assert push.body == "box" and np.linalg.norm(push.force) == pytest.approx(150.0)
    assert np.allclose(np.array(push.force)[:2] / 150.0, (0.5, 0.866), atol=1e-4)


def test_rolling_is_solved_to_rounding_by_direct_solves():
    engine = engine_of(simbench.rolling(), "ours")
    sweeps, residuals = [], []
    for _ in range(30):
        engine.step()
        sweeps.append(engine.sweeps())
        residuals.append(engine.residual())
    engine.close()
    assert np.median(sweeps) <= 10
    assert max(residuals) <= 1e-13


def test_rolling_error_of_the_closed_form_is_zero_and_of_rest_the_published_one():
    task = simbench.rolling()
    t = 1e-3 * np.arange(task.steps)
    exact = t[:, None, None] * np.outer(simbench.rolling_accelerations(), simbench.DIAGONAL)
    assert task.error(t, exact) < 1e-30
    assert task.error(t, 0.0 * exact) == pytest.approx(3.145, abs=5e-3)  # what ODE and DART got with a pyramid


def test_bouncing_is_simbenchs():
    task = simbench.bouncing()
    assert len(task.solids) == 49 and task.steps == 20000
    assert all(s.shape == Ball(0.1) and s.mass == 10.0 and s.position[2] == 5.0 for s in task.solids)
    assert (task.restitution, task.friction, task.ground_friction) == (1.0, 0.0, 0.0)
    start = GRAVITY * sum(s.mass * s.position[2] for s in task.solids)
    assert start == pytest.approx(24034.5)
    assert task.error(np.zeros(2), np.array([start, start + 2.0])) == pytest.approx(2.0)


@pytest.mark.parametrize("elastic, lowest", [(False, 0.101), (True, 1.101)])
def test_666_is_simbenchs(elastic, lowest):
    task = simbench.six_six_six(elastic)
    places = np.array([s.position for s in task.solids])
    jitter = places - places.min(0)
    assert len(places) == 216 and task.steps == 10000 and task.restitution == float(elastic)
    assert lowest <= places[:, 2].min() <= lowest + 1e-3
    assert np.abs(jitter / 0.21 - np.round(jitter / 0.21)).max() * 0.21 < 1e-3
    assert np.ptp(places, axis=0) == pytest.approx([1.05] * 3, abs=2e-3)
    assert measures.squared_penetration(0.1, places) == 0.0


def test_squared_penetration_counts_pairs_and_ground():
    x = np.array([[0.0, 0.0, 0.09], [0.18, 0.0, 0.1], [5.0, 0.0, 1.0]])
    pair = 0.2 - np.hypot(0.18, 0.01)
    assert measures.squared_penetration(0.1, x) == pytest.approx(0.01**2 + pair**2)


def test_balls_energy_is_that_of_a_rolling_ball():
    (ball,) = (s for s in simbench.bouncing().solids[:1])
    x, v, omega = np.array([[0.0, 0.0, 0.1]]), np.array([[2.0, 0.0, 0.0]]), np.array([[0.0, 20.0, 0.0]])
    assert measures.balls_energy([ball], GRAVITY, x, v, omega) == pytest.approx(0.7 * 10.0 * 4.0 + 0.981 * 10.0)


def test_quadrupeds_have_twelve_hinges_at_anymals_angles():
    task = simbench.quadruped_energy()
    names = {f"{leg}_{hinge}" for leg in LEGS for hinge in HINGES}
    assert set(task.robot.angles) == names and all(name in laikago() for name in names)
    assert sorted(task.robot.angles.values()) == sorted([0.03, -0.03] * 2 + [0.4] * 2 + [-0.4] * 2 + [-0.8, 0.8] * 2)
    (lift,) = task.pushes
    assert lift.force[2] == pytest.approx(2.0 * total_mass() * GRAVITY) and lift.until == 1.0
    assert task.steps == 3000 and task.robot.position[2] == 2.0


def test_energy_counts_only_the_fall():
    task = simbench.quadruped_energy()
    t = 1e-3 * np.arange(task.steps)
    energy = np.where(t < 0.9995, 1e6, 7.0)
    assert task.error(t, energy) == 0.0
    energy[-1] = 9.0
    assert task.error(t, energy) == pytest.approx(4.0 / 2000)


def test_the_thrown_ball_has_the_momentum_that_is_expected():
    task = simbench.quadruped_momentum()
    (ball,) = task.solids
    assert (ball.shape, ball.mass, ball.position[1], ball.velocity) == (Ball(0.2), 10.0, -5.0, (0.0, 5.0, 0.0))
    assert task.gravity == 0.0 and task.restitution == 0.0 and task.steps == 10000
    assert task.error(np.zeros(1), np.array([[0.0, 50.0, 0.0]])) == 0.0
    assert task.error(np.zeros(1), np.array([[0.1, 50.0, 0.2]])) == pytest.approx(0.05)


@pytest.mark.parametrize("task", [piles.stack(), piles.heavy_on_light(), piles.boxes(7)], ids=lambda task: task.name)
def test_piles_start_touching(task):
    assert touching(task) == pytest.approx(0.0, abs=2 * piles.OVERLAP)
    x = np.array([s.position for s in task.solids])
    apart = np.abs(x[:, None] - x[None])[~np.eye(len(x), dtype=bool)].max(-1)
    assert apart.min() >= piles.SIDE - 2 * piles.OVERLAP


def test_heaps_sleep_beside_a_ball_that_rolls():
    with closing(engine_of(piles.heaps(sleep=True, ball=True), "ours")) as engine:
        for _ in range(240):
            engine.advance()
        assert len(engine.simulation.asleep) == 300
        assert engine.velocities()[-1] == pytest.approx((0.0, 1.0, 0.0), abs=1e-3)


def test_piles_are_judged_by_sinking_and_drift():
    samples = np.tile([[0.0, 0.0, 0.1], [0.0, 0.0, 0.3]], (3, 1, 1))
    samples[1, 1, 2], samples[2, 0, :2] = 0.298, (0.003, 0.004)
    assert piles.stack().error(np.zeros(3), samples) == pytest.approx(2.0)
    assert piles.sinking(samples)[-1] == pytest.approx(0.0)
    assert piles.drift(samples) == pytest.approx(5.0)
    assert [s.mass for s in piles.heavy_on_light().solids] == [1.0, 1000.0]


@tasks
@engines
def test_every_engine_starts_where_the_description_says_and_steps(name, label):
    task = run.tasks()[name]
    engine = engine_of(task, label)
    try:
        if task.solids:
            assert np.allclose(engine.positions(), [s.position for s in task.solids], atol=1e-12)
            assert np.allclose(engine.velocities(), [s.velocity for s in task.solids], atol=1e-12)
            assert np.allclose(engine.spins(), 0.0)
        for _ in range(3):
            engine.step()
        assert np.isfinite(np.asarray(task.sample(engine))).all()
        assert engine.time == pytest.approx(3 * task.timestep)
    finally:
        engine.close()


@engines
def test_a_push_accelerates_as_newton_says(label):
    """Before it slides over nothing: without a ground and gravity only the force acts."""
    from dataclasses import replace

    task = replace(simbench.rolling(), solids=simbench.rolling().solids[:1], gravity=0.0, ground=False)
    engine = engine_of(task, label)
    try:
        for _ in range(10):
            engine.step()
        assert np.allclose(engine.velocities()[0], np.array(task.pushes[0].force) * 10e-3 / 10.0, rtol=1e-9, atol=1e-12)
    finally:
        engine.close()


@engines
def test_engines_agree_on_a_robots_energy_and_momentum(label):
    """At the start it is that of the file: heights of the links; and a limp robot that falls keeps its energy."""
    energies = {}
    for each in ("MuJoCo", label):
        engine = engine_of(simbench.quadruped_energy(), each)
        energies[each] = engine.energy()
        assert np.allclose(engine.momentum(), 0.0, atol=1e-12)
        for _ in range(5):
            engine.step()
        pushed = total_mass() * GRAVITY * 5e-3  # twice the weight, less the weight
        assert np.allclose(engine.momentum(), (0.0, 0.0, pushed), rtol=1e-6, atol=1e-4)
        engine.close()
    assert energies[label] == pytest.approx(energies["MuJoCo"], rel=1e-6)


@engines
def test_boxes_stand_on_four_corners_each(label):
    engine = engine_of(piles.boxes(2), label)
    try:
        for _ in range(24):
            engine.step()
        assert engine.contacts() == 8
    finally:
        engine.close()


@engines
def test_the_robot_stands_on_its_four_feet(label):
    engine = engine_of(piles.standing_quadruped(), label)
    try:
        for _ in range(480):
            engine.step()
        assert engine.contacts() == 4
        assert engine.robot_height() == pytest.approx(piles.standing_quadruped().robot.position[2], abs=0.02)
    finally:
        engine.close()


@peers
def test_a_missing_engine_is_a_line_in_the_table(label, monkeypatch):
    monkeypatch.setattr(ENGINES[label], "modules", ("no_such_engine",))
    outcome = run.measure(piles.stack(), label, steps=1)
    assert np.isnan(outcome.error) and "no_such_engine" in outcome.reason


def test_a_run_counts_its_steps_and_samples():
    engine = engine_of(simbench.quadruped_momentum(), "MuJoCo")
    times, samples, spent, unsettled = run.trace(engine, 4)
    assert np.allclose(times, [0.0, 1e-3, 2e-3, 3e-3]) and samples.shape == (4, 3)
    assert spent > 0.0 and unsettled == 0


def test_endurance_sees_growth():
    looks = [endurance.Look(100 * k, 50.0 + 2.0**-20 * 100 * k, 4, 4) for k in range(1, 6)]
    assert endurance.growth(looks) == pytest.approx(1.0)
    assert endurance.memory() > 1.0
