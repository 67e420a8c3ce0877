"""The scorer against one-pair-at-a-time Hugging Face calls, and what it refuses."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prevalence.errors import BackendError, ConfigurationError, ModelError
from prevalence.nli.cache import CachedScorer, PairCache
from prevalence.nli.pairs import FLAG_TOO_LONG, FLAG_TRUNCATED, PairScorer, PairScores, TextTable
from prevalence.nli.scorer import NLIScorer

if TYPE_CHECKING:
    from pathlib import Path

LIMIT = 64
LONG = "The boots kept my feet dry, even in deep snow! " * 12

Pairs = Sequence[tuple[str, str]]
Number = Callable[[Pairs], tuple[TextTable, np.ndarray]]


@pytest.fixture(scope="module")
def answers(
    scorers: Callable[..., NLIScorer],
    pairs: Pairs,
    number: Number,
) -> Callable[[str], PairScores]:
    """The answers of a family's scorer to all pairs, computed once."""
    return lru_cache(lambda family: scorers(family).score(*number(pairs)))


@pytest.mark.parity
@pytest.mark.parametrize("family", ["bert", "roberta", "deberta-v2", "bart", "gpt2"])
def test_equals_hugging_face_pair_by_pair(
    *,
    family: str,
    scorers: Callable[..., NLIScorer],
    checkpoint: Callable[..., Path],
    hf_pairs: Callable[..., np.ndarray],
    pairs: Pairs,
    number: Number,
) -> None:
    expected = hf_pairs(checkpoint(family), pairs)
    assert np.ptp(expected, axis=0).max() > 0.1  # the untrained heads do tell pairs apart
    found = scorers(family).score(*number(pairs))
    np.testing.assert_allclose(found.entailment, expected[:, 2], rtol=0, atol=1e-5)
    np.testing.assert_allclose(found.contradiction, expected[:, 0], rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    ("labels", "entailment", "contradiction"),
    [
        (("entailment", "neutral", "contradiction"), 0, 2),
        (("CONTRADICTION", "ENTAILMENT", "NEUTRAL"), 1, 0),
        (("SUPPORTS", "REFUTES", "NOT ENOUGH INFO"), 0, 1),
        (("not_entailment", "entailment"), 1, None),
        (("entailment",), 0, None),
    ],
)
def test_label_orders(
    *,
    labels: tuple[str, ...],
    entailment: int,
    contradiction: int | None,
    scorers: Callable[..., NLIScorer],
    checkpoint: Callable[..., Path],
    hf_pairs: Callable[..., np.ndarray],
    pairs: Pairs,
    number: Number,
) -> None:
    expected = hf_pairs(checkpoint("bert", labels), pairs)
    scorer = scorers("bert", labels=labels)
    found = scorer.score(*number(pairs))
    np.testing.assert_allclose(found.entailment, expected[:, entailment], rtol=0, atol=1e-5)
    assert scorer.traits.three_way == (contradiction is not None)
    if contradiction is None:
        assert np.isnan(found.contradiction).all()
    else:
        np.testing.assert_allclose(
            found.contradiction, expected[:, contradiction], rtol=0, atol=1e-5
        )


def test_unnamed_labels_need_an_order(
    altered: Callable[..., Path],
    scorers: Callable[..., NLIScorer],
    pairs: Pairs,
    number: Number,
) -> None:
    folder = altered("bert", "config.json", id2label=None, label2id=None, num_labels=3)
    with pytest.raises(ModelError, match=r"'LABEL_0'.*--labels"):
        NLIScorer(str(folder))
    order = ["contradiction", "neutral", "entailment"]
    named = NLIScorer(str(folder), device="cpu", labels=order)
    assert named.traits.signature["labels"] == "e2c0of3"
    assert "labels" not in scorers("bert").traits.signature
    np.testing.assert_array_equal(
        named.score(*number(pairs)).entailment, scorers("bert").score(*number(pairs)).entailment
    )
    swapped = NLIScorer(str(folder), device="cpu", labels=order[::-1])
    assert swapped.traits.digest != named.traits.digest
    with pytest.raises(ModelError, match=r"2 classes are named .*, the model has 3"):
        NLIScorer(str(folder), labels=["entailment", "not_entailment"])


@settings(
    deadline=None,
    max_examples=20,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data(), budget=st.integers(1, 3_000))
