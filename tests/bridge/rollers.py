"""What rolls down a slope."""

import numpy as np

import recursive_dyn as rd
from bridge import PyBulletMirror
from scene import Scene


def gained_downhill(scene: Scene, tilt: np.ndarray, steps: int) -> np.ndarray:
    """Acceleration (3,), m/s^2, in the axes of a slope, of a scene's first body in so many steps of 1/240 s, after 24
    in which it begins to roll."""
    sim = rd.Simulation(scene.compile(), 1 / 240)

    def speed() -> np.ndarray:
        return tilt[:3, :3].T @ sim.dynamics.velocities(sim.q, sim.v)[0, 3:]

    with PyBulletMirror(scene, sim, gui=False, ground=False) as mirror:
        mirror.step(24)
        start = speed()
        mirror.step(steps)
    return (speed() - start) / (steps / 240)
