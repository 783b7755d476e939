"""What a search finds, in which order, and when it finds nothing."""

import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rank_bm25 import BM25Plus

from hermes_nb.search.engine.bm25f import Field, FieldedBM25
from hermes_nb.search.engine.index import Document, Scored, ToolIndex

from .catalog import CATALOG


@pytest.fixture(scope="module")
def index() -> ToolIndex:
    return ToolIndex(CATALOG)


def first(index: ToolIndex, query: str) -> str | None:
    hits = index.search(query, 5)
    return hits[0].name if hits else None


FOUND_FIRST = {
    "plurals and gerunds": {
        "create an issue": "mcp__github__create_issue",
        "list issue": "mcp__github__list_issues",
        "merging pull requests": "mcp__github__merge_pull_request",
        "resizing images": "resize_image",
        "forecasts": "weather-forecast",
    },
    "typos": {
        "craete isseu": "mcp__github__create_issue",
        "wether forcast": "weather-forecast",
        "databse querry": "query_database",
        "send emial": "sendEmail",
    },
    "camel case, snake case and words run together": {
        "postMessage": "slack.postMessage",
        "post message": "slack.postMessage",
        "mergePullRequest": "mcp__github__merge_pull_request",
        "send_email": "sendEmail",
        "pullrequest merge": "mcp__github__merge_pull_request",
    },
    "other scripts": {"附近餐厅": "搜索餐厅", "перевод текстов": "перевести_текст", "城市": "搜索餐厅"},
    "a parameter": {"recipient": "sendEmail"},
}


@pytest.mark.parametrize("kind", FOUND_FIRST)
def test_words_unlike_the_tools_own_find_it(index: ToolIndex, kind: str) -> None:
    assert {query: first(index, query) for query in FOUND_FIRST[kind]} == FOUND_FIRST[kind]


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("new ticket", "mcp__github__create_issue"),
        ("pr", "mcp__github__merge_pull_request"),
        ("db", "query_database"),
        ("shrink picture", "resize_image"),
    ],
)
def test_synonyms_and_abbreviations_find_the_tool(query: str, name: str) -> None:
    assert ToolIndex(CATALOG).search(query, 1, floor=0)[0].name == name


def test_the_full_name_of_a_tool_finds_it_first(index: ToolIndex) -> None:
    assert [first(index, document.name) for document in CATALOG] == [document.name for document in CATALOG]


@pytest.mark.parametrize(
    "query",
    [
        "",
        "   ",
        "?!",
        "the of and",
        "zzqx vrrp",
        "photosynthesis chlorophyll",
        "cook dinner for my grandmother tonight",
    ],
)
def test_a_query_that_no_tool_fits_finds_nothing(index: ToolIndex, query: str) -> None:
    assert index.search(query, 5) == []


def test_a_floor_of_zero_takes_whatever_matches(index: ToolIndex) -> None:
    query = "quarterly archaeology symposium pixels"
    assert index.search(query, 5) == []
    assert [hit.name for hit in index.search(query, 5, floor=0)] == ["resize_image"]


def test_details_that_no_tool_knows_do_not_hide_the_tool(index: ToolIndex) -> None:
    assert first(index, "create issue titled Kaboom in acme/rocket assigned to wile") == "mcp__github__create_issue"


def test_a_word_that_every_tool_has_still_finds_them() -> None:
    every = ToolIndex(Document(f"github_{verb}", "hub", "", {}) for verb in ("star", "fork", "watch"))
    assert [hit.name for hit in every.search("github", 5)] == ["github_fork", "github_star", "github_watch"]


def test_a_part_of_a_name_finds_it_when_no_word_does(index: ToolIndex) -> None:
    assert index.search("ithub__cre", 5) == [Scored("mcp__github__create_issue", 0.0)]


def test_hits_come_best_first_and_ties_by_name() -> None:
    tied = ToolIndex(Document(name, "", "same words here", {}) for name in ("b1x", "a1x", "d1x", "c1x"))
    assert [hit.name for hit in tied.search("same words", 3)] == ["a1x", "b1x", "c1x"]


def test_the_order_of_adding_does_not_matter() -> None:
    forward, backward = ToolIndex(CATALOG), ToolIndex(reversed(CATALOG))
    for query in ("issue", "get repository text", "city"):
        assert forward.search(query, 5, floor=0) == backward.search(query, 5, floor=0)


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_gives_nothing(index: ToolIndex, limit: int) -> None:
    assert index.search("issue", limit) == []


def test_an_empty_index_finds_nothing() -> None:
    assert ToolIndex().search("issue", 5) == []
    assert ToolIndex().nearest("issue") == []


def test_a_longer_answer_begins_with_the_shorter_one(index: ToolIndex) -> None:
    assert index.search("github issue", 10)[:2] == index.search("github issue", 2)


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"properties": None},
        {"properties": {"a": True}},
        {"properties": {"a": {"enum": 3, "description": 4, "items": []}}},
        {"properties": {1: {"properties": {"deep": {"items": {"properties": {"deeper": {}}}}}}}},
    ],
)
def test_a_strange_schema_is_indexed_as_far_as_it_goes(schema: dict[str, Any]) -> None:
    assert ToolIndex([Document("odd_tool", "odd", "Strange.", schema)]).search("odd strange", 1)


