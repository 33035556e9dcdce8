"""Controllers: functions of the state and time that give generalized forces; and the tasks that they may have."""

from recursive_dyn.control.computed_torque import ComputedTorque
from recursive_dyn.control.controller import Controller
from recursive_dyn.control.footholds import Foothold, touching
from recursive_dyn.control.gravity_compensation import GravityCompensation
from recursive_dyn.control.inverse_kinematics import Reached, inverse_kinematics
from recursive_dyn.control.jacobian_transpose import JacobianTranspose, VirtualSpring
from recursive_dyn.control.operational_space import OperationalSpace
from recursive_dyn.control.optimal.ilqr import ILQR
from recursive_dyn.control.optimal.lqr import LQR
from recursive_dyn.control.optimal.planned_motion import PlannedMotion
from recursive_dyn.control.optimal.time_varying_lqr import TimeVaryingLQR
from recursive_dyn.control.pd import PD
from recursive_dyn.control.stable_pd import StablePD
from recursive_dyn.control.tasks.body_tasks import LookAt, Orientation, Pose, Position
from recursive_dyn.control.tasks.task import Task
from recursive_dyn.control.tasks.whole_tasks import AngularMomentum, CenterOfMass, Posture
from recursive_dyn.control.whole_body import WholeBodyQP

__all__ = [
    "ILQR",
    "LQR",
    "PD",
    "AngularMomentum",
    "CenterOfMass",
    "ComputedTorque",
    "Controller",
    "Foothold",
    "GravityCompensation",
    "JacobianTranspose",
    "LookAt",
    "OperationalSpace",
    "Orientation",
    "PlannedMotion",
    "Pose",
    "Position",
    "Posture",
    "Reached",
    "StablePD",
    "Task",
    "TimeVaryingLQR",
    "VirtualSpring",
    "WholeBodyQP",
    "inverse_kinematics",
    "touching",
]
