"""Faces that values bring along: shown in our card as in any cell, whole, bounded, and without secrets."""

from __future__ import annotations

import base64
import io
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from IPython.core.interactiveshell import InteractiveShell
from matplotlib.figure import Figure
from PIL import Image

import hermes_nb as hermes
from hermes_nb.calls.results import ToolResult, to_text
from hermes_nb.notebook.faces import media, own_face
from hermes_nb.notebook.faces import results as display

SECRET = "ghp_" + "a1B2" * 9
PNG = b"\x89PNG\r\n\x1a\n"
FRAME = pd.DataFrame({"city": ["Rome"], "temp": [21.5]})


def result(value: Any, **changes: Any) -> ToolResult:
    return ToolResult(**{"tool": "t", "text": to_text(value), "value": value, **changes})


def bundle(value: Any) -> dict[str, Any]:
    return display.result_bundle(result(value))


class Shown:
    """An object with faces of its own."""

    def __init__(self, **faces: Any) -> None:
        self._faces = faces

    def _repr_html_(self) -> Any:
        return self._faces.get("html")

    def _repr_svg_(self) -> Any:
        return self._faces.get("svg")

    def _repr_png_(self) -> Any:
        return self._faces.get("png")

    def _repr_mimebundle_(self, **_: Any) -> Any:
        return self._faces.get("bundle")


@pytest.mark.parametrize("frame", [FRAME, pl.DataFrame({"city": ["Rome"]}), pl.Series(["Rome"]), FRAME.style])
def test_a_frame_is_shown_as_its_own_table_in_our_card(frame: Any) -> None:
    shown = bundle(frame)
    page = shown["text/html"]
    assert page.startswith("<div style=")
    assert page.index("✓ ok") < page.index("<table") < page.index("Rome")
    assert "what the model reads" in page
    assert shown["text/plain"].startswith('t: ok\n{"shape":[1')


def test_a_series_is_shown_as_a_table_with_its_index() -> None:
    page = bundle(pd.Series([1, 2], index=["a", "b"], name="n"))["text/html"]
    assert "<table" in page
    assert ">b<" in page.replace(" ", "")


def test_the_text_is_the_same_whatever_the_face_is() -> None:
    assert display.result_text(result(FRAME)) == display.result_text(result(FRAME, duration=9))
    assert bundle(Figure())["text/plain"] == "t: ok\nfigure, 640x480"


def test_a_figure_is_shown_as_a_picture() -> None:
    shown = bundle(Figure())
    image = Image.open(io.BytesIO(base64.b64decode(shown["image/png"])))
    assert (image.format, image.size) == ("PNG", (640, 480))


def test_axes_are_shown_as_their_figure() -> None:
    assert bundle(FRAME.plot(ax=Figure().subplots()))["image/png"]


def test_a_huge_figure_is_shown_at_a_bearable_size() -> None:
    image = Image.open(io.BytesIO(base64.b64decode(bundle(Figure(figsize=(50, 2), dpi=300))["image/png"])))
    assert max(image.size) <= 2_000


def test_a_picture_is_shown_and_a_huge_one_smaller() -> None:
    assert bundle(Image.new("RGB", (8, 6)))["image/png"]
    original = Image.new("L", (9_000, 30))
    image = Image.open(io.BytesIO(base64.b64decode(bundle(original)["image/png"])))
    assert max(image.size) <= 2_000
    assert original.size == (9_000, 30)
    assert bundle(Image.new("CMYK", (8, 6)))["image/jpeg"]


def test_bytes_of_a_picture_are_shown_as_one() -> None:
    buffer = io.BytesIO()
    Image.new("RGB", (8, 6)).save(buffer, "PNG")
    assert base64.b64decode(bundle(buffer.getvalue())["image/png"]) == buffer.getvalue()
    assert "image/png" not in bundle(b"plain words")


def test_faces_inside_of_a_dict_or_list_are_shown_under_their_keys() -> None:
    page = bundle({"n": 1, "table": FRAME, "plot": Figure(), "bytes": b"text"})["text/html"]
    assert page.index(">table<") < page.index("<table") < page.index(">plot<") < page.index("data:image/png;base64,")
    assert "<table" in bundle([1, FRAME])["text/html"]
    assert bundle({"frames": [FRAME]})["text/plain"].startswith('t: ok\n{"frames":[{"shape":[1,2]')


def test_many_faces_are_bounded() -> None:
    assert bundle([FRAME] * 50)["text/html"].count('class="dataframe"') == 6


def test_a_failed_call_shows_no_face() -> None:
    failed = result(FRAME, outcome="error", error="it failed")
    assert "<table" not in display.result_bundle(failed)["text/html"]


# What comes from a face must not harm the page --------------------------------------------------------------------


@pytest.mark.parametrize(
    "page",
    [
        "</div></div><h1>denied</h1>",
        "<div><span>",
        "<!-- swallowed",
        "<script>let x",
        "<style>p {",
        "<textarea>",
        "<div/>",
        "<em",
        "<table></div></table>",
    ],
)
def test_a_face_that_would_end_or_swallow_our_card_is_not_taken(page: str) -> None:
    value = Shown(html=page)
    assert own_face.face_of(value) is None
    assert page not in bundle(value)["text/html"]


