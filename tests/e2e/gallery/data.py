"""The data of the gallery: made by rules, the same in the guest and for the expectations."""

import numpy as np
import pandas as pd

CITIES = ["Oslo", "Rome", "Bonn", "Lyon"]


def days(count=60):
    return pd.date_range("2025-03-01", periods=count, freq="D")


def wave(count=60, level=0.0, period=17.0):
    steps = np.arange(count)
    return level + np.sin(steps / period * 2 * np.pi) * 3 + steps / 20


def counts():
    return [42, 17, 31, 25]


def more_counts():
    return [12, 29, 8, 40]


def spread(count=240, center=0.0, scale=1.0, seed=3):
    return np.random.default_rng(seed).normal(center, scale, count)


def cloud(count=80, seed=5):
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 10, count)
    return x, x * 1.5 + rng.normal(0, 2, count)


def grid(rows=6, columns=8):
    y, x = np.mgrid[0:rows, 0:columns]
    return np.sin(x / 2) + np.cos(y / 2) + x * 0.1


def prices(count=20):
    """Open, high, low, close of `count` days."""
    close = 100 + wave(count, period=9)
    opened = np.concatenate([[100.0], close[:-1]])
    high = np.maximum(opened, close) + 0.8
    low = np.minimum(opened, close) - 0.6
    return opened, high, low, close


def survey():
    """Three groups of measurements, long form: group, sex, value, weight."""
    parts = []
    for i, group in enumerate(["Adelie", "Chinstrap", "Gentoo"]):
        for j, sex in enumerate(["f", "m"]):
            value = spread(40, center=38 + 4 * i + 2 * j, scale=1.5, seed=10 * i + j)
            parts.append(pd.DataFrame({"group": group, "sex": sex, "value": value}))
    frame = pd.concat(parts, ignore_index=True)
    frame["weight"] = frame.value * 80 + spread(len(frame), 0, 120, seed=99)
    return frame
