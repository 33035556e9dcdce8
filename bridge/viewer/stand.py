"""What stands behind a window: a playback, a camera, what is drawn, and what is selected."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from bridge.drawing.camera import Camera, camera_of
from bridge.drawing.framebuffer import Framebuffer
from bridge.drawing.gl_context import DrawingContext
from bridge.drawing.light import towards_light
from bridge.drawing.opengl import gl
from bridge.drawing.painter import FAST, FINE, Painter
from bridge.picture.film import save_animation
from bridge.picture.opengl_display import OnCard
from bridge.picture.scene_view import outline
from bridge.picture.shown import Shown, View
from bridge.viewer import imgui_panel, navigation, overlays
from bridge.viewer.hud import Hud
from bridge.viewer.panel_content import Panel
from bridge.viewer.plain_panel import ROW, PlainPanel
from bridge.viewer.playback import Playback
from bridge.viewer.push import Push
from recursive_dyn.errors import ModelError, StateError

CHOSEN = (0.98, 0.62, 0.08, 1.0)
HAND = (0.95, 0.35, 0.10, 1.0)
MEAN = 20  # frames that their number a second is taken from


class Stand:
    """One window's content; whoever calls ``draw`` and what draws has its context current."""

    def __init__(
        self, context: DrawingContext, view: Callable[[], View], playback: Playback, camera: Camera | None, help: str,
        panel: str | None = None,
    ) -> None:  # fmt: skip
        self._context, self._view, self.playback, self._help = context, view, playback, help
        self._placed = OnCard(context)
        self._painter, self._hud = Painter(context), Hud()
        self._panel = panel_of(panel, playback)
        self._traces = overlays.Traces()
        shown = self._now()
        points = outline(shown.pieces, shown.poses)
        width, height = context.window.get_size()
        camera = camera_of(camera)
        self._first = camera.aimed(self.names, shown.poses).framed(points, width / height)
        self.camera = self._first
        self._sun = towards_light(self._first)  # it stands still while the camera moves
        self._scale = 0.08 * float(np.linalg.norm(points.max(axis=0) - points.min(axis=0)))
        self.shown: set[str] = set()
        self.push: Push | None = None
        self.following = self._aimed_at(camera)
        self._chosen: int | None = None
        self._quality = FINE
        self._times = [time.perf_counter()]

    @property
    def size(self) -> tuple[int, int]:
        """Of the window, in the pixels of the mouse."""
        width, height = self._context.window.get_size()
        return max(1, width), max(1, height)

    @property
    def _pixels(self) -> tuple[int, int]:
        width, height = self._context.window.get_framebuffer_size()
        return max(1, width), max(1, height)

    @property
    def names(self) -> Sequence[str]:
        """Of the scene's bodies."""
        return self.playback.moving.dynamics.bodies

    def _now(self) -> Shown:
        return self._view().shown(self.playback.moving.frames()[0])

    def advance(self, elapsed: float) -> None:
        """Let so much real time pass; a step that fails is told, and pauses."""
        try:
            self.playback.advance(elapsed)
        except StateError as trouble:
            self.playback.paused = True
            self.tell(f"paused: {trouble}")

    def draw(self) -> Framebuffer:
        """A frame, shown by the next flip; what it is in."""
        shown = self._now()
        things, poses = self._placed.at(shown), shown.poses
        if self._chosen is not None and self._chosen >= len(self.names):  # it went in an edit
            self._chosen = self.following = None
        if self.following is not None:
            body, offset = self.following
            self.camera = replace(self.camera, target=tuple((poses[body, :3, 3] + offset).tolist()))
        segments = self._segments(shown)
        self._painter.lines.show(*segments)
        drawn = self._painter.draw(things, shown.grounds, self.camera, self._pixels, self._quality, sun=self._sun)
        result = self._painter.averaged(drawn)
        result.bind()
        gl.glDisable(gl.GL_DEPTH_TEST)
        gl.glBindVertexArray(0)
        self._write(poses)
        result.copy_to(0)
        return result

    def pick(self, x: float, y: float) -> tuple[float, int]:
        """Depth in m of what lies under the pointer, and the number of its body, negative for none."""
        with self._context.current():
            shown = self._now()
            things = self._placed.at(shown)
            (width, height), (own_width, own_height) = self._pixels, self.size
            px = min(max(int(x * width / own_width), 0), width - 1)
            py = min(max(int(y * height / own_height), 0), height - 1)
            depth, body = self._painter.at_pixel(things, shown.grounds, self.camera, (width, height), px, py)
        return depth, body if body < len(self.names) else -1

    def select(self, body: int) -> None:
        """Select a body by its number, or none by a negative one."""
        self._chosen = body if body >= 0 else None

    def select_name(self, body: str | None) -> None:
        """Select a body by its name, or none."""
        if body is not None and body not in self.names:
            raise ModelError(f"no body is named {body!r}; there are {', '.join(self.names[:20])}")
        self._chosen = None if body is None else list(self.names).index(body)

    def follow(self) -> None:
        """Let the camera follow what is selected; if it does already, or nothing is, stand still."""
        if self._chosen is None or self.following is not None:
            self.following = None
            return
        place = self.playback.moving.frames()[0][self._chosen, :3, 3]
        self.following = self._chosen, np.asarray(self.camera.target) - place

    def look(self, camera: Camera | None = None) -> None:
        """Look as a camera does, what it leaves open as at first; as at first without one."""
        first, self.following = self._first, None
        if camera is None:
            self.camera = first
        else:
            self.following = self._aimed_at(camera)
            camera = camera.aimed(self.names, self.playback.moving.frames()[0])
            target = first.target if camera.target is None else camera.target
            distance = first.distance if camera.distance is None else camera.distance
            self.camera = replace(camera, target=target, distance=distance)

    def _aimed_at(self, camera: Camera) -> tuple[int, np.ndarray] | None:
        """The body that a camera's target names, to be followed, and how far from it the camera looks."""
        if not isinstance(camera.target, str) or camera.target not in self.names:
            return None
        return list(self.names).index(camera.target), np.zeros(3)

    def pause(self) -> None:
        """Pause, or go on."""
        self.playback.paused = not self.playback.paused

    def one(self) -> None:
        """A step ahead, paused."""
        self.playback.paused = True
        try:
            self.playback.one()
        except StateError as trouble:
            self.tell(str(trouble))

    def back(self) -> None:
        """A step back, paused."""
        self.playback.paused = True
        self._go(self.playback.back)

    def faster(self, times: float) -> None:
        """Another speed."""
        self.playback.speed *= times

    def reset(self) -> None:
        """To the start."""
        self._go(self.playback.reset)
        self._traces.clear()

    def _go(self, there: Callable[[], None]) -> None:
        try:
            there()
        except StateError as trouble:  # of a scene that has been edited since
            self.tell(str(trouble))

    def change_quality(self) -> None:
        """Fast pictures, or fine ones."""
        self._quality = FINE if self._quality is FAST else FAST

    def tell(self, message: str) -> None:
        """Show a sentence for a while."""
        self._hud.tell(message)

    def save(self, path: str | Path | None = None) -> Path:
        """Write a picture; without a path into the working folder, under a name that is free."""
        if path is None:
            path = next(p for p in (Path(f"viewer_{k:03}.png") for k in range(10**6)) if not p.exists())
        with self._context.current():
            colors = self.draw().colors()
        saved = save_animation(path, [colors])
        self.tell(f"wrote {saved}")
        return saved

    @property
    def panel(self) -> Panel | None:
        """The panel while it is shown."""
        return self._panel if "panel" in self.shown else None

    def _segments(self, seen: Shown) -> overlays.Segments:
        moving, shown, size = self.playback.moving, self.shown, self._scale
        self._traces.note(moving)
        parts = []
        for name, make in (
            ("frames", overlays.frames), ("axes", overlays.joint_axes), ("contacts", overlays.contacts),
            ("balance", overlays.balance),
        ):  # fmt: skip
            if name in shown:
                parts.append(make(moving, size))
        if "traces" in shown:
            parts.append(self._traces.lines(self._chosen))
        if "paths" in shown:
            chosen = range(len(self.names)) if self._chosen is None else [self._chosen]
            parts += [overlays.free_paths(moving, body) for body in list(chosen)[:40]]
        if self._chosen is not None:
            parts.append(self._box(seen, self._chosen))
        if self.push is not None and not self.push.turning:
            parts.append(overlays.Segments.of(np.array([[self.push.held(), self.push.target]]), HAND, 4.0))
        return overlays.Segments.joined(parts)

    def _box(self, seen: Shown, body: int) -> overlays.Segments:
        """Edges of the box around a body, in its frame."""
        own = [replace(piece, frame=-1) for piece in seen.pieces if piece.frame == body]
        if not own:
            return overlays.NONE
        points = outline(own, np.zeros((0, 4, 4)))
        low, high = points.min(axis=0), points.max(axis=0)
        corners = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)])
        edges = [(a, b) for a in range(8) for b in range(a) if np.abs(corners[a] - corners[b]).sum() == 1]
        X = seen.poses[body]
        places = (low + corners * (high - low)) @ X[:3, :3].T + X[:3, 3]
        return overlays.Segments.of(places[np.array(edges)], CHOSEN, 2.0)

    def _write(self, poses: np.ndarray) -> None:
        """Text and panel."""
        self._times = [*self._times[-MEAN:], time.perf_counter()]
        rate = (len(self._times) - 1) / max(1e-6, self._times[-1] - self._times[0])
        playback = self.playback
        speed = "paused" if playback.paused else f"x {playback.speed:g}" + (" (behind)" if playback.behind else "")
        chosen = "" if self._chosen is None else f"   {self.names[self._chosen]}"
        if "names" in self.shown or self._chosen is not None:
            self._hud.draw_names(self._placed_names(poses))
        if self.panel is not None:
            self.panel.draw(self.size, self._pixels, self._times)
        self._hud.draw(
            f"{playback.moving.time:8.3f} s   {speed}   {rate:.0f} frames/s{chosen}   F1: keys",
            ROW * ("panel" in self.shown),
        )
        if "help" in self.shown:
            self._hud.draw_help(self._help, self.size[1])

    def _placed_names(self, poses: np.ndarray) -> Sequence[tuple[str, float, float]]:
        bodies = range(len(self.names)) if "names" in self.shown else [self._chosen or 0]
        places = [(self.names[k], navigation.seen_at(self.camera, poses[k, :3, 3], self.size)) for k in bodies]
        return [(name, *place) for name, place in places if place is not None]


def panel_of(kind: str | None, playback: Playback) -> Panel:
    """The panel of that kind, "imgui" or "plain"; without one the former where its packages are.

    Raises StateError for another one, or where packages are missing.
    """
    if kind not in (None, "imgui", "plain"):
        raise StateError(f"panel is 'imgui' or 'plain', not {kind!r}")
    if kind == "imgui" and not imgui_panel.available():
        raise StateError("the panel 'imgui' needs the packages imgui-bundle and PyOpenGL: pip install '.[panel]'")
    return PlainPanel(playback) if kind == "plain" or not imgui_panel.available() else imgui_panel.ImGuiPanel(playback)
