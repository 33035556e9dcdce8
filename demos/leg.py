"""A leg with a four-bar knee, and a shoulder blade that glides on the ribs and carries an arm.

What Guenter & Lee (2009), section 7, would have in human figures instead of hinges. The knee's cruciate ligaments are
two bars that cross; femur, shank and ligaments close a loop in closed form, driven by the one angle of flexion, so that
the axis, where the ligaments cross, moves back as the knee bends. Its paths in the femur (dark) and in the shank (gold)
roll on each other, and the condyle's outline is what the flat tibial plateau leaves of the femur. The scapula is a
surface joint on an ellipsoid and a turn about the normal; the arm hangs on it by a ball joint. One step a
frame of 1/60 s, by the default rule: it keeps the energy that the scapula's springs lend, to a part in twenty thousand
of the motion's, where semi-implicit Euler loses all of it in five seconds. The knee is drawn five times too large.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

import recursive_dyn as rd
from bridge import Camera, PyBulletMirror
from demos.knee import ACL, BEND, FEMUR_ACL, FEMUR_PCL, PCL, PLATEAU, axis_of_the_knee, condyle, ligaments
from demos.plates import Points, prism
from demos.stage import Stage, compiled
from scene import Body, Scene, joints, shapes

HIP, THIGH, SHANK = np.array([0.0, -0.11, 1.13]), 0.46, 0.42  # of the world; m
CHEST, RIBS = np.array([0.0, 0.0, 1.66]), np.array([0.12, 0.17, 0.27])  # centre, semiaxes, m
GLIDE = RIBS + 0.012  # the surface the scapula glides on
SCAPULA = (-2.25, 0.42)  # eccentric longitude and latitude at rest, rad: behind and to the right
BONE, DARK, GOLD = (0.93, 0.89, 0.78, 1), (0.30, 0.27, 0.25, 1), (0.95, 0.70, 0.15, 1)
TIBIA, CARTILAGE, BLADE = (0.86, 0.78, 0.60, 1), (0.66, 0.76, 0.80, 1), (0.90, 0.58, 0.36, 1)
CAGE, RED, BLUE, STEEL = (0.70, 0.63, 0.56, 1), (0.80, 0.22, 0.20, 1), (0.18, 0.42, 0.75, 1), (0.55, 0.58, 0.62, 1)
ACROSS = (np.pi / 2, 0, 0)


def at(forward_down: Points, y: float = 0.0, drop: float = 0.0) -> np.ndarray:
    """A pose without rotation at a point given forward and down."""
    return rd.pose((forward_down[0], y, -forward_down[1] - drop))


def rod(start: np.ndarray, end: np.ndarray, radius: float, color: tuple[float, ...]) -> shapes.Shape:
    """A capsule between two points (3,)."""
    x, y, z = end - start
    turn = (0.0, np.arctan2(np.hypot(x, y), z), np.arctan2(y, x))
    return shapes.Capsule(radius, float(np.linalg.norm(end - start)), at=rd.pose((start + end) / 2, turn), color=color)


def line(path: Points, drop: float, color: tuple[float, ...]) -> list[shapes.Shape]:
    """A path, forward and down, as a thin line in front of the knee."""
    ends = [np.array([x, -0.075, -w - drop]) for x, w in path]
    return [rod(a, b, 0.004, color) for a, b in pairwise(ends)]


def pin(place: Points, drop: float) -> shapes.Shape:
    """Where a ligament ends, forward and down."""
    return shapes.Cylinder(0.009, 0.05, at=at(place, -0.042, drop) @ rd.pose(rpy=ACROSS), color=DARK)


def thigh() -> Body:
    """Femur with its condyle; the hip is the origin, the knee's frame is THIGH below it."""
    outline = condyle(np.linspace(*BEND, 40))
    outline[:, 1] += THIGH
    top = np.array([[-0.055, THIGH - 0.15], [0.005, THIGH - 0.15]])
    plate = prism(np.vstack([outline, top])[::-1] * (1, -1), 0.05)
    pins = [pin(FEMUR_ACL, THIGH), pin(FEMUR_PCL, THIGH)]
    axis, _ = axis_of_the_knee(np.linspace(*BEND, 24))
    return Body("thigh", [
        shapes.Sphere(0.045, color=BONE),
        rod(np.zeros(3), np.array([-0.025, 0, 0.13 - THIGH]), 0.03, BONE),
        shapes.Mesh(plate, at=rd.pose(rpy=ACROSS), color=CARTILAGE),
        *pins, *line(axis, THIGH, DARK),
    ], mass=6.0)  # fmt: skip