def test_a_schema_that_contains_itself_is_indexed() -> None:
    schema: dict[str, Any] = {"properties": {}}
    schema["properties"]["self"] = schema
    assert ToolIndex([Document("loop", "x", "", schema)]).search("loop", 1)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("mcp__github__create_isue", "mcp__github__create_issue"),
        ("MCP__GITHUB__CREATE_ISSUE", "mcp__github__create_issue"),
        ("create_issue", "mcp__github__create_issue"),
        ("createIssue", "mcp__github__create_issue"),
        ("slack_post_message", "slack.postMessage"),
        ("send_emial", "sendEmail"),
    ],
)
def test_a_near_miss_of_a_name_is_told_what_was_meant(index: ToolIndex, written: str, meant: str) -> None:
    assert index.nearest(written)[0] == meant


def test_a_name_like_no_other_has_no_near_miss(index: ToolIndex) -> None:
    assert index.nearest("zzzzzzzz") == []


def test_a_document_of_the_same_name_is_replaced() -> None:
    index = ToolIndex([Document("tool", "x", "walrus", {})])
    index.add([Document("tool", "x", "penguin", {})])
    assert len(index) == 1
    assert index.search("walrus", 5) == []
    assert [hit.name for hit in index.search("penguin", 5)] == ["tool"]


def test_documents_may_come_from_a_search_of_the_same_index() -> None:
    index = ToolIndex(CATALOG)
    index.remove(hit.name for query in ("issue", "email") for hit in index.search(query, 5))
    assert index.search("issue", 5) == index.search("email", 5) == []


def test_a_removed_document_is_found_no_more() -> None:
    index = ToolIndex(CATALOG)
    index.remove(["sendEmail", "never there"])
    assert len(index) == len(CATALOG) - 1
    assert "sendEmail" not in {hit.name for hit in index.search("send email inbox", 20, floor=0)}
    assert "sendEmail" not in index.nearest("sendEmail")


SYLLABLES = st.sampled_from(
    ["list", "issue", "issues", "isue", "repo", "mail", "image", "getData", "天气", "file_system"]
)
TEXTS = st.lists(SYLLABLES, max_size=4).map(" ".join)
DOCUMENTS = st.builds(
    Document,
    name=st.sampled_from(["a_list", "b_issue", "getMail", "d", "mcp__x__e"]),
    source=st.sampled_from(["x", "mail", ""]),
    description=TEXTS,
    parameters=TEXTS.map(lambda text: {"properties": {word: {} for word in text.split()}}),
)


@given(
    steps=st.lists(st.one_of(st.lists(DOCUMENTS, max_size=3), st.sampled_from(["a_list", "getMail"])), max_size=8),
    query=TEXTS,
)
def test_an_index_that_changed_step_by_step_answers_like_a_new_one(
    steps: list[list[Document] | str], query: str
) -> None:
    changed = ToolIndex()
    kept: dict[str, Document] = {}
    for step in steps:
        changed.search("mial isue", 2)  # what is derived on the way must not stay
        changed.nearest("a_lits")
        if isinstance(step, str):
            changed.remove([step])
            kept.pop(step, None)
        else:
            changed.add(step)
            kept.update((document.name, document) for document in step)
    rebuilt = ToolIndex(kept.values())
    assert len(changed) == len(rebuilt)
    assert changed.nearest("a_lits") == rebuilt.nearest("a_lits")
    for floor in (0.0, 0.18):
        assert changed.search(query, 3, floor=floor) == rebuilt.search(query, 3, floor=floor)


def test_an_index_that_lost_most_of_its_documents_answers_like_a_new_one() -> None:
    many = [Document(f"tool_{n}", "x", f"number {n} walrus", {}) for n in range(300)]
    index = ToolIndex(many)
    index.remove(document.name for document in many[5:])
    assert index.search("walrus number", 9) == ToolIndex(many[:5]).search("walrus number", 9)


@given(
    corpus=st.lists(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=12), min_size=1, max_size=12),
    query=st.lists(st.sampled_from("abcdefz"), max_size=5),
)
def test_with_one_field_the_scores_are_those_of_rank_bm25(corpus: list[list[str]], query: list[str]) -> None:
    ours = FieldedBM25([Field(1.0, b=0.6)], k1=1.4)
    for document in corpus:
        ours.append([document])
    theirs = BM25Plus(corpus, k1=1.4, b=0.6, delta=0)
    np.testing.assert_allclose(ours.get_scores(query), theirs.get_scores(query), rtol=1e-9)


def test_more_fields_than_there_is_room_for_are_refused() -> None:
    with pytest.raises(ValueError, match="at most 8 fields"):
        FieldedBM25([Field()] * 9)


def test_searching_while_documents_come_and_go_sees_each_change_whole() -> None:
    index = ToolIndex(CATALOG)
    pair = [Document("walrus_left", "zoo", "tusk", {}), Document("walrus_right", "zoo", "tusk", {})]
    stop = threading.Event()
    seen: set[int] = set()
    failures: list[BaseException] = []

    def look() -> None:
        try:
            while not stop.is_set():
                seen.add(len(index.search("walrus tusk", 5)))
                index.nearest("walrus_lefd")
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=look) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(200):
        index.add(pair)
        index.remove(document.name for document in pair)
    stop.set()
    for thread in threads:
        thread.join()
    assert not failures
    assert seen <= {0, 2}
