"""Commands that run another command for many arguments: xargs, parallel, find and fd."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_nb.approval.shell.commands import UNKNOWN, Inner, Word

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hermes_nb.approval.shell.commands import Command

_XARGS_VALUED = frozenset(
    [
        "-n",
        "-L",
        "-P",
        "-I",
        "-i",
        "-d",
        "-E",
        "-s",
        "-a",
        "--max-args",
        "--max-procs",
        "--delimiter",
        "--arg-file",
        "--max-lines",
        "--replace",
    ]
)


def xargs(command: Command) -> Iterator[Inner]:
    """What xargs runs, with the words it reads where they are known."""
    words, position = command.words, 1
    placeholder = "{}"
    while position < len(words) and words[position].text.startswith("-"):
        text = words[position].text
        if text[:2] in ("-I", "-i"):
            placeholder = text[2:] or (words[position + 1].text if text == "-I" and position + 1 < len(words) else "{}")
        position += 2 if text in _XARGS_VALUED and text != "-i" else 1
    rest = words[position:]
    if not rest:
        return
    # "echo /usr | xargs rm -rf" is as good as rm -rf /usr; of "ls | xargs rm" it is known only that there are many.
    known = command.stdin.text if command.stdin else None
    supplied = (
        [Word(text, "*" in text, sources=command.stdin.sources if command.stdin else ()) for text in known.split()[:64]]
        if known is not None
        else [Word(UNKNOWN, glob=True, sources=command.stdin.sources if command.stdin else ())]
    )
    replaced = _replace(rest, placeholder, supplied)
    yield Inner(replaced if replaced is not None else [*rest, *supplied])


def _replace(words: list[Word], placeholder: str, supplied: list[Word]) -> list[Word] | None:
    """The words with the placeholder filled in, or None where it does not occur."""
    found = False
    result: list[Word] = []
    for word in words:
        if placeholder and placeholder in word.text:
            found = True
            result.extend(
                Word(
                    word.text.replace(placeholder, one.text),
                    glob=one.glob or word.glob,
                    sources=word.sources + one.sources,
                )
                for one in supplied
            )
        else:
            result.append(word)
    return result if found else None


def parallel(command: Command) -> Iterator[Inner]:
    """What GNU parallel runs, with its arguments filled in."""
    words = command.words[1:]
    separators = [index for index, word in enumerate(words) if word.text in (":::", "::::", ":::+")]
    head = words[: separators[0]] if separators else words
    while head and head[0].text.startswith("-"):
        head = head[2:] if head[0].text in ("-j", "-S", "--jobs", "-a", "-I", "-N") else head[1:]
    if not head:
        return
    supplied = [word for word in words[separators[0] + 1 :] if not word.text.startswith(":::")] if separators else []
    # Without ":::" the arguments are lines of the input.
    supplied = supplied[:64] or [Word(UNKNOWN, glob=True)]
    replaced = _replace(head, "{}", supplied)
    is_text = len(head) == 1
    if is_text and replaced is None:
        yield Inner(head, is_text=True)
    yield Inner(replaced if replaced is not None else [*head, *supplied], is_text=is_text)


def find(command: Command) -> Iterator[Inner]:
    """What find runs for what it finds: any file below the folders it starts from."""
    words = command.words
    roots: list[Word] = []
    for word in words[1:]:
        if word.text.startswith(("-", "(", "!")):
            break
        roots.append(word)
    # What find finds isn't known, but where: "find / -exec rm {} +" is taken for rm /*.
    found = [Word(f"{root.text.rstrip('/')}/*", glob=True) for root in roots[:8]] or [Word("./*", glob=True)]
    position = 1
    while position < len(words):
        if words[position].text in ("-exec", "-execdir", "-ok", "-okdir"):
            end = position + 1
            while end < len(words) and words[end].text not in (";", "+", "\\;"):
                end += 1
            rest = words[position + 1 : end]
            if rest:
                replaced = _replace(rest, "{}", found)
                yield Inner(replaced if replaced is not None else rest)
            position = end
        position += 1


def fd(command: Command) -> Iterator[Inner]:
    """What fd runs for what it finds."""
    for position, word in enumerate(command.words):
        if word.text in ("-x", "-X", "--exec", "--exec-batch"):
            rest = command.words[position + 1 :]
            found = [Word("./*", glob=True)]
            replaced = _replace(rest, "{}", found)
            yield Inner(replaced if replaced is not None else [*rest, *found])
            return
