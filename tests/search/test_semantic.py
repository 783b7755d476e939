"""Search by meaning, beside words."""

import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from hermes_nb.search.engine.index import Document, ToolIndex
from hermes_nb.search.engine.semantic import StaticModel, load_semantic_model, semantic_installed

from ..parts import missing, run
from .catalog import CATALOG

if not semantic_installed():
    missing("wordllama is not installed (pip install 'hermes-nb[semantic]')")


@pytest.fixture(scope="module")
def model() -> StaticModel:
    return load_semantic_model()


@pytest.fixture(scope="module")
def index(model: StaticModel) -> ToolIndex:
    return ToolIndex(CATALOG, semantic=model)


def test_texts_of_one_meaning_are_nearer_than_others(model: StaticModel) -> None:
    rain, storm, invoice = model.embed(["heavy rain", "thunderstorm", "unpaid invoice"])
    assert rain @ storm > rain @ invoice


def test_vectors_have_length_one_and_an_empty_text_none(model: StaticModel) -> None:
    np.testing.assert_allclose(np.linalg.norm(model.embed(["rain", ""]), axis=1), [1, 0], atol=1e-5)


def test_a_meaning_ranks_tools_that_no_word_tells_apart(index: ToolIndex) -> None:
    assert ToolIndex(CATALOG).search("umbrella thunderstorm", 1, floor=0) == []
    assert index.search("umbrella thunderstorm", 1, floor=0)[0].name == "weather-forecast"


def test_words_still_count(index: ToolIndex) -> None:
    assert index.search("merge pull request", 1)[0].name == "mcp__github__merge_pull_request"


@pytest.mark.parametrize("query", ["", "zzqx vrrp", "photosynthesis chlorophyll"])
def test_a_query_that_no_tool_fits_finds_nothing(index: ToolIndex, query: str) -> None:
    assert index.search(query, 5) == []


def test_an_index_that_changed_answers_like_a_new_one(model: StaticModel) -> None:
    changed = ToolIndex(CATALOG[:4], semantic=model)
    changed.search("issue", 3)
    changed.add(CATALOG[4:])
    changed.remove([CATALOG[0].name, CATALOG[5].name])
    rebuilt = ToolIndex([document for document in CATALOG if document not in (CATALOG[0], CATALOG[5])], semantic=model)
    for query in ("ticket", "rain in Oslo", "database"):
        ours, theirs = changed.search(query, 5, floor=0), rebuilt.search(query, 5, floor=0)
        assert [hit.name for hit in ours] == [hit.name for hit in theirs]
        np.testing.assert_allclose([hit.score for hit in ours], [hit.score for hit in theirs], rtol=1e-5)


def test_a_removed_tool_is_not_found_by_its_meaning(model: StaticModel) -> None:
    index = ToolIndex(CATALOG, semantic=model)
    index.remove(["weather-forecast"])
    assert "weather-forecast" not in {hit.name for hit in index.search("umbrella thunderstorm", 20, floor=0)}


def test_an_index_that_lost_most_of_its_documents_still_knows_their_meaning(model: StaticModel) -> None:
    index = ToolIndex(CATALOG, semantic=model)
    index.search("warm up", 1)
    many = [Document(f"tool_{n}", "x", f"number {n}", {}) for n in range(200)]
    index.add(many)
    index.remove(document.name for document in many)
    assert index.search("umbrella thunderstorm", 1, floor=0)[0].name == "weather-forecast"


def test_an_empty_index_finds_nothing(model: StaticModel) -> None:
    assert ToolIndex(semantic=model).search("rain", 5) == []


def test_a_model_of_your_own_will_do() -> None:
    class Likes:
        def embed(self, texts: list[str]) -> np.ndarray:
            return np.array([[1.0, 0.0] if "inbox" in text else [0.0, 1.0] for text in texts], dtype=np.float32)

    assert ToolIndex(CATALOG, semantic=Likes()).search("inbox", 1)[0].name == "sendEmail"


@pytest.fixture
def model_folder(tmp_path: Path) -> Path:
    from safetensors.numpy import save_file
    from tokenizers import Tokenizer, models, pre_tokenizers

    tokenizer = Tokenizer(models.WordLevel({"rain": 0, "wet": 1, "bill": 2, "[UNK]": 3}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    table = np.array([[1, 0], [0, 1], [0, 0]], dtype=np.float32)
    tensors = {
        "embeddings": table,
        "mapping": np.array([0, 0, 1, 2]),
        "weights": np.array([1.0, 2.0, 1.0, 1.0]),
    }
    save_file(tensors, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text(json.dumps({"normalize": True}))
    return tmp_path


def test_a_model_comes_from_a_folder(model_folder: Path) -> None:
    vectors = load_semantic_model(model_folder).embed(["rain", "wet", "bill", "unheard"])
    np.testing.assert_allclose(vectors, [[1, 0], [1, 0], [0, 1], [0, 0]], atol=1e-6)


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"model\.safetensors is missing"):
        load_semantic_model(tmp_path)


def test_without_the_extra_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert not semantic_installed()
    with pytest.raises(ModuleNotFoundError, match=r"hermes-nb\[semantic\]"):
        load_semantic_model()


def test_the_model_loads_neither_torch_nor_an_http_client() -> None:
    code = (
        "import sys; from hermes_nb.search.engine.semantic import load_semantic_model as load; load().embed(['x']);"
        "print([name for name in ('torch', 'requests', 'httpx', 'wordllama') if name in sys.modules])"
    )
    done = run(sys.executable, "-c", code)
    assert done.stdout.strip() == "[]"
