"""The integrators a simulation may be given, by name."""

from __future__ import annotations

from typing import Any

from recursive_dyn.errors import StateError
from recursive_dyn.integrators import (
    implicit_midpoint,
    linearly_implicit_rk4,
    runge_kutta,
    semi_implicit_euler,
    variational_midpoint,
)
from recursive_dyn.integrators.driven import driven_rule, led_rule, loaded_rule, pushed_led_rule
from recursive_dyn.integrators.integrator import Integrator

INTEGRATORS: dict[str, Integrator] = {
    rule.name: rule
    for rule in (
        semi_implicit_euler.INTEGRATOR,
        runge_kutta.INTEGRATOR,
        implicit_midpoint.INTEGRATOR,
        linearly_implicit_rk4.INTEGRATOR,
        variational_midpoint.INTEGRATOR,
    )
}
BY_FUNCTION: dict[str, Integrator] = {rule.function: rule for rule in INTEGRATORS.values()}

DRIVEN_INTEGRATORS = {name: driven_rule(rule) for name, rule in INTEGRATORS.items()}
LOADED_INTEGRATORS = {name: loaded_rule(rule) for name, rule in INTEGRATORS.items() if rule.loads}
LED_INTEGRATORS = {name: led_rule(rule) for name, rule in INTEGRATORS.items() if rule.loads}
PUSHED_LED_INTEGRATORS = {name: pushed_led_rule(rule) for name, rule in INTEGRATORS.items() if rule.loads}
_STEPPING = {
    rule.function: rule
    for rules in (INTEGRATORS, DRIVEN_INTEGRATORS, LOADED_INTEGRATORS, LED_INTEGRATORS, PUSHED_LED_INTEGRATORS)
    for rule in rules.values()
}
_BY_NAME = INTEGRATORS | {linearly_implicit_rk4.PRESSED.name: linearly_implicit_rk4.PRESSED}
DEFAULT = linearly_implicit_rk4.INTEGRATOR.name  # what a simulation steps by unless it is told


def stepping(function: str) -> Integrator | None:
    """The integrator, driven or not, whose loop belongs to a function, if there is one."""
    return _STEPPING.get(function)


def rule(name: str) -> Integrator:
    """An integrator, or one that others step by at times."""
    return _BY_NAME[name]


def find(name: Any) -> Integrator:
    """An integrator by name; StateError lists the names."""
    if not isinstance(name, str) or name not in INTEGRATORS:
        raise StateError(f"unknown integrator {name!r}; choose one of {', '.join(INTEGRATORS)}")
    return INTEGRATORS[name]