def test_order_batches_and_repetition_change_nothing(
    *,
    data: st.DataObject,
    budget: int,
    family: str,
    scorers: Callable[..., NLIScorer],
    answers: Callable[[str], PairScores],
    pairs: Pairs,
    number: Number,
) -> None:
    scorer = scorers(family)
    table, numbers = number(pairs)
    expected = answers(family)
    rows = np.array(data.draw(st.lists(st.integers(0, len(pairs) - 1), max_size=16)), np.int64)
    usual, scorer.batch_tokens = scorer.batch_tokens, budget
    try:
        found = scorer.score(table, numbers[rows])
    finally:
        scorer.batch_tokens = usual
    np.testing.assert_allclose(found.entailment, expected.entailment[rows], rtol=0, atol=1e-5)
    np.testing.assert_allclose(found.contradiction, expected.contradiction[rows], rtol=0, atol=1e-5)
    np.testing.assert_array_equal(found.flags, expected.flags[rows])


def test_truncation_is_flagged_exactly(
    family: str,
    scorers: Callable[..., NLIScorer],
    pairs: Pairs,
    number: Number,
) -> None:
    scorer = scorers(family)
    tokenizer = scorer.checkpoint.tokenizer
    assert scorer.checkpoint.max_length == LIMIT
    expected = [len(tokenizer([p], [h])["input_ids"][0]) > LIMIT for p, h in pairs]
    assert 0 < sum(expected) < len(pairs)
    flags = scorer.score(*number(pairs)).flags
    assert (flags == FLAG_TRUNCATED).tolist() == expected


def test_longest_first_is_what_the_tokenizer_does(
    checkpoint: Callable[..., Path], family: str, number: Number
) -> None:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    folder = checkpoint(family)
    scorer = NLIScorer(str(folder), device="cpu", at_most=40, truncation="longest-first")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    given_pairs = [(LONG, "dry feet"), ("dry feet", LONG), (LONG, LONG[9:]), ("dry", "feet")]
    expected = []
    for premise, hypothesis in given_pairs:
        inputs = tokenizer(
            premise, hypothesis, truncation="longest_first", max_length=40, return_tensors="pt"
        )
        with torch.inference_mode():
            expected.append(model(**inputs).logits[0].softmax(0)[2].item())
    found = scorer.score(*number(given_pairs))
    np.testing.assert_allclose(found.entailment, expected, rtol=0, atol=1e-5)
    assert found.flags.tolist() == [FLAG_TRUNCATED] * 3 + [0]
    assert scorer.traits.signature["trunc"] == "40-longest"


def test_a_limit_at_most_leaves_a_shorter_one_alone(checkpoint: Callable[..., Path]) -> None:
    folder = str(checkpoint("bert"))
    assert NLIScorer(folder, device="cpu", at_most=500).traits.signature["trunc"] == str(LIMIT)
    assert NLIScorer(folder, device="cpu", at_most=20).traits.signature["trunc"] == "20"


def test_hypothesis_too_long_for_any_premise(
    scorers: Callable[..., NLIScorer],
    number: Number,
) -> None:
    finished: list[int] = []
    given_pairs = [("Good.", "They run small."), ("Good.", LONG), ("", LONG)]
    found = scorers("bert").score(*number(given_pairs), progress=finished.append)
    assert found.flags.tolist() == [0, FLAG_TOO_LONG, FLAG_TOO_LONG]
    assert np.isnan(found.entailment).tolist() == [False, True, True]
    assert np.isnan(found.contradiction).tolist() == [False, True, True]
    assert sum(finished) == 3


@pytest.mark.parity
@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_longest_first_cuts_as_hugging_face_does(
    family: str, checkpoint: Callable[..., Path], number: Number
) -> None:
    import torch

    scorer = NLIScorer(str(checkpoint(family)), device="cpu", truncation="longest-first")
    parts = scorer.checkpoint
    given_pairs = [("Good.", LONG), (LONG, "Dry."), (LONG, LONG), (LONG[:200], LONG), ("a", "b")]
    found = scorer.score(*number(given_pairs))
    assert found.flags.tolist() == [FLAG_TRUNCATED] * 4 + [0]
    for row, (premise, hypothesis) in enumerate(given_pairs):
        inputs = parts.tokenizer(
            premise, hypothesis, truncation="longest_first", max_length=LIMIT, return_tensors="pt"
        )
        with torch.inference_mode():
            expected = torch.softmax(parts.model(**inputs).logits[0], dim=0)
        assert found.entailment[row] == pytest.approx(float(expected[2]), abs=1e-5)


