"""From a name to a pair scorer: the one place that knows which scorers there are.

A name is a family and, after a colon, what the family wants to know, with commas between:
``summac-zs:sentence,max,mean,model=embedded``. Every other name is an NLI model's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from prevalence.errors import ConfigurationError
from prevalence.models.registry import EMBEDDED, lookup

if TYPE_CHECKING:
    from prevalence.nli.pairs import PairScorer

__all__ = [
    "FAMILIES",
    "Arguments",
    "Family",
    "ScorerOptions",
    "loads_model",
    "open_scorer",
    "open_unit_model",
]


@dataclass(slots=True)
class Arguments:
    """Words and settings of one scorer name, taken one by one until none is left.

    Attributes:
        name: the whole name, for messages.
        words: what stands between the commas, without ``=``, in order.
        settings: what stands there with ``=``.
    """

    name: str
    words: list[str] = field(default_factory=list)
    settings: dict[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, name: str, text: str) -> Arguments:
        """Read ``word,word,key=value``; an empty text has neither.

        Raises:
            ConfigurationError: a setting is empty or given twice.

        >>> Arguments.parse("x:a,b=./c", "a,b=./c").settings
        {'b': './c'}
        """
        found = cls(name)
        for part in filter(None, (part.strip() for part in text.split(","))):
            key, equals, value = part.partition("=")
            if not equals:
                found.words.append(part)
            elif not key or not value or key in found.settings:
                raise ConfigurationError(f"{name}: {part!r} is empty or given twice")
            else:
                found.settings[key] = value
        return found

    def word(self, default: str | None = None) -> str:
        """Take the next word.

        Raises:
            ConfigurationError: there is none, and no default.
        """
        if self.words:
            return self.words.pop(0)
        if default is None:
            raise ConfigurationError(f"{self.name}: something is missing after the colon")
        return default

    def flag(self, word: str) -> bool:
        """Take a word wherever it stands; whether it was there."""
        if word not in self.words:
            return False
        self.words.remove(word)
        return True

    def setting(self, key: str, default: str | None = None) -> str:
        """Take a setting.

        Raises:
            ConfigurationError: it is missing, and there is no default.
        """
        value = self.settings.pop(key, default)
        if value is None:
            raise ConfigurationError(f"{self.name}: {key}=... is missing")
        return value

    def end(self, usage: str) -> None:
        """Refuse whatever was not taken.

        Raises:
            ConfigurationError: something is left; the message says what is understood.
        """
        left = [*self.words, *(f"{key}={value}" for key, value in self.settings.items())]
        if left:
            raise ConfigurationError(
                f"{self.name}: cannot make sense of {', '.join(left)}; write {usage}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorerOptions:
    """Options beside the name; see :func:`open_scorer`."""

    threshold: float | None = None
    device: str = "auto"
    dtype: str = "auto"
    batch_tokens: int | None = None
    packing: str = "auto"
    windows: int | None = None
    max_length: int | None = None
    labels: Sequence[str] | None = None
    cache: Path | str | None = None
    recheck: bool = True

    def refuse(self, name: str, why: str, *fields: str) -> None:
        """Refuse options that a family has no use for, rather than ignore them.

        Raises:
            ConfigurationError: one of them was given.
        """
        given = [field for field in fields if getattr(self, field) not in _NOT_GIVEN]
        if given:
            raise ConfigurationError(f"{name} {why}: it takes no {', '.join(given)}")

    def cached(self, scorer: PairScorer) -> PairScorer:
        """The scorer behind the pair cache, where one is wanted."""
        if self.cache is None:
            return scorer
        from prevalence.nli.cache import CachedScorer, PairCache

        return CachedScorer(scorer, PairCache(self.cache))


_TELLING = 4
"""Letters that tell a misspelt family from a model's name."""

_NOT_GIVEN: tuple[object, ...] = (None, "auto", "float32", "cpu")

Opener = Callable[[Arguments, ScorerOptions], "PairScorer"]


