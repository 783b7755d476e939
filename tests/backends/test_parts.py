"""The small parts, by themselves."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from hermes_backends import strip_ansi
from hermes_backends.output import Collector
from hermes_backends.shell.frames import Frame, FrameSplitter

FRAME = b"\x1enonce;E;1;0;/tmp\x1e"
noise = st.lists(st.sampled_from([b"text", b"\x1e", b"\x1enon", b"\x1enonce", b"nonce;E;", b"\n", b"\0"])).map(b"".join)


@given(before=noise, after=noise, cuts=st.lists(st.integers(0, 120)))
def test_frames_are_found_however_the_stream_is_cut(before, after, cuts):
    before, after = (text.replace(b"\x1enonce;", b"") for text in (before, after))
    before += b"." if before.endswith((b"\x1enonce", b"\x1e")) else b""
    stream = before + FRAME + after
    edges = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    splitter = FrameSplitter("nonce")
    items = [item for a, b in pairwise(edges) for item in splitter.feed(stream[a:b])]
    frames = [item for item in items if isinstance(item, Frame)]
    output = b"".join(item for item in items if isinstance(item, bytes)) + splitter.rest()
    assert frames == [Frame("E", ["1", "0", "/tmp"])]
    assert output == before + after


@given(
    pieces=st.lists(st.tuples(st.sampled_from([1, 2]), st.binary(min_size=1, max_size=40))),
    limit=st.integers(1, 100),
)
def test_collected_output_is_whole_or_a_true_head_and_tail(pieces, limit):
    collector = Collector(limit)
    for stream, data in pieces:
        collector.add(stream, data)
    collector.close()
    whole = {n: b"".join(data for stream, data in pieces if stream == n) for n in (1, 2)}
    if not collector.truncated:
        assert collector.contents() == (whole[1], whole[2])
        return
    try:
        assert collector.spill.read_bytes() == b"".join(data for _, data in pieces)
        for kept, full in zip(collector.contents(), whole.values(), strict=True):
            head, gap, tail = kept.partition(b"\n[\xe2\x80\xa6 ")
            assert full.startswith(head)
            assert not gap or full.endswith(tail.partition(b"\xe2\x80\xa6]\n")[2])
            assert gap or kept == full
    finally:
        collector.spill.unlink()


def test_ansi_is_stripped_and_progress_bars_are_left_at_their_end():
    assert strip_ansi("\x1b[1;31mred\x1b[0m \x1b]8;;http://x\x07link\x1b]8;;\x07 é") == "red link é"
    assert strip_ansi("10%\r50%\r100%\ndone\r\n") == "100%\ndone\n"
