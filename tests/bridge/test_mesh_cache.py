"""What is worked out of meshes is worked out once, and comes with the package for the robots of pybullet_data."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pybullet_data
import pytest
import trimesh

from bridge import mesh_cache
from bridge.bodies import convex_decomposition as decomposition
from bridge.bodies import shipped_results as shipped
from bridge.planes import supports
from scene import Scene, shapes

ROBOTS = ("laikago/laikago.urdf", "laikago/laikago_toes.urdf", "laikago/laikago_toes_zup.urdf",
          "mini_cheetah/mini_cheetah.urdf", "xarm/xarm6_with_gripper.urdf", "bicycle/bike.urdf")  # fmt: skip


@pytest.fixture
def no_cache(monkeypatch):
    monkeypatch.setenv("RECURSIVE_DYN_CACHE", "off")
    monkeypatch.setattr(decomposition, "_run", lambda *_: pytest.fail("it was cut"))


@pytest.mark.parametrize("robot", ROBOTS)
def test_robots_of_pybullet_data_are_cut_already(no_cache, robot):
    scene = Scene.from_urdf(Path(pybullet_data.getDataPath()) / robot, skip_missing_meshes=True)
    meshes = {s.source: s for body in scene.bodies for s in body.shapes if isinstance(s, shapes.Mesh) and s.collision}
    cut = 0
    for mesh in meshes.values():
        if not decomposition.is_grouped(mesh):
            cut += decomposition.hulls(mesh) is not None
    assert cut > 0


@pytest.mark.parametrize("name", [shipped.HOLLOW[0], "laikago/lower_leg_3.stl"])
def test_shipped_parts_fill_the_mesh(no_cache, name):
    """They cover the mesh and not much around it, and leave a good part of its hull empty."""
    shape = shapes.Mesh(shipped.mesh_of(name).source, scale=0.5)
    mesh, parts = shapes.to_trimesh(shape), decomposition.hulls(shape)
    volume = sum(trimesh.Trimesh(*part).convex_hull.volume for part in parts.parts)
    assert 0.95 * abs(mesh.volume) < volume < 0.75 * mesh.convex_hull.volume
    size = mesh.extents.max()
    for end in (0, 1):
        np.testing.assert_allclose(np.ptp(parts.outline, axis=0), mesh.extents, atol=0.03 * size)
        np.testing.assert_allclose(parts.outline[[0, -1]][end], mesh.bounds[end], atol=0.03 * size)


@pytest.mark.parametrize("name", shipped.IN_PARTS)
def test_shipped_corners_are_those_of_the_hull(monkeypatch, name):
    monkeypatch.setenv("RECURSIVE_DYN_CACHE", "off")
    known = supports.corners(shipped.mesh_of(name))
    monkeypatch.setattr(mesh_cache, "SHIPPED", Path("nowhere"))
    np.testing.assert_array_equal(supports.corners(shipped.mesh_of(name)), known)


def test_nothing_is_shipped_that_nobody_asks_for():
    wanted = {supports.corners_key(shipped.mesh_of(name)) for name in (*shipped.HOLLOW, *shipped.IN_PARTS)}
    wanted |= {decomposition.parts_key(shipped.mesh_of(name)) for name in shipped.HOLLOW}
    assert {path.stem for path in mesh_cache.SHIPPED.glob("*.npz")} == wanted


def test_corners_are_found_once(tmp_path, monkeypatch):
    monkeypatch.setenv("RECURSIVE_DYN_CACHE", str(tmp_path / "cache"))
    ball = shapes.Mesh(trimesh.creation.icosphere(subdivisions=1), scale=(1.0, 2.0, 3.0))
    first = supports.corners(ball)
    assert len(first) == 42
    monkeypatch.setattr(supports, "_on_hull", lambda _: pytest.fail("looked for again"))
    np.testing.assert_array_equal(supports.corners(ball), first)
    (support,) = supports.supports(ball)
    np.testing.assert_array_equal(support.points, first * (1.0, 2.0, 3.0))


@pytest.mark.xfail(strict=True, reason="SciPy's hulls, 0.2 s to import, find the faces that its round toes may meet")
def test_a_first_robot_touches_the_ground_without_what_only_reads_meshes():
    """Each of these takes longer to import than the robot takes to be read and mirrored."""
    program = """
import sys
import pybullet_data
import recursive_dyn as rd
from bridge import PyBulletMirror
from scene import Scene
scene = Scene.from_urdf(pybullet_data.getDataPath() + "/laikago/laikago_toes_zup.urdf")
sim = rd.Simulation(scene.compile(), 1 / 240)
sim.q[2] = 0.35
with PyBulletMirror(scene, sim, gui=False) as mirror:
    mirror.step()
    assert mirror.contacts
print(sorted({"trimesh", "scipy", "sympy", "numba", "networkx", "PIL", "coacd"} & set(sys.modules)))
"""
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr
