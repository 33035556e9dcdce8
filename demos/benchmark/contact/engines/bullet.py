"""PyBullet's own simulation."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from demos.benchmark.contact.description import GROUND, ROBOT, Ball, Drum, Pill, Robot, Task, Vector
from demos.benchmark.contact.engines.engine import Engine


@dataclass(frozen=True)
class Settings:
    """Sweeps at most, the residual that ends them, and whether free bodies are btRigidBodies or btMultiBodies."""

    iterations: int = 400  # from here on "rolling" is exact to rounding
    residual: float = 1e-30
    maximal: bool = True


PILE = Settings(1000, maximal=False)
BEST = {"stack of 10": PILE, "1000:1": PILE}
TIMED = Settings(50, 1e-7)  # PyBullet's defaults
STEERING_FORCE = 100.0  # N m: the URDF's own limit of effort


class BulletEngine(Engine):
    """Coulomb's cone, not a pyramid; the robot is a btMultiBody.

    Settings found best: 400 iterations to a residual of 1e-30 and free btRigidBodies, with ERP, CFM and damping 0, in
    SimBenchmark; 1000 iterations, free btMultiBodies and ERP 0.2 in piles (with 200 the stack stands or falls by
    chance, and 1000:1 falls as btRigidBodies); PyBullet's defaults where time is measured. For e = 1,
    restitutionVelocityThreshold = 0 and contactProcessingThreshold = 0: contacts that Bullet adds before surfaces meet
    would else brake a ball without bouncing it. Bullet multiplies the frictions and restitutions of two bodies, so that
    both get roots. Hinge springs become POSITION_CONTROL motors.
    """

    label = "PyBullet"
    modules = ("pybullet",)

    def build(self, task: Task) -> None:
        import pybullet

        self.pybullet, self.client = pybullet, pybullet.connect(pybullet.DIRECT)
        self.held.callback(pybullet.disconnect, self.client)
        self.ids: list[int] = []
        settings = BEST.get(task.name, TIMED if task.correction else Settings())
        self.call("setTimeStep")(task.timestep)
        self.call("setGravity")(0.0, 0.0, -task.gravity)
        erp = 0.2 if task.correction else 0.0
        self.call("setPhysicsEngineParameter")(
            numSolverIterations=settings.iterations, solverResidualThreshold=settings.residual,
            erp=erp, contactERP=erp, frictionERP=erp, globalCFM=0.0, contactSlop=0.0,
            restitutionVelocityThreshold=0.0, enableConeFriction=1,
        )  # fmt: skip
        root = np.sqrt(task.friction)
        for size, place in (GROUND, *task.walls) if task.ground else task.walls:
            still = self.call("createMultiBody")(0, self._box(size), basePosition=place)
            self._surface(still, -1, task.ground_friction / root if root else 0.0)
        shapes: dict[object, int] = {}
        for solid in task.solids:
            if solid.shape not in shapes:
                shapes[solid.shape] = self._solid(solid.shape)
            turn = pybullet.getQuaternionFromEuler(solid.rpy)
            body = self.call("createMultiBody")(
                solid.mass, shapes[solid.shape], basePosition=solid.position, baseOrientation=turn,
                useMaximalCoordinates=settings.maximal,
            )  # fmt: skip
            self._surface(body, -1, root)
            spin = np.array(pybullet.getMatrixFromQuaternion(turn)).reshape(3, 3) @ solid.spin
            self.call("resetBaseVelocity")(body, solid.velocity, spin.tolist())
            if task.sleep:
                awake = pybullet.ACTIVATION_STATE_ENABLE_SLEEPING
                self.call("changeDynamics")(body, -1, activationState=awake)
            self.ids.append(body)
        self.names = {solid.name: body for solid, body in zip(task.solids, self.ids, strict=True)}
        if task.robot is not None:
            self._load(task.robot, root)
        for doll in task.dolls:
            self._loaded(doll, root)
        self._advance = partial(pybullet.stepSimulation, self.client)
        self._pose, self._twist = pybullet.getBasePositionAndOrientation, pybullet.getBaseVelocity

    def call(self, name: str) -> partial:
        """PyBullet's function on our connection."""
        return partial(getattr(self.pybullet, name), physicsClientId=self.client)

    def push(self, body: str, force: tuple[float, float, float]) -> None:
        number = self.names[body]
        place = self._pose(number, self.client)[0]
        self.call("applyExternalForce")(number, -1, force, place, self.pybullet.WORLD_FRAME)

    def advance(self) -> None:
        self._advance()

    def positions(self) -> np.ndarray:
        pose, client = self._pose, self.client
        return np.array([pose(body, client)[0] for body in self.ids])

    def velocities(self) -> np.ndarray:
        twist, client = self._twist, self.client
        return np.array([twist(body, client)[0] for body in self.ids]).reshape(-1, 3)

    def spins(self) -> np.ndarray:
        twist, client = self._twist, self.client
        return np.array([twist(body, client)[1] for body in self.ids]).reshape(-1, 3)

    def robot_energy(self) -> float:
        x, turns, v, omega = self._links()
        local = np.einsum("nji,nj->ni", turns, omega)
        kinetic = 0.5 * self.masses @ (v * v).sum(1) + 0.5 * (self.moments * local * local).sum()
        return float(kinetic + self.task.gravity * self.masses @ x[:, 2])

    def robot_momentum(self) -> np.ndarray:
        return self.masses @ self._links()[2]

    def robot_height(self) -> float:
        return float(self._pose(self.names[ROBOT], self.client)[0][2])

    def contacts(self) -> int:
        return len(self.call("getContactPoints")())

    def _shape(self, kind: int, **sizes: object) -> int:
        return self.call("createCollisionShape")(kind, **sizes)

    def _box(self, size: Vector) -> int:
        return self._shape(self.pybullet.GEOM_BOX, halfExtents=[0.5 * x for x in size])

    def _solid(self, shape: object) -> int:
        match shape:
            case Ball(radius):
                return self._shape(self.pybullet.GEOM_SPHERE, radius=radius)
            case Pill(radius, length):
                return self._shape(self.pybullet.GEOM_CAPSULE, radius=radius, height=length)
            case Drum(radius, length):
                return self._shape(self.pybullet.GEOM_CYLINDER, radius=radius, height=length)
        return self._box(shape.size)

    def _surface(self, body: int, link: int, friction: float) -> None:
        settings = {"contactProcessingThreshold": 0.0} if self.task.restitution else {}
        self.call("changeDynamics")(
            body, link, lateralFriction=friction, rollingFriction=0.0, spinningFriction=0.0, linearDamping=0.0,
            angularDamping=0.0, restitution=np.sqrt(self.task.restitution), **settings,
        )  # fmt: skip

    def _load(self, robot: Robot, friction: float) -> None:
        self.names[ROBOT] = body = self._loaded(robot, friction)
        infos = [self.call("getDynamicsInfo")(body, link) for link in range(-1, self.call("getNumJoints")(body))]
        self.masses, self.moments = np.array([i[0] for i in infos]), np.array([i[2] for i in infos])

    def _loaded(self, robot: Robot, friction: float) -> int:
        """Bullet's number of a robot at its place, its hinges held or free."""
        bullet = self.pybullet
        with tempfile.TemporaryDirectory() as folder:  # a new path each time: PyBullet remembers files by name
            path = Path(folder) / "robot.urdf"
            path.write_text(robot.urdf)
            body = self.call("loadURDF")(str(path), flags=bullet.URDF_USE_INERTIA_FROM_FILE)
        count = self.call("getNumJoints")(body)
        centre = self.call("getDynamicsInfo")(body, -1)[3]
        self.call("resetBasePositionAndOrientation")(body, np.add(robot.position, centre), (0, 0, 0, 1))
        for link in range(-1, count):
            self._surface(body, link, friction)
            self.call("changeDynamics")(body, link, jointDamping=0.0, maxJointVelocity=1e9)
        for joint in range(count):
            info = self.call("getJointInfo")(body, joint)
            if info[2] != bullet.JOINT_REVOLUTE:
                continue
            angle = robot.angles.get(info[1].decode(), 0.0)
            self.call("resetJointState")(body, joint, angle)
            control = self.call("setJointMotorControl2")
            if robot.stiffness:
                control(body, joint, bullet.POSITION_CONTROL, targetPosition=angle, force=STEERING_FORCE)
            else:
                control(body, joint, bullet.VELOCITY_CONTROL, force=0.0)
        return int(body)

    def _links(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Of the root and every link: centre of mass, rotation of the principal axes, velocity, angular velocity."""
        body, client, bullet = self.names[ROBOT], self.client, self.pybullet
        states = bullet.getLinkStates(
            body, range(len(self.masses) - 1), computeLinkVelocity=1, computeForwardKinematics=1, physicsClientId=client
        )
        poses = [self._pose(body, client), *((s[0], s[1]) for s in states)]
        twists = [self._twist(body, client), *((s[6], s[7]) for s in states)]
        turns = np.array([bullet.getMatrixFromQuaternion(pose[1]) for pose in poses]).reshape(-1, 3, 3)
        return np.array([pose[0] for pose in poses]), turns, *np.swapaxes(np.array(twists), 0, 1)
