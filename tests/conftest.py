"""One cache of compiled code for the whole session, shared by all workers; repeatable hypothesis examples."""

import gc
import os
import shutil
import signal
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import pytest
from covering import covering, is_covered, values
from hypothesis import HealthCheck, settings
from slow_cases import slow

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as a shell starts what it puts in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)  # tests of Ctrl-C would wait for ever

settings.register_profile(
    "laws",
    max_examples=50,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("laws")

os.environ.setdefault("RECURSIVE_DYN_EFFORT", "0")  # most programs run a few times only; .ci/run says where not

# Where no byte code is kept, every one of the many processes of tests first compiles the same packages, for a second.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

_OWN = "RECURSIVE_DYN_CACHE" not in os.environ  # false in a worker: it inherits the controller's folder
if _OWN:
    os.environ["RECURSIVE_DYN_CACHE"] = tempfile.mkdtemp(prefix="recursive-dyn-tests-")


def pytest_unconfigure(config):
    if _OWN:
        shutil.rmtree(os.environ["RECURSIVE_DYN_CACHE"], ignore_errors=True)


gc.set_threshold(1_000_000, 50, 100)


@pytest.fixture(scope="module", autouse=True)
def no_garbage_among_what_stays():
    """Compiled dynamics and graphs of earlier modules stay; looking through them took a tenth of the time."""
    gc.freeze()


_ORDER = ("contact", "bridge", "simulation", "demos", "laws", "codegen", "scene", "manifold")


@pytest.hookimpl(tryfirst=True)  # before slow tests are left out
def pytest_collection_modifyitems(items):
    """What tests/slow_cases.py lists is slow, and of what is left what others cover (tests/covering.py).

    What needs the compiled loops of contact comes first: one worker compiles them for all while others do the rest.

    That holds when each worker starts with a stretch of the whole (``--dist worksteal``).
    """
    here = Path(__file__).resolve().parent

    def place(item):
        folder = item.path.relative_to(here).parts[0]
        return _ORDER.index(folder) if folder in _ORDER else len(_ORDER)

    products = defaultdict(list)
    for item in items:
        test, _, case = item.name.partition("[")
        parameters = item.callspec.params if hasattr(item, "callspec") else {}
        file = item.path.relative_to(here).as_posix()
        if slow(file, test, parameters, case[:-1]):
            item.add_marker(pytest.mark.slow)
        elif len(values(item)) > 1 and is_covered(file, test) and not item.get_closest_marker("slow"):
            products[item.nodeid.partition("[")[0]].append(item)
    for cases in products.values():
        kept = covering([values(item) for item in cases])
        for item in (item for k, item in enumerate(cases) if k not in kept):
            item.add_marker(pytest.mark.slow)
    items.sort(key=place)
