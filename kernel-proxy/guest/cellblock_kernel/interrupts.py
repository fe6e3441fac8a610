"""No interrupt is lost on its way into a system call.

CPython notes a signal and runs its handler between two bytecodes, or when a system call fails with
EINTR. An interrupt that comes after the last look and before the call (while another thread has the
GIL, say) waits for the call's end: time.sleep(300) sleeps on. So a thread hears of each SIGINT by
the wakeup descriptor and pokes the main thread with a signal that does nothing but end the call.

Owner: the application; one thread per kernel process.
"""

from __future__ import annotations

import os
import signal
import threading
import time

# Ignored unless somebody wants it, so that a process we did not prepare does not mind.
POKE = signal.SIGURG
# From the last look to the call it is microseconds, on a starved emulated CPU tenths of a second.
# A poke too many costs nothing: Python goes on with what it ended (PEP 475).
PAUSES_S = (0.02, 0.1, 0.5, 1.0)


def start() -> None:
    """Precondition: called on the main thread."""
    heard, written = os.pipe()
    os.set_blocking(written, False)
    signal.signal(POKE, lambda number, frame: None)
    signal.set_wakeup_fd(written, warn_on_full_buffer=False)
    watcher = threading.Thread(
        target=_watch, args=(heard, threading.get_ident()), name="Interrupts", daemon=True
    )
    watcher.start()


def _watch(heard: int, main_thread: int) -> None:
    while numbers := os.read(heard, 4096):
        if signal.SIGINT not in numbers:
            continue
        for pause_s in PAUSES_S:
            time.sleep(pause_s)
            signal.pthread_kill(main_thread, POKE)
