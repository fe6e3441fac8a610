"""The gallery's register of figures, and a chart that can be asked."""

import base64
import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

DTYPES = {"f8": "<f8", "f4": "<f4", "i4": "<i4", "u1": "u1"}


@dataclass
class Figure:
    name: str
    library: str
    source: str
    check: Callable[["Chart"], None] | None = None

    def expects(self, check: Callable[["Chart"], None]) -> "Figure":
        self.check = check
        return self

    @property
    def code(self) -> str:
        call = f"{self.name}()"
        if self.library in ("matplotlib", "seaborn", "pandas"):
            # Their functions draw on pyplot's figure; whatever they return is no display.
            call = f"_ = {call}\nplt.show()"
        return f"{self.source}\n{call}"


FIGURES: dict[str, Figure] = {}

# What a figure's function finds in its sandbox.
PREAMBLES = {
    "matplotlib": "import numpy as np, pandas as pd, matplotlib.pyplot as plt",
    "pandas": "import numpy as np, pandas as pd, matplotlib.pyplot as plt",
    "seaborn": "import numpy as np, pandas as pd, matplotlib.pyplot as plt, seaborn as sns",
    "plotly": "import numpy as np, pandas as pd, plotly.express as px, plotly.graph_objects as go",
    "altair": "import numpy as np, pandas as pd, altair as alt",
    "bokeh": "import numpy as np, pandas as pd\nfrom bokeh.plotting import figure, show\n"
    "from bokeh.io import output_notebook\noutput_notebook(hide_banner=True)",
}


def figure(library: str) -> Callable[[Callable], Figure]:
    """Registers a drawing function; its source is what runs in the guest."""

    def register(function: Callable) -> Figure:
        source = textwrap.dedent(inspect.getsource(function))
        source = source[source.index("def ") :]
        made = Figure(function.__name__, library, source)
        assert made.name not in FIGURES, f"two figures are called {made.name}"
        FIGURES[made.name] = made
        return made

    return register


def numbers(column: object) -> np.ndarray:
    """A column of the model as floats; what is missing is NaN."""
    if isinstance(column, dict):
        raw = np.frombuffer(base64.b64decode(column["b64"]), dtype=DTYPES[column["dtype"]])
        return raw.astype(float)
    words = {None: np.nan, "inf": np.inf, "-inf": -np.inf}
    return np.array([words[v] if v is None or isinstance(v, str) else v for v in column], float)


def ms(when: object) -> np.ndarray:
    """Dates as the model has them: milliseconds since 1970."""
    return np.asarray(when, dtype="datetime64[ms]").astype(np.int64).astype(float)


@dataclass
class Layer:
    model: dict
    panel: dict = field(repr=False)

    @property
    def kind(self) -> str:
        return self.model["kind"]

    @property
    def label(self) -> str | None:
        return self.model.get("label")

    def __getitem__(self, name: str) -> np.ndarray:
        return numbers(self.model["data"][name])

    def holds(self, kind: str | None = None, **columns: object) -> None:
        """Each named column equals these numbers, in this order."""
        assert kind is None or self.kind == kind, (self.kind, kind)
        for name, expected in columns.items():
            np.testing.assert_allclose(
                self[name], np.asarray(expected, float), rtol=1e-9, atol=1e-9, err_msg=name
            )

    def names(self, axis: str = "x") -> list[str]:
        """The categories that this layer's positions stand for, in its order."""
        described = self.panel[axis]
        by_index = dict(enumerate(described["categories"]))
        return [by_index[int(index)] for index in self["cat"]]

    def bars(self, axis: str = "x") -> dict[str, float]:
        return dict(zip(self.names(axis), self["value"], strict=True))


class Chart:
    """The model of a chart, as `GET /artifacts/{id}/chart?format=model` gives it."""

    def __init__(self, model: dict):
        self.model = model

    @property
    def panels(self) -> list[dict]:
        return self.model["panels"]

    def layers(self, kind: str | None = None, panel: int = 0) -> list[Layer]:
        chosen = self.panels[panel]
        made = [Layer(layer, chosen) for layer in chosen["layers"]]
        return [layer for layer in made if kind is None or layer.kind == kind]

    def layer(self, label: str | None = None, kind: str | None = None, panel: int = 0) -> Layer:
        """The one layer of that label and kind."""
        found = [
            layer for layer in self.layers(kind, panel) if label is None or layer.label == label
        ]
        there = [(layer.kind, layer.label) for layer in self.layers(panel=panel)]
        assert len(found) == 1, f"{len(found)} layers {label!r} {kind!r} among {there}"
        return found[0]

    def axis(self, name: str, panel: int = 0) -> dict:
        return self.panels[panel][name]

    def has_titles(self, title: str | None = None, x: str | None = None, y: str | None = None):
        panel = self.panels[0]
        assert title is None or title in (self.model.get("title"), panel.get("title"))
        assert x is None or panel["x"]["label"] == x, panel["x"]["label"]
        assert y is None or panel["y"]["label"] == y, panel["y"]["label"]