def test_ways_of_truncation_share_no_answers(
    checkpoint: Callable[..., Path], number: Number, tmp_path: Path
) -> None:
    folder = str(checkpoint("bert"))
    cache = PairCache(tmp_path)
    longest = CachedScorer(NLIScorer(folder, device="cpu", truncation="longest-first"), cache)
    asked = number([("Good.", LONG)])
    assert longest.score(*asked).flags.tolist() == [FLAG_TRUNCATED]
    found = CachedScorer(NLIScorer(folder, device="cpu"), cache).score(*asked)
    assert found.flags.tolist() == [FLAG_TOO_LONG]
    cache.close()


def test_no_pairs(scorers: Callable[..., NLIScorer]) -> None:
    found = scorers("bert").score(TextTable(), np.empty((0, 2), np.int64))
    assert [column.size for column in found] == [0, 0, 0]


def _by_windows(scorer: NLIScorer, premise: str, hypothesis: str, stride: int) -> np.ndarray:
    """Probabilities of every window over the premise, put together by hand for BERT."""
    import torch

    tokenizer, model = scorer.checkpoint.tokenizer, scorer.checkpoint.model
    first, second = (
        tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
        for text in (premise, hypothesis)
    )
    space = LIMIT - 3 - len(second)
    answers = []
    for start in [*range(0, len(first) - space, stride), len(first) - space]:
        left = [2, *first[start : start + space], 3]
        ids = [*left, *second, 3]
        types = [0] * len(left) + [1] * (len(second) + 1)
        with torch.inference_mode():
            logits = model(
                input_ids=torch.tensor([ids]), token_type_ids=torch.tensor([types])
            ).logits
        answers.append(logits.softmax(1)[0].numpy())
    return np.stack(answers)


def test_windows_take_the_most_entailing_window(
    checkpoint: Callable[..., Path],
    number: Number,
) -> None:
    scorer = NLIScorer(str(checkpoint("bert")), device="cpu", windows=20)
    pairs = [
        (LONG[i:] + LONG[:i] + "It isn't worth it. " * 9, "Feet dry.") for i in range(0, 60, 9)
    ]
    found = scorer.score(*number([("Good.", "Works."), *pairs]))
    windows = [_by_windows(scorer, *pair, 20) for pair in pairs]
    best = np.array([rows[:, 2].argmax() for rows in windows])
    assert min(len(rows) for rows in windows) > 5
    assert len(set(best.tolist())) > 1  # not always the same window
    expected = np.stack([rows[nth] for rows, nth in zip(windows, best, strict=True)])
    np.testing.assert_allclose(found.entailment[1:], expected[:, 2], rtol=0, atol=1e-5)
    np.testing.assert_allclose(found.contradiction[1:], expected[:, 0], rtol=0, atol=1e-5)
    assert not found.flags.any()
    assert scorer.traits.signature["gran"] == "window20"


