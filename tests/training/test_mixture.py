import pytest

from prevalence.errors import ConfigurationError
from prevalence.labelled import Document, Target
from prevalence.training.mixture import MixPart, draw_mixture

YES, NO = Target(1, 0, 0, True), Target(0, 1, 0, True)


def review(group: str, *, domain: str = "home") -> Document:
    text = f"This mug of {group} is good. It keeps the tea warm in {group}."
    return Document(text, (f"good {group}", f"bad {group}"), (YES, NO), group, domain)


DOCUMENTS = [review(f"g{i}") for i in range(6)]


def test_same_seed_same_draw_and_other_epoch_other_draw() -> None:
    parts = [MixPart(DOCUMENTS, "labelled", 5), MixPart(DOCUMENTS, "easy", 7)]
    first = draw_mixture(parts, seed=1, epoch=0)
    assert first == draw_mixture(parts, seed=1, epoch=0)
    assert first != draw_mixture(parts, seed=1, epoch=1)
    assert first != draw_mixture(parts, seed=2, epoch=0)
    assert len(first) == 12


def test_zero_samples_takes_all_labelled_pairs_in_order() -> None:
    drawn = draw_mixture([MixPart(DOCUMENTS, "labelled", 0)], seed=0, epoch=0)
    assert [e.hypothesis for e in drawn[:3]] == ["good g0", "bad g0", "good g1"]
    assert len(drawn) == 12


def test_whole_premises_are_drawn_until_there_are_enough_examples() -> None:
    parts = [MixPart(DOCUMENTS, "labelled", 5)]
    drawn = draw_mixture(parts, seed=3, epoch=0, whole_premises=True)
    premises = [e.premise for e in drawn]
    assert len(drawn) == 6  # three premises of two
    assert {premises.count(premise) for premise in premises} == {2}
    again = draw_mixture(parts, seed=3, epoch=1, whole_premises=True)
    assert {e.premise for e in again} != set(premises)


def test_easy_pairs_are_own_text_against_other_products() -> None:
    drawn = draw_mixture([MixPart(DOCUMENTS, "easy", 0)], seed=4, epoch=0)
    assert {example.target.entailment for example in drawn} == {0.0, 1.0}
    for example in drawn:
        group = next(d.group for d in DOCUMENTS if d.premise == example.premise)
        assert (group in example.hypothesis) == (example.target.entailment == 1.0)


def test_easy_negatives_stay_in_the_domain() -> None:
    documents = [review("a"), review("b"), review("c", domain="food"), review("d", domain="food")]
    domain = {d.group: d.domain for d in documents}
    drawn = draw_mixture([MixPart(documents, "easy", 0)], seed=4, epoch=0)
    assert {example.target.entailment for example in drawn} == {0.0, 1.0}
    for example in drawn:
        of = {d.group for d in documents if d.group in example.hypothesis.rstrip(".").split()}
        own = next(d for d in documents if d.premise == example.premise)
        assert {domain[g] for g in of} == {own.domain}


def test_siblings_imply_themselves_only() -> None:
    drawn = draw_mixture([MixPart(DOCUMENTS, "siblings", 0)], seed=0, epoch=0)
    assert len(drawn) == 24
    for example in drawn:
        assert (example.premise == example.hypothesis) == (example.target.entailment == 1.0)


def test_padded_premises_hold_the_review() -> None:
    documents = [review("a"), review("b", domain="food")]
    drawn = draw_mixture([MixPart(documents, "padded", 0)], seed=0, epoch=0)
    premises = [d.premise for d in documents for _ in d.hypotheses]
    assert all(own in e.premise for own, e in zip(premises, drawn, strict=True))
    assert [e.target for e in drawn] == [YES, NO, YES, NO]
    assert any(len(e.premise) > len(own) for own, e in zip(premises, drawn, strict=True))


def test_a_view_without_examples_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="'product' of mix item 1 finds no examples"):
        draw_mixture([MixPart(DOCUMENTS, "product", 0)], seed=0, epoch=0)


UNLABELLED = [
    Document(f"This lamp of u{i} is bright. It fell off the table.", (), (), f"u{i}", "lamps")
    for i in range(4)
]


@pytest.mark.parametrize("view", ["labelled", "enriched"])
def test_a_source_without_labels_gives_no_examples(view: str) -> None:
    with pytest.raises(ConfigurationError, match=f"'{view}' of mix item 1 finds no examples"):
        draw_mixture([MixPart(UNLABELLED, view, 0)], seed=0, epoch=0)


def test_enriched_leaves_out_a_domain_without_labels() -> None:
    drawn = draw_mixture([MixPart([*UNLABELLED, *DOCUMENTS], "enriched", 0)], seed=0, epoch=0)
    assert drawn == draw_mixture([MixPart(DOCUMENTS, "enriched", 0)], seed=0, epoch=0)


def test_enriched_pairs_keep_the_labels_and_add_easy_ones() -> None:
    drawn = draw_mixture([MixPart(DOCUMENTS, "enriched", 0)], seed=0, epoch=0)
    labelled = [e for e in drawn if e.target.binary]
    assert len(labelled) == 12
    for example in (e for e in drawn if not e.target.binary):
        group = next(d.group for d in DOCUMENTS if d.premise == example.premise)
        assert (group in example.hypothesis) == (example.target.entailment == 1.0)
    assert {e.target.entailment for e in drawn if not e.target.binary} == {0.0, 1.0}


def test_turned_pairs_hold_each_sentence_with_its_twin() -> None:
    text = "The lid is tight. It lasted three weeks. Wow!"
    document = Document(text, ("The lid fits well.", "It leaks."), (YES, NO), "g")
    drawn = draw_mixture([MixPart([document], "turned", 0)], seed=2, epoch=0)
    kept = {e.hypothesis for e in drawn if e.premise == text and e.target.entailment > 0.5}
    assert kept == {"The lid is tight.", "It lasted three weeks.", "The lid fits well."}
    against = {e.hypothesis for e in drawn if e.premise == text} - kept
    assert against
    assert against.isdisjoint({"It leaks.", "Wow!"})
    # Every hypothesis stands with both labels, so that none can be told from it alone.
    said = {(e.hypothesis, e.target.entailment > 0.5) for e in drawn}
    assert {text for text, yes in said if yes} == {text for text, yes in said if not yes}
    assert all(e.target.contradiction > 0.5 for e in drawn if e.target.entailment < 0.5)


def test_reworded_pairs_hold_both_sentences_in_other_words() -> None:
    document = Document("The mic is great.", (), (), "g")
    drawn = draw_mixture([MixPart([document], "reworded", 0)], seed=2, epoch=0)
    supported = {(pair.premise, pair.hypothesis) for pair in drawn if pair.target.entailment > 0.5}
    denied = {(pair.premise, pair.hypothesis) for pair in drawn} - supported
    assert {pair for pair in supported if pair[0] == "The mic is great."} > {
        ("The mic is great.", "The mic is great.")
    }
    turned = {premise for premise, _ in supported} - {"The mic is great."}
    assert turned
    assert all(("The mic is great.", text) in denied for text in turned)
    # Neither the sentence nor its twin is only ever asked as it stands.
    assert any(pair[0] in turned and pair[0] != pair[1] for pair in supported)
