"""How well and how fast tools are found: `python -m benchmarks.retrieval FOLDER [--peer PYTHON]`.

FOLDER holds tools.jsonl and queries.jsonl (or .gz). A tool has name, toolset, description, parameters and
catalogs; a query has id, query, gold, catalog, kind and perhaps alts, which maps a gold name to equally right
ones. PYTHON is the interpreter of an environment with hermes-agent in it.
"""

import argparse
import gzip
import json
import re
import statistics
import subprocess
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from hermes_nb.search.engine.index import DEFAULT_FLOOR, Document, ToolIndex
from hermes_nb.search.engine.semantic import SemanticModel, load_semantic_model, semantic_installed

Record = dict[str, Any]
Search = Callable[[str, int], list[str]]

SUMMARIES = {"FOCUS": ("short", "model"), "LONG": ("orig",), "MULTI": ("multi",)}
DEPTHS = (1, 5, 20)
FLOORS = (0.0, 0.1, 0.12, 0.14, 0.16, 0.18, 0.2, 0.22, 0.25, 0.3)
FEWEST_QUERIES = 30  # a group with fewer says nothing
PEER_SCRIPT = Path(__file__).with_name("peer_retrieval.py")


def lexical(tools: list[Record]) -> Search:
    return _searcher(ToolIndex(_documents(tools)))


def hybrid(tools: list[Record]) -> Search:
    return _searcher(ToolIndex(_documents(tools), semantic=load_semantic_model()))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--peer", metavar="PYTHON", help="also time hermes-agent, installed for this interpreter")
    options = parser.parse_args(arguments)
    catalogs, queries = load(options.folder)
    unrelated = unrelated_catalogs(catalogs, queries)
    models: dict[str, SemanticModel | None] = {"lexical": None}
    if semantic_installed():
        models["hybrid"] = load_semantic_model()
    for name, model in models.items():
        print(f"\n## {name}\n")
        indexes = {catalog: ToolIndex(_documents(tools), semantic=model) for catalog, tools in catalogs.items()}
        print_recall(indexes, queries)
        print_floors(indexes, queries, unrelated)
        print_speed(catalogs, queries, model, options.peer)


def load(folder: Path) -> tuple[dict[str, list[Record]], list[Record]]:
    catalogs: dict[str, list[Record]] = defaultdict(list)
    for tool in _records(folder, "tools.jsonl"):
        for catalog in tool["catalogs"]:
            catalogs[catalog].append(tool)
    return dict(catalogs), list(_records(folder, "queries.jsonl"))


def unrelated_catalogs(catalogs: dict[str, list[Record]], queries: list[Record]) -> list[tuple[str, str]]:
    """Give the pairs of a catalog that has queries and one that shares no tool with it."""
    names = {catalog: {tool["name"] for tool in tools} for catalog, tools in catalogs.items()}
    asked = {query["catalog"] for query in queries if query["kind"] in SUMMARIES["FOCUS"]}
    return [(a, b) for a in sorted(asked) for b in sorted(names) if names[a].isdisjoint(names[b])]


def recall(query: Record, found: Sequence[str]) -> float:
    alternatives = query.get("alts") or {}
    hits = sum(not {gold, *alternatives.get(gold, ())}.isdisjoint(found) for gold in query["gold"])
    return hits / len(query["gold"])


def mean_recall(groups: dict[str, list[tuple[Record, list[str]]]], depth: int) -> float:
    """Average over groups of queries the average over each group."""
    return statistics.fmean(
        statistics.fmean(recall(query, found[:depth]) for query, found in group) for group in groups.values()
    )


def print_recall(indexes: dict[str, ToolIndex], queries: list[Record]) -> None:
    print("| queries | recall@1 | @5 | @20 |\n|---|---|---|---|")
    for summary in SUMMARIES:
        groups = answers(indexes, queries, summary, max(DEPTHS), DEFAULT_FLOOR)
        if groups:
            cells = " | ".join(f"{mean_recall(groups, depth):.4f}" for depth in DEPTHS)
            print(f"| {summary} | {cells} |")


