"""Exported C against the machine code and the interpreter, on every joint type and every operation."""

import ctypes
import re
import shutil
import subprocess
import time
from functools import cache

import numpy as np
import pytest
import sympy as sp
from joint_cases import KINDS
from transforms import random_pose
from trees import GRAVITY, Mechanism, assert_close, random_body

import recursive_dyn as rd
from recursive_dyn.codegen import reference
from recursive_dyn.codegen.c import c_source
from recursive_dyn.dynamics.functions import FUNCTIONS as CONTRACT
from recursive_dyn.graph.expression import Graph, combine
from recursive_dyn.graph.program import ARGUMENTS, Program, schedule
from scene import Body, Scene, joints

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
WARNINGS = ["-pedantic", "-Wall", "-Wextra", "-Werror", "-Wmissing-prototypes", "-Wstrict-prototypes"]
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C compiler (cc, gcc or clang) on this machine")

GROUPS = {
    "one axis": ["revolute", "prismatic", "screw", "cylindrical"],
    "several axes": ["universal", "planar", "euler"],
    "quaternions": ["free", "ball", "carried_ball"],
    "curves": ["helix", "parabola", "twisted_cubic", "spinning_bead"],
    "surfaces": ["ellipsoid", "torus", "paraboloid"],
    "contact": ["torus_on_torus"],
    "tables": ["cyclic_bezier"],
    "control points": ["bspline_ring", "measured_ring", "bspline_patch"],
    "symbolic": ["wandering_hinge", "gibbs_six", "rocking_pair"],
}
MACHINE_CODE = ("forward_dynamics", "step", "difference", "cartesian_forces")


@cache
def mechanism(group: str) -> Mechanism:
    """A chain of one joint of each kind, with rotors, damping and, where there can be, a limit and a parameter."""
    rng = np.random.default_rng(len(group))
    scene = Scene(gravity=GRAVITY)
    mass = scene.parameter("tip_mass", 0.7)
    node, cases = scene.world, []
    for i, kind in enumerate(GROUPS[group]):
        settings = {"armature": 0.1, "damping": 0.2}
        if kind in ("revolute", "euler", "torus"):
            settings |= {"limits": (-1.0, 1.0), "stiffness": 0.3, "rest": 0.1}
        case = KINDS[kind](rng, settings)
        given = {"mass": mass} if i == len(GROUPS[group]) - 1 else {}
        node = node.attach(random_body(rng, f"b{i}", **given), case.joint, at=random_pose(rng))
        cases.append(case)
    return Mechanism(scene, tuple(cases), {})


