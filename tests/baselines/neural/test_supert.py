"""SUPERT beside a plain computation from the published equations."""

import math

import numpy as np
import pytest
import torch
import transformers as hf

from prevalence.baselines import Example, get
from prevalence.baselines.neural.supert import aligned
from prevalence.baselines.stopwords import content_tokens
from prevalence.errors import ConfigurationError, MissingDependencyError

REVIEWS = (
    "Dry feet in deep snow. The soles grip on wet ground! Laces come undone. I like the boots.",
    "They run small, order one size up. Thin laces.",
)
SENTENCES = (
    (
        "Dry feet in deep snow.", "The soles grip on wet ground!", "Laces come undone.",
        "I like the boots.",
    ),
    ("They run small, order one size up.", "Thin laces."),
)  # fmt: skip
SUMMARY = ("The boots grip.", "Thin laces!")
JOINED = " ".join(SUMMARY)
STOPS = {"the", "in", "on", "i", "they", "up", "one", ".", ",", "!"}


@pytest.fixture(scope="module")
def encoded(tiny):
    """``encoded(sentence)``: tokens, and vectors of the last layer, by transformers alone."""
    folder = tiny("encoder")
    tokenizer = hf.AutoTokenizer.from_pretrained(folder)
    network = hf.AutoModel.from_pretrained(folder, dtype=torch.float32).eval()

    def run(sentence):
        inputs = tokenizer(sentence, return_tensors="pt")
        with torch.inference_mode():
            hidden = network(**inputs).last_hidden_state[0].double().numpy()
        return tokenizer.convert_ids_to_tokens(inputs["input_ids"][0]), hidden

    return run


def content(encoded, sentences):
    """Unit vectors of the tokens that are no stop word; each word here is one token."""
    rows = []
    for sentence in sentences:
        for token, row in zip(*encoded(sentence), strict=True):
            if token not in STOPS and not token.startswith("["):
                rows.append(row / np.linalg.norm(row))
    return rows


def f_measure(encoded, summary, reference):
    left, right = content(encoded, summary), content(encoded, reference)
    precision = sum(max(float(a @ b) for b in right) for a in left) / len(left)
    recall = sum(max(float(a @ b) for a in left) for b in right) / len(right)
    return 2 * precision * recall / (precision + recall)


def value(tiny, summary=JOINED, reviews=REVIEWS, **options):
    metric = get("supert", model=str(tiny("encoder")), **options)
    return metric.score([Example(summary, reviews)])[0]


def test_first_sentences_of_every_review(tiny, encoded):
    for count in (1, 3):
        parts = [f_measure(encoded, SUMMARY, sentences[:count]) for sentences in SENTENCES]
        assert value(tiny, n=str(count)) == pytest.approx(np.mean(parts), abs=1e-5)
    whole = np.mean([f_measure(encoded, SUMMARY, sentences) for sentences in SENTENCES])
    assert value(tiny) == pytest.approx(whole, abs=1e-5)


def test_all_reviews_as_one_document(tiny, encoded):
    expected = f_measure(encoded, SUMMARY, (*SENTENCES[0], *SENTENCES[1][:1]))
    assert value(tiny, source="joined", n="5") == pytest.approx(expected, abs=1e-5)


def similarities(encoded, sentences):
    means = [encoded(sentence)[1].mean(0) for sentence in sentences]
    rows = np.array([mean / np.linalg.norm(mean) for mean in means])
    return rows @ rows.T


def test_the_most_central_sentences(tiny, encoded):
    sentences = [sentence for part in SENTENCES for sentence in part]
    links = np.maximum(similarities(encoded, sentences), 0) * (1 - np.eye(len(sentences)))
    steps = links / links.sum(1, keepdims=True)
    ranks = np.full(len(sentences), 1 / len(sentences))
    for _ in range(500):
        ranks = 0.15 / len(sentences) + 0.85 * ranks @ steps
    best = sorted(np.argsort(-ranks)[:2])
    assert best != [0, 1]
    expected = f_measure(encoded, SUMMARY, [sentences[place] for place in best])
    found = value(tiny, pick="graph", n="2", source="joined")
    assert found == pytest.approx(expected, abs=1e-5)


