"""A scene inside a game: the game has the loop, this has the steps."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from bridge.plugin.between_steps import BetweenSteps
from bridge.plugin.checked_settings import CheckedSettings, check_callback, check_settings, checked_speed
from bridge.plugin.frame_clock import FrameClock
from bridge.plugin.game_events import EventLog, GameEvent
from bridge.plugin.game_world import GameWorld, world_of
from recursive_dyn.codegen.making.building import occupied
from recursive_dyn.errors import StateError
from recursive_dyn.simulation.loads.breaking import follow_breaks, prepare_breaks
from recursive_dyn.simulation.simulation import Simulation
from recursive_dyn.simulation.state import whole
from recursive_dyn.simulation.stepping.preparation import Preparation
from scene import Scene

if TYPE_CHECKING:
    from bridge.collision.queries import Queries

StepCallback = Callable[["Plugin"], object]


class Plugin(CheckedSettings):
    """A scene that a game steps, once a frame, and shows: ``on_frame(dt)``, ``poses()``, ``events``.

    timestep in s; integrator as of a Simulation. most_steps: a frame takes at most; the time of others is left out and
    counted, ``dropped``. hit_speed: of approach, m/s, from which on a touch is told as a hit too. collisions:
    "closed form" for planes, spheres, boxes and capsules, in machine code of our own, without PyBullet; "bullet" for
    whatever there is; None takes the first where it can. The attribute ``collisions`` says which it is.

    prompt: edits and breaking joints take effect at once, though a frame may have to wait for what is to be compiled;
    False: once it is compiled in the background, and no frame waits. What joints with a strength break into is always
    prepared there.

    method, settings: as of ``Scene.compile``; "velocity_constraints" where every body moves by itself.

    simulation: its q, v, motors and forces are the game's to use. before_step, after_step: lists of functions of the
    plugin, called around each step. What they do to the scene acts once ``update()`` is called, which waits for the
    step to be over. Functions given to ``call``, from any thread, run before the next step.

    Raises ModelError for what cannot be compiled or does not collide as asked for.
    """

    def __init__(
        self,
        scene: Scene,
        timestep: float = 1 / 240,
        integrator: str | None = None,
        most_steps: int = 16,
        hit_speed: float = 1.0,
        collisions: str | None = None,
        prompt: bool = True,
        method: str = "auto",
        **settings: Any,
    ) -> None:
        if not isinstance(scene, Scene):
            raise StateError(f"a plugin runs a scene, not {type(scene).__name__}")
        self.clock = FrameClock(timestep, most_steps)
        speed = checked_speed(hit_speed)
        check_settings(method, settings, Plugin.__init__.__annotations__.keys() - {"settings", "return"})
        self.scene = scene
        self.simulation = Simulation(scene.compile(method, **settings), timestep, integrator)
        self._world: GameWorld = world_of(scene, self.simulation, collisions)
        self.simulation.warm_up(driven=True)  # a frame that first pushes something waits for nothing
        self.before_step: list[StepCallback] = []
        self.after_step: list[StepCallback] = []
        self.events: tuple[GameEvent, ...] = ()
        self._log = EventLog(speed)
        self._between = BetweenSteps(self.simulation.present.poses)
        self._calls: deque[Callable[[], object]] = deque()
        follow_breaks(self.simulation, self._joint_broke)
        self._running, self._stepping, self._edited, self._closed = Lock(), False, False, False
        self.prompt = bool(prompt)
        self._coming: Preparation | None = None
        prepare_breaks(self.simulation)

    @property
    def collisions(self) -> str:
        """What finds contacts: "closed form" or "bullet"."""
        return self._world.collisions

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies in the order of their poses."""
        return tuple(self.simulation.dynamics.bodies)

    @property
    def queries(self) -> Queries:
        """Rays, boxes and distances at the present state, after the last step: those of the mirror, where collisions
        are "bullet". StateError for "closed form", which has none, and once it is closed."""
        self._check_open()
        return self._world.queries

    @property
    def dropped(self) -> float:
        """Simulated time left out so far, s, as frames took longer than ``most_steps`` make up for."""
        return self.clock.dropped

    @property
    def fraction(self) -> float:
        """How far now is from the last step to the next one, 0 to 1; ``poses`` are that much behind a step."""
        return self.clock.fraction

    @property
    def paused(self) -> bool:
        """Whether frames take no steps; ``step`` does."""
        return self.clock.paused

    @paused.setter
    def paused(self, value: bool) -> None:
        self.clock.paused = bool(value)

    @property
    def time_scale(self) -> float:
        """Simulated seconds a second; fixed timesteps stay as long as they are."""
        return self.clock.time_scale

    @time_scale.setter
    def time_scale(self, value: float) -> None:
        self.clock.time_scale = value

    def on_frame(self, dt: float) -> int:
        """Take the steps that a frame of dt seconds brings; their number. ``events`` are what happened in them.

        Raises StateError for a time that is negative or not finite, or from within a step; what callbacks and commands
        raise comes through, between steps.
        """
        with self._alone():
            count = self.clock.due(dt)
            self._take(count)
            return count

    def step(self, count: int = 1) -> None:
        """Take so many steps now, paused or not, whatever the clock says; ``poses`` are those at their end."""
        with self._alone():
            self.clock.restart()
            self._take(whole(count))
            self._between.start(self.simulation.present.poses)

    def poses(self, out: np.ndarray | None = None) -> np.ndarray:
        """Poses X_WB (nb, 4, 4) of all bodies now, between two steps: one contiguous array of float64.

        The same array in every frame, until bodies come or go; who keeps one copies it. Rotations move along the
        shortest arc. out: an array of that shape and any kind of float to be written to, such as mapped memory of a
        graphics card; StateError for anything else.
        """
        shown = self._between.at(self.fraction, self.simulation.present.poses)
        if out is None:
            return shown
        if not isinstance(out, np.ndarray) or out.dtype.kind != "f" or not out.flags.writeable:
            given = f"one of {out.dtype}" if isinstance(out, np.ndarray) else type(out).__name__
            raise StateError(f"poses are written to an array of floats that is not read-only, not to {given}")
        if out.shape != shown.shape:
            raise StateError(f"poses are {shown.shape}, of {len(shown)} bodies, not {out.shape}")
        out[:] = shown
        return out

    def call(self, function: Callable[..., object], *arguments: Any) -> None:
        """Have a function run before the next step, in the thread that takes it; from any thread, in order."""
        if not callable(function):
            raise StateError(f"call takes a function and its arguments, not {function!r}")
        self._calls.append(lambda: function(*arguments))

    def tell(self, event: GameEvent) -> None:
        """Add an event of the game's own to those of this frame, such as of a joint that a callback took apart.

        Between frames it is one of the next frame's.
        """
        if not isinstance(event, GameEvent):
            raise StateError(f"tell takes a GameEvent, not {event!r}")
        self._log.told.append(event)

    def snapshot(self) -> bytes:
        """All that the next step starts from as few bytes, as of ``Simulation.snapshot_bytes``; the clock runs on."""
        return self.simulation.snapshot_bytes()

    def restore(self, snapshot: bytes | bytearray | memoryview) -> None:
        """Return to a snapshot of this scene, to step on from there: to the last bit as the first time.

        Raises StateError for what is no snapshot, is of another version or scene, or damaged, and changes nothing.
        """
        with self._alone():
            self.simulation.restore(snapshot)
            self._log.forget_limits(self.simulation)
            self._between.start(self.simulation.present.poses)

    @property
    def updating(self) -> bool:
        """Whether edits wait for what is compiled in the background."""
        return self._edited

    def update(self, wait: bool | None = None) -> None:
        """Follow edits of the scene: bodies and scenery that came or went, as ``PyBulletMirror.update`` does.

        Within a step it waits until the step is over, so that callbacks may add and remove. Who touched what went gets
        its end in the next step. wait: for what is to be compiled; False: the old scene runs on, ``updating``, until
        that has been done in the background; None: as ``prompt`` has it. What cannot be compiled then raises its
        ModelError from the step that would have followed.
        """
        self._check_open()
        self._edited, self._coming = True, None
        self.simulation.preparing.forget_waiting()
        if not (self.prompt if wait is None else wait):
            now = self.simulation.dynamics
            self._coming = self.simulation.prepare(lambda: self.scene.compile(now.method, **now.settings))
        if not self._stepping:
            self._follow()

    def close(self) -> None:
        """Give up what collisions take, and step no more; harmless when repeated. StateError from within a step."""
        if not self._closed:
            with self._alone():
                self._closed = True
                self._world.close()

    def __enter__(self) -> Plugin:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One call at a time, from one thread, and none from within a step."""
        if not self._running.acquire(blocking=False):
            raise StateError("this plugin is within a step: use call() for what is to be done before the next one")
        try:
            self._check_open()
            yield
        finally:
            self._running.release()

    def _check_open(self) -> None:
        if self._closed:
            raise StateError("this Plugin is closed; create a new Plugin")

    def _take(self, count: int) -> None:
        try:
            for _ in range(count):
                self._one()
        finally:
            self.events = self._log.finish(self.simulation.time)

    def _one(self) -> None:
        """A step, with all that belongs to it; edits wait for what is running to be over."""
        self._stepping = True
        try:
            for _ in range(len(self._calls)):
                self._calls.popleft()()
            self._act(self.before_step)
            self._follow()
            self._between.start(self.simulation.present.poses)
            self._log.ahead(self.simulation)
            self._world.step()
            self._log.note(self.simulation)
            self._act(self.after_step)
        finally:
            self._stepping = False
            self._follow()

    def _joint_broke(self) -> None:
        """The scene has a joint less: followed when the step is over and told of."""
        self.update()

    def _act(self, callbacks: list[StepCallback]) -> None:
        for act in tuple(callbacks):
            check_callback(act)
            act(self)

    def _follow(self) -> None:
        """Follow edits, if there are any, that are to be waited for or need not be."""
        if self._edited and (self._coming is None or (self._coming.done and not occupied())):
            self._edited, before = False, self.simulation.dynamics.bodies
            coming, self._coming = self._coming, None
            if coming is not None:
                coming.result()
            self._world.update()
            prepare_breaks(self.simulation)
            self._between.renumber(before, self.simulation.dynamics.bodies, self.simulation.present.poses)
