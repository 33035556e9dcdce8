"""The compiled loop of the linearly implicit Runge-Kutta methods: stages, the watch on energy, halves of steps.

It is one for both of them: the head of work says which coefficients its stages are made with.

Parts of a step are counted in 2^-DEPTH of it. Behind a part that ends at n follows one of the largest power of two that
divides n, which is what halving halves until all are taken amounts to.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recursive_dyn.codegen.emitting.ir_text import copy, load, place, scalar_literal
from recursive_dyn.codegen.emitting.sizes import Operand, Sizes
from recursive_dyn.integrators.compiled_loop import BESIDE, DAMPED, HEAD, RULE, SUMS, TALLY, TALLY_SIZE, TRIED
from recursive_dyn.integrators.energy_watch import WATCH, watched_sizes
from recursive_dyn.integrators.loop_text import (
    LIMITED,
    WITHIN,
    evaluation,
    limit_check,
    opening,
    size_check,
    stage_helpers,
)
from recursive_dyn.integrators.runge_kutta import UNITS

REACH = (0.5, 0.5, 1.0)  # of the step, from its start to the second, third and fourth stage
WEIGHTS = (1.0, 2.0, 2.0, 1.0)  # sixths


@dataclass(frozen=True)
class Stages:
    """g; ahead: d; before (4, 3): G, what is below its diagonal."""

    gamma: float
    ahead: float
    before: np.ndarray


OWN = Stages(0.225, 0.225, np.array([
    [0.0, 0.0, 0.0],
    [-0.19601325563994536, 0.0, 0.0],
    [0.17742207830052237, -0.656408822460577, 0.0],
    [0.0371823550788461, 0.10110658798922738, -0.13828894306807343],
]))  # fmt: skip
HELD = Stages(1.0, 0.5, -np.eye(4, 3, -1) * [0.5, 0.5, 1.0])
RESOLVED = 3.0  # h sqrt(K / M) up to which joint springs are to keep their energy
# h sqrt(K / M), and h D / M, from which on elements are implicit: halves would be hundreds. No round number: springs
# just at it would be implicit in one stage and explicit in the next, as rounding has it
STIFF = 29.87
SWINGING = 20.0  # h w from which on springs of balls are implicit: halves would be hundreds, w of ``turn_frequencies``
DEPTH, HALVINGS = 20, 1000  # a part is 2^-DEPTH of a step at least; how often one may be halved, parts of it with it
_FINEST = 1 << DEPTH


def loop(entry: str, sizes: Sizes) -> str:
    """The kernel gives a stage's [q-dot, k, u, powers]; the head of work as ``compiled_loop`` has it, with a watch."""
    names, trees, powers, balances = watched_sizes(sizes)
    return f"""{stage_helpers()}{WATCH}{WITHIN}{UNITS}{sizes.text}
{opening(entry, sizes.inputs, LIMITED, first=f"{sizes.first}{chr(10)}{names}")}
step:
{_memory(sizes, trees, balances)}
  call void @accumulate(ptr %tried, ptr %tally, double 0.0, i64 0, i64 {TALLY_SIZE})
{copy("%start", "%in", sizes.state)}
  store double %whole, ptr %in_all
  call void @clear(ptr %peaks, i64 {trees})
  %first = icmp eq i64 %done, 0
  br i1 %first, label %measure, label %part
measure:
  %gamma_all = fmul double %whole, %gamma
  store double %gamma_all, ptr %dt
  %ahead_all = fmul double %whole, %beyond
  store double %ahead_all, ptr %ahead
  call void %watch(ptr %in, ptr %energies, ptr %room)
{copy("%before", "%energies", balances)}
  br label %part
{_part(entry, sizes, powers, balances)}
{_judgement(sizes, trees)}
check:
{copy("%before", "%energies", balances)}
  %reached = add i64 %at, %size
  %last = icmp eq i64 %reached, {_FINEST}
  br i1 %last, label %arrive, label %go_on
go_on:
  %negative = sub i64 0, %reached
  %following = and i64 %reached, %negative
  br label %part
arrive:
{limit_check("%in", beyond="return")}
return:
{copy("%in", "%start", sizes.state)}
  br label %stop
accept:
  call void @accumulate(ptr %tally, ptr %tried, double 1.0, i64 1, i64 {SUMS})
{_larger("tally", "tried", SUMS)}
  %next = add i64 %done, 1
  br label %head
}}
"""


