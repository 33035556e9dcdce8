"""A forest's equal trees are lanes of one program: their functions are those of one program of the whole."""

import pickle
from functools import cache

import numpy as np
import pytest
from chart_cases import euler
from forest_cases import grove
from hypothesis import given, settings
from hypothesis import strategies as st
from joint_cases import KINDS, MOVING
from trees import assert_close, random_body

import recursive_dyn as rd
from recursive_dyn.codegen import reference
from recursive_dyn.codegen.forests.forest_kernel import ForestKernel
from recursive_dyn.codegen.kernel import SingleCall
from recursive_dyn.contact.forest_layout import layout
from recursive_dyn.contact.layout import of_one
from recursive_dyn.dynamics.functions import FUNCTIONS
from recursive_dyn.model.splice import Splice
from recursive_dyn.recursion.context import segment_size
from recursive_dyn.recursion.momenta import impulse
from scene import Body, Scene, joints, shapes

# The same operations on the same numbers, which LLVM fuses where it can, and sums over trees in another order.
ROUNDING, SOLVED = 1e-13, 1e-12
SOLVING = {
    "forward_dynamics", "rates", "step", "midpoint", "cartesian_forces", "pair_wrenches", "tree_wrenches",
    "joint_velocities", "tree_velocities", "pose_step",
}  # fmt: skip
PLAIN = tuple(k for k in MOVING if k != "euler")  # at random configurations far from singular ones
OF_TREES = [
    name
    for name, function in FUNCTIONS.items()
    if not function.constrained and name not in {"element_slopes", "element_answers"}
]  # rows of several trees


def rows(forest, dynamics, function, count):
    """Rows of every input segment at configurations in the joints' domains."""
    q, v = forest.states(dynamics, count, 1)
    rng = np.random.default_rng(2)
    known = {"q": q, "v": v, "q_end": forest.states(dynamics, count, 3)[0], "v_middle": v}
    known["dt"] = np.full((count, 1), 0.01)
    known["poses"] = dynamics.poses(known["q_end"]).reshape(count, -1)
    known["weights"] = rng.uniform(0.5, 2.0, (count, segment_size(dynamics.model, "weights")))
    names = FUNCTIONS[function].inputs
    return {n: known.get(n, rng.normal(size=(count, segment_size(dynamics.model, n)))) for n in names}


def whole(dynamics, function, given):
    """Outputs by the interpreter of the whole's one program."""
    inputs = given | {"parameters": dynamics.parameters.values_array}
    return np.concatenate(list(reference.run(dynamics.program(function), inputs).values()), axis=-1)


@cache
def forest(seed):
    trees = grove(seed, trees=2, bodies=3, copies=3 * seed, kinds=PLAIN, scenery=seed % 3, varied=seed == 2)
    return trees, trees.scene.compile()


@pytest.mark.parametrize("function", OF_TREES)
@pytest.mark.parametrize("seed", [1, 2])
def test_trees_in_lanes_give_what_one_program_of_the_whole_gives(seed, function):
    trees, d = forest(seed)
    assert isinstance(d.kernel(function), ForestKernel)
    given = rows(trees, d, function, 3)
    expected = whole(d, function, given)
    tolerance = SOLVED if function in SOLVING else ROUNDING
    single = SingleCall(d.kernel(function))
    alone = [single([*(r[i] for r in given.values()), d.parameters.values_array]) for i in range(3)]
    assert_close(np.array(alone), expected, tolerance)
    assert_close(d.batch(function, list(given.values()), (3,)), expected, tolerance)
    given = {n: r[0] for n, r in given.items()}
    assert_close(d.call(function, *given.values()).reshape(-1), expected[0], tolerance)


