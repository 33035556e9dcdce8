"""Dynamics travel to worker processes, by fork, spawn and forkserver, and compute there what they compute here."""

import copy
import multiprocessing
import pickle

import numpy as np
import pytest
from chart_cases import euler, single
from constraint_cases import bound, driven
from trees import mechanism

import recursive_dyn as rd
from recursive_dyn.graph import expression as ex
from recursive_dyn.graph.expression import Graph
from recursive_dyn.graph.program import schedule
from scene import Body, Scene, joints

TIMEOUT = 120  # s: a worker that hangs fails the test instead of the session


def evaluated(dynamics, q, v):
    """Bits of single calls and of batches, by one thread and by several."""
    many = np.resize(q, (4096, q.shape[1])), np.resize(v, (4096, v.shape[1]))
    results = [dynamics.forward_dynamics(q[0], v[0]), dynamics.poses(q[0]), dynamics.mass_matrix(q)]
    return [x.tobytes() for x in (*results, dynamics.forward_dynamics(*many))]


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers_compute_what_this_process_computes(method):
    """This process has run a batch by several threads before, which a forked child does not have."""
    m = mechanism(8, 8, couplings=True)
    d, (q, v) = m.dynamics(), m.states(5, 1)
    expected = evaluated(d, q, v)
    with multiprocessing.get_context(method).Pool(2) as workers:
        assert workers.starmap_async(evaluated, [(d, q, v)] * 4).get(TIMEOUT) == [expected] * 4


def scaled():
    scene = Scene()
    length = scene.parameter("length", 1.0)
    scene.world.attach(Body("rod", mass=1.0, center_of_mass=(0, 0, -length), inertia=np.eye(3)), joints.revolute("y"))
    return scene.compile()


def test_the_parameters_travel_and_the_copy_has_its_own():
    d = scaled()
    d.parameters["length"] = 2.0
    for other in (pickle.loads(pickle.dumps(d)), copy.deepcopy(d), copy.copy(d)):
        assert other.parameters["length"] == 2.0
        other.parameters["length"] = 3.0
        assert d.parameters["length"] == 2.0
        assert other.mass_matrix([0.0])[0, 0] == 10.0 and d.mass_matrix([0.0])[0, 0] == 5.0
        with pytest.raises(rd.ModelError, match="the scene declares length"):
            other.parameters["width"] = 1.0


@pytest.mark.parametrize(
    "make",
    [lambda: single(euler("xyz", "zxz")), lambda: bound(8, 8).dynamics(), lambda: driven().dynamics()],
    ids=["charts", "constraints", "shared coordinates"],
)
def test_charts_constraints_and_shared_coordinates_travel(make):
    d = make()
    other = pickle.loads(pickle.dumps(d))
    assert other.model.key == d.model.key and other.method == d.method
    del other.model.__dict__["key"]
    assert other.model.key == d.model.key  # of the content as it was read, not only as it was written
    q = d.neutral() + 0.1
    assert other.mass_matrix(q).tobytes() == d.mass_matrix(q).tobytes()
    assert other.coordinates == d.coordinates and other.constraints == d.constraints
    if d.model.charted:
        chart = next(name for name in other.parameters if name.endswith(".chart"))
        other.parameters[chart] = 1
        d.parameters[chart] = 1
        assert other.poses(q).tobytes() == d.poses(q).tobytes()


def test_copies_compile_nothing_twice_and_views_in_one_pickle_stay_views():
    d = scaled()
    assert copy.deepcopy(d).kernel("poses") is d.kernel("poses")
    first, second = pickle.loads(pickle.dumps((d, d.view())))
    assert first.kernel("poses") is second.kernel("poses") and first.model is second.model


def test_a_deep_graph_travels():
    """A pickle that went down the nodes would meet Python's recursion limit."""
    graph = Graph()
    x = deep = graph.input(("q", 0))
    for _ in range(3000):
        deep = ex.sin(deep) * 1.5 + x
    for copied in (pickle.loads(pickle.dumps(deep)), copy.deepcopy(deep)):
        assert copied.graph is not graph and len(copied.graph) == len(graph)
        programs = [schedule("deep", [("q", 1)], [("y", [y])]) for y in (deep, copied)]
        assert programs[0].hash == programs[1].hash
