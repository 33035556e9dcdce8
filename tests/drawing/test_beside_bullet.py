"""Bullet's pictures and ours in one process, in any order, with a display or without: each as it is alone."""

import os
import subprocess
import sys

import pytest
from on_a_display import ON_A_DISPLAY, needs_display

from bridge.drawing.gl_context import usable
from bridge.picture import egl

CODE = """
import sys
import numpy as np, recursive_dyn as rd
from bridge import Camera, PyBulletMirror
from scene import Body, Scene, joints, shapes
scene = Scene()
scene.world.attach(Body("b", [shapes.Sphere(0.3)]), joints.free(), at=rd.pose(xyz=(0, 0, 1)))
simulation = rd.Simulation(scene.compile())
camera, order = Camera(5.0, target=(0, 0, 0.5)), sys.argv[1].split()
mirrors = {kind: PyBulletMirror(scene, simulation, gui=False, renderer=kind, contact=False) for kind in set(order)}
seen = {}
for kind in order:
    picture = mirrors[kind].image(160, 120, camera)
    assert (seen.setdefault(kind, picture) == picture).all(), kind
    assert np.ptp(picture.astype(int)) > 60
print("same")
"""


@pytest.mark.skipif(not (usable() and egl.usable()), reason="OpenGL 3.3 or Bullet's EGL renderer does not work here")
@pytest.mark.parametrize("order", ["opengl egl opengl egl", "egl opengl egl opengl tiny egl"])
@pytest.mark.parametrize("display", [False, pytest.param(True, marks=needs_display)])
def test_bullet_and_opengl_take_turns(order, display):
    command = [sys.executable, "-c", CODE, order]
    environment = {name: value for name, value in os.environ.items() if name != "DISPLAY"}
    if display:
        command = [*ON_A_DISPLAY, *command]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, env=environment)
    assert done.returncode == 0 and done.stdout.split()[-1] == "same", done.stdout + done.stderr
