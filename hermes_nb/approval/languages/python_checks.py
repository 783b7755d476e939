"""What Python code does with the calls it makes: deletes, runs, hides, writes, kills, sends, drops."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from hermes_nb.approval import paths
from hermes_nb.approval.languages import sql
from hermes_nb.approval.languages.python_values import FETCH, ValueReader
from hermes_nb.approval.shell.commands import UNKNOWN

if TYPE_CHECKING:
    from hermes_nb.approval.assessment import Finding

_DELETE_TREE = frozenset(
    ["shutil.rmtree", "os.removedirs", "send2trash.send2trash", "distutils.dir_util.remove_tree", "fsspec.rm"]
)  # fmt: skip
_DELETE_ONE = frozenset(["os.remove", "os.unlink", "os.rmdir", "pathlib.Path.unlink"])
_RUN_SHELL = frozenset(
    ["os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput", "commands.getoutput",
    "asyncio.create_subprocess_shell", "pexpect.spawn", "pexpect.run", "IPython.get_ipython().system",
    "get_ipython().system"]
)  # fmt: skip
_RUN_ARGV = frozenset(
    ["subprocess.run", "subprocess.call", "subprocess.Popen", "subprocess.check_call",
    "subprocess.check_output", "asyncio.create_subprocess_exec", "os.execv", "os.execvp", "os.execve",
    "os.spawnv", "os.spawnvp", "pty.spawn", "os.posix_spawn", "os.execl", "os.execlp", "os.spawnl",
    "os.spawnlp"]
)  # fmt: skip
_HIDDEN = frozenset(
    ["marshal.loads", "ctypes.CDLL", "ctypes.cdll.LoadLibrary", "ctypes.WinDLL", "ctypes.PyDLL",
    "code.interact", "codeop.compile_command", "importlib.machinery.SourceFileLoader", "runpy.run_path",
    "ctypes.windll"]
)  # fmt: skip
_UNPICKLE = frozenset(["pickle.loads", "cPickle.loads", "dill.loads", "cloudpickle.loads"])
_EXECUTE = frozenset(
    ["eval", "exec", "compile", "__import__", "importlib.import_module", "builtins.eval", "builtins.exec",
    "execfile"]
)  # fmt: skip
_SIGNALS = frozenset(["os.kill", "os.killpg", "signal.pthread_kill"])
_PERMISSIONS = frozenset(["os.chmod", "os.chown", "os.lchown", "shutil.chown"])
_WRITE_CALLS = frozenset(["open", "io.open", "codecs.open", "os.open"])
_SEND = re.compile(
    r"(?:requests|httpx|aiohttp|urllib3|session|client|s)\.(?:post|put|patch|request)\Z"
    r"|urllib\.request\.(?:urlopen|Request)\Z|.*\.(?:sendall|sendto|sendmail|send_message"
    r"|storbinary)\Z|urlopen\Z"
)
_SCOPE_TRICKS = frozenset(
    ["__subclasses__", "__globals__", "__builtins__", "__code__", "__bases__", "__mro__", "f_globals",
    "f_builtins"]
)  # fmt: skip


def _of_shell(command: str, cwd: str | None) -> tuple[Finding, ...]:
    from hermes_nb.approval.assess_command import assess

    return assess(command, cwd=cwd).findings


class CodeReader(ValueReader):
    """Holds every check against every call."""

    def _visit_attribute(self, node: ast.Attribute) -> None:
        if node.attr in _SCOPE_TRICKS and node.attr not in ("__mro__", "__bases__", "__code__"):
            self._add("python-hidden-code", "reaches for Python's inner workings to hide what it does", node)
        self.generic_visit(node)

    def _visit_call(self, node: ast.Call) -> None:
        name = self._dotted(node.func)
        for check in _CHECKS:
            check(self, node, name)
        self.generic_visit(node)

    def _path(self, node: ast.Call) -> str | None:
        keywords = {keyword.arg: keyword.value for keyword in node.keywords}
        argument = node.args[0] if node.args else keywords.get("path") or keywords.get("file") or keywords.get("src")
        text = self._text(argument) if argument is not None else None
        return paths.normalise(text, self._cwd) if text is not None else None

    def _check_deletion(self, node: ast.Call, name: str) -> None:
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if name in _DELETE_TREE or (method == "rmtree" and not name.startswith("self.")):
            path = self._path(node)
            if path is not None and paths.is_catastrophic_to_lose(path):
                self._add("python-delete-system", "deletes the root, a home or a system folder", node, "block")
            else:
                self._add("python-delete-tree", "deletes whole folders", node)
        elif name in _DELETE_ONE:
            self._check_single_deletion(node, self._path(node), node.args[0] if node.args else None)
        elif method in ("unlink", "rmdir") and isinstance(node.func, ast.Attribute):
            text = self._text(node.func.value)
            self._check_single_deletion(node, paths.normalise(text, self._cwd) if text else None, node.func.value)

    def _check_single_deletion(self, node: ast.Call, path: str | None, target: ast.AST | None) -> None:
        # One file that is spelt out is what a person would do, unless it's the system's. In a loop, or of a name that
        # isn't known, it may be any number of files; what the code has itself made is its own to remove.
        if path is not None and UNKNOWN not in path and not self._loops:
            if paths.is_system_file(path) or paths.is_credential(path) or paths.is_startup_file(path):
                self._add("python-delete-system-file", "deletes a file of the system or of the account", node)
        elif not _is_own_temporary(target):
            self._add("python-delete-bulk", "deletes many files, or files that are not spelt out", node)

    def _check_commands(self, node: ast.Call, name: str) -> None:
        shell = any(
            k.arg == "shell" and not (isinstance(k.value, ast.Constant) and not k.value.value) for k in node.keywords
        )
        if name in _RUN_SHELL or name.endswith("get_ipython().system") or (name in _RUN_ARGV and shell):
            self._judge_shell(node, node.args[0] if node.args else None)
        elif name in _RUN_ARGV or re.match(r"os\.(?:exec|spawn)[lv]", name):
            self._judge_argv(node, name)
        elif name.endswith(".exec_command") and node.args:
            self._judge_shell(node, node.args[0])

    def _judge_shell(self, node: ast.Call, argument: ast.expr | None) -> None:
        """Hand shell text back to ``assess``, with ``UNKNOWN`` in the gaps of ``"rm -rf {}".format(x)`` and ``%``."""
        text = self._text(argument) if argument is not None else None
        if (
            text is None
            and isinstance(argument, ast.Call)
            and isinstance(argument.func, ast.Attribute)
            and argument.func.attr in ("format", "join")
        ):
            template = self._text(argument.func.value)
            text = re.sub(r"\{[^}]*\}", UNKNOWN, template) if template and argument.func.attr == "format" else None
        if text is None and isinstance(argument, ast.BinOp) and isinstance(argument.op, ast.Mod):
            template = self._text(argument.left)
            text = re.sub(r"%[-\d.]*[sdr]", UNKNOWN, template) if template else None
        if text is None or text.strip(f"{UNKNOWN} ") == "":
            self._add("python-unknown-command", "runs a command that cannot be known before it runs", node)
            return
        self.findings.extend(_of_shell(text, self._cwd))

    def _judge_argv(self, node: ast.Call, name: str) -> None:
        argument = node.args[0] if node.args else None
        words: list[str] | None = None
        if name.startswith(("os.spawn",)) and len(node.args) > 1:
            argument = node.args[1]
        if isinstance(argument, ast.List | ast.Tuple):
            words = [self._text(element) or UNKNOWN for element in argument.elts]
        elif isinstance(argument, ast.Name) and argument.id in self._lists:
            words = self._lists[argument.id]
        elif argument is not None and (text := self._text(argument)) is not None:
            words = (
                [text, *(self._text(extra) or UNKNOWN for extra in node.args[1:])] if "exec" in name else text.split()
            )
        elif isinstance(argument, ast.Call) and self._dotted(argument.func) == "shlex.split" and argument.args:
            self._judge_shell(node, argument.args[0])
            return
        elif isinstance(argument, ast.BinOp) and isinstance(argument.left, ast.List):
            words = [*(self._text(element) or UNKNOWN for element in argument.left.elts), UNKNOWN]
        # What runs must be known. Its arguments needn't be: ["ls", name] is ls, whatever the name.
        if not words or words[0] == UNKNOWN:
            if not self._is_own_python(argument):
                self._add("python-unknown-command", "runs a command that cannot be known before it runs", node)
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
        rest = [self._text(element) or UNKNOWN for element in argument.elts[1:]]
        self.findings.extend(_of_shell(" ".join(["python", *map(_quote, rest)]), self._cwd))
        return True

    def _check_hidden(self, node: ast.Call, name: str) -> None:
        if name in _EXECUTE:
            argument = node.args[0] if node.args else None
            text = self._text(argument) if argument is not None else None
            if text is None or UNKNOWN in text:
                if name in ("compile", "importlib.import_module") and not self._mentions(node, self._fetched):
                    return
                self._add("python-hidden-code", "runs code that cannot be known before it runs", node)
            elif name in ("exec", "eval", "builtins.exec", "builtins.eval", "compile") and text.strip():
                from hermes_nb.approval.languages.python_code import assess_python

                self.findings.extend(assess_python(text, cwd=self._cwd).findings)
        elif name in _HIDDEN or (
            name in _UNPICKLE
            and not isinstance(node.args[0] if node.args else None, ast.Constant)
            and self._mentions(node, self._fetched)
        ):
            self._add("python-load-code", "loads code from outside Python, or from data", node)
        # getattr(obj, name)() with a name that isn't known is common and harmless without arguments, except on the
        # modules that have what is dangerous.
        elif name.endswith(".?") and (
            node.args or name.startswith(("os.", "subprocess.", "shutil.", "builtins.", "__builtins__."))
        ):
            self._add("python-hidden-code", "calls a function whose name is put together while it runs", node)

    def _check_files(self, node: ast.Call, name: str) -> None:
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if name in _WRITE_CALLS or method == "open":
            target = node.args[0] if (node.args and method != "open") or (name in _WRITE_CALLS and node.args) else None
            if method == "open" and name not in _WRITE_CALLS and isinstance(node.func, ast.Attribute):
                target = node.func.value
                mode_arguments = node.args[:1]
            else:
                mode_arguments = node.args[1:2]
            mode_node = (
                mode_arguments[0] if mode_arguments else next((k.value for k in node.keywords if k.arg == "mode"), None)
            )
            mode = (self._text(mode_node) or "r") if mode_node is not None else "r"
            text = self._text(target) if target is not None else None
            if text is not None:
                self._judge_path(node, text, writes=any(letter in mode for letter in "wax+") and name != "os.open")
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
            self._add("python-fork-bomb", "starts copies of itself until the machine stands still", node, "block")

    def _check_network(self, node: ast.Call, name: str) -> None:
        method = node.func.attr if isinstance(node.func, ast.Attribute) else name
        if (
            (_SEND.match(name) or method in ("sendall", "sendto"))
            and any(
                self._is_secret(argument)
                for argument in [
                    *node.args,
                    *(k.value for k in node.keywords if k.arg not in ("headers", "auth")),
                ]
            )
        ) or (FETCH.match(name) and any(self._is_secret(argument) for argument in node.args)):
            self._add("python-exfiltration", "sends files, secrets or the environment to another machine", node)
        elif name in ("requests.delete", "httpx.delete"):
            self._add("python-http-delete", "asks a server to delete something", node)

    def _check_databases(self, node: ast.Call, _name: str) -> None:
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if (
            method in ("execute", "executescript", "executemany", "read_sql", "exec_driver_sql", "query", "sql")
            and node.args
        ):
            argument = node.args[0]
            # connection.execute(text("DROP …")): SQLAlchemy's wrapper, or any other.
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


def _is_own_temporary(target: ast.AST | None) -> bool:
    """``temporary_file.name``, ``tmp_path``: what the code itself has made."""
    return isinstance(target, ast.Attribute) or (
        isinstance(target, ast.Name) and bool(re.search(r"(?i)te?mp", target.id))
    )


def _quote(word: str) -> str:
    if word == UNKNOWN or re.fullmatch(r"[\w./:=@%+,-]+", word):
        return word
    return "'" + word.replace("'", "'\\''") + "'"


_CHECKS = (
    CodeReader._check_deletion,
    CodeReader._check_commands,
    CodeReader._check_hidden,
    CodeReader._check_files,
    CodeReader._check_system,
    CodeReader._check_network,
    CodeReader._check_databases,
)
