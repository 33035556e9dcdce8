"""Several mirrors in one of Bullet's connections: one of them is felt, and a second one to be is refused by name."""

import gc

import pybullet
import pytest

import recursive_dyn as rd
from bridge import PyBulletMirror
from scene import Body, Scene, joints, shapes


@pytest.fixture
def client():
    number = pybullet.connect(pybullet.DIRECT)
    yield number
    if pybullet.isConnected(number):
        pybullet.disconnect(number)


def balls(*names: str, height: float = 1.0) -> Scene:
    scene = Scene()
    for k, name in enumerate(names):
        place = rd.pose((0.5 * k, 0.0, height))
        scene.world.attach(Body(name, [shapes.Sphere(0.1)], mass=1.0), joints.free(), at=place)
    return scene


def mirrored(scene: Scene, client: int, **options) -> PyBulletMirror:
    return PyBulletMirror(scene, rd.Simulation(scene.compile()), client=client, **options)


def test_a_second_one_to_be_felt_is_refused_and_told_whose_the_first_is(client):
    with mirrored(balls("a", "b", "c", "d", "e"), client) as first:
        count = pybullet.getNumBodies(client)
        with pytest.raises(rd.StateError, match=r"that of the scene of 'a', 'b', 'c' and 2 more: close it, put all"):
            mirrored(balls("x"), client)
        assert pybullet.getNumBodies(client) == count, "nothing of it is left"
        first.step(5)
        with pytest.raises(rd.StateError, match=r"scene of 'a', 'b', 'c' and 2 more"):
            PyBulletMirror(first.scene, first.sim, client=client)
        first.step(5)
    with mirrored(balls("x"), client) as next_one:
        next_one.step()


def test_connections_of_their_own_have_one_each(client):
    with mirrored(balls("a"), client), mirrored(balls("b"), None, gui=False) as other:
        other.step()


def test_one_that_is_only_shown_is_a_wall_to_the_one_that_is_felt(client):
    """A ball falls on one that another simulation lets fly on, untouched."""
    upper, lower = balls("upper", height=1.25), balls("lower", height=1.0)
    sim = rd.Simulation(lower.compile(), 1 / 240)
    with PyBulletMirror(lower, sim, client=client, contact=False, ground=False) as shown:
        lower_z = sim.frames()[0][0, 2, 3]
        with mirrored(upper, client, ground=False) as felt:
            for _ in range(60):
                felt.step()
            assert felt.sim.frames()[0][0, 2, 3] == pytest.approx(1.2, abs=1e-4)
            assert sim.frames()[0][0, 2, 3] == lower_z
            shown.step(10)
            assert sim.frames()[0][0, 2, 3] < lower_z


def test_planes_of_one_that_is_only_shown_are_walls_to_the_one_that_is_felt(client):
    """A mirror's bodies pass its own planes in Bullet, where it finds contacts with them itself, and no other's."""
    with (
        mirrored(balls("shown"), client, contact=False, ground=0.5),
        mirrored(balls("felt", height=0.65), client) as felt,
    ):
        felt.step(120)
        assert felt.sim.frames()[0][0, 2, 3] == pytest.approx(0.6, abs=1e-3)


def test_who_is_gone_is_in_nobodys_way(client):
    """Dropped without a word, its bodies removed by someone else, or the whole world reset."""
    mirrored(balls("a"), client)
    second = mirrored(balls("b"), client)
    pybullet.removeBody(second.bullet_bodies["b"][0], client)
    third = mirrored(balls("c"), client)
    pybullet.resetSimulation(client)
    with mirrored(balls("d"), client) as last:
        last.step()
    del third
    gc.collect()
