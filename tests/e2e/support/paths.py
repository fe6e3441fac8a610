"""Where the tests' machine keeps what is slow to make."""

import os
from pathlib import Path


def cache_folder() -> Path:
    """As tests/run and the program choose it: images, templates, the tests' own packages."""
    default = "/var/cache/cellblock" if os.getuid() == 0 else Path.home() / ".cache/cellblock"
    return Path(os.environ.get("CELLBLOCK_CACHE_DIR", default))
