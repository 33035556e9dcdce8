"""What takes long is told, on one line; what does not says nothing."""

import io
import os
import re
import sys
import time
from contextlib import ExitStack

import pytest

from recursive_dyn.codegen.making import progress
from recursive_dyn.codegen.making.progress import each, waiting


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def stderr(monkeypatch):
    """Call with a stream to have it as standard error."""

    def use(stream):
        # what tests before this one left to be optimized in the background is waited for on the same line
        until(lambda: not progress._LINE._waits, 200.0)
        monkeypatch.setattr(sys, "stderr", stream)
        monkeypatch.setattr(progress, "PATIENCE", 0.01)
        monkeypatch.setattr(progress, "REFRESH", 0.01)
        return stream

    return use


def until(true, seconds=20.0):
    end = time.monotonic() + seconds
    while not true() and time.monotonic() < end:
        time.sleep(0.005)
    assert true()


def test_what_is_done_in_a_moment_says_nothing(stderr, monkeypatch):
    seen = stderr(io.StringIO())
    monkeypatch.setattr(progress, "PATIENCE", 30.0)
    with waiting("compiling"):
        pass
    assert seen.getvalue() == ""


def test_without_a_terminal_there_is_a_line_at_the_start_and_one_at_the_end(stderr):
    seen = stderr(io.StringIO())
    with ExitStack() as stack:
        with progress._LINE.lock:  # nothing is told before both are waited for, however busy the machine
            stack.enter_context(waiting("getting ready"))
            share = stack.enter_context(waiting("compiling poses"))
        until(seen.getvalue)
        share(0.5)
        with waiting("compiling more"):
            time.sleep(0.05)
    start, end = seen.getvalue().splitlines()
    assert start == "recursive_dyn: getting ready: compiling poses ..."
    assert re.fullmatch(r"recursive_dyn: getting ready, \d\.\d s", end)


def test_a_terminals_line_tells_the_share_and_is_wiped_out(stderr):
    seen = stderr(Terminal())
    with waiting("compiling") as share:
        until(lambda: "compiling, 0 s" in seen.getvalue())
        share(0.25)
        until(lambda: "compiling [######..................] 25 %, 0 s" in seen.getvalue())
    last = seen.getvalue().split("\r")
    assert last[-2].strip() == "" and last[-1] == "" and len(last[-2]) >= len("compiling, 0 s")
    assert "\n" not in seen.getvalue()


def test_an_error_ends_the_wait(stderr):
    with pytest.raises(KeyError), waiting("first"):  # too short to be told, however busy the machine
        raise KeyError
    seen = stderr(io.StringIO())
    with waiting("second"):
        until(seen.getvalue)
    assert re.fullmatch(r"recursive_dyn: second \.\.\.\nrecursive_dyn: second, \d\.\d s\n", seen.getvalue())


@pytest.mark.parametrize("total", [None, 61])
def test_items_one_after_the_other_are_two_lines_of_a_log_and_a_bar_of_a_terminal(stderr, total):
    log, count = stderr(io.StringIO()), 0
    for item in each((k for k in range(61)) if total else range(61), "rendering", total):
        count += item
        if item == 0:
            until(log.getvalue)
    assert count == sum(range(61)) and len(log.getvalue().splitlines()) == 2
    screen = stderr(Terminal())
    for item in each(range(4), "rendering"):
        if item == 2:
            until(lambda: "rendering [############............] 50 %" in screen.getvalue())
    assert "\n" not in screen.getvalue()
    assert list(each([], "nothing")) == []


def test_it_can_be_silenced(stderr, monkeypatch):
    seen = stderr(io.StringIO())
    monkeypatch.setenv("RECURSIVE_DYN_PROGRESS", "off")
    with waiting("compiling") as share:
        share(1.0)
        time.sleep(0.1)
    assert seen.getvalue() == ""


def test_without_standard_error_nothing_happens(monkeypatch, stderr):
    stderr(None)
    with waiting("compiling"):
        time.sleep(0.05)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_fork_while_something_is_waited_for_can_wait_itself(stderr):
    stderr(io.StringIO())
    with waiting("compiling"):
        child = os.fork()
        if child == 0:
            seen = stderr(io.StringIO())
            with waiting("in the child"):
                until(seen.getvalue)
            os._exit(0 if seen.getvalue().startswith("recursive_dyn: in the child ...\n") else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
