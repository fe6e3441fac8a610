"""Turns a fresh fork of the zygote into the process that a kernel runs in.

Runs in the child only, as root until become_user. Every failure is an exception with a message
that names the step; the zygote reports it to whoever asked.
"""

from __future__ import annotations

import ctypes
import os
import pwd
import resource
import signal
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .environment import checked_environment

PR_SET_DUMPABLE = 4
DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
SINGLE_THREADED = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
    "JE_ARROW_MALLOC_CONF": "background_thread:false",  # pandas loads pyarrow
}
"""What keeps libraries from starting threads while the zygote loads them."""

PRIVATE = (*SINGLE_THREADED, "PYTHONPATH", "NOTIFY_SOCKET", "JPY_PARENT_PID", "MPLBACKEND",
           "SUDO_USER", "SUDO_UID", "SUDO_GID", "SUDO_COMMAND", "MPLCONFIGDIR",
           "PYDEVD_DISABLE_FILE_VALIDATION")
"""Variables of the zygote's that are no business of a kernel."""


@dataclass
class KernelRequest:
    """One kernel to start."""

    kernel_id: str
    connection_file: Path
    cwd: str = ""
    env: dict[str, str] = field(default_factory=dict)
    uid: int = 1000
    gid: int = 1000
    cgroup_procs: str = ""
    log_file: str = ""
    oom_score_adj: int = 0

    @classmethod
    def parse(cls, data: Any) -> KernelRequest:
        """Check what came over the socket."""
        if not isinstance(data, dict):
            raise ValueError("the request has to be a JSON object")
        result = cls(
            kernel_id=_text(data, "kernel_id", required=True),
            connection_file=Path(_text(data, "connection_file", required=True)),
            cwd=_text(data, "cwd"),
            env=checked_environment(data.get("env")),
            uid=_number(data, "uid", os.getuid() or 1000),
            gid=_number(data, "gid", os.getgid() or 1000),
            cgroup_procs=_text(data, "cgroup_procs"),
            log_file=_text(data, "log_file"),
            oom_score_adj=_number(data, "oom_score_adj", 0),
        )
        if not result.connection_file.is_absolute():
            raise ValueError("connection_file has to be an absolute path")
        return result


def _text(data: dict[str, Any], key: str, required: bool = False) -> str:
    value = data.get(key)
    if value is None and not required:
        return ""
    if not isinstance(value, str) or (required and not value) or "\0" in value:
        raise ValueError(f"{key} has to be a string")
    return value


def _number(data: dict[str, Any], key: str, default: int) -> int:
    value = data.get(key)
    if value is None:
        return default
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"{key} has to be a whole number")
    return value


def prepare_process(request: KernelRequest) -> None:
    """Make this process what the request asks for."""
    os.setsid()
    _step("joining the kernel's cgroup", _join_cgroup, request)
    _step("setting resource limits", _set_limits, request)
    _step("opening the kernel's log", _redirect_descriptors, request)
    _step("giving the run folder to the user", _own_run_folder, request)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    home = _step("becoming the user", _become_user, request)
    _set_environment(request, home)
    _step(f"entering the working directory {request.cwd or home!r}", _enter_directory, request,
          home)


def _step(what: str, function: Any, *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except OSError as error:
        detail = error.strerror or str(error)
        name = f" ({error.filename})" if error.filename else ""
        raise OSError(f"{what} failed: {detail}{name}") from error


def _join_cgroup(request: KernelRequest) -> None:
    if request.cgroup_procs:
        Path(request.cgroup_procs).write_text("0", encoding="ascii")


def _set_limits(request: KernelRequest) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    try:
        Path("/proc/self/oom_score_adj").write_text(str(request.oom_score_adj), encoding="ascii")
    except PermissionError:
        pass  # not root: the inherited value stays
    os.umask(0o022)


def _redirect_descriptors(request: KernelRequest) -> None:
    path = request.log_file or str(request.connection_file.parent / "kernel.log")
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
    log = os.open(path, flags, 0o644)
    if os.geteuid() == 0:
        os.fchown(log, request.uid, request.gid)
    nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    os.dup2(nothing, 0)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.close(nothing)
    os.close(log)


def _own_run_folder(request: KernelRequest) -> None:
    if os.geteuid() != 0:
        return
    os.chown(request.connection_file.parent, request.uid, request.gid, follow_symlinks=False)
    os.chown(request.connection_file, request.uid, request.gid, follow_symlinks=False)


def _become_user(request: KernelRequest) -> str:
    try:
        account = pwd.getpwuid(request.uid)
        name, home = account.pw_name, account.pw_dir
    except KeyError:
        name, home = "user", "/home/user"
    if os.geteuid() == 0 and request.uid != 0:
        try:
            os.initgroups(name, request.gid)
        except OSError:
            os.setgroups([request.gid])
        os.setresgid(request.gid, request.gid, request.gid)
        os.setresuid(request.uid, request.uid, request.uid)
        # Changing the user made /proc/self root's; the user's own code may read it.
        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)
    elif os.geteuid() != request.uid:
        raise PermissionError(1, "only root can start a kernel as another user")
    return home


def _set_environment(request: KernelRequest, home: str) -> None:
    keep = {name: value for name, value in os.environ.items()
            if name not in PRIVATE and not name.startswith("CELLBLOCK_")}
    try:
        name = pwd.getpwuid(request.uid).pw_name
    except KeyError:
        name = "user"
    keep.setdefault("PATH", DEFAULT_PATH)
    keep.setdefault("LANG", "C.UTF-8")
    keep.update(HOME=home, USER=name, LOGNAME=name, SHELL="/bin/bash")
    keep.update(request.env)
    os.environ.clear()
    os.environ.update(keep)
    time.tzset()


def _enter_directory(request: KernelRequest, home: str) -> None:
    # Who starts a kernel has checked `cwd`; by a restart a cell may have removed it.
    for path in filter(None, (request.cwd, home, "/tmp", "/")):
        try:
            os.chdir(path)
            return
        except OSError as error:
            print(f"cannot start in {path}: {error}", file=sys.stderr)


def restore_blas_threads() -> None:
    """The zygote loads BLAS with one thread (it must not have any when it forks); give a kernel
    on a machine with several processors its threads back."""
    processors = len(os.sched_getaffinity(0))
    if processors < 2 or any(name in os.environ for name in ("OPENBLAS_NUM_THREADS",
                                                             "OMP_NUM_THREADS")):
        return
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        libraries = {line.split()[-1] for line in maps if "openblas" in line and "/" in line}
    for path in libraries:
        try:
            library = ctypes.CDLL(path)
        except OSError:
            continue
        for symbol in ("scipy_openblas_set_num_threads64_", "scipy_openblas_set_num_threads",
                       "openblas_set_num_threads64_", "openblas_set_num_threads"):
            if hasattr(library, symbol):
                getattr(library, symbol)(ctypes.c_int(processors))
                break


def report_failure(error: BaseException) -> str:
    """One line for the asker."""
    if isinstance(error, (OSError, ValueError)):
        return str(error)
    return f"{type(error).__name__}: {error}"