class Family(NamedTuple):
    """A kind of scorer.

    Attributes:
        usage: how its names are written.
        about: one line.
        open: opens a scorer from what stands after the colon and the options.
        loads: whether it loads a model, for which alone a device matters.
    """

    usage: str
    about: str
    open: Opener
    loads: bool = True


def open_scorer(
    model: str | None = None,
    *,
    threshold: float | None = None,
    device: str = "auto",
    dtype: str = "auto",
    batch_tokens: int | None = None,
    packing: str = "auto",
    windows: int | None = None,
    max_length: int | None = None,
    labels: Sequence[str] | None = None,
    cache: Path | str | None = None,
    calibration: Path | str | None = None,
    recheck: bool = True,
) -> PairScorer:
    """Open a scorer.

    Args:
        model: a name of one of :data:`FAMILIES`; or ``embedded``, a registered model, a checkpoint
            folder, a hub name, or any of these after ``nli:``. None is the calibration's scorer,
            and ``embedded`` without one.
        threshold: decision threshold; None takes the scorer's own, or the calibration's.
        device: ``auto``, ``cpu``, ``cuda``, ``mps``; for NLI models also ``all`` (CUDA devices) or
            some of them, as ``cuda:0,cuda:1``, which share the work. This and the options below are
            for models, see :class:`prevalence.nli.scorer.NLIScorer`; a family without use for one
            refuses it.
        dtype: ``auto``, ``float32``, ``float16`` or ``bfloat16``.
        batch_tokens: most tokens in a batch.
        packing: ``auto``, ``packed`` or ``padded``: how pairs of unequal length share a batch.
        windows: read long premises in windows that advance by this many tokens.
        max_length: a token limit below the model's own.
        labels: class names in output order, for a checkpoint that does not name them.
        cache: folder of the pair cache; None for no cache. Where a scorer compares parts of texts,
            the answers about the parts are kept, which other settings then share.
        calibration: file of ``prevalence calibrate``, whose threshold and map are applied.
        recheck: in half precision, let an NLI model answer again in float32 where rounding could
            turn the decision; see :class:`prevalence.nli.recheck.RecheckedScorer`.

    Raises:
        InputError: the calibration file cannot be read.
        ModelError, ConfigurationError, BackendError: see the scorer. A cache never fails: when its
            file cannot be used, it warns and scoring goes on without it.
    """
    options = ScorerOptions(
        threshold=threshold,
        device=device,
        dtype=dtype,
        batch_tokens=batch_tokens,
        packing=packing,
        windows=windows,
        max_length=max_length,
        labels=labels,
        cache=cache,
        recheck=recheck,
    )
    if calibration is not None:
        return _open_calibrated(calibration, model, options)
    return _open(model or EMBEDDED, options)


def loads_model(name: str) -> bool:
    """Whether the scorer of that name loads a model, for which alone a device matters."""
    family = FAMILIES.get(name.partition(":")[0])
    return family is None or family.loads


def _open(model: str, options: ScorerOptions) -> PairScorer:
    name, _, rest = model.partition(":")
    family = FAMILIES.get(name)
    if family is None:
        _refuse_misspelt(model, name)
        return _decided(model.removeprefix("nli:"), options)
    return family.open(Arguments.parse(model, rest), options)


def _refuse_misspelt(model: str, name: str) -> None:
    """Stop a name that begins like a family's before a hub is asked for it."""
    if "/" in model or lookup(model) is not None or Path(model).exists():
        return
    start = re.match("[a-z]*", name)[0]  # type: ignore[index]
    near = [family for family in FAMILIES if family.startswith(start)]
    if len(start) >= _TELLING and near:
        raise ConfigurationError(
            f"{model}: no such scorer; did you mean {', '.join(near)}? (see prevalence models)"
        )


