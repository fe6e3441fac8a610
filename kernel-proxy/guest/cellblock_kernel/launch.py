"""Starts one kernel the plain way: python3 -m cellblock_kernel.launch -f CONNECTION_FILE.

The kernelspec names it, and the agent falls back to it when there is no zygote.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path


def forget_working_directory() -> None:
    """The user's files must not stand in for our modules; ipykernel puts "" back for cells."""
    if sys.path and (sys.path[0] == "" or Path(sys.path[0]) == Path.cwd()):
        del sys.path[0]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="cellblock_kernel.launch", description=__doc__)
    parser.add_argument("-f", "--connection-file", required=True)
    options = parser.parse_args(arguments)
    forget_working_directory()

    from .app import run_kernel

    run_kernel(options.connection_file)


if __name__ == "__main__":
    main()
