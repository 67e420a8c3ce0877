"""Causal language models of Hugging Face as judges: shared prompts are read once.

Each row of a batch draws its own random numbers, a function of prompt, seed and sample, so that a
reply does not depend on which others are drawn beside it. Prompts are read one by one and without
padding, so that the first token's probabilities do not depend on them at all.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Literal

from prevalence.baselines.judges.local_model import LanguageModel, load_language_model, log_sum
from prevalence.baselines.judges.local_prefix import PrefixReader, Prompt, cache_of, layers_of
from prevalence.baselines.judges.protocol import Response

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import numpy as np
    from torch import Tensor

    from prevalence.baselines.judges.backends import BackendOptions
    from prevalence.baselines.judges.protocol import Keep, Request, Sampling

__all__ = ["Local", "open_backend"]

_BATCH_TOKENS = {"cuda": 1 << 18}
_CPU_BATCH_TOKENS = 1 << 15
_WORK_UNIT = 256


class Local:
    """A causal language model in this process.

    Args:
        language_model: the model.
        batch_tokens: most tokens of keys and values that are held for a batch of replies; halved
            by itself when memory runs out.
        reuse: False reads the whole prompt for every single reply, as a comparison.
    """

    work_unit = _WORK_UNIT

    def __init__(
        self, language_model: LanguageModel, *, batch_tokens: int | None = None, reuse: bool = True
    ) -> None:
        self._model = language_model
        kind = language_model.device.type
        self._batch_tokens = batch_tokens or _BATCH_TOKENS.get(kind, _CPU_BATCH_TOKENS)
        self.reader = PrefixReader(language_model.model, language_model.device, reuse=reuse)
        self._reuse = reuse

    @property
    def signature(self) -> Mapping[str, str]:
        """Model, precision and template."""
        model = self._model
        return {
            "backend": "hf",
            "model": model.name,
            "dtype": model.dtype,
            "template": model.template,
        }

    def complete(
        self, requests: Sequence[Request], *, keep: Keep | None = None
    ) -> list[list[Response]]:
        """Answer requests; see :meth:`Backend.complete`."""
        found: list[dict[int, Response]] = [{} for _ in requests]

        def take(place: int, response: Response) -> None:
            found[place][response.index] = response
            if keep is not None and response.error is None:
                keep(requests[place], response)

        tasks = [_Task(k, r, self._model.encode(r.messages)) for k, r in enumerate(requests)]
        for task in (task for task in tasks if len(task.ids) >= self._model.limit):
            for response in self._too_long(task):
                take(task.place, response)
        fitting = [task for task in tasks if len(task.ids) < self._model.limit]
        # Drawn alike, batched together; sorted, so that common beginnings follow one another.
        fitting.sort(key=lambda task: (task.way, task.ids))
        for _, group in groupby(fitting, key=lambda task: task.way):
            for rows in self._batches(group, take):
                self._draw(rows, take)
        return [
            [responses[index] for index in request.indices]
            for request, responses in zip(requests, found, strict=True)
        ]

    def describe(self) -> str:
        """How many tokens the model had to read, in one line."""
        read, asked = self.reader.read_tokens, self.reader.asked_tokens
        return f"{read:,} of {asked:,} prompt tokens were read, the others shared"

    def close(self) -> None:
        """Nothing is held beyond the model itself."""

    def _too_long(self, task: _Task) -> Iterator[Response]:
        for index in task.request.indices:
            yield Response(
                index=index,
                error=f"the prompt has {len(task.ids):,} tokens and the model takes "
                f"{self._model.limit:,}, reply included; give fewer or shorter reviews",
            )

    def _batches(
        self, tasks: Iterator[_Task], take: Callable[[int, Response], None]
    ) -> Iterator[list[_Row]]:
        """Rows whose replies are drawn together; what needs no drawing is taken at once."""
        rows: list[_Row] = []
        longest = 0
        for task in tasks:
            prompt = self.reader.read(task.ids)
            if task.request.answers:
                take(task.place, self._weighed(task, prompt))
                continue
            for number, index in enumerate(task.request.indices):
                if number and not self._reuse:
                    prompt = self.reader.read(task.ids)
                row = _Row(task, index, prompt, self._room(task))
                width = max(longest, prompt.length + row.room)
                if rows and width * (len(rows) + 1) > self._batch_tokens:
                    yield rows
                    rows, width = [], prompt.length + row.room
                rows.append(row)
                longest = width
        if rows:
            yield rows

    def _room(self, task: _Task) -> int:
        return min(task.request.sampling.max_tokens, self._model.limit - len(task.ids))

    def _weighed(self, task: _Task, prompt: Prompt) -> Response:
        """Log-probability of every answer as the beginning of the reply."""
        return Response(
            index=task.request.indices[0],
            prompt_tokens=prompt.length,
            logprobs={
                answer: log_sum(
                    [
                        self._log_probability(task, prompt, ids)
                        for ids in self._model.spellings(answer)
                    ]
                )
                for answer in task.request.answers
            },
        )

    def _log_probability(self, task: _Task, prompt: Prompt, ids: tuple[int, ...]) -> float:
        total = 0.0
        so_far = list(task.ids)
        for token in ids:
            total += float(prompt.logits.log_softmax(dim=-1)[token])
            so_far.append(token)
            if len(so_far) < len(task.ids) + len(ids):
                prompt = self.reader.follow(prompt.layers, so_far, len(so_far) - 1)
        return total

    def _draw(self, rows: list[_Row], take: Callable[[int, Response], None]) -> None:
        """Draw the replies of a batch, in halves where memory does not suffice."""
        import torch

        try:
            self._draw_together(rows, take)
        except torch.OutOfMemoryError:
            left = [row for row in rows if not row.done]
            if len(left) < 2:
                raise
            torch.cuda.empty_cache()
            self._batch_tokens = max(1, self._batch_tokens // 2)
            for row in left:
                row.drawn.clear()
            self._draw(left[: len(left) // 2], take)
            self._draw(left[len(left) // 2 :], take)

    def _draw_together(self, rows: list[_Row], take: Callable[[int, Response], None]) -> None:
        import torch

        batch = _Batch(rows, self._model)
        logits = torch.stack([row.prompt.logits for row in rows])
        while rows:
            tokens = _choose(logits, rows)
            for row, token in zip(rows, tokens, strict=True):
                row.add(token, self._model.ends)
                if row.done:
                    take(row.task.place, self._response(row))
            going = [place for place, row in enumerate(rows) if not row.done]
            rows = [rows[place] for place in going]
            if rows:
                logits = batch.step([tokens[place] for place in going], going)

    def _response(self, row: _Row) -> Response:
        return Response(
            index=row.index,
            text=self._model.decode(row.drawn),
            prompt_tokens=row.prompt.length,
            completion_tokens=len(row.drawn) + row.ended,
            finish=row.finish,
        )


@dataclass(frozen=True, slots=True)
class _Task:
    """A request with its place and its tokens."""

    place: int
    request: Request
    ids: list[int]

    @property
    def way(self) -> tuple[float, float, int]:
        """How tokens are drawn; batches are of one way."""
        sampling = self.request.sampling
        return sampling.temperature, sampling.top_p, sampling.top_k or 0

    @property
    def name(self) -> str:
        return " ".join(map(str, self.ids))


@dataclass(slots=True)
class _Row:
    """A reply in the making."""

    task: _Task
    index: int
    prompt: Prompt
    room: int
    drawn: list[int] = field(default_factory=list)
    ended: bool = False
    numbers: np.ndarray | None = None

    @property
    def done(self) -> bool:
        return self.ended or len(self.drawn) >= self.room

    @property
    def finish(self) -> Literal["stop", "length"]:
        return "stop" if self.ended else "length"

    def add(self, token: int, ends: frozenset[int]) -> None:
        if token in ends:
            self.ended = True
        else:
            self.drawn.append(token)

    def number(self) -> float:
        """The random number of the next token."""
        from prevalence.simplify.nucleus import uniforms

        if self.numbers is None:
            seed = (self.task.request.sampling.seed or 0) + self.index
            self.numbers = uniforms(self.task.name, samples=1, steps=self.room, seed=seed)[0]
        return float(self.numbers[len(self.drawn)])


class _Batch:
    """Keys and values of several replies, padded on the left to one length."""

    def __init__(self, rows: Sequence[_Row], language_model: LanguageModel) -> None:
        import torch

        self._model = language_model
        lengths = [row.prompt.length for row in rows]
        most = max(lengths)
        device = language_model.device
        self._layers = [
            (
                torch.cat([_padded(row.prompt.layers[k][0], most) for row in rows]),
                torch.cat([_padded(row.prompt.layers[k][1], most) for row in rows]),
            )
            for k in range(len(rows[0].prompt.layers))
        ]
        self._cache = cache_of(self._layers)
        self._next = torch.tensor(lengths, device=device)
        self._mask = (torch.arange(most, device=device) >= most - self._next.unsqueeze(1)).long()

    def step(self, tokens: Sequence[int], going: Sequence[int]) -> Tensor:
        """Append a token to the rows that go on, and leave the others behind.

        Returns:
            float [rows that go on, vocabulary], logits of what follows.
        """
        import torch

        if len(going) < len(self._mask):
            chosen = torch.tensor(going, device=self._model.device)
            self._mask, self._next = self._mask[chosen], self._next[chosen]
            layers = [(keys[chosen], values[chosen]) for keys, values in layers_of(self._cache)]
            self._cache = cache_of(layers)
        self._mask = torch.nn.functional.pad(self._mask, (0, 1), value=1)
        with torch.inference_mode():
            logits: Tensor = self._model.model(
                input_ids=torch.tensor(tokens, device=self._model.device).unsqueeze(1),
                attention_mask=self._mask,
                position_ids=self._next.unsqueeze(1),
                past_key_values=self._cache,
                use_cache=True,
            ).logits
        self._next = self._next + 1
        return logits[:, -1].float()


def _padded(tensor: Tensor, length: int) -> Tensor:
    import torch

    return torch.nn.functional.pad(tensor, (0, 0, length - tensor.shape[2], 0))


def _choose(logits: Tensor, rows: Sequence[_Row]) -> list[int]:
    """The next token of every row; all rows are drawn in one way."""
    import torch

    from prevalence.simplify.nucleus import nucleus_choice

    sampling: Sampling = rows[0].task.request.sampling
    if sampling.temperature == 0:
        chosen = logits.argmax(dim=-1)
    else:
        logits = logits / sampling.temperature
        if sampling.top_k is not None and sampling.top_k < logits.shape[1]:
            least = logits.topk(sampling.top_k, dim=-1).values[:, -1:]
            logits = logits.masked_fill(logits < least, -torch.inf)
        numbers = torch.tensor([row.number() for row in rows], device=logits.device)
        chosen = nucleus_choice(logits, numbers, sampling.top_p)
    return [int(token) for token in chosen.tolist()]


def open_backend(target: str, options: BackendOptions) -> Local:
    """Open a checkpoint folder."""
    model = load_language_model(target, device=options.device, dtype=options.dtype)
    return Local(model, batch_tokens=options.batch_tokens, reuse=options.reuse)
