"""A thousand states in one call: arguments take leading axes, and so do results."""

import numpy as np

import recursive_dyn as rd
from scene import Body, Scene, joints, shapes

scene, rod = Scene(), shapes.Capsule(0.05, 0.5, at=rd.pose((0, 0, -0.25)))
node = scene.world
for k in range(6):
    place = rd.pose((0, 0, -0.5 if k else 0))
    node = node.attach(Body(f"link {k}", [rod]), joints.ball() if k % 2 else joints.revolute("y"), at=place)
dynamics = scene.compile()

rng = np.random.default_rng(0)
q = np.stack([dynamics.random(rng) for _ in range(1000)])
v, tau = rng.normal(size=(2, 1000, dynamics.nv))
a = dynamics.forward_dynamics(q, v, tau)  # (1000, nv)
back = dynamics.inverse_dynamics(q, v, a)  # the forces again
M = dynamics.mass_matrix(q)  # (1000, nv, nv)
error = np.abs(back - tau).max()
print(dynamics, a.shape, M.shape, f"forces come back to {error:.1e}")
