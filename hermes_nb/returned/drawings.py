"""What a model reads of a drawing: what it is of, as far as that is written on it, and how large it is."""

from __future__ import annotations

from typing import Any

from hermes_nb.returned.cells import clipped

_AXES_SHOWN = 12
_LABELS_SHOWN = 12
_CONTENTS = {"lines": "line", "collections": "collection", "patches": "patch", "images": "image"}


def of_image(image: Any) -> str:
    """A picture of Pillow's."""
    width, height = image.size
    kind = getattr(image, "format", None)
    return f"image, {width}x{height}, {image.mode}{f', {kind}' if kind else ''}"


def of_figure(figure: Any) -> str:
    """A figure of matplotlib's: its titles, and of each of its axes the labels and how much is drawn."""
    width, height = (round(inches * figure.dpi) for inches in figure.get_size_inches())
    title = getattr(figure, "get_suptitle", str)()
    parts = [f"figure, {width}x{height}", *([_quoted(title)] if title else [])]
    parts += [_axes(axes) for axes in figure.axes[:_AXES_SHOWN]]
    more = len(figure.axes) - _AXES_SHOWN
    return "; ".join([*parts, *([f"{more} more axes"] if more > 0 else [])])


def of_artist(artist: Any) -> str:
    """A part of a figure, such as the axes that pandas and seaborn give back when they plot."""
    figure = figure_of(artist)
    return f"{type(artist).__name__} without a figure" if figure is None else of_figure(figure)


def figure_of(value: Any) -> Any:
    """The figure of matplotlib's that a value is or belongs to; None if it is something else."""
    if not is_from(type(value), "matplotlib", "seaborn"):
        return None
    while value is not None and not hasattr(value, "savefig"):  # a figure may be part of another one
        value = getattr(value, "figure", None)
    return value


def is_from(kind: type, *libraries: str) -> bool:
    """Whether a type is of one of these libraries, or derived from one of theirs."""
    return any(str(base.__module__).partition(".")[0] in libraries for base in kind.__mro__)


def _axes(axes: Any) -> str:
    title = axes.get_title()
    labels = [f"{way}: {_quoted(text)}" for way, text in (("x", axes.get_xlabel()), ("y", axes.get_ylabel())) if text]
    drawn = [
        f"{len(held)} {word}{'' if len(held) == 1 else 'es' if word == 'patch' else 's'}"
        for name, word in _CONTENTS.items()
        if (held := getattr(axes, name, ()))
    ]
    names = [str(name) for name in axes.get_legend_handles_labels()[1]]
    legend = [f"legend: {', '.join(map(_quoted, names[:_LABELS_SHOWN]))}"] if names else []
    said = ", ".join([*labels, *drawn, *legend]) or "empty"
    return f"axes {_quoted(title)} ({said})" if title else f"axes ({said})"


def _quoted(text: str) -> str:
    return f'"{clipped(" ".join(text.split()), 80)}"'
