"""Scenes that move: every engine builds them and goes through, and what is counted while it does."""

from dataclasses import replace

import numpy as np
import pytest
from test_benchmark_contact import engine_of, engines

import recursive_dyn as rd
from demos.benchmark.contact import cost, demo_scenes, disturbed, endurance, moving, piles, tables
from demos.benchmark.contact.description import GRAVITY, Ball, Block, Drum, Pill, Solid
from demos.benchmark.contact.engines import ENGINES
from demos.stage import Stage
from scene import Body, Scene, joints, shapes


def dropped_ball(damping=0.0):
    scene = Scene()
    scene.world.shapes.append(shapes.Box((4, 4, 1), at=rd.pose((0, 0, -0.5))))
    ball = Body("ball", [shapes.Sphere(0.1)], mass=1.0)
    scene.world.attach(ball, joints.prismatic("z", damping=damping), at=rd.pose((0, 0, 0.11)))
    return Stage(scene, rd.Simulation(scene.compile(), 1 / 240), seconds=0.1, ground=False)


def test_a_demo_that_lands_is_judged():
    found = demo_scenes.conduct(dropped_ball)
    assert (found.bodies, found.coordinates, found.steps, found.contacts) == (1, 1, 24, 1)
    assert 0.0 <= found.penetration < demo_scenes.DEEPEST and found.unsettled == 0
    assert found.growth < 1e-3 and found.step > 0.0


def test_growth_of_energy_is_seen():
    def pushed():
        stage = dropped_ball()
        stage.control = lambda simulation: simulation.tau.__setitem__(0, 40.0)
        return stage

    assert demo_scenes.conduct(pushed).growth > 1e-2


def test_parts_of_a_step_add_up():
    engine = engine_of(piles.boxes(1), "ours")
    try:
        found = cost.parts(engine, 20)
        whole = float(np.median(cost.frames(engine, 20)))
        assert cost.REST in found and len(found) > 1 and all(part >= 0.0 for part in found.values())
        assert sum(found.values()) == pytest.approx(whole, rel=2.0)
    finally:
        engine.close()


def test_percentiles_are_in_microseconds():
    assert cost.percentiles(np.full(10, 1e-6)) == pytest.approx([1.0, 1.0, 1.0])


def test_endurance_runs_and_counts_bullets_bodies():
    looks = endurance.watch(steps=40, looks=4)
    assert [look.steps for look in looks] == [10, 20, 30, 40]
    assert {(look.bodies, look.shapes) for look in looks} == {(4, 4)}


SMALL = [moving.wall(5), moving.dominoes(3), moving.pit(4), moving.ragdolls(2)]


@pytest.mark.parametrize("task", SMALL, ids=lambda task: task.name)
@engines
def test_every_engine_builds_what_moves_and_goes_through_it(task, label):
    """Each is where the description says and falls as it must."""
    engine = engine_of(task, label)
    try:
        if task.solids:
            assert np.allclose(engine.positions(), [s.position for s in task.solids], atol=1e-12)
            assert np.allclose(engine.velocities(), [s.velocity for s in task.solids], atol=1e-12)
        motion = cost.through({label: engine}, 4, block=3)[label]
        assert motion.times.shape == (4,) and (motion.times > 0.0).all()
        if "pit" in task.name:
            assert np.allclose(engine.velocities()[:, 2], -1.0 - GRAVITY * 4 / 240, atol=1e-6)
    finally:
        engine.close()


def test_engines_turn_bodies_alike():
    """Roll, pitch and yaw about fixed axes: the corners of a box are where the formula has them."""
    rpy = (0.3, -0.5, 1.1)
    box = Solid("box", Block((0.2, 0.4, 0.6)), 1.0, (0.0, 0.0, 3.0), rpy=rpy, spin=(1.0, 2.0, 3.0))
    R = rd.pose(rpy=rpy)[:3, :3]
    task = moving.task("turned", 1.0, [box])
    ours, bullet, mujoco = (engine_of(task, label) for label in ENGINES)
    assert np.allclose(ours.simulation.frames()[0][0, :3, :3], R, atol=1e-12)
    assert np.allclose(ours.spins()[0], R @ box.spin, atol=1e-12)
    assert np.allclose(bullet.spins()[0], R @ box.spin, atol=1e-9)
    turn = bullet.pybullet.getBasePositionAndOrientation(bullet.ids[0], bullet.client)[1]
    assert np.allclose(np.reshape(bullet.pybullet.getMatrixFromQuaternion(turn), (3, 3)), R, atol=1e-9)
    assert np.allclose(mujoco.data.body("box").xmat.reshape(3, 3), R, atol=1e-9)
    for engine in (ours, bullet, mujoco):
        engine.close()


def test_scenes_that_move_are_what_their_names_say():
    wall, row, pit, dolls = moving.wall(30), moving.dominoes(), moving.pit(), moving.ragdolls()
    assert [len(task.solids) for task in (wall, row, pit)] == [30, 30, 35] and len(dolls.dolls) == 4
    assert len({type(solid.shape) for solid in pit.solids}) == len((Ball, Block, Pill, Drum))
    reach = [abs(x) for solid in pit.solids for x in solid.position[:2]]
    assert max(reach) < 0.8 and len(pit.walls) == 4
    below = {solid.position[2] for solid in wall.solids}
    assert min(below) == moving.BRICK[2] / 2 and len(below) > 4
    assert any(np.linalg.norm(solid.velocity) > 0.1 for solid in wall.solids)


def test_cost_of_a_sweep_is_per_contact():
    two = np.ones(2)
    motion = cost.Motion(two, 5 * two, np.array([2.0, 4.0]), two, 3e-6 * two, two, two, two)
    assert motion.sweep_cost == pytest.approx(6e-6 / 30)
    assert np.isnan(cost.Motion(two, 5 * two, 0 * two, two, two, two, two, two).sweep_cost)


def test_tables_print_the_rows_that_are_chosen(capsys):
    tables.in_motion([moving.wall(3)])
    said = capsys.readouterr().out
    assert "wall of 3 bricks" in said and "converged" in said
    short = replace(disturbed.heavy((1.0, 1e6), 0), duration=0.02)
    tables.convergence([short])
    said = capsys.readouterr().out
    assert "1, 1e+06 kg, thrown, seed 0" in said and "residual, median" in said
    tables.all_of_them(rows=["no such row"])
    assert capsys.readouterr().out == ""
