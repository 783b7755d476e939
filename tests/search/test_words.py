"""Which words are found in a text."""

import threading

import pytest

from hermes_nb.search.engine.document import bare_name
from hermes_nb.search.engine.words import stem, words


@pytest.mark.parametrize(
    "spelling", ["create_pull_request", "createPullRequest", "create-pull-request", "create.pull.request"]
)
def test_every_way_to_spell_a_name_gives_the_same_words(spelling: str) -> None:
    assert words(spelling) == ["create", "pull", "request", "createpullrequest"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("HTTPServer", ["http", "server", "httpserver"]),
        ("base64", ["base", "64", "base64"]),
        ("s3", ["3", "s3"]),
        ("URLs", ["urls"]),
        ("e-mail", ["e", "mail", "email"]),
        ("отправитьПисьмо", ["отправить", "письмо", "отправитьписьмо"]),
    ],
)
def test_a_compound_gives_its_parts_and_its_joined_form(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_stop_words_are_left_out() -> None:
    assert words("please show me the weather for Oslo") == ["show", "weather", "oslo"]


def test_accents_and_wide_letters_are_folded() -> None:
    assert words("Résumé ＡＰＩ") == ["resume", "api"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("天气预报", ["天气", "气预", "预报"]),
        ("がか", ["がか"]),
        ("날씨를", ["날씨", "씨를"]),
        ("图", ["图"]),
        ("GitHub課題", ["git", "hub", "github", "課題"]),
        ("मौसम बताओ", ["मौसम", "बताओ"]),
    ],
)
def test_scripts_other_than_latin_are_words_too(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    "forms", [("issue", "issues"), ("create", "creating", "created"), ("текст", "тексты", "текстов")]
)
def test_the_forms_of_a_word_share_a_stem(forms: tuple[str, ...]) -> None:
    assert len({stem(form) for form in forms}) == 1


def test_stems_are_the_same_in_every_thread() -> None:
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(stem("threading"))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(found) == {"thread"}


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("mcp__github__create_issue", "github"),
        ("mcp__some_other__create_issue", "github"),
        ("mcp_github_create_issue", "github"),
        ("github.create_issue", "github"),
        ("mcp_my_git_hub_create_issue", "my-git-hub"),
        ("create_issue", "github"),
    ],
)
def test_a_server_in_front_of_a_name_is_taken_off(name: str, source: str) -> None:
    assert bare_name(name, source) == "create_issue"


@pytest.mark.parametrize("name", ["github", "mcp__github__", "githubber_list"])
def test_a_name_that_only_looks_prefixed_stays_whole(name: str) -> None:
    assert bare_name(name, "github") == name
