"""The contact tables, printed as they are measured."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from demos.benchmark.contact import cost, demo_scenes, disturbed, endurance, moving, piles, simbench
from demos.benchmark.contact.description import Task
from demos.benchmark.contact.engines import ENGINES
from demos.benchmark.contact.run import Outcome, outcomes
from demos.benchmark.report import print_table
from recursive_dyn.codegen.making.progress import each

OURS, BULLET, MUJOCO = ENGINES
BOXES = (1, 10, 100, 300, 1000)  # four contacts each
MANY = 100  # boxes from which on fewer steps are taken
FAR_OFF = 1e-3  # m/s: a residual that is no solution
FIRST = 30  # solves after a kick: the hardest ones
RESIDUALS = ["converged", "residual, median", "at worst, m/s"]
BAR = 2.5  # MuJoCo's time of a step at rest, at most
NOTES = """
Definitions of SimBenchmark (2018): dt = 1 ms, ERP, CFM and damping 0, means over the steps. Each engine has the
settings that were best for it (docstrings of demos.benchmark.contact.engines). MuJoCo has no coefficient of
restitution: its e = 1 is a contact spring without damping, whose stored energy counts as error. The published
quadruped is ANYmal, the one here Laikago; it collides with the ball, not with itself. A ratio below 1 is to our
favour; errors of 1e-25 and less are rounding. "elastic 666" is chaotic: the figure is that of one draw of the jitter
(seed 42), and other seeds move it by orders of magnitude (ours from 9e-5 to 1.4 J^2 in nine draws). Times of a step are
rough: two runs share the machine."""


def all_of_them(long: bool = False, rows: Sequence[str] = ()) -> None:
    """Every table, or only the rows whose names hold one of ``rows``; ``long``: 10^6 steps as well."""

    def wanted(name: str) -> bool:
        return not rows or any(part in name for part in rows)

    tests, still = simbench.tasks(), piles.tasks()
    found = outcomes(filter(wanted, [*tests, *still]), ENGINES)
    if any(name in tests for name, _ in found):
        sim_benchmark(found)
    if any(name in still for name, _ in found):
        standing(found)
    demos(list(filter(wanted, demo_scenes.FACTORIES)))
    for task in (piles.standing_quadruped(), piles.quadruped_on_a_box()):
        if wanted(task.name):
            robot_cost(task)
    if wanted("300 boxes in 10 heaps"):
        sleeping()
    scaling([count for count in BOXES if wanted(f"{count} boxes")])
    in_motion([task for name, task in moving.tasks().items() if wanted(name)])
    convergence([task for name, task in disturbed.tasks().items() if wanted(name)])
    if long:
        lasting()


def sim_benchmark(found: dict[tuple[str, str], Outcome]) -> None:
    """Errors beside what was published."""
    rows = []
    for name, task in simbench.tasks().items():
        if (name, OURS) not in found:
            continue
        ours, bullet, mujoco = (found[name, label] for label in ENGINES)
        best = min(task.published, key=task.published.__getitem__)
        published = task.published[best]
        rows.append([
            f"{name}, {task.unit}", _figure(ours), _figure(bullet), _figure(mujoco), f"{published:.3g} ({best})",
            f"{task.published['Bullet']:.3g}", _ratio(ours.error, bullet.error), _ratio(ours.error, mujoco.error),
            _ratio(ours.error, published), *(_time(each) for each in (ours, bullet, mujoco)),
        ])  # fmt: skip
    head = ["test", *ENGINES, "best published", "Bullet published", f"ours / {BULLET}", f"ours / {MUJOCO}",
            "ours / published", *(f"{label} us a step" for label in ENGINES)]  # fmt: skip
    print_table("SimBenchmark: errors", head, rows)
    print(NOTES)
    _reasons(found, simbench.tasks())


def standing(found: dict[tuple[str, str], Outcome]) -> None:
    """Piles for 60 s at 1/60 s."""
    rows = []
    for name in piles.tasks():
        if (name, OURS) not in found:
            continue
        each = [found[name, label] for label in ENGINES]
        cells = ["-" if math.isnan(o.error) else f"{o.error:.3g}, {o.ending:.3g}, {o.drift:.3g}" for o in each]
        rows.append([name, *cells, _ratio(each[0].error, each[1].error), *(_time(o) for o in each)])
    head = ["pile", *ENGINES, f"ours / {BULLET}", *(f"{label} us a step" for label in ENGINES)]
    print_table("piles, 60 s at 1/60 s: mm of sinking at worst and at the end, mm sideways at worst", head, rows)
    print(f"Boxes of {piles.SIDE:g} m; a box of a fallen pile is about {1e3 * piles.SIDE:.0f} mm too low, or more.")
    _reasons(found, piles.tasks())


def demos(names: Sequence[str]) -> None:
    """Deepest penetration and growth of energy in the demos that collide."""
    rows = []
    for name in each(names, "demos"):
        run = demo_scenes.conduct(demo_scenes.FACTORIES[name])
        rows.append([
            name, str(run.bodies), str(run.coordinates), str(run.contacts), f"{run.penetration:.3g}",
            _yes(run.penetration < demo_scenes.DEEPEST), f"{run.growth:.2g}", f"{run.unsettled} of {run.steps}",
            f"{1e6 * run.step:.0f}",
        ])  # fmt: skip
    head = ["demo, 1/240 s", "bodies", "coordinates", "contacts at most", "deepest, mm",
            f"< {demo_scenes.DEEPEST:g} mm", "largest growth of energy in a step / range", "steps not converged",
            "median us a step"]  # fmt: skip
    if rows:
        print_table("demos: penetration and energy", head, rows)


def robot_cost(task: Task, rounds: int = 10, count: int = 240) -> None:
    """A robot at rest: frame times and the parts of a step."""
    engines = {label: engine for label in ENGINES if (engine := cost.settled(task, label)) is not None}
    times = cost.in_turn(engines, rounds, count)
    rows = [
        [label, str(engines[label].contacts()), *(f"{x:.1f}" for x in cost.percentiles(of)),
         *(_ratio(cost.percentiles(of)[0], cost.percentiles(times[k])[0]) if k in times else "-"
           for k in (BULLET, MUJOCO))]
        for label, of in times.items()
    ]  # fmt: skip
    head = [task.name, "contacts", "p50", "p95", "p99", f"p50 / {BULLET}'s", f"p50 / {MUJOCO}'s"]
    print_table("cost: a step at 1/240 s from Python, us", head, rows)
    if OURS in engines:
        split = {part: 1e6 * seconds for part, seconds in cost.parts(engines[OURS], count).items()}
        cells = [f"{seconds:.1f}" for seconds in (*split.values(), sum(split.values()))]
        print_table("cost: parts of our step, median us", ["", *split, "sum"], [["ours", *cells]])
        print(f"To be reached: {BAR:g} times {MUJOCO}'s, and less than {BULLET}'s.")
    for engine in engines.values():
        engine.close()


def scaling(counts: Sequence[int] = BOXES, rounds: int = 5, count: int = 40) -> None:
    """Boxes at rest side by side: time of a step against contacts."""
    rows = []
    for boxes in each(counts, "scaling"):
        task, few = piles.boxes(boxes), boxes > MANY
        steps = 60 if few else cost.WARM_UP
        engines = {label: engine for label in ENGINES if (engine := cost.settled(task, label, steps)) is not None}
        times = cost.in_turn(engines, 2 if few else rounds, 10 if few else count)
        p50 = {label: cost.percentiles(of)[0] for label, of in times.items()}
        ours = engines.get(OURS)
        contacts = ours.contacts() if ours is not None else 4 * boxes
        rows.append([
            f"{boxes} boxes", str(contacts), *(f"{p50[k]:.1f}" if k in p50 else "-" for k in ENGINES),
            f"{p50[OURS] / contacts:.2f}" if OURS in p50 and contacts else "-",
            *(_ratio(p50.get(OURS, math.nan), p50.get(k, math.nan)) for k in (BULLET, MUJOCO)),
        ])  # fmt: skip
        for engine in engines.values():
            engine.close()
    head = ["at rest", "contacts", *ENGINES, "ours a contact", f"ours / {BULLET}", f"ours / {MUJOCO}"]
    if rows:
        print_table("cost: a step at 1/240 s from Python, median us, against contacts", head, rows)


def sleeping(rounds: int = 5, count: int = 40) -> None:
    """Heaps at rest: kept awake, asleep, and asleep beside a ball that rolls."""
    rows = []
    for what, sleep, ball in (
        ("awake", False, False),
        ("asleep", True, False),
        ("asleep, and a ball rolls", True, True),
    ):
        task = piles.heaps(sleep, ball)
        engines = {label: engine for label in ENGINES if (engine := cost.settled(task, label)) is not None}
        times = cost.in_turn(engines, rounds, count)
        p50 = {label: cost.percentiles(of)[0] for label, of in times.items()}
        rows.append([
            f"{task.name}, {what}", *(f"{p50[k]:.1f}" if k in p50 else "-" for k in ENGINES),
            *(_ratio(p50.get(OURS, math.nan), p50.get(k, math.nan)) for k in (BULLET, MUJOCO)),
        ])  # fmt: skip
        for engine in engines.values():
            engine.close()
    head = ["at rest", *ENGINES, f"ours / {BULLET}", f"ours / {MUJOCO}"]
    print_table("cost of what sleeps: a step at 1/240 s from Python, median us", head, rows)


def in_motion(tasks: Sequence[Task]) -> None:
    """Scenes that are not at rest: every engine through the same steps."""
    rows = []
    for task in each(tasks, "in motion"):
        engines = {label: engine for label in ENGINES if (engine := cost.built(task, label)) is not None}
        told = cost.through(engines, task.steps)
        ours, mean = told[OURS], {label: 1e6 * float(motion.times.mean()) for label, motion in told.items()}
        rows.append([
            task.name, f"{ours.contacts.mean():.0f}", *(f"{mean[k]:.0f}" if k in mean else "-" for k in ENGINES),
            *(_ratio(mean[OURS], mean.get(k, math.nan)) for k in (BULLET, MUJOCO)),
            *(f"{1e6 * float(part.mean()):.0f}" for part in (ours.detection, ours.solving)),
            f"{ours.sweeps.mean():.1f}", f"{1e9 * ours.sweep_cost:.0f}",
            *_residuals(ours),
        ])  # fmt: skip
        for engine in engines.values():
            engine.close()
    head = ["in motion", "contacts", *(f"{label} us" for label in ENGINES), f"ours / {BULLET}", f"ours / {MUJOCO}",
            "our detection us", "our solve us", "sweeps", "ns a sweep and contact", *RESIDUALS]  # fmt: skip
    if rows:
        print_table("cost: a step at 1/240 s from Python, means over the motion", head, rows)
        print("Sweeps are the most of an island; every engine starts alike, and each goes its own way from there.")


def convergence(tasks: Sequence[Task]) -> None:
    """Whether solves of disturbed piles converge, and what that costs."""
    rows = []
    for task in each(tasks, "convergence"):
        engines = {label: engine for label in (OURS, MUJOCO) if (engine := cost.built(task, label)) is not None}
        told = cost.through(engines, task.steps)
        ours, mean = told[OURS], {label: 1e6 * float(motion.times.mean()) for label, motion in told.items()}
        rows.append([
            task.name, f"{ours.contacts.mean():.0f}", str(task.steps), *_residuals(ours),
            f"{np.median(ours.residuals[:FIRST]):.1g}",
            str(int((ours.residuals > FAR_OFF).sum())), f"{max(float(np.diff(ours.energies).max()), 0.0):.1g}",
            f"{ours.sweeps.mean():.0f}", f"{mean[OURS]:.0f}", _ratio(mean[OURS], mean.get(MUJOCO, math.nan)),
        ])  # fmt: skip
        for engine in engines.values():
            engine.close()
    head = ["disturbed", "contacts", "solves", *RESIDUALS, f"median of the first {FIRST}", f"above {FAR_OFF:g}",
            "largest rise of energy in a step, J", "sweeps", "us a step", f"/ {MUJOCO}"]  # fmt: skip
    if rows:
        print_table(
            "convergence: solves of disturbed piles at 1/240 s, a step of Newton's method as three sweeps", head, rows
        )


def lasting(steps: int = endurance.STEPS) -> None:
    """Memory and shapes over a million steps."""
    seen = endurance.watch(steps)
    rows = [[f"{look.steps:.2g}", f"{look.memory:.1f}", str(look.bodies), str(look.shapes)] for look in seen]
    print_table("endurance: three balls that bounce for ever", ["steps", "memory MB", "bodies", "shapes"], rows)
    print(f"{endurance.growth(seen):.3f} bytes a step since the third look.")


def _residuals(motion: cost.Motion) -> list[str]:
    """Cells of RESIDUALS."""
    return [
        f"{100.0 * float(motion.converged.mean()):.0f} %",
        *(f"{x:.1g}" for x in np.quantile(motion.residuals, (0.5, 1.0))),
    ]


def _figure(outcome: Outcome) -> str:
    return "-" if math.isnan(outcome.error) else f"{outcome.error:.3g}"


def _time(outcome: Outcome) -> str:
    return "-" if math.isnan(outcome.step) else f"{1e6 * outcome.step:.0f}"


def _ratio(ours: float, theirs: float) -> str:
    return "-" if math.isnan(ours) or math.isnan(theirs) or theirs == 0.0 else f"{ours / theirs:.3g}"


def _yes(truth: bool) -> str:
    return "yes" if truth else "no"


def _reasons(found: dict[tuple[str, str], Outcome], names: Sequence[str]) -> None:
    for (name, label), outcome in found.items():
        if name in names and outcome.reason:
            print(f"  - : {label}, {name}: {' '.join(outcome.reason.split())[:160]}")
        if name in names and outcome.unsettled:
            print(f"  {label}, {name}: {outcome.unsettled} steps did not converge")
