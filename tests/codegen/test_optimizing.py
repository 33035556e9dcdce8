"""Compiled loops run at once and get better later: the same results before and after, whatever happens meanwhile."""

import io
import os
import pickle
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from recursive_dyn.codegen.compiled import Floats, compiled
from recursive_dyn.codegen.loops.translation import module_text
from recursive_dyn.codegen.making import cache, jit, optimizing
from recursive_dyn.codegen.making.turns import giving_way


def mixed(values: Floats, out: Floats) -> float:
    """Rounding shows every other order of operations."""
    total = 0.0
    for i in range(len(values)):
        out[i] = values[i] * 1.1 + total / 3.0
        total += out[i] * values[i] - 0.7
    return total


VALUES = np.random.default_rng(0).normal(size=100)


@pytest.fixture(autouse=True)
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("RECURSIVE_DYN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("RECURSIVE_DYN_EFFORT", "1")
    monkeypatch.setattr(optimizing, "GATHERING", 0.0)
    cache._warn.cache_clear()


def results(call, out):
    return call(), out.tolist()


def compiled_here(monkeypatch):
    """Efforts with which this process compiles from now on."""
    efforts, compile_loops = [], jit.compile_loops
    monkeypatch.setattr(
        jit, "compile_loops", lambda text, effort: efforts.append(effort) or compile_loops(text, effort)
    )
    return efforts


def test_a_bound_call_gets_better_code_and_gives_the_same_bits(monkeypatch):
    efforts = compiled_here(monkeypatch)
    function, out = compiled(mixed), np.zeros(100)
    call = function.bind(VALUES, out)
    plain, first = function.code.native, results(call, out)
    optimizing.finish()
    assert function.code.native is not plain
    assert efforts == [0], "the better code is made elsewhere"
    assert results(call, out) == first
    again = np.zeros(100)
    assert (mixed(VALUES, again), again.tolist()) == first
    assert compiled(mixed).bind(VALUES, out)() == first[0] and efforts == [0], "both are in the cache"


@pytest.mark.parametrize("trouble", ["no Python", "frozen", "it fails"])
def test_without_another_process_the_better_code_is_made_here(monkeypatch, trouble):
    if trouble == "frozen":
        monkeypatch.setattr(sys, "frozen", True, raising=False)
    elif trouble == "no Python":
        monkeypatch.setattr(sys, "executable", None)
    else:
        monkeypatch.setattr(optimizing, "_PROGRAM", "raise SystemExit(1)")
    efforts = compiled_here(monkeypatch)
    function, out = compiled(mixed), np.zeros(100)
    first = results(function.bind(VALUES, out), out)
    optimizing.finish()
    assert efforts == [0, 1]
    assert results(function.bind(VALUES, out), out) == first


def test_a_game_that_embeds_python_is_not_started_again(monkeypatch, tmp_path):
    game, proof = tmp_path / "game", tmp_path / "started"
    game.write_text(f"#!/bin/sh\ntouch {proof}\n")
    game.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(game))
    compiled(mixed).bind(VALUES, np.zeros(100))
    optimizing.finish()
    assert not proof.exists()


def test_where_no_effort_is_wanted_plain_code_stays(monkeypatch):
    monkeypatch.setenv("RECURSIVE_DYN_EFFORT", "0")
    function, out = compiled(mixed), np.zeros(100)
    assert function(VALUES, out) == mixed(VALUES, np.zeros(100))
    plain = function.code.native
    optimizing.finish()
    assert function.code.native is plain


def test_what_cannot_be_made_better_runs_on(monkeypatch):
    function, out = compiled(mixed), np.zeros(100)
    monkeypatch.setattr(optimizing, "_optimized", lambda wishes: 1 / 0)
    call = function.bind(VALUES, out)
    first = results(call, out)
    optimizing.finish()
    assert results(call, out) == first


def test_without_a_cache_the_code_still_gets_better(monkeypatch):
    monkeypatch.setenv("RECURSIVE_DYN_CACHE", "off")
    function, out = compiled(mixed), np.zeros(100)
    first = results(function.bind(VALUES, out), out)
    plain = function.code.native
    optimizing.finish()
    assert function.code.native is not plain and results(function.bind(VALUES, out), out) == first


