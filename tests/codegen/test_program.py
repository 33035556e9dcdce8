"""Programs: what verification refuses, what the hash covers, what is counted, what is left out."""

from dataclasses import replace

import numpy as np
import pytest

import recursive_dyn as rd
from recursive_dyn.codegen import reference
from recursive_dyn.graph.definitions import FUNCTIONS
from recursive_dyn.graph.expression import Graph, combine, cos, sin, sqrt, table
from recursive_dyn.graph.program import ARGUMENTS, OperationCount, Program, content_hash, schedule

GOOD = Program("f", (("x", 2),), (("y", 2),), (3.0,), [("add", 0, 1), ("mul", 3, 2), ("sin", 4)], (5, 2))


def test_good_program_passes():
    GOOD.verify()
    assert (GOOD.input_size, GOOD.output_size, GOOD.first_statement) == (2, 2, 3)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        (("frobnicate", 0), "unknown operation 'frobnicate'"),
        (("input", 0), "unknown operation 'input'"),
        (("add", 0, 4), "before it is computed"),
        (("add", 0, 9), "before it is computed"),
        (("add", 0, -1), "before it is computed"),
        (("add", 0), "number of arguments"),
        (("add",), "number of arguments"),
        (("sin", 0, 1), "number of arguments"),
        (("select", 0, 1), "number of arguments"),
    ],
)
def test_bad_statements_are_refused(statement, words):
    bad = replace(GOOD, statements=[GOOD.statements[0], statement, *GOOD.statements[2:]])
    with pytest.raises(rd.ModelError, match=words) as caught:
        bad.verify()
    assert "'f'" in str(caught.value) and "statement 4" in str(caught.value)


WITH_TABLE = Program("t", (("x", 1),), (("y", 1),), (), [("table", 0, 1)], (2,), ((1.0, 2.0),))


def test_tables_stand_in_their_place_only():
    WITH_TABLE.verify()
    for statement in (("table", 0, 0), ("table", 1, 1), ("add", 0, 1)):
        with pytest.raises(rd.ModelError, match="needs a table, or a number"):
            replace(WITH_TABLE, statements=[statement]).verify()
    with pytest.raises(rd.ModelError, match="results do not match"):
        replace(WITH_TABLE, results=(1,)).verify()
    other = [replace(WITH_TABLE, tables=((1.0, 3.0),)), replace(WITH_TABLE, tables=((1.0, 2.0), (1.0,)))]
    assert len({WITH_TABLE.hash, *(p.hash for p in other)}) == 3


@pytest.mark.parametrize("results", [(5,), (5, 2, 1), (5, 6), (5, -1), ()])
def test_bad_results_are_refused(results):
    with pytest.raises(rd.ModelError, match="results do not match"):
        replace(GOOD, results=results).verify()


def test_every_operation_knows_its_arguments():
    for op, count in ARGUMENTS.items():
        arguments = [0.5, (1.0, 2.0)] if op == "table" else [0.5] * count
        assert len(arguments) == count and np.isfinite(FUNCTIONS[op](*arguments)).all()


def build(graph: Graph, name: str = "f") -> Program:
    x, y = graph.inputs("x", 2)
    total = sin(x * y + 2.0) - sqrt(y) * (x * y)
    return schedule(name, [("x", 2)], [("z", [total, 3.0, y])])


def test_hash_ignores_names_graphs_and_what_is_not_used():
    plain = build(Graph())
    crowded = Graph()
    x, y = crowded.inputs("x", 2)
    _ = cos(x) * y + 7.0
    assert build(crowded, name="g").hash == plain.hash