def _open_calibrated(path: Path | str, model: str | None, options: ScorerOptions) -> PairScorer:
    from prevalence.scorers.calibrated import CalibratedScorer, read_calibration

    if options.threshold is not None:
        raise ConfigurationError(
            "--threshold and --calibration exclude each other: the file holds one"
        )
    found = read_calibration(path)
    return CalibratedScorer(_open(model or found.scorer, options), found)


def _decided(model: str, options: ScorerOptions) -> PairScorer:
    """An NLI model that decides as it would in float32, whatever its precision."""
    scorer = options.cached(_nli(model, options))
    if not options.recheck or not scorer.traits.doubt:
        return scorer
    from prevalence.nli.recheck import RecheckedScorer

    exact = replace(options, dtype="float32")
    return RecheckedScorer(scorer, lambda: exact.cached(_nli(model, exact)))


def _nli(model: str, options: ScorerOptions, **reading: Any) -> PairScorer:
    from prevalence.nli.devices import open_on_devices

    return open_on_devices(
        model,
        options.device,
        threshold=options.threshold,
        dtype=options.dtype,
        batch_tokens=options.batch_tokens,
        packing=options.packing,
        windows=options.windows,
        max_length=options.max_length,
        labels=options.labels,
        **reading,
    )


def _open_rouge(arguments: Arguments, options: ScorerOptions) -> PairScorer:
    from prevalence.scorers.rouge import RougeScorer

    arguments.end(arguments.name.partition(":")[0] + " alone")
    options.refuse(
        arguments.name, "has no model",
        "device", "windows", "max_length", "labels", "dtype", "batch_tokens", "packing",
    )  # fmt: skip
    return options.cached(RougeScorer(arguments.name, threshold=options.threshold))


def _open_cosine(arguments: Arguments, options: ScorerOptions) -> PairScorer:
    from prevalence.scorers.cosine import CosineScorer, Encoder

    model, mode = arguments.word(EMBEDDED), arguments.word("sentence-max")
    pooling = arguments.settings.pop("pooling", None)
    arguments.end(FAMILIES["cosine"].usage)
    options.refuse(arguments.name, "compares vectors", "windows", "labels", "packing")
    encoder = Encoder(
        model,
        pooling=pooling,
        max_length=options.max_length,
        device=options.device,
        dtype=options.dtype,
        batch_tokens=options.batch_tokens,
    )
    return options.cached(CosineScorer(encoder, mode, threshold=options.threshold))


def _open_adapter(arguments: Arguments, options: ScorerOptions) -> PairScorer:
    from prevalence.scorers.adapter import AdaptedScorer, read_adapter

    path = arguments.word()
    arguments.end(FAMILIES["adapter"].usage)
    options.refuse(
        arguments.name, "says all that in its file", "windows", "max_length", "labels", "packing"
    )
    scorer = AdaptedScorer(
        read_adapter(path),
        threshold=options.threshold,
        device=options.device,
        dtype=options.dtype,
        batch_tokens=options.batch_tokens,
    )
    return options.cached(scorer)


def open_unit_model(model: str, options: ScorerOptions) -> PairScorer:
    """Open the model of a scorer on units: one that reads pairs as SummaC does, cached.

    Args:
        model: an NLI model as in :func:`open_scorer`, one of SummaC's short names, or
            ``adapter:FILE``.
        options: where and how it runs; the threshold is not its.
    """
    from prevalence.scorers.summac import MOST_TOKENS, SUMMAC_MODELS

    own = replace(options, threshold=None)
    options.refuse(model, "is asked about short units", "windows")
    if model.startswith("adapter:"):
        return _open_adapter(Arguments.parse(model, model.removeprefix("adapter:")), own)
    card, labels = SUMMAC_MODELS.get(model.removeprefix("nli:"), (model.removeprefix("nli:"), None))
    own = replace(own, labels=options.labels or labels)
    return options.cached(_nli(card, own, at_most=MOST_TOKENS, truncation="longest-first"))


