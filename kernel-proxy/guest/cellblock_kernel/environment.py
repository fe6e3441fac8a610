"""Environment variables and working directory that hold for one execution only.

Owner: the kernel. Thread: whichever thread runs the cell (subshells may overlap), hence the lock.
Invariant: when no execution is open, each variable named by a past execution has the value (or
the absence) that it had before the first of them began.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any


class InvalidRequest(ValueError):
    """The request names an environment or a directory that cannot be used."""


def checked_environment(env: Any) -> dict[str, str]:
    """Return env as a plain dict, or raise InvalidRequest."""
    if env is None:
        return {}
    if not isinstance(env, Mapping):
        raise InvalidRequest("env has to be an object that maps names to strings")
    result = {}
    for name, value in env.items():
        if not isinstance(name, str) or not isinstance(value, str):
            raise InvalidRequest(f"env[{name!r}] has to be a string")
        if not name or "=" in name or "\0" in name or "\0" in value:
            raise InvalidRequest(f"env has a name or value that no process can carry: {name!r}")
        result[name] = value
    return result


class ExecutionEnvironment:
    """Lays variables over os.environ while an execution runs, and takes them away afterwards."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._layers: list[dict[str, str]] = []
        self._before: dict[str, str | None] = {}

    @contextmanager
    def applied(self, env: Mapping[str, str]) -> Iterator[None]:
        """Hold env for the time of the with block."""
        if not env:
            yield
            return
        layer = dict(env)
        with self._lock:
            for name in layer:
                if name not in self._before:
                    self._before[name] = os.environ.get(name)
            self._layers.append(layer)
            os.environ.update(layer)
            _apply_time_zone(layer)
        try:
            yield
        finally:
            with self._lock:
                self._layers = [other for other in self._layers if other is not layer]
                self._settle(layer)

    def _settle(self, names: Mapping[str, str]) -> None:
        for name in names:
            for other in reversed(self._layers):
                if name in other:
                    os.environ[name] = other[name]
                    break
            else:
                value = self._before.pop(name)
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value
        _apply_time_zone(names)


def _apply_time_zone(names: Mapping[str, str]) -> None:
    if "TZ" in names:
        time.tzset()


@contextmanager
def working_directory(path: str | None) -> Iterator[None]:
    """Run the with block in path; afterwards go back to where the kernel was."""
    if not path:
        yield
        return
    try:
        before = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        before = -1  # the directory was removed under us: nothing to go back to
    try:
        try:
            os.chdir(path)
        except OSError as error:
            raise InvalidRequest(
                f"the working directory {path!r} cannot be used: {error.strerror}"
            ) from None
        yield
    finally:
        if before >= 0:
            try:
                os.fchdir(before)
            except OSError:
                pass
            os.close(before)
