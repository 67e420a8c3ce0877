import numpy as np
import pytest
import torch
import transformers as hf
from scipy.optimize import linear_sum_assignment, linprog

from prevalence.baselines import Example, get
from prevalence.errors import ModelError

ot = pytest.importorskip("ot")


def value(name, folder, summary, other):
    return get(name, model=str(folder)).score([Example(summary, references=(other,))])[0]


def hidden(folder, text):
    inputs = hf.AutoTokenizer.from_pretrained(folder)(text, return_tensors="pt")
    with torch.inference_mode():
        network = hf.AutoModel.from_pretrained(folder, dtype=torch.float32).eval()
        states = network(**inputs, output_hidden_states=True).hidden_states
    return [state[0].double().numpy() for state in states]


def distances(left, right):
    return np.sqrt(((left[:, None] - right[None]) ** 2).sum(-1))


def least_cost(have, want, costs):
    """The transport problem as a linear program."""
    rows = np.kron(np.eye(len(have)), np.ones(len(want)))
    columns = np.kron(np.ones(len(have)), np.eye(len(want)))
    both = np.vstack([rows, columns])
    return linprog(costs.ravel(), A_eq=both, b_eq=np.concatenate([have, want])).fun


def even(count):
    return np.full(count, 1 / count)


def unit(table):
    return table / np.linalg.norm(table, axis=1, keepdims=True)


def test_moverscore_moves_first_tokens_of_words(tiny):
    folder = tiny("encoder")
    # "zed" is three tokens, of which the first counts; the full stop does not.
    left, right = hidden(folder, "dry zed.")[-1], hidden(folder, "thin laces grip")[-1]
    left = left[[0, 1, 2, 6]]
    cost = least_cost(even(4), even(5), distances(unit(left), unit(right)))
    assert value("moverscore", folder, "dry zed.", "thin laces grip") == pytest.approx(
        1 - cost, abs=1e-5
    )


def test_moverscore_weighs_each_side_by_its_own_idf(tiny):
    folder, texts = tiny("encoder"), [("dry feet", "thin laces"), ("dry soles", "thin soles")]
    metric = get("moverscore:idf", model=str(folder))
    examples = [Example(summary, references=(other,)) for summary, other in texts]
    metric.prepare(iter(examples))
    # "dry" and "thin" stand in both texts of their side and weigh log(3/3); the others log(3/2).
    left, right = hidden(folder, "dry feet")[-1][2:3], hidden(folder, "thin laces")[-1][2:3]
    cost = distances(unit(left), unit(right))[0, 0]
    assert metric.score(examples)[0] == pytest.approx(1 - cost, abs=1e-5)


def test_sms_moves_sentences_by_their_tokens(tiny):
    folder = tiny("encoder")
    sentences = [["Dry feet.", "They grip well on ice!"], ["Thin laces."]]
    tables = [[hidden(folder, s)[-1][1:-1] for s in part] for part in sentences]
    left, right = (np.stack([t.mean(0) for t in part]) for part in tables)
    lengths = np.array([len(t) for t in tables[0]])
    cost = least_cost(lengths / lengths.sum(), even(1), distances(left, right))
    found = value("sms", folder, " ".join(sentences[0]), sentences[1][0])
    assert found == pytest.approx(np.exp(-cost), rel=1e-4)


def test_sms_of_static_vectors(tiny):
    folder = tiny("encoder")
    network = hf.AutoModel.from_pretrained(folder, dtype=torch.float32)
    table = network.get_input_embeddings().weight.detach().double().numpy()
    tokenizer = hf.AutoTokenizer.from_pretrained(folder)
    left, right = (
        table[tokenizer(text, add_special_tokens=False)["input_ids"]].mean(0)
        for text in ("Dry feet", "Thin laces")
    )
    metric = get("sms:static", model=str(folder))
    found = metric.score([Example("Dry feet", references=("Thin laces",))])[0]
    assert found == pytest.approx(np.exp(-np.linalg.norm(left - right)), rel=1e-4)
    assert metric.signature["layer"] == "static"


@pytest.mark.parametrize("options", [{}, {"static": ""}])
def test_sms_without_stop_words(tiny, options):
    folder = tiny("encoder")
    # In context a word keeps its vector: what is left of a sentence was read with all of it.
    metric = get("sms:nostop", model=str(folder), **options)
    found = metric.score([Example("They grip on ice!", references=("Laces are thin.",))])[0]
    network = hf.AutoModel.from_pretrained(folder, dtype=torch.float32)
    table = network.get_input_embeddings().weight.detach().double().numpy()
    tokenizer = hf.AutoTokenizer.from_pretrained(folder)
    means = []
    for text, kept in (
        ("They grip on ice!", ["grip", "ice"]),
        ("Laces are thin.", ["laces", "thin"]),
    ):
        tokens = tokenizer(text)["input_ids"]
        rows = table[tokens] if options else hidden(folder, text)[-1]
        # "ice" is not in the vocabulary, so that its letters are tokens.
        words = [n for word in kept for n in tokenizer(word, add_special_tokens=False)["input_ids"]]
        chosen = [row for token, row in zip(tokens, rows, strict=True) if token in words]
        assert len(chosen) == len(words)
        means.append(np.mean(chosen, axis=0))
    assert found == pytest.approx(np.exp(-np.linalg.norm(means[0] - means[1])), rel=1e-4)
    assert metric.name.startswith("sms:nostop")


