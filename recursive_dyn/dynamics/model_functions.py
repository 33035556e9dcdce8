"""The list of functions on one model: programs by the method chosen, keys of the cache, names for messages."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from recursive_dyn.codegen.emitting.sizes import Stepping
from recursive_dyn.codegen.evaluator import Evaluator
from recursive_dyn.codegen.function_list import Signature
from recursive_dyn.codegen.kernel import Driver, Kernel
from recursive_dyn.codegen.making.progress import waiting
from recursive_dyn.dynamics.derivatives.derived_functions import along_arguments, along_parameters, by_parameter
from recursive_dyn.dynamics.derivatives.forest_derivatives import ForestDerivatives
from recursive_dyn.dynamics.derivatives.tangents import ArgumentDirections
from recursive_dyn.dynamics.derivatives.tree_derivatives import TreeDerivatives
from recursive_dyn.dynamics.forest_functions import Forest
from recursive_dyn.dynamics.functions import FUNCTIONS
from recursive_dyn.dynamics.mixed.link_kinds import refuse
from recursive_dyn.dynamics.mixed.mixed_kernel import MixedKernel
from recursive_dyn.dynamics.parameters import Parameters
from recursive_dyn.errors import ModelError
from recursive_dyn.graph.program import Program, schedule
from recursive_dyn.graph.recent import Recent
from recursive_dyn.integrators.driven import driven, led, loaded
from recursive_dyn.integrators.registry import stepping
from recursive_dyn.model.model import Model
from recursive_dyn.recursion.context import (
    ALONG,
    AUTO,
    LAGRANGIAN,
    METHOD_TWO,
    OF_BODIES,
    RECURSIVE,
    TRACE,
    Context,
    Function,
    Outputs,
    segment_size,
)
from recursive_dyn.recursion.equations import lagrangian
from recursive_dyn.recursion.equations.dense_operations import operations_around, solve_operations
from recursive_dyn.recursion.forces.pushed_bodies import PUSHES
from recursive_dyn.recursion.groundwork import groundwork

METHODS = (AUTO, RECURSIVE, LAGRANGIAN, TRACE, METHOD_TWO)
# What Method II computes link by link; all else is as of "recursive"
BY_LINKS = ("forward_dynamics", "loaded_accelerations", "step", "rates", "midpoint", "stage")
_DERIVED = {
    "along": along_arguments,
    "along parameters": along_parameters,
    "driven": driven,
    "loaded": loaded,
    "led": led,
}
_TREES = Recent[Evaluator](256)  # by method and key of a tree's model
_OF_COORDINATES = ("v", "a", "tau", "v_middle", "v_end", "a_end", "a_before", "v_before", "diagonal", "bouncing")


@dataclass(frozen=True, eq=False)
class ModelFunctions:
    """``FUNCTIONS`` of a model, for an Evaluator; "function/parameter" is the derivative by a scene parameter, and
    "along/function", "along parameters/function" are those of ``derivatives.derived_functions``, "driven/function",
    "loaded/function" and "led/function" are of ``integrators.driven``.

    method: "recursive", "lagrangian", "trace" (Guenter & Lee's own form, a reference), "method_two" (Si & Guenter's,
    link by link), or "auto", which keeps of the graphs of the first two the one with fewer operations. ModelError for
    another one, or one that cannot take the model, and for unknown functions and parameters. whole: False for one tree
    of a forest, whose functions give sums and not what is made of them.
    """

    model: Model
    method: str = AUTO
    whole: bool = True
    owner = "this scene needs"

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ModelError(f"unknown method '{self.method}'; choose one of {', '.join(METHODS)}")
        if self.method == METHOD_TWO:
            refuse(self.model)
        if self.method == TRACE and self.model.prescribed:
            raise ModelError('trace takes no scene.time and no prescribed motion; compile with method="recursive"')

    def __reduce__(self) -> Any:
        return ModelFunctions, (self.model, self.method, self.whole)

    @cached_property
    def _known(self) -> dict[str, Function]:
        return {}

    @cached_property
    def directions(self) -> dict[str, ArgumentDirections]:
        """Along which functions are differentiated at one state, by function; see ``derivatives.jacobians``."""
        return {}

    def function(self, name: str) -> Function:
        """The entry of the list, or a derivative of one."""
        found = FUNCTIONS.get(name) or self._known.get(name)
        if found is None:
            found = self._known[name] = self._found(name)
        return found

    def _found(self, name: str) -> Function:
        base, _, rest = str(name).partition("/")
        if base in _DERIVED:
            return _DERIVED[base](self.function(rest))
        if base not in FUNCTIONS:
            raise ModelError(f"unknown function '{base}'; choose one of {', '.join(FUNCTIONS)}")
        return by_parameter(FUNCTIONS[base], self.model, rest) if rest else FUNCTIONS[base]

    @property
    def exported(self) -> tuple[str, ...]:
        """Names of the functions that are written as C for this model."""
        present = bool(self.model.constraints)
        return tuple(name for name, f in FUNCTIONS.items() if f.exported and (present or not f.constrained))

    def signature(self, function: str) -> Signature:
        """Input segments and shape of the outputs of a function."""
        known = self.function(function)
        inputs = tuple((n, segment_size(self.model, n)) for n in known.inputs)
        return Signature(inputs, known.shape(self.model), known.solves)

    def key(self, function: str) -> str:
        """The model's content hash, the function, and the method where it matters."""
        known = self.function(function)
        part = " of a tree" if known.total is not None and not self.whole else ""
        matters = known.solves or self.method in (TRACE, METHOD_TWO)
        return f"{self.model.key} {function} {self.method if matters else ''}{part}"

    @cached_property
    def forest(self) -> Forest:
        """The model by its trees."""
        return Forest(self.model, partial(_of_tree, self.method))  # not of a method: that would hold both in a circle

    @cached_property
    def trees(self) -> TreeDerivatives | ForestDerivatives | None:
        """Derivatives by analytic recursion, of what moves."""
        if not self.model.nv or self.model.prescribed:
            return None
        return ForestDerivatives(self.forest) if self.forest.pays else TreeDerivatives(self.model)

    def kernel(self, function: str, report: Callable[[float], None] | None) -> Kernel | None:
        """The kernel of a forest's function, trees in lanes, or by links; None where one program is better, or must
        be."""
        if self.method == METHOD_TWO and function in BY_LINKS and self.model.nv:
            with waiting(f"compiling {function}") if report is None else nullcontext(report) as share:
                key = f"{self.key(function)} by links"
                return MixedKernel(self.model, function, self.function(function), key, share)
        return self.forest.kernel(function, self.function(function), report) if self.whole else None

    def build(self, function: str) -> Program:
        """The function's program; "auto" keeps the method with fewer operations."""
        if self.method != AUTO or not self.function(function).solves:
            return self._by(self.method, function)[0]
        recursive, is_shorter = self._by(RECURSIVE, function)
        if is_shorter:
            return recursive
        return min((recursive, self._by(LAGRANGIAN, function)[0]), key=lambda p: p.operation_count().total)

    def _by(self, method: str, name: str) -> tuple[Program, bool]:
        """The function's program by a method, and whether that of "lagrangian" is known to be longer."""
        function = self.function(name)
        common = function.common and method in (AUTO, RECURSIVE, METHOD_TWO)
        inputs = [(segment, segment_size(self.model, segment)) for segment in (*function.inputs, "parameters")]
        with groundwork(self.model, common) as ground:
            context = ground.context(method, PUSHES in function.inputs)
            outputs = function.outputs(context) if self.whole else function.build(context)
            program = schedule(name, inputs, outputs, context.bound)
            is_shorter = self.method == AUTO and method == RECURSIVE and self._is_shorter(program, context, outputs)
        return program, is_shorter

    def _is_shorter(self, program: Program, c: Context, outputs: Outputs) -> bool:
        """Whether a program by the recursion is shorter than any by M; it may be when this does not say so."""
        most = program.operation_count().total
        if lagrangian.minimum_operations(self.model) > most:
            return True
        most -= solve_operations(self.model)
        ends = [*c.bound.values(), *(x for _, own in outputs for x in own)]
        return most < 0 or most < operations_around(c.tree, c.solves, ends)

    def driver(self, function: str) -> Driver | None:
        """The compiled loop of steps that belongs to a function, if it is an integrator's."""
        rule, model = stepping(function), self.model
        return None if rule is None else Stepping(rule.loop, model.nq, model.nv, model.units)

    def label(self, segment: str, index: int) -> str:
        """Name of one element of an input segment, for messages."""
        segment = segment.removeprefix(ALONG)
        if segment in ("q", "q0", "q_end"):
            return f"coordinate '{self.model.coordinate_names[index]}'"
        if segment in _OF_COORDINATES:
            return f"coordinate '{self.model.coordinates[index].name}'"
        if segment in OF_BODIES:
            return f"body '{self.model.bodies[index // OF_BODIES[segment]].name}'"
        return f"element {index}"


def _of_tree(method: str, model: Model) -> Evaluator:
    """The functions of one tree, shared by all forests of this process that have such trees."""
    return _TREES.of(
        (method, model.key),
        lambda: Evaluator(ModelFunctions(model, method, whole=False), Parameters(model.parameters)),
    )
