"""An acrobot swings up and balances: two links, a motor at the elbow alone, planned in some seconds and kept to.

From hanging to upright in 3 s at the least cost (control.ILQR, torques within 15 N m), along the plan by a regulator
that changes from step to step (control.TimeVaryingLQR), and there by that of the equilibrium (control.LQR). One step of
simulation, plan and controllers takes 1/60 s.
Orange: the way of the hand; pale: poses on it, every 0.3 s.
"""

from __future__ import annotations

import numpy as np

import recursive_dyn as rd
from bridge import Camera, PyBulletMirror
from demos.stage import Stage, compiled
from recursive_dyn import control
from scene import Body, Scene, joints, shapes

STEP = 1 / 60  # s
UPPER, LOWER = 1.0, 1.5  # lengths, m
HEIGHT = 2.75  # of the shoulder, m
TORQUE = 15.0  # of the elbow at most, N m
SHOULDER = np.array([0.0, 0.0, HEIGHT])
SECONDS = 3.0  # of the swing
ITERATIONS = 45
ELBOW = "forearm.angle"
HANGING = np.array([np.pi, 0.0])
STEEL, DARK, RED, WHITE = (0.30, 0.42, 0.60, 1), (0.16, 0.17, 0.20, 1), (0.80, 0.24, 0.18, 1), (0.95, 0.95, 0.95, 1)
ORANGE = (0.95, 0.58, 0.15, 1)
POSES = 10  # of the plan that are seen


def link(name: str, length: float, color: tuple[float, ...]) -> Body:
    """A slender rod of 1 kg along z, with its joint's drum."""
    across = rd.pose(rpy=(np.pi / 2, 0, 0))
    return Body(name, [
        shapes.Capsule(0.035, length, at=rd.pose((0, 0, length / 2)), color=color),
        shapes.Cylinder(0.075, 0.13, at=across, color=DARK),
        shapes.Cylinder(0.04, 0.15, at=across, color=WHITE),
    ], mass=1.0, center_of_mass=(0, 0, length / 2),
        inertia=np.diag([length**2 / 12, length**2 / 12, 0.001]))  # fmt: skip


def acrobot() -> Scene:
    """Upright at q = 0: the shoulder turns freely, the elbow is driven."""
    scene = Scene()
    upper = scene.world.attach(link("arm", UPPER, STEEL), joints.revolute("y"), at=rd.pose((0, 0, HEIGHT)))
    forearm = upper.attach(link("forearm", LOWER, RED), joints.revolute("y"), at=rd.pose((0, 0, UPPER)))
    forearm.shapes.append(shapes.Sphere(0.08, at=rd.pose((0, 0, LOWER)), color=ORANGE))
    scene.world.shapes += [
        shapes.Box((0.09, 0.09, HEIGHT + 0.1), at=rd.pose((0, 0.26, HEIGHT / 2 + 0.05)), color=DARK),
        shapes.Box((0.9, 0.5, 0.05), at=rd.pose((0, 0.26, 0.025)), color=DARK),
        shapes.Cylinder(0.03, 0.3, at=rd.pose((0, 0.12, HEIGHT), (np.pi / 2, 0, 0)), color=WHITE),
    ]
    return scene


def swing_up(dynamics: rd.Dynamics) -> control.PlannedMotion:
    """The motion from hanging to upright."""
    planner = control.ILQR(dynamics, [0.0, 0.0], timestep=STEP, actuated=[ELBOW], limits=TORQUE, frequency=0.3)
    return planner.solve(HANGING, steps=round(SECONDS / STEP), iterations=ITERATIONS)


def elbow_and_hand(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places (..., 3) of the elbow and of the hand."""
    first, second = q[..., 0], q[..., 0] + q[..., 1]
    along = [np.stack([np.sin(a), np.zeros(a.shape), np.cos(a)], axis=-1) for a in (first, second)]
    elbow = SHOULDER + UPPER * along[0]
    return elbow, elbow + LOWER * along[1]


def build() -> Stage:
    """Planned here and now; then it hangs, swings and stands."""
    scene = acrobot()
    simulation = compiled(scene, STEP)
    plan = swing_up(simulation.dynamics)
    simulation.q, simulation.control = HANGING, plan.tracker()

    def decorate(mirror: PyBulletMirror) -> None:
        back = np.array([0, 0.1, 0])  # behind the links, so that they are seen
        elbow, hand = elbow_and_hand(plan.q)
        mirror.add_polyline(hand + back, color=ORANGE, radius=0.012)
        for share in np.linspace(0.0, 0.9, POSES):
            i = round(share * len(plan.tau))
            for ends, color in (((SHOULDER, elbow[i]), STEEL), ((elbow[i], hand[i]), RED)):
                faded = WHITE[0] + (0.25 + 0.5 * share) * (np.array(color[:3]) - WHITE[0])
                mirror.add_polyline(np.array(ends) + 1.3 * back, color=(*faded, 1.0), radius=0.02)

    def report() -> str:
        law = plan.regulator
        assert law is not None
        return (
            f"planned at a cost of {plan.cost:.5g} in {len(plan.costs) - 1} iterations, with"
            f" {np.abs(plan.tau).max():.3g} N m at most; off upright now by"
            f" {np.abs(law.deviation(simulation.q, simulation.v)[:2]).max():.2g} rad"
        )

    return Stage(scene, simulation, seconds=6.0, decorate=decorate, report=report,
                 camera=Camera(target=(0, 0, 2.6), distance=7.9, yaw=10, pitch=-5))  # fmt: skip
