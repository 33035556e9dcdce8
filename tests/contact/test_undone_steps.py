"""A step that Bullet's own bodies share goes back whole, with them, if a part of it fails."""

import numpy as np
import pytest
from contact_scenes import at, bullet, bullet_ball, bullet_position, bullet_twist, mirror, put, set_twist

import recursive_dyn as rd
from scene import Scene, shapes

ROUGH = rd.Material(0.4, restitution=0.3)


def fast(client: int) -> tuple:
    """A ball that crosses a metre in three steps on its way into a heap of Bullet's own, and a mirror of it."""
    balls = [bullet_ball(client, (1.0 + 0.05 * k, 0.02 * k, 0.1 + 0.2 * k), 0.5, 0.1, ROUGH) for k in range(3)]
    scene = Scene()
    put(scene, "ball", shapes.Sphere(0.1, material=ROUGH), at(z=0.15))
    shown = mirror(scene, 1 / 60, client=client)
    set_twist(shown.sim, "ball", velocity=(20.0, 0.0, 0.0))
    return balls, shown


def everything(shown, client: int, balls: list[int]) -> np.ndarray:
    """State, time, impulses, and where Bullet's bodies are and go."""
    sim = shown.sim
    own = [np.concatenate([bullet_position(client, b), bullet_twist(client, b)]) for b in balls]
    return np.concatenate([sim.q, sim.v, [sim.time], sim.contacts.impulse.ravel(), *own])


def fail_at_third(surroundings, error: BaseException):
    """Let the third detection from now on raise; returns what undoes that."""
    detect, looked = surroundings.detect_into, []

    def failing(sim, buffer):
        looked.append(sim.step_size)
        if len(looked) == 3:
            raise error
        detect(sim, buffer)

    surroundings.detect_into = failing
    return lambda: setattr(surroundings, "detect_into", detect)


@pytest.mark.parametrize("error", [rd.StateError("out of reach"), KeyboardInterrupt()], ids=["error", "interrupt"])
def test_a_step_cut_in_parts_that_fails_goes_back_with_bullets_bodies(error):
    """Every step that has three parts fails there once, and is then taken as by a twin that never failed."""
    with bullet() as one, bullet() as other:
        (balls, shown), (twins, twin) = fast(one), fast(other)
        failed = 0
        with shown, twin:
            for _ in range(12):
                before, undo = everything(shown, one, balls), fail_at_third(shown.sim.surroundings, error)
                try:
                    shown.sim.step()
                except type(error):
                    failed += 1
                    np.testing.assert_array_equal(everything(shown, one, balls), before)
                    undo()
                    shown.sim.step()
                undo()
                twin.sim.step()
                np.testing.assert_allclose(everything(shown, one, balls), everything(twin, other, twins), atol=1e-12)
        assert failed >= 2
