"""Search by meaning: a small static embedding model beside the words, from files that are already here.

Nothing is downloaded. The default model ships inside the wheel of WordLlama (`hermes-nb[semantic]`); another
comes from a folder in the format of model2vec. Both are tables of token vectors: an embedding is a mean.
"""

import importlib.util
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from weakref import WeakKeyDictionary

import numpy as np

from hermes_nb.search.engine.document import Document, bare_name
from hermes_nb.search.engine.words import words

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

_MAX_DESCRIPTION = 300  # what comes later is seldom about what the tool is for
_MAX_QUERY = 2_000
_BATCH = 512
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SEPARATORS = re.compile(r"[\W_]+")


class SemanticModel(Protocol):
    """Anything that turns texts into vectors: the models of this module, or one of your own."""

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Give one vector of length 1 for each text, as rows; zeros for a text without meaning."""
        ...


class StaticModel:
    """A table of token vectors, averaged over the tokens of a text."""

    def __init__(self, vectors: "NDArray[np.float32]", tokenizer: "Tokenizer") -> None:
        tokenizer.no_padding()
        tokenizer.no_truncation()
        self._vectors = vectors
        self._tokenizer = tokenizer

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Give one vector of length 1 for each text, as rows; zeros for a text without tokens."""
        out = np.zeros((len(texts), self._vectors.shape[1]), dtype=np.float32)
        for start in range(0, len(texts), _BATCH):
            batch = self._tokenizer.encode_batch(list(texts[start : start + _BATCH]), add_special_tokens=False)
            for row, encoding in enumerate(batch, start):
                if encoding.ids:
                    out[row] = self._vectors[encoding.ids].sum(axis=0)
        lengths: NDArray[np.float32] = np.linalg.norm(out, axis=1, keepdims=True)
        return np.divide(out, np.maximum(lengths, 1e-9), dtype=np.float32)


def load_semantic_model(folder: str | Path | None = None) -> StaticModel:
    """Load a static embedding model from files.

    Args:
        folder: A model in the format of model2vec (`model.safetensors` and `tokenizer.json`); without it, the
            model that WordLlama ships in its wheel.

    Raises:
        ModuleNotFoundError: What the extra `semantic` installs is missing.
        FileNotFoundError: The folder does not hold such a model.
    """
    if folder is None:
        package = _wordllama()
        weights = package / "weights" / "l2_supercat_256.safetensors"
        tokens = package / "tokenizers" / "l2_supercat_tokenizer_config.json"
    else:
        weights, tokens = Path(folder) / "model.safetensors", Path(folder) / "tokenizer.json"
    for file in (weights, tokens):
        if not file.is_file():
            raise FileNotFoundError(f"no embedding model here: {file} is missing")
    try:
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer
    except ModuleNotFoundError as error:
        raise _not_installed() from error
    return StaticModel(_token_vectors(load_file(weights)), Tokenizer.from_file(str(tokens)))


def semantic_installed() -> bool:
    """Say whether the default model is here, without loading it."""
    return importlib.util.find_spec("wordllama") is not None


class Embeddings:
    """The vectors of a catalog's documents, by slot; embedded when first asked for. The caller locks."""

    def __init__(self, model: SemanticModel) -> None:
        self._model = model
        self._known: WeakKeyDictionary[Document, NDArray[np.float32]] = WeakKeyDictionary()
        self._matrix: NDArray[np.float32] | None = None
        self._rows = 0

    def clear(self) -> None:
        """Empty all slots; the documents' vectors stay known."""
        self._rows = 0

    def similarities(self, query: str, documents: Sequence[Document]) -> "NDArray[np.float32]":
        """Give the cosine between a query and the document of each slot."""
        self._extend(documents)
        meaning = " ".join(words(query[:_MAX_QUERY]))
        assert self._matrix is not None
        # Not a matrix product: its threads wait for each other on a busy machine, a hundred times as long as they work.
        cosines: NDArray[np.float32] = np.einsum("ij,j->i", self._matrix[: self._rows], self._model.embed([meaning])[0])
        return cosines

    def _extend(self, documents: Sequence[Document]) -> None:
        new = documents[self._rows :]
        unknown = [document for document in new if document not in self._known]
        if unknown:
            vectors = self._model.embed([_text(document) for document in unknown])
            self._known.update(zip(unknown, vectors, strict=True))
        if self._matrix is None or len(self._matrix) < len(documents):
            # Room to grow, so that a few new documents do not copy the vectors of all.
            width = self._model.embed([""]).shape[1]
            room = np.zeros((len(documents) * 5 // 4, width), dtype=np.float32)
            if self._matrix is not None:
                room[: self._rows] = self._matrix[: self._rows]
            self._matrix = room
        for document in new:
            self._matrix[self._rows] = self._known[document]
            self._rows += 1


def _text(document: Document) -> str:
    name = _spoken(bare_name(document.name, document.source))
    # A name says in few words what a tool is for: said twice, a long description does not drown it.
    return f"{name} {name} {_spoken(document.source)} {document.description[:_MAX_DESCRIPTION]}"


def _spoken(name: str) -> str:
    return _SEPARATORS.sub(" ", _HUMP.sub(" ", name))


def _token_vectors(tensors: "dict[str, NDArray[np.float32]]") -> "NDArray[np.float32]":
    """Give one vector for each token, whichever way a file says it."""
    table = tensors["embeddings"] if "embeddings" in tensors else tensors["embedding.weight"]
    vectors = table.astype(np.float32)
    if "mapping" in tensors:
        vectors = vectors[tensors["mapping"]]
    if "weights" in tensors:
        vectors = vectors * tensors["weights"].astype(np.float32)[:, None]
    return vectors


def _wordllama() -> Path:
    spec = importlib.util.find_spec("wordllama")  # its files are enough: importing it would load an HTTP client
    if spec is None or not spec.submodule_search_locations:
        raise _not_installed()
    return Path(spec.submodule_search_locations[0])


def _not_installed() -> ModuleNotFoundError:
    return ModuleNotFoundError("search by meaning is not installed: pip install 'hermes-nb[semantic]'")
