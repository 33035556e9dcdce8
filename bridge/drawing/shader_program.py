"""Shader programs: compiled, linked, and given their uniforms."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from bridge.drawing.opengl import gl
from recursive_dyn.errors import StateError


class ShaderProgram:
    """A vertex and a fragment shader; uniforms are set by name, and names that a variant does not use are passed over.

    pyglet's own class knows no shadow samplers. Raises StateError with the driver's words.
    """

    def __init__(self, vertex: str, fragment: str) -> None:
        self.number = gl.glCreateProgram()
        shaders = [_compiled(vertex, gl.GL_VERTEX_SHADER), _compiled(fragment, gl.GL_FRAGMENT_SHADER)]
        for shader in shaders:
            gl.glAttachShader(self.number, shader)
        gl.glLinkProgram(self.number)
        _check(self.number, gl.glGetProgramiv, gl.GL_LINK_STATUS, gl.glGetProgramInfoLog)
        for shader in shaders:
            gl.glDeleteShader(shader)
        self._places: dict[str, int] = {}

    def use(self, **uniforms: Any) -> None:
        """Draw with it from now on. Numbers and vectors are floats, matrices (4, 4), an int is a texture's unit."""
        gl.glUseProgram(self.number)
        for name, value in uniforms.items():
            self.set(name, value)

    def set(self, name: str, value: Any) -> None:
        """One uniform of the program in use."""
        place = self._places.get(name)
        if place is None:
            place = self._places[name] = gl.glGetUniformLocation(self.number, name.encode())
        if place < 0:
            return
        if isinstance(value, int):
            gl.glUniform1i(place, value)
            return
        numbers = np.asarray(value, dtype=np.float32)
        if numbers.ndim == 2:
            columns = np.ascontiguousarray(numbers.T)
            gl.glUniformMatrix4fv(place, 1, 0, columns.ctypes.data_as(ctypes.POINTER(ctypes.c_float)))
        else:
            flat = numbers.reshape(-1).tolist()
            (gl.glUniform1f, gl.glUniform2f, gl.glUniform3f, gl.glUniform4f)[len(flat) - 1](place, *flat)


def _compiled(source: str, kind: int) -> int:
    shader: int = gl.glCreateShader(kind)
    text = ctypes.c_char_p(source.encode())
    gl.glShaderSource(shader, 1, ctypes.cast(ctypes.pointer(text), ctypes.POINTER(ctypes.POINTER(ctypes.c_char))), None)
    gl.glCompileShader(shader)
    _check(shader, gl.glGetShaderiv, gl.GL_COMPILE_STATUS, gl.glGetShaderInfoLog)
    return shader


def _check(number: int, ask: Any, what: int, log: Any) -> None:
    good = ctypes.c_int()
    ask(number, what, ctypes.byref(good))
    if not good.value:
        words = ctypes.create_string_buffer(4096)
        log(number, len(words), None, words)
        raise StateError(f"the graphics driver refuses a shader: {words.value.decode(errors='replace').strip()}")
