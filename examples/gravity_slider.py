"""Parameters stay inputs of the compiled code: gravity and a length change without compiling, and are derived by."""

import numpy as np

import recursive_dyn as rd
from scene import Body, Scene, joints

scene = Scene()
g, length = scene.parameter("g", 9.81), scene.parameter("length", 1.0)
scene.gravity = (0, 0, -g)
bob = Body("bob", mass=1.0, center_of_mass=(0, 0, -length), inertia=1e-9 * np.eye(3))
scene.world.attach(bob, joints.revolute("y"))
simulation = rd.Simulation(scene.compile(), timestep=1 / 500)

for strength in (9.81, 3.73, 1.62):  # Earth, Mars, the Moon
    simulation.parameters["g"] = strength
    simulation.q, simulation.v, simulation.time = [0.01], [0.0], 0.0
    while simulation.v[0] <= 0.0:
        simulation.step()
    period = 2 * simulation.time
    print(f"g = {strength}: {period:.3f} s, {2 * np.pi / np.sqrt(strength):.3f} s for small swings")

slopes = simulation.dynamics.parameter_derivative("forward_dynamics", ["g", "length"], [0.5], [0.0])
print("the acceleration's derivatives by g and by the length:", slopes[0])
