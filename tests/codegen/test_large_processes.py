"""Machine code is loaded wherever there is room, in processes whose free memory is in small pieces far apart."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAM = """
import ctypes
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]

import numpy as np
import recursive_dyn as rd
from scene import Body, Scene, joints

PIECE, PRIVATE, LAZY = 16384, 0x22, 0x4000
pieces = [libc.mmap(None, PIECE, 0 if i % 2 else 3, PRIVATE, -1, 0) for i in range(4000)]
libc.mmap(None, 6 << 30, 0, PRIVATE | LAZY, -1, 0)  # addresses only: no memory
for piece in pieces[::2]:
    libc.munmap(piece, PIECE)

scene = Scene()
node = scene.world.attach(Body("b0", mass=1.0, inertia=np.eye(3)), joints.free())
for i in range(9):
    node = node.attach(Body(f"b{i + 1}", mass=1.0, inertia=np.eye(3)), joints.ball())
simulation = rd.Simulation(scene.compile())
simulation.step(10)
assert simulation.q[2] < -0.008, simulation.q
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks the kernel for memory as Linux does")
def test_code_is_loaded_between_small_pieces_of_memory():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, env=os.environ | {"RECURSIVE_DYN_EFFORT": "0"}, capture_output=True,
        text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