@pytest.mark.parametrize(
    "page",
    [
        "<div><p>one<p>two</div>",
        "<table><tr><td>1</table>",
        "<br><img src='x'><hr>",
        "<svg><path d='M0'/></svg>",
        "<script>if (a < b && c > d) { '</div>' }</script>",
        "<div title='</div>'>x</div>",
        "<!-- whole --><b>x</b>",
        "words & more",
    ],
)
def test_a_face_that_is_whole_is_taken_as_it_is(page: str) -> None:
    assert page in bundle(Shown(html=page))["text/html"]


def test_secrets_are_taken_out_of_a_face(monkeypatch: pytest.MonkeyPatch) -> None:
    class Late(Shown):
        def __repr__(self) -> str:
            return "late"

    monkeypatch.setenv("SOME_TOKEN", "with<&>signs-inside")
    shown = bundle(Late(html=f"<b>{SECRET}</b>"))
    assert SECRET not in str(shown)
    assert "[redacted]" in shown["text/html"]
    assert "signs-inside" not in str(bundle(Late(html="<b>with&lt;&amp;&gt;signs-inside</b>")))
    assert SECRET not in str(bundle(Late(bundle={"application/vnd.plot+json": {"title": [SECRET]}})))
    drawing = own_face.face_of(Late(svg=f"<svg><text>{SECRET}</text></svg>"))
    assert isinstance(drawing, media.Picture)
    assert base64.b64decode(drawing.data) == b"<svg><text>[redacted]</text></svg>"


def test_a_secret_in_a_row_that_no_model_read_is_not_shown_either() -> None:
    rows = [f"row {n}" for n in range(55)]
    rows[30] = SECRET
    value = result(pd.DataFrame({"key": rows}))
    assert SECRET not in value.text
    page = display.result_bundle(value)["text/html"]
    assert "row 29" in page
    assert SECRET not in page


@pytest.mark.parametrize("inside", [False, True])
def test_data_that_held_a_secret_is_shown_as_the_model_reads_it(
    session: hermes.Session, tools: hermes.Registry, monkeypatch: pytest.MonkeyPatch, inside: bool
) -> None:
    secret = "correct-horse-" * 6  # a table would cut it, and nobody would know it again
    monkeypatch.setenv("SOME_API_KEY", secret)
    frame = pd.DataFrame({"key": [secret]})
    hermes.tool(registry=tools, name="frame")(lambda: {"held": frame} if inside else frame)
    done = session.call("frame")
    shown = str(done._repr_mimebundle_())
    assert "[redacted]" in shown
    assert secret[:20] not in shown
    kept = ToolResult("t", done.text, {"held": frame} if inside else frame)
    assert secret[:20] not in str(display.result_bundle(kept))


def test_a_drawing_is_shown_as_a_picture_in_which_no_script_runs() -> None:
    page = bundle(Shown(svg="<svg onload='alert(1)'><script>alert(2)</script></svg>"))["text/html"]
    assert "data:image/svg+xml;base64," in page
    assert "alert" not in page


def test_a_face_that_is_too_large_is_not_shown() -> None:
    assert own_face.face_of(Shown(html=f"<b>{'x' * own_face.HTML_SHOWN}</b>")) is None
    assert own_face.face_of(Shown(png=PNG + b"x" * own_face.PICTURE_SHOWN)) is None


def test_a_face_that_fails_costs_nothing_but_itself(capsys: pytest.CaptureFixture[str]) -> None:
    class Failing(Shown):
        def __getattribute__(self, name: str) -> Any:
            if name == "_faces":
                raise ValueError("no face today")
            return super().__getattribute__(name)

    assert "✓ ok" in bundle(Failing())["text/html"]
    assert "no face today" in capsys.readouterr().err  # IPython tells of it, as for any object


def test_a_live_face_goes_along_for_the_front_ends_that_know_it() -> None:
    plot = {"data": [{"x": [1, 2]}]}
    shown = bundle(Shown(bundle={"application/vnd.plotly.v1+json": plot, "text/html": "<b>static</b>"}))
    assert shown["application/vnd.plotly.v1+json"] == plot
    assert "<b>static</b>" in shown["text/html"]


def test_what_a_user_has_set_up_for_a_type_holds_here_too(shell: InteractiveShell) -> None:
    assert shell.display_formatter is not None
    shell.display_formatter.formatters["text/html"].for_type(np.ndarray, lambda array: f"<i>{array.size} numbers</i>")
    assert "<i>3 numbers</i>" in bundle(np.arange(3))["text/html"]


@pytest.mark.parametrize(
    "names", [("stdout", "stderr", "exit_code"), ("result", "figure", "thumbnail", "size", "to_frame", "error")]
)
def test_a_column_named_like_an_attribute_does_not_change_the_face(names: tuple[str, ...]) -> None:
    page = bundle(pd.DataFrame({name: ["x"] for name in names}))["text/html"]
    assert "<table" in page
    assert "✓ ok" in page


def test_a_call_in_a_cell_shows_the_frame(session: hermes.Session, tools: hermes.Registry) -> None:
    hermes.tool(registry=tools, name="frame")(lambda: FRAME)
    done = session.call("frame")
    assert "<table" in done._repr_mimebundle_()["text/html"]
    assert done.value is FRAME
