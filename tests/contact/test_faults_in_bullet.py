"""Bullet's world changed behind a simulation's back: told by name, the state kept."""

import numpy as np
import pybullet
from contact_scenes import at, bullet, bullet_ball, energy, mirror, put
from test_faults import assert_kept, pile

from scene import Scene, shapes

# Bullet, behind our back


def test_a_disconnected_client_is_told_and_the_state_kept():
    with bullet() as client:
        with mirror(pile(), client=client) as shown:
            shown.step(3)
            pybullet.disconnect(client)
            for call in (shown.step, shown.sim.step):
                assert_kept(shown.sim, call, "create a new PyBulletMirror")
        shown.sim.step()  # the closed mirror took its detector away: the boxes fall
        assert shown.sim.v[5] < 0.0


def test_a_mirrored_body_that_was_removed_is_told_by_name():
    with bullet() as client, mirror(pile(), client=client) as shown:
        shown.step(3)
        pybullet.removeBody(shown.bullet_bodies["box1"][0], client)
        assert_kept(shown.sim, shown.step, "'box1'.*removed.*create a new PyBulletMirror")
        assert_kept(shown.sim, shown.sim.step, "'box1'.*removed.*create a new PyBulletMirror")


def test_a_mirrored_body_exchanged_for_another_is_noticed():
    """Their number stays the same."""
    with bullet() as client, mirror(pile(), client=client) as shown:
        shown.step(3)
        pybullet.removeBody(shown.bullet_bodies["box1"][0], client)
        bullet_ball(client, (0, 0, 3))
        assert_kept(shown.sim, shown.step, "'box1'.*removed")


def test_the_ground_removed_is_told():
    with bullet() as client, mirror(pile(), client=client) as shown:
        shown.step(3)
        own = {k for ids in shown.bullet_bodies.values() for k in ids}
        everything = {pybullet.getBodyUniqueId(k, client) for k in range(pybullet.getNumBodies(client))}
        for scenery in everything - own:
            pybullet.removeBody(scenery, client)
        assert_kept(shown.sim, shown.step, "removed")


def test_foreign_bodies_may_come_and_go():
    with bullet() as client, mirror(pile(), client=client) as shown:
        shown.step(10)
        for k in range(5):
            ball = bullet_ball(client, (0.0, 0.0, 0.501), 0.3)
            shown.step(20 + k)
            assert any(c.body_b == f"bullet:{ball}" for c in shown.contacts)
            pybullet.removeBody(ball, client)
            shown.step(3)
            assert not any("bullet" in c.body_b for c in shown.contacts)
        first = bullet_ball(client, (0.0, 0.0, 0.501), 0.3)
        shown.step(10)
        pybullet.removeBody(first, client)
        second = bullet_ball(client, (0.0, 0.0, 0.501), 0.3)  # exchanged between two steps
        shown.step(30)
        assert any(c.body_b == f"bullet:{second}" for c in shown.contacts)


def test_what_explodes_is_refused_and_the_state_kept():
    scene = pile()
    with mirror(scene) as shown:
        shown.step(2)
        shown.sim.v = np.full(12, 1e200)
        assert_kept(shown.sim, shown.step, "not finite|did not converge")
        shown.sim.v = np.zeros(12)
        most = energy(shown.sim)
        shown.step(30)
        assert energy(shown.sim) <= most + 1e-3


def test_bodies_created_inside_each_other_are_pushed_apart_gently():
    """They overlap by half: no explosion, and at last they lie apart."""
    scene = Scene()
    for k in range(2):
        put(scene, f"ball{k}", shapes.Sphere(0.2), at(0.2 * k, 0.01 * k, 0.2))
    with mirror(scene) as shown:
        fastest = 0.0
        for _ in range(240):
            shown.step()
            fastest = max(fastest, np.abs(shown.sim.frames()[1][:, 3:]).max())
        assert fastest < 0.5
        X = shown.sim.frames()[0][:, :3, 3]
        assert np.linalg.norm(X[0] - X[1]) > 0.3999
