"""Programs in C on exported models: the example, its CMake files, several models in one program, WebAssembly."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import recursive_dyn as rd
from demos.torus_chain import DAMPING, at_rest, chain
from scene import Body, Scene, joints

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "c"
COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
STRICT = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror"]
FRAMES, SUBSTEPS = 300, 16  # as torus_chain.c has them
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C compiler (cc, gcc or clang) on this machine")


def run(*command) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Path:
    """The folder that export_model.py writes."""
    folder = tmp_path_factory.mktemp("c") / "model"
    environment = os.environ | {"PYTHONPATH": str(EXAMPLE.parents[1])}
    subprocess.run([sys.executable, EXAMPLE / "export_model.py", folder], check=True, env=environment)
    return folder


def sources(model: Path) -> list[Path]:
    """The example and what it calls."""
    called = ("", "_step", "_poses", "_kinetic_energy", "_potential_energy")
    return [EXAMPLE / "torus_chain.c", *(model / f"chain{name}.c" for name in called)]


def end(printed: str) -> np.ndarray:
    return np.array([float(line) for line in printed.splitlines()[-38:]])


@pytest.fixture(scope="module")
def expected() -> np.ndarray:
    """q after the same steps in Python."""
    dynamics = chain(10, DAMPING).compile()
    simulation = rd.Simulation(dynamics, timestep=1 / (60 * SUBSTEPS), integrator="semi_implicit_euler")
    q = at_rest(10)
    q[0] = 0.8
    simulation.q = q
    simulation.v[1] = 0.3
    simulation.step((FRAMES + 1) * SUBSTEPS)
    return simulation.q


@needs_compiler
def test_the_example_ends_where_python_does(model, expected, tmp_path):
    """After 4816 steps, which differ by rounding: 1e-12 at first, and what swings multiplies it."""
    program = tmp_path / "torus_chain"
    run(COMPILER, *STRICT, "-O1", "-I", model, *sources(model), "-o", program, "-lm")
    printed = run(program)
    np.testing.assert_allclose(end(printed), expected, rtol=0, atol=1e-10)
    energies = [float(line.split()[-1]) for line in printed.splitlines()[1:-38]]
    assert energies[-1] < energies[0], "dampers take energy"
    assert len((EXAMPLE / "torus_chain.c").read_text().splitlines()) <= 60


@needs_compiler
@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cmake") is None, reason="no CMake on this machine")
def test_cmake_builds_the_whole_library_and_the_example(model, expected, tmp_path):
    flags = "-Wall -Wextra -Werror -pedantic"
    run("cmake", "-S", EXAMPLE, "-B", tmp_path, f"-DMODEL={model}", f"-DCMAKE_C_FLAGS={flags}")
    run("cmake", "--build", tmp_path, "-j2")
    np.testing.assert_allclose(end(run(tmp_path / "torus_chain")), expected, rtol=0, atol=1e-10)


_RUN = """
import { readFile } from 'node:fs/promises';
import { WASI } from 'node:wasi';
const wasi = new WASI({ version: 'preview1' });
const module = await WebAssembly.compile(await readFile(process.argv[2]));
wasi.start(await WebAssembly.instantiate(module, wasi.getImportObject()));
"""


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="no compiler for WebAssembly: pip has ziglang")
@pytest.mark.skipif(shutil.which("node") is None, reason="nothing runs WebAssembly here: no node")
def test_the_same_files_run_as_webassembly(model, expected, tmp_path):
    program, start = tmp_path / "chain.wasm", tmp_path / "run.mjs"
    start.write_text(_RUN)
    zig = (sys.executable, "-m", "ziglang", "cc", "-target", "wasm32-wasi")
    run(*zig, *STRICT, "-O1", "-I", model, *sources(model), "-o", program)
    np.testing.assert_allclose(end(run("node", "--no-warnings", start, program)), expected, rtol=0, atol=1e-10)


def pendulum(length: float) -> Scene:
    scene = Scene()
    scene.parameter("mass", 2.0)
    scene.world.attach(
        Body("bob", mass=1.0, center_of_mass=(0, 0, -length), inertia=np.eye(3) * 0.01),
        joints.revolute("y", limits=(0.5, 1.0)),
    )
    return scene


@needs_compiler
def test_two_models_live_in_one_program(tmp_path):
    """Each has names of its own, constants and places in its arrays among them."""
    for name, length in (("short", 1.0), ("long_one", 2.0)):
        pendulum(length).compile().export_c(tmp_path / name, name=name)
    (tmp_path / "use.c").write_text("""
#include <stdio.h>
#include "short.h"
#include "long_one.h"
int main(void) {
    double in[SHORT_INVERSE_DYNAMICS_IN] = {0}, a, b;
    in[SHORT_INVERSE_DYNAMICS_IN_Q] = SHORT_NEUTRAL[0];
    in[SHORT_INVERSE_DYNAMICS_IN_PARAMETERS] = LONG_ONE_PARAMETERS[0];
    short_inverse_dynamics(in, &a);
    long_one_inverse_dynamics(in, &b);
    printf("%.17g %.17g %.17g", SHORT_NEUTRAL[0], b / a, SHORT_PARAMETERS[0]);
    return 0;
}
""")
    files = [tmp_path / n / f"{n}{end}.c" for n in ("short", "long_one") for end in ("", "_inverse_dynamics")]
    folders = [f"-I{tmp_path / n}" for n in ("short", "long_one")]
    run(COMPILER, *STRICT, *folders, tmp_path / "use.c", *files, "-o", tmp_path / "use", "-lm")
    np.testing.assert_allclose([float(x) for x in run(tmp_path / "use").split()], [0.5, 2.0, 2.0], rtol=1e-15)


@pytest.mark.parametrize("name", ["", "2nd", "a b", "naïve", "x;", 3])
def test_a_name_that_c_would_not_take_is_refused(name, tmp_path):
    with pytest.raises(rd.ModelError, match="cannot begin names in C: give letters"):
        pendulum(1.0).compile().export_c(tmp_path, name=name)
    with pytest.raises(rd.ModelError, match=r"math\.h is a header of C's own"):
        pendulum(1.0).compile().export_c(tmp_path, name="math")
    assert not list(tmp_path.iterdir())
