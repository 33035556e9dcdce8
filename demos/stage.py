"""What a demo is made of, and how one is run: in a window in real time, or frame by frame into a GIF or PNG."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pybullet

import recursive_dyn as rd
from bridge import Camera, PyBulletMirror, save_animation
from recursive_dyn.codegen.making.progress import each
from recursive_dyn.manifold import Motion
from scene import Scene

FRAMES_PER_SECOND = 25
CONTROL_PERIOD = 0.01  # s
SIZE = (480, 360)
PICTURE = (960, 720)


@dataclass
class Stage:
    """A scene ready to run.

    decorate: called once, adds what is not of the scene (wires, surfaces, Bullet's own bodies); control: called a
    hundred times a second, may set tau or push; contact: whether bodies feel what they touch; camera: the view;
    seconds: how long the demo lasts; report: a sentence to print at the end; energy: in all, J, where the simulation
    only shows what others compute; overlay: draws over a picture (h, w, 3), where there is no window.
    """

    scene: Scene
    simulation: rd.Simulation | Motion
    seconds: float = 6.0
    ground: bool | float = True
    camera: Camera = field(default_factory=Camera)
    decorate: Callable[[PyBulletMirror], None] | None = None
    control: Callable[[rd.Simulation], None] | None = None
    contact: bool = False
    report: Callable[[], str] | None = None
    energy: Callable[[], float] | None = None
    overlay: Callable[[np.ndarray], np.ndarray] | None = None


def compiled(scene: Scene, timestep: float, integrator: str | None = None) -> rd.Simulation:
    """A simulation of the scene, with the machine code that frames need."""
    simulation = rd.Simulation(scene.compile(), timestep, integrator)
    simulation.frames()
    return simulation


def energy_of(stage: Stage) -> float:
    """What a stage's bodies have, J."""
    return total_energy(stage.simulation) if stage.energy is None else stage.energy()


def total_energy(simulation: rd.Simulation | Motion) -> float:
    """Kinetic, gravity's and the springs' energy, J."""
    if isinstance(simulation, Motion):
        return simulation.energy
    d, q, v = simulation.dynamics, simulation.q, simulation.v
    return float(d.kinetic_energy(q, v) + d.potential_energy(q) + d.elastic_energy(q))


def bullets_energy(mirror: PyBulletMirror) -> float:
    """Kinetic and gravity's energy of Bullet's own single bodies, J."""
    client, energy = mirror.client, 0.0
    mirrors = {body for bodies in mirror.bullet_bodies.values() for body in bodies}
    known = pybullet.getPhysicsEngineParameters(client)
    gravity = np.array([known[f"gravityAcceleration{axis}"] for axis in "XYZ"])
    for k in range(pybullet.getNumBodies(client)):
        body = pybullet.getBodyUniqueId(k, client)
        facts = pybullet.getDynamicsInfo(body, -1, client)
        mass, moments = facts[0], np.array(facts[2])
        if body in mirrors or mass == 0.0:
            continue
        position, turn = pybullet.getBasePositionAndOrientation(body, client)
        velocity, omega = pybullet.getBaseVelocity(body, client)
        spin = np.array(pybullet.getMatrixFromQuaternion(turn)).reshape(3, 3).T @ omega
        energy += 0.5 * (mass * np.dot(velocity, velocity) + spin @ (moments * spin)) - mass * gravity @ position
    return float(energy)


def most_work(simulation: rd.Simulation, before: np.ndarray) -> float:
    """What the motors may have done at most in the last timestep, J; before (nv,): the velocity at its start."""
    speed = np.maximum(np.abs(before), np.abs(simulation.v))
    slots, forces = simulation.dynamics.velocity_coordinates.index, simulation.motor_forces
    return simulation.timestep * sum(done.most * float(speed[slots(name)]) for name, done in forces.items())


def mirrored(stage: Stage, gui: bool = False) -> PyBulletMirror:
    """A mirror of the stage, with all that does not belong to its scene; the caller closes it."""
    mirror = PyBulletMirror(stage.scene, stage.simulation, gui=gui, ground=stage.ground, contact=stage.contact)
    try:
        if stage.decorate:
            stage.decorate(mirror)
    except Exception:
        mirror.close()
        raise
    return mirror


def run_window(stage: Stage, seconds: float | None, **options: Any) -> None:
    """Real time in a viewer's window, until it is closed or ``seconds`` are over."""
    with mirrored(stage, gui=False) as mirror, mirror.viewer(camera=stage.camera, **options) as viewer:
        if stage.control:
            viewer.playback.before.append(controlled(stage, stage.control))
        viewer.run(seconds)


def controlled(stage: Stage, control: Callable[[rd.Simulation], None]) -> Callable[[], None]:
    """What calls ``control`` a hundred times a second of the simulation's time, wherever that is put."""
    last = -1

    def before() -> None:
        nonlocal last
        now = int(stage.simulation.time / CONTROL_PERIOD + 1e-6)
        if now != last:
            last = now
            assert isinstance(stage.simulation, rd.Simulation)
            control(stage.simulation)

    return before


def run_bullet_window(stage: Stage, seconds: float | None) -> None:
    """Real time in PyBullet's window, until it is closed or ``seconds`` are over."""
    with mirrored(stage, gui=True) as mirror:
        last = start = time.perf_counter()
        while pybullet.isConnected(mirror.client) and (seconds is None or last - start < seconds):
            now = time.perf_counter()
            advance(stage, min(now - last, 0.1))
            last = now
            mirror.sync()
            time.sleep(max(0.0, 1 / 60 - (time.perf_counter() - now)))


def run_headless(stage: Stage, output: Path, seconds: float | None) -> None:
    """Into a GIF or an MP4, or into a PNG of the last moment."""
    seconds = stage.seconds if seconds is None else seconds
    moving = output.suffix.lower() != ".png"
    with mirrored(stage, gui=False) as mirror:
        frames: list[np.ndarray] = []
        for _ in each(range(max(1, round(seconds * FRAMES_PER_SECOND))), "rendering"):
            advance(stage, 1 / FRAMES_PER_SECOND)
            if moving:
                frames.append(picture(stage, mirror, SIZE))
        if not moving:
            frames.append(picture(stage, mirror, PICTURE))
    save_animation(output, frames, FRAMES_PER_SECOND)


def picture(stage: Stage, mirror: PyBulletMirror, size: tuple[int, int]) -> np.ndarray:
    """What a mirror of the stage shows now, by its camera; (height, width, 3), uint8."""
    mirror.sync()
    drawn = mirror.image(*size, camera=stage.camera, samples=4)
    return stage.overlay(drawn) if stage.overlay else drawn


def advance(stage: Stage, duration: float) -> None:
    """Let the stage's simulation run on, under its control."""
    slices = max(1, round(duration / CONTROL_PERIOD)) if stage.control else 1
    for _ in range(slices):
        if stage.control:
            stage.control(stage.simulation)
        stage.simulation.advance(duration / slices)
