"""Bodies come and go while a simulation runs: the mirror follows, everyone else goes on as if nothing had happened."""

import numpy as np
import pybullet
import pytest

import recursive_dyn as rd
from bridge import PyBulletMirror
from scene import Body, Scene, joints, shapes

H = 1 / 240


def brick(name, size=(0.2, 0.2, 0.2)):
    return Body(name, shapes=[shapes.Box(size)], density=500.0)


def wall(count=6, apart=1.0):
    """Bricks on the ground, each by itself, and one on top of the last."""
    scene = Scene()
    for i in range(count):
        scene.world.attach(brick(f"brick {i}"), joints.free(), at=rd.pose(xyz=(apart * i, 0, 0.1)))
    scene.world.attach(brick("top"), joints.free(), at=rd.pose(xyz=(apart * (count - 1), 0, 0.3)))
    return scene


@pytest.fixture
def running():
    scene = wall()
    sim = rd.Simulation(scene.compile(), H)
    with PyBulletMirror(scene, sim, gui=False) as mirror:
        mirror.step(120)
        mirror.step()
        yield scene, sim, mirror


def state(sim, body):
    """(q, v) of a body on a free joint."""
    k, places = sim.dynamics.bodies.index(body), sim.dynamics.coordinates
    q = [i for i, name in enumerate(places) if name.startswith(f"{body}.")]
    v = [i for i, name in enumerate(sim.dynamics.velocity_coordinates) if name.startswith(f"{body}.")]
    assert k >= 0 and len(q) == 7
    return sim.q[q].copy(), sim.v[v].copy()


def pairs(sim, kind):
    return {frozenset((e.body_a, e.body_b)) for e in sim.contact_events if e.kind == kind}


def test_those_that_stay_go_on_as_without_the_edit(running):
    """A brick far away is removed and another added: the others move as those of a twin do.

    The solve ends within its tolerance, in the order of the contacts in which Bullet tells them.
    """
    scene, sim, mirror = running
    twin_scene = wall()
    twin = rd.Simulation(twin_scene.compile(), H)
    with PyBulletMirror(twin_scene, twin, gui=False) as other:
        other.step(121)
        scene["brick 1"].detach()
        scene.world.attach(brick("new"), joints.free(), at=rd.pose(xyz=(0, 5, 0.5)))
        mirror.update()
        assert sim.dynamics.bodies == ("brick 0", *(f"brick {i}" for i in range(2, 6)), "top", "new")
        for _ in range(60):
            mirror.step()
            other.step()
            for body in ("brick 0", "brick 3", "brick 5", "top"):
                for mine, yours in zip(state(sim, body), state(twin, body), strict=True):
                    np.testing.assert_allclose(mine, yours, rtol=0, atol=1e-10)
        assert state(sim, "new")[0][2] < -0.1  # of its place at 0.5 m: it falls, and comes to rest on the ground
    mirror.step(240)
    assert mirror.sim.frames()[0][sim.dynamics.bodies.index("new"), 2, 3] == pytest.approx(0.1, abs=2e-3)


def test_a_brick_that_is_taken_out_ends_its_contacts_and_what_it_carried_falls(running):
    scene, sim, mirror = running
    assert pairs(sim, "stay") >= {frozenset(("brick 5", "top")), frozenset(("brick 5", "world"))}
    scene["brick 5"].detach()
    mirror.update()
    assert "brick 5" not in mirror.bullet_bodies
    assert sim.contact_events == () or pairs(sim, "begin") == set()
    mirror.step()
    assert pairs(sim, "end") == {frozenset(("brick 5", "top")), frozenset(("brick 5", "world"))}
    assert all("brick 5" not in (e.body_a, e.body_b) for e in sim.contact_events if e.kind != "end")
    assert state(sim, "top")[1][5] == pytest.approx(-9.81 * H, rel=1e-6)
    mirror.step(240)
    assert frozenset(("top", "world")) in pairs(sim, "begin")
    assert pairs(sim, "end") == set()


def test_what_comes_and_goes_balances_begin_and_end(running):
    """Balls are dropped and taken away again; whoever began to touch has ended."""
    scene, sim, mirror = running
    touching = set()

    def count():
        nonlocal touching
        begun, ended = pairs(sim, "begin"), pairs(sim, "end")
        assert begun.isdisjoint(touching) and ended <= touching | begun
        touching = (touching | begun) - ended

    mirror.step()
    touching = pairs(sim, "stay") | pairs(sim, "begin")
    rng = np.random.default_rng(3)
    for k in range(6):
        ball = Body(f"ball {k}", shapes=[shapes.Sphere(0.1 + 0.02 * k)], mass=1.0)
        scene.world.attach(ball, joints.free(), at=rd.pose(xyz=(*rng.uniform(-1, 1, 2), 0.3)))
        if k >= 2:
            scene[f"ball {k - 2}"].detach()
        mirror.update()
        for _ in range(40):
            mirror.step()
            count()
    for k in (4, 5):
        scene[f"ball {k}"].detach()
    mirror.update()
    mirror.step()
    count()
    assert all("ball" not in name for pair in touching for name in pair)
    assert {frozenset(("brick 0", "world")), frozenset(("brick 5", "top"))} <= touching
    assert len(mirror.bullet_bodies) == 7


