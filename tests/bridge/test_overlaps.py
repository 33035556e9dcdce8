"""Bodies that overlap before anything has moved are told by name: who, how deep, and what to do."""

import warnings

import pytest

import recursive_dyn as rd
from bridge import PyBulletMirror
from scene import Body, Scene, joints, shapes


def ball(scene: Scene, name: str, x: float, z: float, joint=None) -> Body:
    return scene.world.attach(Body(name, [shapes.Sphere(0.1)]), joint or joints.free(), at=rd.pose((x, 0.0, z)))


def mirrored(scene: Scene, **options) -> PyBulletMirror:
    return PyBulletMirror(scene, rd.Simulation(scene.compile()), gui=False, **options)


def silent(scene: Scene, **options) -> tuple:
    """The overlaps of a mirror that says nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with mirrored(scene, **options) as shown:
            return shown.overlaps


def test_two_that_overlap_are_told_with_their_depth_and_a_remedy():
    scene = Scene()
    ball(scene, "left", 0.0, 1.0)
    ball(scene, "right", 0.17, 1.0)
    said = r"overlap at the start: 'left' and 'right' by 30 mm\. .*push_speed.*scene\.pair\('left', 'right', collide="
    with pytest.warns(UserWarning, match=said) as told, mirrored(scene) as shown:
        (overlap,) = shown.overlaps
        assert (overlap.body_a, overlap.body_b) == ("left", "right")
        assert overlap.distance == pytest.approx(-0.03, abs=1e-9)
        for _ in range(3):
            shown.step()
        assert len(shown.overlaps) == 1, "it says what was at the start"
    assert len(told) == 1 and told[0].filename == __file__
    scene.pair("left", "right", collide=False)
    assert silent(scene) == ()


def test_the_deepest_come_first_and_the_rest_is_counted():
    scene = Scene()
    for k in range(6):
        ball(scene, f"b{k}", 0.15 * k + 0.002 * k * k, 1.0)
    said = (
        r"'b0' and 'b1' by 48 mm, 'b1' and 'b2' by 44 mm, 'b2' and 'b3' by 40 mm, 2 more pairs \(mirror\.overlaps\)\."
    )
    with pytest.warns(UserWarning, match=said), mirrored(scene) as shown:
        assert [c.body_b for c in shown.overlaps] == ["b1", "b2", "b3", "b4", "b5"]


def test_a_body_in_the_ground_or_in_scenery_is_told_once():
    scene = Scene()
    scene.world.attach(Body("box", [shapes.Box((0.4, 0.4, 0.4))]), joints.free(), at=rd.pose((0.0, 0.0, 0.19)))
    with pytest.warns(UserWarning, match=r"'box' and 'world' by 10 mm\. .*own ground plane"), mirrored(scene) as shown:
        assert len(shown.overlaps) == 1, "of its four corners one is told"


def test_what_lies_on_each_other_is_no_overlap():
    scene = Scene()
    for k in range(3):
        place = rd.pose((0.0, 0.0, 0.1 + 0.1999 * k))
        scene.world.attach(Body(f"box{k}", [shapes.Box((0.2, 0.2, 0.2))]), joints.free(), at=place)
    assert silent(scene) == ()


def test_what_nothing_moves_may_overlap():
    scene = Scene()
    ball(scene, "stone", 0.0, 0.0, joints.fixed())
    ball(scene, "rock", 0.05, 0.0, joints.fixed())
    assert silent(scene) == ()


def test_who_feels_nothing_is_told_nothing():
    scene = Scene()
    ball(scene, "left", 0.0, 1.0)
    ball(scene, "right", 0.17, 1.0)
    assert silent(scene, contact=False) == ()


def test_the_state_counts_in_which_the_simulation_is():
    scene = Scene()
    ball(scene, "left", 0.0, 1.0)
    ball(scene, "right", 0.17, 1.0)
    sim = rd.Simulation(scene.compile())
    sim.q[0] = -0.5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with PyBulletMirror(scene, sim, gui=False) as shown:
            assert shown.overlaps == ()
