"""Controllers: functions of the state and time that give generalized forces."""

from recursive_dyn.control.computed_torque import ComputedTorque
from recursive_dyn.control.controller import Controller
from recursive_dyn.control.gravity_compensation import GravityCompensation
from recursive_dyn.control.optimal.lqr import LQR
from recursive_dyn.control.pd import PD
from recursive_dyn.control.references import Trajectory
from recursive_dyn.control.stable_pd import StablePD

__all__ = ["LQR", "PD", "ComputedTorque", "Controller", "GravityCompensation", "StablePD", "Trajectory"]
