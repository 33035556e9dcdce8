"""Integrators with what drives a simulation from outside evaluated where the stages are: pushes, and forces asked for.

They are compiled beside the plain ones, and run while there are such.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from recursive_dyn.codegen.emitting.sizes import Sizes
from recursive_dyn.integrators.integrator import Integrator
from recursive_dyn.integrators.loop_text import ASK
from recursive_dyn.recursion.context import Context, Function, Outputs
from recursive_dyn.recursion.forces.pushed_bodies import PUSHES

DRIVEN, LOADED, LED = "driven/", "loaded/", "led/"  # before the names of the functions
PUSHED_LED = LED + DRIVEN
LOAD, LEAD = "diagonal", "a"  # segments of their inputs


def driven(function: Function) -> Function:
    """The same function of a tree whose bodies are under pushes, its last input."""

    def build(c: Context) -> Outputs:
        return function.build(c if c.tree.pushes is not None else replace(c, tree=c.tree.under(c.input(PUSHES))))

    return replace(function, inputs=(*function.inputs, PUSHES), build=build)


def loaded(function: Function) -> Function:
    """The same function of a tree that is driven, by forces that answer accelerations, as of a ``Load``."""

    def build(c: Context) -> Outputs:
        return under_pushes.build(replace(c, tree=c.tree.loaded(c.input(LOAD), c.input(LEAD))))

    under_pushes = driven(function)
    return replace(under_pushes, inputs=(*under_pushes.inputs, LOAD, LEAD), build=build)


def led(function: Function) -> Function:
    """The same function of a tree that motors lead, as ``led_motors`` has it: under such forces, which are so large
    where velocities are kept that the energies of their loads would say nothing. Their power is told instead."""

    def build(c: Context) -> Outputs:
        return function.build(replace(c, tree=c.tree.loaded(c.input(LOAD), c.input(LEAD), leads=True)))

    return replace(function, inputs=(*function.inputs, LOAD, LEAD), build=build)


def driven_rule(rule: Integrator) -> Integrator:
    """The rule over driven functions, whose loop asks for forces."""
    return _over(rule, DRIVEN, driven)


def loaded_rule(rule: Integrator) -> Integrator:
    """The same of loaded ones."""
    return _over(rule, LOADED, loaded)


def led_rule(rule: Integrator) -> Integrator:
    """The rule over led functions, whose loop asks nobody."""
    return _over(rule, LED, led, asks=False)


def pushed_led_rule(rule: Integrator) -> Integrator:
    """The rule over functions of trees that are driven and led."""
    return _over(rule, PUSHED_LED, lambda function: led(driven(function)))


def _over(rule: Integrator, prefix: str, made: Callable[[Function], Function], asks: bool = True) -> Integrator:
    beside = None if rule.beside is None else (rule.beside[0], made(rule.beside[1]))
    loop = partial(_asking, rule.loop) if asks else rule.loop
    return replace(rule, function=prefix + rule.function, graph=made(rule.graph), beside=beside, loop=loop)


def _asking(loop: Callable[[str, Sizes], str], entry: str, sizes: Sizes) -> str:
    return ASK + loop(entry, replace(sizes, asked=True))
