import numpy as np
import pytest

from prevalence.baselines import Example, get

sacrebleu = pytest.importorskip("sacrebleu.metrics")

SCORERS = {
    "bleu-1": lambda: sacrebleu.BLEU(max_ngram_order=1, effective_order=True),
    "bleu-2": lambda: sacrebleu.BLEU(max_ngram_order=2, effective_order=True),
    "bleu-3": lambda: sacrebleu.BLEU(max_ngram_order=3, effective_order=True),
    "bleu-4": lambda: sacrebleu.BLEU(effective_order=True),
    "bleu-4:lower:smooth=floor:tokenize=intl": lambda: sacrebleu.BLEU(
        effective_order=True, lowercase=True, smooth_method="floor", tokenize="intl"
    ),
    "chrf": sacrebleu.CHRF,
    "chrf:eps:lower:beta=1:words=2": lambda: sacrebleu.CHRF(
        eps_smoothing=True, lowercase=True, beta=1, word_order=2
    ),
}


@pytest.mark.parity
@pytest.mark.parametrize("spec", SCORERS)
def test_equal_to_sacrebleu(summary_pairs, spec):
    scorer = SCORERS[spec]()
    ours = get(spec).score([Example(summary, (), (other,)) for summary, other in summary_pairs])
    theirs = [scorer.sentence_score(summary, [other]).score for summary, other in summary_pairs]
    np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parity
@pytest.mark.parametrize("spec", ["ter", "ter:cased:nopunct:normalized"])
def test_ter_is_equal_to_sacrebleu(summary_pairs, spec):
    on = spec != "ter"
    scorer = sacrebleu.TER(case_sensitive=on, no_punct=on, normalized=on)
    few = summary_pairs[::10]
    ours = get(spec).score([Example(summary, (), (other,)) for summary, other in few])
    np.testing.assert_array_equal(
        ours, [scorer.sentence_score(summary, [other]).score for summary, other in few]
    )


@pytest.mark.parametrize("name", ["bleu-2", "chrf", "ter"])
def test_joint_references_are_sacrebleus_own_way(name):
    references = ("the boots are warm", "warm boots, but small ones")
    scorer = {"bleu-2": SCORERS["bleu-2"], "chrf": SCORERS["chrf"], "ter": sacrebleu.TER}[name]()
    example = Example("the warm boots are small", (), references)
    theirs = scorer.sentence_score(example.summary, list(references)).score
    assert get(name).score([example]) == [theirs]


def test_the_signature_is_sacrebleus():
    signature = get("bleu-4:lower").signature
    assert signature["impl"].startswith("sacrebleu-")
    assert (signature["case"], signature["tok"], signature["smooth"]) == ("lc", "13a", "exp")
    assert signature["refs"] == "joint"


def test_ter_by_hand():
    # One shift and no other edit: 1 of 4 words.
    example = Example("warm are the boots", (), ("the boots are warm",))
    assert get("ter").score([Example("boots the are warm", (), example.references)]) == [25.0]
