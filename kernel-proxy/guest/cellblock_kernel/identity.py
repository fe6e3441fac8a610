"""Makes a kernel differ from every other that was forked or cloned from the same memory.

Two occasions: after the zygote's fork (reseed_after_fork), and when the microVM that the kernel
runs in was cloned: the agent connects to identity.sock and sends
{"reseed": "<base64>", "env"?: {...}, "cwd"?: "..."}; a thread of its own answers, so a running cell
does not delay it (code that keeps the interpreter's lock for long does; the agent has a deadline).
`env` and `cwd` are what the clone's owner asked for: this kernel was started before it had one.

What is reseeded: random, numpy's global generator, OpenSSL, uuid's node and clock, tempfile's
names, multiprocessing's key, the Jupyter session id. Modules loaded later seed themselves from the
operating system. What a program seeded and holds itself (random.Random(7), default_rng(7)) is its
own affair. Python's hash seed cannot change in a running process.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import socket
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .environment import checked_environment

SOCKET_NAME = "identity.sock"
REQUEST_BYTES = 64 * 1024
MINIMUM_ENTROPY = 16
LOCK_SECONDS = 5.0
"""How long to wait for numpy's global generator when a cell is drawing from it."""


def reseed(entropy: bytes) -> list[str]:
    """Reseed every loaded generator; returns the names of what was reseeded."""
    seeds = _Seeds(entropy)
    done = []
    for name, step in _STEPS:
        module = sys.modules.get(name)
        if module is not None and step(module, seeds):
            done.append(name)
    return done


def reseed_after_fork() -> list[str]:
    """Reseed from the operating system, whose generator every process may trust."""
    return reseed(os.urandom(64))


class _Seeds:
    """Independent seeds from the caller's entropy and the operating system's, both."""

    def __init__(self, entropy: bytes) -> None:
        self._root = hashlib.sha512(entropy + os.urandom(32)).digest()

    def __call__(self, purpose: str, size: int) -> bytes:
        return hashlib.shake_256(self._root + purpose.encode()).digest(size)


def _reseed_random(module: Any, seeds: _Seeds) -> bool:
    module.seed(seeds("random", 64))
    return True


def _reseed_numpy(module: Any, seeds: _Seeds) -> bool:
    state = getattr(module, "_rand", None)
    if state is None:
        return False  # still being imported: it seeds itself from the operating system
    words = [int.from_bytes(seeds(f"numpy{i}", 4), "little") for i in range(32)]
    generator = state._bit_generator
    if not generator.lock.acquire(timeout=LOCK_SECONDS):
        raise TimeoutError("numpy's global generator is in use by a running cell")
    generator.lock.release()  # seed() takes it itself, and in some releases it is not reentrant
    try:
        state.seed(words)
    except TypeError:  # the program put another bit generator in the global one's place
        fresh = sys.modules["numpy.random.bit_generator"].SeedSequence(words)
        generator.state = type(generator)(fresh).state
    return True


def _reseed_openssl(module: Any, seeds: _Seeds) -> bool:
    module.RAND_add(seeds("openssl", 64), 64.0)
    return True


def _reseed_uuid(module: Any, seeds: _Seeds) -> bool:
    # A random node with the multicast bit, as RFC 9562 asks where there is no network card.
    module._node = int.from_bytes(seeds("uuid", 6), "big") | (1 << 40)
    module._last_timestamp = None
    module._generate_time_safe = None  # libuuid keeps a node and a clock of its own
    if hasattr(module, "_last_timestamp_v7"):
        module._last_timestamp_v7 = None
    return True


def _reseed_tempfile(module: Any, seeds: _Seeds) -> bool:
    module._name_sequence = None
    return True


def _reseed_multiprocessing(module: Any, seeds: _Seeds) -> bool:
    if module._children:
        return False  # their connections rest on the key
    module.current_process().authkey = seeds("multiprocessing", 32)
    return True


_STEPS: list[tuple[str, Callable[[Any, _Seeds], bool]]] = [
    ("random", _reseed_random),
    ("ssl", _reseed_openssl),
    ("uuid", _reseed_uuid),
    ("tempfile", _reseed_tempfile),
    ("multiprocessing.process", _reseed_multiprocessing),
    ("numpy.random.mtrand", _reseed_numpy),
]


class IdentityServer:
    """Answers the agent on a Unix socket, from a daemon thread."""

    def __init__(self, path: Path, on_reseeded: Callable[[], None]) -> None:
        self._path = path
        self._on_reseeded = on_reseeded
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        path.unlink(missing_ok=True)
        self._listener.bind(str(path))
        path.chmod(0o600)
        self._listener.listen(8)
        self._thread = threading.Thread(target=self._serve, name="Identity", daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection:
                try:
                    connection.settimeout(2.0)  # a silent client must not keep the next waiting
                    connection.sendall(json.dumps(self._answer(connection)).encode() + b"\n")
                except Exception:
                    continue  # the agent sees a closed connection and treats it as a failure

    def _answer(self, connection: socket.socket) -> dict[str, Any]:
        try:
            request = json.loads(_line(connection))
            entropy = base64.b64decode(request["reseed"], validate=True)
            if len(entropy) < MINIMUM_ENTROPY:
                raise ValueError(f"reseed needs at least {MINIMUM_ENTROPY} bytes")
            environment = checked_environment(request.get("env"))
            done = reseed(entropy)
            os.environ.update(environment)
            if "TZ" in environment:
                time.tzset()
            if request.get("cwd"):
                os.chdir(request["cwd"])
            self._on_reseeded()
            return {"ok": True, "reseeded": done}
        except Exception as error:
            return {"ok": False, "error": f"{type(error).__name__}: {error}"}


def _line(connection: socket.socket) -> bytes:
    data = b""
    while b"\n" not in data:
        part = connection.recv(4096)
        if not part:
            break
        data += part
        if len(data) > REQUEST_BYTES:
            raise ValueError("the request is too long")
    return data