def shank() -> Body:
    """Tibia and foot; the origin is the anterior ligament's attachment on the plateau."""
    middle = PLATEAU / 2
    flat = PLATEAU / np.linalg.norm(PLATEAU)
    block = np.array(
        [-0.03 * flat, PLATEAU + 0.03 * flat, middle + np.array([-0.035, 0.09]), middle + np.array([0.035, 0.09])]
    )
    pins = [pin(np.zeros(2), 0.0), pin(PLATEAU, 0.0)]
    _, axis = axis_of_the_knee(np.linspace(*BEND, 24))
    ankle = np.array([middle[0] + 0.01, 0, -SHANK])
    sole = ankle + np.array([0.06, 0, -0.035])
    return Body("shank", [
        shapes.Mesh(prism(block * (1, -1), 0.06), at=rd.pose(rpy=ACROSS), color=TIBIA),
        rod(np.array([middle[0], 0, -0.08]), ankle, 0.027, TIBIA),
        shapes.Ellipsoid((0.13, 0.045, 0.035), at=rd.pose(sole), color=TIBIA),
        *pins, *line(axis, 0.0, GOLD),
    ], mass=3.5)  # fmt: skip


def ligament(name: str, length: float, y: float, color: tuple[float, ...]) -> Body:
    """A bar along x from the femur to the shank."""
    return Body(name, [rod(np.array([0, y, 0]), np.array([length, y, 0]), 0.011, color)], mass=0.1)


def attach_leg(scene: Scene, hold: float, damping: float, stops: bool) -> None:
    """Thigh, ligaments and shank on the hip; springs of ``hold`` N m/rad at the hip and less in the knee."""
    limits = BEND if stops else None
    bend = scene.coordinate("knee", limits=limits, stiffness=0.2 * hold, rest=0.5, damping=0.4 * damping)
    hip = joints.universal("-y", "x", stiffness=(hold, 3 * hold), damping=damping)
    femur = scene.world.attach(thigh(), hip, at=rd.pose(HIP))
    alpha, beta = ligaments(bend)
    hinge = joints.revolute("y")
    front = ligament("anterior_ligament", ACL, -0.038, RED)
    femur.attach(front, hinge.driven(alpha), at=at(FEMUR_ACL, drop=THIGH))
    femur.attach(ligament("posterior_ligament", PCL, -0.056, BLUE), hinge.driven(beta), at=at(FEMUR_PCL, drop=THIGH))
    front.attach(shank(), hinge.driven(bend - alpha), at=rd.pose((ACL, 0, 0)))


def scapula() -> Body:
    """A plate in the tangent plane: x sideways to the glenoid, y up, z out of the ribs."""
    blade = np.array([[0.085, 0.05], [-0.065, 0.10], [-0.075, 0.06], [-0.04, -0.12], [-0.02, -0.125], [0.05, 0.0]])
    return Body("scapula", [
        shapes.Mesh(prism(blade, 0.014), color=BLADE),
        rod(np.array([-0.065, 0.055, 0.012]), np.array([0.10, 0.085, 0.035]), 0.010, BLADE),
        shapes.Sphere(0.024, at=rd.pose((0.095, 0.045, 0.01)), color=DARK),
        rod(np.array([0.06, 0.045, 0.0]), np.array([0.095, 0.045, 0.01]), 0.018, BLADE),
    ], mass=0.6)  # fmt: skip


def arm(name: str, length: float, tip: float, color: tuple[float, ...]) -> Body:
    """A bone hanging from its joint, with a round end below."""
    lower = np.array([0.0, 0.0, -length])
    parts = [shapes.Sphere(1.35 * tip, color=color), rod(np.zeros(3), lower, tip, color)]
    return Body(name, parts, mass=1.6 if name == "upper_arm" else 1.1)


