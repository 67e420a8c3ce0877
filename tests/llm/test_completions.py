"""Bodies of completions: what is none, and what of one is kept."""

from __future__ import annotations

import pytest

from prevalence.llm.completions import read_completion
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
