"""Robots that ship with PyBullet: the imported scene against Pinocchio and PyBullet reading the same file."""

import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from demos.benchmark.peers.pinocchio_peer import model_of
from scene import Scene

pybullet_data = pytest.importorskip("pybullet_data")
FOLDER = Path(pybullet_data.getDataPath())

ROBOTS = {
    "kuka": "kuka_iiwa/model.urdf",
    "panda": "franka_panda/panda.urdf",
    "humanoid": "humanoid/humanoid.urdf",
    "laikago": "laikago/laikago.urdf",
    "a1": "a1/a1.urdf",
    "mini_cheetah": "mini_cheetah/mini_cheetah.urdf",
    "r2d2": "r2d2.urdf",
    "cartpole": "cartpole.urdf",
}
CASES = [(name, fixed) for name in ROBOTS for fixed in (True, False) if (name, fixed) != ("cartpole", False)]
STATES = 4
ROUNDING = 1e-11  # relative: some thousand roundings, and cond(M) in the accelerations; 1e-14 is seen
BULLET = 1e-6  # relative: it diagonalises inertias by Jacobi sweeps that may stop early; 2e-13 is seen


@pytest.fixture(scope="module")
def compiled():
    """Scene and dynamics of a robot, compiled once for all tests here."""
    made = {}

    def get(name, fixed):
        if (name, fixed) not in made:
            scene = load(name, fixed)
            made[name, fixed] = scene, scene.compile()
        return made[name, fixed]

    return get


def load(name, fixed):
    if name == "kuka" and not fixed:
        with pytest.warns(UserWarning, match="lbr_iiwa_link_0.*fixed_base=True"):
            return Scene.from_urdf(FOLDER / ROBOTS[name], fixed_base=fixed)
    return Scene.from_urdf(FOLDER / ROBOTS[name], fixed_base=fixed)


def xml(name):
    """The file as XML that Pinocchio accepts: humanoid.urdf begins with a blank line and ends with a zero byte."""
    return ET.fromstring((FOLDER / ROBOTS[name]).read_text().strip("\0 \r\n"))


def differ(ours, theirs):
    """Largest difference relative to the largest entry, for a mass matrix to the diagonal's at row and column."""
    scale = np.sqrt(np.outer(theirs.diagonal(), theirs.diagonal())) if theirs.ndim == 2 else np.abs(theirs).max()
    return np.abs((ours - theirs) / scale).max()


class Peer:
    """Pinocchio's model of a robot, called with OUR coordinates and giving back OUR coordinates.

    v_theirs = basis @ v_ours, columns of a follower's joint scaled by its multiplier: M = basis^T M_theirs basis.
    """

    def __init__(self, pin, name, scene, dynamics, fixed):
        self.pin, self.scene, self.dynamics = pin, scene, dynamics
        robot = xml(name)
        self.model = model_of(pin, robot, fixed)
        self.data = self.model.createData()
        self.couplings = {}
        for joint in robot.findall("joint"):
            if joint.find("mimic") is not None:
                mimic = joint.find("mimic")
                offset = float(mimic.get("offset", 0)), float(mimic.get("multiplier", 1))
                self.couplings[joint.get("name")] = (mimic.get("joint"), *offset)
        self.basis = np.zeros((self.model.nv, dynamics.nv))
        for joint, slots, scale, _ in self.joints(dynamics.velocity_coordinates):
            turned = [slots[3:], slots[:3]] if joint.nv == 6 else [slots]  # their free base: [v; omega]
            for row, column in enumerate(np.concatenate(turned)):
                self.basis[joint.idx_v + row, column] = scale

    def joints(self, names):
        """(their joint, indices of its body's coordinates among ours, multiplier, offset)."""
        for name, joint in zip(list(self.model.names)[1:], list(self.model.joints)[1:], strict=True):
            leader, offset, scale = self.couplings.get(name, (name, 0.0, 1.0))
            body = self.scene.joint_names[leader] if name != "root_joint" else self.scene.bodies[0].name
            yield joint, [i for i, c in enumerate(names) if c.rpartition(".")[0] == body], scale, offset

    def q(self, q):
        result = np.zeros(self.model.nq)
        for joint, slots, scale, offset in self.joints(self.dynamics.coordinates):
            own = scale * q[slots] + offset
            result[joint.idx_q : joint.idx_q + joint.nq] = (
                own if joint.nq == len(own) else (np.cos(own[0]), np.sin(own[0]))
            )
        return result

    def mass_matrix(self, q):
        upper = np.triu(self.pin.crba(self.model, self.data, self.q(q)))
        return self.basis.T @ (upper + np.triu(upper, 1).T) @ self.basis

    def inverse_dynamics(self, q, v, a):
        return self.basis.T @ self.pin.rnea(self.model, self.data, self.q(q), self.basis @ v, self.basis @ a)

    def joint_wrenches(self, q, v, a):
        """By body: [moment; force] by its joint, in the joint's frame there, which is the body's here too."""
        self.inverse_dynamics(q, v, a)
        names = {body: joint for joint, body in self.scene.joint_names.items()}
        for body in self.dynamics.bodies:
            joint = self.model.getJointId(names.get(body, "root_joint"))
            if joint < self.model.njoints:
                yield body, np.concatenate([self.data.f[joint].angular, self.data.f[joint].linear])

    def forward_dynamics(self, q, v, tau):
        if self.couplings:
            return np.linalg.solve(self.mass_matrix(q), tau - self.inverse_dynamics(q, v, 0 * v))
        a = self.pin.aba(self.model, self.data, self.q(q), self.basis @ v, self.basis @ tau)
        return self.basis.T @ a

    def pose(self, q, body):
        self.pin.framesForwardKinematics(self.model, self.data, self.q(q))
        return self.data.oMf[self.model.getFrameId(body)].homogeneous