@given(seed=st.integers(0, 10**6), tied=st.booleans(), scenery=st.integers(0, 2), varied=st.booleans())
@settings(max_examples=4)
def test_every_part_is_of_one_tree_and_every_result_of_one_place(seed, tied, scenery, varied):
    """On random forests without compiling: the interpreter runs the trees' programs on gathered inputs."""
    trees = grove(seed, trees=2, bodies=4, copies=2, kinds=tuple(KINDS), scenery=scenery, tied=tied, varied=varied)
    d = trees.scene.compile("recursive")
    model, planned = d.model, d.functions.forest
    for part, count in (("links", len(model.links)), ("bodies", len(model.bodies)), ("slots", model.nv)):
        found = np.concatenate([getattr(kind, part).ravel() for kind in planned.kinds])
        assert sorted(found) == list(range(count))
    assert sum(map(len, planned.kinds)) <= 4 + tied + scenery
    if not varied:  # random frames are moved by angles of their own, which are no inputs
        assert len(planned.kinds) <= 2 + tied + scenery
    for function in (
        "poses",
        "velocities",
        "screws",
        "bias",
        "mass_matrix",
        "impulse_factors",
        "momentum",
        "integrate",
    ):
        known = FUNCTIONS[function]
        given = rows(trees, d, function, 1)
        flat = np.concatenate([*(r[0] for r in given.values()), d.parameters.values_array])
        expected = whole(d, function, given)[0]
        result = np.zeros(len(expected))
        for kind, at, to in zip(planned.kinds, planned.inputs(known), known.rows(model, planned.kinds), strict=True):
            program = planned.tree(kind).program(function)
            sizes = np.cumsum([0, *(size for _, size in program.inputs)])
            own = np.concatenate([flat[at.positions()], kind.constants], axis=1)
            named = {n: own[:, a:b] for (n, _), a, b in zip(program.inputs, sizes[:-1], sizes[1:], strict=True)}
            if not program.output_size or (known.sums and not kind.model.nv):
                continue
            made = np.concatenate(
                [np.broadcast_to(x, (len(kind), x.shape[-1])) for x in reference.run(program, named).values()], axis=-1
            )
            result[to.positions()] += made[:, : to.size]
            if known.sums:
                result[-known.sums :] += made[:, to.size :].sum(axis=0)
        assert_close(result, expected, ROUNDING)


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4", "implicit_midpoint"])
def test_trees_in_lanes_move_as_each_does_alone(integrator):
    """A forest of pendulums and boxes that ends at limits where the tree alone does."""

    def scene(count):
        made = Scene()
        for i in range(count):
            arm = made.world.attach(
                Body(f"arm {i}", mass=1.0, inertia=np.diag([0.1, 0.2, 0.15]), center_of_mass=(0.0, 0.0, -0.5)),
                joints.revolute("y", limits=(-1.0, 0.4)),
            )
            arm.attach(Body(f"fore {i}", shapes=[shapes.Box((0.1, 0.1, 0.4))]), joints.revolute("x", damping=0.1))
        return made.compile()

    many, one = scene(5), scene(1)
    assert isinstance(many.kernel("step"), ForestKernel) and not isinstance(one.kernel("step"), ForestKernel)
    sim, alone = rd.Simulation(many, 1e-3, integrator), [rd.Simulation(one, 1e-3, integrator) for _ in range(5)]
    rng = np.random.default_rng(4)
    sim.v = rng.normal(size=many.nv)
    for i, single in enumerate(alone):
        single.v = sim.v[2 * i : 2 * i + 2]
    for _ in range(3):
        sim.step(200)
        for i, single in enumerate(alone):
            single.step(200)
            assert_close(sim.q[2 * i : 2 * i + 2], single.q, 1e-10, scale=1.0)
            assert_close(sim.v[2 * i : 2 * i + 2], single.v, 1e-10, scale=1.0)


def test_bodies_of_other_sizes_and_places_are_of_one_kind():
    """A pit of mixed boxes and balls is one program."""
    scene = Scene()
    rng = np.random.default_rng(6)
    for i in range(12):
        shape = shapes.Box(rng.uniform(0.1, 0.3, 3)) if i % 3 else shapes.Sphere(rng.uniform(0.1, 0.3))
        at = rd.pose(xyz=rng.normal(size=3) * (i > 0), rpy=rng.normal(size=3))
        scene.world.attach(Body(f"body {i}", shapes=[shape]), joints.free(), at=at)
    d = scene.compile()
    assert len(d.functions.forest.kinds) == 1
    q, v = d.random(1), rng.normal(size=d.nv)
    tau = rng.normal(size=d.nv)
    given = {"q": q[None], "v": v[None], "tau": tau[None]}
    assert_close(d.forward_dynamics(q, v, tau), whole(d, "forward_dynamics", given)[0], SOLVED)
    assert_close(d.poses(q).ravel(), whole(d, "poses", {"q": q[None]})[0], ROUNDING)


