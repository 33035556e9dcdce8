"""Things come apart while they run: a wheel breaks off at a kerb, a doll's arm is cut, a chain is cut in the middle.

One wheel's axle bears a force and no more: it breaks by itself. The doll hangs by a hand, the chain from a beam, until
they are cut. What is left goes on: the cart on three wheels, arm and chain where they hang, everything else falls.
"""

from __future__ import annotations

import numpy as np

import recursive_dyn as rd
from bridge import Camera, PyBulletMirror
from demos.stage import Stage, compiled
from recursive_dyn.simulation.loads.breaking import BrokenJoint
from scene import Body, Scene, joints, shapes
from scene.body import Node

TIMESTEP = 1 / 240
AXLE = 1500.0  # N that an axle bears; a quarter of the cart weighs 150 N
SPEED, TURNING = 9.0, 20.0  # of the wheels, rad/s and N m
CUTS = {"trunk": 1.2, "link 5": 2.2}  # s
LINKS = 10
RUBBER, STONE = rd.Material(friction=0.9), rd.Material(friction=0.6)
RED, DARK, BLUE, SKIN, GOLD, WOOD = (
    (0.80, 0.24, 0.20, 1), (0.16, 0.17, 0.20, 1), (0.22, 0.44, 0.72, 1), (0.93, 0.78, 0.65, 1), (0.86, 0.66, 0.25, 1),
    (0.55, 0.42, 0.30, 1),
)  # fmt: skip
ALONG_Y = rd.pose(rpy=(np.pi / 2, 0, 0))


def cart(scene: Scene) -> None:
    """Four driven wheels under a body, on the way to a kerb that one of them meets."""
    seat = shapes.Box((0.45, 0.42, 0.2), at=rd.pose((-0.2, 0, 0.32)), color=DARK)
    body = Body("cart", [shapes.Box((1.1, 0.5, 0.2), at=rd.pose((0, 0, 0.12)), color=RED), seat], mass=50.0)
    scene.world.attach(body, joints.free(), rd.pose((-2.8, -1.9, 0.22)))
    for name, x, y in (("front left", 0.4, 0.36), ("front right", 0.4, -0.36), ("rear left", -0.4, 0.36),
                       ("rear right", -0.4, -0.36)):  # fmt: skip
        shape = shapes.Cylinder(0.22, 0.12, at=ALONG_Y, color=DARK, material=RUBBER)
        hub = shapes.Box((0.26, 0.13, 0.08), color=GOLD, collision=False)
        wheel = Body(name, [shape, hub], mass=3.0)
        body.attach(wheel, joints.revolute("y"), rd.pose((x, y, 0)))
    scene["front right"].breaks_at(force=AXLE)
    scene.world.shapes.append(shapes.Box((0.3, 0.5, 0.24), at=rd.pose((0.0, -2.2, 0.12)), color=WOOD, material=STONE))


def limb(parent: Node, name: str, at: tuple[float, float, float], length: float, thick: float, color: tuple) -> Body:
    """A capsule that hangs on a ball joint from its upper end."""
    shape = shapes.Capsule(thick, length - 2.2 * thick, at=rd.pose((0, 0, -length / 2)), color=color)
    body = Body(name, [shape], density=600.0)
    return parent.attach(body, joints.ball(damping=0.3, friction=0.2), rd.pose(at))


def doll(scene: Scene) -> None:
    """It hangs from a bar by its right hand."""
    hand = limb(scene.world, "forearm", (0.2, 0.3, 2.9), 0.34, 0.055, SKIN)
    arm = limb(hand, "upper arm", (0, 0, -0.36), 0.34, 0.065, BLUE)
    trunk = Body("trunk", [shapes.Capsule(0.15, 0.32, at=rd.pose((0, 0.27, -0.25)), color=BLUE)], density=600.0)
    arm.attach(trunk, joints.ball(damping=0.5, friction=0.3), rd.pose((0, 0, -0.38)))
    head = Body("head", [shapes.Sphere(0.13, at=rd.pose((0, 0, 0.17)), color=SKIN)], density=600.0)
    trunk.attach(head, joints.ball(damping=0.3, friction=0.5), rd.pose((0, 0.27, 0.1)))
    other = limb(trunk, "other arm", (0, 0.54, 0), 0.34, 0.065, BLUE)
    limb(other, "other forearm", (0, 0, -0.36), 0.34, 0.055, SKIN)
    for side, y in (("right", 0.17), ("left", 0.37)):
        thigh = limb(trunk, f"{side} thigh", (0, y, -0.62), 0.42, 0.08, DARK)
        limb(thigh, f"{side} shin", (0, 0, -0.45), 0.42, 0.065, DARK)


def chain(scene: Scene) -> None:
    """Rings in rings, from the beam down."""
    node: Node = scene.world
    for k in range(LINKS):
        at = rd.pose((0, 0, -0.24)) if k else rd.pose((0.2, 2.1, 2.9))
        turned = (0, np.pi / 2, 0) if k % 2 else (np.pi / 2, 0, 0)
        ring = shapes.Torus(0.115, 0.03, at=rd.pose((0, 0, -0.12), turned), color=GOLD, collision=False)
        body = Body(f"link {k}", [ring, shapes.Sphere(0.07, at=rd.pose((0, 0, -0.12)), visual=False)], mass=0.8)
        node = node.attach(body, joints.ball(damping=0.02), at)


def build() -> Stage:
    """The doll and the chain swing, the cart drives."""
    scene = Scene()
    scene.world.shapes.append(shapes.Plane(material=STONE))
    for x, y, size in ((0.2, 1.2, (0.1, 3.0, 0.1)), (0.2, -0.3, (0.1, 0.1, 3.0)), (0.2, 2.7, (0.1, 0.1, 3.0))):
        z = 2.95 if size[2] < 1.0 else 1.5
        scene.world.shapes.append(shapes.Box(size, at=rd.pose((x, y, z)), color=WOOD, collision=False))
    cart(scene), doll(scene), chain(scene)
    simulation = compiled(scene, TIMESTEP)
    for name in ("front left", "front right", "rear left", "rear right"):
        simulation.motors[f"{name}.angle"] = rd.Motor(velocity=SPEED, max_force=TURNING)
    names = simulation.dynamics.velocity_coordinates
    simulation.v[names.index("forearm.wy")] = simulation.v[names.index("link 0.wy")] = -1.2
    mirrors: list[PyBulletMirror] = []
    broken: list[BrokenJoint] = []

    def cut(running: rd.Simulation) -> None:
        broken.extend(joint for joint in running.broken if joint not in broken)
        for name, when in CUTS.items():
            if running.time >= when and scene[name].parent is not scene.world:
                scene.cut(name)
                mirrors[0].update()

    def report() -> str:
        said = [f"'{joint.body}' broke off at {joint.time:.2f} s by {joint.force:.0f} N" for joint in broken]
        return "; ".join([*said, *(f"'{name}' was cut at {when} s" for name, when in CUTS.items())])

    camera = Camera(target=(0.2, 0.2, 0.9), distance=8.4, yaw=30, pitch=-20)
    return Stage(scene, simulation, 5.0, ground=False, camera=camera, decorate=mirrors.append, control=cut,
                 contact=True, report=report)  # fmt: skip
