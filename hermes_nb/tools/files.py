"""``read_file``, ``write_file``, ``patch`` and ``search_files``, on whichever backend the session has."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from hermes_nb.approval.assessment import Assessment
from hermes_nb.approval.view import ApprovalView
from hermes_nb.common.redact import redact
from hermes_nb.common.text import beginning, head_and_tail
from hermes_nb.context import Context
from hermes_nb.errors import ToolError
from hermes_nb.toolbox.decorator import tool
from hermes_nb.tools import edit, remote_files

LONGEST_LINE = 2000
LONGEST_PREVIEW = 4000
_BINARY_FORMATS = {
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF8": "a GIF image",
    b"%PDF": "a PDF document",
    b"PK\x03\x04": "a zip archive",
    b"\x1f\x8b": "a gzip archive",
    b"\x7fELF": "a program",
}


def _guard_write(args: Mapping[str, Any], context: Context) -> Assessment:
    from hermes_nb.approval.guards import assess_write

    return assess_write(args["path"], cwd=context.place.cwd or None)


def _guard_read(args: Mapping[str, Any], context: Context) -> Assessment:
    from hermes_nb.approval.guards import assess_read

    return assess_read(args["path"], cwd=context.place.cwd or None)


def _show_read(args: Mapping[str, Any]) -> ApprovalView:
    return ApprovalView(f"read {args['path']}", rows=args.items(), language="text")


def _show_write(args: Mapping[str, Any]) -> ApprovalView:
    path, content = args["path"], args["content"]
    rows = [("path", path), ("size", f"{len(content.encode()):,} bytes")]
    return ApprovalView(f"write {path}", _preview(content), rows, edits="content", language="text")


def _show_patch(args: Mapping[str, Any]) -> ApprovalView:
    old, new = (redact(args[name]).splitlines() for name in ("old_string", "new_string"))
    change = "\n".join([*(f"- {line}" for line in old), *(f"+ {line}" for line in new)])
    rest = [(name, value) for name, value in args.items() if name not in ("old_string", "new_string")]
    return ApprovalView(f"change {args['path']}", _preview(change), rest, language="text")


def _preview(text: str) -> str:
    """As much as a person would read; secrets are taken out first, because half a secret is not recognised."""
    return head_and_tail(redact(text), LONGEST_PREVIEW)


def _path(args: Mapping[str, Any]) -> Iterable[str]:
    return [str(args.get("path", ""))]


@tool(toolset="file", emoji="📖", guard=_guard_read, approval_view=_show_read, parallel=True, keeps_deadline=True)
def read_file(path: str, context: Context, offset: int = 1, limit: int = 500) -> dict[str, Any]:
    """Read a text file, with line numbers. Long files come in pages: go on at next_offset.

    Args:
        path: The file; relative to the terminal's directory.
        offset: The first line.
        limit: How many lines, at most 2000.
    """
    offset, limit = max(offset, 1), min(max(limit, 1), 2000)
    kept_here = context.session.spills.holds(path)  # what was too long to show is on this machine, wherever it ran
    if kept_here is not None:
        size, ends, sample, lines = _read_here(kept_here, offset, limit)
    else:
        size, ends, sample, lines = remote_files.read_lines(context, path, offset, limit)
    if _is_binary(sample):
        kind = next((kind for magic, kind in _BINARY_FORMATS.items() if sample.startswith(magic)), "binary data")
        raise ToolError(f"{path} is {kind} ({size:,} bytes), not text; use terminal to look inside")
    shown = lines.decode("utf-8", "replace").split("\n")
    if shown and not shown[-1]:
        shown.pop()
    total = max(ends, offset - 1 + len(shown) if shown else ends)
    if not shown and offset > 1:
        raise ToolError(f"{path} has only {total} lines")
    numbered = "\n".join(f"{number:6}|{beginning(line, LONGEST_LINE)}" for number, line in enumerate(shown, offset))
    result: dict[str, Any] = {"path": path, "content": numbered, "total_lines": total, "size": size}
    if offset + len(shown) - 1 < total:
        result["next_offset"] = offset + len(shown)
    return result


def _read_here(path: Path, first: int, count: int) -> tuple[int, int, bytes, bytes]:
    """Lines of a file of this machine, as `remote_files.read_lines` gives them of another's."""
    wanted: list[bytes] = []
    ends = 0
    with path.open("rb") as file:
        sample = file.peek(4096)[:4096]
        for number, line in enumerate(file, 1):
            ends += line.endswith(b"\n")
            if first <= number < first + count:
                wanted.append(line)
    return path.stat().st_size, ends, sample, b"".join(wanted)


def _is_binary(sample: bytes) -> bool:
    """Whether this is no text: a NUL, or bytes that are neither UTF-8 nor mostly printable in any 8-bit encoding."""
    if b"\0" in sample:
        return True
    control = sum(byte < 32 and byte not in b"\t\n\r\f\x1b" for byte in sample)
    return control * 10 > len(sample)


