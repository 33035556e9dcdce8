"""A step that is undone leaves nothing: Bullet's own bodies that share it go back with it, and it is not counted."""

import numpy as np
import pytest
from contact_scenes import at, bullet, bullet_ball, bullet_position, bullet_twist, mirror, put, set_twist

import recursive_dyn as rd
from scene import Body, Scene, joints, shapes

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


def flights(scene: Scene, velocity: tuple[float, float, float], steps: int) -> tuple[int, int, int]:
    """Of something with a limb, each of whose flights takes one sweep of an implicit rule: how many sweeps are
    reported, of how many flights that led anywhere; and how many steps were cut."""
    body = put(scene, "body", shapes.Sphere(0.1), at(z=2.3))
    inner = Body("inner", mass=0.3, center_of_mass=(0.05, 0.0, 0.0), inertia=1e-3 * np.eye(3))
    body.attach(inner, joints.revolute("x"))
    with mirror(scene, 1 / 60, "implicit_midpoint", ground=False) as shown:
        shown.sim.contact.sleep_after, taken = 0.3, 0
        shown.sim.place("body", velocity=(0.0, 0.0, 0.0, *velocity))
        for _ in range(steps):
            shown.step()
            taken += shown.sim.solution.substeps
        return shown.sim.report.sweeps, taken, shown.sim.report.steps_cut


def test_a_flight_that_leads_too_far_is_not_counted_beside_its_parts():
    """Thrown at a wall: the step that would pass it is flown whole first."""
    scene = Scene(gravity=(0, 0, 0))
    scene.world.shapes.append(shapes.Box((0.05, 4.0, 4.0), at=at(1.0, 0.0, 2.3)))
    sweeps, taken, cut = flights(scene, (60.0, 0.0, 0.0), 2)
    assert cut == 1 and sweeps == taken


def test_nor_is_one_that_touches_what_slept():
    """It falls on a box that sleeps, at 6 m/s: the step, and a part of it, begin anew with that awake."""
    scene = Scene()
    scene.world.shapes.append(shapes.Plane())
    put(scene, "box", shapes.Box((0.2, 0.2, 0.2)), at(z=0.1))
    sweeps, taken, cut = flights(scene, (0.0, 0.0, 0.0), 39)
    assert cut == 1 and sweeps == taken
