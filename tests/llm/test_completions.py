"""Bodies of completions: what is none, and what of one is kept."""

from __future__ import annotations

import json

import pytest

from prevalence.llm.completions import error_text, read_completion
from prevalence.llm.transport import MalformedError


@pytest.mark.parametrize(
    "logprobs",
    ["null", '{"content": [{"token": "4", "logprob": -0.5}]}',
     '{"content": [{"token": "4", "logprob": -0.5, "top_logprobs": []}]}'],
)  # fmt: skip
def test_a_server_without_log_probabilities_says_none(logprobs):
    body = f'{{"choices": [{{"message": {{"content": "4"}}, "logprobs": {logprobs}}}]}}'
    (response,) = read_completion(body, [0], ["4"]).responses
    assert response.logprobs is None
    assert "gives no log-probabilities" in response.error


@pytest.mark.parametrize("content", ['""', '" \\n"', "null"])
def test_an_empty_reply_is_the_error_of_that_reply_alone(content):
    body = (
        f'{{"choices": [{{"message": {{"content": {content}}}, "finish_reason": "length"}}, '
        '{"message": {"content": "4"}}]}'
    )
    empty, sound = read_completion(body, [0, 1], []).responses
    assert empty.error == "the reply has no text (finish_reason 'length')"
    assert (sound.error, sound.text) == (None, "4")


def test_a_list_of_parts_is_read_without_thoughts():
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "Score: 1"}]},
        {"type": "reasoning", "text": "Score: 2"},
        {"type": "text", "text": "Fine. "},
        {"type": "text", "text": "Score: 4"},
        {"type": "text"},
        "Score: 3",
    ]
    body = json.dumps({"choices": [{"message": {"content": parts}}]})
    assert read_completion(body, [0], []).responses[0].text == "Fine. Score: 4"
    body = json.dumps({"choices": [{"message": {"content": parts[:2]}}]})
    assert "no text" in read_completion(body, [0], []).responses[0].error


@pytest.mark.parametrize(
    ("body", "said"),
    [('{"detail": "model is loading"}', ": model is loading"), ('{"choices": []}', "")],
)
def test_an_error_in_place_of_choices_is_told(body, said):
    with pytest.raises(MalformedError) as caught:
        read_completion(body, [0], [])
    assert str(caught.value) == f"the server's reply has no choices{said}"


@pytest.mark.parametrize("nested", ["[" * 500 + "]" * 500, '{"error": ' * 500 + "1" + "}" * 500])
def test_an_error_of_any_depth_is_no_fault(nested):
    assert error_text(json.loads(nested)) == ""


@pytest.mark.parametrize(
    "body",
    ["", "[]", "{}", '{"choices": {}}', '{"choices": [1]}', '{"choices": [{"message": 1}]}',
     "[" * 100_000, "9" * 100_000]
    + [
        '{"choices": [{"message": {"content": ""}, "logprobs": {"content": [{"top_logprobs": '
        f'[{entry}]}}]}}}}]}}'
        for entry in ("1", '{"token": "4"}', '{"token": "4", "logprob": NaN}',
                      '{"token": "4", "logprob": 2.0}',
                      f'{{"token": "4", "logprob": 1{"0" * 400}}}')
    ],
)  # fmt: skip
def test_bodies_that_are_no_completion(body):
    with pytest.raises(MalformedError):
        read_completion(body, [0], ["4"])


def test_nothing_that_a_server_says_breaks_a_file_or_a_sum():
    body = (
        '{"choices": [{"message": {"content": "half \\ud83d"}}], '
        f'"usage": {{"prompt_tokens": 1{"0" * 300}, "completion_tokens": -1}}}}'
    )
    completion = read_completion(body, [0], [])
    assert completion.responses[0].text == "half \ufffd"
    assert (completion.prompt_tokens, completion.completion_tokens) == (None, None)
    entry = f'{{"token": "4", "logprob": -1{"0" * 400}}}'
    body = (
        '{"choices": [{"message": {}, "logprobs": {"content": [{"top_logprobs": '
        f"[{entry}]}}]}}}}]}}"
    )
    assert read_completion(body, [0], ["4"]).responses[0].logprobs == {}
