"""vLLM's offline engine as a backend, where it is installed: it batches and shares by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prevalence.errors import ConfigurationError, MissingDependencyError, ModelError, first_line
from prevalence.llm.completions import answer_log_probabilities
from prevalence.llm.local_model import model_name
from prevalence.llm.protocol import Response, sample_seed
from prevalence.models.location import local_folder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prevalence.llm.backends import BackendOptions
    from prevalence.llm.protocol import Keep, Request

__all__ = ["Vllm", "open_backend"]

_TOP = 20


class Vllm:
    """A checkpoint in vLLM's engine.

    Args:
        engine: a ``vllm.LLM``.
        sampling_params: the class ``vllm.SamplingParams``.
        signature: what names the model.
    """

    work_unit = 1024

    def __init__(self, engine: Any, sampling_params: Any, signature: Mapping[str, str]) -> None:
        self._engine = engine
        self._sampling_params = sampling_params
        self.signature = signature

    def complete(
        self, requests: Sequence[Request], *, keep: Keep | None = None
    ) -> list[list[Response]]:
        """Answer requests; see :meth:`Backend.complete`."""
        asked = [(request, index) for request in requests for index in request.indices]
        answered = iter(self._answered(asked, keep))
        return [[next(answered) for _ in request.indices] for request in requests]

    def describe(self) -> str:
        """Nothing: the engine shows what it does by itself."""
        return ""

    def _answered(self, asked: Sequence[tuple[Request, int]], keep: Keep | None) -> list[Response]:
        """Replies in order; the engine refuses a whole call for one prompt that is too long."""
        try:
            outputs = self._engine.chat(
                [[message._asdict() for message in request.messages] for request, _ in asked],
                [self._params(request, index) for request, index in asked],
                use_tqdm=False,
            )
        except ValueError as error:
            if len(asked) == 1:
                return [Response(index=asked[0][1], error=f"vllm: {first_line(error)}")]
            half = len(asked) // 2
            return self._answered(asked[:half], keep) + self._answered(asked[half:], keep)
        found = []
        for (request, index), output in zip(asked, outputs, strict=True):
            found.append(_response(request, index, output))
            if keep is not None:
                keep(request, found[-1])
        return found

    def _params(self, request: Request, index: int) -> Any:
        sampling = request.sampling
        seed = None if sampling.seed is None else sample_seed(sampling.seed, index)
        if request.answers:
            return self._sampling_params(temperature=1.0, max_tokens=1, logprobs=_TOP, seed=seed)
        return self._sampling_params(
            temperature=sampling.temperature,
            top_p=sampling.top_p,
            top_k=sampling.top_k or -1,
            max_tokens=sampling.max_tokens,
            seed=seed,
        )


def open_backend(target: str, options: BackendOptions) -> Vllm:
    """Open a checkpoint folder.

    Raises:
        MissingDependencyError: vLLM is not installed.
        ModelError: the folder is missing or the engine refuses it.
        ConfigurationError: an option that the engine does not take.
    """
    path = local_folder(target, "causal language model's")
    if options.device not in {"auto", "cuda"}:
        raise ConfigurationError(
            f"vllm chooses its device itself; leave --device {options.device} out"
        )
    try:
        import vllm
    except ImportError as error:
        raise MissingDependencyError(
            "vllm: is not installed: pip install vllm (it needs a GPU), or use hf:PATH"
        ) from error
    try:
        engine = vllm.LLM(
            model=str(path),
            dtype=options.dtype,
            trust_remote_code=False,
            enable_prefix_caching=options.reuse,
            max_logprobs=_TOP,
        )
    except (ValueError, RuntimeError, OSError) as error:
        raise ModelError(f"{target}: vllm: {first_line(error)}") from error
    signature = {
        "backend": "vllm",
        "model": model_name(path),
        "dtype": options.dtype,
        "vllm": str(vllm.__version__),
    }
    return Vllm(engine, vllm.SamplingParams, signature)


def _response(request: Request, index: int, output: Any) -> Response:
    reply = output.outputs[0]
    logprobs = None
    if request.answers:
        top = reply.logprobs[0].values()
        pairs = [(entry.decoded_token or "", entry.logprob) for entry in top]
        logprobs = answer_log_probabilities(pairs, request.answers)
    return Response(
        index=index,
        text="" if request.answers else reply.text,
        prompt_tokens=len(output.prompt_token_ids),
        completion_tokens=len(reply.token_ids),
        logprobs=logprobs,
        finish="length" if reply.finish_reason == "length" and not request.answers else "stop",
    )
