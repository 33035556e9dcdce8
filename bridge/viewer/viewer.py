"""A window on a running simulation."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from bridge.display import check_display
from bridge.drawing.camera import Camera
from bridge.drawing.gl_context import DrawingContext
from bridge.picture.scene_view import SceneView
from bridge.picture.shown import View
from bridge.viewer.controls import HELP, Controls
from bridge.viewer.history import Playable
from bridge.viewer.playback import Playback
from bridge.viewer.replaying import replaying
from bridge.viewer.stand import Stand
from recursive_dyn.errors import StateError
from recursive_dyn.simulation.moving import Posed
from recursive_dyn.simulation.recording import Recording
from scene import Scene


class Viewer:
    """A window that shows a scene while its simulation runs in real time; F1 shows the keys.

    simulation: a Simulation, a motion on a manifold, or a Recording of the scene, which is played instead. step: what
    takes one timestep of it; its own if None. camera, ground: as in Pictures. size: of the window, in pixels. view:
    gives what is to be seen instead of scene and ground. ``mirror.viewer()`` is one that shows and steps all that a
    mirror has, Bullet's own bodies included. There may be several at once; ``frame`` shows one frame of one, for loops
    of your own, ``run`` shows all until they are closed. panel: what Tab shows, "imgui" (the packages imgui-bundle and
    PyOpenGL) or "plain"; the first that is there if None. hidden: no window is seen, for pictures and tests, which
    needs no display.

    Raises StateError where there is no display, which says what draws without one, or no OpenGL 3.3.
    """

    def __init__(
        self,
        scene: Scene,
        simulation: Playable | Recording,
        step: Callable[[], object] | None = None,
        camera: Camera | None = None,
        ground: bool | float = True,
        title: str = "recursive-dyn",
        size: tuple[int, int] = (1024, 768),
        hidden: bool = False,
        view: Callable[[], View] | None = None,
        panel: str | None = None,
    ) -> None:
        if not hidden:
            check_display("bridge.Pictures(scene, simulation) draws without one")
        if not isinstance(simulation, Playable | Recording):
            raise StateError(
                f"a viewer shows a Simulation, a motion on a manifold or a Recording, not {type(simulation).__name__}"
            )
        self._context = DrawingContext(*size, caption=title, resizable=True, visible=not hidden, vsync=False)
        with self._context.current():
            playback = replaying(scene, simulation) if isinstance(simulation, Recording) else Playback(simulation, step)
            seen = _view_of(scene, playback.moving, ground) if view is None else view
            self._stand = Stand(self._context, seen, playback, camera, HELP, panel)
        self._controls = Controls(self._stand)  # pyglet holds handlers weakly
        self._context.window.push_handlers(self._controls)
        self._context.window.push_handlers(on_close=self._on_close)
        self._last: float | None = None

    @property
    def playback(self) -> Playback:
        """Pause, speed, steps ahead and back."""
        return self._stand.playback

    @property
    def camera(self) -> Camera:
        """Where it is seen from; assign another."""
        return self._stand.camera

    @camera.setter
    def camera(self, camera: Camera) -> None:
        self._stand.look(camera)

    @property
    def shown(self) -> set[str]:
        """What is drawn over the picture: "frames", "axes", "paths", "contacts", "balance", "traces", "names", "panel",
        "help"; a set to add to and take from."""
        return self._stand.shown

    def select(self, body: str | None) -> None:
        """Select a body by its name, as a double click does, or none. ModelError for a name that is not there."""
        self._stand.select_name(body)

    def follow(self) -> None:
        """Let the camera follow what is selected, as C does; called again, it stands still."""
        self._stand.follow()

    @property
    def closed(self) -> bool:
        """Whether the window is closed."""
        return self._context.closed

    def frame(self) -> bool:
        """Answer keys and mouse, run for the time since the last frame, and draw; False once the window is closed."""
        return self._context.show(self._next)

    def _next(self) -> None:
        """Another frame, for the time since the last one."""
        now = time.perf_counter()
        elapsed, self._last = (0.0 if self._last is None else now - self._last), now
        self._stand.advance(elapsed)
        self._stand.draw()

    def picture(self) -> np.ndarray:
        """What the window shows now, text and panel included: red, green, blue, (height, width, 3), uint8."""
        with self._context.current():
            return self._stand.draw().colors()

    def save(self, path: str | Path) -> Path:
        """Write that as a PNG; returns the path."""
        return self._stand.save(path)

    def run(self, seconds: float | None = None) -> None:
        """Show frames until the window is closed, or for so many seconds."""
        run([self], seconds)

    def close(self) -> None:
        """Close the window; harmless when repeated."""
        self._context.close()

    def _on_close(self) -> bool:
        """Somebody closes the window: what lives in it goes, too."""
        self.close()
        return True

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _view_of(scene: Scene, moving: Posed, ground: bool | float) -> Callable[[], View]:
    """What is seen of the scene, made anew after edits."""
    view, dynamics = SceneView(scene, moving, ground), moving.dynamics

    def now() -> View:
        nonlocal view, dynamics
        if moving.dynamics is not dynamics:
            view, dynamics = SceneView(scene, moving, ground), moving.dynamics
        return view

    return now


RATE = 1 / 60  # s a frame at least: more would show nothing


def run(viewers: list[Viewer], seconds: float | None = None) -> None:
    """Show frames of all viewers, until every window is closed or so many seconds after the first frame are over."""
    end = math.inf
    while True:
        start = time.perf_counter()
        frames = [viewer.frame() for viewer in viewers] if start < end else []
        if not any(frames):
            return
        if seconds is not None and end == math.inf:
            end = time.perf_counter() + seconds
        time.sleep(max(0.0, RATE - (time.perf_counter() - start)))