def resting_scapula() -> np.ndarray:
    """Rotation (3, 3) of the scapula at rest in the world: along du, then up, then the normal."""
    u, v = SCAPULA
    normal = np.array([np.cos(u) * np.cos(v), np.sin(u) * np.cos(v), np.sin(v)]) / GLIDE
    x, z = np.array([-GLIDE[0] * np.sin(u), GLIDE[1] * np.cos(u), 0.0]), normal / np.linalg.norm(normal)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def attach_arm(scene: Scene, hold: float, damping: float, stops: bool) -> None:
    """Scapula, upper arm, forearm and hand on the ribs; ``hold`` N m/rad keeps the scapula where it rests."""
    weights = np.array([1.0, 1.0, 0.4])  # along u, along v, and of the turn
    glide = joints.surface(joints.surfaces.ellipsoid(*GLIDE)) @ joints.revolute("z")
    glide = glide.adjusted(stiffness=hold * weights, damping=damping * weights, rest=(*SCAPULA, 0.0))
    blade = scene.world.attach(scapula(), glide, at=rd.pose(CHEST))
    upright = np.eye(4)
    upright[:3, :3] = resting_scapula().T  # so that the arm hangs at the identity quaternion
    glenoid = rd.pose((0.118, 0.045, 0.016)) @ upright
    upper = blade.attach(arm("upper_arm", 0.29, 0.023, BONE), joints.ball(damping=0.05 * damping), at=glenoid)
    limits = (0.0, 2.5) if stops else None
    elbow = joints.revolute("-y", limits=limits, stiffness=0.01 * hold, rest=0.45, damping=0.02 * damping)
    lower = arm("forearm", 0.25, 0.019, BONE)
    lower.shapes.append(shapes.Ellipsoid((0.028, 0.014, 0.06), at=rd.pose((0, 0, -0.31)), color=BONE))
    upper.attach(lower, elbow, at=rd.pose((0, 0, -0.29)))


def figure(leg: float = 25.0, shoulder: float = 150.0, damping: float = 1.0, stops: bool = True) -> Scene:
    """The scene of ten coordinates; springs of hip and shoulder in N m/rad, shares of the usual friction.

    stops: knee and elbow have limits, which take energy.
    """
    scene = Scene()
    attach_leg(scene, leg, 2.5 * damping, stops)
    attach_arm(scene, shoulder, 3.0 * damping, stops)
    scene.world.shapes += trunk()
    return scene


def trunk() -> list[shapes.Shape]:
    """What does not move: chest, spine, pelvis, head and a stand."""
    spine = [np.array([-0.055, 0, 1.46]), np.array([-0.05, 0, 1.16])]
    neck = [CHEST + np.array([-0.03, 0, 0.22]), CHEST + np.array([0.0, 0, 0.34])]
    stand = [np.array([0.0, 0.16, 0.0]), np.array([0.0, 0.16, HIP[2]])]
    return [
        shapes.Ellipsoid(RIBS, at=rd.pose(CHEST), color=CAGE),
        shapes.Ellipsoid((0.095, 0.08, 0.12), at=rd.pose(CHEST + np.array([0.02, 0, 0.42])), color=BONE),
        shapes.Ellipsoid((0.075, 0.15, 0.075), at=rd.pose((-0.02, 0, HIP[2] + 0.05)), color=BONE),
        rod(*spine, 0.028, BONE), rod(*neck, 0.035, BONE), rod(*stand, 0.022, STEEL),
        shapes.Cylinder(0.26, 0.03, at=rd.pose((0.0, 0.16, 0.015)), color=STEEL),
    ]  # fmt: skip


def ribs() -> list[Points]:
    """Closed lines around the chest, a little outside it."""
    turn = np.linspace(0, 2 * np.pi, 80)
    lines = []
    for share in np.linspace(-0.75, 0.75, 8):
        wide = np.sqrt(1 - share**2)
        lines.append(CHEST + RIBS * np.column_stack([wide * np.cos(turn), wide * np.sin(turn), share + 0 * turn]))
    return lines


def build() -> Stage:
    """Let go with the leg and the arm raised; muscles keep them walking."""
    scene = figure()
    simulation = compiled(scene, 1 / 60)
    place = {name: i for i, name in enumerate(simulation.dynamics.coordinates)}
    simulation.q[place["knee"]] = 0.9
    simulation.q[place["thigh.angle"]] = 0.4
    start = place["scapula.u"]
    simulation.q[start : start + 2] = SCAPULA
    rows = {name: i for i, name in enumerate(simulation.dynamics.velocity_coordinates)}

    def walk(moving: rd.Simulation) -> None:
        """Muscles: hip and knee, the blade up and down and to and fro, the arm against the leg."""
        beat = 4.6 * moving.time
        for name, size, late in (
            ("thigh.angle", 16.0, 0.0), ("knee", 5.0, -1.2), ("scapula.u", 14.0, 2.6), ("scapula.v", 16.0, 0.0),
            ("upper_arm.wy", 1.1, 0.0),
        ):  # fmt: skip
            moving.tau[rows[name]] = size * np.sin(beat + late)

    def decorate(mirror: PyBulletMirror) -> None:
        for line in ribs():
            mirror.add_polyline(line, color=BONE, radius=0.009)

    return Stage(scene, simulation, seconds=8.0, decorate=decorate, control=walk,
                 camera=Camera(target=(0, 0, 1.05), distance=3.4, yaw=-32, pitch=-5))  # fmt: skip
