"""Python code judged by its syntax tree: what it deletes, runs, loads, writes and sends."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from . import paths, sql
from .assessment import Assessment, Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .assessment import Verdict

#: Python code longer than this is not read; nobody could judge it at a glance either.
MOST_CHARACTERS = 400_000

_ESCAPES = re.compile(
    r"^[ \t]*(?:(?:[\w, ]+=\s*)?!(?!=)(?P<shell>.*)|%%(?:bash|sh|script\b.*)\n(?P<cell>[\s\S]*)|%(?:[\w]+\b).*|%%\w+.*)$",
    re.MULTILINE,
)


def assess_python(source: str, *, cwd: str | None = None) -> Assessment:
    """Say what Python code would do that a person should know of.

    Args:
        source: The code; a notebook cell's ``!command`` lines are judged as shell commands.
        cwd: The working directory, if it is known.
    """
    findings: list[Finding] = []
    if len(source) > MOST_CHARACTERS:
        return _single("python-unparsable", "is too long to be understood", source[:80])
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        plain, shell = _without_escapes(source)
        try:
            tree = ast.parse(plain)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return _single(
                "python-unparsable",
                "cannot be read as Python, so what it would do is not known",
                source[:300],
            )
        for command in shell:
            findings.extend(_of_shell(command, cwd))
    reader = _CodeReader(source, cwd)
    try:
        reader.visit(tree)
    except RecursionError:
        return _single("python-unparsable", "is nested too deeply to be understood", source[:300])
    return Assessment(tuple(dict.fromkeys(findings + reader.findings)))


def _single(rule: str, description: str, text: str) -> Assessment:
    return Assessment((Finding(rule, description, text),))


def _of_shell(command: str, cwd: str | None) -> tuple[Finding, ...]:
    from .judge import assess

    return assess(command, cwd=cwd).findings


def _without_escapes(source: str) -> tuple[str, list[str]]:
    """Python without the notebook's escapes, and the shell commands among them."""
    shell: list[str] = []

    def blank(match: re.Match[str]) -> str:
        command = match["shell"] or match["cell"]
        if command:
            shell.append(re.sub(r"\{[^}]*\}", "\ue000", command))
        indent = match[0][: len(match[0]) - len(match[0].lstrip())]
        return f"{indent}pass"

    return _ESCAPES.sub(blank, source), shell


_DELETE_TREE = frozenset(
    ("shutil.rmtree", "os.removedirs", "send2trash.send2trash", "distutils.dir_util.remove_tree", "fsspec.rm")
)
_DELETE_ONE = frozenset(("os.remove", "os.unlink", "os.rmdir", "pathlib.Path.unlink"))
_RUN_SHELL = frozenset(
    (
        "os.system",
        "os.popen",
        "subprocess.getoutput",
        "subprocess.getstatusoutput",
        "commands.getoutput",
        "asyncio.create_subprocess_shell",
        "pexpect.spawn",
        "pexpect.run",
        "IPython.get_ipython().system",
        "get_ipython().system",
    )
)
_RUN_ARGV = frozenset(
    (
        "subprocess.run",
        "subprocess.call",
        "subprocess.Popen",
        "subprocess.check_call",
        "subprocess.check_output",
        "asyncio.create_subprocess_exec",
        "os.execv",
        "os.execvp",
        "os.execve",
        "os.spawnv",
        "os.spawnvp",
        "pty.spawn",
        "os.posix_spawn",
        "os.execl",
        "os.execlp",
        "os.spawnl",
        "os.spawnlp",
    )
)
_HIDDEN = frozenset(
    (
        "marshal.loads",
        "ctypes.CDLL",
        "ctypes.cdll.LoadLibrary",
        "ctypes.WinDLL",
        "ctypes.PyDLL",
        "code.interact",
        "codeop.compile_command",
        "importlib.machinery.SourceFileLoader",
        "runpy.run_path",
        "ctypes.windll",
    )
)
_UNPICKLE = frozenset(("pickle.loads", "cPickle.loads", "dill.loads", "cloudpickle.loads"))
_EXECUTE = frozenset(
    (
        "eval",
        "exec",
        "compile",
        "__import__",
        "importlib.import_module",
        "builtins.eval",
        "builtins.exec",
        "execfile",
    )
)
_SIGNALS = frozenset(("os.kill", "os.killpg", "signal.pthread_kill"))
_PERMISSIONS = frozenset(("os.chmod", "os.chown", "os.lchown", "shutil.chown"))
_WRITE_CALLS = frozenset(("open", "io.open", "codecs.open", "os.open"))
_SEND = re.compile(
    r"(?:requests|httpx|aiohttp|urllib3|session|client|s)\.(?:post|put|patch|request)\Z|urllib\.request\.(?:urlopen|Request)\Z|.*\.(?:sendall|sendto|sendmail|send_message|storbinary)\Z|urlopen\Z"
)
_FETCH = re.compile(r"(?:requests|httpx|urllib\.request|urllib2|urllib3)\.(?:get|urlopen)\Z|urlopen\Z")
_SCOPE_TRICKS = frozenset(
    (
        "__subclasses__",
        "__globals__",
        "__builtins__",
        "__code__",
        "__bases__",
        "__mro__",
        "f_globals",
        "f_builtins",
    )
)