def test_centres_of_clusters(tiny, encoded):
    cluster = pytest.importorskip("sklearn.cluster")
    sentences = [sentence for part in SENTENCES for sentence in part]
    search = cluster.AffinityPropagation(affinity="precomputed", random_state=0, max_iter=1000)
    centres = sorted(search.fit(similarities(encoded, sentences)).cluster_centers_indices_)
    assert 0 < len(centres) < len(sentences)
    expected = f_measure(encoded, SUMMARY, [sentences[place] for place in centres])
    assert value(tiny, pick="cluster", source="joined") == pytest.approx(expected, abs=1e-5)


def test_equal_sentences_have_a_centre(tiny):
    pytest.importorskip("sklearn")
    reviews = ("Thin laces. Thin laces. Thin laces. Thin laces.",)
    found = value(tiny, summary="Thin laces.", reviews=reviews, pick="cluster")
    assert found == pytest.approx(1, abs=1e-5)


def test_corners(tiny):
    same = value(tiny, summary=REVIEWS[0], reviews=REVIEWS[:1])
    assert same == pytest.approx(1, abs=1e-5)
    assert value(tiny) < same
    for nothing in ("", "?", "They are on it."):
        assert math.isnan(value(tiny, summary=nothing))
    metric = get("supert:n=3:layer=2", model=str(tiny("encoder")))
    assert (metric.needs, metric.signature["pick"], metric.signature["layer"]) == (
        ("reviews",), "top-3", "2",
    )  # fmt: skip
    assert metric.signature["source"] == "each"


def test_alignment_by_hand():
    # Cosines 1 and 0 | 0.6 and 0.8: precision (1 + 0.8)/2, recall (1 + 0.8)/2 and of one token 1.
    summary = np.array([[1, 0], [0.6, 0.8]], np.float32)
    reference = np.array([[1, 0], [0, 1]], np.float32)
    assert aligned(summary, reference) == pytest.approx(0.9)
    # Precision (1 + 0.6)/2 = 0.8, recall 1.
    assert aligned(summary, reference[:1]) == pytest.approx(2 * 0.8 / 1.8)
    assert aligned(reference[:1], -reference[:1]) == 0
    assert math.isnan(aligned(summary, reference[:0]))
    assert math.isnan(aligned(summary, np.full_like(reference, np.nan)))
    # Precision (0.6 - 3 * 0.8)/4 = -0.45 and recall 0.6 have the "F-measure" -3.6.
    crossed = np.array([[0.6, 0.8], *[[-0.8, 0.6]] * 3], np.float32)
    assert aligned(crossed, reference[:1]) == -1
    # Lengths that single precision has rounded up.
    long = np.array([[np.nextafter(np.float32(1), np.float32(2)), 0]], np.float32)
    assert aligned(long, long) == 1


def test_content_tokens_keep_whole_words():
    text = "The boots don’t leak..."
    words = np.array([-1, 0, 1, 1, 2, 3, 4, -1])
    spans = np.array([[0, 0], [0, 3], [4, 8], [8, 9], [10, 15], [16, 20], [20, 23], [0, 0]])
    kept = content_tokens(text, words, spans)
    assert kept.tolist() == [False, False, True, True, False, True, False, False]


def test_content_tokens_of_words_with_marks():
    # As SentencePiece cuts them: a word may be a token for its space, and has the marks beside it.
    text = "Dry boots! I like (it)."
    tokens = {
        (0, 3): 0, (3, 4): 1, (4, 9): 1, (9, 10): 1, (11, 12): 2, (13, 17): 3, (18, 19): 4,
        (19, 21): 4, (21, 23): 4,
    }  # fmt: skip
    words, spans = (np.array([*part]) for part in (tokens.values(), tokens))
    kept = [text[a:b] for a, b in spans[content_tokens(text, words, spans)].tolist()]
    assert kept == ["Dry", "boots", "like"]


def test_stop_words_before_a_mark_are_dropped(by_pieces):
    metric = get("supert", model=str(by_pieces))
    assert math.isnan(metric.score([Example("It on it.", ("boots grip",))])[0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pick": "best"}, "pick=best: choose top, graph, cluster"),
        ({"n": "0"}, "n=0: give a number of sentences"),
        ({"n": "9" * 5_000}, "9: give a number of sentences"),
        ({"n": "3", "pick": "cluster"}, "n= does not apply"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(ConfigurationError, match=message):
        get("supert", model="nowhere", **options)


def test_clusters_need_a_package(monkeypatch):
    monkeypatch.setattr("prevalence.baselines.neural.supert.find_spec", lambda _: None)
    with pytest.raises(MissingDependencyError, match=r"prevalence\[clustering\]"):
        get("supert:pick=cluster", model="nowhere")
