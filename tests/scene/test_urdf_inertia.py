"""Inertias of URDF links from their collision geometry, as PyBullet takes them."""

from pathlib import Path

import numpy as np
import pytest
from trees import assert_close

import recursive_dyn as rd
from scene import Scene, shapes

data = pytest.importorskip("pybullet_data")
pybullet = pytest.importorskip("pybullet")

LINK = """<robot name="thing"><link name="thing">
<inertial><origin xyz="0.1 0 0"/><mass value="2"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="0"/>
</inertial><collision><origin xyz="0.1 0 0"/><geometry>{}</geometry></collision></link></robot>"""


def written(tmp_path: Path, geometry: str) -> str:
    path = tmp_path / "thing.urdf"
    path.write_text(LINK.format(geometry))
    return str(path)


@pytest.mark.parametrize(
    "geometry, expected",
    [
        ('<box size="0.2 0.4 0.6"/>', (0.52 / 6, 0.4 / 6, 0.2 / 6)),
        ('<sphere radius="0.3"/>', (0.072,) * 3),
        ('<cylinder radius="0.2" length="0.6"/>', (0.08, 0.08, 0.04)),
    ],
)
def test_of_one_shape_they_are_its_own_at_the_mass_of_the_file(tmp_path, geometry, expected):
    path = written(tmp_path, geometry)
    body = Scene.from_urdf(path, fixed_base=False, inertia="shapes")["thing"]
    assert_close(np.asarray(body.inertia, dtype=float), np.diag(expected), 1e-12)
    assert_close(np.asarray(body.center_of_mass, dtype=float), (0.1, 0, 0), 1e-12)
    assert body.mass == 2.0
    if "cylinder" not in geometry:  # Bullet takes that of a box about it
        client = pybullet.connect(pybullet.DIRECT)
        told = pybullet.getDynamicsInfo(pybullet.loadURDF(path, physicsClientId=client), -1, physicsClientId=client)
        pybullet.disconnect(client)
        assert_close(sorted(told[2]), sorted(expected), 1e-6)


def test_what_floats_alone_with_a_placeholder_is_told_what_to_do(tmp_path):
    path = written(tmp_path, '<box size="0.2 0.4 0.6"/>')
    with pytest.warns(UserWarning, match=r"root link 'thing' floats, but no body has.*inertia='shapes'"):
        scene = Scene.from_urdf(path, fixed_base=False)
    with pytest.raises(rd.ModelError, match=r"'thing'.*move in 6 ways"):
        scene.compile()
    with pytest.raises(rd.SceneFileError, match="'file' or 'shapes', not 'hull'"):
        Scene.from_urdf(path, inertia="hull")


def test_without_collision_geometry_or_mass_that_of_the_file_stands(tmp_path):
    path = tmp_path / "robot.urdf"
    inertial = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="2" iyz="0" izz="2.5"/></inertial>'
    path.write_text(f'<robot name="r"><link name="a">{inertial}</link></robot>')
    body = Scene.from_urdf(path, inertia="shapes")["a"]
    assert_close(np.asarray(body.inertia, dtype=float), np.diag([1.0, 2.0, 2.5]), 1e-15)
    kuka = data.getDataPath() + "/kuka_iiwa/model_vr_limits.urdf"  # its first link has inertia and no mass
    (one, other) = (Scene.from_urdf(kuka, inertia=inertia)["lbr_iiwa_link_0"] for inertia in ("file", "shapes"))
    assert_close(np.asarray(one.inertia, dtype=float), np.asarray(other.inertia, dtype=float), 1e-15)


@pytest.mark.parametrize("name", ["random_urdfs/000/000.urdf", "duck_vhacd.urdf", "teddy_vhacd.urdf"])
def test_objects_of_pybullets_own_collection_float(name):
    """Meshes, some of them open, of 0.1 kg: of their size, not of metres."""
    scene = Scene.from_urdf(Path(data.getDataPath()) / name, fixed_base=False, inertia="shapes")
    (body,) = (node for node in scene.world.walk() if node is not scene.world)
    corners = [shape for shape in body.shapes if shape.collision and isinstance(shape, shapes.Mesh)]
    reach = max(np.abs(np.asarray(mesh.geometry.vertices) * mesh.scale).max() for mesh in corners)
    moments = np.linalg.eigvalsh(np.asarray(body.inertia, dtype=float))
    assert moments[0] > 0.0 and moments[2] < 3 * body.mass * reach**2
    assert scene.compile().nv == 6
