"""The cache of compiled code: damage, interruption, races and missing folders cost time and never a result."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import recursive_dyn as rd
from recursive_dyn.codegen.kernel import Kernel, SingleCall
from recursive_dyn.codegen.making import cache, jit
from recursive_dyn.graph.expression import Graph
from recursive_dyn.graph.program import schedule
from recursive_dyn.simulation.flying.flight import Flight
from scene import Body, Scene, joints

ROOT = Path(__file__).resolve().parents[2]
Q, V, TAU = np.array([0.3, -0.7]), np.array([0.5, 1.1]), np.array([0.2, -0.4])


def dynamics() -> rd.Dynamics:
    """Two hinges; a new object each time, so that machine code can come from the cache only."""
    scene = Scene()
    node = scene.world
    for i in range(2):
        body = Body(f"b{i}", mass=1.0 + i, center_of_mass=(0.1, 0.0, -0.3), inertia=np.diag([0.1, 0.11, 0.02]))
        node = node.attach(body, joints.revolute("xy"[i]), at=rd.pose(xyz=(0, 0, -0.5)))
    return scene.compile()


def result() -> np.ndarray:
    return dynamics().forward_dynamics(Q, V, TAU)


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("RECURSIVE_DYN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("RECURSIVE_DYN_EFFORT", "0")  # programs are compiled at once, and here
    return tmp_path / "cache"


@pytest.fixture
def expected(monkeypatch) -> np.ndarray:
    """The result of code that was compiled without any cache."""
    with monkeypatch.context() as patch:
        patch.setenv("RECURSIVE_DYN_CACHE", "off")
        return result()


@pytest.fixture
def compilations(monkeypatch) -> list[int]:
    """Grows by one number of modules at every compilation."""
    counts, compile_modules = [], jit.compile_modules

    def counting(modules, progress=None):
        counts.append(len(modules))
        return compile_modules(modules, progress)

    monkeypatch.setattr(jit, "compile_modules", counting)
    return counts


def entries(folder: Path) -> list[Path]:
    return sorted(p for p in folder.rglob("*") if p.is_file())


def test_second_use_does_not_compile(folder, expected, compilations):
    first = result()
    count = len(compilations)
    assert count == 1
    assert len(entries(folder)) == 2  # the machine code, and the index that spares building the graph
    second = result()
    assert len(compilations) == count
    np.testing.assert_array_equal(first, expected)
    np.testing.assert_array_equal(second, expected)


def flipped(position: float):
    def damage(path: Path) -> None:
        content = bytearray(path.read_bytes())
        content[int(position * (len(content) - 1))] ^= 0x10
        path.write_bytes(content)

    return damage


def cut(length: float | int):
    """To a number of bytes, or to a share of them."""

    def damage(path: Path) -> None:
        content = path.read_bytes()
        path.write_bytes(content[: int(length * len(content)) if isinstance(length, float) else length])

    return damage


def as_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


DAMAGES = {
    "flip in the digest": flipped(0.0),
    "flip early": flipped(0.1),
    "flip in the middle": flipped(0.5),
    "flip at the end": flipped(1.0),
    "empty": cut(0),
    "cut in the digest": cut(10),
    "digest only": cut(32),
    "half": cut(0.5),
    "last byte lost": cut(-1),
    "garbage": lambda path: path.write_bytes(np.random.default_rng(1).bytes(5000)),
    "text": lambda path: path.write_text("not machine code"),
    "appended": lambda path: path.write_bytes(path.read_bytes() + b"\0"),
    "a folder": as_folder,
    "removed": lambda path: path.unlink(),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_damaged_entries_are_rebuilt(folder, expected, compilations, damage):
    result()
    for path in entries(folder):
        damage(path)
    np.testing.assert_array_equal(result(), expected)
    assert len(compilations) == 2
    if damage is not as_folder:  # what stands in an entry's place is not deleted
        np.testing.assert_array_equal(result(), expected)
        assert len(compilations) == 2, "the rebuilt entry was not written"


@pytest.mark.parametrize("which", (0, 1))
def test_one_damaged_entry_of_two(folder, expected, which):
    result()
    flipped(0.5)(entries(folder)[which])
    np.testing.assert_array_equal(result(), expected)


def test_an_entry_under_another_entrys_name_is_not_taken(folder, expected):
    """Each is intact in itself."""
    result()
    first, second = entries(folder)
    a, b = first.read_bytes(), second.read_bytes()
    first.write_bytes(b)
    second.write_bytes(a)
    np.testing.assert_array_equal(result(), expected)


def test_leftover_of_an_interrupted_write(folder, expected, compilations):
    result()
    for path in entries(folder):
        path.rename(path.with_name(".new-leftover"))
    np.testing.assert_array_equal(result(), expected)
    assert len(compilations) == 2


def test_off(tmp_path, monkeypatch, expected, compilations):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("RECURSIVE_DYN_CACHE", "off")
    assert cache.folder() is None
    for count in (1, 2):
        np.testing.assert_array_equal(result(), expected)
        assert len(compilations) == count
    assert not list(tmp_path.iterdir())


def test_default_folder(tmp_path, monkeypatch):
    monkeypatch.delenv("RECURSIVE_DYN_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.folder() == tmp_path / "recursive-dyn"
    cache.store("ab" + "0" * 62, b"payload")
    assert cache.load("ab" + "0" * 62) == b"payload"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "someone"))
    assert cache.folder() == tmp_path / "someone" / ".cache" / "recursive-dyn"


def test_folder_that_cannot_be_made(tmp_path, monkeypatch, expected):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("RECURSIVE_DYN_CACHE", str(tmp_path / "file" / "cache"))
    np.testing.assert_array_equal(result(), expected)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may write everywhere")
def test_folder_that_cannot_be_written(folder, expected):
    folder.mkdir()
    folder.chmod(0o500)
    np.testing.assert_array_equal(result(), expected)
    assert not entries(folder)


def test_disk_full(folder, expected, monkeypatch):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    np.testing.assert_array_equal(result(), expected)
    assert not entries(folder), "what could not be finished is removed"


def test_one_program_under_two_loops_is_two_objects(folder):
    """The loops around a kernel are compiled with it: another loop is another entry."""
    graph = Graph()
    program = schedule("double", [("x", 1)], [("y", [graph.inputs("x", 1)[0] * 2.0])])

    def loop(answer: int):
        return lambda entry, inputs, outputs: f"define i64 @{entry}_run() {{\n  ret i64 {answer}\n}}\n"

    answers = []
    for answer in (3, 5, 3):
        kernel = Kernel(f"loop {answer}", lambda: program, 1, driver=loop(answer))
        answers.append(jit.function(kernel.native, f"{kernel.entry}_run", 0, hold_gil=True)())
    assert answers == [3, 5, 3]
    assert SingleCall(kernel)([np.array([4.0])]) == [8.0]


def test_limits_are_no_part_of_the_code(folder, compilations):
    """They are told to the compiled loop at run time, so that scenes that differ by limits share one object."""

    def scene(limit: float) -> Flight:
        made = Scene()
        m = made.parameter("m", limit)  # nor are initial values
        body = Body("pendulum", mass=m, center_of_mass=(0, 0, -1), inertia=np.diag([0.1, 0.1, 0.1]))
        made.world.attach(body, joints.revolute("y", limits=(-limit, limit)))
        return Flight(made.compile(), "semi_implicit_euler")

    first, second = scene(0.1), scene(0.7)
    assert len(compilations) == 1
    for flight, limit in ((first, 0.1), (second, 0.7)):
        q, v = np.zeros(1), np.array([8.0])
        done, stopped = 0, False
        while not stopped:
            steps, stopped = flight.advance(q, v, np.zeros(1), 1e-3, 1000, 0.0, True)
            done += steps
        assert done > 10 and limit - 8e-3 < q[0] <= limit


PROGRAM = """
import sys
import numpy as np
import recursive_dyn as rd
from recursive_dyn.codegen.making import jit
from scene import Body, Scene, joints

