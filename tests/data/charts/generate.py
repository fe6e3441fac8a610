#!/usr/bin/env python3
"""Writes the models of tests/unit/charts/guest/gallery.py beside this file, for the C++ tests.

Run it with a Python that has matplotlib; the kept files were made with matplotlib 3.10.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT / "charts" / "guest"))
sys.path.insert(0, str(ROOT / "tests" / "unit" / "charts" / "guest"))


def main() -> None:
    import matplotlib.pyplot as plt
    from cellblock_charts import hook, read_figure

    import gallery

    hook.install_provenance()
    for name, draw in gallery.FIGURES.items():
        if name == "long_line":  # too large to keep
            continue
        model = read_figure(draw(), 60.0)
        plt.close("all")
        model["id"] = "f1"
        text = json.dumps(model, ensure_ascii=False, allow_nan=False, sort_keys=True)
        (HERE / f"{name}.json").write_text(text + "\n", encoding="utf-8")
        print(f"{name}: {len(text)} bytes, {len(model['panels'])} panels {model['warnings']}")


if __name__ == "__main__":
    main()
