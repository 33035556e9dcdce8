"""What every contender of the benchmark computes on: hinge chains of any length and the robots of pybullet_data."""

import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

import numpy as np

GRAVITY = (0.0, 0.0, -9.81)
OFFSET = (0.1, 0.05, 0.3)
LIMIT = {"lower": "-1e4", "upper": "1e4", "effort": "1e9", "velocity": "1e9"}  # never met: no peer may stop a hinge
BALL_RADIUS = 0.05  # of the solid ball that stands in for an inertia which a file leaves at zero
WELDED = (1.0, np.zeros(3), np.eye(3))  # a root that never moves: some readers warn of a link without mass


@dataclass(frozen=True, eq=False)
class ChainCase:
    """A chain of n bodies on hinges, its root fixed to the world; link i hangs by joint i on link i - 1.

    axes (n, 3) in the link's frame; rotations (n, 3, 3) and offsets (n, 3): pose of joint i in link i - 1 at q = 0;
    masses (n,) in kg; coms (n, 3) in the link's frame; inertias (n, 3, 3) about the centre of mass, link axes.
    """

    axes: np.ndarray
    rotations: np.ndarray
    offsets: np.ndarray
    masses: np.ndarray
    coms: np.ndarray
    inertias: np.ndarray

    fixed_base = True

    @property
    def hinges(self) -> tuple[str, ...]:
        """Joint names, root first: the order of every neutral q, v, tau."""
        return tuple(f"joint{i + 1}" for i in range(len(self.masses)))


@dataclass(frozen=True)
class UrdfCase:
    """A robot described by a URDF file, its root welded to the world or free."""

    path: Path
    fixed_base: bool

    @property
    def hinges(self) -> tuple[str, ...]:
        """Names of the one-coordinate rotary joints in the file's order: the order of every neutral q, v, tau."""
        joints = _read(self.path).iter("joint")
        return tuple(joint.get("name", "") for joint in joints if joint.get("type") in ("revolute", "continuous"))


Case = ChainCase | UrdfCase


def hinge_chain(n: int, axes: str = "xyz", seed: int = 0) -> ChainCase:
    """A chain of n hinges: axes x, y, z in turn and unrotated joint frames, or all "random"; full inertia tensors."""
    if axes not in ("xyz", "random"):
        raise ValueError(f'axes is "xyz" or "random", not {axes!r}')
    rng = np.random.default_rng(seed)
    masses = rng.uniform(0.5, 1.5, n)
    squares = rng.uniform(0.05, 0.3, (n, 3)) ** 2  # of a box's sides: its moments always obey the triangle inequality
    moments = masses[:, None] / 12 * (squares.sum(axis=1, keepdims=True) - squares)
    principal = _rotations(rng, n)
    coms = np.array(OFFSET) / 2 + rng.uniform(-0.03, 0.03, (n, 3))
    offsets = np.tile(OFFSET, (n, 1))
    if axes == "xyz":
        directions, rotations = np.eye(3)[np.arange(n) % 3], np.tile(np.eye(3), (n, 1, 1))
    else:
        directions, rotations = rng.normal(size=(n, 3)), _rotations(rng, n)
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        offsets = offsets + rng.uniform(-0.02, 0.02, (n, 3))
    inertias = np.einsum("nij,nj,nkj->nik", principal, moments, principal)
    return ChainCase(directions, rotations, offsets, masses, coms, inertias)


def robots() -> dict[str, UrdfCase]:
    """The robots of pybullet_data that the benchmark times, by name."""
    import pybullet_data

    folder = Path(pybullet_data.getDataPath())
    return {
        "kuka": UrdfCase(folder / "kuka_iiwa" / "model.urdf", fixed_base=True),
        "laikago": UrdfCase(folder / "laikago" / "laikago.urdf", fixed_base=False),
        "humanoid": UrdfCase(folder / "humanoid" / "humanoid.urdf", fixed_base=False),
    }


