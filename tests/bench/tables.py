#!/usr/bin/env python3
"""What tables cost: capturing them, paging through them, and turning them into other formats.

    python3 tests/bench/tables.py [--rows 1000,100000,10000000] [--pages 200]

Prints figures and ratios; asserts nothing, because speed depends on the machine. Capture is
compared with pyarrow alone, which writes the same frame in the same guest. Needs build/cellblock
and a template, and Python with requests.
"""

import argparse
import json
import random
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
from support.gateway import Gateway  # noqa: E402

FRAME = """
import numpy as np, pandas as pd
rng = np.random.default_rng(1)
def frame_of(rows, columns):
    kinds = [lambda: rng.integers(0, 1 << 40, rows), lambda: rng.normal(size=rows),
             lambda: pd.date_range("2000-01-01", periods=rows, freq="s", tz="Europe/Oslo"),
             lambda: pd.Categorical.from_codes(rng.integers(0, 5, rows), list("abcde")),
             lambda: rng.random(rows) < 0.5]
    return pd.DataFrame({f"c{i}": kinds[i % len(kinds)]() for i in range(columns)})
"""

MEASURE = """
import json, os, time
import pyarrow as pa
from cellblock_artifacts import budget, storage, table
frame = frame_of({rows}, {columns})
def alone():
    started = time.perf_counter()
    written = pa.Table.from_pandas(frame)
    with pa.OSFile("/tmp/alone.arrow", "wb") as file:
        with pa.ipc.new_file(file, written.schema) as writer:
            writer.write_table(written, max_chunksize=budget.BATCH_ROWS)
    seconds = time.perf_counter() - started
    os.unlink("/tmp/alone.arrow")
    return seconds
def captured():
    budget.cell_time.renew()
    started = time.perf_counter()
    bundle = table.capture(frame).bundle
    seconds = time.perf_counter() - started
    if bundle["data"] and "path" in bundle["data"]:
        os.unlink(bundle["data"]["path"])
    return seconds, bundle
alone(), captured()
writes = sorted(alone() for _ in range(3))
captures = sorted((captured() for _ in range(3)), key=lambda pair: pair[0])
seconds, bundle = captures[1]
data = bundle["data"] or {{"rows": 0, "size": 0}}
print(json.dumps({{"alone": writes[1], "captured": seconds, "rows": data["rows"],
                   "bytes": data["size"], "reason": bundle["reason"]}}))
"""


def capture_costs(gateway: Gateway, sandbox: str, sizes: list[tuple[int, int]]) -> None:
    print("\ncapture         pyarrow alone   captured   speed of    stored      stored")
    print("rows × columns        s             s      pyarrow's    rows         MiB")
    for rows, columns in sizes:
        run = gateway.execute(MEASURE.format(rows=rows, columns=columns), sandbox=sandbox)
        assert run.error is None, run.error
        found = json.loads(run.stdout)
        print(
            f"{rows:8} × {columns:<3} {found['alone']:13.3f} {found['captured']:13.3f} "
            f"{found['alone'] / found['captured']:9.2f}x {found['rows']:10} "
            f"{found['bytes'] / 2**20:11.1f}  {found['reason']}",
            flush=True,
        )


def shown(gateway: Gateway, sandbox: str, rows: int, columns: int) -> dict:
    started = time.perf_counter()
    run = gateway.execute(f"frame_of({rows}, {columns})", sandbox=sandbox)
    assert run.error is None, run.error
    artifact = next(line for line in run.artifacts if line["kind"] == "table")
    print(
        f"\nshown: {rows} × {columns}, {artifact['size'] / 2**20:.1f} MiB in the store "
        f"after {time.perf_counter() - started:.1f} s",
        flush=True,
    )
    return artifact


def timed(gateway: Gateway, url: str, **params) -> float:
    started = time.perf_counter()
    answer = gateway.request("GET", url, params=params, timeout=600)
    assert answer.status_code == 200, answer.text[:300]
    assert answer.content
    return (time.perf_counter() - started) * 1000


def paging(gateway: Gateway, artifact: dict, rows: int, pages: int) -> None:
    url = artifact["url"] + "/rows"
    chosen = random.Random(1)
    kinds = {
        "100 rows anywhere": lambda: {"offset": chosen.randrange(rows - 100), "limit": 100},
        "1000 rows anywhere": lambda: {"offset": chosen.randrange(rows - 1000), "limit": 1000},
        "one column": lambda: {"offset": chosen.randrange(rows - 100), "columns": "c1"},
    }
    print("\npaging                         median ms      95 %     worst")
    for name, params in kinds.items():
        found = sorted(timed(gateway, url, **params()) for _ in range(pages))
        print(
            f"{name:28} {statistics.median(found):11.2f} {found[int(pages * 0.95)]:9.2f} "
            f"{found[-1]:9.2f}",
            flush=True,
        )
    for name, params in {
        "sorted by a float": {"sort": "-c1"},
        "filtered by a category": {"filter": "c3:eq:b"},
        "filtered and sorted": {"filter": "c1:gt:1.5", "sort": ["c3", "-c0"]},
    }.items():
        found = sorted(timed(gateway, url, **params) for _ in range(5))
        print(f"{name:28} {found[2]:11.2f} {'':9} {found[-1]:9.2f}", flush=True)


def conversions(gateway: Gateway, artifact: dict, rows: int, formats: list[str]) -> None:
    print("\nconversion         s        rows/s       MiB     MiB/s")
    for extension in formats:
        started = time.perf_counter()
        with gateway.request(
            "GET", f"{artifact['url']}.{extension}", stream=True, timeout=900
        ) as answer:
            assert answer.status_code == 200, answer.text[:300]
            size = sum(len(piece) for piece in answer.iter_content(1 << 20))
        seconds = time.perf_counter() - started
        print(
            f"{extension:12} {seconds:8.2f} {rows / seconds:12.0f} {size / 2**20:9.1f} "
            f"{size / 2**20 / seconds:9.1f}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", default="1000,100000,10000000")
    parser.add_argument("--paged-rows", type=int, default=1_000_000)
    parser.add_argument("--pages", type=int, default=200)
    arguments = parser.parse_args()
    gateway = Gateway("--pool-size", "0")
    try:
        sandbox = gateway.create_sandbox(timeout=3600, memoryMB=3072)
        assert gateway.execute(FRAME, sandbox=sandbox).error is None
        sizes = [
            (int(rows), 10 if int(rows) <= 1_000_000 else 3) for rows in arguments.rows.split(",")
        ]
        capture_costs(gateway, sandbox, [*sizes, (arguments.paged_rows, 10)])
        artifact = shown(gateway, sandbox, arguments.paged_rows, 10)
        paging(gateway, artifact, arguments.paged_rows, arguments.pages)
        conversions(
            gateway, artifact, arguments.paged_rows, ["arrow", "csv", "json", "html", "parquet"]
        )
        small = shown(gateway, sandbox, 20_000, 10)
        conversions(gateway, small, 20_000, ["csv", "xlsx"])
    finally:
        gateway.remove()


if __name__ == "__main__":
    main()
