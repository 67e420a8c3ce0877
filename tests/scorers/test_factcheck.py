"""Fact-checking encoders, each beside a plain loop over its network as its authors use it."""

from __future__ import annotations

import json
import re
import shutil
from functools import cache

import numpy as np
import pytest
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from prevalence.baselines.protocol import Example, Runtime
from prevalence.baselines.registry import get
from prevalence.errors import ConfigurationError, ModelError
from prevalence.models.registry import REGISTRY
from prevalence.nli.pairs import FLAG_TOO_LONG, FLAG_TRUNCATED
from prevalence.scorers.alignscore import convert_alignscore, even_parts
from prevalence.scorers.factcheck import CHECKERS, in_chunks
from prevalence.scorers.minicheck import sentences_and_lines
from prevalence.scorers.registry import open_scorer, with_files

SENTENCES = [
    "The boots kept my feet dry in deep snow.", "The laces come undone because they are thin.",
    "I like them a lot.", "Soles grip well on wet ground.", "They run small, order one size up.",
]  # fmt: skip
LONG = " ".join(SENTENCES[place % 5] for place in range(0, 330, 3))
CLAIMS = ["My feet are dry.", "The laces are thin. I like the soles.", "They {claim} {text1}."]
PAIRS = [(premise, claim) for premise in [SENTENCES[0], " ".join(SENTENCES), LONG]
         for claim in CLAIMS]  # fmt: skip


def sentences(text):
    """Of texts whose full stops end sentences, and nothing else does."""
    return re.split(r"(?<=\.) ", text)


@cache
def tokenizer(folder):
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(folder, trust_remote_code=False)


def tokens(folder, *texts, **options):
    return tokenizer(folder)(*texts, return_tensors="pt", **options)


@cache
def aligner(folder):
    """The encoder and its heads, put together by hand."""
    import torch
    from transformers import RobertaConfig, RobertaModel

    state = load_file(folder / "model.safetensors")
    encoder = RobertaModel(RobertaConfig.from_pretrained(folder))
    encoder.load_state_dict({name.removeprefix("base_model."): tensor for name, tensor
                             in state.items() if name.startswith("base_model.")})  # fmt: skip
    heads = {}
    for name, size in (("tri", 3), ("bin", 2), ("reg", 1)):
        heads[name] = torch.nn.Linear(32, size)
        heads[name].load_state_dict({part: state[f"{name}_layer.{part}"]
                                     for part in ("weight", "bias")})  # fmt: skip
    return encoder.eval(), heads