def states(dynamics, seed):
    rng = np.random.default_rng(seed)
    for _ in range(STATES):
        yield dynamics.random(rng), *rng.normal(size=(3, dynamics.nv))


@pytest.mark.parametrize(("name", "fixed"), CASES)
def test_agrees_with_pinocchio(name, fixed, compiled):
    pin = pytest.importorskip("pinocchio")
    scene, dynamics = compiled(name, fixed)
    peer = Peer(pin, name, scene, dynamics, fixed)
    assert dynamics.nv == peer.model.nv - len(peer.couplings)
    for q, v, a, tau in states(dynamics, seed=1):
        assert differ(dynamics.mass_matrix(q), peer.mass_matrix(q)) < ROUNDING
        assert differ(dynamics.inverse_dynamics(q, v, a), peer.inverse_dynamics(q, v, a)) < ROUNDING
        assert differ(dynamics.forward_dynamics(q, v, tau), peer.forward_dynamics(q, v, tau)) < ROUNDING


@pytest.mark.parametrize(("name", "fixed"), CASES)
def test_every_link_stands_where_pinocchio_puts_it(name, fixed, compiled):
    pin = pytest.importorskip("pinocchio")
    scene, dynamics = compiled(name, fixed)
    peer = Peer(pin, name, scene, dynamics, fixed)
    assert sorted(dynamics.bodies) == sorted(link.get("name") for link in xml(name).findall("link"))
    for q, _, _, _ in states(dynamics, seed=2):
        poses = dynamics.poses(q)
        for body, X in zip(dynamics.bodies, poses, strict=True):
            np.testing.assert_allclose(X, peer.pose(q, body), atol=1e-12)


@pytest.mark.parametrize(("name", "fixed"), CASES)
def test_every_joint_transmits_what_pinocchio_says(name, fixed, compiled):
    pin = pytest.importorskip("pinocchio")
    scene, dynamics = compiled(name, fixed)
    peer = Peer(pin, name, scene, dynamics, fixed)
    for q, v, a, _ in states(dynamics, seed=5):
        wrenches, X = dynamics.joint_wrenches(q, v, a), dynamics.poses(q)
        theirs = dict(peer.joint_wrenches(q, v, a))
        assert len(theirs) == peer.model.njoints - 1
        for body, expected in theirs.items():
            k = dynamics.bodies.index(body)
            turned = wrenches[k].reshape(2, 3) @ X[k, :3, :3]
            assert np.abs(turned.reshape(6) - expected).max() < ROUNDING * np.abs(wrenches).max()


def test_couplings_are_pinocchios_own(compiled):
    """Panda's fingers: Pinocchio can also express the mimic joint itself."""
    pin = pytest.importorskip("pinocchio")
    _, dynamics = compiled("panda", True)
    model = pin.buildModelFromXML(ET.tostring(xml("panda"), encoding="unicode"), mimic=True)
    data = model.createData()
    assert model.nv == dynamics.nv == 8
    for q, v, a, _ in states(dynamics, seed=3):
        theirs = pin.rnea(model, data, q, v, a)
        assert differ(dynamics.inverse_dynamics(q, v, a), theirs) < ROUNDING


@pytest.fixture
def bullet():
    p = pytest.importorskip("pybullet")
    client = p.connect(p.DIRECT)
    p.setGravity(0, 0, -9.81, physicsClientId=client)
    yield p, client
    p.disconnect(client)


@pytest.mark.parametrize("name", [name for name in ROBOTS if name != "humanoid"])  # it errs below ball joints
def test_agrees_with_pybullet(name, bullet):
    p, client = bullet
    flags = p.URDF_USE_INERTIA_FROM_FILE
    body = p.loadURDF(str(FOLDER / ROBOTS[name]), useFixedBase=True, flags=flags, physicsClientId=client)
    infos = [p.getJointInfo(body, j, physicsClientId=client) for j in range(p.getNumJoints(body, client))]
    scene = load(name, True)
    for info in infos:
        link = scene[info[12].decode()]
        moments = p.getDynamicsInfo(body, info[0], physicsClientId=client)[2]
        if not any(moments) and link.inertia.any():  # PyBullet drops inertias that break the triangle inequality
            assert name == "mini_cheetah" and link.name.startswith("thigh")
            link.properties = replace(link.properties, inertia=np.zeros((3, 3)))
    dynamics = scene.compile()

    moving = [info for info in infos if info[2] != p.JOINT_FIXED]
    count = len(moving)
    assert [info[4] - 6 for info in moving] == list(range(count))
    basis = np.zeros((count, dynamics.nv))  # their coordinates from ours: PyBullet lets a follower go its own way
    owners = [c.rpartition(".")[0] for c in dynamics.velocity_coordinates]
    for row, info in enumerate(moving):
        link = scene[info[12].decode()]
        coupling = link.joint.coupling
        basis[row, owners.index(coupling.leader if coupling else link.name)] = coupling.multiplier if coupling else 1.0
    for q, v, a, _ in states(dynamics, seed=4):
        theirs = [(basis @ x).tolist() for x in (q, v, a)]
        M = np.array(p.calculateMassMatrix(body, theirs[0], physicsClientId=client))[-count:, -count:]
        tau = np.array(p.calculateInverseDynamics(body, *theirs, physicsClientId=client))
        assert differ(dynamics.mass_matrix(q), basis.T @ M @ basis) < BULLET
        assert differ(dynamics.inverse_dynamics(q, v, a), basis.T @ tau) < BULLET