def test_each_tree_has_its_own_chart():
    """Joints of several charts: which is in force is an input of each tree."""
    scene = Scene()
    for i in range(4):
        scene.world.attach(random_body(np.random.default_rng(3), f"top {i}"), euler("zyx", "xyz"))
    d = scene.compile()
    for i in (1, 3):
        d.parameters[f"top {i}.chart"] = 1
    rng = np.random.default_rng(5)
    q, v, tau = rng.uniform(0.2, 0.8, (3, 12))
    given = {"q": q[None], "v": v[None], "tau": tau[None]}
    assert isinstance(d.kernel("forward_dynamics"), ForestKernel)
    assert_close(d.forward_dynamics(q, v, tau), whole(d, "forward_dynamics", given)[0], SOLVED)


def test_derivatives_by_a_parameter_are_of_trees_too():
    trees, d = forest(1)
    q, v = (x[0] for x in trees.states(d, 1, 7))
    for function, arguments in (("forward_dynamics", (q, v, np.zeros(d.nv))), ("kinetic_energy", (q, v)),
                                ("center_of_mass", (q,))):  # fmt: skip
        values = []
        for scale in (1.3 + 1e-4, 1.3 - 1e-4):
            own = d.view()
            own.parameters["scale"] = scale
            values.append(own.call(function, *arguments))
        slope = (values[0] - values[1]) / 2e-4
        assert_close(d.parameter_derivative(function, "scale", *arguments), slope, 1e-6)


def test_what_is_not_of_trees_has_one_program():
    scene = Scene()
    arms = [scene.world.attach(Body(f"arm {i}", mass=1.0, inertia=np.eye(3)), joints.revolute("y")) for i in range(6)]
    scene.constrain(arms[0].q[0] - arms[1].q[0])
    assert not isinstance(scene.compile().kernel("forward_dynamics"), ForestKernel)
    alone = Scene()
    for i in range(3):
        alone.world.attach(Body(f"arm {i}", mass=1.0 + i, inertia=np.eye(3)), joints.revolute("y"))
    assert not isinstance(alone.compile().kernel("forward_dynamics"), ForestKernel)


def test_trees_on_a_body_that_does_not_move_push_it_together():
    """Each hangs on it, so that it gets a wrench from each."""
    scene = Scene()
    base = scene.world.attach(Body("base", shapes=[shapes.Box((1, 1, 0.1))]), joints.fixed())
    for i in range(5):
        base.attach(Body(f"arm {i}", mass=1.0, inertia=np.eye(3)), joints.revolute("y"))
    d = scene.compile()
    wrenches = d.cartesian_forces(np.zeros(5), np.ones(5))
    np.testing.assert_allclose(wrenches[0], [0, -5, 0, 0, 0, 0], atol=1e-14)
    assert isinstance(d.kernel("poses"), ForestKernel)


def test_a_forest_travels():
    _, d = forest(2)
    copied = pickle.loads(pickle.dumps(d))
    q = d.random(1)
    np.testing.assert_array_equal(copied.poses(q), d.poses(q))


def test_a_number_that_is_not_finite_is_told_by_its_coordinate():
    _, d = forest(2)
    q = d.neutral()
    q[-1] = np.nan
    with pytest.raises(rd.StateError, match=d.coordinates[-1]):
        d.poses(q)
    with pytest.raises(rd.StateError, match=d.coordinates[-1]):
        d.poses(np.stack([d.neutral(), q]))


@given(seed=st.integers(0, 10**6), varied=st.booleans())
@settings(max_examples=3)
def test_a_model_put_together_from_its_trees_is_that_of_all_bodies_at_once(seed, varied):
    """Whatever the order in which bodies were attached: what a shared coordinate adds leaves the rest as it was."""
    trees = grove(seed, trees=3, bodies=4, copies=2, kinds=tuple(KINDS), scenery=seed % 3, varied=True)
    alone = trees.scene.model()
    assert alone.parts
    shared = trees.scene.coordinate("shared")
    trees.scene.world.attach(random_body(np.random.default_rng(0), "tied"), joints.revolute("x").driven(shared))
    whole = trees.scene.model()
    assert not whole.parts
    assert whole.coordinate_names[:-1] == alone.coordinate_names and whole.coordinates[:-1] == alone.coordinates
    assert (whole.plain_slots[:-1], whole.units) == (alone.plain_slots, alone.units)
    for one, other in ((whole.links[:-1], alone.links), (whole.bodies[:-1], alone.bodies)):
        for a, b in zip(one, other, strict=True):
            assert a.__dict__.keys() == b.__dict__.keys()
            for name, value in a.__dict__.items():
                same(value, getattr(b, name))


