"""Joints that break in a mirror and in a game: who touches goes on touching, what is told is balanced."""

import numpy as np
import pytest

import recursive_dyn as rd
from bridge import Plugin, PyBulletMirror
from scene import Body, Scene, joints, shapes

H, G = 1 / 240, 9.81


def standing():
    """A block on the ground carries a beam that sticks out, and beside it lies a plate."""
    scene = Scene()
    scene.world.shapes.append(shapes.Plane())
    block = Body("block", [shapes.Box((0.6, 0.6, 0.3))], density=500)
    scene.world.attach(block, joints.free(), rd.pose((0, 0, 0.15)))
    beam = Body("beam", [shapes.Box((0.5, 0.1, 0.1), at=rd.pose((0.25, 0, 0)))], density=300)
    block.attach(beam, joints.fixed(), rd.pose((0.3, 0, 0.1)))
    plate = Body("plate", [shapes.Box((0.3, 0.3, 0.1))], density=500)
    scene.world.attach(plate, joints.free(), rd.pose((-1, 0, 0.05)))
    return scene


def test_contacts_and_what_the_next_solve_starts_from_go_on_through_a_cut():
    scene = standing()
    sim = rd.Simulation(scene.compile(), H)
    with PyBulletMirror(scene, sim, gui=False, ground=False) as mirror:
        mirror.step(60)
        before, poses = sim.contacts, sim.frames()[0]
        count, names = len(before), sim.dynamics.bodies
        scene.cut("beam")
        mirror.update()
        at = [sim.dynamics.bodies.index(name) for name in names]
        np.testing.assert_allclose(sim.frames()[0][at], poses, atol=1e-14)
        np.testing.assert_array_equal(sim.contacts.impulse, before.impulse)
        mirror.step()
        assert len(sim.contacts) == count
        assert {e.kind for e in sim.contact_events} == {"stay"}
        weight = sum(scene[name].mass for name in ("block", "plate")) * G * H
        assert sim.contacts.impulse[:, 2].sum() == pytest.approx(weight, rel=0.05)
        mirror.step(120)
        assert ("beam", "world") in {(e.body_a, e.body_b) for e in sim.contact_events}


@pytest.mark.parametrize("collisions", ["closed form", "bullet"])
def test_a_beam_breaks_off_where_a_weight_falls_on_it(collisions):
    scene = standing()
    moment = scene["beam"].mass * G * 0.25
    scene["beam"].breaks_at(torque=3.0 * moment)
    scene.world.attach(Body("weight", [shapes.Sphere(0.1)], density=2000), joints.free(), rd.pose((0.7, 0, 1.0)))
    game, told = Plugin(scene, collisions=collisions), []
    with game:
        for _ in range(60):
            game.on_frame(1 / 60)
            told += game.events
        (broken,) = [event for event in told if event.kind == "broken"]
        assert (broken.body_a, broken.body_b) == ("beam", "block") and broken.torque > 3.0 * moment
        hit = next(event for event in told if event.kind == "begin" and "weight" in (event.body_a, event.body_b))
        assert broken.time == pytest.approx(hit.time, abs=1.5 * H)
        assert game.poses()[game.bodies.index("beam"), 2, 3] < 0.1
        assert not scene["beam"].strength and scene["beam"].parent is scene.world
    pairs = {}
    for event in told:
        if event.kind in ("begin", "end"):
            pair = frozenset((event.body_a, event.body_b))
            pairs[pair] = pairs.get(pair, 0) + (1 if event.kind == "begin" else -1)
            assert pairs[pair] in (0, 1)
    assert {pair for pair, count in pairs.items() if count} == {frozenset(p) for p in game.simulation.touching}


@pytest.mark.parametrize("held", ["by a joint", "by a constraint"])
def test_what_is_transmitted_does_not_depend_on_how_a_step_is_cut(held):
    """It is the mean over a step: a ball falls on a plate, and elsewhere something fast has steps cut into parts."""

    def broken(speed: float) -> tuple[float, int]:
        scene, plate = Scene(), Body("plate", [shapes.Box((1, 1, 0.1))], mass=5.0)
        joint = joints.fixed() if held == "by a joint" else joints.prismatic("z")
        scene.world.attach(plate, joint, rd.pose((0, 0, 0.5)))
        if held == "by a joint":
            plate.breaks_at(force=150.0)
        else:
            scene.constrain(plate.position[2] - 0.5, name="bolt", breaks_at=150.0)
        scene.world.attach(Body("ball", [shapes.Sphere(0.1)], mass=2.0), joints.free(), rd.pose((0, 0, 0.75)))
        scene.world.attach(Body("fast", [shapes.Sphere(0.02)], mass=0.1), joints.prismatic("x"), rd.pose((5, 5, 0)))
        scene.world.shapes.append(shapes.Box((1, 1, 1), at=rd.pose((9, 5, 0))))
        with Plugin(scene, 1 / 60) as game:
            game.simulation.v[-1] = speed
            game.step(12)
            (told,) = [event for event in game.events if event.kind == "broken"]
            return told.force, game.simulation.report.steps_cut

    (calm, uncut), (force, cut) = broken(0.0), broken(25.0)
    assert uncut == 0 and cut > 0
    assert force == pytest.approx(calm, rel=1e-6)


def test_a_mirror_follows_within_a_run_of_steps_and_leaves_no_trace_when_closed():
    scene = standing()
    scene["beam"].breaks_at(force=1.0)
    sim = rd.Simulation(scene.compile(), H)
    mirror = PyBulletMirror(scene, sim, gui=False, ground=False)
    mirror.step(30)
    assert [b.body for b in sim.broken] == ["beam"] and sim.time == pytest.approx(30 * H)
    height = sim.frames()[0][sim.dynamics.bodies.index("beam"), 2, 3]
    assert height < 0.25
    scene.world.attach(Body("rod", [shapes.Sphere(0.05)], mass=1.0), joints.revolute("x"), rd.pose((0, 0, 1)))
    scene["rod"].breaks_at(force=1.0)
    mirror.update()
    mirror.close()
    sim.step(2)
    assert [b.body for b in sim.broken] == ["rod"]