def answers(
    indexes: dict[str, ToolIndex], queries: list[Record], summary: str, limit: int, floor: float
) -> dict[str, list[tuple[Record, list[str]]]]:
    """Ask a summary's queries, in groups by catalog; those of a merged catalog also by their origin."""
    by_kind: dict[tuple[str, str], list[tuple[Record, list[str]]]] = defaultdict(list)
    for query in queries:
        if query["kind"] in SUMMARIES[summary]:
            catalog = query["catalog"]
            origin = f"/{query['id'].split('-')[0]}" if catalog.startswith("mcp-all") else ""
            hits = indexes[catalog].search(query["query"], limit, floor=floor)
            by_kind[catalog + origin, query["kind"]].append((query, [hit.name for hit in hits]))
    groups: dict[str, list[tuple[Record, list[str]]]] = defaultdict(list)
    for (group, _), asked in by_kind.items():
        if len(asked) >= FEWEST_QUERIES:
            groups[group] += asked
    return groups


def print_floors(indexes: dict[str, ToolIndex], queries: list[Record], unrelated: list[tuple[str, str]]) -> None:
    """Print what a floor costs in recall, and how often it says that nothing fits where nothing does."""
    short: dict[str, list[str]] = defaultdict(list)
    for query in queries:
        if query["kind"] in SUMMARIES["FOCUS"]:
            short[query["catalog"]].append(query["query"])
    print("\n| floor | FOCUS recall@5 | queries of another catalog answered with nothing |\n|---|---|---|")
    for floor in FLOORS:
        kept = mean_recall(answers(indexes, queries, "FOCUS", 5, floor), 5)
        empty = [
            statistics.fmean(not indexes[catalog].search(text, 5, floor=floor) for text in short[origin])
            for origin, catalog in unrelated
        ]
        share = f"{statistics.fmean(empty):.3f}" if empty else "–"
        print(f"| {floor:.2f}{' (default)' if floor == DEFAULT_FLOOR else ''} | {kept:.4f} | {share} |")


def print_speed(
    catalogs: dict[str, list[Record]], queries: list[Record], model: SemanticModel | None, peer: str | None
) -> None:
    catalog, tools = max(catalogs.items(), key=lambda item: len(item[1]))
    texts = [q["query"] for q in queries if q["kind"] in SUMMARIES["FOCUS"] and q["catalog"] == catalog]
    documents = _documents(tools)
    started = time.perf_counter()
    index = ToolIndex(documents[:-10], semantic=model)
    index.search(texts[0], 5)
    build = time.perf_counter() - started
    index.search("misspeled", 5)  # the words' spelling is learned once, with the first word that nobody knows
    spelling = time.perf_counter() - started - build
    started = time.perf_counter()
    for text in texts:
        index.search(text, 5)
    warm = (time.perf_counter() - started) / len(texts)
    changes = []
    for text in texts[:20]:
        index.remove(document.name for document in documents[-10:])
        new = _documents(tools[-10:])
        started = time.perf_counter()
        index.add(new)
        index.search(text, 5)
        changes.append(time.perf_counter() - started)
    figures = {
        "build and first query": build,
        "first unknown word": spelling,
        "query": warm,
        "add 10 tools, then query": statistics.fmean(changes),
    }
    print(f"\n| at {len(tools):,} tools | ms |\n|---|---|")
    for name, seconds in figures.items():
        print(f"| {name} | {seconds * 1e3:.2f} |")
    if peer:
        seconds = _peer_seconds(peer, tools, texts[:5])
        print(f"| the peer's query, which indexes anew | {seconds * 1e3:.2f} ({seconds / warm:.0f} times) |")


def _peer_seconds(python: str, tools: list[Record], texts: list[str]) -> float:
    work = json.dumps({"tools": tools, "queries": texts})
    done = subprocess.run([python, PEER_SCRIPT], input=work, capture_output=True, text=True, check=True)
    return float(done.stdout.splitlines()[-1])


def _documents(tools: list[Record]) -> list[Document]:
    return [
        Document(t["name"], re.sub(r"^(mcp|plugin)-", "", t["toolset"]), t["description"], t["parameters"])
        for t in tools
    ]


def _searcher(index: ToolIndex) -> Search:
    return lambda query, limit: [hit.name for hit in index.search(query, limit)]


def _records(folder: Path, name: str) -> Iterator[Record]:
    packed = folder / f"{name}.gz"
    text = gzip.decompress(packed.read_bytes()) if packed.exists() else (folder / name).read_bytes()
    return map(json.loads, text.splitlines())


if __name__ == "__main__":
    main()
