"""What is kept of late: how much of it, what goes first, and that threads do not get into each other's way."""

import sys
import threading

import pytest

from recursive_dyn.graph.recent import Recent


def test_what_was_asked_for_last_stays():
    kept = Recent(3)
    for key in "abc":
        assert kept.of(key, key.upper) == key.upper()
    kept.of("a", lambda: pytest.fail("it is known"))
    kept.keep("d", "D")
    assert [key in kept for key in "abcd"] == [True, False, True, True] and len(kept) == 3
    assert kept.get("b") is None and kept.keep("d", "other") == "D"
    kept.clear()
    assert not len(kept)


def test_weights_are_counted_and_the_last_one_stays_however_heavy_it_is():
    kept = Recent(10, len)
    for key in "abc":
        kept.keep(key, 4 * key)
    assert "a" not in kept and "b" in kept and "c" in kept
    kept.keep("d", 100 * "d")
    assert [key in kept for key in "bcd"] == [False, False, True]


@pytest.mark.parametrize("weight", [None, lambda value: 1])
def test_threads_do_not_disturb_each_other(weight):
    kept, errors, before = Recent(8, weight), [], sys.getswitchinterval()

    def ask(seed):
        try:
            for k in range(3000):
                key = (seed * 7 + k * k) % 23
                assert kept.of(key, lambda key=key: key + 100) == key + 100
        except BaseException as error:
            errors.append(error)

    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert not errors and len(kept) <= 8 + 6