class _CodeReader(ast.NodeVisitor):
    """Walks the tree once, in order, remembering imports, simple values and what came from where."""

    def __init__(self, source: str, cwd: str | None) -> None:
        self.findings: list[Finding] = []
        self._source = source
        self._lines = source.split("\n")
        self._cwd = cwd
        self._names: dict[str, str] = {}
        self._values: dict[str, str] = {}
        self._lists: dict[str, list[str]] = {}
        self._fetched: set[str] = set()
        self._secret: set[str] = set()
        self._modules: set[str] = set()
        self._loops = 0
        self._many: set[str] = set()
        self._functions: set[str] = set()

    def _add(self, rule: str, description: str, node: ast.AST, verdict: Verdict = "ask") -> None:
        line = getattr(node, "lineno", 1) - 1
        end = getattr(node, "end_lineno", line + 1) or line + 1
        text = "\n".join(self._lines[line:end]).strip()
        self.findings.append(Finding(rule, description, text[:300], verdict))

    # -- names ----------------------------------------------------------------------------------

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._modules.add(alias.name.split(".")[0])
            if alias.asname:
                self._names[alias.asname] = alias.name

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        self._modules.add((node.module or "").split(".")[0])
        for alias in node.names:
            self._names[alias.asname or alias.name] = f"{node.module}.{alias.name}"

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._functions.add(node.name)
        self.generic_visit(node)

    def _dotted(self, node: ast.AST) -> str:
        """The full name of a function, as far as imports and literal getattr calls tell."""
        if isinstance(node, ast.Name):
            return self._names.get(node.id, node.id)
        if isinstance(node, ast.Attribute):
            return f"{self._dotted(node.value)}.{node.attr}"
        if isinstance(node, ast.Call):
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
        """The value of a string expression, or None if it is not known; holes become ``\\ue000``."""
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
            return "".join("\ue000" if part is None else part for part in parts)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            left, right = self._text(node.left), self._text(node.right)
            if left is None and right is None:
                return None
            return ("\ue000" if left is None else left) + ("\ue000" if right is None else right)
        if isinstance(node, ast.Call):
            return self._text_of_call(node)
        return None

    def _text_of_call(self, node: ast.Call) -> str | None:
        name = self._dotted(node.func)
        if name in ("pathlib.Path", "Path", "str", "os.fspath", "pathlib.PosixPath", "open") and node.args:
            return self._text(node.args[0])
        if (
            name in ("os.path.expanduser", "os.path.expandvars", "os.path.abspath", "os.path.realpath")
            and node.args
        ):
            inner = self._text(node.args[0])
            return inner.replace("$HOME", "~") if inner else None
        if name.endswith("Path.home"):
            return "~"
        if name == "os.path.join":
            parts = [self._text(argument) for argument in node.args]
            return "/".join("\ue000" if part is None else part for part in parts) if parts else None
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

    def visit_Assign(self, node: ast.Assign) -> None:
        self.generic_visit(node)
        for target in node.targets:
            if isinstance(target, ast.Name):
                self._remember(target.id, node.value)
            elif isinstance(target, ast.Subscript) and self._dotted(target.value) == "os.environ":
                key = self._text(target.slice)
                if key in ("LD_PRELOAD", "LD_LIBRARY_PATH", "PYTHONSTARTUP", "BASH_ENV"):
                    self._add("python-load-code", "makes other programs load code of its choice", node)

    def _remember(self, name: str, value: ast.expr) -> None:
        self._values.pop(name, None)
        text = self._text(value)
        if text is not None and len(text) < 100_000:
            self._values[name] = text
        if isinstance(value, ast.List | ast.Tuple):
            items = [self._text(element) for element in value.elts[:64]]
            self._lists[name] = ["\ue000" if item is None else item for item in items]
        if isinstance(value, ast.Attribute | ast.Name) or (
            isinstance(value, ast.Call)
            and self._dotted(value.func) in ("getattr", "__import__", "importlib.import_module")
        ):
            dotted = self._dotted(value)
            if dotted and ("." in dotted or isinstance(value, ast.Call)):
                self._names[name] = dotted
        if isinstance(value, ast.Call) and self._dotted(value.func) in ("pathlib.Path", "Path"):
            self._names[name] = "pathlib.Path"
        if self._mentions(value, self._fetched) or any(
            _FETCH.match(self._dotted(call.func)) for call in _calls(value)
        ):
            self._fetched.add(name)
        if self._is_secret(value):
            self._secret.add(name)

    def _mentions(self, node: ast.AST, names: set[str]) -> bool:
        return bool(names) and any(
            isinstance(child, ast.Name) and child.id in names for child in ast.walk(node)
        )

    def _is_secret(self, node: ast.AST) -> bool:
        if self._mentions(node, self._secret):
            return True
        for child in ast.walk(node):
            if isinstance(child, ast.Call):
                path = self._text(child.args[0]) if child.args else None
                if (
                    path
                    and self._dotted(child.func)
                    in ("open", "io.open", "pathlib.Path", "Path", "os.path.expanduser")
                    and paths.is_sensitive_to_send(paths.normalise(path, self._cwd))
                ):
                    return True
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

    def visit_For(self, node: ast.For) -> None:
        if isinstance(node.target, ast.Name):
            self._many.add(node.target.id)
        self._loops += 1
        self.generic_visit(node)
        self._loops -= 1

    def visit_While(self, node: ast.While) -> None:
        self._loops += 1
        endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
        if endless and any(
            self._dotted(call.func) in ("os.fork", "multiprocessing.Process") for call in _calls(node)
        ):
            self._add(
                "python-fork-bomb", "starts copies of itself until the machine stands still", node, "block"
            )
        self.generic_visit(node)
        self._loops -= 1

    def visit_ListComp(self, node: ast.ListComp) -> None:
        self._loops += 1
        self.generic_visit(node)
        self._loops -= 1

    visit_SetComp = visit_GeneratorExp = visit_DictComp = visit_ListComp  # type: ignore[assignment]

    # -- attributes and calls -------------------------------------------------------------------

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if node.attr in _SCOPE_TRICKS and node.attr not in ("__mro__", "__bases__", "__code__"):
            self._add("python-hidden-code", "reaches for Python's inner workings to hide what it does", node)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = self._dotted(node.func)
        for check in _CHECKS:
            check(self, node, name)
        self.generic_visit(node)

    def _path(self, node: ast.Call) -> str | None:
        keywords = {keyword.arg: keyword.value for keyword in node.keywords}
        argument = (
            node.args[0] if node.args else keywords.get("path") or keywords.get("file") or keywords.get("src")
        )
        text = self._text(argument) if argument is not None else None
        return paths.normalise(text, self._cwd) if text is not None else None

    def _check_deletion(self, node: ast.Call, name: str) -> None:
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if name in _DELETE_TREE or (method == "rmtree" and not name.startswith("self.")):
            path = self._path(node)
            if path is not None and paths.is_catastrophic_to_lose(path):
                self._add(
                    "python-delete-system", "deletes the root, a home or a system folder", node, "block"
                )
            else:
                self._add("python-delete-tree", "deletes whole folders", node)
        elif name in _DELETE_ONE:
            self._check_single_deletion(node, self._path(node), node.args[0] if node.args else None)
        elif method in ("unlink", "rmdir") and isinstance(node.func, ast.Attribute):
            text = self._text(node.func.value)
            self._check_single_deletion(
                node, paths.normalise(text, self._cwd) if text else None, node.func.value
            )

    def _check_single_deletion(self, node: ast.Call, path: str | None, target: ast.AST | None) -> None:
        if path is not None and "\ue000" not in path and not self._loops:
            if paths.is_system_file(path) or paths.is_credential(path) or paths.is_startup_file(path):
                self._add("python-delete-system-file", "deletes a file of the system or of the account", node)
        elif self._loops or path is None or (target is not None and self._mentions(target, self._many)):
            if not (isinstance(target, ast.Name) and re.search(r"(?i)te?mp", target.id)) and not isinstance(
                target, ast.Attribute
            ):
                self._add("python-delete-bulk", "deletes many files, or files that are not spelt out", node)

    def _check_commands(self, node: ast.Call, name: str) -> None:
        shell = any(
            k.arg == "shell" and not (isinstance(k.value, ast.Constant) and not k.value.value)
            for k in node.keywords
        )
        if name in _RUN_SHELL or name.endswith("get_ipython().system") or (name in _RUN_ARGV and shell):
            self._judge_shell(node, node.args[0] if node.args else None)
        elif name in _RUN_ARGV or re.match(r"os\.(?:exec|spawn)[lv]", name):
            self._judge_argv(node, name)
        elif name.endswith(".exec_command") and node.args:
            self._judge_shell(node, node.args[0])

    def _judge_shell(self, node: ast.Call, argument: ast.expr | None) -> None:
        text = self._text(argument) if argument is not None else None
        if (
            text is None
            and isinstance(argument, ast.Call)
            and isinstance(argument.func, ast.Attribute)
            and argument.func.attr in ("format", "join")
        ):
            template = self._text(argument.func.value)
            text = (
                re.sub(r"\{[^}]*\}", "\ue000", template)
                if template and argument.func.attr == "format"
                else None
            )
        if text is None and isinstance(argument, ast.BinOp) and isinstance(argument.op, ast.Mod):
            template = self._text(argument.left)
            text = re.sub(r"%[-\d.]*[sdr]", "\ue000", template) if template else None
        if text is None or text.strip("\ue000 ") == "":
            self._add("python-unknown-command", "runs a command that cannot be known before it runs", node)
            return
        self.findings.extend(_of_shell(text, self._cwd))

    def _judge_argv(self, node: ast.Call, name: str) -> None:
        argument = node.args[0] if node.args else None
        words: list[str] | None = None
        if name.startswith(("os.spawn",)) and len(node.args) > 1:
            argument = node.args[1]
        if isinstance(argument, ast.List | ast.Tuple):
            words = [self._text(element) or "\ue000" for element in argument.elts]
        elif isinstance(argument, ast.Name) and argument.id in self._lists:
            words = self._lists[argument.id]
        elif argument is not None and (text := self._text(argument)) is not None:
            words = (
                [text, *(self._text(extra) or "\ue000" for extra in node.args[1:])]
                if "exec" in name
                else text.split()
            )
        elif (
            isinstance(argument, ast.Call) and self._dotted(argument.func) == "shlex.split" and argument.args
        ):
            self._judge_shell(node, argument.args[0])
            return
        elif isinstance(argument, ast.BinOp) and isinstance(argument.left, ast.List):
            words = [*(self._text(element) or "\ue000" for element in argument.left.elts), "\ue000"]
        if not words or words[0] == "\ue000":
            if not self._is_own_python(argument):
                self._add(
                    "python-unknown-command", "runs a command that cannot be known before it runs", node
                )
            return
        if re.fullmatch(r"(?:/\w+)*/?(?:ba|z|da|k)?sh", words[0]) and (
            len(words) == 1 or words[1:] == ["-i"] or name == "pty.spawn"
        ):
            self._add("python-shell", "opens a shell", node)
        self.findings.extend(_of_shell(" ".join(_quote(word) for word in words), self._cwd))

    def _is_own_python(self, argument: ast.expr | None) -> bool:
        """``[sys.executable, "-m", …]``: the running Python, judged by the rest of the words."""
        if not (
            isinstance(argument, ast.List | ast.Tuple)
            and argument.elts
            and self._dotted(argument.elts[0]) == "sys.executable"
        ):
            return False
        rest = [self._text(element) or "\ue000" for element in argument.elts[1:]]
        self.findings.extend(_of_shell(" ".join(["python", *map(_quote, rest)]), self._cwd))
        return True

    def _check_hidden(self, node: ast.Call, name: str) -> None:
        if name in _EXECUTE:
            argument = node.args[0] if node.args else None
            text = self._text(argument) if argument is not None else None
            if text is None or "\ue000" in text:
                if name in ("compile", "importlib.import_module") and not self._mentions(node, self._fetched):
                    return
                self._add("python-hidden-code", "runs code that cannot be known before it runs", node)
            elif name in ("exec", "eval", "builtins.exec", "builtins.eval", "compile") and text.strip():
                self.findings.extend(assess_python(text, cwd=self._cwd).findings)
        elif name in _HIDDEN or (
            name in _UNPICKLE
            and not isinstance(node.args[0] if node.args else None, ast.Constant)
            and self._mentions(node, self._fetched)
        ):
            self._add("python-load-code", "loads code from outside Python, or from data", node)
        elif name.endswith(".?") and (
            node.args or name.startswith(("os.", "subprocess.", "shutil.", "builtins.", "__builtins__."))
        ):
            self._add("python-hidden-code", "calls a function whose name is put together while it runs", node)
        elif (
            name == "codecs.decode"
            and len(node.args) > 1
            and self._text(node.args[1]) in ("rot13", "rot_13")
            and False
        ):
            return

    def _check_files(self, node: ast.Call, name: str) -> None:
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if name in _WRITE_CALLS or method == "open":
            target = (
                node.args[0] if (node.args and method != "open") or (name in _WRITE_CALLS and node.args) else None
            )
            if method == "open" and name not in _WRITE_CALLS and isinstance(node.func, ast.Attribute):
                target = node.func.value
                mode_arguments = node.args[:1]
            else:
                mode_arguments = node.args[1:2]
            mode_node = (
                mode_arguments[0]
                if mode_arguments
                else next((k.value for k in node.keywords if k.arg == "mode"), None)
            )
            mode = (self._text(mode_node) or "r") if mode_node is not None else "r"
            text = self._text(target) if target is not None else None
            if text is not None:
                self._judge_path(
                    node, text, writes=any(letter in mode for letter in "wax+") and name != "os.open"
                )
        elif method in ("write_text", "write_bytes", "touch", "read_text", "read_bytes") and isinstance(
            node.func, ast.Attribute
        ):
            text = self._text(node.func.value)
            if text is not None:
                self._judge_path(node, text, writes=not method.startswith("read"))
        elif (
            name
            in (
                "shutil.copy",
                "shutil.copyfile",
                "shutil.move",
                "shutil.copy2",
                "os.rename",
                "os.replace",
                "os.symlink",
                "shutil.copytree",
            )
            and len(node.args) > 1
        ):
            source, target_text = self._text(node.args[0]), self._text(node.args[1])
            if source is not None:
                self._judge_path(node, source, writes=name in ("shutil.move", "os.rename", "os.replace"))
            if target_text is not None:
                self._judge_path(node, target_text, writes=True)
        elif name in ("os.truncate",):
            self._add("python-truncate", "empties a file", node)

    def _judge_path(self, node: ast.Call, text: str, *, writes: bool) -> None:
        path = paths.normalise(text, self._cwd)
        if writes and (paths.is_system_file(path) or paths.is_raw_device(path)):
            self._add("python-write-system-file", "writes to a file of the operating system", node)
        elif writes and paths.is_startup_file(path):
            self._add(
                "python-write-startup-file",
                "writes to a file that runs by itself later, or lets somebody in",
                node,
            )
        elif not writes and paths.is_credential(path):
            self._add("python-read-credentials", "reads credentials: keys, tokens or passwords", node)

    def _check_system(self, node: ast.Call, name: str) -> None:
        if name in _SIGNALS:
            target = node.args[0] if node.args else None
            value = (
                ast.literal_eval(target)
                if isinstance(target, ast.Constant | ast.UnaryOp)
                and not isinstance(getattr(target, "operand", None), ast.Name)
                else None
            )
            if value in (-1, 1):
                self._add("python-kill-everything", "kills every process there is", node, "block")
            elif (
                self._loops
                or any("SIGKILL" in self._dotted(argument) for argument in node.args)
                or (len(node.args) > 1 and isinstance(node.args[1], ast.Constant) and node.args[1].value == 9)
            ):
                self._add("python-kill", "kills processes by force or in numbers", node)
        elif name in _PERMISSIONS:
            path = self._path(node)
            mode = node.args[1] if len(node.args) > 1 else None
            wide = (
                isinstance(mode, ast.Constant)
                and isinstance(mode.value, int)
                and (mode.value & 0o6002) != 0
                and name == "os.chmod"
            )
            if (
                wide
                or self._loops
                or (path is not None and (paths.is_system_file(path) or paths.is_catastrophic_to_lose(path)))
            ):
                self._add("python-permissions", "changes permissions or owners widely", node)
        elif name in ("os.setuid", "os.setgid", "os.seteuid", "os.chroot", "os.dup2") and not (
            name == "os.dup2" and "socket" not in self._modules
        ):
            self._add("python-privilege", "changes its rights, or connects its streams to the network", node)
        elif name in ("os.fork",) and self._loops:
            self._add(
                "python-fork-bomb", "starts copies of itself until the machine stands still", node, "block"
            )

    def _check_network(self, node: ast.Call, name: str) -> None:
        method = node.func.attr if isinstance(node.func, ast.Attribute) else name
        if ((_SEND.match(name) or method in ("sendall", "sendto")) and any(
            self._is_secret(argument)
            for argument in [
                *node.args,
                *(k.value for k in node.keywords if k.arg not in ("headers", "auth", "json_")),
            ]
        )) or (_FETCH.match(name) and any(self._is_secret(argument) for argument in node.args)):
            self._add(
                "python-exfiltration", "sends files, secrets or the environment to another machine", node
            )
        elif name in ("requests.delete", "httpx.delete"):
            self._add("python-http-delete", "asks a server to delete something", node)

    def _check_databases(self, node: ast.Call, _name: str) -> None:
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if (
            method
            in ("execute", "executescript", "executemany", "read_sql", "exec_driver_sql", "query", "sql")
            and node.args
        ):
            argument = node.args[0]
            if isinstance(argument, ast.Call) and argument.args:
                argument = argument.args[0]
            text = self._text(argument)
            if text is not None and sql.danger_of(text):
                self._add("python-sql", "drops, empties or rewrites whole tables", node)
        elif method in ("drop_database", "drop_all", "flushall", "flushdb", "drop_table") or (
            method == "drop_collection"
        ):
            self._add("python-drop-data", "drops a database, its tables or all its keys", node)
        elif (
            method in ("delete_many", "remove")
            and node.args
            and isinstance(node.args[0], ast.Dict)
            and not node.args[0].keys
        ):
            self._add("python-drop-data", "deletes all documents of a collection", node)
        elif method in (
            "delete_bucket",
            "terminate_instances",
            "delete_stack",
            "delete_db_instance",
            "delete_objects",
            "delete_table",
            "delete_cluster",
        ):
            self._add("python-cloud-change", "deletes or stops what runs in a cloud", node)


def _calls(node: ast.AST) -> Iterator[ast.Call]:
    return (child for child in ast.walk(node) if isinstance(child, ast.Call))


def _quote(word: str) -> str:
    if word == "\ue000" or re.fullmatch(r"[\w./:=@%+,-]+", word):
        return word
    return "'" + word.replace("'", "'\\''") + "'"


_CHECKS = (
    _CodeReader._check_deletion,
    _CodeReader._check_commands,
    _CodeReader._check_hidden,
    _CodeReader._check_files,
    _CodeReader._check_system,
    _CodeReader._check_network,
    _CodeReader._check_databases,
)
