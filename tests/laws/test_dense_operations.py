"""What the dense method takes at least, which lets "auto" choose without writing it down."""

import pytest
from trees import mechanism

from recursive_dyn.dynamics.model_functions import ModelFunctions
from recursive_dyn.graph.expression import Graph
from recursive_dyn.recursion.context import RECURSIVE, Context
from recursive_dyn.recursion.equations.dense_operations import operations_around, solve_operations
from recursive_dyn.recursion.kinematics import Tree
from scene import Body, Scene, joints, shapes

FUNCTIONS = ("forward_dynamics", "stage", "driven/step")


def fall(count, joint):
    """A chain of bodies that nothing holds: what is left of one that was cut."""
    scene, node = Scene(), None
    for k in range(count):
        body = Body(f"link {k}", [shapes.Capsule(0.05, 0.3)], mass=1.0)
        node = (node or scene.world).attach(body, joint(k) if k else joints.free())
    return scene


SCENES = {
    "one body": lambda: fall(1, None),
    "three hinges": lambda: fall(3, lambda k: joints.revolute("xy"[k % 2], damping=0.1)),
    "five hinges": lambda: fall(5, lambda k: joints.revolute("xy"[k % 2], damping=0.1)),
    "six slides, with zeros in M": lambda: fall(6, lambda k: joints.prismatic("xyz"[k % 3])),
    "two balls": lambda: fall(2, lambda k: joints.ball()),
    "a random tree": lambda: mechanism(3, 5, kinds=("revolute", "prismatic", "ball", "screw")).scene,
}


@pytest.mark.parametrize("name", SCENES)
def test_it_is_no_more_than_the_dense_program_has_and_the_shorter_one_is_kept(name):
    model = SCENES[name]().model()
    recursive, dense, auto = (ModelFunctions(model, method) for method in ("recursive", "lagrangian", "auto"))
    for function in FUNCTIONS:
        graph = Graph()
        c = Context(Tree(model, graph), model, graph, RECURSIVE)
        outputs = [x for _, own in recursive.function(function).outputs(c) for x in own]
        total = dense.build(function).operation_count().total
        if len(c.solves) == 1:
            assert solve_operations(model) + operations_around(c.tree, c.solves, outputs) <= total
        assert auto.build(function).operation_count().total == min(
            total, recursive.build(function).operation_count().total
        )


def test_it_is_close_to_what_there_is():
    """Within a tenth: of chains that are cut, nothing but the recursion is written down."""
    model = SCENES["five hinges"]().model()
    total = ModelFunctions(model, "lagrangian").build("forward_dynamics").operation_count().total
    assert 0.9 * total < solve_operations(model) <= total
