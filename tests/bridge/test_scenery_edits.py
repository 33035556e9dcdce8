"""Scenery that comes and goes while a simulation runs, and what contacts are called after it did."""

import numpy as np
import pytest

import recursive_dyn as rd
from bridge import PyBulletMirror
from scene import Body, Scene, joints, shapes

H = 1 / 240


def ball(name, radius=0.1):
    return Body(name, shapes=[shapes.Sphere(radius)], mass=1.0)


def brick(name, size=(0.2, 0.2, 0.2)):
    return Body(name, shapes=[shapes.Box(size)], density=500.0)


def height(sim, body):
    return sim.frames()[0][sim.dynamics.bodies.index(body), 2, 3]


def shown(scene, **options):
    return PyBulletMirror(scene, rd.Simulation(scene.compile(), H), gui=False, **options)


def kinds(sim, body="ball"):
    return {e.kind for e in sim.contact_events if e.body_a == body and e.body_b == "world"}


STATIC = {
    "plane": lambda: shapes.Plane(at=rd.pose(xyz=(0, 0, -0.5))),
    "box": lambda: shapes.Box((2, 2, 1), at=rd.pose(xyz=(0, 0, -1.0))),
}


@pytest.mark.parametrize("kind", STATIC)
def test_scenery_that_comes_is_met_and_when_it_goes_who_lay_on_it_falls(kind):
    scene = Scene()
    scene.world.attach(ball("ball"), joints.free(), at=rd.pose(xyz=(0, 0, -0.3)))
    with shown(scene, ground=False) as mirror:
        sim = mirror.sim
        mirror.step(24)
        assert sim.v[5] == pytest.approx(-9.81 * 24 * H)  # nothing holds it
        sim.q[2], sim.v[:] = -0.39, 0.0
        scene.world.shapes.append(STATIC[kind]())
        mirror.update()
        mirror.step(240)
        assert height(sim, "ball") == pytest.approx(-0.4, abs=2e-3)
        assert kinds(sim) == {"begin"}
        scene.world.shapes.clear()
        mirror.update()
        mirror.step()
        assert kinds(sim) == {"end"}
        mirror.step(24)
        assert sim.v[5] < -0.9 * 9.81 * 24 * H


def test_a_plane_takes_the_place_of_the_usual_ground_and_gives_it_back():
    """As in a mirror that is made with such a scene."""
    scene = Scene()
    scene.world.attach(ball("ball"), joints.free(), at=rd.pose(xyz=(0, 0, 0.1)))
    with shown(scene) as mirror:
        mirror.step(12)
        scene.world.shapes.append(shapes.Plane(at=rd.pose(xyz=(0, 0, -0.2))))
        mirror.update()
        mirror.step(240)
        assert height(mirror.sim, "ball") == pytest.approx(-0.1, abs=2e-3)
        scene.world.shapes.clear()
        mirror.sim.q[2] = 0.15
        mirror.update()
        mirror.step(240)
        assert height(mirror.sim, "ball") == pytest.approx(0.1, abs=2e-3)


def test_bodies_fixed_to_the_world_come_and_go():
    scene = Scene()
    scene.world.attach(ball("ball"), joints.free(), at=rd.pose(xyz=(0, 0, 1.2)))
    with shown(scene) as mirror:
        sim = mirror.sim
        scene.world.attach(brick("shelf", (1, 1, 0.2)), joints.fixed(), at=rd.pose(xyz=(0, 0, 0.9)))
        mirror.update()
        mirror.step(120)
        assert height(sim, "ball") == pytest.approx(1.1, abs=2e-3)
        scene["shelf"].detach()
        mirror.update()
        mirror.step()
        assert {(e.kind, e.body_b) for e in sim.contact_events} == {("end", "shelf")}
        mirror.step(240)
        assert height(sim, "ball") == pytest.approx(0.1, abs=2e-3)


def test_who_passes_all_scenery_passes_what_comes_too():
    scene = Scene()
    for k, name in enumerate(("ghost", "ball")):
        scene.world.attach(ball(name), joints.free(), at=rd.pose(xyz=(k, 0, 0.5)))
    scene.pair("ghost", "world", collide=False)
    with shown(scene, ground=False) as mirror:
        scene.world.shapes += [shapes.Plane(), shapes.Box((5, 5, 1), at=rd.pose(xyz=(0, 0, -0.4)))]
        mirror.update()
        mirror.step(120)
        assert height(mirror.sim, "ball") == pytest.approx(0.2, abs=3e-3)
        assert height(mirror.sim, "ghost") == pytest.approx(0.5 - 0.5 * 9.81 * 0.25, abs=0.02)


