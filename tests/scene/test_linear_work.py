"""Work grows as the scene does: it is counted, since seconds depend on the machine."""

import gc
import sys
import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest

from recursive_dyn.contact.forest_layout import layout
from recursive_dyn.graph.expression import Graph
from recursive_dyn.recursion.equations.lagrangian import minimum_operations
from recursive_dyn.recursion.momenta.impulse import roots
from scene import Body, Scene, joints
from scene.file import formula_reader, formula_writer
from scene.urdf.joint_tree import Follower, order_of


def operations(work: Callable[[], object]) -> int:
    """Lines of Python that are run, and calls of C functions."""
    count = 0

    def line(frame, event, argument):
        nonlocal count
        count += event == "line"
        return line

    def call(frame, event, argument):
        nonlocal count
        count += event == "c_call"

    gc.disable()  # what goes with the garbage of earlier tests is not this work
    sys.settrace(line)
    sys.setprofile(call)
    try:
        work()
    finally:
        sys.setprofile(None)
        sys.settrace(None)
        gc.enable()
    return count


def memory(work: Callable[[], object]) -> int:
    """The most bytes that are held at one time."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def assert_linear(work: Callable[[int], Callable[[], object]], size: int, measure=operations, once: int = 1000) -> None:
    """Four times the size is four times the work: quadratic work would be sixteen times as much.

    once: what is done at any size.
    """
    work(8)()  # what is done in the first run only, such as imports
    few, many = measure(work(size)), measure(work(4 * size))
    assert many < 5 * few + once


HINGE = joints.revolute("x")


def star(count: int) -> Scene:
    scene = Scene()
    for i in range(count):
        scene.world.attach(Body(f"b{i}", mass=1.0, inertia=np.eye(3)), HINGE)
    return scene


def chain(count: int) -> Scene:
    scene = Scene()
    node = scene.world
    for i in range(count):
        node = node.attach(Body(f"b{i}", mass=1.0, inertia=np.eye(3)), HINGE)
    return scene


def from_the_tip(count: int) -> Scene:
    """A chain that is put together from its last body."""
    tip = Body("b0", mass=1.0, inertia=np.eye(3))
    for i in range(1, count):
        carrier = Body(f"b{i}", mass=1.0, inertia=np.eye(3))
        carrier.attach(tip, HINGE)
        tip = carrier
    scene = Scene()
    scene.world.attach(tip, HINGE)
    return scene


def followers(count: int) -> Scene:
    scene = star(count)
    for i in range(count):
        scene.world.attach(Body(f"f{i}", mass=1.0, inertia=np.eye(3)), HINGE.follow(f"b{i}", 2.0))
    return scene


@pytest.mark.parametrize("build", [star, chain, from_the_tip, followers])
def test_bodies_are_put_together_in_linear_time(build):
    assert_linear(lambda n: lambda: build(n), 100)


@pytest.mark.parametrize("build", [star, chain])
def test_files_are_written_and_read_in_linear_time(build, tmp_path):
    path = tmp_path / "scene.json"

    def saved(n):
        scene = build(n)
        return lambda: scene.save(path)

    def loaded(n):
        build(n).save(path)
        content = path.read_bytes()
        (tmp_path / f"{n}.json").write_bytes(content)
        return lambda: Scene.load(tmp_path / f"{n}.json")

    assert_linear(saved, 60)
    assert_linear(loaded, 60)


@pytest.mark.parametrize("build", [star, chain, followers])
def test_models_are_put_together_in_linear_time(build):
    def modelled(n):
        scene = build(n)
        return lambda: scene.model()

    assert_linear(modelled, 60)


def follower_chain(count: int) -> Scene:
    """A chain in which every hinge follows the first: their coordinate is eliminated at the first link."""
    scene = Scene()
    node = scene.world.attach(Body("b0", mass=1.0, inertia=np.eye(3)), HINGE)
    for i in range(1, count):
        node = node.attach(Body(f"b{i}", mass=1.0, inertia=np.eye(3)), HINGE.follow("b0", 1.0))
    return scene


PLANS = {
    "elimination": lambda model: model.elimination,
    "layout of the impulse solve": layout,
    "trees": roots,
    "operations of the dense method": minimum_operations,
}


@pytest.mark.parametrize("measure, once", [(operations, 1000), (memory, 20_000)])
@pytest.mark.parametrize("build", [star, chain, follower_chain])
@pytest.mark.parametrize("plan", PLANS)
def test_recursions_are_planned_in_linear_time(plan, build, measure, once):
    """Coordinates that meet at the world only, as those of ``followers``, are solved for as a dense system there."""

    def planned(n):
        model = build(n).model()
        return lambda: PLANS[plan](model)

    assert_linear(planned, 100, measure, once)


FORMULAS = {
    "sum": lambda n: " + ".join(f"{0.5 + i}*'R'" for i in range(n)),
    "product": lambda n: "*".join(["('R' + 0.5)"] * n),
    "terms of two names": lambda n: " - ".join(f"sin('R')*{1.0 + i}/'S'" for i in range(n)),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_formulas_are_read_in_linear_time(name):
    texts = {n: FORMULAS[name](n) for n in (8, 100, 400)}
    assert len(texts[400]) < formula_reader.MAX_LENGTH
    assert_linear(lambda n: lambda: formula_reader.read("f", texts[n], (), lambda _: None), 100)


def test_formulas_are_written_in_linear_time():
    """Many inputs wait for their users, which come in another order."""

    def written(n):
        graph = Graph()
        found = [graph.input(("parameter", f"p{i}")) for i in range(n)]
        total = sum((x * y for x, y in zip(found, reversed(found), strict=True)), 0.0)
        return lambda: formula_writer.write("f", total)

    assert_linear(written, 100)


class Part:
    """A joint of a URDF file, as far as its order goes."""

    def __init__(self, name: str, parent: str, child: str) -> None:
        self.name, self.parent, self.child = name, parent, child


class Robot:
    def __init__(self, parts: list[Part]) -> None:
        self.joints = parts
        self.links = []


def test_joints_of_a_robot_are_put_in_order_in_linear_time():
    def ordered(n):
        parts = [Part(f"j{i}", f"l{i}", f"l{i + 1}") for i in reversed(range(n))]
        led = {part.name: Follower(part, parts[-1], 1.0, 0.0) for part in parts[:-1]}
        return lambda: order_of("robot.urdf", Robot(parts), "l0", led)

    assert_linear(ordered, 200)
    order = [part.name for part in order_of("r", Robot([Part("b", "l1", "l2"), Part("a", "l0", "l1")]), "l0", {})]
    assert order == ["a", "b"]
