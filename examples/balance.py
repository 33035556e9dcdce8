"""An inverted pendulum on a cart: its linear model, the regulator of least cost, and a push that it answers."""

import numpy as np

import recursive_dyn as rd
from recursive_dyn import control
from scene import Body, Scene, joints, shapes

scene = Scene()
cart = scene.world.attach(Body("cart", [shapes.Box((0.4, 0.2, 0.1))], mass=1.0), joints.prismatic("x"))
rod = [shapes.Capsule(0.02, 0.8, at=rd.pose((0, 0, 0.4)))]
cart.attach(Body("pole", rod, mass=0.3), joints.revolute("y"))
dynamics = scene.compile()
A, B = dynamics.linearize([0, 0], [0, 0])
print("rates of the open loop:", np.round(np.linalg.eigvals(A), 3))

simulation = rd.Simulation(dynamics, timestep=1 / 240)
simulation.control = control.LQR(dynamics, [0, 0], actuated=["cart.distance"])
for step in range(1200):
    if step == 120:
        simulation.v[1] += 0.8  # a knock, rad/s
    simulation.step()
error = np.abs(simulation.q).max()
print(f"five seconds later it stands within {error:.1e} of upright")
