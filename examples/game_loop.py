"""A scene inside somebody else's loop: fixed steps whatever the frames are, poses between them, events."""

import recursive_dyn as rd
from bridge import Plugin
from scene import Body, Scene, joints, shapes

scene = Scene()
scene.world.shapes.append(shapes.Plane())
scene.world.attach(Body("ball", [shapes.Sphere(0.2)]), joints.free(), at=rd.pose((0, 0, 1)))
game = Plugin(scene, timestep=1 / 240)

hits, lowest = [], 1.0
for frame in range(90):
    game.on_frame(1 / 60 if frame % 7 else 1 / 30)  # a frame now and then is late
    hits += [event for event in game.events if event.kind == "hit"]
    lowest = min(lowest, float(game.poses()[0, 2, 3]))
print(f"{len(hits)} hit, first at {hits[0].time:.3f} s; the centre came down to {lowest:.3f} m")
