"""MuJoCo."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from demos.benchmark.contact.description import ROBOT, Ball, Drum, Pill, Robot, Task
from demos.benchmark.contact.engines.engine import Engine


@dataclass(frozen=True)
class Settings:
    """How hard contacts are and how the state is integrated; see MuJoCo's documentation of solref, solimp, impratio."""

    solref: tuple[float, float] = (0.02, 1.0)
    solimp: tuple[float, ...] = (0.99, 0.999, 0.001, 0.5, 2.0)
    impratio: float = 100.0
    integrator: str = "EULER"
    tolerance: float = 1e-12


STIFF = (0.9999, 0.9999, 0.001, 0.5, 2.0)
STIFFER = (0.99999, 0.99999, 0.001, 0.5, 2.0)
SOFT = Settings(solimp=(0.5, 0.5, 0.001, 0.5, 2.0))
SPRING = Settings((-1e5, 0.0), (0.99, 0.99, 0.001, 0.5, 2.0), integrator="RK4")  # undamped: what it has for e = 1
TIMED = Settings(solimp=(0.9, 0.95, 0.001, 0.5, 2.0), impratio=1.0, tolerance=1e-8)  # MuJoCo's defaults
BEST = {
    "rolling": SOFT,
    "rolling along y": SOFT,
    "bouncing": SPRING,
    "666": Settings((0.002, 1.0), STIFF),
    "elastic 666": SPRING,
    "quadruped energy": Settings(integrator="RK4"),
    "quadruped momentum": Settings(integrator="RK4"),
    "stack of 10": Settings(solimp=STIFFER, integrator="RK4"),
    "1000:1": Settings(solimp=STIFFER, integrator="RK4"),
}


