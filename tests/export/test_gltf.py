"""Scenes and motion as glTF: what a strict reader finds is what was simulated, and validators are content."""

import io
import json
import os
import shutil
import subprocess

import numpy as np
import pytest
import trimesh
from gltf_reading import Gltf
from PIL import Image

import recursive_dyn as rd
from bridge import export_gltf
from recursive_dyn.simulation.recording import PoseTrack
from scene import Body, Scene, joints, shapes

RED, GLASS = (0.8, 0.2, 0.1, 1), (0.2, 0.5, 0.9, 0.4)
ROUNDING = np.finfo(np.float32).eps
VALIDATE = """
require("gltf-validator").validateBytes(new Uint8Array(require("fs").readFileSync(process.argv[1])))
  .then(report => console.log(JSON.stringify(report.issues)));
"""


def painted(picture=None):
    """A square with a texture, or with colours of its vertices."""
    vertices = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], dtype=float)
    faces = np.array([[0, 1, 2], [0, 2, 3]])
    if picture is None:
        colors = np.array([[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255], [255, 255, 255, 255]], dtype=np.uint8)
        return trimesh.Trimesh(vertices, faces, vertex_colors=colors, process=False)
    visual = trimesh.visual.TextureVisuals(uv=vertices[:, :2], image=Image.fromarray(picture))
    return trimesh.Trimesh(vertices, faces, visual=visual, process=False)


PICTURE = np.array([[[255, 0, 0], [0, 255, 0]], [[0, 0, 255], [255, 255, 0]]], dtype=np.uint8)


@pytest.fixture(scope="module")
def made():
    """A scene with all that is drawn, and its motion: a spinner, a slider and what stands still."""
    scene = Scene(gravity=(0, 0, 0))
    ball = shapes.Sphere(0.2, color=RED)
    spinner = Body("spinner", [shapes.Box((0.1, 0.3, 0.5), color=GLASS), ball])
    known = {"mass": 1.0, "center_of_mass": (0, 0, 0), "inertia": np.eye(3)}
    slider = Body("slider", [ball, shapes.Mesh(painted(), collision=False)], **known)
    still = Body("still", [shapes.Mesh(painted(PICTURE), collision=False)], **known)
    other = Body("other", [shapes.Mesh(painted(PICTURE), at=rd.pose((0, 0, 1)), collision=False)], **known)
    scene.world.attach(spinner, joints.free(), at=rd.pose((0.0, 0.0, 2.0)))
    scene.world.attach(slider, joints.prismatic("x"), at=rd.pose((0, 1, 1), (0.3, 0.2, 0.1)))
    scene.world.attach(still, joints.revolute("z"), at=rd.pose((0, -2, 1)))
    scene.world.attach(other, joints.revolute("z"), at=rd.pose((0, -4, 1)))
    scene.world.shapes.append(shapes.Box((1, 1, 0.2), at=rd.pose((3, 0, 0.1))))
    simulation = rd.Simulation(scene.compile(), 1 / 120)
    simulation.detect = None
    simulation.v[:7] = 3.0, 5.0, -2.0, 0.3, 0.2, 0.1, 0.7
    with rd.Recorder(simulation) as recorder:
        simulation.step(600)
    return scene, recorder.recording


@pytest.fixture(scope="module")
def written(made, tmp_path_factory):
    return export_gltf(*made, tmp_path_factory.mktemp("gltf") / "motion.glb")


def test_poses_in_the_file_are_those_of_the_simulation(made, written):
    """To float32: roundings of the four numbers of a unit quaternion move no entry of R by more than 8 of them."""
    scene, recording = made
    gltf, track = Gltf(written), rd.Replay(recording, scene.compile()).track()
    for k, name in enumerate(recording.names.bodies):
        poses = gltf.poses(gltf.named(name), len(recording))
        np.testing.assert_allclose(poses[:, :3, 3], track.poses[:, k, :3, 3], rtol=ROUNDING, atol=1e-12)
        np.testing.assert_allclose(poses[:, :3, :3], track.poses[:, k, :3, :3], rtol=0, atol=8 * ROUNDING)
    for times, _ in gltf.channels(gltf.named("spinner")).values():
        np.testing.assert_allclose(times, recording.time - recording.time[0], rtol=ROUNDING)


def test_only_what_moves_has_channels_and_turns_take_the_short_way(written):
    gltf = Gltf(written)
    paths = {name: set(gltf.channels(gltf.named(name))) for name in ("spinner", "slider", "still")}
    assert paths == {"spinner": {"translation", "rotation"}, "slider": {"translation"}, "still": set()}
    quaternions = gltf.channels(gltf.named("spinner"))["rotation"][1]
    assert (np.einsum("ij,ij->i", quaternions[1:], quaternions[:-1]) > 0).all()
    assert quaternions.min() < -0.5  # it has turned so far that a sign would have changed


def test_the_root_turns_z_up_into_y_up(written):
    gltf = Gltf(written)
    (root,) = gltf.document["scenes"][0]["nodes"]
    (pose,) = gltf.poses(root, 1)
    np.testing.assert_allclose(pose[:3, :3] @ np.array([0, 0, 1]), [0, 1, 0], atol=1e-7)
    np.testing.assert_allclose(pose[:3, :3] @ np.array([1, 0, 0]), [1, 0, 0], atol=1e-7)


