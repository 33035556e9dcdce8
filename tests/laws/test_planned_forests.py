"""Trees one after the other: what is where, worked out for all forests of the same kinds, is what each forest says."""

import gc
import weakref
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recursive_dyn as rd
from recursive_dyn.codegen.kernel import SingleCall
from recursive_dyn.contact.forest_layout import layout, links_of_bodies
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.dynamics.functions import FUNCTIONS
from recursive_dyn.model.forest import numbers_of
from recursive_dyn.model.model_parts import altered
from recursive_dyn.recursion import tree_rows
from recursive_dyn.recursion.context import segment_size
from recursive_dyn.recursion.momenta import impulse
from recursive_dyn.simulation.edits.edit import Edit
from recursive_dyn.simulation.kept.momentum import floating_trees
from recursive_dyn.simulation.stepping.impulse_arrays import impulse_arrays
from scene import Body, Scene, joints, shapes

SORTS = "box", "ball", "arm", "still", "rod"


def add(scene, sort, name, place, mass=1.0):
    """A tree of a sort: some float, one has several links and a spring, one does not move."""
    at = rd.pose(xyz=(place, 0.0, 1.0), rpy=(0.0, 0.0, 0.1 * place))
    if sort == "still":
        scene.world.attach(Body(name, [shapes.Sphere(0.1)]), joints.fixed(), at=at)
        return
    shape = shapes.Box((0.1, 0.2, 0.3)) if sort == "box" else shapes.Sphere(0.1)
    joint = {"box": joints.free, "ball": joints.free, "arm": joints.ball, "rod": joints.free}[sort]()
    body = scene.world.attach(Body(name, [shape], mass=mass + place), joint, at=at)
    if sort in ("arm", "rod"):
        hinge = joints.revolute("y", stiffness=2.0, rest=0.1) if sort == "arm" else joints.revolute("x")
        body.attach(Body(f"{name} end", [shape], mass=0.5), hinge, at=rd.pose(xyz=(0.0, 0.0, 0.3)))


def grown(sorts):
    scene = Scene()
    for k, sort in enumerate(sorts):
        add(scene, sort, f"{sort} {k}", float(k))
    return scene


def asked_one_by_one(dynamics):
    """The same, of which nobody knows that its trees come one after the other."""
    model = dynamics.model
    return Dynamics(altered(model, parts=replace(model.parts, alone=False)))


def state(dynamics, seed):
    rng = np.random.default_rng(seed)
    return {"q": dynamics.random(rng), "v": rng.normal(size=dynamics.nv), "dt": np.array([0.01])}


@pytest.mark.parametrize("function", ["step", "frames", "impulse_factors", "integrate", "forward_dynamics"])
def test_planned_kernels_give_what_others_do_to_the_bit(function):
    assert FUNCTIONS[function].rows in tree_rows.PLANNED
    for sorts in (SORTS * 3, ("ball",) * 9 + ("arm", "box", "box"), ("rod", "ball", "still", "arm") * 5):
        dynamics = grown(sorts).compile()
        other, known = asked_one_by_one(dynamics), state(dynamics, 1)
        assert dynamics.model.parts.alone
        rng = np.random.default_rng(2)
        given = [
            known[n] if n in known else rng.uniform(0.1, 1.0, segment_size(dynamics.model, n))
            for n in FUNCTIONS[function].inputs
        ]
        results = [SingleCall(d.kernel(function))([*given, np.zeros(0)]) for d in (dynamics, other)]
        np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("function", ["step", "frames", "impulse_factors", "forward_dynamics"])
def test_forests_of_the_same_trees_share_what_is_where_and_none_of_their_numbers(function):
    """Another scene has them with other masses, elsewhere, under other gravity; the first one is forgotten."""
    first, second = grown(SORTS * 3).compile(), Scene(gravity=(0.0, 1.0, -2.0))
    SingleCall(first.kernel(function))
    first.neutral()[:] = np.nan
    for k, sort in enumerate(SORTS * 3):
        add(second, sort, f"other {k}", 0.5 * k, mass=3.0)
    dynamics = second.compile()
    other, known, model = asked_one_by_one(dynamics), state(dynamics, 1), weakref.ref(first.model)
    assert numbers_of(first.model) is numbers_of(dynamics.model)
    kernels = first.kernel(function), dynamics.kernel(function)
    del first
    gc.collect()
    rng = np.random.default_rng(2)
    given = [
        known[n] if n in known else rng.uniform(0.1, 1.0, segment_size(dynamics.model, n))
        for n in FUNCTIONS[function].inputs
    ]
    mine, its = (SingleCall(kernel)([*given, np.zeros(0)]) for kernel in (kernels[1], other.kernel(function)))
    np.testing.assert_array_equal(mine, its)
    assert np.isfinite(dynamics.neutral()).all()
    assert not np.array_equal(SingleCall(kernels[0])([*given, np.zeros(0)]), mine)
    del kernels
    gc.collect()
    assert model() is None


