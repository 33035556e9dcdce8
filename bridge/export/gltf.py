"""Scenes and their motion as glTF, which Blender, browsers and game engines read.

The file's root turns z up into glTF's y up; below it is a node of each body, by its name, with the body's pose over
time; below that are nodes of its shapes, which stand still in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from scipy.spatial.transform import Rotation

from bridge.drawing.pieces import FIXED, Ground, Piece
from bridge.export.capture import Capture
from bridge.export.gltf_document import GltfDocument
from bridge.export.gltf_meshes import GltfMeshes
from bridge.picture.scene_view import SceneView
from recursive_dyn.codegen.making import whole_file
from recursive_dyn.errors import ModelError
from recursive_dyn.simulation.moving import Posed
from recursive_dyn.simulation.recording import PoseTrack, Recording, Replay
from recursive_dyn.simulation.state import real
from scene import Scene

STILL = 1e-9  # m, and entries of rotations: what moves less over all of a motion has no channel
UPRIGHT = [-(0.5**0.5), 0.0, 0.0, 0.5**0.5]  # a quarter turn about x: z becomes y


class Staged(Protocol):
    """What is to be seen: pieces in frames, and grounds."""

    @property
    def pieces(self) -> Sequence[Piece]: ...

    @property
    def grounds(self) -> Sequence[Ground]: ...


Exported = Recording | PoseTrack | Capture | Posed


def export_gltf(
    scene: Scene, motion: Exported, path: str | Path, fps: float | None = None,
    ground: bool | float = True,
) -> Path:  # fmt: skip
    """Write a scene and its motion as a binary glTF file, .glb; returns the path.

    motion: a Recording of the scene, poses of its bodies over time, what a Capture saw in a mirror, or whatever else
    knows where they are, of which the present is written. fps: keys a second of a recording, else all its frames.
    ground: as in Pictures; 80 tiles a side, as glTF knows no endless planes. Raises ModelError for another suffix, a
    recording of another scene, or an fps that is none; SceneFileError where the file cannot be written.
    """
    path = Path(path)
    if path.suffix.lower() != ".glb":
        raise ModelError(f"'{path.name}' must end in .glb, the binary form of glTF")
    whole_file.replace(path, glb(*staged(scene, motion, fps, ground)))
    return path


def staged(scene: Scene, motion: Exported, fps: float | None, ground: bool | float) -> tuple[Staged, PoseTrack]:
    """What is to be seen of a motion, and where it is over time; as ``export_gltf`` takes it."""
    if isinstance(motion, Capture):
        return motion.seen, motion.track()
    track = _tracked(scene, motion, fps)
    return SceneView(scene, track, ground), track


def _tracked(scene: Scene, motion: Recording | PoseTrack | Posed, fps: float | None) -> PoseTrack:
    """Poses of a motion, a recording's at ``fps`` or at every frame; ModelError for an fps that is none."""
    if fps is not None and not 0.0 < real(fps) <= 1000.0:
        raise ModelError(f"fps must be a number of frames a second, above 0 and at most 1000, not {fps!r}")
    if isinstance(motion, PoseTrack):
        return motion
    if not isinstance(motion, Recording):
        if not isinstance(motion, Posed):
            raise ModelError(
                "motion is a Recording, a PoseTrack, a simulation or, of a mirror, a Capture, not"
                f" {type(motion).__name__}"
            )
        return PoseTrack(tuple(motion.dynamics.bodies), np.zeros(1), motion.frames()[0][None])
    replay = Replay(motion, scene.compile())
    if fps is None:
        return replay.track()
    start, end = motion.time[[0, -1]]
    times = np.append(np.arange(start, end - 0.5 / fps, 1.0 / fps), end)
    return replay.track(times)


def glb(view: Staged, track: PoseTrack, grounds: bool = True) -> bytes:
    """The bytes of a file with pieces and grounds of a view, its bodies moving as in the track."""
    document = GltfDocument()
    meshes = GltfMeshes(document)
    below: dict[int, list[int]] = {k: [] for k in range(FIXED, len(track.bodies))}
    for piece in view.pieces:
        below[piece.frame].append(document.add("nodes", mesh=meshes.mesh(piece), **placed(piece.at)))
    for ground in view.grounds if grounds else ():
        below[FIXED].append(document.add("nodes", name="ground", mesh=meshes.ground(ground), **placed(ground.at)))
    nodes = [
        document.add("nodes", name=name, children=below[k] or None, **placed(track.poses[0, k]))
        for k, name in enumerate(track.bodies)
    ]
    _animate(document, track, nodes)
    return document.glb(
        document.add("nodes", name="scene, z up", rotation=UPRIGHT, children=nodes + below[FIXED] or None)
    )


def placed(X: np.ndarray) -> dict[str, list[float]]:
    """Translation and rotation of a node at a pose (4, 4), without what is none."""
    result = {}
    if X[:3, 3].any():
        result["translation"] = X[:3, 3].tolist()
    if not np.array_equal(X[:3, :3], np.eye(3)):
        result["rotation"] = Rotation.from_matrix(X[:3, :3]).as_quat().tolist()
    return result


def _animate(document: GltfDocument, track: PoseTrack, nodes: list[int]) -> None:
    """Channels of what moves, all over the same times, which start at zero."""
    time = (track.time - track.time[0]).astype(np.float32)
    kept = np.concatenate([[True], np.diff(time) > 0.0])  # float32 tells times apart only so far (3.11: increasing)
    time, poses = time[kept], track.poses[kept]
    moving = np.abs(poses - poses[:1]).max(axis=0) > STILL  # (nb, 4, 4)
    if not moving.any():
        return
    given = document.accessor(time, bounds=True)
    samplers: list[dict[str, object]] = []
    channels: list[dict[str, object]] = []
    for k, node in enumerate(nodes):
        for name, moves, values in (
            ("translation", moving[k, :3, 3].any(), poses[:, k, :3, 3]),
            ("rotation", moving[k, :3, :3].any(), poses[:, k, :3, :3]),
        ):
            if moves:
                keys = values if name == "translation" else continuous(Rotation.from_matrix(values).as_quat())
                output = document.accessor(keys.astype(np.float32))
                channels.append({"sampler": len(samplers), "target": {"node": node, "path": name}})
                samplers.append({"input": given, "output": output, "interpolation": "LINEAR"})
    document.add("animations", name="motion", samplers=samplers, channels=channels)


def continuous(quaternions: np.ndarray) -> np.ndarray:
    """The same turns (n, 4), each quaternion of the two nearer to the one before, so that the short way is between."""
    flips = np.einsum("ij,ij->i", quaternions[1:], quaternions[:-1]) < 0.0
    signs = np.cumprod(np.concatenate([[1.0], np.where(flips, -1.0, 1.0)]))
    result: np.ndarray = quaternions * signs[:, None]
    return result