def test_equal_meshes_are_there_once_and_colours_are_light(written):
    gltf = Gltf(written)
    document = gltf.document
    balls = [m for m in document["meshes"] if len(gltf.arrays[m["primitives"][0]["attributes"]["POSITION"]]) > 100]
    assert len(balls) == 1
    nodes = [node for node in document["nodes"] if node.get("mesh") == document["meshes"].index(balls[0])]
    assert len(nodes) == 2
    factor = document["materials"][balls[0]["primitives"][0]["material"]]["pbrMetallicRoughness"]["baseColorFactor"]
    assert factor == pytest.approx([*(((c + 0.055) / 1.055) ** 2.4 for c in RED[:3]), 1.0])  # sRGB, IEC 61966-2-1
    assert {m.get("alphaMode") for m in document["materials"]} == {None, "BLEND"}
    colors = [
        p["attributes"]["COLOR_0"] for m in document["meshes"] for p in m["primitives"] if "COLOR_0" in p["attributes"]
    ]
    assert gltf.arrays[colors[0]].max(axis=0).tolist() == [1, 1, 1, 1]


def test_textures_are_embedded_and_stand_upright(written):
    """The lower left of the picture, blue, is at the square's lower left: glTF counts from the upper left."""
    gltf = Gltf(written)
    pictures = [
        np.asarray(Image.open(io.BytesIO(gltf.view(i["bufferView"]))).convert("RGB")) for i in gltf.document["images"]
    ]
    assert any(np.array_equal(picture, PICTURE) for picture in pictures)
    for mesh in gltf.document["meshes"]:
        attributes = mesh["primitives"][0]["attributes"]
        if "TEXCOORD_0" in attributes and len(gltf.arrays[attributes["POSITION"]]) == 4:
            at, uv = gltf.arrays[attributes["POSITION"]], gltf.arrays[attributes["TEXCOORD_0"]]
            if at.max() <= 1.0:  # not the ground
                np.testing.assert_allclose(uv, np.stack([at[:, 0], 1.0 - at[:, 1]], axis=1), atol=1e-7)


def test_another_reader_finds_the_same_surfaces(made, written):
    scene, recording = made
    loaded = trimesh.load(written)
    poses = rd.Replay(recording, scene.compile()).track().poses[0]
    corners = np.array([[x, y, z] for x in (-0.05, 0.05) for y in (-0.15, 0.15) for z in (-0.25, 0.25)])
    expected = (corners @ poses[0, :3, :3].T + poses[0, :3, 3])[:, [0, 2, 1]] * [1, 1, -1]
    (box,) = [m for m in loaded.dump() if len(m.faces) == 12 and np.ptp(m.vertices, axis=0).max() < 0.9]
    assert max(np.linalg.norm(box.vertices - e, axis=1).min() for e in expected) < 1e-6


def test_khronos_validator_is_content(written):
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("no Node.js here, which the Khronos validator needs")
    there = subprocess.run([npm, "root", "-g"], capture_output=True, text=True).stdout.strip()
    places = os.pathsep.join([os.environ.get("NODE_PATH", ""), there])
    command = [node, "-e", VALIDATE, str(written)]
    done = subprocess.run(command, env={"NODE_PATH": places}, capture_output=True, text=True, timeout=60)
    if "Cannot find module" in done.stderr:
        pytest.skip("no Khronos validator here: npm install -g gltf-validator")
    issues = json.loads(done.stdout)
    assert issues["numErrors"] == issues["numWarnings"] == 0, issues["messages"]


def test_a_present_state_or_poses_alone_are_written_too(made, tmp_path):
    scene, recording = made
    simulation = rd.Simulation(scene.compile())
    simulation.q = recording.q[77]
    gltf = Gltf(export_gltf(scene, simulation, tmp_path / "still.glb", ground=False))
    assert "animations" not in gltf.document
    poses = simulation.frames()[0]
    for k, name in enumerate(recording.names.bodies):
        np.testing.assert_allclose(gltf.poses(gltf.named(name), 1)[0], poses[k], atol=1e-6)
    track = PoseTrack(recording.names.bodies, np.array([1.0, 2.0]), np.stack([poses, poses + 0.0]))
    track.poses[1, 0, 0, 3] += 1.0
    gltf = Gltf(export_gltf(scene, track, tmp_path / "two.glb"))
    assert gltf.channels(gltf.named("spinner"))["translation"][0].tolist() == [0.0, 1.0]
    assert Gltf(export_gltf(scene, recording, tmp_path / "few.glb", fps=10)).arrays[-1].shape[0] == 51


def test_bad_exports_are_refused(made, tmp_path):
    scene, recording = made
    with pytest.raises(rd.ModelError, match=r"must end in \.glb"):
        export_gltf(scene, recording, tmp_path / "motion.gltf")
    for fps in (0, -3, np.nan, "10", True):
        with pytest.raises(rd.ModelError, match="fps"):
            export_gltf(scene, recording, tmp_path / "motion.glb", fps=fps)
    for motion in (None, "motion.npz"):
        with pytest.raises(rd.ModelError, match="motion is a Recording"):
            export_gltf(scene, motion, tmp_path / "motion.glb")
    with pytest.raises(rd.ModelError, match="ground is True"):
        export_gltf(scene, recording, tmp_path / "motion.glb", ground="low")
    with pytest.raises(rd.SceneFileError, match="cannot be written"):
        export_gltf(scene, recording, tmp_path / "nowhere" / "motion.glb")
    with pytest.raises(rd.StateError, match="poses"):
        PoseTrack(("a",), np.zeros(2), np.zeros((2, 2, 4, 4)))
    with pytest.raises(rd.StateError, match="increase"):
        PoseTrack(("a",), np.zeros(2), np.zeros((2, 1, 4, 4)))
    other = Scene()
    other.world.attach(Body("other", [shapes.Sphere(1)]), joints.revolute("x"))
    with pytest.raises(rd.ModelError, match="another scene"):
        export_gltf(other, recording, tmp_path / "motion.glb")
    assert not list(tmp_path.iterdir())
