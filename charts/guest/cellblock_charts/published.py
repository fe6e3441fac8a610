"""Charts in what libraries publish: a bundle that carries a figure as JSON gets its chart model.

Plotly and bokeh publish bundles of their own (`display(..., raw=True)`), so that type formatters
never see their figures; altair's bundle may hold HTML only, so its charts are asked for their
specification. Both ways of publishing pass here: the formatter's result and the publisher.
"""

from __future__ import annotations

import functools
import os
from typing import Any

from . import MIME

PLOTLY = "application/vnd.plotly.v1+json"
_VEGA_LITE = "application/vnd.vegalite.v"
_BOKEH = "application/vnd.bokehjs_exec.v0+json"
_SCRIPT = "application/javascript"


def register(ip: Any) -> None:
    """Wraps the shell's formatter and publisher. Can be repeated."""
    # The figure as JSON, without the megabytes of plotly.js that its notebook renderer adds.
    os.environ.setdefault("PLOTLY_RENDERER", "plotly_mimetype")
    _wrap_format(ip.display_formatter)
    _wrap_publish(ip.display_pub)


def _wrap_format(formatter: Any) -> None:
    original = formatter.format
    if getattr(original, "_cellblock", False):
        return

    @functools.wraps(original)
    def format(obj: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(obj, *args, **kwargs)
        try:
            data = result[0]
            if data and MIME not in data:
                model = _model_of_object(obj) or model_of(data)
                if model is not None:
                    data[MIME] = model
        except Exception:
            pass
        return result

    format._cellblock = True  # type: ignore[attr-defined]
    formatter.format = format


def _wrap_publish(publisher: Any) -> None:
    original = publisher.publish
    if getattr(original, "_cellblock", False):
        return

    @functools.wraps(original)
    def publish(data: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            if isinstance(data, dict) and MIME not in data:
                model = model_of(data)
                if model is not None:
                    data = {**data, MIME: model}
        except Exception:
            pass
        return original(data, *args, **kwargs)

    publish._cellblock = True  # type: ignore[attr-defined]
    publisher.publish = publish


def model_of(data: dict[str, Any]) -> dict[str, Any] | None:
    """The chart model of a bundle; nothing when there is no figure in it."""
    bundle = data.get(PLOTLY)
    if isinstance(bundle, dict):
        from .figures import plotly

        return plotly.read(bundle)
    if _BOKEH in data and isinstance(data.get(_SCRIPT), str):
        from .figures import bokeh

        return bokeh.read(data[_SCRIPT])
    for mime, spec in data.items():
        if mime.startswith(_VEGA_LITE) and isinstance(spec, dict):
            from .figures import vega_lite

            return vega_lite.read(spec)
    return None


def _model_of_object(obj: Any) -> dict[str, Any] | None:
    """An altair chart as its specification; MaxRowsError and the like become a reason."""
    if type(obj).__module__.partition(".")[0] != "altair" or not hasattr(obj, "to_dict"):
        return None
    from .figures import vega_lite

    try:
        return vega_lite.read(obj.to_dict())
    except Exception as error:
        return vega_lite.unreadable(f"{type(error).__name__}: {str(error).splitlines()[0]}")
