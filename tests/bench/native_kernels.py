"""The test kernel as a plain process of this host, with and without our gateway before it.

It is the guest's own kernel program under the interpreter that runs the benchmark. Nothing of this
isolates anything.
"""

import json
import os
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

from support.gateway import BINARY, ROOT, Gateway

PYTHON_PATH = os.pathsep.join(
    str(ROOT / name) for name in ("kernel-proxy/guest", "artifacts/guest", "charts/guest")
)
KERNELSPEC = "cellblock-native"
LAUNCH = [sys.executable, "-m", "cellblock_kernel.launch", "-f"]
CHANNELS = ("shell", "iopub", "stdin", "control", "hb")
START_TIMEOUT_S = 60


class NativeGateway(Gateway):
    """bench-native-gateway: each sandbox is a process of cellblock-agent."""

    command = (
        *[str(BINARY.parent / "bench-native-gateway")],
        *["--agent", str(BINARY.parent / "vm/agent/cellblock-agent")],
        *["--python", sys.executable, "--python-path", PYTHON_PATH],
    )


def offer_kernelspec(folder: Path) -> None:
    """From now on jupyter_server and jupyter_client start the test kernel as KERNELSPEC."""
    spec = folder / "kernels" / KERNELSPEC
    spec.mkdir(parents=True)
    spec.joinpath("kernel.json").write_text(
        json.dumps(
            {
                "argv": [*LAUNCH, "{connection_file}"],
                "display_name": "The test kernel",
                "language": "python",
                "env": {"PYTHONPATH": PYTHON_PATH},
            }
        )
    )
    os.environ["JUPYTER_PATH"] = str(folder)


@contextmanager
def kernel_over_ipc(folder: Path):
    """As the agent starts one, with nobody before it; its connection file's content."""
    connection = {
        "transport": "ipc",
        "ip": str(folder / "k"),
        "key": "",
        "signature_scheme": "hmac-sha256",
        "kernel_name": "python3",
        **{f"{channel}_port": number for number, channel in enumerate(CHANNELS, 1)},
    }
    path = folder / "connection.json"
    path.write_text(json.dumps(connection))
    environment = {**os.environ, "PYTHONPATH": PYTHON_PATH}
    with open(folder / "log", "wb") as log:
        kernel = subprocess.Popen([*LAUNCH, str(path)], env=environment, stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + START_TIMEOUT_S
        while not Path(f"{connection['ip']}-{len(CHANNELS)}").exists():
            assert kernel.poll() is None and time.monotonic() < deadline, (
                folder / "log"
            ).read_text()
            time.sleep(0.05)
        yield connection
    finally:
        kernel.terminate()
        kernel.wait()