@tool(toolset="file", emoji="✍️", guard=_guard_write, approval_view=_show_write, parallel=_path, keeps_deadline=True)
def write_file(path: str, content: str, context: Context) -> dict[str, Any]:
    """Write a file, replacing it as a whole; folders are made. To change a part of a file, use patch.

    Args:
        path: The file; relative to the terminal's directory.
        content: All of its text.
    """
    data = content.encode()
    created = remote_files.write_bytes(context, path, data)
    return {"path": path, "bytes": len(data), "created": created}


@tool(toolset="file", emoji="🩹", guard=_guard_write, approval_view=_show_patch, parallel=_path, keeps_deadline=True)
def patch(path: str, old_string: str, new_string: str, context: Context, replace_all: bool = False) -> dict[str, Any]:
    """Replace a text in a file, and show the difference. Small slips in spaces and indentation are forgiven.

    Args:
        path: The file; relative to the terminal's directory.
        old_string: The text to replace, with enough around it to be unique.
        new_string: What comes in its place; empty to delete.
        replace_all: Replace it wherever it is.
    """
    raw = remote_files.read_bytes(context, path)
    try:
        before = raw.decode()
    except UnicodeDecodeError as error:
        raise ToolError(f"{path} is not UTF-8 text; use terminal with a script") from error
    windows = "\r\n" in before
    text = before.replace("\r\n", "\n") if windows else before
    after, count, how = edit.replace(text, old_string, new_string, everywhere=replace_all)
    difference = "".join(
        difflib.unified_diff(text.splitlines(keepends=True), after.splitlines(keepends=True), path, path)
    )
    remote_files.write_bytes(context, path, (after.replace("\n", "\r\n") if windows else after).encode())
    result: dict[str, Any] = {"path": path, "replaced": count, "diff": difference}
    return result if how == "exact" else {**result, "note": f"found {how}"}


@tool(toolset="file", emoji="🔎", parallel=True, keeps_deadline=True)
def search_files(
    pattern: str,
    context: Context,
    target: Literal["content", "files"] = "content",
    path: str = ".",
    file_glob: str | None = None,
    limit: int = 50,
    offset: int = 0,
    context_lines: int = 0,
) -> dict[str, Any]:
    """Search the contents of files by regular expression, or find files by name.

    Args:
        pattern: A regular expression for content; a glob such as *.py for files.
        target: Where to look: in content, or at the names of files.
        path: The file or folder to search; relative to the terminal's directory.
        file_glob: Only look into files of this name, such as *.py.
        limit: How many matches to give, at most 500.
        offset: How many matches to pass over, for the next page.
        context_lines: Lines round each match of content.
    """
    limit, offset = min(max(limit, 1), 500), max(offset, 0)
    script = _find_script(pattern) if target == "files" else _grep_script(pattern, file_glob, context_lines)
    window = f"sed -n '{offset + 1},{offset + limit + 1}p;{offset + limit + 1}q'"
    result = remote_files.run(context, f'[ -e "$p" ] || exit 44; ( {script} ) | {window}', path)
    found = result.stdout.split("\n")
    found = [beginning(line.removeprefix("./"), LONGEST_LINE) for line in found if line]
    if not found and result.plain_stderr.strip():
        raise ToolError(result.plain_stderr.strip()[:500])
    answer: dict[str, Any] = {"matches": found[:limit]}
    if len(found) > limit:
        answer["next_offset"] = offset + limit
    return answer


def _find_script(pattern: str) -> str:
    name = shlex.quote(pattern if any(char in pattern for char in "*?[") else f"*{pattern}*")
    return _with_ripgrep(
        f'rg --files --no-messages --sort path --glob {name} -- "$p"',
        f'find "$p" -name .git -prune -o -type f -name {name} -print 2>/dev/null | sort',
    )


def _grep_script(pattern: str, file_glob: str | None, context_lines: int) -> str:
    quoted = shlex.quote(pattern)
    around = f"-C {min(context_lines, 20)}" if context_lines > 0 else ""
    glob = shlex.quote(file_glob) if file_glob else ""
    files = f'find "$p" -name .git -prune -o -type f {f"-name {glob}" if glob else ""} -print0 | sort -z'
    return _with_ripgrep(
        f"rg -n --no-heading --with-filename --color never --sort path {around} {f'--glob {glob}' if glob else ''} "
        f'-e {quoted} -- "$p"',
        f"{files} | xargs -0 grep -nIHE {around} -e {quoted} -- /dev/null",
    )


def _with_ripgrep(script: str, fallback: str) -> str:
    return f"if command -v rg >/dev/null 2>&1; then {script}; else {fallback}; fi"
