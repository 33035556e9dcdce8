"""The two things that every view of a scene is given, told apart."""

from __future__ import annotations

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.errors import ModelError
from recursive_dyn.simulation.moving import Posed
from scene import Scene


def check_scene_and_motion(view: str, scene: object, moving: object) -> None:
    """Raise ModelError unless these are a scene and what moves its bodies; view: the name of who takes them."""
    if not isinstance(scene, Scene):
        swapped = ", the other way round" if isinstance(moving, Scene) else f", not {type(scene).__name__} first"
        raise ModelError(f"{view} takes the scene and then what moves it, {view}(scene, simulation){swapped}")
    if isinstance(moving, Dynamics):
        raise ModelError(
            f"{view} takes a simulation, not compiled dynamics: {view}(scene, rd.Simulation(scene.compile()))"
        )
    if not isinstance(moving, Posed):
        raise ModelError(
            f"{view} is of a simulation, or of what else knows where bodies are, not of {type(moving).__name__}"
        )