def test_what_another_process_has_made_is_not_made_again(monkeypatch):
    """The process that optimizes looks into the cache first; who asked may be gone when it answers."""
    answers = []
    for _ in range(2):
        asked = pickle.dumps([("0" * 64, optimizing.LoopsCode(module_text(compiled(mixed).loops)))])
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(asked)))
        monkeypatch.setattr(sys, "stdout", SimpleNamespace(buffer=io.BytesIO()))
        optimizing.serve()
        answers.append(sys.stdout.buffer.getvalue())
        monkeypatch.setattr(jit, "compile_loops", lambda *_: pytest.fail("it was made again"))
    assert answers[0] == answers[1] and len([*optimizing._answers(io.BytesIO(answers[0]))]) == 1
    assert not [*optimizing._answers(io.BytesIO(answers[0][:-1]))], "half an answer is none"
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(asked)))
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(buffer=Gone()))
    optimizing.serve()


class Gone:
    def write(self, _):
        raise BrokenPipeError


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_child_of_a_fork_goes_on_by_itself():
    """While better code is on its way; the child neither waits for it nor hangs."""
    function, out = compiled(mixed), np.zeros(100)
    first = results(function.bind(VALUES, out), out)
    child = os.fork()
    if child == 0:
        optimizing.finish()
        os._exit(0 if results(function.bind(VALUES, out), out) == first else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    optimizing.finish()


def test_wishes_are_seen_to_together_once_no_more_come(monkeypatch):
    """One process, which does not take processors from whoever is still making wishes."""
    worker, later, asked = optimizing._Worker(), ["b", "c"], []

    def sleep(seconds):
        if later:
            worker.add(wish(later.pop(0)))

    def wish(key):
        return optimizing.Wish(key, lambda: None, lambda native: None)

    monkeypatch.setattr(optimizing, "_optimized", lambda wishes: asked.append([w.key for w in wishes]) or iter(()))
    monkeypatch.setattr(optimizing, "time", SimpleNamespace(sleep=sleep))
    worker.add(wish("a"))
    worker.join()
    assert asked == [["a", "b", "c"]]


def test_threads_in_the_background_give_way_until_the_last_one_is_done():
    before = sys.getswitchinterval()
    with giving_way():
        with giving_way():
            assert sys.getswitchinterval() < before
        assert sys.getswitchinterval() < before
    assert sys.getswitchinterval() == before


def test_a_program_that_ends_first_ends_well(tmp_path):
    code = f"""
import sys
sys.path.insert(0, {os.path.dirname(__file__)!r})
import numpy as np
from recursive_dyn.codegen.making import optimizing
from recursive_dyn.codegen.compiled import compiled
optimizing.GATHERING = 0.0
from test_optimizing import mixed
print(compiled(mixed)(np.ones(3), np.zeros(3)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(done.stdout) == mixed(np.ones(3), np.zeros(3)) and done.stderr == ""


@pytest.mark.slow  # the whole solve is optimized
def test_contact_is_the_same_before_and_after():
    """A box thrown onto another, from plain code and from optimized code: the same motion, bit for bit."""
    import recursive_dyn as rd
    from bridge import PyBulletMirror
    from scene import Body, Scene, joints, shapes

    def thrown():
        scene = Scene()
        scene.world.shapes.append(shapes.Box((2, 2, 0.2)))
        for k in range(2):
            box = Body(f"box {k}", [shapes.Box((0.2, 0.2, 0.2))], mass=1.0)
            scene.world.attach(box, joints.free(), at=rd.pose((0.02 * k, 0, 0.22 + 0.21 * k)))
        sim = rd.Simulation(scene.compile(), 1 / 240)
        sim.v[:] = np.linspace(-1.0, 1.0, 12)
        with PyBulletMirror(scene, sim, gui=False, ground=False) as mirror:
            for _ in range(60):
                mirror.step()
        return sim.q.tolist()

    first = thrown()
    optimizing.finish()
    assert thrown() == first
