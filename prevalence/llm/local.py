"""Causal language models of Hugging Face as judges: shared prompts are read once.

Each row of a batch draws its own random numbers, a function of prompt, seed and sample, so that a
reply does not depend on which others are drawn beside it. Prompts are read one by one and without
padding, so that the first token's probabilities do not depend on them at all.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from prevalence.errors import ModelError
from prevalence.llm.local_model import LanguageModel, load_language_model, log_sum
from prevalence.llm.protocol import Response, sample_seed
from prevalence.models.devices import RoomErrorsPassed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import numpy as np
    from torch import Tensor

    from prevalence.llm.backends import BackendOptions
    from prevalence.llm.protocol import Keep, Request, Sampling

__all__ = [
    "Local",
    "PrefixReader",
    "Prompt",
    "cache_of",
    "common_length",
    "layers_of",
    "open_backend",
]


KeptLayers = list[tuple["Tensor", "Tensor"]]
"""Keys and values of every layer, each [rows, heads, tokens, width]."""


class Prompt(NamedTuple):
    """A prompt that the model has read.

    Attributes:
        layers: keys and values of every layer, of one row.
        logits: float [vocabulary], of the token that follows.
        length: its tokens.
    """

    layers: KeptLayers
    logits: Tensor
    length: int


class PrefixReader:
    """Reads prompts, and remembers the last one.

    Args:
        model: a causal language model.
        device: where it runs.
        reuse: False reads every prompt from its beginning.

    Attributes:
        read_tokens: tokens that the model has read.
        asked_tokens: tokens of the prompts that were asked for.
    """

    def __init__(self, model: Any, device: Any, *, reuse: bool = True) -> None:
        self._model = model
        self._device = device
        self._reuse = reuse
        self._ids: list[int] = []
        self._last: Prompt | None = None
        self.read_tokens = 0
        self.asked_tokens = 0

    def read(self, ids: Sequence[int]) -> Prompt:
        """Read a prompt of at least one token.

        Raises:
            ModelError: the model does not keep keys and values for every layer.
        """
        self.asked_tokens += len(ids)
        shared = common_length(self._ids, ids) if self._reuse and self._last else 0
        if self._last is not None and shared == len(ids) == len(self._ids):
            return self._last
        # The last token is read in any case: its output is what follows.
        shared = min(shared, len(ids) - 1)
        before = [] if self._last is None else [_first(pair, shared) for pair in self._last.layers]
        self._last = self.follow(before if shared else [], ids, shared)
        self._ids = list(ids)
        return self._last

    def forget(self) -> None:
        """Let go of the last prompt, where memory is short."""
        self._last, self._ids = None, []

    def follow(self, layers: KeptLayers, ids: Sequence[int], shared: int) -> Prompt:
        """Read ``ids[shared:]`` after keys and values of ``ids[:shared]``."""
        import torch

        new = torch.tensor([list(ids[shared:])], device=self._device)
        self.read_tokens += new.shape[1]
        cache = cache_of(layers)
        with torch.inference_mode():
            logits = self._model(
                input_ids=new,
                attention_mask=torch.ones(1, len(ids), dtype=torch.long, device=self._device),
                position_ids=torch.arange(shared, len(ids), device=self._device).unsqueeze(0),
                **handed(self._model, cache),
                use_cache=True,
                logits_to_keep=1,
            ).logits
        return Prompt(layers_of(cache), logits[0, -1].float(), len(ids))


def common_length(first: Sequence[int], second: Sequence[int]) -> int:
    """Number of equal items at the beginning of both.

    >>> common_length([1, 2, 3], [1, 2, 4, 5])
    2
    """
    for place, (one, other) in enumerate(zip(first, second, strict=False)):
        if one != other:
            return place
    return min(len(first), len(second))


def cache_of(layers: Iterable[tuple[Tensor, Tensor]]) -> Any:
    """A cache that holds these keys and values; it adds to them without changing them."""
    from transformers import DynamicCache

    cache: Any = DynamicCache()
    for place, (keys, values) in enumerate(layers):
        cache.update(keys, values, place)
    return cache


def handed(model: Any, cache: Any) -> dict[str, Any]:
    """A cache under the name that the model takes it by: transformers 5.24 renamed the argument."""
    known = inspect.signature(type(model).forward).parameters
    return {"cache" if "cache" in known else "past_key_values": cache}


def layers_of(cache: Any) -> KeptLayers:
    """Keys and values of a cache.

    Raises:
        ModelError: a layer keeps something else.
    """
    layers: Any = [
        (getattr(one, "keys", None), getattr(one, "values", None)) for one in cache.layers
    ]
    if not layers or any(keys is None or values is None for keys, values in layers):
        raise ModelError(
            "this model does not keep keys and values for every layer, which replies could share; "
            "serve it and use openai:MODEL"
        )
    whole: KeptLayers = layers
    return whole


def _first(pair: tuple[Tensor, Tensor], tokens: int) -> tuple[Tensor, Tensor]:
    return pair[0][:, :, :tokens], pair[1][:, :, :tokens]


_BATCH_TOKENS = 1 << 15
_CUDA_BATCH_TOKENS = 1 << 18
_WORK_UNIT = 256
_GREEDY = 1e-30
"""Below it, logits by temperature are beyond the range of floats, and one token has it all."""


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
        on_cuda = language_model.device.type == "cuda"
        self._batch_tokens = batch_tokens or (_CUDA_BATCH_TOKENS if on_cuda else _BATCH_TOKENS)
        self.reader = PrefixReader(language_model.model, language_model.device, reuse=reuse)
        self._reuse = reuse
        self.signature = {
            "backend": "hf",
            "model": language_model.name,
            "dtype": language_model.dtype,
            "template": language_model.template,
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
        fitting = []
        for task in tasks:
            error = self._unanswerable(task)
            if error is None:
                fitting.append(task)
                continue
            for index in task.request.indices:
                take(task.place, Response(index=index, error=error))
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

    def _unanswerable(self, task: _Task) -> str | None:
        """Why a prompt cannot be answered, or None."""
        if task.request.answers and self._model.opening:
            return (
                "this model's chat template begins a thought, whose probabilities are none of the "
                "answer's; use --form samples or another model"
            )
        if len(task.ids) < self._model.limit:
            return None
        return (
            f"the prompt has {len(task.ids):,} tokens and the model takes "
            f"{self._model.limit:,}, reply included; give fewer or shorter reviews"
        )

    def _batches(
        self, tasks: Iterator[_Task], take: Callable[[int, Response], None]
    ) -> Iterator[list[_Row]]:
        """Rows whose replies are drawn together; what needs no drawing is taken at once.

        A batch is emptied after it was drawn, so that nothing holds its keys and values.
        """
        rows: list[_Row] = []
        longest = 0
        for task, indices in self._readings(tasks):
            read = self._read(task)
            if read is None and rows:
                yield rows
                rows.clear()
                self._batch_tokens = max(1, self._batch_tokens // 2)
            # Once more in any case: the prompt before was let go.
            read = read or self._read(task)
            if not isinstance(read, Prompt):
                for index in indices:
                    take(task.place, read or self._too_large("prompt", index))
                continue
            for index in indices:
                own = read.length + self._room(task)
                if rows and max(longest, own) * (len(rows) + 1) > self._batch_tokens:
                    yield rows
                    rows.clear()
                longest = max(longest, own) if rows else own
                rows.append(_Row(task, index, read, self._room(task)))
        if rows:
            yield rows

    def _readings(self, tasks: Iterator[_Task]) -> Iterator[tuple[_Task, tuple[int, ...]]]:
        """Tasks with the samples that one reading of the prompt serves."""
        for task in tasks:
            indices = task.request.indices
            for part in [indices] if self._reuse else [(index,) for index in indices]:
                yield task, part

    def _read(self, task: _Task) -> Prompt | Response | None:
        """A prompt, or the response where nothing is drawn; None where memory does not suffice."""
        import torch

        with RoomErrorsPassed():
            prompt = self.reader.read(task.ids)
            return self._weighed(task, prompt) if task.request.answers else prompt
        self.reader.forget()
        torch.cuda.empty_cache()
        return None

    def _too_large(self, what: str, index: int) -> Response:
        error = (
            f"the {what} does not fit the memory of {self._model.device}; use --device cpu or a "
            "smaller model, or give fewer or shorter reviews"
        )
        return Response(index=index, error=error)

    def _room(self, task: _Task) -> int:
        return min(task.request.sampling.max_tokens, self._model.limit - len(task.ids))

    def _weighed(self, task: _Task, prompt: Prompt) -> Response:
        """Log-probability of every answer as the beginning of the reply."""
        found = {}
        for answer in task.request.answers:
            spellings = self._model.spellings(answer)
            found[answer] = log_sum([self._log_probability(task, prompt, s) for s in spellings])
        first = task.request.indices[0]
        return Response(index=first, prompt_tokens=prompt.length, logprobs=found)

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

        with RoomErrorsPassed():
            self._draw_together(rows, take)
            return
        # Not in a handler, whose error would hold the failed tensors alive.
        torch.cuda.empty_cache()
        left = [row for row in rows if not row.done]
        if len(left) == 1:
            take(left[0].task.place, self._too_large("reply", left[0].index))
            return
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
            text=self._model.opening + self._model.decode(row.drawn),
            prompt_tokens=row.prompt.length,
            completion_tokens=len(row.drawn) + row.ended,
            finish="stop" if row.ended else "length",
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

    def add(self, token: int, ends: frozenset[int]) -> None:
        if token in ends:
            self.ended = True
        else:
            self.drawn.append(token)

    def number(self) -> float:
        """The random number of the next token."""
        from prevalence.llm.nucleus import uniforms

        if self.numbers is None:
            seed = sample_seed(self.task.request.sampling.seed or 0, self.index)
            name = " ".join(map(str, self.task.ids))
            self.numbers = uniforms(name, samples=1, steps=self.room, seed=seed)[0]
        return float(self.numbers[len(self.drawn)])


class _Batch:
    """Keys and values of several replies, padded on the left to one length."""

    def __init__(self, rows: Sequence[_Row], language_model: LanguageModel) -> None:
        import torch

        self._model = language_model
        lengths = [row.prompt.length for row in rows]
        most = max(lengths)
        device = language_model.device
        self._cache = cache_of(
            (
                torch.cat([_padded(row.prompt.layers[k][0], most) for row in rows]),
                torch.cat([_padded(row.prompt.layers[k][1], most) for row in rows]),
            )
            for k in range(len(rows[0].prompt.layers))
        )
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
            self._cache = cache_of(
                (keys[chosen], values[chosen]) for keys, values in layers_of(self._cache)
            )
        self._mask = torch.nn.functional.pad(self._mask, (0, 1), value=1)
        with torch.inference_mode():
            logits: Tensor = self._model.model(
                input_ids=torch.tensor(tokens, device=self._model.device).unsqueeze(1),
                attention_mask=self._mask,
                position_ids=self._next.unsqueeze(1),
                **handed(self._model.model, self._cache),
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

    from prevalence.llm.nucleus import nucleus_choice

    sampling: Sampling = rows[0].task.request.sampling
    if sampling.temperature < _GREEDY:
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
