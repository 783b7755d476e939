"""What Python code means by its names: imports, literal values, what was fetched and what is secret."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from hermes_nb.approval import paths
from hermes_nb.approval.assessment import Finding
from hermes_nb.approval.shell.commands import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hermes_nb.approval.assessment import Verdict

FETCH = re.compile(r"(?:requests|httpx|urllib\.request|urllib2|urllib3)\.(?:get|urlopen)\Z|urlopen\Z")


class ValueReader(ast.NodeVisitor):
    """Walks the tree once, in order, remembering imports, simple values and what came from where.

    Nothing is run or evaluated. ``from shutil import rmtree as r; p = "/"; r(p)`` is understood, since an import and a
    literal are enough for it; a value that is computed isn't known, and each check says what that means to it.
    """

    def __init__(self, source: str, cwd: str | None) -> None:
        self.findings: list[Finding] = []
        self._lines = source.split("\n")
        self._cwd = cwd
        self._names: dict[str, str] = {}  # what a name stands for: "r" -> "shutil.rmtree"
        self._values: dict[str, str] = {}
        self._lists: dict[str, list[str]] = {}
        self._fetched: set[str] = set()  # names whose value came from the network, and with the next, from a secret
        self._secret: set[str] = set()
        self._modules: set[str] = set()
        self._loops = 0
        self._many: set[str] = set()
        self._functions: set[str] = set()

    def visit(self, node: ast.AST) -> None:
        """Look at a node with the method for its kind, or at its children."""
        method = getattr(self, f"_visit_{type(node).__name__.lower()}", None)
        if method:
            method(node)
        else:
            self.generic_visit(node)

    def _add(self, rule: str, description: str, node: ast.AST, verdict: Verdict = "ask") -> None:
        line = getattr(node, "lineno", 1) - 1
        end = getattr(node, "end_lineno", line + 1) or line + 1
        text = "\n".join(self._lines[line:end]).strip()
        self.findings.append(Finding(rule, description, text[:300], verdict))

    # -- names ----------------------------------------------------------------------------------

    def _visit_import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._modules.add(alias.name.split(".")[0])
            if alias.asname:
                self._names[alias.asname] = alias.name

    def _visit_importfrom(self, node: ast.ImportFrom) -> None:
        self._modules.add((node.module or "").split(".")[0])
        for alias in node.names:
            self._names[alias.asname or alias.name] = f"{node.module}.{alias.name}"

    def _visit_functiondef(self, node: ast.FunctionDef) -> None:
        self._functions.add(node.name)
        self.generic_visit(node)

    def _dotted(self, node: ast.AST) -> str:
        """The full name of a function, as far as imports and literal getattr calls tell."""
        if isinstance(node, ast.Name):
            return self._names.get(node.id, node.id)
        if isinstance(node, ast.Attribute):
            return f"{self._dotted(node.value)}.{node.attr}"
        if isinstance(node, ast.Call):
            # getattr(os, "sys" + "tem")("…") is os.system; where the name can't be told it's "os.?", and asked about.
            name = self._dotted(node.func)
            if name in ("getattr", "builtins.getattr") and len(node.args) > 1:
                attribute = self._text(node.args[1])
                return f"{self._dotted(node.args[0])}.{attribute if attribute is not None else '?'}"
            if name in ("__import__", "importlib.import_module") and node.args:
                return self._text(node.args[0]) or "?"
            return f"{name}()"
        if isinstance(node, ast.Subscript):
            inner = self._dotted(node.value)
            if inner in ("__builtins__.__dict__", "globals()", "vars()", "builtins.__dict__"):
                return self._text(node.slice) or "?"
            return inner
        return ""

    def _text(self, node: ast.AST) -> str | None:
        """The value of a string expression, or None if it is not known; holes are ``UNKNOWN``."""
        if isinstance(node, ast.Constant):
            if isinstance(node.value, bytes):
                return node.value.decode("utf-8", "replace")
            return node.value if isinstance(node.value, str) else None
        if isinstance(node, ast.Name):
            return self._values.get(node.id)
        if isinstance(node, ast.JoinedStr):
            parts = [
                self._text(v)
                if isinstance(v, ast.Constant)
                else self._text(v.value)
                if isinstance(v, ast.FormattedValue)
                else None
                for v in node.values
            ]
            return "".join(UNKNOWN if part is None else part for part in parts)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            left, right = self._text(node.left), self._text(node.right)
            if left is None and right is None:
                return None
            return (UNKNOWN if left is None else left) + (UNKNOWN if right is None else right)
        if isinstance(node, ast.Call):
            return self._text_of_call(node)
        return None

    def _text_of_call(self, node: ast.Call) -> str | None:
        name = self._dotted(node.func)
        if name in ("pathlib.Path", "Path", "str", "os.fspath", "pathlib.PosixPath", "open") and node.args:
            return self._text(node.args[0])
        if name in ("os.path.expanduser", "os.path.expandvars", "os.path.abspath", "os.path.realpath") and node.args:
            inner = self._text(node.args[0])
            return inner.replace("$HOME", "~") if inner else None
        if name.endswith("Path.home"):
            return "~"
        if name == "os.path.join":
            parts = [self._text(argument) for argument in node.args]
            return "/".join(UNKNOWN if part is None else part for part in parts) if parts else None
        if isinstance(node.func, ast.Attribute) and node.func.attr in (
            "expanduser",
            "resolve",
            "strip",
            "decode",
            "encode",
            "absolute",
        ):
            return self._text(node.func.value)
        return None

    def _visit_assign(self, node: ast.Assign) -> None:
        self.generic_visit(node)
        for target in node.targets:
            if isinstance(target, ast.Name):
                self._remember(target.id, node.value)
            elif isinstance(target, ast.Subscript) and self._dotted(target.value) == "os.environ":
                key = self._text(target.slice)
                if key in ("LD_PRELOAD", "LD_LIBRARY_PATH", "PYTHONSTARTUP", "BASH_ENV"):
                    self._add("python-load-code", "makes other programs load code of its choice", node)

    def _remember(self, name: str, value: ast.expr) -> None:
        """Note all that is known of a name once it is assigned: text, items, what it stands for, whence it comes."""
        self._values.pop(name, None)
        text = self._text(value)
        if text is not None and len(text) < 100_000:
            self._values[name] = text
        if isinstance(value, ast.List | ast.Tuple):
            items = [self._text(element) for element in value.elts[:64]]
            self._lists[name] = [UNKNOWN if item is None else item for item in items]
        if isinstance(value, ast.Attribute | ast.Name) or (
            isinstance(value, ast.Call)
            and self._dotted(value.func) in ("getattr", "__import__", "importlib.import_module")
        ):
            dotted = self._dotted(value)
            # run = os.system: from here run(…) is os.system(…). A plain name says nothing new.
            if dotted and ("." in dotted or isinstance(value, ast.Call)):
                self._names[name] = dotted
        if isinstance(value, ast.Call) and self._dotted(value.func) in ("pathlib.Path", "Path"):
            self._names[name] = "pathlib.Path"
        if self._mentions(value, self._fetched) or any(FETCH.match(self._dotted(call.func)) for call in calls(value)):
            self._fetched.add(name)
        if self._is_secret(value):
            self._secret.add(name)

    def _mentions(self, node: ast.AST, names: set[str]) -> bool:
        return bool(names) and any(isinstance(child, ast.Name) and child.id in names for child in ast.walk(node))

    def _is_secret(self, node: ast.AST) -> bool:
        if self._mentions(node, self._secret):
            return True
        for child in ast.walk(node):
            if isinstance(child, ast.Call):
                path = self._text(child.args[0]) if child.args else None
                if (
                    path
                    and self._dotted(child.func) in ("open", "io.open", "pathlib.Path", "Path", "os.path.expanduser")
                    and paths.is_sensitive_to_send(paths.normalise(path, self._cwd))
                ):
                    return True
            # All of the environment is a secret; os.environ["HOME"] is one variable, and usually none.
            dotted = self._dotted(child) if isinstance(child, ast.Attribute) else ""
            if dotted == "os.environ" and not self._reads_one_variable(node):
                return True
        return False

    def _reads_one_variable(self, node: ast.AST) -> bool:
        return any(
            (isinstance(child, ast.Subscript) and self._dotted(child.value) == "os.environ")
            or (isinstance(child, ast.Call) and self._dotted(child.func) == "os.environ.get")
            for child in ast.walk(node)
        )

    # -- loops ----------------------------------------------------------------------------------

    def _visit_for(self, node: ast.For) -> None:
        if isinstance(node.target, ast.Name):
            self._many.add(node.target.id)
        self._loops += 1
        self.generic_visit(node)
        self._loops -= 1

    def _visit_while(self, node: ast.While) -> None:
        self._loops += 1
        endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
        if endless and any(self._dotted(call.func) in ("os.fork", "multiprocessing.Process") for call in calls(node)):
            self._add("python-fork-bomb", "starts copies of itself until the machine stands still", node, "block")
        self.generic_visit(node)
        self._loops -= 1

    def _visit_listcomp(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> None:
        self._loops += 1
        self.generic_visit(node)
        self._loops -= 1

    _visit_setcomp = _visit_dictcomp = _visit_generatorexp = _visit_listcomp


def calls(node: ast.AST) -> Iterator[ast.Call]:
    """Every call below a node."""
    return (child for child in ast.walk(node) if isinstance(child, ast.Call))
