"""A joint nobody else has: a nut on a helix whose pitch breathes with the angle, and an arm that swings from it."""

import sympy as sp

import recursive_dyn as rd
from scene import Body, Scene, joints, shapes

angle = sp.Symbol("angle", real=True)
height = angle / 20 + sp.sin(angle) / 10
c, s = sp.cos(angle), sp.sin(angle)
thread = sp.Matrix([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, height], [0, 0, 0, 1]])  # any rigid motion G(q)

scene = Scene(gravity=(0, 0, -9.81))
nut = scene.world.attach(Body("nut", [shapes.Cylinder(0.1, 0.05)], mass=0.5), joints.Joint(thread, angle))
rod = [shapes.Capsule(0.02, 0.4, at=rd.pose((0, 0, -0.2)))]
nut.attach(Body("arm", rod, mass=0.2), joints.revolute("y"), at=rd.pose((0.15, 0, 0)))
print(scene)

simulation = rd.Simulation(scene.compile(), timestep=1 / 240)
start = simulation.dynamics.potential_energy(simulation.q)
simulation.step(480)
dynamics, q, v = simulation.dynamics, simulation.q, simulation.v
drift = dynamics.kinetic_energy(q, v) + dynamics.potential_energy(q) - start
print(simulation, f"energy drift {drift:.1e} J", sep="\n")
