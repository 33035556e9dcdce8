"""A picture without a window: a chain of rings, each on the last by a torus on a torus, drawn to a file."""

import sys

from PIL import Image

import recursive_dyn as rd
from bridge import Camera, Pictures
from scene import Body, Scene, joints, shapes

scene = Scene()
ring, node = joints.surfaces.torus(0.3, 0.08), scene.world
for k in range(4):
    link = Body(f"ring {k}", [shapes.Torus(0.3, 0.08)], density=900)
    joint = joints.surface_on_surface(ring, ring) if k else joints.revolute("y")
    node = node.attach(link, joint)
simulation = rd.Simulation(scene.compile(), timestep=1 / 240)
simulation.step(60)
picture = Pictures(scene, simulation).image(480, 360, Camera(yaw=30, pitch=-15))
Image.fromarray(picture).save(sys.argv[1] if len(sys.argv) > 1 else "rings.png")
print(simulation, picture.shape)
