"""A closed loop of four bars by its closed form: one coordinate drives three bodies, without a constraint."""

import numpy as np

import recursive_dyn as rd
from scene import Body, Scene, joints, linkages

LENGTHS = {"crank": 0.4, "coupler": 1.1, "rocker": 0.9, "ground": 1.2}

scene = Scene()
theta = scene.coordinate("theta", damping=0.05)
coupler_angle, rocker_angle = linkages.four_bar(theta, **LENGTHS)
bar = {"mass": 1.0, "inertia": 0.05 * np.eye(3)}
crank = scene.world.attach(Body("crank", **bar), joints.revolute("y").driven(theta))
coupler = Body("coupler", **bar)
crank.attach(coupler, joints.revolute("y").driven(coupler_angle - theta), at=rd.pose((LENGTHS["crank"], 0, 0)))
scene.world.attach(Body("rocker", **bar), joints.revolute("y").driven(rocker_angle), at=rd.pose((1.2, 0, 0)))

dynamics = scene.compile()
simulation = rd.Simulation(dynamics, timestep=1 / 240)
simulation.tau = [0.4]  # N m on theta, which turns everything
simulation.step(960)
tip = dynamics.poses(simulation.q)[1] @ (LENGTHS["coupler"], 0, 0, 1)
end = dynamics.poses(simulation.q)[2] @ (LENGTHS["rocker"], 0, 0, 1)
gap = np.abs(tip - end).max()
print(dynamics, f"theta {simulation.q[0]:.3f} rad, the loop is closed to {gap:.1e} m", sep="\n")
