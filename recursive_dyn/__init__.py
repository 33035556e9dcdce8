"""Reduced-coordinate rigid-body dynamics of parametric joints, derived symbolically and compiled."""

from recursive_dyn.contact.material import Material
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.errors import ModelError, SceneFileError, StateError
from recursive_dyn.simulation import Simulation
from recursive_dyn.simulation.joint_laws.motor import Motor
from recursive_dyn.simulation.recording import Recorder, Recording, Replay
from recursive_dyn.spatial.algebra import pose

__all__ = [
    "Dynamics",
    "Material",
    "ModelError",
    "Motor",
    "Recorder",
    "Recording",
    "Replay",
    "SceneFileError",
    "Simulation",
    "StateError",
    "pose",
]
