"""What is drawn with light and shadow, once for windows and pictures: the passes of a frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from bridge.drawing import shaders
from bridge.drawing.buffers import Attribute, Buffer, VertexArray
from bridge.drawing.camera import Camera
from bridge.drawing.framebuffer import DepthTexture, Framebuffer
from bridge.drawing.gl_context import DrawingContext, offscreen
from bridge.drawing.instances import FIRST, PICTURE, Instances
from bridge.drawing.light import SHADOW, shadow_box, towards_light
from bridge.drawing.lines import Lines
from bridge.drawing.opengl import gl
from bridge.drawing.pieces import Ground
from bridge.drawing.shader_program import ShaderProgram
from bridge.meshes.paint import linear

ZENITH, HORIZON = (0.42, 0.62, 0.86), (0.89, 0.935, 0.975)  # the sky's colours, linear
FOG = 5.0  # camera distances in which the ground fades into the sky
RIM = np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0], [1, 0, 0]], dtype=np.float32)


@dataclass(frozen=True)
class Quality:
    """How much a picture costs: samples a pixel, 1 or 4, and shadows."""

    samples: int = 4
    shadows: bool = True


FAST, FINE = Quality(1, False), Quality(4, True)


class Painter:
    """Programs and targets of one context; what is drawn is given with every picture."""

    def __init__(self, context: DrawingContext) -> None:
        self.context = context
        self._programs: dict[Any, ShaderProgram] = {}
        self._targets: dict[str, Framebuffer] = {}
        self._nothing = VertexArray(context)
        self._rim = VertexArray(context)
        self._rim.read(Buffer(context, RIM), 12, (Attribute(0, 3, 0),))
        self.lines = Lines(context)

    @cached_property
    def _shadow(self) -> DepthTexture:
        return DepthTexture(self.context, SHADOW, SHADOW, compare=True)

    def draw(
        self, things: Instances, grounds: Sequence[Ground], camera: Camera, size: tuple[int, int], quality: Quality,
        sun: np.ndarray | None = None,
    ) -> Framebuffer:  # fmt: skip
        """A frame of so many pixels in a framebuffer, samples not yet averaged; sun (3,): where light comes from."""
        origin = np.asarray(camera.target, dtype=float)
        view = _relative(camera, size)
        sun = towards_light(camera) if sun is None else sun
        things.upload(origin)
        gl.glEnable(gl.GL_DEPTH_TEST)
        gl.glDepthFunc(gl.GL_LEQUAL)
        gl.glDisable(gl.GL_BLEND)
        gl.glDisable(gl.GL_SCISSOR_TEST)
        distance = camera.distance or 1.0
        light: dict[str, Any] = {
            "view": view, "eye": camera.eye() - origin, "sun": sun, "zenith": ZENITH, "horizon": HORIZON,
            "fog": FOG * distance,
        }  # fmt: skip
        if quality.shadows:
            light |= self._cast(things, sun, distance, origin)
        target = self._target("colors", size, quality.samples if quality.samples > 1 else 0)
        target.bind()
        gl.glClearColor(1.0, 1.0, 1.0, 1.0)
        gl.glClear(gl.GL_COLOR_BUFFER_BIT | gl.GL_DEPTH_BUFFER_BIT)
        bodies = self._program(shaders.BODY_VERTEX, shaders.BODY, quality.shadows)
        bodies.use(**light, picture=PICTURE)
        things.draw()
        plane = self._program(shaders.PLANE_VERTEX, shaders.PLANE, quality.shadows)
        plane.use(**light)
        for ground in grounds:
            self._draw_ground(plane, ground, camera, origin)
        sky = self._program(shaders.SCREEN_VERTEX, shaders.SKY, False)
        sky.use(**light, unview=np.linalg.inv(view))
        self._nothing.bind()
        gl.glDrawArrays(gl.GL_TRIANGLES, 0, 3)
        if things.clear:
            gl.glEnable(gl.GL_BLEND)
            gl.glBlendFunc(gl.GL_SRC_ALPHA, gl.GL_ONE_MINUS_SRC_ALPHA)
            bodies.use()
            things.draw(clear=True)
        self.lines.draw(view, origin, size)
        return target

    def picture(self, *frame: Any, **options: Any) -> np.ndarray:
        """Red, green, blue (height, width, 3), uint8, of what ``draw`` takes."""
        return self.averaged(self.draw(*frame, **options)).colors()

    def averaged(self, drawn: Framebuffer) -> Framebuffer:
        """The same with one sample a pixel."""
        if not drawn.samples:
            return drawn
        result = self._target("averaged", (drawn.width, drawn.height), 0)
        drawn.copy_to(result.number)
        return result

    def measured(
        self, things: Instances, grounds: Sequence[Ground], camera: Camera, size: tuple[int, int]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Depths (height, width) in m along the view, infinite in the sky, and whose they are (height, width).

        int32: the number of a frame, -1 for what stands in the world, -2 for the sky.
        """
        target = self._draw_numbers(things, grounds, camera, size)
        numbers = target.numbers().astype(np.int32) - FIRST
        return _metres(target.depths(), camera), numbers

    def at_pixel(
        self, things: Instances, grounds: Sequence[Ground], camera: Camera, size: tuple[int, int], x: int, y: int
    ) -> tuple[float, int]:
        """What ``measured`` has x pixels from the left and y from the BOTTOM, without the rest."""
        gl.glEnable(gl.GL_SCISSOR_TEST)
        gl.glScissor(x, y, 1, 1)
        target = self._draw_numbers(things, grounds, camera, size)
        gl.glDisable(gl.GL_SCISSOR_TEST)
        gl.glBindFramebuffer(gl.GL_READ_FRAMEBUFFER, target.number)
        number, depth = np.empty(1, dtype=np.uint32), np.empty(1, dtype=np.float32)
        gl.glReadPixels(x, y, 1, 1, gl.GL_RED_INTEGER, gl.GL_UNSIGNED_INT, number.ctypes.data)
        gl.glReadPixels(x, y, 1, 1, gl.GL_DEPTH_COMPONENT, gl.GL_FLOAT, depth.ctypes.data)
        return float(_metres(depth, camera)[0]), int(number[0]) - FIRST

    def _cast(self, things: Instances, sun: np.ndarray, distance: float, origin: np.ndarray) -> dict[str, Any]:
        """Draw the shadow map; the uniforms by which it is read."""
        box, width = shadow_box(sun, things.rows[:, :3, 3], things.reach, distance, origin)
        self._shadow.bind()
        gl.glClear(gl.GL_DEPTH_BUFFER_BIT)
        gl.glEnable(gl.GL_POLYGON_OFFSET_FILL)
        gl.glPolygonOffset(1.5, 4.0)  # or surfaces would shade themselves
        self._plain(shaders.BODY_VERTEX, shaders.NOTHING).use(view=box)
        things.draw()
        gl.glDisable(gl.GL_POLYGON_OFFSET_FILL)
        gl.glActiveTexture(gl.GL_TEXTURE0)
        gl.glBindTexture(gl.GL_TEXTURE_2D, self._shadow.texture)
        return {"to_light": box, "shadow": 0, "texel": 1.6 / SHADOW, "bias": 1.5 * width / SHADOW}

    def _draw_ground(self, program: ShaderProgram, ground: Ground, camera: Camera, origin: np.ndarray) -> None:
        """Draw a plane with the program in use, about a place under the camera."""
        along, across, up = ground.at[:3, :3].T
        under = np.array([along, across]) @ (camera.eye() - ground.at[:3, 3])
        x, y = np.round(under / (2.0 * ground.tile)) * (2.0 * ground.tile)
        middle = ground.at[:3, 3] + x * along + y * across - origin
        colors = {"light": linear(ground.light), "dark": linear(ground.dark), "tile": ground.tile}
        program.use(along=along, across=across, up=up, middle=middle, **colors)
        self._rim.bind()
        gl.glDrawArrays(gl.GL_TRIANGLE_FAN, 0, len(RIM))

    def _draw_numbers(
        self, things: Instances, grounds: Sequence[Ground], camera: Camera, size: tuple[int, int]
    ) -> Framebuffer:
        origin, view = np.asarray(camera.target, dtype=float), _relative(camera, size)
        things.upload(origin)
        target = self._target("numbers", size, 0)
        target.bind()
        gl.glEnable(gl.GL_DEPTH_TEST)
        gl.glDisable(gl.GL_BLEND)
        gl.glClearBufferuiv(gl.GL_COLOR, 0, (gl.GLuint * 4)(0, 0, 0, 0))
        gl.glClear(gl.GL_DEPTH_BUFFER_BIT)
        self._plain(shaders.BODY_VERTEX, shaders.BODY_NUMBER).use(view=view)
        things.draw()
        things.draw(clear=True)
        plane = self._plain(shaders.PLANE_VERTEX, shaders.PLANE_NUMBER)
        plane.use(view=view)
        for ground in grounds:
            self._draw_ground(plane, ground, camera, origin)
        return target

    def _program(self, vertex: str, fragment: str, shadows: bool) -> ShaderProgram:
        key = (vertex, fragment, shadows)
        if key not in self._programs:
            self._programs[key] = ShaderProgram(vertex, shaders.variant(fragment, shadows))
        return self._programs[key]

    def _plain(self, vertex: str, fragment: str) -> ShaderProgram:
        if (vertex, fragment) not in self._programs:
            self._programs[vertex, fragment] = ShaderProgram(vertex, fragment)
        return self._programs[vertex, fragment]

    def _target(self, name: str, size: tuple[int, int], samples: int) -> Framebuffer:
        """The framebuffer of that name, made anew where its size is another."""
        known = self._targets.get(name)
        if known is None or (known.width, known.height, known.samples) != (*size, samples):
            known = self._targets[name] = Framebuffer(self.context, *size, samples, numbers=name == "numbers")
        return known


def _relative(camera: Camera, size: tuple[int, int]) -> np.ndarray:
    """From places relative to the camera's target to OpenGL's clip space (4, 4)."""
    view = camera.view()
    view[:3, 3] += view[:3, :3] @ np.asarray(camera.target, dtype=float)
    result: np.ndarray = camera.projection(size[0] / size[1]) @ view
    return result


def _metres(depth: np.ndarray, camera: Camera) -> np.ndarray:
    """Distances along the view of what a depth buffer has, infinite where it has nothing."""
    with np.errstate(divide="ignore"):
        result: np.ndarray = np.where(depth < 1.0, camera.nearest / (np.float32(1.0) - depth), np.inf)
    return result


@cache
def offscreen_painter() -> Painter:
    """The process's painter for pictures; draw with it while its context is current."""
    context = offscreen()
    with context.current():
        return Painter(context)