def test_a_model_that_cannot_answer_is_refused_when_opened(
    altered: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch
    from transformers import BertForSequenceClassification

    def forward(self: Any, **inputs: Any) -> Any:
        raise TypeError("wants left_context\nand more")

    folder = altered("bert", "config.json")
    monkeypatch.setattr(BertForSequenceClassification, "forward", forward)
    with pytest.raises(BackendError, match=r"the model or the device failed: wants left_context$"):
        NLIScorer(str(folder))
    assert torch.is_inference_mode_enabled() is False


@pytest.mark.parametrize(
    ("columns", "told"), [(3, "changes with what else"), (1, "gives 1 numbers .* 3 classes")]
)
def test_heads_with_other_answers_are_refused(
    columns: int, told: str, checkpoint: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch
    from transformers import BertForSequenceClassification
    from transformers.modeling_outputs import SequenceClassifierOutput

    def forward(self: Any, input_ids: Any, attention_mask: Any, token_type_ids: Any) -> Any:
        last = attention_mask[:, -1:].float()  # 0 where the row ends in padding
        logits = torch.cat([last, 0 * last, -last], dim=1)
        return SequenceClassifierOutput(logits=logits[:, :columns])

    monkeypatch.setattr(BertForSequenceClassification, "forward", forward)
    with pytest.raises(ModelError, match=told):
        NLIScorer(str(checkpoint("bert")), device="cpu")


def test_the_shortest_limit(
    checkpoint: Callable[..., Path],
    number: Number,
) -> None:
    scorer = NLIScorer(str(checkpoint("roberta")), device="cpu", max_length=8)
    found = scorer.score(*number([("dry boots, dry feet", "ok"), ("a", "words and more words")]))
    assert found.flags.tolist() == [FLAG_TRUNCATED, FLAG_TOO_LONG]


def test_token_types_are_kept_from_a_model_that_takes_none(
    checkpoint: Callable[..., Path], number: Number, altered: Callable[..., Path]
) -> None:
    def given_types(folder: Path) -> bool:
        scorer, seen = NLIScorer(str(folder), device="cpu"), []
        scorer.checkpoint.model.register_forward_pre_hook(
            lambda _model, _given, inputs: seen.append("token_type_ids" in inputs), with_kwargs=True
        )
        scorer.score(*number([("dry boots", "dry")]))
        (given,) = seen
        return given

    listed = ["input_ids", "token_type_ids", "attention_mask"]
    folder = altered("gpt2", "tokenizer_config.json", model_input_names=listed)
    assert given_types(folder)  # GPT-2 takes them
    assert given_types(checkpoint("bert"))
    assert not given_types(checkpoint("roberta"))
    bart = altered("bart", "tokenizer_config.json", model_input_names=listed)
    assert not given_types(bart)  # BART has no such input


def test_special_tokens_in_a_review_do_not_stop_a_batch(
    scorers: Callable[..., NLIScorer],
    number: Number,
) -> None:
    # BART's head demands as many </s> in every row of a batch.
    found = scorers("bart").score(*number([("dry</s> boots", "dry"), ("dry boots", "dry")]))
    assert np.isfinite(found.entailment).all()
    assert found.entailment[0] == pytest.approx(found.entailment[1], abs=1e-5)


def test_texts_are_freed_with_their_table(
    scorers: Callable[..., NLIScorer],
    number: Number,
) -> None:
    table, numbers = number([("boots", "dry")])
    scorers("bert").score(table, numbers)
    gone = weakref.ref(table)
    del table
    gc.collect()
    assert gone() is None


def test_is_a_pair_scorer(scorers: Callable[..., NLIScorer]) -> None:
    scorer = scorers("bert")
    assert isinstance(scorer, PairScorer)
    traits = scorer.traits
    assert (traits.threshold, traits.calibrated, traits.work_unit > 0) == (0.5, False, True)


def test_digest_names_what_changes_a_probability(
    checkpoint: Callable[..., Path], scorers: Callable[..., NLIScorer]
) -> None:
    folder = str(checkpoint("bert"))
    same = NLIScorer(folder, device="cpu", batch_tokens=64, threshold=0.3)
    assert same.traits.digest == scorers("bert").traits.digest
    assert (same.traits.threshold, same.traits.calibrated) == (0.3, True)
    others = [
        NLIScorer(folder, device="cpu", windows=8),
        NLIScorer(folder, device="cpu", windows=9),
        NLIScorer(folder, device="cpu", max_length=32),
        NLIScorer(folder, device="cpu", dtype="bfloat16"),
        scorers("roberta"),
        NLIScorer(folder, device="cpu", truncation="longest-first"),
    ]
    digests = {same.traits.digest, *(scorer.traits.digest for scorer in others)}
    assert len(digests) == 7
    assert others[5].traits.signature["trunc"] == f"{LIMIT}-longest"
    assert all(len(digest) == 16 for digest in digests)
    assert others[2].traits.signature["trunc"] == "32"
    assert others[3].traits.signature["dtype"] == "bfloat16"
    assert same.traits.doubt == 0.0 < others[3].traits.doubt
    assert "dtype" not in same.traits.signature


@pytest.mark.parametrize(
    ("options", "error", "told"),
    [
        ({"batch_tokens": 0}, ConfigurationError, "batch tokens"),
        ({"windows": 0}, ConfigurationError, "window stride"),
        ({"threshold": 1.0}, ConfigurationError, "threshold"),
        ({"truncation": "both"}, ConfigurationError, "truncation 'both': choose from premise"),
        ({"truncation": "longest-first", "windows": 3}, ConfigurationError, "no windows"),
        ({"dtype": "float8"}, ConfigurationError, "unknown dtype 'float8': choose from auto"),
        ({"device": "abacus"}, BackendError, "device 'abacus' is not usable here"),
        ({"device": "hpu"}, BackendError, "device 'hpu' is not usable here"),
        ({"device": "cuda:99"}, BackendError, "device 'cuda:99' is not usable here"),
    ],
)
def test_options_out_of_range(options: dict[str, Any], error: type, told: str) -> None:
    with pytest.raises(error, match=told):
        NLIScorer("never-loaded", **options)
