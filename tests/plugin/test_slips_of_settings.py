"""Slips that passed silently, or were told of as something else: names that are nearly right, settings of nothing."""

import numpy as np
import pytest

import recursive_dyn as rd
from bridge import Plugin
from scene import Body, Scene, joints, shapes


def many() -> Scene:
    scene = Scene()
    for k in range(30):
        crate = Body(f"crate{k}", [shapes.Box((0.1, 0.1, 0.1))], mass=1)
        scene.world.attach(crate, joints.free(), at=rd.pose((k, 0, 1)))
    return scene


@pytest.fixture(scope="module")
def scene():
    return many()


@pytest.fixture
def sim(scene):
    return rd.Simulation(scene.compile())


@pytest.mark.parametrize(
    ("ask", "meant"),
    [
        (lambda sim, scene: sim.apply_force("crat5", (0, 0, 1)), "crate5"),
        (lambda sim, scene: sim.motors["crate5.wz1"], "crate5.wz"),
        (lambda sim, scene: scene["crat5"], "crate5"),
        (lambda sim, scene: sim.prescribe("crate5.wz1", 0.0), "crate5.wz"),
    ],
)
def test_of_many_names_the_nearest_and_a_dozen_are_told(sim, scene, ask, meant):
    with pytest.raises(rd.ModelError) as told:
        ask(sim, scene)
    assert len(str(told.value)) < 400 and f"did you mean '{meant}'?" in str(told.value)


def test_a_sensor_that_is_none_is_told_by_name(sim):
    with pytest.raises(rd.StateError, match="no sensor 'nope'; there are none"):
        _ = sim.sensors["nope"]
    sim.sensors.imu("head", "crate0")
    with pytest.raises(KeyError, match="no sensor 'haed'; there are head; did you mean 'head'"):
        del sim.sensors["haed"]
    assert sim.sensors["head"].shape == (6,) and sim.sensors.get("nope") is None and "nope" not in sim.sensors


def test_a_scene_has_no_misspelt_setting():
    scene = Scene()
    with pytest.raises(rd.ModelError, match="no 'gravty'; did you mean 'gravity'"):
        scene.gravty = (0, 0, 0)
    scene.gravity, scene.remark = (0, 0, -1), "of my own"
    assert scene.gravity[2] == -1 and scene.remark == "of my own"


def test_a_motor_of_nothing_is_refused_and_one_that_holds_or_brakes_is_not():
    with pytest.raises(rd.StateError, match="position, a velocity"):
        rd.Motor()
    assert repr(rd.Motor(velocity=0.0)) == "Motor(velocity=0.0)"
    assert rd.Motor(max_force=2.0).max_force == 2.0


def test_a_quaternion_without_length_is_named(sim):
    sim.q[7 + 3 : 7 + 7] = 0.0
    with pytest.raises(rd.StateError, match=r"quaternion of 'crate1\.qx' to 'crate1\.qw' has length 0"):
        sim.step()


def test_ground_does_not_move_with_a_body():
    for ground in (shapes.Plane(), shapes.HeightField(np.zeros((3, 3)), (1, 1))):
        scene = Scene()
        scene.world.attach(Body("b", [ground], mass=1), joints.free())
        with pytest.raises(rd.ModelError, match=r"body 'b': a \w+ cannot move with a body"):
            scene.compile()


@pytest.mark.parametrize("at", [6, 9, 20, 40, 130, -1])
def test_any_damaged_byte_of_a_snapshot_is_told_as_damage(sim, at):
    data = bytearray(sim.snapshot_bytes())
    data[at] ^= 1
    with pytest.raises(rd.StateError, match="damaged"):
        sim.restore(data)


def test_a_plugin_refuses_slips(scene):
    with pytest.raises(rd.StateError, match=r"takes no 'fps'; it takes .*timestep"):
        Plugin(scene, fps=60)
    game = Plugin(scene)
    for name, value in (("hitspeed", 1.0), ("hit_speed", -1.0), ("time_scal", 2.0)):
        with pytest.raises(rd.StateError, match=r"hit_speed|time_scale"):
            setattr(game, name, value)
    game.hit_speed, game.score = 2.0, 3
    assert (game.hit_speed, game.score) == (2.0, 3)
    game.before_step.append(None)
    with pytest.raises(rd.StateError, match="functions of the plugin, not None"):
        game.step(1)
