"""The gallery of systems on manifolds: its command line, its balls and its benchmark."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sympy as sp

from demos.benchmark import local_coordinates
from demos.benchmark import manifold as benchmark
from demos.manifolds import __main__ as gallery
from demos.manifolds import rolling_ball
from demos.manifolds.gallery import ALIASES, SYSTEMS, system
from recursive_dyn.manifold.motion.motion import Motion

ROOT = Path(__file__).resolve().parent.parent.parent
G = 9.81


def run(*arguments, **environment):
    command = [sys.executable, "-m", "demos.manifolds", *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=os.environ | environment, capture_output=True, timeout=120, check=False
    )  # fmt: skip


def printed(capsys, monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["demos.manifolds", *arguments])
    gallery.main()
    return capsys.readouterr().out


def test_the_list_names_every_system(capsys, monkeypatch):
    lines = printed(capsys, monkeypatch).splitlines()
    assert [line.split()[0] for line in lines] == list(SYSTEMS)
    for line, name in zip(lines, SYSTEMS, strict=True):
        assert system(name).manifold in line and float(line.split()[-2]) > 0 and line.endswith(" ms")


@pytest.mark.parametrize("name", [*SYSTEMS, *ALIASES])
def test_equations_are_printed(name, capsys, monkeypatch):
    found = system(name).derive()
    assert printed(capsys, monkeypatch, name) == f"{found}\n"
    assert printed(capsys, monkeypatch, name, "--latex") == f"{found.latex()}\n"


def test_all_seven_steps_are_printed(capsys, monkeypatch):
    text = printed(capsys, monkeypatch, "spherical", "--steps")
    steps = [line for line in text.splitlines() if line.startswith("Step")]
    titles = ("action", "variation", "constraint substitution", "collection", "integration by parts", "collection")
    assert steps == [f"Step {i}, {title}:" for i, title in enumerate((*titles, "extraction"), 1)]
    assert "δS = ∫ (m l^2 δq'.q' - m g l δq.e3 + δq.tau) dt = 0" in text
    assert r"\int" in printed(capsys, monkeypatch, "spherical", "--steps", "--latex")


def test_a_chain_has_as_many_links_as_are_asked_for(capsys, monkeypatch):
    assert printed(capsys, monkeypatch, "chain", "--links", "5").count("\n") == 6


@pytest.mark.parametrize("encoding", ["ascii", "utf-8", "cp1252"])
def test_any_terminal_will_do(encoding):
    done = run("spherical", "--steps", PYTHONIOENCODING=encoding)
    assert done.returncode == 0, done.stderr
    assert b"q x (m l^2 q'' + m g l e3 - tau) = 0" in done.stdout
    assert ("δ".encode() in done.stdout) == (encoding == "utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(("nothing",), b"invalid choice"), (("chain", "--links", "0"), b"positive"), (("chain", "--links", "x"), b"int")],
)
def test_bad_command_lines_are_refused(arguments, message):
    done = run(*arguments)
    assert done.returncode == 2 and message in done.stderr and b"Traceback" not in done.stderr


def ball(build, timestep=1e-3, **numbers):
    found = build()
    motion = Motion(found.derive().compile(), timestep)
    motion.dynamics.parameters.update({"m": 2.0, "g": G, "r": 0.5, "e3": [0, 0, 1]} | numbers)
    return found.symbols, motion


def test_a_ball_rolls_straight_on():
    s, motion = ball(rolling_ball.uniform, k=0.4)
    spin = np.array([0.3, -0.7, 0.9])  # about the world's axes, as R = 1
    motion.place(s.x, [1.0, 2.0, 0.5], np.cross(spin, [0, 0, 0.5]))
    motion.place(s.R, np.eye(3), spin)
    motion.step(1000)
    # RKMK4 with steps of 1 ms: errors of 1e-12 a second and rounding
    np.testing.assert_allclose(motion[s.x] - np.cross(spin, [0, 0, 0.5]), [1, 2, 0.5], atol=1e-10)
    np.testing.assert_allclose(motion[s.R] @ motion.rate(s.R), spin, atol=1e-10)
    np.testing.assert_allclose(motion.multipliers, [0, 0, 2.0 * G], atol=1e-10)  # the plane carries the weight


@pytest.mark.parametrize("k", [2 / 5, 2 / 3])
def test_a_ball_on_a_turntable_circles(k):
    """At k / (1 + k) of the table's rate: 2/7 for a solid ball, 2/5 for a hollow one; it comes back after a turn."""
    s, motion = ball(rolling_ball.on_turntable, k=k, w=7.0)
    turn = 2 * np.pi / (7.0 * k / (1 + k))
    motion.timestep = turn / 3000
    start, velocity, table = np.array([0.2, 0.1, 0.5]), np.array([0.4, -0.3, 0.0]), np.array([0, 0, 7.0])
    rolling = np.cross([0, 0, 1], velocity - np.cross(table, start)) / 0.5
    motion.place(s.x, start, velocity)
    motion.place(s.R, np.eye(3), rolling + np.array([0, 0, 1.3]))
    motion.step(1500)
    assert np.linalg.norm(motion[s.x] - start) > 0.1
    motion.step(1500)
    bound = 7.0 * turn * (7.0 * motion.timestep) ** 4 / 120  # (w h)^5 / 120 a step, at most at the table's rate
    np.testing.assert_allclose(motion[s.x], start, atol=bound)
    np.testing.assert_allclose(motion.rate(s.x), velocity, atol=bound)