def arguments(mechanism: Mechanism, rows: int) -> dict[str, np.ndarray]:
    """Rows of every input segment; the motion is slow enough for limits to be met and left."""
    dynamics = mechanism.dynamics()
    rng = np.random.default_rng(3)
    q, v = mechanism.states(rows, seed=5)
    q_end, a = mechanism.states(rows, seed=6)
    wrenches = rng.normal(size=(rows, 6 * len(dynamics.bodies)))
    parameters = np.tile(dynamics.parameters.values_array, (rows, 1))
    return {"q": q, "v": v, "a": a, "tau": rng.normal(size=v.shape), "q_end": q_end, "wrenches": wrenches,
            "poses": dynamics.poses(q_end).reshape(rows, -1),
            "velocities": rng.normal(size=wrenches.shape), "points": rng.normal(size=(rows, wrenches.shape[1] // 2)),
            "weights": rng.uniform(0.5, 2.0, (rows, wrenches.shape[1] // 3)),
            "dt": np.full((rows, 1), 0.01), "parameters": parameters}  # fmt: skip


def build(folder, level: str = "-O0") -> ctypes.CDLL:
    """The C files of a folder as one library, without a warning."""
    library = folder / f"library{len(list(folder.glob('*.so')))}.so"  # a loaded one must not be overwritten
    sources = sorted(map(str, folder.glob("*.c")))
    command = [COMPILER, "-std=c99", *WARNINGS, level, "-shared", "-fPIC", *sources, "-o", str(library), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:3000]
    return ctypes.CDLL(str(library))


def run(library: ctypes.CDLL, name: str, program: Program, inputs: dict[str, np.ndarray]) -> np.ndarray:
    """Outputs (rows, ...) of a C function called row by row."""
    function = getattr(library, name)
    function.restype, function.argtypes = None, [ctypes.c_void_p, ctypes.c_void_p]
    rows = np.ascontiguousarray(np.hstack([inputs[n] for n, size in program.inputs if size]))
    results = np.full((len(rows), program.output_size + 1), np.nan)
    for row, result in zip(rows, results, strict=True):
        function(row.ctypes.data, result.ctypes.data)
    assert np.isnan(results[:, -1]).all(), "it wrote past its output"
    return results[:, :-1]


def interpreted(program: Program, inputs: dict[str, np.ndarray]) -> np.ndarray:
    return np.concatenate(list(reference.run(program, inputs).values()), axis=-1)


_LONG = ("surfaces", "control points", "symbolic")  # what these print are operations that others print, too


@needs_compiler
@pytest.mark.parametrize("group", [pytest.param(g, marks=pytest.mark.slow) if g in _LONG else g for g in GROUPS])
def test_exported_functions_agree_with_interpreter_and_machine_code(group, tmp_path):
    """1e-13: rounding, a few times over, times the condition of the mass matrix, which is below 300 here."""
    chain = mechanism(group)
    dynamics = chain.dynamics()
    assert dynamics.export_c(tmp_path / "model") == tmp_path / "model"
    library = build(tmp_path / "model")
    inputs = arguments(chain, rows=5)
    for name in dynamics.functions.exported:
        program = dynamics.program(name)
        expected = interpreted(program, inputs)
        assert_close(run(library, name, program, inputs), expected, 1e-13)
        if name in MACHINE_CODE:
            given = [inputs[n] for n in CONTRACT[name].inputs]
            batch = dynamics.call(name, *given)
            assert_close(batch.reshape(5, -1), expected, 1e-13)
            assert_close(dynamics.call(name, *(a[2] for a in given)).ravel(), expected[2], 1e-13)


@needs_compiler
def test_exported_functions_of_a_constrained_scene(tmp_path):
    scene = Scene(gravity=GRAVITY)
    rng = np.random.default_rng(4)
    q = scene.coordinate("lean")
    post = scene.world.attach(random_body(rng, "post"), joints.revolute("x").driven(sp.sin(q)))
    hand = post.attach(random_body(rng, "hand"), joints.ball(), at=random_pose(rng))
    scene.constrain(hand.point((0.1, 0.0, 0.4))[2] - 0.3, name="table")
    scene.constrain(hand.direction((1, 0, 0)).dot(hand.velocity), name="blade")
    dynamics = scene.compile()
    dynamics.export_c(tmp_path)
    library = build(tmp_path)
    inputs = {"q": rng.normal(size=(5, dynamics.nq)), "v": rng.normal(size=(5, dynamics.nv)),
              "tau": rng.normal(size=(5, dynamics.nv)), "parameters": np.zeros((5, 0))}  # fmt: skip
    inputs["q"][:, 1:] /= np.linalg.norm(inputs["q"][:, 1:], axis=1, keepdims=True)
    for name in ("forward_dynamics", *(n for n in dynamics.functions.exported if CONTRACT[n].constrained)):
        program = dynamics.program(name)
        assert_close(run(library, name, program, inputs), interpreted(program, inputs), 1e-12)


def test_nothing_to_export(tmp_path):
    scene = Scene()
    scene.world.attach(Body("rock", mass=1.0, inertia=np.eye(3)), joints.fixed())
    with pytest.raises(rd.ModelError, match="nothing moves"):
        scene.compile().export_c(tmp_path / "model")
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("folder", ["file", "file/below", "\0", None, 3.0, "/proc/nowhere"])
def test_a_folder_that_cannot_be_written_is_named(tmp_path, monkeypatch, folder):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(rd.ModelError, match=r"cannot write C into .*give a folder"):
        mechanism("one axis").dynamics().export_c(folder)


HOSTILE = [
    "*/ int x; /*",
    "a\n#error b\r\n",
    '"; system("x"); //',
    "\\",
    "??/",
    "tab\tbell\a",
    "né\u2028\u202e",
    "main",
]


@needs_compiler
def test_names_of_the_scene_stay_in_comments(tmp_path):
    scene = Scene()
    node, symbols = scene.world, [sp.Symbol(name, real=True) for name in HOSTILE]
    for name, s in zip(HOSTILE, symbols, strict=True):
        G = sp.eye(4)
        G[2, 3] = s
        node = node.attach(Body(name, mass=1.0, inertia=np.eye(3)), joints.Joint(G, s))
    dynamics = scene.compile()
    folder, names = dynamics.export_c(tmp_path), dynamics.functions.exported
    text = "\n".join(p.read_text(encoding="utf-8") for p in folder.glob("*.[ch]"))
    (folder / "use.c").write_text('#include "recursive_dyn_model.h"\nint use(void);\nint use(void) { return NQ; }\n')
    assert build(folder).use() == len(HOSTILE)
    code = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    known = {"include", "math", "h", "void", "const", "double", "in", "out", "ifndef", "ifdef", "endif", "define",
             "extern", "C", "__cplusplus", "RECURSIVE_DYN_MODEL_H", "NQ", "NV", "NB", "NP", "e", "sqrt", "fmin", "fmax",
             "atan2", "NEUTRAL", "recursive_dyn_model", *names,
             *(f"{n.upper()}_{end}" for n in names for end in ("IN", "OUT")),
             *(f"{n.upper()}_IN_{s.upper()}" for n in names for s in CONTRACT[n].inputs),
             *(f"{n.upper()}_OUT_{s.upper()}" for n in names for s, _ in dynamics.program(n).outputs)}  # fmt: skip
    words = set(re.findall(r"[^\W\d]\w*", code)) - known
    assert all(re.fullmatch(r"[xct]\d+", word) for word in words), words
    for mark in ("main", "system", "error b"):
        assert mark in text and mark not in code


def test_time_to_print_five_thousand_statements():
    graph = Graph()
    x = graph.inputs("x", 4)
    values = list(x)
    rng = np.random.default_rng(0)
    for op in rng.choice(["add", "sub", "mul", "sin", "min", "less"], 5000):
        i, j = rng.integers(len(values), size=2)
        values.append(combine(op, [values[i], values[j]][: ARGUMENTS[op]]))
    program = schedule("f", [("x", 4)], [("y", values)])
    assert len(program.statements) > 4500
    start = time.process_time()
    c_source(program, "f")
    assert time.process_time() - start < 2.0


def listing(header: str, title: str) -> list[str]:
    """Entries of one of the header's lists."""
    block = re.search(rf"/\*\n \* {title}.*?\n(.*?) \*/", header, flags=re.DOTALL)
    return [re.sub(r"^ \*   \d+ ", "", line) for line in block[1].splitlines()]


@needs_compiler
def test_header_tells_sizes_orders_and_how_to_make_a_jacobian(tmp_path):
    scene = Scene()
    L = scene.parameter("L", 0.4)
    rng = np.random.default_rng(8)
    base = scene.world.attach(random_body(rng, "base"), joints.free())
    arm = base.attach(random_body(rng, "arm"), joints.universal(), at=rd.pose(xyz=(L, 0, 0)))
    arm.attach(random_body(rng, "plate"), joints.fixed(), at=rd.pose(xyz=(0, 0.3, 0), rpy=(0.1, 0.2, 0.3)))
    other = base.attach(random_body(rng, "other arm"), joints.revolute("z"), at=rd.pose(xyz=(0, L, 0)))
    other.attach(random_body(rng, "finger"), joints.revolute("x").follow("other arm", -2.0), at=rd.pose(xyz=(L, 0, 0)))
    dynamics = scene.compile()
    header = (dynamics.export_c(tmp_path) / "recursive_dyn_model.h").read_text()
    for line in ("NQ 10", "NV 9", "NB 5", "NP 1", "FORWARD_DYNAMICS_IN 29", "FORWARD_DYNAMICS_OUT 9", "POSES_OUT 80"):
        assert f"#define {line}\n" in header
    assert listing(header, "q:") == list(dynamics.coordinates)
    assert listing(header, "v, a, tau:") == list(dynamics.velocity_coordinates)
    assert [b.split(":")[0] for b in listing(header, "bodies")] == list(dynamics.bodies)
    assert listing(header, "parameters") == ["L: 0.4"]
    assert "in: q[10], v[9], tau[9], parameters[1]\n * out: a[9]" in header
    for name in dynamics.functions.exported:
        assert f"void {name}(const double * in, double * out);" in header

    link_of = dict(b.split(": link ") for b in listing(header, "bodies"))
    parent_of = [k.split(": ")[1].removeprefix("link ") for k in listing(header, "links")]
    columns = [re.match(r"link (\d+), slot (\d+)", c).groups() for c in listing(header, "columns")]
    q, point = dynamics.random(rng), np.array([0.1, -0.2, 0.3])
    library = build(tmp_path)
    inputs = {"q": q[None], "parameters": dynamics.parameters.values_array[None]}
    screws = run(library, "screws", dynamics.program("screws"), inputs).reshape(-1, 6)
    poses = run(library, "poses", dynamics.program("poses"), inputs).reshape(-1, 4, 4)
    for body, X in zip(dynamics.bodies, poses, strict=True):
        p, J, path = X[:3, :3] @ point + X[:3, 3], np.zeros((6, 9)), [link_of[body]]
        while parent_of[int(path[-1])] != "world":
            path.append(parent_of[int(path[-1])])
        for (link, slot), screw in zip(columns, screws, strict=True):
            if link in path:
                J[:, int(slot)] += np.concatenate([screw[:3], screw[3:] + np.cross(screw[:3], p)])
        assert_close(J, dynamics.jacobian(q, body, point), 1e-14)
