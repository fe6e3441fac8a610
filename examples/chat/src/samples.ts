// What an empty page offers to run.

export const samples: { title: string; code: string }[] = [
  {
    title: "A table to page through",
    code: `import numpy as np
import pandas as pd

rng = np.random.default_rng(7)
n = 5_000
orders = pd.DataFrame({
    "ordered": pd.date_range("2025-01-01", periods=n, freq="97min"),
    "city": rng.choice(["Oslo", "Rome", "Bonn", "Lyon"], n),
    "items": rng.integers(1, 9, n),
    "price": rng.gamma(3, 12, n).round(2),
})
orders`,
  },
  {
    title: "An interactive chart",
    code: `import matplotlib.pyplot as plt
import numpy as np

days = np.arange(90)
rng = np.random.default_rng(3)
fig, ax = plt.subplots(figsize=(8, 4))
for city, level in {"Oslo": 4, "Rome": 14, "Bonn": 9}.items():
    ax.plot(days, level + days / 9 + rng.normal(0, 1.2, 90).cumsum() / 3, label=city)
ax.set(title="Mean temperature", xlabel="Day of the year", ylabel="°C")
ax.legend()
plt.show()`,
  },
  {
    title: "A progress bar, then an error",
    code: `import time

for step in range(1, 31):
    bar = "█" * step + "·" * (30 - step)
    print(f"\\r{bar} {step * 100 // 30} %", end="", flush=True)
    time.sleep(0.05)
print()
{}["answer"]`,
  },
];
