"""Work that a Ctrl-C ends."""

import signal
from collections.abc import Callable
from time import perf_counter, sleep


def interrupted(seconds: float, work: Callable[[], None]) -> float:
    """Do work, interrupted after so many seconds; how long it took until Python told it."""

    def alarm(*_):
        signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGALRM, alarm)
    try:
        begin = perf_counter()
        signal.setitimer(signal.ITIMER_REAL, seconds)
        work()
        while True:
            sleep(1e-3)
    except KeyboardInterrupt:
        return perf_counter() - begin - seconds
    finally:
        signal.signal(signal.SIGALRM, before)
