"""A page that plays a scene's motion in a browser, and needs nothing else: no server, no network, no installation."""

from __future__ import annotations

import base64
import html as markup
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from bridge.drawing.camera import Camera, camera_of
from bridge.drawing.light import towards_light
from bridge.drawing.painter import FOG, HORIZON, ZENITH
from bridge.export.gltf import Exported, Staged, glb, staged
from bridge.meshes.paint import linear
from bridge.picture.scene_view import outline
from recursive_dyn.codegen.making import whole_file
from recursive_dyn.errors import ModelError
from recursive_dyn.simulation.recording import PoseTrack
from scene import Scene

_PARTS = Path(__file__).parent / "player_page"
ASPECT = 16 / 9  # of the window that the scene fills at first


class Player:
    """A scene and its motion as a page of HTML: play, pause, speed, a bar to scrub; drag to turn, scroll to come near.

    motion: as in ``export_gltf``, fps: its keys a second. camera, ground: as in Pictures; follow: the body, by name,
    that the camera moves along with at first, its target's if that is one. The page is about a megabyte: three.js is in
    it, and the motion, 28 bytes a moving body and key. In a notebook it is shown where it is the value of a cell.
    Raises ModelError for an unknown body and what ``export_gltf`` refuses.
    """

    def __init__(
        self, scene: Scene, motion: Exported, camera: Camera | None = None, fps: float = 30.0,
        ground: bool | float = True, follow: str | None = None, title: str = "recursive-dyn",
    ) -> None:  # fmt: skip
        if not isinstance(title, str) or not isinstance(camera, Camera | None):
            raise ModelError("a page needs a text for its title, and a bridge.Camera or None")
        view, track = staged(scene, motion, fps, ground)
        if follow is not None and follow not in track.bodies:
            raise ModelError(f"no body is named {follow!r}; there are {', '.join(track.bodies[:20])}")
        self._motion, self._title = glb(view, track, grounds=False), title
        self._facts = _facts(view, track, camera, fps, follow)

    def html(self) -> str:
        """The whole page."""
        page, player = _parts()
        parts = {
            "@TITLE@": markup.escape(self._title),
            "@META@": json.dumps(self._facts).replace("<", "\\u003c"),
            "@MOTION@": base64.b64encode(self._motion).decode(),
            "@PLAYER@": player,
        }
        found = re.split("(@[A-Z]+@)", page)
        return "".join(parts.get(text, text) for text in found)

    def save(self, path: str | Path) -> Path:
        """Write the page; returns the path. SceneFileError if it cannot be."""
        whole_file.replace(Path(path), self.html().encode())
        return Path(path)

    def _repr_html_(self) -> str:
        page = markup.escape(self.html(), quote=True)
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 480px; border: 0"></iframe>'


def html(scene: Scene, motion: Exported, path: str | Path | None = None, **options: Any) -> str:
    """The page of a ``Player`` with these options, also written to a path if there is one."""
    player = Player(scene, motion, **options)
    if path is not None:
        player.save(path)
    return player.html()


def _facts(view: Staged, track: PoseTrack, camera: Camera | None, fps: float, follow: str | None) -> dict[str, Any]:
    """What the page needs beside the motion; directions and places as glTF has them, y up."""
    camera = camera_of(camera)
    follow = camera.target if follow is None and isinstance(camera.target, str) else follow
    camera = camera.aimed(track.bodies, track.poses[0]).framed(outline(view.pieces, track.poses[0]), ASPECT)
    place = [0.0, 0.0, 0.0] if follow is None else track.poses[0, track.bodies.index(follow), :3, 3]
    return {
        "fov": camera.fov, "distance": camera.distance,
        "eye": _upright(camera.eye()), "target": _upright(camera.target),
        "sun": _upright(towards_light(camera)), "zenith": ZENITH, "horizon": HORIZON, "fog": FOG, "fps": fps,
        "bodies": track.bodies, "follow": follow, "followed": _upright(place),
        "grounds": [
            {"at": ground.at.reshape(-1).tolist(), "tile": ground.tile, "light": linear(ground.light).tolist(),
             "dark": linear(ground.dark).tolist()}
            for ground in view.grounds
        ],
    }  # fmt: skip


def _upright(point: Any) -> list[float]:
    x, y, z = np.asarray(point, dtype=float).tolist()
    return [x, z, -y]


@cache
def _parts() -> tuple[str, str]:
    """The page without its content, and the program that plays it, which must not end its own element."""
    program = (_PARTS / "player.min.js").read_text(encoding="utf-8").replace("</script", "<\\/script")
    licence = " ".join((_PARTS / "LICENSE.three").read_text(encoding="utf-8").split())
    return (_PARTS / "page.html").read_text(encoding="utf-8"), f"/* three.js: {licence} */\n{program}"
