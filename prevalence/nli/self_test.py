"""Golden pairs beside the weights of a model, asked before it scores anything on a machine.

    {"digest": "...", "pairs": [{"premise": "...", "hypothesis": "...",
                                 "entailment": 0.97, "contradiction": 0.01}, ...]}

A damaged file or a broken library then cannot give quiet nonsense. The file changes no probability,
so it is in no digest. `prevalence train` writes it; for another checkpoint it is written by

    python -m prevalence.nli.self_test FOLDER
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from prevalence.errors import ModelError, PrevalenceError
from prevalence.nli.pairs import PairScores, TextTable
from prevalence.signature import package_version

if TYPE_CHECKING:
    from prevalence.nli.scorer import NLIScorer

__all__ = ["GOLDEN_FILE", "forget_tests", "self_test", "write_golden"]

GOLDEN_FILE = "golden.json"

_REVIEW = (
    "I bought these boots for a trip to Norway — naïve, maybe, but they kept my feet dry in two "
    "days of rain. The laces broke after a week, and the left heel rubs. The shop's staff were "
    "rude, so I'd order online next time. 5/5 for the soles: \"grippy\" doesn't cover it! 😀"
)
_PAIRS = (
    (_REVIEW, "The boots are waterproof."),
    (_REVIEW, "The boots let water in."),
    (_REVIEW, "The staff were friendly."),
    (_REVIEW, "The laces are weak."),
    (_REVIEW, "The price is low."),
    ("The battery lasts all day, and it charges in an hour.", "Its battery life is good."),
    ("It stopped working after two days and nobody answered my mails.", "It works perfectly."),
    ("I bought a lamp.", "It lights the whole room."),
)
"""What is asked: yes, no and neither, two shared texts, and characters beyond ASCII."""

_FLOAT32 = 1e-3
"""A hundred times what machines differ by, and far below what turns a decision at random."""
_READ_WHOLE = 128
"""Tokens of a premise that hold any of the pairs."""
_MARKS = "self-tests"


class _Golden(NamedTuple):
    digest: str
    pairs: list[tuple[str, str]]
    expected: np.ndarray[Any, np.dtype[np.float64]]


def self_test(scorer: NLIScorer, *, marks: Path | str | None = None) -> bool:
    """Hold a scorer's answers to the golden pairs against those stored beside its weights.

    The answers may differ by .001 in float32, and in half precision by what rounding is allowed
    to move a probability.

    Args:
        scorer: just opened.
        marks: folder of a cache, where a test that was passed is remembered for this version of
            the libraries, weights, settings and machine; None asks each time.

    Returns:
        Whether the pairs were asked: not where no file lies beside the weights, where the scorer
        reads in a way that the file says nothing of, or where the test was passed before.

    Raises:
        ModelError: an answer differs, or the file cannot be read.
    """
    file = scorer.checkpoint.folder / GOLDEN_FILE
    if not file.is_file() or _reads_otherwise(scorer):
        return False
    content = _content(file)
    mark = None if marks is None else Path(marks).expanduser() / _MARKS / _key(scorer, content)
    # Path.exists raises where a folder cannot be searched.
    if mark is not None and os.path.exists(mark):
        return False
    golden = _parsed(content, file)
    found = _answers(scorer, golden.pairs)
    _compare(scorer, golden, found)
    if mark is not None:
        # Where it cannot be kept, the next run asks again.
        with suppress(OSError):
            mark.parent.mkdir(parents=True, exist_ok=True)
            mark.touch()
    return True


def forget_tests(marks: Path) -> int:
    """Forget the tests that were passed, in the folder of a cache; how many those were."""
    kept = [*(marks.expanduser() / _MARKS).glob("*")]
    for mark in kept:
        mark.unlink(missing_ok=True)
    return len(kept)


def write_golden(folder: Path) -> int:
    """Write the answers of the checkpoint in a folder, in float32 on the CPU, beside it.

    Returns:
        The number of pairs; those that it cannot read whole are left out.

    Raises:
        ModelError: the checkpoint is unusable.
    """
    from prevalence.nli.scorer import NLIScorer

    scorer = NLIScorer(str(folder), device="cpu")
    found = _answers(scorer, _PAIRS)
    pairs = [
        {
            "premise": premise,
            "hypothesis": hypothesis,
            "entailment": round(yes, 6),
            "contradiction": None if np.isnan(no) else round(no, 6),
        }
        for (premise, hypothesis), yes, no, flags in zip(
            _PAIRS, found.entailment.tolist(), found.contradiction.tolist(), found.flags.tolist(),
            strict=True,
        )
        if not flags
    ]  # fmt: skip
    record = {"digest": scorer.checkpoint.digest.hex(), "pairs": pairs}
    text = json.dumps(record, ensure_ascii=False, indent=1) + "\n"
    (folder / GOLDEN_FILE).write_text(text, encoding="utf-8")
    return len(pairs)


def _reads_otherwise(scorer: NLIScorer) -> bool:
    """Whether classes are named by the user, or windows so short that they would part a review."""
    signature = scorer.traits.signature
    short = scorer.checkpoint.max_length < _READ_WHOLE
    return "labels" in signature or (short and signature["gran"] != "document")


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise ModelError(f"{file}: {error.strerror or error}") from error


def _key(scorer: NLIScorer, content: bytes) -> str:
    """Names all that a passed test depends on."""
    import tokenizers
    import torch
    import transformers

    device = next(scorer.checkpoint.model.parameters()).device
    parts = (
        package_version(), torch.__version__, transformers.__version__, tokenizers.__version__,
        np.__version__, platform.python_version(), platform.node(), platform.machine(),
        torch.cuda.get_device_name(device) if device.type == "cuda" else device.type,
        scorer.reader.kind,
    )  # fmt: skip
    hasher = hashlib.blake2b(scorer.traits.digest + content, digest_size=16)
    hasher.update("\0".join(parts).encode())
    return hasher.hexdigest()


def _parsed(content: bytes, file: Path) -> _Golden:
    try:
        record = json.loads(content)
        rows = [
            (str(row["premise"]), str(row["hypothesis"]), float(row["entailment"]),
             float("nan") if row["contradiction"] is None else float(row["contradiction"]))
            for row in record["pairs"]
        ]  # fmt: skip
        expected = np.array([row[2:] for row in rows], np.float64).reshape(-1, 2)
        return _Golden(str(record["digest"]), [row[:2] for row in rows], expected)
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise ModelError(
            f"{file}: holds no golden pairs ({type(error).__name__}); reinstall prevalence, or "
            "write it again: python -m prevalence.nli.self_test FOLDER"
        ) from error


def _answers(scorer: NLIScorer, pairs: Any) -> PairScores:
    texts = TextTable()
    numbers = [(texts.add(premise), texts.add(hypothesis)) for premise, hypothesis in pairs]
    return scorer.score(texts, np.array(numbers, np.int64).reshape(-1, 2))


def _compare(scorer: NLIScorer, golden: _Golden, found: PairScores) -> None:
    # A shift of d in the log-odds moves a probability by d/4 at most.
    tolerance = _FLOAT32 + scorer.traits.doubt / 4
    given = np.stack([found.entailment, found.contradiction], axis=1).astype(np.float64)
    gaps = np.abs(given - golden.expected)
    gaps[found.flags > 0] = 0.0
    if not (gaps > tolerance).any():
        return
    row, column = np.unravel_index(np.nanargmax(gaps), gaps.shape)
    what = ("entailment", "contradiction")[column]
    checkpoint = scorer.checkpoint
    raise ModelError(
        f"{checkpoint.name}: self-test failed: P({what}) of golden pair {row + 1} is "
        f"{given[row, column]:.4f} and should be {golden.expected[row, column]:.4f}; "
        + _advice(checkpoint.digest.hex() == golden.digest, checkpoint.folder)
    )


def _advice(as_written: bool, folder: Path) -> str:
    if not as_written:
        return (
            f"the files in {folder} are damaged or were changed: reinstall them, or, where they "
            f"were changed on purpose, run python -m prevalence.nli.self_test {folder}"
        )
    import torch
    import transformers

    return (
        f"the files are right, so torch {torch.__version__} or transformers "
        f"{transformers.__version__} computes wrongly here: install the versions of "
        "constraints.txt, or try device='cpu' or --device cpu"
    )


def _main(folders: list[str]) -> int:
    if not folders:
        print("usage: python -m prevalence.nli.self_test FOLDER...", file=sys.stderr)
        return 2
    try:
        for folder in folders:
            print(f"{Path(folder) / GOLDEN_FILE}: {write_golden(Path(folder))} pairs")
    except (PrevalenceError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