def _memory(sizes: Sizes, trees: Operand, balances: Operand) -> str:
    """Names of what a step works with."""
    places: list[tuple[str, str, Operand]] = [
        ("v", "%in", sizes.nq), ("forces", "%v", sizes.nv), ("dt", "%forces", sizes.nv), ("ahead", "%dt", 1),
        ("in_all", "%ahead", 1), ("a_before", "%in_all", 1), ("v_before", "%a_before", sizes.nv),
        ("k", "%out", sizes.nq),
        ("u", "%out", sizes.state), ("power", "%u", sizes.nv),
        ("tally", "%work", TALLY), ("tried", "%work", TRIED), ("damped", "%work", DAMPED),
        ("start", "%work", HEAD), ("x0", "%start", sizes.state), ("sum", "%x0", sizes.state),
        ("k0", "%sum", sizes.state), ("k1", "%k0", sizes.nv), ("k2", "%k1", sizes.nv),
        ("u0", "%k2", sizes.nv), ("u1", "%u0", sizes.nv), ("u2", "%u1", sizes.nv),
        ("before", "%u2", sizes.nv), ("peaks", "%before", balances), ("spent", "%peaks", trees),
    ]  # fmt: skip
    watch = [load(name, "ptr", "%work", BESIDE + i) for i, name in enumerate(("watch", "energies", "room"))]
    return "\n".join(
        [
            *(place(name, "double", base, index) for name, base, index in places),
            load("whole", "double", "%work", 0),
            load("rule", "double", "%work", RULE),
            "  %held = fcmp one double %rule, 0.0",
            _either("gamma", OWN.gamma, HELD.gamma),
            _either("beyond", OWN.ahead, HELD.ahead),
            *watch,
        ]
    )


def _either(name: str, own: float, held: float) -> str:
    """A coefficient of the rule that steps go by."""
    return f"  %{name} = select i1 %held, double {scalar_literal(float(held))}, double {scalar_literal(float(own))}"


def _part(entry: str, sizes: Sizes, powers: Operand, balances: Operand) -> str:
    """A part of a step, and the energies where it ends; where something is not finite it is too long."""
    return f"""part:
  %at = phi i64 [ 0, %step ], [ 0, %measure ], [ %reached, %go_on ], [ %at, %halve ]
  %size = phi i64 [ {_FINEST}, %step ], [ {_FINEST}, %measure ], [ %following, %go_on ], [ %half, %halve ]
  %parts = uitofp i64 %size to double
  %share = fmul double %parts, {scalar_literal(1.0 / _FINEST)}
  %h = fmul double %whole, %share
  %behind = uitofp i64 %at to double
  %done_share = fmul double %behind, {scalar_literal(1.0 / _FINEST)}
  %since = fmul double %whole, %done_share
  %gh = fmul double %h, %gamma
  store double %gh, ptr %dt
  %dh = fmul double %h, %beyond
  store double %dh, ptr %ahead
{copy("%x0", "%in", sizes.state)}
{chr(10).join(_stage(entry, sizes, stage, powers) for stage in range(4))}
  %sixth = fmul double %h, {scalar_literal(1.0 / 6.0)}
  call void @advance(ptr %in, ptr %x0, double %sixth, ptr %sum, i64 {sizes.state})
  call void @units(ptr %in, ptr {sizes.unit_table}, i64 {sizes.unit_count})
  call void %watch(ptr %in, ptr %energies, ptr %room)
  %known = call i1 @rd.finite(ptr %energies, i64 {balances})
  br i1 %known, label %judge, label %shorter"""


