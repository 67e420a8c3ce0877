"""Prism beside a plain loop over tokens, for each way in which translators name languages."""

import json

import numpy as np
import pytest
import sentencepiece
import torch
import transformers as hf

from prevalence.baselines import Example, Runtime, get
from prevalence.errors import ConfigurationError, ModelError

LIMIT = 32
LETTERS = "▁abcdefghijklmnopqrstuvwxyz.,!?'"


def save_m2m100(folder, words):
    """M2M100: SentencePiece in Python, and the language first."""
    texts = folder / "texts.txt"
    texts.write_text("\n".join([words] * 20), encoding="utf-8")
    sentencepiece.SentencePieceTrainer.train(
        input=str(texts), model_prefix=str(folder / "made"), vocab_size=60, model_type="bpe",
        hard_vocab_limit=False, minloglevel=2,
    )  # fmt: skip
    texts.unlink()
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(folder / "made.model"))
    found = [pieces.id_to_piece(number) for number in range(3, pieces.get_piece_size())]
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    vocabulary = {piece: number for number, piece in enumerate([*special, *found])}
    (folder / "vocab.json").write_text(json.dumps(vocabulary), encoding="utf-8")
    (folder / "made.model").rename(folder / "sentencepiece.bpe.model")
    (folder / "made.vocab").unlink()
    tokenizer = hf.M2M100Tokenizer(
        str(folder / "vocab.json"), str(folder / "sentencepiece.bpe.model"), model_max_length=LIMIT
    )
    tokenizer.save_pretrained(folder)


def save_spelling(folder, kind, codes):
    """A fast tokenizer of letters with tokens for languages; ``kind`` says where they stand."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    pieces = ["<s>", "<pad>", "</s>", "<unk>", *LETTERS]
    if kind == "MBartTokenizer":
        made = Tokenizer(models.Unigram([(piece, -1.0) for piece in pieces], unk_id=3))
    else:
        made = Tokenizer(models.BPE({p: n for n, p in enumerate(pieces)}, [], unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.add_special_tokens([*codes])
    made.save(str(folder / "tokenizer.json"))
    settings = {
        "tokenizer_class": kind, "bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>",
        "unk_token": "<unk>", "sep_token": "</s>", "cls_token": "<s>", "src_lang": codes[0],
        "additional_special_tokens": [*codes], "model_max_length": LIMIT,
    }  # fmt: skip
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")


def save_network(folder, kind, size):
    torch.manual_seed(11)
    config, network = {
        "m2m": (hf.M2M100Config, hf.M2M100ForConditionalGeneration),
        "mbart": (hf.MBartConfig, hf.MBartForConditionalGeneration),
    }[kind]
    network(config(
        vocab_size=size, d_model=16, encoder_layers=1, decoder_layers=1, init_std=0.5,
        encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=20,
        decoder_ffn_dim=20, max_position_embeddings=LIMIT, pad_token_id=1, bos_token_id=0,
        eos_token_id=2, decoder_start_token_id=2,
    )).save_pretrained(folder)  # fmt: skip


@pytest.fixture(scope="module")
def translator(tmp_path_factory):
    """``translator(kind)``: a folder with the numbers of its languages English and German."""
    built = {}

    def build(kind):
        if kind not in built:
            folder = tmp_path_factory.mktemp(kind)
            words = "the boots kept my feet dry in deep snow thin laces . , ! they grip small"
            codes = {
                "M2M100": ("__en__", "__de__"),
                "Nllb": ("eng_Latn", "deu_Latn"),
                "MBart": ("en_XX", "de_DE"),
            }[kind]
            if kind == "M2M100":
                save_m2m100(folder, words)
            else:
                save_spelling(folder, f"{kind}Tokenizer", codes)
            (folder / "config.json").write_text('{"model_type": "m2m_100"}', encoding="utf-8")
            tokenizer = hf.AutoTokenizer.from_pretrained(folder)
            languages = tokenizer.convert_tokens_to_ids([*codes])
            size = max(len(tokenizer), *languages) + 1
            save_network(folder, "mbart" if kind == "MBart" else "m2m", size)
            built[kind] = folder, languages
        return built[kind]

    return build


def pieces_of(folder, text):
    """Token numbers of a text, which leave room for two special ones."""
    tokenizer = hf.AutoTokenizer.from_pretrained(folder)
    return tokenizer(text, add_special_tokens=False)["input_ids"][: LIMIT - 2]


def plain(kind, folder, language, source, target):
    """Mean log-probability of the target's pieces and of its end, one token after another."""
    automatic = hf.AutoModelForSeq2SeqLM.from_pretrained(folder, dtype=torch.float32).eval()
    source, target = pieces_of(folder, source), pieces_of(folder, target)
    given = [*source, 2, language] if kind == "MBart" else [language, *source, 2]
    # mBART's decoder begins with the language, the others with the end and then the language.
    prefix = [language] if kind == "MBart" else [2, language]
    total, wanted = 0.0, [*target, 2]
    for token in wanted:
        with torch.inference_mode():
            logits = automatic(
                input_ids=torch.tensor([given]), decoder_input_ids=torch.tensor([prefix])
            ).logits[0, -1]
        total += float(logits.double().log_softmax(-1)[token])
        prefix.append(token)
    return total / len(wanted)


