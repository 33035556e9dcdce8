"""Every robot and thing that comes with PyBullet, as a URDF file that PyBullet reads, is a scene and compiles."""

import warnings
from pathlib import Path

import numpy as np
import pytest

import recursive_dyn as rd
from bridge.bodies.visuals import visuals
from bridge.meshes.files import MeshFiles
from scene import Scene

pybullet_data = pytest.importorskip("pybullet_data")
FOLDER = Path(pybullet_data.getDataPath())
FILES = sorted(str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*.urdf"))
MANY = "random_urdfs"  # a thousand things of one kind
FRAGMENTS = {  # which PyBullet refuses, too
    "kuka_iiwa/model_for_sdf.urdf": "mesh 'meshes/coarse/link_0.stl' is not found",
    "toys/concave_box.urdf": "its <geometry> holds <cdf>",
    "torus_deform.urdf": "has no <link>",
}
SLIPS = {
    "biped/biped2d_pybullet.urdf": "'-1.57.'> is read as -1.57; correct it",
    "quadruped/microtaur/microtaur.urdf": "rpy='-3.14159 1.57079 0 0'> is read as -3.14159 1.57079 0; correct it",
    "racecar/racecar_differential.urdf": "scale='1 1 1 1'> is read as 1 1 1; correct it",
}


def whole(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dynamics = Scene.from_urdf(FOLDER / name).compile()
    assert dynamics.bodies and (dynamics.effort_limits > 0).all() and (dynamics.velocity_limits > 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in FILES if MANY not in name and name not in FRAGMENTS])
def test_every_file_loads_and_compiles(name):
    whole(name)


def test_the_random_ones_cannot_turn_about_z_unless_shapes_say_how():
    """A free body of theirs has izz = 0: its spin would be infinite. PyBullet takes another inertia."""
    some = [name for name in FILES if MANY in name][::50]
    assert len(some) >= 10
    for name in some:
        with pytest.warns(UserWarning, match="inertia='shapes'"):
            scene = Scene.from_urdf(FOLDER / name)
        with pytest.raises(rd.ModelError, match=rf"body '{scene.bodies[0].name}' .* move in 6 ways, but .* 5 at most"):
            scene.compile()
        assert Scene.from_urdf(FOLDER / name, inertia="shapes").compile().nv == 6


@pytest.mark.parametrize("name", FRAGMENTS)
def test_a_fragment_is_refused_by_name(name):
    with pytest.raises(rd.SceneFileError, match=FRAGMENTS[name]):
        Scene.from_urdf(FOLDER / name)


@pytest.mark.parametrize("name", SLIPS)
def test_slips_of_files_in_use_are_passed_over_and_told(name):
    with pytest.warns(UserWarning) as caught:
        Scene.from_urdf(FOLDER / name)
    assert any(SLIPS[name] in str(warning.message) for warning in caught)


def test_an_axis_that_is_said_twice_alike_is_said_once():
    scene = Scene.from_urdf(FOLDER / "quadruped/spirit40newer.urdf")
    assert len(scene["RL_lower"].joint.coordinates) == 1


def test_an_environment_variable_has_its_default(monkeypatch):
    monkeypatch.delenv("HUSKY_IMU_XYZ", raising=False)
    place = Scene.from_urdf(FOLDER / "husky/husky.urdf")["imu_link"].place
    np.testing.assert_allclose(place[:3, 3], (0.19, 0, 0.149))
    monkeypatch.setenv("HUSKY_IMU_XYZ", "1 2 3")
    moved = Scene.from_urdf(FOLDER / "husky/husky.urdf")["imu_link"].place
    np.testing.assert_allclose(moved[:3, 3], (1, 2, 3))


@pytest.mark.parametrize("name", ["plane.urdf", "table/table.urdf", "tray/tray.urdf", "samurai.urdf"])
def test_scenery_without_mass_stands(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Scene.from_urdf(FOLDER / name).compile().nv == 0


def test_efforts_and_velocities_are_those_of_the_file():
    dynamics = Scene.from_urdf(FOLDER / "franka_panda/panda.urdf", fixed_base=True).compile()
    assert dynamics.effort_limits[:7].tolist() == [87.0] * 4 + [12.0] * 3
    assert dynamics.velocity_limits[:2].tolist() == [2.175, 2.175]


@pytest.mark.parametrize("name", ["table/table.urdf", "tray/tray_textured2.urdf"])
def test_textures_of_meshes_are_shown(name):
    """A white material leaves a mesh what its own file shows."""
    files, bodies = MeshFiles(), Scene.from_urdf(FOLDER / name).bodies
    drawn = [v for body in bodies for shape in body.shapes for v in visuals(shape, (0, 0, 0, 1), files)]
    paints = [piece.mesh.paint for piece in (v.piece(0) for v in drawn) if piece.color == (1, 1, 1, 1)]
    assert any(paint is not None and paint.picture is not None and np.ptp(paint.picture) > 50 for paint in paints)