def test_gravity_is_followed():
    scene = Scene()
    scene.world.attach(ball("ball"), joints.free(), at=rd.pose(xyz=(0, 0, 5.0)))
    with shown(scene) as mirror:
        scene.gravity = (0, 0, 2.0)
        mirror.update()
        mirror.step(24)
        assert mirror.sim.v[5] == pytest.approx(2.0 * 24 * H)


def test_what_bullet_cannot_take_leaves_all_as_it_was():
    """Neither the simulation nor Bullet has seen the edit; without it, both go on."""
    scene = Scene()
    scene.world.attach(ball("ball"), joints.free(), at=rd.pose(xyz=(0, 0, 0.1)))
    with shown(scene) as mirror:
        mirror.step(10)
        before, q = mirror.bullet_bodies, mirror.sim.q
        scene.world.attach(brick("fine"), joints.free(), at=rd.pose(xyz=(3, 0, 0.1)))
        ground = Body("ground", shapes=[shapes.Plane()], mass=1.0, center_of_mass=(0, 0, 0), inertia=np.eye(3))
        scene.world.attach(ground, joints.free())
        with pytest.raises(rd.ModelError, match=r"'ground'.*cannot move"):
            mirror.update()
        assert mirror.bullet_bodies == before and mirror.sim.q is q
        mirror.step(10)
        ground.detach()
        mirror.update()
        mirror.step(10)
        assert mirror.bullet_bodies.keys() == {"ball", "fine"}


def edits(rng, scene, count):
    """Bodies come, go and change; so does scenery."""
    for k in range(count):
        names = [body.name for body in scene.bodies]
        what = int(rng.integers(5))
        if what == 0 and len(names) > 2:
            scene[str(rng.choice(names))].detach()
        elif what == 1:
            scene[str(rng.choice(names))].shapes[:] = [shapes.Box((0.2, 0.2, 0.2)), shapes.Sphere(0.11)]
        elif what == 2 and scene.world.shapes:
            scene.world.shapes.pop(int(rng.integers(len(scene.world.shapes))))
        elif what == 3:
            wall = shapes.Plane(normal=(1, 0, 0), at=rd.pose(xyz=(-0.2, 0, 0)))
            scene.world.shapes.append(wall if rng.random() < 0.5 else shapes.Box((9, 9, 1), at=rd.pose((0, 0, -0.495))))
        at = rd.pose(xyz=(0.19 * k, 0.3, 0.1))
        scene.world.attach((brick if rng.random() < 0.5 else ball)(f"late {k}"), joints.free(), at=at)
        yield


@pytest.mark.filterwarnings("ignore:bodies overlap")
@pytest.mark.parametrize("seed", range(3))
def test_contacts_are_called_and_ordered_as_in_a_mirror_made_afterwards(seed):
    """Keys, by which the next solve finds impulses again, and the order of the solve, which decides its rounding."""
    rng, scene = np.random.default_rng(seed), Scene()
    scene.world.shapes.append(shapes.Plane())
    for k in range(5):
        scene.world.attach((brick if k % 2 else ball)(f"b{k}"), joints.free(), at=rd.pose(xyz=(0.19 * k, 0, 0.1)))
    with shown(scene) as mirror:
        sim = mirror.sim
        mirror.step(3)
        for _ in edits(rng, scene, 6):
            mirror.update()
            mirror.step(2)
            with shown(scene) as other:
                other.sim.q[:], other.sim.v[:] = sim.q, sim.v
                snapshot, _ = sim.snapshot(), other.sim.snapshot()  # Bullet forgets what it saw before, in both
                mirror.step()
                other.step()
                for name in ("a", "b", "key", "friction"):
                    np.testing.assert_array_equal(getattr(sim.contacts, name), getattr(other.sim.contacts, name), name)
                sim.restore(snapshot)


def test_impulses_of_who_stays_are_found_again_under_their_new_keys():
    scene = Scene()
    for k in range(4):
        scene.world.attach(brick(f"b{k}"), joints.free(), at=rd.pose(xyz=(k, 0, 0.1)))
    with shown(scene) as mirror:
        mirror.step(120)
        held = {c.body_a: c.impulse for c in mirror.contacts}
        scene["b1"].detach()
        scene.world.shapes.append(shapes.Plane())  # in place of the usual one: nobody lay on it
        mirror.update()
        assert (mirror.sim.contacts.key == -(1 << 62)).all()
        mirror.step(60)
        scene["b0"].detach()
        scene.world.shapes.insert(0, shapes.Plane(normal=(1, 0, 0), at=rd.pose(xyz=(-9, 0, 0))))
        mirror.update()
        keys = mirror.sim.contacts.key.copy()
        assert len(keys) == 8 and held.keys() == {"b0", "b1", "b2", "b3"}
        mirror.step()
        assert set(keys.tolist()) == set(mirror.sim.contacts.key.tolist())
        assert mirror.sim.solution.iterations <= 2
