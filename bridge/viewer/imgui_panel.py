"""The panel in Dear ImGui, by the package imgui-bundle: sliders in groups that fold, numbers to be typed, curves."""

from __future__ import annotations

import os
import weakref
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from bridge.drawing.opengl import pyglet_here
from bridge.viewer.panel_content import PanelContent
from bridge.viewer.plain_panel import CURVES, ROW
from bridge.viewer.playback import Playback
from bridge.viewer.sliders import Slider

WIDTH = 340  # pixels
PLOT = 120  # pixels high
FONT, TEXT = "DroidSans.ttf", 14.0  # pixels
_BUTTON = 0  # the left one


class _Library(NamedTuple):
    path: str
    imgui: Any
    implot: Any
    renderer: Any
    keys: dict[int, Any]  # by pyglet's


def available() -> bool:
    """Whether the packages are there."""
    return find_spec("imgui_bundle") is not None and find_spec("OpenGL") is not None


@cache
def _library() -> _Library:
    said = "PYOPENGL_PLATFORM" in os.environ
    if pyglet_here().options["headless"]:
        os.environ.setdefault("PYOPENGL_PLATFORM", "egl")  # it is asked for when PyOpenGL is imported
    import imgui_bundle
    from imgui_bundle import imgui, implot
    from imgui_bundle.python_backends.opengl_backend_programmable import ProgrammablePipelineRenderer

    if not said:
        os.environ.pop("PYOPENGL_PLATFORM", None)  # programs that this one starts may have windows

    key: ModuleType = pyglet_here().window.key
    names = ("ENTER", "BACKSPACE", "DELETE", "ESCAPE", "TAB", "HOME", "END")
    keys = {getattr(key, name): getattr(imgui.Key, name.lower()) for name in names}
    keys |= {getattr(key, name): getattr(imgui.Key, f"{name.lower()}_arrow") for name in ("LEFT", "RIGHT")}
    return _Library(imgui_bundle.__file__, imgui, implot, ProgrammablePipelineRenderer, keys)


