"""Text out of figures: cleaned, capped, and with matplotlib's mathtext made readable."""

from __future__ import annotations

import re
from typing import Any

from .budget import MAX_STRING

_UNIT = re.compile(r"\s\((.*?)\)|\[(.*?)\]")  # E2B's rule: "Time (s)" -> s, "Speed [m/s]" -> m/s
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u2028\u2029]")
_MATH = re.compile(r"\$([^$]*)\$")
_WRAPPER = re.compile(
    r"\\(?:mathdefault|mathrm|mathregular|mathit|mathbf|text|textrm)\{([^{}]*)\}")
_GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "eta": "η",
    "theta": "θ", "lambda": "λ", "mu": "μ", "nu": "ν", "pi": "π", "rho": "ρ", "sigma": "σ",
    "tau": "τ", "phi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω", "Delta": "Δ", "Sigma": "Σ",
    "Omega": "Ω", "Phi": "Φ", "times": "×", "cdot": "·", "pm": "±", "degree": "°", "circ": "°",
    "infty": "∞", "leq": "≤", "geq": "≥", "approx": "≈", "rightarrow": "→",
}
_COMMAND = re.compile(r"\\([A-Za-z]+)\s?")


def clean(value: Any) -> str:
    """Any text as one that JSON, logs and the host take: no control characters, capped."""
    text = value if isinstance(value, str) else str(value)
    text = text.encode("utf-8", "replace").decode("utf-8")
    text = _CONTROL.sub(" ", text)
    return text if len(text) <= MAX_STRING else text[: MAX_STRING - 1] + "…"


def plain(value: Any) -> str:
    """Text with simple mathtext resolved: "$\\mathdefault{10^{2}}$" -> "10^2"."""
    text = value if isinstance(value, str) else str(value)
    if "$" in text:
        text = _MATH.sub(_math, text)
    return clean(text)


def _math(match: re.Match[str]) -> str:
    inner = match.group(1)
    braces = re.compile(r"([\^_])\{([^{}]*)\}")
    for _ in range(4):
        before = inner
        inner = braces.sub(r"\1\2", inner)
        inner = _WRAPPER.sub(r"\1", inner)
        if inner == before:
            break
    inner = _COMMAND.sub(lambda m: _GREEK.get(m.group(1), m.group(0)), inner)
    if "\\" in inner.replace("\\ ", ""):
        return match.group(0)  # more than we read: as the user wrote it
    return inner.replace("\\ ", " ").replace("\u2212", "-")


def label_of(artist: Any) -> str | None:
    """An artist's legend label; None when it has none of its own."""
    label = artist.get_label()
    if label is None:
        return None
    label = plain(label).strip()
    return None if not label or label.startswith("_") else label


def or_none(value: Any) -> str | None:
    text = plain(value).strip() if value is not None else ""
    return text or None


def unit_of(label: str | None) -> str | None:
    match = _UNIT.search(label) if label else None
    return (match.group(1) or match.group(2) or None) if match else None
