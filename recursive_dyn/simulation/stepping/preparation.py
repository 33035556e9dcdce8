"""Other dynamics made ready while a simulation runs on, in a thread that gives way to it (``making.turns``).

Graphs and programs are Python's work, machine code is LLVM's, which needs no interpreter: a step waits for the thread
no longer than the interval at which Python has threads take turns.
"""

from __future__ import annotations

import atexit
import contextlib
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from recursive_dyn.codegen.making import optimizing
from recursive_dyn.codegen.making.building import building
from recursive_dyn.codegen.making.turns import giving_way
from recursive_dyn.contact.contacts import Contacts
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.errors import StateError
from recursive_dyn.integrators.driven import DRIVEN, LOADED, PUSHED_LED
from recursive_dyn.recursion.groundwork import together
from recursive_dyn.simulation.state import State
from recursive_dyn.simulation.stepping.timesteps import Timesteps
from recursive_dyn.simulation.surroundings import PlainDetector

_MOST_KNOWN = 64
_Functions = Iterable[tuple[str, int]]


class Preparation:
    """Dynamics on their way: ``done`` once they are ready, or there are none."""

    def __init__(self, make: Callable[[], Dynamics], functions: _Functions, integrator: str) -> None:
        self._make, self._functions, self._integrator = make, tuple(functions), integrator
        self._ready = threading.Event()
        self._made: Dynamics | None = None
        self._error: BaseException | None = None

    @property
    def done(self) -> bool:
        """Whether there is a result, or an error."""
        return self._ready.is_set()

    def result(self, timeout: float | None = None) -> Dynamics:
        """The dynamics, waited for up to ``timeout``, s. What cannot be made raises what it raised, as ModelError;
        StateError where the time is over."""
        if not self._ready.wait(timeout):
            raise StateError("these dynamics are not ready yet; wait longer, or look at done")
        if self._error is not None:
            raise self._error
        assert self._made is not None
        return self._made

    def run(self, keep: Callable[[Dynamics], None]) -> None:
        """Make it, in whatever thread this is; it is kept before anyone hears that it is done, and may look for it."""
        try:
            with together():
                dynamics = self._compiled()
            keep(dynamics)
            self._made = dynamics
        except BaseException as error:
            self._error = error
        finally:
            self._ready.set()

    def _compiled(self) -> Dynamics:
        """The dynamics with all that steps need."""
        dynamics = self._make()
        steps = Timesteps(dynamics, self._integrator, State(dynamics.neutral(), np.zeros(dynamics.nv)))
        steps.surroundings = PlainDetector(lambda simulation: Contacts.none())
        steps.warm_up()
        for function, width in self._functions:
            with contextlib.suppress(Exception):  # of constraints that are no more, for instance
                dynamics.kernel(function, width, soon=True)
        if dynamics.model.charted:
            dynamics.kernel("chart_quality")
        return dynamics


class Preparing:
    """What is prepared for one simulation, by one thread while there is something to do.

    pushed: whether anything ever pushed its bodies; until then what that takes is prepared once a switch is over.
    """

    def __init__(self, integrator: str) -> None:
        self._integrator = integrator
        self._lock = threading.Lock()
        self._waiting: deque[Preparation] = deque()
        self._thread: threading.Thread | None = None
        self._known: OrderedDict[str, Dynamics] = OrderedDict()
        self._pushing, self.pushed = set[tuple[str, int]](), False  # functions

    def __reduce__(self) -> Any:
        return Preparing, (self._integrator,)

    def add(self, make: Callable[[], Dynamics], functions: _Functions, urgent: bool = True) -> Preparation:
        """Prepare what a function makes, with these functions (name, width); urgent: before all that waits."""
        optimizing.hurry()
        self._pushing |= {function for function in functions if function[0].startswith((DRIVEN, LOADED, PUSHED_LED))}
        every = {*functions, *self._pushing}
        if urgent and not self.pushed:
            every -= self._pushing
        preparation = Preparation(make, sorted(every), self._integrator)
        with self._lock:
            self._waiting.appendleft(preparation) if urgent else self._waiting.append(preparation)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="preparing", daemon=True)
                self._thread.start()
        return preparation

    def complete(self, dynamics: Dynamics) -> None:
        """Prepare what was left for after the switch to these dynamics."""
        left = self._pushing.difference(dynamics.compiled_functions) if self._pushing else ()
        if left:
            self.add(lambda: dynamics, left, urgent=False)

    @property
    def idle(self) -> bool:
        """Whether nothing is being prepared."""
        return self._thread is None

    def forget_waiting(self) -> None:
        """Leave out what has not begun."""
        with self._lock:
            self._waiting.clear()

    def fit(self, dynamics: Dynamics) -> None:
        """Give dynamics what was compiled for others of the same content."""
        if self._known:
            known = self._known.get(_name(dynamics))
            if known is not None:
                dynamics.share(known)

    def _run(self) -> None:
        with giving_way():
            while True:
                with self._lock:
                    if not self._waiting:
                        self._thread = None
                        return
                    preparation = self._waiting.popleft()
                preparation.run(self._keep)

    def _keep(self, made: Dynamics) -> None:
        self._known[_name(made)] = made
        while len(self._known) > _MOST_KNOWN:
            self._known.popitem(last=False)


def _name(dynamics: Dynamics) -> str:
    return f"{dynamics.model.key} {dynamics.method}"


def _stop() -> None:
    """At the program's end nothing is compiled any more: what is being compiled is waited for."""
    building().__enter__()


atexit.register(_stop)
