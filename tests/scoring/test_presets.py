"""The preset of the authors' program against a plain loop over NLTK and Hugging Face."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import punkt
import pytest
from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

from prevalence import OpinionPrevalence
from prevalence.errors import ConfigurationError
from prevalence.scoring.presets import preset_options

TEXT = "the lamp is bright and light but the boots are too small they leak in rain"
WORDS = TEXT.split()
LONG = " ".join(WORDS[place % len(WORDS)] for place in range(0, 1680, 3))
NAME = "Bright Lamp 12R"
ODD = [
    "It makes great chicken!!",
    "Never again. What?!",
    "!!!",
    "...",
    "So good !! ",
    "the lamp is bright . the boots leak",
    "The lamp is bright.\n\nThe boots leak!\r\n",
    "The lamp is bright. The lamp is bright.",
    'They said "It leaks!" and it did. (It did.)',
    "“Bright!” 😀 été … 5/5",
    "I bought Bright Lamp 12R.",
    f"{LONG}.",
    f"The boots leak. {LONG}! The lamp is light!!",
    "x",
]
REVIEWS = ["The lamp is bright.", f"{LONG}. It leaks.", "They leak!! Too small :("]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model that reads more than SummaC's 500 tokens."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    made = tmp_path_factory.mktemp("model")
    source = Path(__file__).resolve().parents[1] / "golden" / "inputs" / "tiny-nli"
    shutil.copytree(source, made, dirs_exist_ok=True)
    config = BertConfig.from_pretrained(source, max_position_embeddings=600)
    torch.manual_seed(3)
    BertForSequenceClassification(config).save_pretrained(made)
    path = made / "tokenizer_config.json"
    told = json.loads(path.read_text(encoding="utf-8")) | {"model_max_length": 600}
    path.write_text(json.dumps(told), encoding="utf-8")
    return made


def plain(folder: Path) -> Any:
    """Prevalence, one pair a call: the pair cut at 500 tokens, the longer text first."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder, dtype=torch.float32).eval()
    model_of_wheel, learnt = punkt.load_model("english"), PunktParameters()
    for part in ("abbrev_types", "collocations", "sent_starters"):
        setattr(learnt, part, set(getattr(model_of_wheel, part)))
    for word, seen in model_of_wheel.ortho_context.items():
        learnt.add_ortho_context(word, int(seen))
    splitter = PunktSentenceTokenizer(learnt)

    def implied(premise: str, hypothesis: str) -> bool:
        encoded = tokenizer(
            premise, hypothesis, truncation="longest_first", max_length=500, return_tensors="pt"
        )
        with torch.inference_mode():
            return float(model(**encoded).logits[0].softmax(0)[2]) > THRESHOLD

    def score(summary: str) -> float:
        sentences = [s.strip() for s in splitter.tokenize(summary)]
        total = 0
        for place, sentence in enumerate(sentences):
            if implied(f"I bought {NAME}.", sentence):
                continue
            if any(implied(earlier, sentence) for earlier in sentences[:place]):
                continue
            total += sum(implied(review, sentence) for review in REVIEWS)
        return total / len(sentences) / len(REVIEWS)

    return score


THRESHOLD = 0.05
"""Of the tiny model, whose probabilities .04 would not tell apart."""


def test_the_authors_program_on_long_and_odd_texts(folder: Path) -> None:
    ours = OpinionPrevalence(str(folder), preset="malon-script", threshold=THRESHOLD)
    theirs = plain(folder)
    found = [ours.score(REVIEWS, text, name=NAME).prevalence for text in ODD]
    assert found == pytest.approx([theirs(text) for text in ODD])
    assert len(set(found)) > 3
    for part in ("split:nltk-punkt-en", "trivial:script", "trunc:500-longest", "gran:document"):
        assert part in ours.signature


def test_options_win_over_the_preset() -> None:
    found = preset_options("malon-script", {"splitter": "lines", "model": "rouge1-precision"})
    assert found == {
        "model": "rouge1-precision", "threshold": 0.04, "trivial": "script", "splitter": "lines",
    }  # fmt: skip
    assert preset_options("malon-script", {})["model"] == "summac-zs:document,model=mnli"
    assert preset_options("malon-script", {"model": "cosine"})["model"] == "cosine"
    with pytest.raises(ConfigurationError, match="there is malon-script"):
        preset_options("malon", {})