PAIRS = [
    ("dry boots", "my feet kept dry in snow!"),
    ("thin laces", "thin"),
    ("they grip", "the grip, they"),
]


@pytest.mark.parametrize("kind", ["M2M100", "Nllb", "MBart"])
def test_values_are_a_plain_loops(translator, kind):
    folder, (english, german) = translator(kind)
    examples = [Example(summary, (other, "small"), (other,)) for summary, other in PAIRS]
    both = [
        (plain(kind, folder, english, s, o) + plain(kind, folder, english, o, s)) / 2
        for s, o in PAIRS
    ]
    one = [plain(kind, folder, english, f"{other} small", s) for s, other in PAIRS]
    for budget in (1, 60, None):
        runtime = Runtime(batch_tokens=budget)
        metric = get("prism", model=str(folder), runtime=runtime)
        np.testing.assert_allclose(metric.score(examples), both, atol=1e-5)
        metric = get("prism-src", model=str(folder), runtime=runtime)
        np.testing.assert_allclose(metric.score(examples), one, atol=1e-5)
    code = {"M2M100": "de", "Nllb": "deu_Latn", "MBart": "de_DE"}[kind]
    other = get(f"prism-src:language={code}", model=str(folder))
    expected = plain(kind, folder, german, f"{PAIRS[0][1]} small", PAIRS[0][0])
    assert other.score(examples[:1])[0] == pytest.approx(expected, abs=1e-5)
    assert other.signature["language"] == code
    # Both languages share a network and a tokenizer, and neither changes the other's.
    np.testing.assert_allclose(metric.score(examples), one, atol=1e-5)


def test_references_reviews_and_blank_texts(translator):
    folder, _ = translator("Nllb")
    first, second = "my feet kept dry", "thin laces"
    alone = get("prism", model=str(folder)).score(
        [Example("dry boots", (), (text,)) for text in (first, second)]
    )
    example = Example("dry boots", (first, second), (first, second))
    assert get("prism", model=str(folder)).score([example])[0] == pytest.approx(alone.max())
    for name in ("prism:refs=mean", "prism:against=reviews:source=each"):
        metric = get(name, model=str(folder))
        assert metric.score([example])[0] == pytest.approx(alone.mean(), abs=1e-6)
    metric = get("prism", model=str(folder))
    blank = [example._replace(summary=" "), example._replace(references=("",))]
    assert np.isnan(metric.score(blank)).all()


@pytest.mark.parametrize("kind", ["M2M100", "Nllb"])
def test_long_texts_are_cut_before_their_end_token_and_counted(translator, kind):
    folder, (english, _) = translator(kind)
    metric = get("prism-src", model=str(folder))
    found = metric.score([Example("thin", ("dry " * 40,))])
    assert found[0] == pytest.approx(plain(kind, folder, english, "dry " * 40, "thin"), abs=1e-5)
    assert metric.truncated == 1


@pytest.mark.parametrize(("kind", "code"), [("M2M100", "__de__"), ("Nllb", "deu_Latn")])
def test_special_tokens_in_a_text_are_text(translator, kind, code):
    from prevalence.baselines.generative.prism import TranslationLikelihood

    folder, (_, german) = translator(kind)
    likelihood = TranslationLikelihood(str(folder), Runtime())
    (row,) = likelihood.read([f"dry {code} </s> boots"])
    assert german not in row.ids
    assert row.ids.tolist().count(2) == 1


def test_models_and_languages_that_do_not_fit_are_refused(translator, tiny):
    folder, _ = translator("Nllb")
    for kind, language in (("M2M100", "boots"), ("Nllb", "en"), ("Nllb", "a")):
        with pytest.raises(ConfigurationError, match=f"language={language}: .* no such language"):
            get("prism", model=str(translator(kind)[0]), language=language)
    with pytest.raises(ModelError, match="no tokens for languages; use a translator"):
        get("prism", model=str(tiny("seq2seq")))
    # What only Prism knows how to begin stays refused elsewhere.
    with pytest.raises(ModelError, match="does not say how its decoder begins"):
        get("bartscore-precision", model=str(folder))


def test_a_run_that_was_cut_off_goes_on(translator, resumed):
    folder, (english, _) = translator("M2M100")
    rows = resumed(f'prism-src:model="{folder}"')
    (found,) = rows[0]["metrics"].values()
    source = "My feet kept dry. The laces are thin."
    expected = plain("M2M100", folder, english, source, "The boots kept my feet dry.")
    assert found == pytest.approx(expected, abs=1e-5)
    assert "has no value: a text is empty" in rows[1]["error"]