compilations = []
compile_modules = jit.compile_modules
jit.compile_modules = lambda *arguments: compilations.append(1) or compile_modules(*arguments)
scene = Scene()
node = scene.world
for i in range(5):
    body = Body(f"b{i}", mass=1.0, center_of_mass=(0.1, 0.0, -0.3), inertia=np.diag([0.1, 0.11, 0.02]))
    node = node.attach(body, joints.revolute("xyz"[i % 3]), at=rd.pose(xyz=(0, 0, -0.5)))
dynamics = scene.compile()
q = np.linspace(-1, 1, dynamics.nq)
print(dynamics.forward_dynamics(q, q).tobytes().hex())
print(dynamics.mass_matrix(q).tobytes().hex())
print(len(compilations), *sorted({"sympy", "trimesh"} & set(sys.modules)))
"""


def start(folder: Path) -> subprocess.Popen:
    environment = os.environ | {"RECURSIVE_DYN_CACHE": str(folder), "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def lines(process: subprocess.Popen) -> list[str]:
    out, error = process.communicate(timeout=120)
    assert process.returncode == 0, error
    return out.splitlines()


def test_two_processes_race_and_a_third_does_not_compile(tmp_path):
    """The third imports neither SymPy nor trimesh either."""
    folder = tmp_path / "cache"
    racing = [start(folder), start(folder)]
    first, second = [lines(process) for process in racing]
    third = lines(start(folder))
    assert first[:2] == second[:2] == third[:2]
    assert third[2] == "0"
    assert int(first[2].split()[0]) + int(second[2].split()[0]) >= 2
    assert entries(folder) and not [p for p in entries(folder) if p.name.startswith(".new")]
