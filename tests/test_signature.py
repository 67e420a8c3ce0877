"""Signatures and product statements."""

from __future__ import annotations

from importlib.metadata import version

import pytest

import prevalence
from prevalence.errors import ConfigurationError
from prevalence.signature import (
    TRIVIAL_TEMPLATES,
    build_signature,
    differences,
    package_version,
    statement_of,
    trivial_template,
)


def test_the_two_wordings_keep_their_names():
    assert TRIVIAL_TEMPLATES == {
        "name": "I bought a {name}.", "script": "I bought {name}.", "hotel": "I stayed at {name}.",
    }  # fmt: skip
    for name, text in TRIVIAL_TEMPLATES.items():
        assert trivial_template(name) == trivial_template(text) == (text, name)


def test_no_template_is_told_from_no_name():
    assert trivial_template(None) == (None, "off")
    off, unnamed, usual = (f"prev|thr:0.5|trivial:{part}|v:1" for part in ("off", "none", "name"))
    assert differences([off, usual]) == {"trivial": ["off", "name"]}
    assert differences([unnamed, usual]) == {}


def test_custom_templates_are_told_apart_by_a_digest():
    texts = ["This is a {name}.", "This is the {name}."]
    resolved = [trivial_template(text) for text in texts]
    assert [text for text, _ in resolved] == texts
    names = [name for _, name in resolved]
    assert len(set(names)) == 2
    for name in names:
        assert name.startswith("custom-")
        assert len(name) == len("custom-") + 8


def test_a_template_that_utf8_cannot_hold_is_repaired():
    assert trivial_template("A {name}\udcff.") == trivial_template("A {name}\ufffd.")


@pytest.mark.parametrize("text", ["", "I bought it.", "{}", "{Name}"])
def test_a_template_without_the_name_is_refused(text):
    with pytest.raises(ConfigurationError, match=r"lacks \{name\}"):
        trivial_template(text)


@pytest.mark.parametrize("value", [5, ["I bought a {name}."]])
def test_a_template_that_is_no_text_is_refused(value):
    with pytest.raises(ConfigurationError, match=f"is {type(value).__name__}, not text"):
        trivial_template(value)


def test_without_a_template_or_a_name_nothing_is_stated():
    assert statement_of("A {name}.", r"\1 {name}") == r"A \1 {name}."
    assert statement_of(None, "lamp") is statement_of("A {name}.", None) is None


def test_parts_stand_in_a_fixed_order_and_the_version_last():
    parts = {
        "zeta": "1", "thr": "0.04", "matrix": "full", "split": "s", "nli": "m@1", "dtype": "f",
        "trunc": "512", "limit": "9", "trivial": "name", "gran": "document", "score": "hard",
    }  # fmt: skip
    expected = ("prev|nli:m@1|gran:document|thr:0.04|trivial:name|split:s|trunc:512|dtype:f"
                f"|score:hard|matrix:full|limit:9|zeta:1|v:{package_version()}")  # fmt: skip
    assert build_signature(parts) == build_signature(dict(reversed(parts.items()))) == expected


def test_the_version_has_one_source():
    assert package_version() == version("prevalence") == prevalence.__version__


def test_differences_of_signatures_are_those_of_the_scores():
    first = "prev|nli:a@1|thr:0.5|trivial:name|unit:claim-rule|v:1"
    assert differences([]) == differences([first]) == {}
    others = ("prev|nli:a@1|thr:0.5|trivial:none|unit:claim-record|evidence:sentence|v:1",)
    assert differences([first, *others]) == {}
    changed = "prev|nli:b@2|thr:0.5|trivial:script|reviews:date>=2024-05|v:1"
    assert differences([first, changed]) == {
        "nli": ["a@1", "b@2"],
        "trivial": ["name", "script"],
        "unit": ["claim", "none"],
        "reviews": ["none", "date>=2024-05"],
    }