def _stage(entry: str, sizes: Sizes, stage: int, powers: Operand) -> str:
    """One stage: what those before it did to its joints, its rates, on to where the next one starts."""
    lines = []
    for target, source in (("a_before", "k"), ("v_before", "u")):
        for j in range(max(stage, 1)):
            weight = f"%{target}{stage}{j}"
            lines.append(f"""{_either(f"{target}{stage}{j}.share", OWN.before[stage, j], HELD.before[stage, j])}
  {weight} = fmul double %h, {weight}.share
  call void @accumulate(ptr %{target}, ptr %{source}{j}, double {weight}, i64 {min(j, 1)}, i64 {sizes.nv})""")
    weight = scalar_literal(WEIGHTS[stage])
    lines.append(f"""  %when{stage} = fadd double %since, {f"%reach{stage - 1}" if stage else "0.0"}
{evaluation(entry, sizes.asked, f"%when{stage}")}
  %good{stage} = call i1 @rd.finite(ptr %out, i64 {sizes.outputs})
  br i1 %good{stage}, label %stage{stage}, label %shorter
stage{stage}:
  call void @accumulate(ptr %sum, ptr %out, double {weight}, i64 {min(stage, 1)}, i64 {sizes.state})
  call void @accumulate(ptr %spent, ptr %power, double {weight}, i64 {min(stage, 1)}, i64 {powers})""")
    if stage < 3:
        lines.append(f"""{copy(f"%k{stage}", "%k", sizes.nv)}
{copy(f"%u{stage}", "%u", sizes.nv)}
  %reach{stage} = fmul double %h, {scalar_literal(REACH[stage])}
  call void @advance(ptr %in, ptr %x0, double %reach{stage}, ptr %out, i64 {sizes.state})""")
    return "\n".join(lines)


def _judgement(sizes: Sizes, trees: Operand) -> str:
    """A part whose energy is explained, or that cannot be halved, is taken; ``check`` is where it goes on."""
    return f"""judge:
  %odd = call double @unexplained(
    ptr %before, ptr %energies, ptr %peaks, ptr %spent, double %sixth, double %share, i64 {trees}, ptr %damped
  )
  %explained = fcmp ole double %odd, 0.0
  br i1 %explained, label %taken, label %doubtful
doubtful:
{_divisible("divisible")}
  br i1 %divisible, label %back, label %unexplained
unexplained:
{_added(2, "%odd")}
  br label %taken
taken:
{load("gone", "double", "%damped", 0)}
  %went = fcmp ogt double %gone, 0.0
  br i1 %went, label %damping, label %sized
damping:
{place("tried.steps", "double", "%tried", SUMS - 2)}
  store double 1.0, ptr %tried.steps
{_added(SUMS - 1, "%gone")}
{_larger("tried", "damped", 1)}
  br label %sized
sized:
{copy("%sum", "%out", sizes.state)}
{size_check("%sum", sizes.state, "give_up", "undo")}
shorter:
{_divisible("hope")}
  br i1 %hope, label %back, label %give_up
back:
{copy("%in", "%x0", sizes.state)}
  br label %halve
halve:
  store double 1.0, ptr %tried
{_added(1, "1.0")}
  %half = lshr i64 %size, 1
  br label %part
give_up:
{copy("%in", "%start", sizes.state)}
  br label %fail
undo:
{copy("%in", "%start", sizes.state)}
  br label %doubt"""


def _larger(target: str, source: str, at: int) -> str:
    """Let the most that went in a part of a step be that of source, whose entry ``at`` it is, if that is more."""
    return f"""{load(f"{source}.lost", "double", f"%{source}", at)}
{load(f"{source}.by", "double", f"%{source}", at + 1)}
{place(f"{target}.most", "double", f"%{target}", SUMS)}
  call void @larger(ptr %{target}.most, double %{source}.lost, double %{source}.by)"""


def _divisible(name: str) -> str:
    return f"""{load(f"{name}.so_far", "double", "%tried", 1)}
  %{name}.allowed = fcmp olt double %{name}.so_far, {scalar_literal(float(HALVINGS))}
  %{name}.long = icmp ugt i64 %size, 1
  %{name} = and i1 %{name}.allowed, %{name}.long"""


def _added(entry: int, value: str) -> str:
    """Add to an entry of what was tried."""
    name = f"tried{entry}"
    return f"""{load(name, "double", "%tried", entry)}
  %{name}.sum = fadd double %{name}, {value}
  store double %{name}.sum, ptr %{name}.p"""