@given(st.lists(st.sampled_from(SORTS), min_size=4, max_size=14))
@settings(max_examples=15, deadline=None)
def test_tables_are_those_of_the_trees_one_by_one(sorts):
    dynamics = grown(sorts).compile()
    other = asked_one_by_one(dynamics)
    for name, own, its in zip(layout(other.model)._fields, layout(dynamics.model), layout(other.model), strict=True):
        np.testing.assert_array_equal(own, its, err_msg=name)
    np.testing.assert_array_equal(links_of_bodies(dynamics.model), links_of_bodies(other.model))
    np.testing.assert_array_equal(impulse.floating(dynamics.model), impulse.floating(other.model))
    np.testing.assert_array_equal(dynamics.neutral(), other.neutral())
    for own, its in zip(floating_trees(dynamics), floating_trees(other), strict=True):
        np.testing.assert_array_equal(own, its)
    for kind, its in zip(dynamics.functions.forest.kinds, other.functions.forest.kinds, strict=True):
        for part in ("links", "bodies", "slots", "places", "constants", "parameters"):
            np.testing.assert_array_equal(getattr(kind, part), getattr(its, part), err_msg=part)


@given(st.lists(st.sampled_from(SORTS), min_size=5, max_size=12), st.data())
@settings(max_examples=15, deadline=None)
def test_what_stays_is_found_again_by_its_tree_as_by_its_name(sorts, data):
    scene = grown(sorts)
    before = scene.compile()
    if data.draw(st.booleans()):
        add(scene, data.draw(st.sampled_from(SORTS)), "new", 20.0)
    else:
        for k in data.draw(st.sets(st.integers(0, len(sorts) - 1), min_size=1, max_size=3)):
            scene[f"{sorts[k]} {k}"].detach()
    after = scene.compile()
    found, its = Edit.between(before, after), Edit.between(asked_one_by_one(before), asked_one_by_one(after))
    for part in ("bodies", "places", "slots", "links", "trees"):
        np.testing.assert_array_equal(getattr(found, part), getattr(its, part), err_msg=part)
    q, v = np.arange(1.0, before.nq + 1.0), np.arange(1.0, before.nv + 1.0)
    np.testing.assert_array_equal(found.configuration(q), its.configuration(q))
    np.testing.assert_array_equal(found.velocity(v), its.velocity(v))
    floats, still = (impulse.floating(model) for model in (before.model, after.model))
    trees = [edit.of_trees(1.0 + floats, np.zeros(len(still))) for edit in (found, its)]
    np.testing.assert_array_equal(*trees)
    assert found.measures == its.measures


def test_bodies_that_turn_freely_are_known():
    dynamics = grown(SORTS * 2).compile()
    own, its = (impulse_arrays(d, 0) for d in (dynamics, asked_one_by_one(dynamics)))
    assert sorted(own.turning.tolist()) == sorted(its.turning.tolist()) and len(own.turning) == 8
    for part in ("guided", "grounded", "hanging", "conserving"):
        np.testing.assert_array_equal(getattr(own, part), getattr(its, part), err_msg=part)


def test_what_no_tree_is_held_by_is_freed_at_once():
    """An edit frees what it replaces: garbage that waits for its collection would have others take new memory."""
    gc.collect()
    gc.disable()
    try:
        dynamics = grown(SORTS * 2).compile()
        dynamics.call("frames", *dynamics.beginning())
        gone = weakref.ref(dynamics.functions)
        grown(SORTS).compile()  # the model that was put together last is kept, this one
        del dynamics
        assert gone() is None
    finally:
        gc.enable()


def test_tables_of_forests_that_grow_are_their_own():
    """Those of more trees behind begin with those of fewer, in the same memory, which nobody writes to again."""

    def arrays(dynamics):
        return [*layout(dynamics.model)[:-2], links_of_bodies(dynamics.model), *floating_trees(dynamics)]

    scene, known = grown(SORTS), []
    for sort in ("ball", "rod", "ball", "still", "arm", "box") * 4:
        add(scene, sort, f"more {len(known)}", 1.0 + len(known))
        dynamics = scene.compile()
        known.append((dynamics, [np.copy(own) for own in arrays(dynamics)]))
        if len(known) % 5 == 0:  # another one behind the same, and back
            add(scene, "rod", "other", 50.0)
            scene.compile().call("frames", *scene.compile().beginning())
            floating_trees(scene.compile())
            scene["other"].detach()
    for dynamics, found in known:
        for own, before, alone in zip(arrays(dynamics), found, arrays(asked_one_by_one(dynamics)), strict=True):
            np.testing.assert_array_equal(own, before)
            np.testing.assert_array_equal(own, alone)