def changes() -> list[Program]:
    renamed_in, renamed_out = replace(GOOD, inputs=(("q", 2),)), replace(GOOD, outputs=(("z", 2),))
    split = replace(GOOD, inputs=(("x", 1), ("p", 1)))
    constant = replace(GOOD, constants=(3.0000000000000004,))
    sign = replace(GOOD, constants=(-3.0,))
    operation = replace(GOOD, statements=[("sub", 0, 1), *GOOD.statements[1:]])
    argument = replace(GOOD, statements=[("add", 0, 0), *GOOD.statements[1:]])
    results = replace(GOOD, results=(5, 1))
    return [GOOD, renamed_in, renamed_out, split, constant, sign, operation, argument, results]


def test_hash_covers_everything_else():
    hashes = [program.hash for program in changes()]
    assert len(set(hashes)) == len(hashes)


def test_content_hash_tells_numbers_and_expressions_apart():
    graph = Graph()
    x, y = graph.inputs("x", 2)
    contents = [("a", [x]), ("a", [y]), ("a", [1.0]), ("a", [-1.0]), ("a", [x, y]), ("a", [x + 1.0]), ("b", [x])]
    hashes = [content_hash(label, scalars) for label, scalars in contents]
    assert len(set(hashes)) == len(hashes)
    tables = [content_hash("a", [table(x, values)]) for values in ((1.0, 2.0), (1.0, 3.0), (1.0, 2.0, 3.0))]
    assert len({*hashes, *tables}) == len(hashes) + 3
    other = Graph()
    _ = other.input("unused")
    assert content_hash("a", [other.input(("x", 0)) + 1.0]) == content_hash("a", [x + 1.0])


def test_operation_counts():
    graph = Graph()
    x, y = graph.inputs("x", 2)
    values = [
        x + y, x - y, x * y, y + 2.0,
        x / y,  # a reciprocal and a product
        sqrt(x), sin(x), cos(x), combine("atan2", [x, y]),
        combine("exp", [x]), combine("min", [x, y]),
        -(x * y),
    ]  # fmt: skip
    count = schedule("f", [("x", 2)], [("y", values)]).operation_count()
    assert count == OperationCount(add=3, mul=2, div=1, sqrt=1, trig=3, neg=1, other=2)
    assert count.total == 12


def test_shared_expressions_are_counted_once():
    graph = Graph()
    x, y = graph.inputs("x", 2)
    program = schedule("f", [("x", 2)], [("y", [sin(x * y), sin(y * x), sin(x * y) + 1.0])])
    assert [s[0] for s in program.statements] == ["mul", "sin", "add"]


def test_schedule_drops_dead_code_and_unused_constants():
    graph = Graph()
    x, y = graph.inputs("x", 2)
    _ = cos(y) * 5.0 + x
    program = schedule("f", [("x", 2)], [("y", [x * 4.0, y, 6.0, 4.0])])
    assert [*program.statements] == [("mul", 0, 2)]
    assert program.constants == (4.0, 6.0)
    assert program.results == (4, 1, 3, 2)


def test_schedule_without_statements_inputs_or_outputs():
    graph = Graph()
    x = graph.input(("x", 0))
    assert schedule("f", [("x", 1)], [("y", [x])]).results == (0,)
    empty = schedule("f", [], [("y", [])])
    assert not empty.statements and empty.results == ()
    assert reference.run(empty, {})["y"].shape == (0,)


def test_schedule_refuses_an_input_it_is_not_given():
    graph = Graph()
    with pytest.raises(rd.ModelError, match=r"'f' depends on \('z', 3\)"):
        schedule("f", [("x", 2)], [("y", [graph.input(("z", 3)) * 2.0])])


def test_interpreter_takes_batches_and_shares_single_rows():
    program = schedule("f", [("x", 2), ("p", 1)], [("z", list(_shifted())), ("one", [1.0])])
    x = np.arange(12.0).reshape(3, 2, 2)
    out = reference.run(program, {"x": x, "p": [10.0]})
    np.testing.assert_array_equal(out["z"], x + 10.0)
    np.testing.assert_array_equal(out["one"], np.ones((3, 2, 1)))


def _shifted():
    graph = Graph()
    x, p = graph.inputs("x", 2), graph.input(("p", 0))
    return x + p
