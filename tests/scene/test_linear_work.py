"""Work grows as the scene does: calls are counted, since seconds depend on the machine."""

import sys
from collections.abc import Callable

import numpy as np
import pytest

from recursive_dyn.graph.expression import Graph
from scene import Body, Scene, joints
from scene.file import formula_reader, formula_writer
from scene.urdf.joint_tree import Follower, order_of


def calls(work: Callable[[], object]) -> int:
    """Calls of functions, Python's and C's."""
    count = 0

    def seen(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(seen)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def assert_linear(work: Callable[[int], Callable[[], object]], size: int) -> None:
    """Four times the size is four times the calls: quadratic work would take sixteen times as many."""
    work(8)()  # what is done once, such as imports
    few, many = calls(work(size)), calls(work(4 * size))
    assert many < 5 * few + 1000


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
