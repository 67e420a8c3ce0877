import os
import stat
import sys
from itertools import pairwise

import numpy as np
import pytest

from prevalence.baselines import Example, get
from prevalence.baselines.lexical.meteor import meteor_words, missing_wordnet
from prevalence.baselines.lexical.meteor_jar import missing_java
from prevalence.errors import BackendError, MissingDependencyError


class NoWordNet:
    def synsets(self, word):
        return []


def test_by_hand():
    # "boots"/"boot" by stem, "warm" exactly, in one chunk each: P = 2/2, R = 2/3,
    # F = PR/(.9P + .1R) = 20/29, penalty .5 (2/2)^3.
    example = Example("warm boots", (), ("boot very warm",))
    assert get("meteor:exact-stem").score([example]).item() == pytest.approx(20 / 29 * 0.5)


@pytest.fixture
def word_tokenize(tmp_path, monkeypatch):
    """NLTK's ``word_tokenize``, its data written from the model in the ``punkt`` package."""
    import nltk
    import punkt
    from nltk.tokenize.punkt import PunktParameters, save_punkt_params

    learnt, model = PunktParameters(), punkt.load_model("english")
    for name in ("abbrev_types", "collocations", "sent_starters"):
        setattr(learnt, name, set(getattr(model, name)))
    learnt.ortho_context.update({word: int(seen) for word, seen in model.ortho_context.items()})
    folder = tmp_path / "tokenizers" / "punkt_tab" / "english"
    folder.mkdir(parents=True)
    # NLTK writes to no other folders than these.
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    save_punkt_params(learnt, dir=str(folder))
    return nltk.word_tokenize


@pytest.mark.parity
def test_equal_to_nltk(summary_pairs, word_tokenize):
    from nltk.translate.meteor_score import meteor_score

    examples = [Example(a, (), (b, c)) for (a, b), (_, c) in pairwise(summary_pairs)]
    examples.append(Example("So warm.!", (), ("So warm",)))
    theirs = [
        meteor_score(
            [word_tokenize(r) for r in e.references], word_tokenize(e.summary), wordnet=NoWordNet()
        )
        for e in examples
    ]
    np.testing.assert_array_equal(get("meteor:exact-stem").score(examples), theirs)


@pytest.mark.parametrize("text", ["So warm.!", "Is it?! Yes. No.?", "Dr. Lee can't (or won't)"])
def test_words_are_those_of_nltk(word_tokenize, text):
    assert list(meteor_words(text)) == word_tokenize(text)


def test_few_texts_are_remembered():
    # Only the texts of one product come again, and joined reviews may be long.
    assert meteor_words.cache_parameters()["maxsize"] <= 64


@pytest.fixture
def tiny_wordnet(tmp_path, monkeypatch):
    """NLTK's data folder with a WordNet of one set of synonyms: footwear, shoe."""
    import nltk
    from nltk.corpus.reader.api import CorpusReader
    from nltk.corpus.reader.wordnet import WordNetCorpusReader
    from nltk.corpus.util import LazyCorpusLoader

    folder = tmp_path / "corpora" / "wordnet"
    folder.mkdir(parents=True)
    for kind in ("adj", "adv", "noun", "verb"):
        for name in (f"{kind}.exc", f"index.{kind}", f"data.{kind}"):
            (folder / name).write_text("")
    for name in ("cntlist.rev", "index.sense"):
        (folder / name).write_text("")
    (folder / "lexnames").write_text("00\tnoun.artifact\t1\n")
    (folder / "data.noun").write_text("00000000 00 n 02 footwear 0 shoe 0 000 | worn on feet  \n")
    (folder / "index.noun").write_text("footwear n 1 0 1 0 00000000  \nshoe n 1 0 1 0 00000000  \n")
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    other_languages = LazyCorpusLoader("omw-2.0", CorpusReader, ".*")
    reader = LazyCorpusLoader("wordnet", WordNetCorpusReader, other_languages)
    monkeypatch.setattr(nltk.corpus, "wordnet", reader)
    yield folder
    for file in getattr(reader, "_data_file_map", {}).values():
        file.close()


def test_synonyms_come_from_wordnet(tiny_wordnet):
    example = Example("warm footwear", (), ("warm shoe",))
    # All match in one chunk: 1 − .5 (1/2)^3; without synonyms one of two does: .5 · .5.
    assert get("meteor").score([example]) == [1 - 0.5 / 8]
    assert get("meteor:exact-stem").score([example]) == [0.25]
    assert get("meteor").signature["stages"] == "exact+stem+wordnet"


def test_without_wordnet_nothing_is_silent(tmp_path, monkeypatch):
    import nltk

    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    assert "WordNet" in missing_wordnet()
    with pytest.raises(MissingDependencyError, match="meteor:exact-stem"):
        get("meteor")
    assert get("meteor:exact-stem").signature["stages"] == "exact+stem"


JAVA = """#!{python}
import sys
if sys.argv[1:3] != ["-Xmx2G", "-jar"] or sys.argv[4:] != "- - -stdio -l en -norm".split():
    sys.exit("unexpected arguments")
for line in sys.stdin:
    command, *parts = [part.strip() for part in line.split("|||")]
    if command == "SCORE":
        *references, hypothesis = parts
        if hypothesis == "die":
            sys.exit(3)
        print(len(references), len(hypothesis.split()), flush=True)
    else:
        print("nonsense" if parts[0] == "1 2" else int(parts[0].split()[1]) / 10)
        print("nonsense" if parts[0] == "1 2" else int(parts[0].split()[1]) / 8, flush=True)
"""


@pytest.fixture
def program(tmp_path, monkeypatch):
    """A jar, and a ``java`` that speaks METEOR's protocol: a score is a count of words over 8."""
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text(JAVA.format(python=sys.executable))
    java.chmod(java.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{java.parent}{os.pathsep}{os.environ['PATH']}")
    jar = tmp_path / "meteor:1,5.jar"
    jar.write_bytes(b"not really a jar")
    return get(f'meteor-1.5:jar="{jar}"')


def test_meteor_15_speaks_with_its_program(program):
    texts = ["one", "one ||| two\nthree", "", "a b c d"]
    values = program.score([Example(text, (), ("a ||| b\nc",)) for text in texts])
    # The separator goes, so that there is always one reference; line ends become spaces.
    assert values.tolist() == [1 / 8, 3 / 8, 0, 4 / 8]
    assert program.signature["impl"].startswith("meteor-1.5@")


def test_a_jar_in_the_home_folder(program, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    near = get('meteor-1.5:jar="~/meteor:1,5.jar"')
    assert near.signature == program.signature


@pytest.mark.parametrize(("text", "message"), [("a b", "not a number"), ("die", "has ended")])
def test_a_program_that_fails_is_a_backend_failure(program, text, message):
    with pytest.raises(BackendError, match=message):
        program.score([Example(text, (), ("a",))])


def test_without_java_the_listing_says_so(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "Java" in missing_java()
    with pytest.raises(MissingDependencyError, match="Java"):
        get("meteor-1.5:jar=x.jar")