class MujocoEngine(Engine):
    """Newton's method and the elliptic cone; the ground is MuJoCo's plane, at its best with corners and balls.

    There is no coefficient of restitution: e = 1 becomes a contact spring without damping (``SPRING``). "rolling" is at
    its best with soft contacts, "666" with the shortest time constant that is allowed, two timesteps, the
    robots with RK4, piles with stiff contacts and RK4; MuJoCo's defaults where time is measured.
    """

    label = "MuJoCo"
    modules = ("mujoco",)

    def build(self, task: Task) -> None:
        import mujoco

        self.mujoco, self.settings = mujoco, BEST.get(task.name, TIMED)
        spec = mujoco.MjSpec() if task.robot is None else mujoco.MjSpec.from_string(task.robot.urdf)
        option = spec.option
        option.timestep, option.gravity = task.timestep, [0.0, 0.0, -task.gravity]
        option.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{self.settings.integrator}")
        option.solver, option.cone = mujoco.mjtSolver.mjSOL_NEWTON, mujoco.mjtCone.mjCONE_ELLIPTIC
        if task.sleep:
            option.enableflags |= mujoco.mjtEnableBit.mjENBL_SLEEP
        option.iterations, option.tolerance, option.impratio = 100, self.settings.tolerance, self.settings.impratio
        if task.robot is not None:
            self._prepare(spec, task.robot, task.friction)
        plane, box = mujoco.mjtGeom.mjGEOM_PLANE, mujoco.mjtGeom.mjGEOM_BOX
        # Of two frictions the greater counts, but of two priorities first that of the higher.
        ground = {"priority": 1, **self._surface(task.ground_friction)}
        if task.ground:
            spec.worldbody.add_geom(type=plane, size=[100, 100, 1], **ground)
        for extents, place in task.walls:
            spec.worldbody.add_geom(type=box, size=[0.5 * x for x in extents], pos=place, **ground)
        for solid in task.solids:
            turn = np.zeros(4)
            mujoco.mju_euler2Quat(turn, np.array(solid.rpy), "XYZ")
            body = spec.worldbody.add_body(name=solid.name, pos=solid.position, quat=turn)
            body.add_freejoint()
            kind, size = self._solid(solid.shape)
            body.add_geom(type=kind, size=size, mass=solid.mass, **self._surface(task.friction))
        for k, doll in enumerate(task.dolls):
            own = mujoco.MjSpec.from_string(doll.urdf)
            self._prepare(own, doll, task.friction)
            for geom in own.geoms:  # its parts pass through each other, not through those of other dolls
                geom.contype, geom.conaffinity = 2 << k, ~(2 << k) & 0xFFFF
            spec.attach(own, prefix=f"doll{k + 1}.", frame=spec.worldbody.add_frame())
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)
        self._start(task)

    def push(self, body: str, force: tuple[float, float, float]) -> None:
        self.data.xfrc_applied[self.numbers[body], :3] = force

    def advance(self) -> None:
        self.mujoco.mj_step(self.model, self.data)
        if self.task.pushes:
            self.data.xfrc_applied[:] = 0.0

    def positions(self) -> np.ndarray:
        return self.data.qpos[self.places]

    def velocities(self) -> np.ndarray:
        return self.data.qvel[self.slots]

    def spins(self) -> np.ndarray:
        """In the bodies' axes: for balls that is the same."""
        return self.data.qvel[self.slots + 3]

    def robot_energy(self) -> float:
        self.mujoco.mj_fwdPosition(self.model, self.data)
        self.mujoco.mj_energyPos(self.model, self.data)
        self.mujoco.mj_energyVel(self.model, self.data)
        return float(self.data.energy.sum())

    def robot_momentum(self) -> np.ndarray:
        self.mujoco.mj_fwdPosition(self.model, self.data)
        self.mujoco.mj_fwdVelocity(self.model, self.data)
        self.mujoco.mj_subtreeVel(self.model, self.data)
        root = self.numbers[ROBOT]
        return self.model.body_subtreemass[root] * self.data.subtree_linvel[root]

    def robot_height(self) -> float:
        return float(self.data.qpos[2])

    def contacts(self) -> int:
        return int(self.data.ncon)

    def _solid(self, shape: object) -> tuple[object, list[float]]:
        kinds = self.mujoco.mjtGeom
        match shape:
            case Ball(radius):
                return kinds.mjGEOM_SPHERE, [radius, 0, 0]
            case Pill(radius, length):
                return kinds.mjGEOM_CAPSULE, [radius, 0.5 * length, 0]
            case Drum(radius, length):
                return kinds.mjGEOM_CYLINDER, [radius, 0.5 * length, 0]
        return kinds.mjGEOM_BOX, [0.5 * x for x in shape.size]

    def _surface(self, friction: float) -> dict[str, object]:
        return {"friction": [friction, 0, 0], "condim": 3 if friction else 1, "solref": self.settings.solref,
                "solimp": self.settings.solimp}  # fmt: skip

    def _prepare(self, spec, robot: Robot, friction: float) -> None:
        """Free the root, let the links pass through each other, hold the hinges by springs."""
        spec.compiler.balanceinertia, spec.compiler.discardvisual = False, False
        root = spec.worldbody.first_body()
        root.pos = robot.position
        root.add_freejoint()
        for geom in spec.geoms:
            geom.contype, geom.conaffinity = 0, 1  # the rest has contype 1 and conaffinity 1
            for name, value in self._surface(friction).items():
                setattr(geom, name, value)
        for joint in spec.joints:
            if joint.name in robot.angles:
                joint.springref = robot.angles[joint.name]
                for name in ("stiffness", "damping"):  # from version 4 on a polynomial's coefficients
                    linear = np.zeros_like(getattr(joint, name))
                    linear.flat[0] = getattr(robot, name)
                    setattr(joint, name, linear if linear.ndim else float(linear))

    def _start(self, task: Task) -> None:
        model, data = self.model, self.data
        joints = [model.body(solid.name).jntadr[0] for solid in task.solids]
        self.numbers = {solid.name: model.body(solid.name).id for solid in task.solids}
        self.places = model.jnt_qposadr[joints].reshape(-1, 1) + np.arange(3)
        self.slots = model.jnt_dofadr[joints].reshape(-1, 1) + np.arange(3)
        for solid, slots in zip(task.solids, self.slots, strict=True):
            data.qvel[slots], data.qvel[slots + 3] = solid.velocity, solid.spin
        if task.robot is not None:
            self.numbers[ROBOT] = 1
            for name, angle in task.robot.angles.items():
                data.qpos[model.joint(name).qposadr[0]] = angle
        self.mujoco.mj_forward(model, data)