def test_a_solve_starts_from_the_impulses_of_those_that_stayed(running):
    """At rest one sweep does, as without the edit; from zero it takes more."""
    scene, sim, mirror = running
    mirror.step()
    warm = sim.solution.iterations
    kept = {c.body_a: c.impulse for c in mirror.contacts}
    scene["brick 1"].detach()
    mirror.update()
    assert sim.contacts.impulse.sum() > 0.0
    mirror.step()
    assert sim.solution.iterations <= warm
    assert set(kept) - {c.body_a for c in mirror.contacts} == {"brick 1"}


def test_another_shape_and_mass_of_a_body_are_felt(running):
    scene, sim, mirror = running
    scene["top"].detach()
    low = brick("top", (0.2, 0.2, 0.1))
    scene.world.attach(low, joints.free(), at=rd.pose(xyz=(5.0, 0, 0.3)))
    mirror.update()
    mirror.step(240)
    assert sim.frames()[0][sim.dynamics.bodies.index("top"), 2, 3] == pytest.approx(0.25, abs=2e-3)


def test_bullets_ids_that_are_given_again_meet_whom_they_may():
    """The child of a joint that went never met its parent; who has its id now does."""
    scene = wall(3)
    base = scene["brick 0"]
    arm = base.attach(brick("arm"), joints.revolute("y"), at=rd.pose(xyz=(0, 0, 0.15)))
    sim = rd.Simulation(scene.compile(), H)
    with PyBulletMirror(scene, sim, gui=False) as mirror:
        mirror.step(20)
        (gone,) = mirror.bullet_bodies["arm"]
        arm.detach()
        scene.world.attach(brick("guest"), joints.free(), at=rd.pose(xyz=(0, 0, 0.3)))
        mirror.update()
        assert mirror.bullet_bodies["guest"] == (gone,)
        mirror.step(120)
        assert sim.frames()[0][sim.dynamics.bodies.index("guest"), 2, 3] == pytest.approx(0.3, abs=3e-3)


def test_a_mirror_without_contact_follows_too(running):
    scene, sim, mirror = running
    with PyBulletMirror(scene, sim, gui=False, contact=False) as looker:
        scene["brick 1"].detach()
        with pytest.raises(rd.StateError, match="mirror's update"):
            sim.update(scene.compile())
        mirror.update()
        looker.update()
        looker.sync()
        assert looker.bullet_bodies.keys() == mirror.bullet_bodies.keys()
        (body,) = looker.bullet_bodies["top"]
        place, _ = pybullet.getBasePositionAndOrientation(body, looker.client)
        np.testing.assert_allclose(place, sim.frames()[0][sim.dynamics.bodies.index("top"), :3, 3], atol=1e-9)


def test_bodies_that_come_and_go_leave_nothing_of_their_shapes(running):
    """Bullet frees no shape that a body was made of, nor would it number the next one lower."""
    scene, _, mirror = running

    def made():
        return pybullet.createCollisionShape(pybullet.GEOM_SPHERE, radius=0.1, physicsClientId=mirror.client)

    def comes_and_goes(k):
        body = Body("guest", shapes=[shapes.Sphere(0.07), shapes.Box((0.1, 0.2, 0.3))], mass=1.0)
        scene.world.attach(body, joints.free(), at=rd.pose(xyz=(0.01 * k, 5, 0.5)))
        mirror.update()
        body.detach()
        mirror.update()

    comes_and_goes(0)
    before = made()
    for k in range(50):
        comes_and_goes(k)
    assert made() == before + 1
    assert pybullet.getNumBodies(mirror.client) == len(wall().bodies) + 1


def test_equal_shapes_of_bodies_that_came_at_different_times_are_felt_alike(running):
    scene, sim, mirror = running
    for k, name in enumerate(("one", "other")):
        scene.world.attach(brick(name, (0.2, 0.2, 0.1)), joints.free(), at=rd.pose(xyz=(k, 3, 0.06)))
        mirror.update()
    scene["one"].detach()
    mirror.update()
    mirror.step(120)
    assert sim.frames()[0][sim.dynamics.bodies.index("other"), 2, 3] == pytest.approx(0.05, abs=2e-3)


def test_how_far_bodies_may_move_is_said_by_those_that_there_are():
    """Not by smaller ones that went."""
    scene = Scene()
    scene.world.attach(Body("stays", [shapes.Sphere(0.1)], mass=1.0), joints.free(), at=rd.pose((0, 0, 0.5)))
    sim = rd.Simulation(scene.compile(), H)

    def forgiven(shown: PyBulletMirror) -> float:
        shown.step()
        return float(shown._surroundings._placed._solid.forgiven[0])

    with PyBulletMirror(scene, sim, gui=False, ground=False) as shown:
        expected = forgiven(shown)
        small = scene.world.attach(Body("goes", [shapes.Sphere(0.01)], mass=1.0), joints.free())
        shown.update()
        assert forgiven(shown) == pytest.approx(0.1 * expected)
        small.detach()
        shown.update()
        assert forgiven(shown) == expected
