"""Programs in other languages on the command line: deletion, commands and hidden code in one-liners."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hermes_nb.approval.rules.table import rule
from hermes_nb.approval.shell.commands import UNKNOWN
from hermes_nb.approval.shell.words import unescape_ansi_c

if TYPE_CHECKING:
    from hermes_nb.approval.shell.commands import Command

_DELETES = {
    "javascript": re.compile(
        r"\b(?:rmSync|rmdirSync|unlinkSync|rmdir|unlink|rimraf|emptyDirSync|removeSync"
        r"|truncateSync)\s*\(|\bfs(?:\.promises|/promises)?['\"]?\)?\.(?:rm|rmdir|unlink)\b|\.rm\s*\("
        r"|Deno\.remove"
    ),
    "perl": re.compile(r"\bunlink\b|\brmtree\b|\bremove_tree\b|\brmdir\b|\btruncate\b"),
    "ruby": re.compile(
        r"\brm_r\w*|\brm_f\b|\brmtree\b|\bremove_(?:dir|entry)\w*|\b(?:File|Dir|FileUtils"
        r"|Pathname)\S*\.(?:delete|unlink|rmdir|rm)\b|\bFileUtils\.rm"
    ),
    "php": re.compile(r"\bunlink\s*\(|\brmdir\s*\(|\barray_map\s*\(\s*['\"]unlink"),
    "lua": re.compile(r"\bos\.remove\b|\blfs\.rmdir\b"),
    "r": re.compile(r"\bunlink\s*\(|\bfile\.remove\s*\("),
    "julia": re.compile(r"\brm\s*\("),
    "groovy": re.compile(r"\.delete(?:Dir)?\s*\("),
    "elixir": re.compile(r"\bFile\.rm\w*"),
    "tcl": re.compile(r"\bfile\s+delete\b"),
    "powershell": re.compile(r"(?i)\bRemove-Item\b|\brm\b"),
    "scheme": re.compile(r"\bdelete-file\b"),
    "lisp": re.compile(r"\bdelete-(?:file|directory)\b"),
    "scala": re.compile(r"\.delete\w*\("),
}  # fmt: skip


@rule(
    "code-deletes",
    "deletes files from within a program",
    everywhere=True,
    dangerous=(
        "node -e \"require('fs').rmSync('x',{recursive:true})\"", "perl -e 'unlink glob \"*\"'",
        "ruby -e 'require \"fileutils\"; FileUtils.rm_rf(\"x\")'", "php -r 'unlink(\"x\");'",
        "lua -e 'os.remove(\"x\")'", "Rscript -e 'unlink(\"x\", recursive=TRUE)'",
        "echo \"require('fs').rmSync('/',{recursive:true})\" | node",
        "perl -MFile::Path -e 'rmtree(\"/x\")'", "node --eval 'fs.unlinkSync(\"a\")'",
    ),
    benign=(
        "node -e 'console.log(1)'", "perl -ne 'print if /rm/'", "ruby -e 'puts 1'", "php -r 'echo 1;'",
        "perl -pe s/a/b/ x",
    ),
)  # fmt: skip
def _deletes_from_code(command: Command) -> bool:
    code = command.code
    if not code or not code.stream.text:
        return False
    pattern = _DELETES.get(code.language)
    return bool(pattern and pattern.search(code.stream.text))


_RUNS = {
    "javascript": re.compile(
        r"child_process|\bexecSync\b|Deno\.(?:run|Command)|Bun\.spawn|\beval\s*\(|new\s+Function\s*\("
        r"|process\.binding"
    ),
    "perl": re.compile(r"\b(?:system|exec)\b|`|\bqx\b|\beval\b(?!\s*\{)|open\s*\(?[^;]*\|"),
    "ruby": re.compile(r"\bsystem\b|\bexec\b|`|%x|IO\.popen|Open3|\beval\b|Kernel\.|\bspawn\b"),
    "php": re.compile(r"\b(?:system|exec|shell_exec|passthru|popen|proc_open|eval|assert|pcntl_exec)\s*\(|`"),
    "lua": re.compile(r"\bos\.execute\b|\bio\.popen\b|\bload(?:string)?\s*\("),
    "awk": re.compile(
        r"\bsystem\s*\(|\|\s*\"|\"\s*\|\s*getline|\|\s*getline|print[^>;}]*>+\s*\"/(?:etc|usr|bin)"
    ),
    "r": re.compile(r"\bsystem2?\s*\(|\beval\s*\(\s*parse"),
    "julia": re.compile(r"\brun\s*\(|`"),
    "groovy": re.compile(r"\.execute\s*\("),
    "elixir": re.compile(r"System\.cmd|:os\.cmd|Code\.eval"),
    "tcl": re.compile(r"\bexec\b|\bspawn\b"),
    "scheme": re.compile(r"\bsystem\*?\b"),
    "lisp": re.compile(r"shell-command|call-process"),
    "powershell": re.compile(r"(?i)\biex\b|Invoke-Expression|DownloadString"),
    "scala": re.compile(r"sys\.process|\.!"),
}  # fmt: skip
_LITERAL = re.compile(
    r"(?:\b(?:system|exec|execSync|execFileSync|spawn|spawnSync|shell_exec|passthru|popen|execute|run"
    r"|cmd)\s*\(?\s*|`|%x[\[{(]|\bqx[\[{(/]|\|\s*|print\s+)(?:(['\"])((?:(?!\1)[^\\]|\\.)*)\1"
    r"|(?<=`)([^`]*)`|(?<=[\[{(/])([^\])}/]*))"
)


def literal_commands(text: str) -> list[str] | None:
    """The shell commands a one-liner hands to the system, or None if they are not all spelt out."""
    found = [match[2] or match[3] or match[4] or "" for match in _LITERAL.finditer(text)]
    if not found or re.search(r"\b(?:system|exec)\s*\(\s*(?:\"[^\"]*\"|'[^']*')\s*[^\s,)]", text):
        return None
    if any(re.search(r"[$#]\{|\$\w|'\s*\.|\"\s*\.|\"\s*\+", command) for command in found):
        return None
    return [unescape_ansi_c(command) for command in found]


@rule(
    "code-runs-commands",
    "runs other programs from within a program",
    everywhere=True,
    dangerous=(
        "perl -e 'system(\"rm -rf /\")'", "ruby -e '`rm -rf x`'",
        "node -e \"require('child_process').execSync('rm -rf /')\"", "awk 'BEGIN{system(\"rm -rf /\")}'",
        "php -r 'system($_GET[0]);'", "perl -e 'exec \"/bin/sh\"'", "lua -e 'os.execute(\"rm -rf x\")'",
        "node -e 'eval(atob(\"eA==\"))'", "awk 'BEGIN {system(\"/bin/sh\")}'", "ruby -e 'exec \"/bin/sh\"'",
    ),
    benign=(
        "awk '{print $1}' x", "awk '{print $1 | \"sort\"}' x", "perl -e 'print 1'",
        "node -e \"console.log(require('child_process').execSync('git status').toString())\"",
        "node -e 'console.log(/a/.exec(\"b\"))'", "awk 'BEGIN{system(\"date\")}'",
    ),
)  # fmt: skip
def _runs_commands_from_code(command: Command) -> bool:
    code = command.code
    if not code or not code.stream.text or code.language not in _RUNS:
        return False
    text = code.stream.text
    if not _RUNS[code.language].search(text):
        return False
    from hermes_nb.approval.assess_command import assess

    commands = literal_commands(text)
    if commands is None:
        return True
    interactive = any(re.fullmatch(r"(?:/\w+)*/?(?:ba|z|da|k)?sh(?:\s+-\w+)?", one.strip()) for one in commands)
    return interactive or any(assess(one, cwd=command.cwd).findings for one in commands)


@rule(
    "python-code",
    "runs dangerous Python code",
    everywhere=True,
    dangerous=(
        "python -c \"import shutil; shutil.rmtree('/x')\"",
        "python3 -c 'import os; os.system(\"rm -rf /\")'",
        "python3 - <<EOF\nimport shutil\nshutil.rmtree('x')\nEOF",
        "python -c 'exec(__import__(\"base64\").b64decode(\"eA==\"))'",
        "echo \"import os; os.remove('/etc/passwd')\" | python3",
        "python3 -c 'import socket,os;s=socket.socket();s.connect((\"h\",1));os.dup2(s.fileno(),0)'",
        "python3 -c 'import pty; pty.spawn(\"/bin/sh\")'",
    ),
    benign=(
        "python -c 'print(1)'", "python3 -c 'import json; print(json.dumps({}))'",
        "python3 - <<EOF\nprint(2)\nEOF", "python3 -m venv .venv", "python script.py",
        "python3 -c \"print('$X')\"",
    ),
)  # fmt: skip
def _runs_dangerous_python(command: Command) -> bool:
    code = command.code
    if not code or code.language != "python" or not code.stream.text or code.stream.text.strip() == UNKNOWN:
        return False
    from hermes_nb.approval.languages.python_code import assess_python

    return bool(assess_python(code.stream.text.replace(UNKNOWN, "_unknown_"), cwd=command.cwd).findings)


@rule(
    "sed-executes",
    "lets sed run its input as commands",
    programs="sed gsed",
    dangerous=("sed '1e rm -rf x' f", "sed 's/a/b/e' f", "echo id | sed 's/^//e'"),
    benign=(
        "sed 's/a/b/' f", "sed -e 's/x/y/g' f", "sed -n '1,5p' f", "sed 's/the/there/' f",
        "sed -i 's|a/b|c/e|' f",
    ),
)  # fmt: skip
def _sed_executes(command: Command) -> bool:
    for word in command.arguments:
        if re.match(r"(?:\d+|\$|/[^/]*/)?\s*e(?:\s+\S|\Z)", word.text) and " " in word.text:
            return True
        match = re.match(r"[\d,$]*s(\W)", word.text)
        if match:
            delimiter = re.escape(match[1])
            flags = re.match(
                rf"[\d,$]*s{delimiter}(?:\\.|(?!{delimiter}).)*{delimiter}(?:\\."
                rf"|(?!{delimiter}).)*{delimiter}([gpiImM\d]*e[gpiImM\d]*)\Z",
                word.text,
            )
            if flags:
                return True
    return False