def same(a, b):
    """Equal content of a field of a link or a body."""
    if isinstance(a, np.ndarray):
        assert a.tolist() == b.tolist()
    elif hasattr(a, "mass"):
        assert (a.mass, a.first.tolist(), a.second.tolist()) == (b.mass, b.first.tolist(), b.second.tolist())
    else:
        assert getattr(a, "key", a) == getattr(b, "key", b)


def test_a_body_that_is_edited_is_read_again():
    """What was lowered is kept with a body, for as long as it is what it was."""
    scene = Scene()
    bodies = [scene.world.attach(Body(f"b{i}", mass=1.0, inertia=np.eye(3)), joints.revolute("y")) for i in range(5)]
    assert scene.compile().mass_matrix(np.zeros(5))[2, 2] == 1.0
    edited = bodies[2].detach()
    scene.world.attach(edited, joints.revolute("y", armature=2.0), at=rd.pose(xyz=(1, 2, 3)))
    d = scene.compile()
    assert d.bodies == ("b0", "b1", "b3", "b4", "b2")
    assert d.mass_matrix(np.zeros(5))[4, 4] == 3.0
    np.testing.assert_array_equal(d.poses(np.zeros(5))[4, :3, 3], [1, 2, 3])
    edited.name = "renamed"
    assert scene.compile().bodies[4] == "renamed"


def test_a_body_stands_alone_until_something_else_is_said_of_it():
    """What is known of bodies that stand alone is all that a model asks of them: it is forgotten where they do not."""
    scene = Scene()
    bodies = [scene.world.attach(Body(f"b{i}", mass=1.0, inertia=np.eye(3)), joints.revolute("y")) for i in range(3)]

    def alone() -> list[bool]:
        scene.compile()
        return [body.lone is not None for body in bodies]

    assert alone() == [True] * 3
    hand = bodies[0].attach(Body("hand", mass=1.0, inertia=np.eye(3)), joints.revolute("x"))
    assert scene.compile().nv == 4 and bodies[0].lone is None
    hand.detach()
    bodies[1].breaks_at(torque=1.0)
    assert scene.compile().hanging.strengths.keys() == {"b1"} and bodies[1].lone is None
    bodies[1].breaks_at()
    assert alone() == [True] * 3
    scene.gravity = (0.0, 0.0, -1.0)
    before = scene.compile()
    assert before.model.gravity[2] == -1.0 and before.hanging.acts == [body.act for body in bodies]
    bodies[2].detach()
    scene.world.attach(bodies[2], joints.revolute("y"))
    assert before.hanging.acts != scene.compile().hanging.acts
    scene.constrain(bodies[0].q[0] - bodies[1].q[0])
    assert len(scene.compile().model.constraints) == 1


@given(data=st.data())
def test_a_splice_says_what_came_and_went(data):
    before, came = ([object() for _ in range(data.draw(st.integers(0, most)))] for most in (6, 3))
    first = data.draw(st.integers(0, len(before)))
    end = data.draw(st.integers(first, len(before)))
    after = [*before[:first], *came, *before[end:]]
    found = Splice.between(before, after)
    assert (found.gone, found.came) == (end - first, len(came))
    assert after == [*before[: found.first], *after[found.first :][: found.came], *before[found.end :]]


@given(seed=st.integers(0, 10**6), varied=st.booleans())
@settings(max_examples=3)
def test_the_layout_of_a_forest_is_that_of_its_links_one_by_one(seed, varied):
    model = grove(seed, trees=3, bodies=4, copies=2, kinds=tuple(KINDS), scenery=seed % 3, varied=True).scene.model()
    assert model.parts
    for name, expected in of_one(model)._asdict().items():
        np.testing.assert_array_equal(getattr(layout(model), name), expected, err_msg=name)
    alone = model.changed()
    assert impulse.factors_size(model) == impulse.factors_size(alone)
    np.testing.assert_array_equal(impulse.floating(model), impulse.floating(alone))