class ImGuiPanel:
    """A Panel, for a window whose OpenGL context is current in all of its methods."""

    def __init__(self, playback: Playback) -> None:
        package, self._imgui, self._implot, renderer, self._keys = _library()
        self._content = PanelContent(playback)
        self._context = self._imgui.create_context()
        self._plots = self._implot.create_context()
        self._chosen()
        self._io = self._imgui.get_io()
        self._io.set_ini_filename("")  # nothing is written into the working folder
        self._imgui.style_colors_light()
        font = Path(package).parent / "assets" / "fonts" / FONT
        if font.exists():  # else its own, of few pixels
            self._io.fonts.add_font_from_file_ttf(str(font), TEXT)
        self._renderer = renderer()
        weakref.finalize(self, _destroy, self._context, self._plots).atexit = False
        self._size = (1, 1)
        self.places: dict[str, tuple[float, float, float, float]] = {}
        """Left, lower, right and upper edge of each slider that was drawn last, by its caption."""

    def _chosen(self) -> None:
        self._imgui.set_current_context(self._context)
        self._implot.set_current_context(self._plots)

    def press(self, x: float, y: float, size: tuple[int, int]) -> bool:
        """The left button goes down; whether the panel is there."""
        self._size = size
        self.move(x, y)
        self._io.add_mouse_button_event(_BUTTON, True)
        if not self._is_over(x, y):  # whatever was being typed ends
            self.release()
            return False
        return True

    def drag(self, x: float, y: float) -> None:
        """The mouse moves what is held."""
        self.move(x, y)

    def move(self, x: float, y: float) -> None:
        """The pointer is elsewhere."""
        self._io.add_mouse_pos_event(x, self._size[1] - y)

    def release(self) -> None:
        """The button goes up."""
        self._io.add_mouse_button_event(_BUTTON, False)

    def scroll(self, x: float, y: float, notches: float, size: tuple[int, int]) -> bool:
        """Show other sliders; whether the pointer is over them."""
        self._size = size
        if self._is_over(x, y):
            self.move(x, y)
            self._io.add_mouse_wheel_event(0.0, notches)
        return self._is_over(x, y)

    def key(self, symbol: int, modifiers: int, down: bool = True) -> bool:
        """A key goes down, or up; whether the panel takes it: where a number is being typed."""
        key = pyglet_here().window.key
        control = symbol in (key.LCTRL, key.RCTRL)
        self._io.add_key_event(self._imgui.Key.mod_ctrl, down if control else bool(modifiers & key.MOD_CTRL))
        if symbol in self._keys:
            self._io.add_key_event(self._keys[symbol], down)
        return bool(self._io.want_text_input)

    def text(self, text: str) -> None:
        """Somebody types a number."""
        if self._io.want_text_input:
            self._io.add_input_characters_utf8(text)

    def draw(self, size: tuple[int, int], pixels: tuple[int, int], times: Sequence[float]) -> None:
        """Sliders, plots of the last frames, and the timeline."""
        imgui, (width, height), content = self._imgui, size, self._content
        self._size = size
        content.look()
        content.note(times, content.sliders[:CURVES])
        self._chosen()
        self._io.display_size = imgui.ImVec2(width, height)
        self._io.display_framebuffer_scale = imgui.ImVec2(pixels[0] / width, pixels[1] / height)
        self._io.delta_time = max(1e-4, times[-1] - times[-2]) if len(times) > 1 else 1 / 60
        imgui.new_frame()
        self.places = {}
        if self._begun("values", (width - WIDTH, 0), (WIDTH, height - ROW)):
            self._curves()
            for group in dict.fromkeys(slider.group for slider in content.sliders):
                if imgui.collapsing_header(group, imgui.TreeNodeFlags_.default_open):
                    for slider in content.sliders:
                        if slider.group == group:
                            self._slider(slider)
        imgui.end()
        if self._begun("time", (0, height - ROW), (width, ROW)):
            imgui.set_next_item_width(-1)
            self._slider(content.timeline, "##time", " ")
        imgui.end()
        imgui.render()
        self._renderer.render(imgui.get_draw_data())

    def _begun(self, name: str, place: tuple[float, float], size: tuple[float, float]) -> bool:
        imgui = self._imgui
        imgui.set_next_window_pos(imgui.ImVec2(*place))
        imgui.set_next_window_size(imgui.ImVec2(*size))
        imgui.set_next_window_bg_alpha(0.88)
        flags = imgui.WindowFlags_
        fixed = flags.no_title_bar | flags.no_resize | flags.no_collapse | flags.no_move | flags.no_nav
        scrollbar = 0 if size[1] > ROW else flags.no_scrollbar
        return bool(imgui.begin(name, None, fixed | scrollbar)[0])

    def _slider(self, slider: Slider, label: str | None = None, form: str = "%.4g") -> None:
        imgui = self._imgui
        if label is None:
            imgui.text_disabled(slider.caption)
            imgui.set_next_item_width(-1)
        shown = f"##{slider.caption}" if label is None else label
        changed, value = imgui.slider_float(shown, slider.read(), slider.low, slider.high, form)
        low, high = imgui.get_item_rect_min(), imgui.get_item_rect_max()
        self.places[slider.caption] = low.x, self._size[1] - high.y, high.x, self._size[1] - low.y
        if changed and np.isfinite(value):
            slider.write(min(max(value, slider.low), slider.high))

    def _curves(self) -> None:
        curves, implot = self._content.curves, self._implot
        flags, axis = implot.Flags_, implot.AxisFlags_
        for title, shown in (
            ("energy, J", curves.energy), ("coordinates", curves.coordinates), ("frame, ms", {"frame": curves.frames}),
        ):  # fmt: skip
            known = {name: np.array(values) for name, values in shown.items() if len(values) > 1}
            if not implot.begin_plot(
                title,
                self._imgui.ImVec2(-1, PLOT),
                flags.no_inputs | flags.no_menus | flags.no_mouse_text | (flags.no_legend if len(known) < 2 else 0),
            ):
                continue
            bare = axis.auto_fit | axis.no_tick_labels | axis.no_tick_marks | axis.no_grid_lines | axis.no_label
            implot.setup_axes("", "", bare, axis.auto_fit | axis.no_label)
            implot.push_style_color(implot.Col_.legend_bg, self._imgui.ImVec4(1.0, 1.0, 1.0, 0.6))
            implot.setup_legend(implot.Location_.north_west, implot.LegendFlags_.no_buttons)
            for name, values in known.items():
                implot.plot_line(name, values)
            implot.end_plot()
            implot.pop_style_color()

    def _is_over(self, x: float, y: float) -> bool:
        return x >= self._size[0] - WIDTH or y < ROW


def _destroy(context: Any, plots: Any) -> None:
    """What lies on the graphics card goes with the window."""
    library = _library()
    library.implot.destroy_context(plots)
    library.imgui.destroy_context(context)
