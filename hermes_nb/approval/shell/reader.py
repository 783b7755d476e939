r"""A command read as a shell would: the simple commands it would run, with what flows between them.

What becomes of ``timeout 5 sudo sh -c 'cd /; rm -rf "$X"*' | tee log``:

1. ``read`` has ``grammar`` parse it. To bash's grammar this is a pipeline of two commands; what follows ``-c`` is
   one quoted word, and what that says is none of the grammar's business.
2. ``_walk`` goes down the tree and calls the method for each kind of node: here ``_walk_pipeline``, which walks the
   stages and gives each what the one before prints.
3. ``_walk_command``, in ``simple_commands``, makes one ``Command`` of the first stage. ``words`` and ``pieces``
   say what each node is as a word: ``timeout``, ``5``, ``sudo``, ``sh``, ``-c``, and the text without its quotes.
4. ``_emit``, in ``script``, records it and asks ``wrappers`` whom it runs: ``sudo sh -c …``. That is recorded in its
   turn, and so is ``sh -c …``, of which ``launchers`` says that its next word is shell text.
5. That text comes back to ``read``. ``cd /`` is recorded, and from there the working directory is known to be ``/``;
   so is ``rm -rf ?*``, where ``?`` (``UNKNOWN``) is what only the running shell knows.
6. ``tee log`` is recorded last. What it reads can't be told, but whence it comes can: from the five before it.
   ``written`` notes that the script has made a file ``log``, should a later part run that.

Six commands come out, in this order::

    timeout 5 sudo sh -c …   wraps the next
    sudo sh -c …             wraps the next; via timeout
    sh -c …                  wraps the next two; via timeout, sudo
    cd /                     via timeout, sudo, sh
    rm -rf ?*                via timeout, sudo, sh; in /
    tee log                  stdin: text unknown, sources the five above

``assess_command`` takes over and holds the rules against each of the six, on its own: that is why a wrapper doesn't
hide what it runs, and why a word of ``echo`` is never taken for a command.

A shell runs a script, this only reads it: of ``if`` and ``case`` it takes every branch, of a loop one turn that stands
for all, and where a value isn't known it goes on without. What can't be read becomes a ``Problem``, never nothing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hermes_nb.approval.shell.commands import MOST_SOURCES, Command, Redirect, Stream
from hermes_nb.approval.shell.flow import output
from hermes_nb.approval.shell.grammar import TooIntricateError, flat, join_lines, parse
from hermes_nb.approval.shell.script import MOST_DEPTH, Function, Script
from hermes_nb.approval.shell.simple_commands import SimpleCommands
from hermes_nb.approval.shell.words import expand, run_substitutions

if TYPE_CHECKING:
    from tree_sitter import Node

#: ``((``, but not ``$((``, which is arithmetic to every shell.
_ARITHMETIC = re.compile(rb"(?<!\$)\(\(")
#: Nodes that are words, also where a statement may stand, such as the subject of ``case $(a) in`` and what is compared
#: in ``[[ $(a) == b ]]``: they run nothing but the substitutions in them.
_WORD_KINDS = frozenset(
    ("string", "raw_string", "concatenation", "simple_expansion", "expansion", "word", "number",
    "test_command",
     "arithmetic_expansion", "ansi_c_string", "binary_expression", "unary_expression", "subscript", "regex")
)  # fmt: skip


def read(text: str, cwd: str | None = None) -> Script:
    """Read a command line or a script into the simple commands it would run."""
    reader = _Reader(text, cwd)
    reader.read(text)
    reader.read_functions()
    return reader.script


class _Reader(SimpleCommands):
    """Walks the syntax tree, from statement to statement."""

    def __init__(self, text: str, cwd: str | None) -> None:
        super().__init__(text, cwd)
        self._unread: list[Function] = []

    def run(self, node: Node) -> Stream:
        # A substitution is a subshell: after x=$(cd /; pwd) bash is where it was.
        start, cwd = len(self.script.commands), self.cwd
        for child in node.named_children:
            self._walk(child, None, ())
        self.cwd = cwd
        commands = self.script.commands[start:]
        return output(commands)

    # -- texts and statements -------------------------------------------------------------------

    def read(self, text: str, stdin: Stream | None = None) -> None:
        # Text is read anew for each eval, sh -c and here-document that leads to it, and variables can make it grow
        # on the way: what may be read in all is bounded, or a short script could keep the reader busy for hours.
        self._left -= len(text)
        if self._left < 0 or self._depth > MOST_DEPTH:
            self._problem("too-deep", text)
            return
        # A node is a range of the bytes that it was parsed from, and the text of sh -c has bytes of its own.
        outer = self._bytes
        self._bytes = join_lines(text).encode("utf-8", "replace")
        try:
            root = parse(self._bytes)
            if root.has_error:
                # Asked about in any case; but what the grammar could make out is walked as well, so that an
                # unreadable part doesn't turn a catastrophe beside it from "block" into "ask".
                self._problem("unparsable", text)
            self._walk(root, stdin, ())
            self._walk_as_subshells(stdin)
        except TooIntricateError:
            self._problem("too-intricate", text)
        finally:
            self._bytes = outer

    def _walk_as_subshells(self, stdin: Stream | None) -> None:
        """Read ``((rm -rf x))`` once more as two subshells: to bash it is arithmetic, but sh may be another shell.

        dash and busybox run the command, and so does bash where it can't be arithmetic, as in ``((a); b)``. Which of
        them will get the text isn't known here, so both readings count.
        """
        if b"((" not in self._bytes:
            return
        apart = _ARITHMETIC.sub(b"( (", self._bytes)
        root = parse(apart)
        if apart != self._bytes and not root.has_error:
            self._bytes = apart
            self._walk(root, stdin, ())

    def read_functions(self) -> None:
        """Read the bodies of functions, with the arguments of all their calls.

        A shell reads a body at each call. Here it's read once, at the end, when the calls are known: ``f() { rm -rf
        "$1"; }; f /usr; f a`` gives one ``rm -rf /usr a``, and a function that calls itself is no endless loop. One
        that isn't called is read too: the session's shell keeps it, and a later command may call it by a name that
        says nothing.
        """
        while self._unread:
            function = self._unread.pop()
            self._bytes = function.source
            before = self._variables.bind(function.arguments)
            self._walk(function.body, None, ())
            self._variables.restore(before)

    def _walk(self, node: Node, stdin: Stream | None, redirects: tuple[Redirect, ...]) -> None:
        self._depth += 1
        if self._depth > MOST_DEPTH:
            self._problem("too-deep", self.source(node))
        else:
            kind = node.type
            method = _WALKERS.get(kind)
            if method:
                method(self, node, stdin, redirects)
            elif kind in _WORD_KINDS:
                run_substitutions(node, self)
            else:
                self._walk_children(node, stdin, redirects)
        self._depth -= 1

    def _walk_children(self, node: Node, stdin: Stream | None, redirects: tuple[Redirect, ...]) -> None:
        """Walk what has no method of its own: a program, a group, and ``if`` and ``case`` with all their branches."""
        # In "a && b & c" the "&" stands for itself between its neighbours: what ran since the statement before it began
        # is what it sends to the background.
        start = len(self.script.commands)
        for child in node.children:
            if child.is_named:
                start = len(self.script.commands)
                self._walk(child, stdin, redirects)
            elif child.type == "&":
                for command in self.script.commands[start:]:
                    command.background = True

    def _walk_subshell(self, node: Node, stdin: Stream | None, redirects: tuple[Redirect, ...]) -> None:
        cwd = self.cwd
        self._walk_children(node, stdin, redirects)
        self.cwd = cwd

    def _walk_pipeline(self, node: Node, stdin: Stream | None, redirects: tuple[Redirect, ...]) -> None:
        self._walk_stages(flat(node), stdin, redirects, None)

    def _walk_stages(
        self, stages: list[Node], stdin: Stream | None, redirects: tuple[Redirect, ...], given: Stream | None
    ) -> None:
        """Walk a pipeline: each stage reads what the one before prints; redirections are the last one's.

        So is ``given``, the text of a here-document or here-string, and it takes the pipe's place, as in bash: ``echo
        x | cat <<< y`` prints y.
        """
        stream = stdin
        for number, stage in enumerate(stages, 1):
            start = len(self.script.commands)
            last = number == len(stages)
            self._walk(stage, (given or stream) if last else stream, redirects if last else ())
            made = output(self.script.commands[start:])
            # In "curl … | gunzip | sh" the shell runs what curl brought, through gunzip: sources add up. The last
            # are kept, should there be too many: they say best what arrives.
            earlier = stream.sources if stream else ()
            stream = Stream(made.text, (earlier + made.sources)[-MOST_SOURCES:])

    def _walk_list(self, node: Node, stdin: Stream | None, redirects: tuple[Redirect, ...]) -> None:
        for statement in flat(node):
            self._walk(statement, stdin, redirects)

    def _walk_redirected(self, node: Node, stdin: Stream | None, redirects: tuple[Redirect, ...]) -> None:
        """Walk a statement with redirections after it; also what follows a here-document's name on its line.

        Of ``cat <<EOF > s && sh s`` bash takes ``> s`` for cat's and ``sh s`` for the next command. The grammar hangs
        both below the here-document, as it does ``| sh`` and mere words (``cat <<EOF -n``), so they are sorted out
        here.
        """
        body: list[Node] = []
        afterwards: list[Node] = []
        given: Stream | None = None
        for child in node.children:
            if child.type == "file_redirect":
                redirects = (*redirects, *self._file_redirect(child))
            elif child.type == "heredoc_redirect":
                given = self._heredoc(child)
                for part in child.named_children:
                    if part.type == "file_redirect":
                        redirects = (*redirects, *self._file_redirect(part))
                    elif not part.type.startswith(("heredoc", "file_descriptor")):
                        afterwards.append(part)
            elif child.type == "herestring_redirect":
                given = self._herestring(child)
            elif child.is_named:
                body.append(child)
        start = len(self.script.commands)
        for statement in body:
            self._walk_body(statement, stdin, given, redirects)
        if not body:
            # "> file" alone runs nothing, but empties the file.
            self._emit(Command([], self._text(node), redirects=list(redirects), stdin=given or stdin, cwd=self.cwd))
        for statement in afterwards:
            piped = statement.type == "pipeline" and statement.child_count and statement.children[0].type in ("|", "|&")
            if piped:
                # The left-hand side of this pipeline isn't in it: that is the command with the here-document.
                made = output(self.script.commands[start:])
                stream = Stream(made.text, made.sources[-MOST_SOURCES:])
                self._walk_stages(flat(statement), stream, (), None)
            elif statement.type in (
                "word",
                "string",
                "raw_string",
                "concatenation",
                "simple_expansion",
                "expansion",
            ):
                self._late_arguments(start, statement)
            else:
                self._walk(statement, None, ())

    def _walk_body(
        self, node: Node, stdin: Stream | None, given: Stream | None, redirects: tuple[Redirect, ...]
    ) -> None:
        """Walk what a redirection is attached to: for the grammar all of a list, for the shell its last.

        ``a && b | c > out`` is to the grammar one redirection around everything; bash redirects c alone.
        """
        if node.type == "pipeline":
            self._walk_stages(flat(node), stdin, redirects, given)
        elif node.type == "list":
            *before, last = flat(node)
            for statement in before:
                self._walk(statement, stdin, ())
            self._walk_body(last, stdin, given, redirects)
        else:
            self._walk(node, given or stdin, redirects)

    def _late_arguments(self, start: int, node: Node) -> None:
        """``cat <<EOF -n``: words after the here-document's name belong to the command before it."""
        for command in self.script.commands[start : start + 1]:
            command.words.extend(expand(node, self))

    # -- loops and functions ---------------------------------------------------------------------

    def _walk_for(self, node: Node, stdin: Stream | None, redirects: tuple[Redirect, ...]) -> None:
        name, words = "", []
        body: list[Node] = []
        for child in node.children:
            if child.type == "variable_name" and not name:
                name = self.source(child)
            elif child.type in ("do_group", "compound_statement"):
                body.append(child)
            elif child.is_named:
                words.extend(expand(child, self))
        # One turn for all: in the body the variable has each of these values at the same time.
        self._variables.assign_each(name, words)
        for statement in body:
            self._walk(statement, stdin, redirects)

    def _walk_loop(self, node: Node, stdin: Stream | None, redirects: tuple[Redirect, ...]) -> None:
        # while true; do a & done: each turn starts one more and waits for none. Whether a condition ever fails can't
        # be told; that some never do can, and "for ((" is taken for one of them: its condition is arithmetic, and not
        # read.
        start = len(self.script.commands)
        self._walk_children(node, stdin, redirects)
        commands = self.script.commands[start:]
        endless = node.type == "c_style_for_statement" or (
            bool(commands) and commands[0].name in ("true", ":", "[", "yes", "1") and not commands[0].background
        )
        names = {command.name for command in commands}
        if endless and any(command.background for command in commands) and names.isdisjoint(("sleep", "wait", "read")):
            self._problem("process-storm", self.source(node))

    def _walk_function(self, node: Node, _stdin: Stream | None, _redirects: tuple[Redirect, ...]) -> None:
        named = node.child_by_field_name("name") or (node.named_children[0] if node.named_children else None)
        body = node.child_by_field_name("body") or (node.named_children[-1] if node.named_children else None)
        if named is None or body is None:
            return
        name = self.source(named)
        function = Function(body, self._bytes)
        self._functions[name] = function
        self._unread.append(function)
        # :(){ :|:& };: calls itself twice, so that there are ever more of it. Once is enough where "&" or a pipe lets
        # it go on beside its caller; once and nothing more is recursion, and ends where the shell's stack does.
        calls, spreads = self._calls_of(name, body)
        if calls > 1 or (calls and spreads):
            self._problem("fork-bomb", self.source(node))

    def _calls_of(self, name: str, body: Node) -> tuple[int, bool]:
        calls, spreads = 0, False
        stack: list[Node] = [body]
        while stack:
            node = stack.pop()
            if node.type == "command_name" and self.source(node) == name:
                calls += 1
            elif node.type in ("&", "|", "|&"):
                spreads = True
            elif node.type != "function_definition":
                stack.extend(node.children)
        return calls, spreads


_WALKERS = {
    "command": _Reader._walk_command,
    "pipeline": _Reader._walk_pipeline,
    "list": _Reader._walk_list,
    "redirected_statement": _Reader._walk_redirected,
    "subshell": _Reader._walk_subshell,
    "variable_assignment": _Reader._walk_assignment,
    "declaration_command": _Reader._walk_declaration,
    "unset_command": _Reader._walk_declaration,
    "for_statement": _Reader._walk_for,
    "while_statement": _Reader._walk_loop,
    "c_style_for_statement": _Reader._walk_loop,
    "function_definition": _Reader._walk_function,
    "comment": lambda *_arguments: None,
}
