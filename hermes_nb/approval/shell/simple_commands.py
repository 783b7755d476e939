"""One simple command of the syntax tree: its words, the variables it sets, and where its input and output go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_nb.approval.shell.commands import MOST_SOURCES, UNKNOWN, Command, Redirect, Stream, Word
from hermes_nb.approval.shell.script import LONGEST_TEXT, Runner
from hermes_nb.approval.shell.variables import bounded
from hermes_nb.approval.shell.words import expand, run_substitutions
from hermes_nb.common.text import cut

if TYPE_CHECKING:
    from tree_sitter import Node


class SimpleCommands(Runner):
    """Turns the nodes of simple commands, assignments and redirections into what they mean.

    It is the ``Scope`` that words ask: ``source``, ``lookup``, ``origins``, ``is_many`` and ``run`` are for them.
    """

    def __init__(self, text: str, cwd: str | None) -> None:
        super().__init__(text, cwd)
        self._bytes = b""  # what the nodes at hand were parsed from: their source is a range of it

    def _walk(self, node: Node, stdin: Stream | None, redirects: tuple[Redirect, ...]) -> None:
        """Read a statement."""
        raise NotImplementedError

    # -- what words ask of their surroundings ---------------------------------------------------

    def source(self, node: Node) -> str:
        """The text of a node."""
        return self._bytes[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def lookup(self, name: str) -> list[str] | None:
        """The possible values of a variable, or None if nothing is known of it."""
        values = self._variables.get(name)
        return [self.cwd or "."] if values is None and name == "PWD" else values

    def origins(self, name: str) -> tuple[Command, ...]:
        """The commands whose output the variable holds."""
        return self._variables.origins(name)

    def is_many(self, name: str) -> bool:
        """Whether the variable takes values that are not spelt out, one after the other."""
        return self._variables.is_many(name)

    def run(self, node: Node) -> Stream:
        """Read the commands of a substitution; return what it would print."""
        raise NotImplementedError

    # -- commands and variables -----------------------------------------------------------------

    def _text(self, node: Node) -> str:
        """What a person is shown of a node, to be found in the command on the screen.

        Text that came out of a variable or of ``base64 -d`` stands nowhere in it: then it's the command that runs
        such text.
        """
        text = self.source(node)
        return cut(text if not self._shown or text in self._whole else self._shown, LONGEST_TEXT)

    def _walk_command(self, node: Node, stdin: Stream | None, redirects: tuple[Redirect, ...]) -> None:
        """Record ``a=1 <in name word "$x" >out``: assignments and redirections may come before the name."""
        words: list[Word] = []
        environment: dict[str, Word] = {}
        names: list[str] = []
        for child in node.children:
            kind = child.type
            if kind == "variable_assignment":
                self._assign(child, environment, lasting=False)
            elif kind == "file_redirect":
                redirects = (*redirects, *self._file_redirect(child))
            elif kind == "herestring_redirect":
                stdin = self._herestring(child)
            elif kind == "heredoc_redirect":
                stdin = self._heredoc(child)
            elif kind == "command_name":
                # for x in rm ls; do $x -rf y; done runs two programs, and each is recorded as a command of its own. Of
                # arguments all values stand side by side in one: to rules, rm -rf a b is as good as rm -rf a; rm -rf b.
                named = child.children[0] if child.children else child
                values = self.lookup(self.source(named)[1:]) if named.type == "simple_expansion" else None
                if values and len(values) > 1:
                    names = values[:16]
                words.extend(expand(named, self))
            elif kind in ("subshell", "compound_statement"):
                # To bash, echo ((a)) is an error. The grammar takes it, so what is inside is read.
                self._walk(child, stdin, redirects)
            elif kind == "$":  # of $"…", of which the string comes next
                continue
            else:
                words.extend(expand(child, self))
        text = self._text(node)
        variants = [[Word(part) for part in name.split()] + words[len(names) :] for name in names] or [words]
        for variant in variants:
            self._emit(
                Command(variant, text, dict(environment), list(redirects), stdin, cwd=self.cwd),
            )

    def _assign(self, node: Node, environment: dict[str, Word], *, lasting: bool) -> None:
        """Note ``name=value``, for the command alone or, if it is ``lasting``, for all that follow."""
        children = node.children
        if len(children) < 2:
            return
        # An array is one text, so that a[0]=rm sets all of a: what was just assigned is found by ${a[0]}.
        name = self.source(children[0]).split("[", 1)[0]
        words = expand(children[2], self) if len(children) > 2 else []
        sources = tuple(source for word in words for source in word.sources)[:MOST_SOURCES]
        value = Word(bounded(" ".join(word.text for word in words)), sources=sources)
        environment[name] = value
        # x=rm true; $x: to bash, x is what it was before. IFS is heeded also before a command: in IFS=, read a b it
        # says where the values of a and b begin.
        if lasting or name == "IFS":
            appends = children[1].type == "+="
            is_array = len(children) > 2 and children[2].type == "array"
            self._variables.assign(name, value, appended=(" " if is_array else "") if appends else None)

    def _walk_assignment(self, node: Node, _stdin: Stream | None, _redirects: tuple[Redirect, ...]) -> None:
        environment: dict[str, Word] = {}
        self._assign(node, environment, lasting=True)
        # A rule may mind a variable (LD_PRELOAD), so it is a command without words; "wraps" says that it prints
        # nothing.
        self.script.commands.append(Command([], self._text(node), environment, wraps=True))

    def _walk_declaration(self, node: Node, _stdin: Stream | None, _redirects: tuple[Redirect, ...]) -> None:
        """Record ``export``, ``declare``, ``unset`` and the like; ``export "a=b"`` assigns as well."""
        environment: dict[str, Word] = {}
        words: list[Word] = []
        for child in node.children:
            if child.type == "variable_assignment":
                self._assign(child, environment, lasting=True)
            elif child.type == "variable_name" or not child.is_named:
                words.append(Word(self.source(child)))
            else:
                for word in expand(child, self):
                    words.append(word)
                    name, equals, value = word.text.partition("=")
                    if equals:
                        environment[name] = Word(value, sources=word.sources)
                        self._variables.assign(name, environment[name])
        self.script.commands.append(Command(words, self._text(node), environment))

    # -- redirections ---------------------------------------------------------------------------

    def _file_redirect(self, node: Node) -> list[Redirect]:
        """The files of ``> file``: to bash one or an error, here one for each value of a variable in it."""
        operator = ""
        made: list[Redirect] = []
        for child in node.children:
            if child.type == "file_descriptor":
                continue
            if not child.is_named and not operator:
                operator = child.type
            elif child.is_named:
                made.extend(Redirect(operator, word) for word in expand(child, self)[:4])
        # 2>&1, >&- and >&3- join, close and move descriptors, and write no file. >&file does: it is &>file.
        if operator in (">&", "<&"):
            return [one for one in made if not one.target.text.rstrip("-").isdigit() and one.target.text != "-"]
        return made

    def _heredoc(self, node: Node) -> Stream:
        """The text of a here-document, as it is written.

        Bash puts in variables before the command reads it, unless its name is quoted (``<<'EOF'``). Here they stay:
        if a shell runs the text, reading it puts them in, with the same values. What ``$(…)`` in it runs is run in
        any case; under a quoted name the grammar has no nodes for it.
        """
        for child in node.children:
            if child.type == "heredoc_body":
                run_substitutions(child, self)
                return Stream(self.source(child))
        return Stream("")

    def _herestring(self, node: Node) -> Stream:
        words = [
            word for child in node.named_children if child.type != "file_descriptor" for word in expand(child, self)
        ]
        sources = tuple(source for word in words for source in word.sources)
        text = " ".join(word.text for word in words)
        return Stream(None if text.strip() == UNKNOWN else text + "\n", sources)
