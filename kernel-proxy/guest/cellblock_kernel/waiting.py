"""Waiting that a KeyboardInterrupt may cut at any point without harm.

threading.Condition and Event are written in Python: an interrupt that arrives between "the lock
is taken" and "the with block is entered" leaves the lock taken for ever, and with it the kernel's
output. A plain Lock has no such gap, so everything here is made of those.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

CHECK_SECONDS = 1.0
"""How often a waiter looks again by itself, in case that its waker is gone."""


class Waiters:
    """Threads that wait for something to change."""

    def __init__(self) -> None:
        self._tickets: deque[threading.Lock] = deque()

    def wait_until(self, condition: Callable[[], bool]) -> None:
        """Return once condition() holds; it is looked at after each wake_all()."""
        while not condition():
            ticket = threading.Lock()
            ticket.acquire()
            self._tickets.append(ticket)
            if condition():
                return
            ticket.acquire(timeout=CHECK_SECONDS)

    def wake_all(self) -> None:
        while True:
            try:
                self._tickets.popleft().release()
            except IndexError:
                return


class Signal:
    """Something that happens once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lock.acquire()

    def set(self) -> None:
        self._lock.release()

    def wait(self, seconds: float) -> bool:
        return self._lock.acquire(timeout=seconds)