def _open_summac(arguments: Arguments, options: ScorerOptions) -> PairScorer:
    from prevalence.scorers.summac import ZeroShotScorer

    minus = arguments.flag("minus-contradiction")
    granularity = arguments.word("sentence")
    over_premise, over_hypothesis = arguments.word("max"), arguments.word("mean")
    model = arguments.setting("model", EMBEDDED)
    arguments.end(FAMILIES["summac-zs"].usage)
    return ZeroShotScorer(
        open_unit_model(model, options),
        granularity,
        over_premise=over_premise,
        over_hypothesis=over_hypothesis,
        minus_contradiction=minus,
        threshold=options.threshold,
    )


def _open_conv(arguments: Arguments, options: ScorerOptions) -> PairScorer:
    from prevalence.scorers.conv import ConvScorer, read_head

    file, models = arguments.word(), arguments.setting("model", EMBEDDED).split("+")
    settings, arguments.settings = arguments.settings, {}
    arguments.end(FAMILIES["summac-conv"].usage)
    head = read_head(file, settings=settings)
    inners = [open_unit_model(model, options) for model in models]
    return ConvScorer(inners, head, threshold=options.threshold)


def _open_superpal(arguments: Arguments, options: ScorerOptions) -> PairScorer:
    from prevalence.scorers.superpal import AlignmentScorer

    model, alignment = arguments.word(), arguments.word("average")
    arguments.end(FAMILIES["superpal"].usage)
    inner = open_unit_model(model, options)
    return AlignmentScorer(inner, alignment, threshold=options.threshold)


def _open_qafe(arguments: Arguments, options: ScorerOptions) -> PairScorer:
    from prevalence.scorers.qafe import QuestionAnswerer, QuestionScorer, QuestionWriter

    filtered = not arguments.flag("unfiltered")
    writer, answerer = arguments.setting("qg"), arguments.setting("qa")
    arguments.end(FAMILIES["qafe"].usage)
    options.refuse(
        arguments.name, "asks questions",
        "windows", "max_length", "labels", "batch_tokens", "packing",
    )  # fmt: skip
    scorer = QuestionScorer(
        QuestionWriter(writer, device=options.device, dtype=options.dtype),
        QuestionAnswerer(answerer, device=options.device, dtype=options.dtype),
        filtered=filtered,
        threshold=options.threshold,
    )
    return options.cached(scorer)


_ROUGE = Family(
    "rouge1|rouge2|rougeL, then -precision|-recall|-f1",
    "stemmed ROUGE, no model",
    _open_rouge,
    False,
)

FAMILIES: dict[str, Family] = {
    **{f"rouge{kind}-{part}": _ROUGE for kind in "12L" for part in ("precision", "recall", "f1")},
    "cosine": Family(
        "cosine[:ENCODER[,document|sentence-max][,pooling=mean|cls]]",
        "cosine of sentence vectors, (1 + c)/2",
        _open_cosine,
    ),
    "summac-zs": Family(
        "summac-zs[:GRANULARITY[,OP[,OP]][,minus-contradiction][,model=MODEL]]",
        "SummaC zero-shot: NLI between units of the texts",
        _open_summac,
    ),
    "summac-conv": Family(
        "summac-conv:FILE[,model=MODEL[+MODEL]][,bins=B][,classes=C][,granularity=G][,aggregate=A]",
        "SummaC-Conv: a head learnt on histograms of unit scores",
        _open_conv,
    ),
    "superpal": Family(
        "superpal:MODEL[,average|max]",
        "alignment of propositions by a pair classifier",
        _open_superpal,
    ),
    "qafe": Family(
        "qafe:qg=MODEL,qa=MODEL[,unfiltered]",
        "questions about the hypothesis, answered from the premise",
        _open_qafe,
    ),
    "adapter": Family(
        "adapter:FILE",
        "any classifier, as a TOML or JSON file describes it",
        _open_adapter,
    ),
}
"""Families by the name before the colon; every other name is an NLI model's."""
