"""A KUKA arm from its URDF file: where its hand should be, which angles lead there, and motors that hold them."""

from pathlib import Path

import numpy as np
import pybullet_data

import recursive_dyn as rd
from recursive_dyn import control
from scene import Scene

scene = Scene.from_urdf(Path(pybullet_data.getDataPath()) / "kuka_iiwa/model.urdf", fixed_base=True)
dynamics = scene.compile()
print(dynamics, f"efforts of {dynamics.effort_limits} N m", sep="\n")

hand = control.Position("lbr_iiwa_link_7", (0.5, 0.2, 0.6))
found = control.inverse_kinematics(dynamics, [hand], np.full(7, 0.3))
simulation = rd.Simulation(dynamics, timestep=1 / 240)
simulation.q = found.q
simulation.control = control.GravityCompensation(dynamics)  # motors alone would sag by 8 mm
for name, angle in zip(dynamics.coordinates, found.q, strict=True):
    simulation.motors[name] = rd.Motor(position=angle, max_force=200.0)
simulation.step(240)
place = dynamics.poses(simulation.q)[dynamics.bodies.index("lbr_iiwa_link_7"), :3, 3]
error = np.linalg.norm(place - (0.5, 0.2, 0.6))
print(f"the hand is {1e3 * error:.4f} mm from its target under gravity")