def aligned(folder, premise, hypothesis, head="nli"):
    """Equal parts of the premise's sentences, the best one for each sentence, their mean."""
    import torch

    encoder, heads = aligner(folder)
    parts = sentences(premise)
    size = max(len(parts) // (len(premise.split()) // 350 + 1), 1)
    chunks = [" ".join(parts[start : start + size]) for start in range(0, len(parts), size)]
    best = []
    for claim in sentences(hypothesis):
        found = []
        for chunk in chunks:
            shown = tokens(folder, chunk, claim, truncation="only_first", max_length=512)
            with torch.inference_mode():
                pooled = encoder(**shown).pooler_output[0]
                answers = {
                    "nli": lambda at: heads["tri"](at).softmax(0)[0],
                    "bin": lambda at: heads["bin"](at).softmax(0)[1],
                    "reg": lambda at: heads["reg"](at)[0].clamp(0, 1),
                }
                found.append(float(answers[head](pooled)))
        best.append(max(found))
    return np.mean(best)


def runs(parts, size, most):
    """Sentences added one after the other while they fit."""
    chunks, current, count = [], [], 0
    for part in parts:
        if count + size(part) > most:
            chunks.append(" ".join(current))
            current, count = [], 0
        current.append(part)
        count += size(part)
    return [chunk for chunk in [*chunks, " ".join(current)] if chunk]


@cache
def classifier(folder):
    from transformers import AutoModelForSequenceClassification

    return AutoModelForSequenceClassification.from_pretrained(folder).eval()


def supported(folder, premise, hypothesis, most=400, template=None):
    """A classifier on one text: chunk, end mark and claim, or a template with both."""
    import torch

    def size(part):
        return tokens(folder, part, add_special_tokens=False)["input_ids"].shape[1]

    mark = "</s>" if (folder / "vocab.json").exists() or "roberta" in str(folder) else "[SEP]"
    best = []
    for claim in sentences(hypothesis):
        found = []
        for chunk in runs(sentences(premise), size, most):
            text = template(chunk, claim) if template else f"{chunk}{mark}{claim}"
            with torch.inference_mode():
                found.append(
                    float(classifier(folder)(**tokens(folder, text)).logits[0].softmax(0)[1])
                )
        best.append(max(found))
    return np.mean(best)


@cache
def generator(folder):
    from transformers import T5ForConditionalGeneration

    return T5ForConditionalGeneration.from_pretrained(folder).eval()


def written(folder, premise, hypothesis):
    """The scores of the first token that the model generates."""
    best = []
    for claim in sentences(hypothesis):
        found = []
        for chunk in runs(sentences(premise), lambda part: len(part.split()), 500):
            shown = tokens(folder, f"predict: {chunk}</s>{claim}")
            scores = generator(folder).generate(
                **shown, max_new_tokens=1, do_sample=False, output_scores=True,
                return_dict_in_generate=True,
            ).scores[0][0]  # fmt: skip
            pieces = tokenizer(folder).convert_tokens_to_ids(["▁", "▁1"])
            found.append(float(scores[pieces].softmax(0)[1]))
        best.append(max(found))
    return np.mean(best)


def consistent(folder, premise, hypothesis):
    """T5's encoder and the head on its first token, put together by hand."""
    import torch
    from transformers import T5Config, T5EncoderModel

    state = {name.removeprefix("t5."): tensor
             for name, tensor in load_file(folder / "model.safetensors").items()}  # fmt: skip
    config = T5Config(
        vocab_size=len(tokenizer(folder)), d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=3,
        feed_forward_proj="gated-gelu",
    )  # fmt: skip
    encoder = T5EncoderModel(config).eval()
    own = {name.removeprefix("transformer."): tensor for name, tensor in state.items()
           if name.startswith("transformer.")}  # fmt: skip
    own["encoder.embed_tokens.weight"] = own["shared.weight"]
    encoder.load_state_dict(own)
    text = ("<pad> Determine if the hypothesis is true given the premise?\n\n"
            f"Premise: {premise}\n\nHypothesis: {hypothesis}")  # fmt: skip
    with torch.inference_mode():
        first = encoder(**tokens(folder, text)).last_hidden_state[0, 0]
    logits = state["classifier.weight"] @ first + state["classifier.bias"]
    return float(logits.softmax(0)[1])


def question(chunk, claim):
    return (
        f"{chunk}\n\nChoose your answer: based on the paragraph above can we conclude that "
        f'"{claim}"?\n\nOPTIONS:\n- Yes\n- No\nI think the answer is '
    )


PLAIN = {
    "alignscore:{alignscore}": aligned,
    "alignscore:{alignscore},head=bin": lambda *pair: aligned(*pair, head="bin"),
    "alignscore:{alignscore},head=reg": lambda *pair: aligned(*pair, head="reg"),
    "minicheck:{roberta}": supported,
    "minicheck:{deberta}": supported,
    "minicheck:{t5}": written,
    "factcg:{deberta}": lambda *pair: supported(*pair, most=550, template=question),
    "hhem:{hhem}": consistent,
}


@pytest.fixture(scope="module")
def opened(tiny):
    """``opened(name, **options)``: scorer and folder; ``{kind}`` in a name is a tiny one."""

    @cache
    def open_(name, **options):
        (kind,) = re.findall(r"\{(\w+)\}", name)
        folder = tiny(kind)
        return open_scorer(name.format(**{kind: folder}), device="cpu", **options), folder

    return open_


@pytest.mark.parity
@pytest.mark.parametrize("name", PLAIN)
def test_scores_are_those_of_a_plain_loop(opened, asked, name):
    scorer, folder = opened(name)
    scores = asked(scorer, *PAIRS)
    expected = [PLAIN[name](folder, *pair) for pair in PAIRS]
    np.testing.assert_allclose(scores.entailment, expected, atol=1e-5)
    assert np.ptp(expected) > 1e-3
    assert not scores.flags.any()
    assert np.isnan(scores.contradiction).all()


def test_the_chunks_of_each_family(opened):
    words = len(LONG.split())
    assert words > 2 * 350
    sizes = {}
    for name in ("alignscore:{alignscore}", "minicheck:{roberta}", "minicheck:{t5}",
                 "factcg:{deberta}", "hhem:{hhem}"):  # fmt: skip
        scorer, _ = opened(name)
        chunks = scorer.chunks(LONG)
        assert " ".join(chunks) == LONG
        sizes[name] = [len(scorer.tokens(chunk)) for chunk in chunks]
    assert len(sizes["alignscore:{alignscore}"]) >= words // 350 + 1
    assert max(sizes["minicheck:{roberta}"]) <= 400
    assert 400 < max(sizes["factcg:{deberta}"]) <= 550
    assert len(sizes["minicheck:{t5}"]) == -(-words // 500)
    assert len(sizes["hhem:{hhem}"]) == 1


def test_lines_stay_lines(opened):
    scorer, _ = opened("minicheck:{roberta}")
    assert scorer.chunks("They fit. I like them.\n\nThey last.") == [
        "They fit. I like them.\n\n They last."
    ]
    assert scorer.chunks(" \n ") == []
    assert sentences_and_lines("") == []


def test_parts_by_hand():
    # 6 sentences of 100 words are 600 // 350 + 1 = 2 parts of 3.
    text = " ".join(["so " * 99 + "it."] * 6)
    assert [len(part.split()) for part in even_parts(text)] == [300, 300]
    assert even_parts("") == []
    # Lists and labels are text like any other.
    assert even_parts("# Pros\n\n- It fits") == ["# Pros\n\n- It fits"]
    assert in_chunks(["a b c", "d"], lambda text: len(text.split()), 2) == [["a b c"], ["d"]]


@pytest.mark.parametrize("name", ["alignscore:{alignscore}", "hhem:{hhem}"])
def test_claims_are_sentences_or_the_whole(opened, asked, name):
    premise, hypothesis = " ".join(SENTENCES), "The laces are thin. I like the soles."
    by_sentence, _ = opened(f"{name},claims=sentence")
    whole, _ = opened(f"{name},claims=whole")
    each = asked(whole, *((premise, claim) for claim in sentences(hypothesis))).entailment
    assert asked(by_sentence, (premise, hypothesis)).entailment == pytest.approx(each.mean())
    joined = asked(whole, (premise, hypothesis)).entailment
    assert joined != pytest.approx(each.mean(), abs=1e-6)
    assert whole.traits.digest != by_sentence.traits.digest
    assert whole.traits.signature["gran"].endswith("-whole")


def test_what_is_too_long(opened, asked):
    scorer, _ = opened("alignscore:{alignscore}", max_length=24)
    found = asked(scorer, (SENTENCES[0] * 3, "dry."), ("dry.", "dry."), ("dry.", LONG[:400]),
                  ("dry.", "dry " * 40))  # fmt: skip
    assert found.flags[:2].tolist() == [FLAG_TRUNCATED, 0]
    assert found.flags[3] == FLAG_TOO_LONG
    assert np.isnan(found.entailment[3])
    assert np.isfinite(found.entailment[:2]).all()
    # The weights are there: nothing is said of how to get them.
    with pytest.raises(ConfigurationError, match=r"maximum length 600 is outside 8\.\.512$"):
        opened("alignscore:{alignscore}", max_length=600)


def test_a_summary_that_leaves_no_room_is_not_called_empty(tiny):
    metric = get("minicheck:claims=whole", model=str(tiny("roberta")))
    assert np.isnan(metric.score([Example("dry feet " * 400, (SENTENCES[0],))])).all()
    assert "the summary or a sentence of it leaves the other text no room" in metric.entry.undefined


def test_marks_in_a_review_end_nothing(opened, asked):
    for name, mark in (("minicheck:{roberta}", "</s>"), ("hhem:{hhem}", "<pad>")):
        scorer, _ = opened(name)
        one, other = asked(
            scorer, (f"dry{mark}feet", "I like them."), ("dry feet", "I like them.")
        ).entailment
        assert one == pytest.approx(other, abs=1e-6)


def test_empty_texts_have_a_score(opened, asked):
    for name in PLAIN:
        scorer, _ = opened(name)
        assert np.isfinite(asked(scorer, ("", "dry."), ("dry.", "")).entailment).all()


@pytest.mark.parametrize("name", PLAIN)
def test_what_a_checker_says_of_itself(opened, name):
    scorer, _ = opened(name)
    assert (scorer.traits.threshold, scorer.traits.calibrated) == (0.5, False)
    assert scorer.traits.signature["consistency"].startswith(name.partition(":")[0])
    at, _ = opened(name, threshold=0.3)
    assert (at.traits.threshold, at.traits.calibrated) == (0.3, True)
    assert at.traits.digest == scorer.traits.digest
    with pytest.raises(ConfigurationError, match="it takes no windows"):
        opened(name, windows=10)


def test_heads_differ_and_the_regression_wants_float32(opened):
    digests = {opened(f"alignscore:{{alignscore}},head={head}")[0].traits.digest
               for head in ("nli", "bin", "reg")}  # fmt: skip
    assert len(digests) == 3
    with pytest.raises(ConfigurationError, match="head=reg needs float32"):
        opened("alignscore:{alignscore},head=reg", dtype="bfloat16")


@pytest.mark.parametrize("name", ["alignscore", "minicheck", "factcg", "hhem"])
def test_metrics_are_the_scorers_on_whole_summaries(tiny, asked, name):
    kind = {"minicheck": "roberta", "factcg": "deberta"}.get(name, name)
    metric = get(f'{name}:model="{tiny(kind)}"', runtime=Runtime(device="cpu"))
    example = Example("The laces are thin. I like the soles.", reviews=tuple(SENTENCES))
    empty = Example("", reviews=tuple(SENTENCES))
    found = metric.score([example, empty])
    scorer = open_scorer(f"{name}:{tiny(kind)}", device="cpu")
    (expected,) = asked(scorer, (" ".join(SENTENCES), example.summary)).entailment
    assert found[0] == pytest.approx(expected, abs=1e-6)
    assert np.isnan(found[1])
    with pytest.raises(ConfigurationError, match="choose sentence or whole"):
        get(f"{name}:claims=word")


def test_a_family_for_every_registered_checker(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    entries = [entry for entry in REGISTRY.values() if entry.family]
    assert {entry.family for entry in entries} == set(CHECKERS)
    for entry in entries:
        for name in (entry.name, entry.location):
            with pytest.raises(ModelError, match="hf download") as caught:
                open_scorer(name, device="cpu")
            assert "\n" not in str(caught.value)
            assert f"--model {entry.family}:FOLDER" in str(caught.value)
    assert with_files("minicheck:a/b,claims=whole", str.upper) == "minicheck:A/B,claims=whole"
    assert with_files("minicheck-roberta-large", str.upper) == "minicheck-roberta-large"


def pickled(tiny, path):
    """The authors' kind of file: a pickle with a state dict beside other things."""
    import torch

    state = load_file(tiny("alignscore") / "model.safetensors")
    torch.save({"epoch": 3, "state_dict": state, "hyper_parameters": {"model": "x"}}, path)


def test_the_authors_pickle_is_converted(tiny, asked, opened, tmp_path):
    pickled(tiny, tmp_path / "a.ckpt")
    count = convert_alignscore(tmp_path / "a.ckpt", tiny("alignscore"), tmp_path / "made")
    kept = load_file(tmp_path / "made" / "model.safetensors")
    assert count == sum(tensor.numel() for tensor in kept.values())
    assert "mlm_head.bias" not in kept
    made = open_scorer(f"alignscore:{tmp_path / 'made'}", device="cpu")
    scorer, _ = opened("alignscore:{alignscore}")
    assert asked(made, *PAIRS[:2]).entailment.tolist() == pytest.approx(
        asked(scorer, *PAIRS[:2]).entailment.tolist(), abs=1e-6
    )


class Trap:
    """What runs code when it is unpickled."""

    def __reduce__(self):
        return print, ("code ran",)


def test_files_that_are_no_alignscore(tiny, tmp_path, capsys):
    import torch

    path = tmp_path / "a.ckpt"
    torch.save({"state_dict": {}, "more": Trap()}, path)
    with pytest.raises(ModelError, match="without running code") as caught:
        convert_alignscore(path, tiny("alignscore"), tmp_path / "made")
    assert "\n" not in str(caught.value)
    assert "code ran" not in capsys.readouterr().out
    torch.save({"state_dict": {"other": torch.zeros(1)}}, path)
    with pytest.raises(ModelError, match="holds no base_model"):
        convert_alignscore(path, tiny("alignscore"), tmp_path / "made")
    pickled(tiny, path)
    with pytest.raises(ModelError, match=r"no config\.json and tokenizer files"):
        convert_alignscore(path, tmp_path, tmp_path / "made")
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(ModelError, match="cannot be written"):
        convert_alignscore(path, tiny("alignscore"), tmp_path / "file" / "made")


def test_weights_that_cannot_be_written_leave_no_half_of_them(tiny, tmp_path, monkeypatch):
    def full(_, path):
        path.write_bytes(b"half of it")
        raise SafetensorError("I/O error: No space left on device")

    pickled(tiny, tmp_path / "a.ckpt")
    monkeypatch.setattr("safetensors.torch.save_file", full)
    with pytest.raises(ModelError, match="cannot be written: I/O error"):
        convert_alignscore(tmp_path / "a.ckpt", tiny("alignscore"), tmp_path / "made")
    assert not [*(tmp_path / "made").glob("model.*")]


@pytest.mark.parametrize(("kind", "prefixes"), [
    ("alignscore", ["alignscore"]), ("hhem", ["hhem"]), ("t5", ["minicheck"]),
    ("roberta", ["minicheck", "factcg"]), ("deberta", ["minicheck", "factcg"]),
])  # fmt: skip
@pytest.mark.parametrize("name", ["{}", "nli:{}", "summac-zs:sentence,model={}"])
def test_a_folder_without_its_family_is_told_the_prefix(tiny, kind, prefixes, name):
    folder = tiny(kind)
    with pytest.raises(ModelError) as caught:
        open_scorer(name.format(folder), device="cpu")
    assert "\n" not in str(caught.value)
    assert re.findall(rf"(\w+):{folder}\b", str(caught.value)) == prefixes
    for prefix in prefixes:
        assert open_scorer(f"{prefix}:{folder}", device="cpu").traits.threshold == 0.5


def test_only_folders_of_checkers_are_refused(tiny, tmp_path):
    # Two outputs whose names are given by hand, on the command line or in the config.
    labels = ["not_entailment", "entailment"]
    assert (
        "labels" in open_scorer(str(tiny("roberta")), device="cpu", labels=labels).traits.signature
    )
    named = copied(tiny("roberta"), tmp_path / "named")
    config = json.loads((named / "config.json").read_text(encoding="utf-8"))
    config["id2label"] = dict(enumerate(labels))
    (named / "config.json").write_text(json.dumps(config), encoding="utf-8")
    assert open_scorer(str(named), device="cpu").traits.signature["gran"] == "document"
    # What is no checkpoint is left to whoever opens it.
    for text in ("[]", "{", "{}"):
        (named / "config.json").write_text(text, encoding="utf-8")
        with pytest.raises(ModelError, match="its config cannot be read"):
            open_scorer(str(named), device="cpu")


def copied(source, target, *, leave=()):
    shutil.copytree(source, target, ignore=shutil.ignore_patterns(*leave))
    return target


@pytest.mark.parametrize(("name", "kind", "said"), [
    ("alignscore", "roberta", "not an AlignScore checkpoint"),
    ("alignscore", "deberta", "AlignScore is a RoBERTa"),
    ("hhem", "roberta", "not an HHEM 2.1 checkpoint"),
    ("factcg", "alignscore", "weights are missing"),
])  # fmt: skip
def test_checkpoints_of_another_kind(tiny, name, kind, said):
    with pytest.raises(ModelError, match=said) as caught:
        open_scorer(f"{name}:{tiny(kind)}", device="cpu")
    assert "\n" not in str(caught.value)
    assert "hf download" in str(caught.value)


def test_damaged_checkpoints(tiny, tmp_path):
    bare = copied(tiny("alignscore"), tmp_path / "bare", leave=["model.safetensors"])
    with pytest.raises(ModelError, match="prevalence conv alignscore"):
        open_scorer(f"alignscore:{bare}", device="cpu")
    (bare / "model.safetensors").write_bytes(b"no tensors")
    with pytest.raises(ModelError, match="not safetensors"):
        open_scorer(f"alignscore:{bare}", device="cpu")
    headless = copied(tiny("alignscore"), tmp_path / "headless")
    state = load_file(headless / "model.safetensors")
    save_file({name: tensor for name, tensor in state.items() if "tri" not in name},
              headless / "model.safetensors")  # fmt: skip
    with pytest.raises(ModelError, match=r"missing for classifier\.out_proj"):
        open_scorer(f"alignscore:{headless}", device="cpu")
    assert open_scorer(f"alignscore:{headless},head=bin", device="cpu")


def test_a_prompt_of_its_own(tiny, tmp_path, asked):
    other = copied(tiny("hhem"), tmp_path / "other")
    config = json.loads((other / "config.json").read_text(encoding="utf-8"))
    for prompt, told in (("<pad> {text2} Premise: {text1}", "lacks"), ("x", "lacks")):
        (other / "config.json").write_text(json.dumps(config | {"prompt": prompt}), "utf-8")
        with pytest.raises(ModelError, match=told):
            open_scorer(f"hhem:{other}", device="cpu")
    prompt = "<pad> Premise: {text1} Hypothesis: {text2}"
    (other / "config.json").write_text(json.dumps(config | {"prompt": prompt}), "utf-8")
    scorers = [open_scorer(f"hhem:{folder}", device="cpu") for folder in (other, tiny("hhem"))]
    one, two = (float(asked(scorer, PAIRS[0]).entailment[0]) for scorer in scorers)
    assert one != pytest.approx(two, abs=1e-6)
    assert scorers[0].traits.digest != scorers[1].traits.digest
