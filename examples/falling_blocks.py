"""Blocks fall on a floor and on each other; who touches whom is told by name."""

import recursive_dyn as rd
from bridge import PyBulletMirror
from scene import Body, Scene, joints, shapes

scene = Scene()
scene.world.shapes.append(shapes.Plane(material=rd.Material(friction=0.6)))
for k in range(3):
    block = Body(f"block {k}", [shapes.Box((0.2, 0.2, 0.1))], density=600)
    scene.world.attach(block, joints.free(), at=rd.pose((0.02 * k, 0, 0.2 + 0.15 * k)))

simulation = rd.Simulation(scene.compile(), timestep=1 / 240)
with PyBulletMirror(scene, simulation) as mirror:
    mirror.step(480)
    for pair in sorted(simulation.touching):
        print(" touches ".join(pair))
    for contact in simulation.contacts:
        print(f"{contact.body_a} on {contact.body_b}: {contact.impulse[2] * 240:.2f} N up")
lifted = sum(contact.impulse[2] for contact in simulation.contacts if contact.body_b == "world") / simulation.timestep
weight = 9.81 * sum(body.mass for body in scene.bodies)
print(f"the floor carries {lifted:.2f} N of {weight:.2f} N")
