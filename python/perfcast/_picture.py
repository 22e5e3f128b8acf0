"""Pictures of intervals for notebooks: SVG inside HTML, without scripts and outside addresses."""

from __future__ import annotations

import html
import math
from typing import List, NamedTuple, Sequence

_MOST_BARS = 20
_LABEL_PX, _PLOT_PX, _ROW_PX, _AXIS_PX = 300, 380, 20, 40


class Bar(NamedTuple):
    """A value with its 90% interval."""

    label: str
    value: float
    lower: float
    upper: float


def _ticks(most: float) -> List[float]:
    """About five round numbers from 0 to `most`."""
    power = 10 ** math.floor(math.log10(most / 5))
    step = next((factor * power for factor in (1, 2, 5, 10) if most / (factor * power) <= 6))
    return [i * step for i in range(int(most / step) + 1)]


def interval_svg(bars: Sequence[Bar], unit: str) -> str:
    """A line from lower to upper and a dot at the value, for each bar. Colours follow the page's text."""
    most = max((bar.upper for bar in bars), default=0)
    if not most > 0 or not math.isfinite(most):
        return ""
    width, height = _LABEL_PX + _PLOT_PX + 20, _ROW_PX * len(bars) + _AXIS_PX
    bottom = _ROW_PX * len(bars) + 4

    def x(value: float) -> float:
        return _LABEL_PX + _PLOT_PX * value / most

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{html.escape(unit)} with 90% intervals" fill="currentColor" stroke="none" '
        'style="font:12px sans-serif;max-width:100%">'
    ]
    for tick in _ticks(most):
        parts.append(
            f'<line x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="0" y2="{bottom}" stroke="currentColor" opacity="0.15"/>'
            f'<text x="{x(tick):.1f}" y="{bottom + 14}" text-anchor="middle">{tick:g}</text>'
        )
    for i, bar in enumerate(bars):
        y = _ROW_PX * i + _ROW_PX / 2
        label = bar.label if len(bar.label) <= 44 else bar.label[:43] + "\u2026"
        said = f"{bar.label}: {bar.value:.4g} ({bar.lower:.4g} to {bar.upper:.4g}) {unit}"
        parts.append(
            f"<g><title>{html.escape(said)}</title>"
            f'<text x="{_LABEL_PX - 10}" y="{y + 4:.1f}" text-anchor="end">{html.escape(label)}</text>'
            f'<line x1="{x(bar.lower):.1f}" x2="{x(bar.upper):.1f}" y1="{y:.1f}" y2="{y:.1f}" stroke="#2a8fc4" '
            f'stroke-width="4" stroke-linecap="round" opacity="0.6"/>'
            f'<circle cx="{x(bar.value):.1f}" cy="{y:.1f}" r="4" fill="#0072b2"/></g>'
        )
    parts.append(
        f'<text x="{_LABEL_PX + _PLOT_PX / 2}" y="{bottom + 30}" text-anchor="middle">{html.escape(unit)}, with 90% '
        "intervals</text></svg>"
    )
    return "".join(parts)


def page(title: str, bars: Sequence[Bar], unit: str, notes: Sequence[str]) -> str:
    """The first bars as a picture, with a title above and the notes below."""
    parts = [f"<div><strong>{html.escape(title)}</strong><br>", interval_svg(bars[:_MOST_BARS], unit)]
    if len(bars) > _MOST_BARS:
        parts.append(f"<p>{len(bars) - _MOST_BARS} more</p>")
    if notes:
        parts.append("<ul>" + "".join(f"<li>{html.escape(note)}</li>" for note in notes) + "</ul>")
    return "".join(parts) + "</div>"