def test_baryscore_of_one_token_is_the_distance_of_mean_layers(tiny):
    folder = tiny("encoder")
    # The barycentre of single points is their mean.
    left, right = (
        np.mean([unit(layer[1:-1]) for layer in hidden(folder, text)[-5:]], axis=0)
        for text in ("dry", "thin")
    )
    expected = distances(left, right)[0, 0] ** 2
    assert value("baryscore", folder, "dry", "thin") == pytest.approx(expected, abs=1e-5)


LONG = "Dry dry feet in deep deep snow, and dry boots grip on wet wet ground!"
BARY_PAIRS = [
    (LONG, "Laces come undone because they are thin."),
    ("Thin thin laces, thin soles.", LONG),
    ("Thin laces", "zed"),
]


def layers_of(folder, text):
    """The last five layers of a text's own tokens, as unit vectors."""
    return [unit(layer[1:-1]) for layer in hidden(folder, text)[-5:]]


def barycentre(layers):
    """The fixed point of moving each point to the mean of its partners, and all partners.

    Weights and numbers of points are equal, so that every transport is an assignment.
    """
    points, known = np.mean(layers, axis=0), None
    while True:
        costs = [distances(points, layer) ** 2 for layer in layers]
        partners = [linear_sum_assignment(cost)[1].tolist() for cost in costs]
        if partners == known:
            return points, partners
        known = partners
        points = np.mean([layer[p] for layer, p in zip(layers, partners, strict=True)], axis=0)


def test_baryscore_by_the_equations_of_its_paper(tiny):
    folder = tiny("encoder")
    for texts in BARY_PAIRS:
        left, right = (barycentre(layers_of(folder, text))[0] for text in texts)
        costs = distances(left, right) ** 2
        expected = least_cost(even(len(left)), even(len(right)), costs)
        assert value("baryscore", folder, *texts) == pytest.approx(expected, abs=1e-5)
    # The search moved: in some layer, a token's partner is another token's vector.
    partners = barycentre(layers_of(folder, LONG))[1]
    assert any(layer != sorted(layer) for layer in partners)


def test_baryscore_by_pots_own_functions(tiny):
    folder = tiny("encoder")
    for texts in BARY_PAIRS:
        centres = []
        for text in texts:
            layers = layers_of(folder, text)
            weights = [even(len(layer)) for layer in layers]
            start = np.mean(layers, axis=0)
            centres.append(ot.lp.free_support_barycenter(layers, weights, start, stopThr=1e-12))
        costs = ot.dist(*centres, metric="sqeuclidean")
        expected = ot.emd2(*(even(len(centre)) for centre in centres), costs)
        assert value("baryscore", folder, *texts) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(("name", "best"), [("sms", 1), ("moverscore", 1), ("baryscore", 0)])
def test_equal_texts_cost_nothing_and_empty_ones_have_no_value(tiny, name, best):
    folder, text = tiny("encoder"), "The boots grip. Dry feet!"
    assert value(name, folder, text, text) == pytest.approx(best, abs=1e-5)
    other = value(name, folder, "Thin laces", text)
    assert other > best if name == "baryscore" else other < best
    assert np.isnan(value(name, folder, "", text))


def test_a_distance_that_is_no_number_is_no_perfect_score(tiny, monkeypatch):
    monkeypatch.setattr(
        "prevalence.baselines.neural.transport.unit", lambda table: np.full_like(table, np.nan)
    )
    with pytest.raises(ModelError, match="a distance of two vectors is not finite"):
        value("moverscore", tiny("encoder"), "Dry boots", "Thin laces")


def test_moverscore_keeps_words_whose_first_token_is_a_space(by_pieces):
    tokenizer = hf.AutoTokenizer.from_pretrained(by_pieces)
    tokens = tokenizer.convert_ids_to_tokens(tokenizer("thin laces. !")["input_ids"])
    assert tokens == ["[CLS]", "▁thin", "▁", "laces", ".", "▁", "!", "[SEP]"]
    left = hidden(by_pieces, "thin laces. !")[0][[0, 1, 3, 7]]
    right = hidden(by_pieces, "boots grip")[0]
    cost = least_cost(even(4), even(4), distances(unit(left), unit(right)))
    found = value("moverscore:layer=0", by_pieces, "thin laces. !", "boots grip")
    assert found == pytest.approx(1 - cost, abs=1e-5)


def test_idf_of_one_product_is_no_moverscore(tiny):
    metric = get("moverscore:idf", model=str(tiny("encoder")))
    example = Example("Dry boots", references=("Thin laces",))
    metric.prepare(iter([example]))
    assert np.isnan(metric.score([example])).all()
    assert "with idf has no word that some text lacks" in metric.entry.undefined