def test_an_off_centre_ball_keeps_its_energy_and_rocks():
    """With its centre of mass h below the middle: (J + m (r - h)^2) phi'' = - m g h phi for small angles."""
    h, r, m, inertia = 0.1, 0.5, 2.0, 0.15
    s, motion = ball(rolling_ball.off_centre, rho=[0, 0, -h], J=np.diag([inertia] * 3))
    phi = 1e-3
    c, d = np.cos(phi), np.sin(phi)
    motion.place(s.x, [0, 0, r])
    motion.place(s.R, [[1, 0, 0], [0, c, -d], [0, d, c]])
    energy = motion.energy
    period = 2 * np.pi / np.sqrt(m * G * h / (inertia + m * (r - h) ** 2))
    motion.timestep = period / 2000
    motion.step(1000)
    assert motion[s.R][2, 1] == pytest.approx(-d, rel=1e-5)  # the other side; angles change the period by phi^2
    motion.step(1000)
    assert motion[s.R][2, 1] == pytest.approx(d, rel=1e-5)
    assert motion[s.x][2] == pytest.approx(r, abs=1e-12)
    assert motion.energy == pytest.approx(energy, abs=1e-10)


@pytest.mark.parametrize("name", ["spherical", "reaction_mass", "off_centre_ball"])
def test_the_benchmarks_motions_are_motions(name):
    """Random states with all numbers given: they run, on the manifold, and energy without forces is conserved."""
    motion = benchmark.moving(system(name).derive().compile())
    energy = motion.energy
    motion.step(500)
    assert motion.time == pytest.approx(500 * benchmark.TIMESTEP)
    assert motion.drift < 1e-12
    assert motion.energy == pytest.approx(energy, rel=2e-13)  # 500 roundings; at 3 rad/s the method is wrong by 1e-17


def test_growth_is_the_exponent_of_a_power():
    sizes = range(1, 13)
    assert benchmark.growth(sizes, 3e-4 * np.arange(1.0, 13.0) ** 2.5) == pytest.approx(2.5)


def test_benchmark_prints_its_tables(capsys, monkeypatch):
    monkeypatch.setattr(benchmark, "SYSTEMS", {name: SYSTEMS[name] for name in ("spherical", "chain")})
    monkeypatch.setattr(benchmark, "CHAINS", range(4, 6))
    monkeypatch.setattr(benchmark, "REPEATS", 1)
    folder = os.environ.get("RECURSIVE_DYN_CACHE")
    benchmark.all_of_them(0.01)
    text = capsys.readouterr().out
    rows = [line.split("|")[1:-1] for line in text.splitlines() if line.startswith("| ")]
    assert [row[0].strip() for row in rows] == ["system", "-" * 18, "spherical pendulum", "n", "-", "4", "5"]
    assert all(float(cell) > 0 for row in (rows[2][2:], rows[5][1:], rows[6][1:]) for cell in row)
    derivation, step = (benchmark.growth(range(4, 6), np.array([float(row[i]) for row in rows[5:]])) for i in (1, -1))
    assert f"derivation n^{derivation:.2f}, step n^{step:.2f}" in text
    assert os.environ.get("RECURSIVE_DYN_CACHE") == folder


def test_sympys_chain_is_ours():
    """Accelerations of cart and tip from SymPy's mass matrix, in angles, at a random state of two links."""
    rng = np.random.default_rng(3)
    method = local_coordinates.method(2)
    method.form_lagranges_equations()
    values = dict(zip(("m0", "m1", "m2", "l1", "l2", "g"), (1.3, 0.7, 0.4, 0.5, 0.8, G), strict=True))
    angles, rates = rng.uniform(0.5, 1.2, size=4), rng.normal(size=5)
    state = [0.2, *angles, *rates]
    inputs = [*method.q, *method.u, *(sp.Symbol(name) for name in values)]
    M, forcing = sp.lambdify(inputs, [method.mass_matrix, method.forcing])(*state, *values.values())
    a = np.linalg.solve(np.array(M, dtype=float), np.array(forcing, dtype=float).ravel())

    dynamics = system("chain", 2).derive().compile()
    dynamics.parameters.update({**values, "e1": (1, 0, 0), "e3": (0, 0, 1)})
    t, (polar, azimuth) = sp.Symbol("t"), sp.symbols("a b", cls=sp.Function)
    direction = sp.Matrix(
        [sp.sin(polar(t)) * sp.cos(azimuth(t)), sp.sin(polar(t)) * sp.sin(azimuth(t)), sp.cos(polar(t))]
    )
    places, moving, wanted = {"x": 0.2}, {"x": rates[0]}, [a[0]]
    for i in range(2):
        numbers = [(f(t).diff(t, k) if k else f(t), (angles, rates[1:], a[1:])[k][j])
                   for k in (2, 1, 0) for f, j in ((polar, i), (azimuth, 2 + i))]  # fmt: skip
        q, dq, ddq = (np.array(direction.diff(t, k).subs(numbers), dtype=float).ravel() for k in range(3))
        places[f"q{i + 1}"], moving[f"q{i + 1}"] = q, dq
        wanted.append(ddq)
    motion = Motion(dynamics)
    motion.q, motion.v = dynamics.pack(places, moving)
    for name, expected in zip(("x", "q1", "q2"), wanted, strict=True):
        assert motion.acceleration(name) == pytest.approx(expected, rel=1e-11, abs=1e-11)
