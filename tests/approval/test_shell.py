"""Reading a command: the simple commands it would run, through everything a shell can put around them."""

from __future__ import annotations

import pytest

from hermes_nb.approval import assess
from hermes_nb.approval.shell.reader import read


def commands(text):
    return [[word.text for word in command.words] for command in read(text).commands if command.words]


def last(text):
    return commands(text)[-1]


@pytest.mark.parametrize(
    "text",
    [
        "true; rm -rf x", "true && rm -rf x", "true || rm -rf x", "true & rm -rf x", "(rm -rf x)",
        "{ rm -rf x; }", "! rm -rf x",
        "if true; then rm -rf x; fi", "if rm -rf x; then true; fi | cat < /dev/null && rm -rf x",
        "while true; do rm -rf x; done",
        "until false; do rm -rf x; done", "for i in 1; do rm -rf x; done", "for ((;;)); do rm -rf x; done",
        "case a in a) rm -rf x;; esac",
        "f() { rm -rf x; }", "f() { rm -rf x; }; f", "function f { rm -rf x; }; f", "time rm -rf x",
        "bash -c 'rm -rf x'", "sh -ec 'rm -rf x'",
        "eval rm -rf x", "eval 'rm -rf x'", "bash <<< 'rm -rf x'", "bash <<EOF\nrm -rf x\nEOF",
        "echo 'rm -rf x' | sh", "printf 'rm -rf %s' x | bash",
        "sudo rm -rf x", "sudo -u bob -- rm -rf x", "doas rm -rf x", "env A=1 rm -rf x", "env -i rm -rf x",
        "timeout 5 rm -rf x",
        "timeout -s KILL 5 rm -rf x", "nice -n 5 rm -rf x", "nohup rm -rf x", "setsid rm -rf x",
        "stdbuf -oL rm -rf x", "xargs rm -rf x < /dev/null; rm -rf x",
        "watch -n 1 rm -rf x", "ssh -p 22 host rm -rf x", "ssh host 'rm -rf x'",
        "docker exec -it c rm -rf x", "docker run --rm -v a:b img rm -rf x",
        "kubectl exec p -- rm -rf x", "busybox rm -rf x", "su -c 'rm -rf x'", "su root -c 'rm -rf x'",
        "find . -exec rm -rf x ;", "command rm -rf x", "exec rm -rf x",
        "trap 'rm -rf x' EXIT", "alias a='rm -rf x'", "tmux new -d 'rm -rf x'", "script -c 'rm -rf x'",
        "flock /l rm -rf x", "chroot /m rm -rf x",
        "cat > s.sh <<E\nrm -rf x\nE\nbash s.sh", "echo 'rm -rf x' > s; sh ./s",
        "echo 'rm -rf x' | tee s; chmod +x s; ./s", "parallel rm -rf ::: x",
        "echo cm0gLXJmIHg= | base64 -d | sh", "echo 'x fr- mr' | rev | sh",
        "sudo timeout 5 nice bash -c \"eval 'rm -rf x'\"", "git submodule foreach 'rm -rf x'",
    ],
)  # fmt: skip
def test_the_command_inside_is_found(text):
    assert ["rm", "-rf", "x"] in commands(text)


@pytest.mark.parametrize("text", ["echo $(rm x)", "echo `rm x`", 'echo "a $(rm x) b"', "cat <(rm x)",
    "tee >(rm x)", "a=$(rm x)", "export a=$(rm x)", "echo ${a:-$(rm x)}", "[[ $(rm x) ]]",
                                  "echo $((1 + $(rm x)))", "cat <<E\n$(rm x)\nE",
                                  "for i in $(rm x); do :; done", "case $(rm x) in a) :;; esac",
                                  "echo x > $(rm x)"])  # fmt: skip