def random_state(case: Case, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Seeded q, v, tau of the case's hinges, of order one; a free base and balls rest in their zero pose."""
    rng = np.random.default_rng(seed)
    n = len(case.hinges)
    return rng.uniform(-1, 1, n), rng.uniform(-1, 1, n), rng.uniform(-1, 1, n)


def to_urdf(case: Case) -> str:
    """The mechanics of a case as a URDF that every peer reads alike: no shapes, no damping, no limit within reach."""
    robot = _chain_urdf(case) if isinstance(case, ChainCase) else _robot_urdf(case)
    ET.indent(robot)  # PyBullet breaks a line, and the number it falls in, after 8 kB
    return ET.tostring(robot, encoding="unicode")


def root_link(robot: ET.Element) -> str:
    """The link of a URDF that hangs on no joint."""
    children = {child.get("link") for child in robot.iter("child")}
    return next(link.get("name", "") for link in robot.iter("link") if link.get("name") not in children)


def _chain_urdf(case: ChainCase) -> ET.Element:
    robot = ET.Element("robot", name="chain")
    _add_link(robot, "base", *WELDED)
    for i, name in enumerate(case.hinges):
        _add_link(robot, f"link{i + 1}", case.masses[i], case.coms[i], case.inertias[i])
        parent = f"link{i}" if i else "base"
        rpy = _rpy(case.rotations[i])
        _add_joint(robot, name, "revolute", parent, f"link{i + 1}", _text(case.offsets[i]), rpy, _text(case.axes[i]))
    return robot


def _robot_urdf(case: UrdfCase) -> ET.Element:
    source = _read(case.path)
    robot = ET.Element("robot", name=source.get("name", "robot"))
    root = root_link(source)
    for link in source.findall("link"):
        inertial, name = link.find("inertial"), link.get("name", "")
        if case.fixed_base and name == root:
            _add_link(robot, name, *WELDED)
            continue
        mass = float(inertial.find("mass").get("value"))
        entries = inertial.find("inertia").attrib
        xx, xy, xz, yy, yz, zz = (float(entries[key]) for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
        inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        if not inertia.any():
            inertia = 0.4 * mass * BALL_RADIUS**2 * np.eye(3)
        place = inertial.find("origin").attrib
        turn = _rotation(place.get("rpy", "0 0 0"))
        com = np.array(place.get("xyz", "0 0 0").split(), float)
        _add_link(robot, name, mass, com, turn @ inertia @ turn.T)
    for joint in source.findall("joint"):
        origin, axis = joint.find("origin"), joint.find("axis")
        kind = joint.get("type", "").replace("continuous", "revolute")
        ends = joint.find("parent").get("link"), joint.find("child").get("link")
        place = (origin.get("xyz", "0 0 0"), origin.get("rpy", "0 0 0")) if origin is not None else ("0 0 0", "0 0 0")
        _add_joint(robot, joint.get("name", ""), kind, *ends, *place, "1 0 0" if axis is None else axis.get("xyz"))
    return robot


def _add_link(robot: ET.Element, name: str, mass: float, com: np.ndarray, inertia: np.ndarray) -> None:
    # A diagonal tensor in turned axes: PyBullet diagonalises a full one itself, but only to about 1e-6.
    moments, axes = np.linalg.eigh(inertia)
    axes[:, 2] *= np.linalg.det(axes)
    inertial = ET.SubElement(ET.SubElement(robot, "link", name=name), "inertial")
    ET.SubElement(inertial, "origin", xyz=_text(com), rpy=_rpy(axes))
    ET.SubElement(inertial, "mass", value=repr(float(mass)))
    xx, yy, zz = (repr(moment) for moment in moments.tolist())
    ET.SubElement(inertial, "inertia", ixx=xx, ixy="0", ixz="0", iyy=yy, iyz="0", izz=zz)


def _add_joint(robot: ET.Element, name: str, kind: str, parent: str, child: str, xyz: str, rpy: str, axis: str) -> None:
    joint = ET.SubElement(robot, "joint", name=name, type=kind)
    ET.SubElement(joint, "parent", link=parent)
    ET.SubElement(joint, "child", link=child)
    ET.SubElement(joint, "origin", xyz=xyz, rpy=rpy)
    if kind != "fixed":
        ET.SubElement(joint, "axis", xyz=axis)
    if kind == "revolute":
        ET.SubElement(joint, "limit", LIMIT)


def _read(path: Path) -> ET.Element:
    text = path.read_bytes().decode("utf-8", "replace")
    return ET.fromstring(text[: text.rindex("</robot>") + len("</robot>")])  # one file ends in a NUL byte


def _rotations(rng: np.random.Generator, n: int) -> np.ndarray:
    q, _ = np.linalg.qr(rng.normal(size=(n, 3, 3)))
    q[:, :, 2] *= np.linalg.det(q)[:, None]
    return q


def _rpy(rotation: np.ndarray) -> str:
    """URDF's fixed-axis angles: rotation = Rz(yaw) Ry(pitch) Rx(roll)."""
    pitch = np.arctan2(-rotation[2, 0], np.hypot(rotation[0, 0], rotation[1, 0]))
    roll, yaw = np.arctan2(rotation[2, 1], rotation[2, 2]), np.arctan2(rotation[1, 0], rotation[0, 0])
    return _text((roll, pitch, yaw))


def _rotation(rpy: str) -> np.ndarray:
    (cr, cp, cy), (sr, sp, sy) = (f(np.array(rpy.split(), float)) for f in (np.cos, np.sin))
    about_x = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    about_y = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    return np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]]) @ about_y @ about_x


def _text(numbers) -> str:
    return " ".join(repr(float(x)) for x in numbers)