def test_substitutions_are_commands_too(text):
    assert ["rm", "x"] in commands(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (r"r\m a\ b", ["rm", "a b"]), ("'r'm", ["rm"]), ('r""m', ["rm"]), (r"$'\x72\155'", ["rm"]),
        ("rm${IFS}x", ["rm", "x"]), ("a=r; ${a}m", ["rm"]), ("x='rm -r'; $x y", ["rm", "-r", "y"]),
        ("echo {a,b}c", ["echo", "ac", "bc"]), ("echo a{1..3}", ["echo", "a1", "a2", "a3"]),
        ('echo "{a,b}"', ["echo", "{a,b}"]), ("a=(rm -r x); \"${a[@]}\"", ["rm", "-r", "x"]),
        ("x=abc; echo ${x:1:1}", ["echo", "b"]), ("x=a-b; echo ${x//-/ }", ["echo", "a", "b"]),
        ("echo ${none:-rm}", ["echo", "rm"]), ("echo ~/x", ["echo", "~/x"]), ("echo $HOME", ["echo", "~"]),
        ("$(echo rm) x", ["rm", "x"]), ("`printf rm` x", ["rm", "x"]), ("$(which rm) x", ["rm", "x"]),
        ("IFS=,; c=rm,x; $c", ["rm", "x"]), ('echo "a  $x"', ["echo", "a  \ue000"]), ('echo "$(true)"',
        ["echo", ""]),
        ("printf -v c rm; $c x", ["rm", "x"]), ("set -- rm x; $1 $2", ["rm", "x"]), ("c=rm; c+=dir; $c",
        ["rmdir"]), ('echo "a\\"b"', ["echo", 'a"b']), ("x=y; y=rm; ${!x}", ["rm"]), ("echo a\\\nb",
        ["echo", "ab"]),
    ],
)  # fmt: skip
def test_words_are_rebuilt_as_the_shell_would(text, words):
    assert last(text) == words


@pytest.mark.parametrize("text", ["echo 'rm -rf x'", "grep 'rm -rf' x", "git commit -m 'rm -rf x'",
    "cat <<E > f\nrm -rf x\nE", "cat <<'E'\n$(rm -rf x)\nE", "# rm -rf x", "echo a # rm -rf x",
    "a='rm -rf x'", "echo rm -rf x | cat"])  # fmt: skip
def test_data_is_not_a_command(text):
    assert all(words[0] != "rm" for words in commands(text))


def test_a_change_of_directory_is_followed():
    assert read("cd /etc && ls").commands[-1].cwd == "/etc"
    assert read("cd /etc; cd ../usr; ls").commands[-1].cwd == "/usr"
    assert read("(cd /etc); ls").commands[-1].cwd is None


def test_the_arguments_of_a_function_reach_its_body():
    assert ["rm", "-rf", "/"] in commands('f() { rm -rf "$1"; }; f /')


def test_the_arguments_of_a_shell_reach_its_text():
    assert ["rm", "/"] in commands("bash -c 'rm \"$1\"' _ /")


def test_a_redirection_belongs_to_the_last_of_a_list():
    first, second = read("a && b > f").commands
    assert not first.redirects
    assert second.redirects[0].target.text == "f"


def test_a_pipe_carries_what_is_known_of_the_text():
    stream = read("echo hello | cat | wc").commands[-1].stdin
    assert stream.text == "hello\n"
    assert [source.name for source in stream.sources] == ["echo", "cat"]


def test_letters_beyond_ascii_are_letters():
    assert commands("echo é𝒳中 \U0010ffff'ж' > ñ") == [["echo", "é𝒳中", "\U0010ffffж"]]


def test_nesting_beyond_the_bound_is_reported():
    assert read("( " * 100 + "ls" + " )" * 100).problems[0].kind == "too-deep"


def test_a_loop_over_globs_marks_its_variable_as_many():
    (command,) = read('for f in *.txt; do rm "$f"; done').commands
    assert command.words[1].glob


def test_text_that_crashes_the_grammar_s_scanner_is_kept_from_it() -> None:
    crashing = 'ïÿ®N₪å⛆\x16ጫ"`\x1d`⪄9⋰\\𘫧"\x92{\U00100321/c'
    assert assess(crashing).verdict in ("allow", "ask", "block")


def test_names_above_ascii_are_read_as_they_are_written() -> None:
    (finding, *_) = assess("rm -rf 'ünï/wörk'").findings
    assert "ünï/wörk" in finding.text


def test_commands_are_assessed_by_many_threads_at_once() -> None:
    from concurrent.futures import ThreadPoolExecutor

    commands = ["rm -rf /usr", "ls -l", "curl x | sh", "git commit -m 'rm -rf /'"] * 50
    expected = [assess(command).verdict for command in commands]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda command: assess(command).verdict, commands)) == expected
