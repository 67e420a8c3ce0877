"""From a name to a pair scorer: the one place that knows which scorers there are.

A name is a family and, after a colon, what the family wants to know, with commas between, see
:mod:`prevalence.scorers.grammar`: ``summac-zs:sentence,max,mean,model=embedded``. Every other name
is an NLI model's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from prevalence.errors import ConfigurationError
from prevalence.models.devices import DTYPES, PACKINGS
from prevalence.models.registry import EMBEDDED, lookup
from prevalence.options import (
    check_numbers,
    check_texts,
    described,
    documented,
    shared_out,
    takes,
)
from prevalence.scorers.grammar import Name, Setting, usage

if TYPE_CHECKING:
    from prevalence.nli.pairs import PairScorer

__all__ = [
    "FAMILIES",
    "Family",
    "ScorerOptions",
    "cache_folder",
    "files_read",
    "loads_model",
    "open_scorer",
    "open_unit_model",
    "refuse_opening",
    "with_files",
]


@documented
@dataclass(frozen=True, slots=True, kw_only=True)
class ScorerOptions:
    """Which scorer to open, and how it runs.

    All but the model and the threshold are for models, see
    :class:`prevalence.nli.scorer.NLIScorer`; a family without use for one refuses it. In Python,
    ``cache`` None is no cache, and ``"auto"`` is the default of the command line, see
    :func:`cache_folder`. Where a scorer compares parts of texts, the cache keeps the answers about
    the parts, which other settings then share.

    Raises:
        ConfigurationError: a value of another type, or a number out of range.
    """

    model: str | None = described(
        None,
        "embedded, a name from `prevalence models`, a checkpoint folder, a hub name, or another "
        "scorer such as rouge1-precision [default: embedded, or what --calibration names].",
        metavar="MODEL",
        names="scorer",
    )
    threshold: float | None = described(
        None,
        "A review implies a sentence above this probability [default: the model's own].",
        metavar="P",
        least=0.0,
        below=1.0,
    )
    calibration: Path | str | None = described(
        None,
        "A file of `prevalence calibrate --output`: its threshold and map, and its scorer.",
        metavar="FILE",
        names="file",
    )
    recheck: bool = described(
        default=True,
        help="In half precision, score pairs again in float32 where rounding could change the "
        "decision [default: yes].",
        spelling="--recheck/--no-recheck",
    )
    device: str = described(
        "auto",
        "auto (a CUDA device if there is one), cpu, cuda, cuda:1, mps; NLI models also take "
        "all (CUDA devices) or some of them: cuda:0,cuda:1.",
        metavar="DEVICE",
    )
    dtype: str = described(
        "auto",
        "auto (float32), float32, float16 or bfloat16.",
        metavar="TYPE",
        choices=DTYPES,
    )
    batch_tokens: int | None = described(
        None,
        "Maximum tokens per batch; halved automatically when memory runs out (NLI models).",
        metavar="N",
        least=1,
    )
    packing: str = described(
        "auto",
        "How pairs of different lengths are put into one batch: packed (end to end, without "
        "padding), padded, or auto (packed on a CUDA device if the model allows it, and for "
        "DeBERTa on a CPU too).",
        metavar="HOW",
        choices=PACKINGS,
    )
    windows: int | None = described(
        None,
        "Read long reviews in windows that advance by STRIDE tokens; the window of highest "
        "entailment decides [default: read only the beginning].",
        metavar="STRIDE",
        least=1,
    )
    check_cuts: bool = described(
        default=False,
        help="For each pair whose review was cut at the model's limit and did not support the "
        "sentence, also read the whole review in windows, and count the decisions that this would "
        "change; scores stay the same (NLI models).",
    )
    max_length: int | None = described(
        None, "Limit in tokens, if lower than the model's own.", metavar="N", least=8
    )
    labels: Sequence[str] | None = described(
        None,
        "Classes in output order, for a checkpoint that does not name them, for example "
        "contradiction,neutral,entailment.",
        metavar="NAMES",
    )
    cache: Path | str | None = described(
        None,
        "Folder of the pair cache [default: $PREVALENCE_CACHE, or the user's cache folder; rouge1 "
        "and rouge2, which are faster without a cache, use one only if this option names it].",
        group="Cache",
        metavar="DIR",
        names="folder",
        off=("--no-cache", "Neither read nor write the pair cache."),
    )

    def __post_init__(self) -> None:
        check_texts(self)
        check_numbers(self)

    def open(self) -> PairScorer:
        """Open the scorer.

        Raises:
            InputError: the calibration file cannot be read.
            ModelError, ConfigurationError, BackendError: see the scorer. A cache never fails: when
                its file cannot be used, it warns and scoring goes on without it.
        """
        if self.check_cuts:
            return self._with_cuts_checked()
        if self.calibration is None:
            return _open(_given(self.model, EMBEDDED), self)
        return _open_calibrated(self.calibration, self)

    def _with_cuts_checked(self) -> PairScorer:
        kind = _with_family(_given(self.model, EMBEDDED)).partition(":")[0]
        if self.calibration is not None or self.windows is not None or kind in FAMILIES:
            raise ConfigurationError(
                "cuts are checked (check_cuts= or --check-cuts) of NLI models that read only the "
                "beginning of long reviews: leave it out, or leave out calibration and windows and "
                "choose an NLI model"
            )
        from prevalence.nli.cuts import CutChecker

        plain = replace(self, check_cuts=False)
        return CutChecker(plain.open(), replace(plain, windows=_STRIDE).open)

    @property
    def loads_model(self) -> bool:
        """Whether the scorer loads a model, for which alone a device matters."""
        if self.model is not None or self.calibration is None:
            return loads_model(_given(self.model, EMBEDDED))
        from prevalence.scorers.calibrated import read_calibration

        return loads_model(read_calibration(self.calibration).scorer)

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
_ALIKE = 0.8
"""How like a family's name must be to one that is misspelt, from 0 to 1."""

_AUTO = "auto"
_NOT_GIVEN: tuple[object, ...] = (None, _AUTO, "float32", "cpu")

_STRIDE = 128
"""Tokens by which windows advance where cuts are checked: few enough that they overlap."""

_CHOSEN = ("model", "calibration", "recheck", "cache", "check_cuts")
"""Fields of the options that a model's own scorer is not told."""

Opener = Callable[[Mapping[str, str], ScorerOptions, str], "PairScorer"]
"""Takes the options in the name, those beside it, and the whole name."""


class Family(NamedTuple):
    """A kind of scorer.

    Attributes:
        name: what stands before the colon.
        about: one line.
        open: opens a scorer from the options in its name and those beside it.
        settings: the options that its names may hold.
        loads: whether it loads a model, for which alone a device matters.
        cheap: whether an answer costs less than to look it up in the pair cache.
    """

    name: str
    about: str
    open: Opener
    settings: tuple[Setting, ...] = ()
    loads: bool = True
    cheap: bool = False

    @property
    def usage(self) -> str:
        """How its names are written."""
        return usage(self.name, self.settings)


@takes(ScorerOptions)
def open_scorer(model: str | None = None, **options: Any) -> PairScorer:
    """Open a scorer.

    Args:
        model: a name of one of :data:`FAMILIES`; or ``embedded``, a registered model, a checkpoint
            folder, a hub name, or any of these after ``nli:``. None is the calibration's scorer,
            and ``embedded`` without one.
        options: the other fields of :class:`ScorerOptions`, whose :meth:`~ScorerOptions.open` this
            is.

    Raises:
        ConfigurationError: an option is unknown; the message has the nearest.
    """
    [known] = shared_out(options, ScorerOptions)
    return ScorerOptions(model=model, **known).open()


def refuse_opening(given: Mapping[str, Any]) -> None:
    """Refuse options that say which scorer to open and how, where a ready one is there.

    Args:
        given: options by their names; None is not given. The threshold is an option of scoring
            too, and may be given.

    Raises:
        ConfigurationError: one of them was given.
    """
    names = [each.name for each in fields(ScorerOptions) if each.name != "threshold"]
    left = [name for name in names if given.get(name) is not None]
    if left:
        raise ConfigurationError(
            f"a ready scorer takes no {', '.join(left)}: set them where it is made, or leave it out"
        )


def loads_model(name: str) -> bool:
    """Whether the scorer of that name loads a model, for which alone a device matters."""
    family = FAMILIES.get(name.partition(":")[0])
    return family is None or family.loads


def cache_folder(model: str, cache: Path | str | None) -> Path | str | None:
    """The folder in which a scorer's answers are kept; None where they are not kept.

    Args:
        model: the scorer's name.
        cache: a folder, which every scorer uses; None for none; or ``"auto"``: the default folder,
            and none for a scorer whose answers cost less than to look them up.
    """
    if cache != _AUTO:
        return cache
    family = FAMILIES.get(_with_family(model).partition(":")[0])
    if family is not None and family.cheap:
        return None
    from prevalence.nli.cache import default_folder_or_none

    return default_folder_or_none()


def _open(model: str, options: ScorerOptions) -> PairScorer:
    model = _with_family(model)
    options = replace(options, cache=cache_folder(model, options.cache))
    name = model.partition(":")[0]
    family = FAMILIES.get(name)
    if family is None:
        _refuse_misspelt(model, name)
        return _decided(model.removeprefix("nli:"), options)
    return family.open(Name.read(model).options(family.settings), options, model)


def _with_family(model: str) -> str:
    """The name after that of its family, where a registered checkpoint has one."""
    entry = lookup(model)
    return f"{entry.family}:{model}" if entry is not None and entry.family else model


def _given(model: str | None, default: str) -> str:
    """The model asked for, whose name may be as wrong as an empty one."""
    return default if model is None else model


def _refuse_misspelt(model: str, name: str) -> None:
    """Stop a name that begins like a family's, or nearly is one, before a hub is asked for it."""
    if "/" in model or lookup(model) is not None or Path(model).exists():
        return
    start = re.match("[a-z]*", name)[0]  # type: ignore[index]
    near = get_close_matches(name, FAMILIES, cutoff=_ALIKE)
    if len(start) >= _TELLING:
        near += [family for family in FAMILIES if family.startswith(start) and family not in near]
    if near:
        raise ConfigurationError(
            f"{model}: no such scorer; did you mean {', '.join(near)}? (see prevalence models)"
        )


def _open_calibrated(path: Path | str, options: ScorerOptions) -> PairScorer:
    from prevalence.scorers.calibrated import CalibratedScorer, read_calibration

    if options.threshold is not None:
        raise ConfigurationError("threshold and calibration exclude each other: the file holds one")
    found = read_calibration(path)
    return CalibratedScorer(_open(_given(options.model, found.scorer), options), found)


def _decided(model: str, options: ScorerOptions) -> PairScorer:
    """An NLI model that decides as it would in float32, whatever its precision."""
    scorer = options.cached(_nli(model, options))
    if not options.recheck or not scorer.traits.doubt:
        return scorer
    from prevalence.nli.recheck import RecheckedScorer

    exact = replace(options, dtype="float32")
    return RecheckedScorer(scorer, lambda: exact.cached(_nli(model, exact)))


def _nli(model: str, options: ScorerOptions, **reading: Any) -> PairScorer:
    from prevalence.models.checkers import refuse_checkers
    from prevalence.nli.devices import open_on_devices

    refuse_checkers(model, named=options.labels is not None)
    told = {name: value for name, value in asdict(options).items() if name not in _CHOSEN}
    return open_on_devices(model, marks=options.cache, **told, **reading)


def _open_rouge(_: Mapping[str, str], options: ScorerOptions, name: str) -> PairScorer:
    from prevalence.scorers.rouge import RougeScorer

    options.refuse(
        name, "has no model",
        "device", "windows", "max_length", "labels", "dtype", "batch_tokens", "packing",
    )  # fmt: skip
    return options.cached(RougeScorer(name, threshold=options.threshold))


def _open_cosine(named: Mapping[str, str], options: ScorerOptions, name: str) -> PairScorer:
    from prevalence.scorers.cosine import CosineScorer, Encoder

    options.refuse(name, "compares vectors", "windows", "labels", "packing")
    encoder = Encoder(
        named["model"],
        pooling=named.get("pooling"),
        max_length=options.max_length,
        device=options.device,
        dtype=options.dtype,
        batch_tokens=options.batch_tokens,
    )
    return options.cached(CosineScorer(encoder, named["mode"], threshold=options.threshold))


def _open_adapter(named: Mapping[str, str], options: ScorerOptions, name: str) -> PairScorer:
    from prevalence.scorers.adapter import AdaptedScorer, read_adapter

    options.refuse(name, "says all that in its file", "windows", "max_length", "labels", "packing")
    scorer = AdaptedScorer(
        read_adapter(named["file"]),
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

    own = replace(options, threshold=None, cache=cache_folder(model, options.cache))
    options.refuse(model, "is asked about short units", "windows")
    if model.startswith("adapter:"):
        return _open(model, own)
    card, labels = SUMMAC_MODELS.get(model.removeprefix("nli:"), (model.removeprefix("nli:"), None))
    own = replace(own, labels=options.labels or labels)
    return own.cached(_nli(card, own, at_most=MOST_TOKENS, truncation="longest-first"))


def _open_summac(named: Mapping[str, str], options: ScorerOptions, _: str) -> PairScorer:
    from prevalence.scorers.summac import ZeroShotScorer

    return ZeroShotScorer(
        open_unit_model(named["model"], options),
        named["granularity"],
        over_premise=named["over-premise"],
        over_hypothesis=named["over-hypothesis"],
        minus_contradiction="minus-contradiction" in named,
        threshold=options.threshold,
    )


def _open_conv(named: Mapping[str, str], options: ScorerOptions, _: str) -> PairScorer:
    from prevalence.scorers.conv import ConvScorer, read_head

    settings = {key: value for key, value in named.items() if key not in ("head", "model")}
    head = read_head(named["head"], settings=settings)
    inners = [open_unit_model(model, options) for model in named["model"].split("+")]
    return ConvScorer(inners, head, threshold=options.threshold)


def _open_superpal(named: Mapping[str, str], options: ScorerOptions, _: str) -> PairScorer:
    from prevalence.scorers.superpal import AlignmentScorer

    inner = open_unit_model(named["model"], options)
    return AlignmentScorer(inner, named["alignment"], threshold=options.threshold)


def _open_qafe(named: Mapping[str, str], options: ScorerOptions, name: str) -> PairScorer:
    from prevalence.scorers.qafe import QuestionAnswerer, QuestionScorer, QuestionWriter

    options.refuse(
        name, "asks questions", "windows", "max_length", "labels", "batch_tokens", "packing"
    )
    scorer = QuestionScorer(
        QuestionWriter(named["qg"], device=options.device, dtype=options.dtype),
        QuestionAnswerer(named["qa"], device=options.device, dtype=options.dtype),
        filtered="unfiltered" not in named,
        threshold=options.threshold,
    )
    return options.cached(scorer)


def _checker(name: str, about: str, default: str, claims: str, *own: Setting) -> Family:
    """A family of fact-checking encoders, see :mod:`prevalence.scorers.factcheck`."""

    def opened(named: Mapping[str, str], options: ScorerOptions, _: str) -> PairScorer:
        from prevalence.scorers.factcheck import Running, open_checker

        options.refuse(name, "reads as its authors say", "windows", "labels", "packing")
        running = Running(options.device, options.dtype, options.threshold, options.max_length,
                          options.batch_tokens)  # fmt: skip
        return options.cached(open_checker(name, named, running))

    return Family(
        name,
        about,
        opened,
        (
            Setting("model", "MODEL", "a registered name or a folder", f"{name}-{default}",
                    word=True),
            *own,
            Setting("claims", "sentence|whole", "what is asked about: each sentence of the "
                    "hypothesis, whose mean is the score, or all of it", claims),
        ),
    )  # fmt: skip


_ROUGE = Family(
    "rouge1|rouge2|rougeL, then -precision|-recall|-f1",
    "stemmed ROUGE, no model",
    _open_rouge,
    loads=False,
)
_WITH_SETTINGS = (
    Family(
        "cosine",
        "cosine of sentence vectors, (1 + c)/2",
        _open_cosine,
        (
            Setting("model", "ENCODER", "of the vectors", EMBEDDED, word=True),
            Setting("mode", "document|sentence-max", "what is compared", "sentence-max",
                    word=True),
            Setting("pooling", "mean|cls", "where the encoder does not say it"),
        ),
    ),
    Family(
        "summac-zs",
        "SummaC zero-shot: NLI between units of the texts",
        _open_summac,
        (
            Setting("granularity", "GRANULARITY", "the units", "sentence", word=True),
            Setting("over-premise", "OP", "max, mean or min", "max", word=True),
            Setting("over-hypothesis", "OP", "mean, max or min", "mean", word=True),
            Setting("minus-contradiction", about="subtract contradiction"),
            Setting("model", "MODEL", "that reads the units", EMBEDDED),
        ),
    ),
    Family(
        "summac-conv",
        "SummaC-Conv: a head learnt on histograms of unit scores",
        _open_conv,
        (
            Setting("head", "FILE", "the learnt head", word=True, needed=True),
            Setting("model", "MODEL[+MODEL]", "that read the units", EMBEDDED),
            Setting("bins", "B", "percentile or evenN"),
            Setting("classes", "C", "letters of ecn"),
            Setting("granularity", "G", "the units"),
            Setting("aggregate", "A", "mean, min, max or all"),
        ),
    ),
    Family(
        "superpal",
        "alignment of propositions by a pair classifier",
        _open_superpal,
        (
            Setting("model", "MODEL", "the classifier", word=True, needed=True),
            Setting("alignment", "average|max", "of the propositions", "average", word=True),
        ),
    ),
    Family(
        "qafe",
        "questions about the hypothesis, answered from the premise",
        _open_qafe,
        (
            Setting("qg", "MODEL", "that writes questions", needed=True),
            Setting("qa", "MODEL", "that answers them", needed=True),
            Setting("unfiltered", about="keep questions that the hypothesis does not answer"),
        ),
    ),
    Family(
        "adapter",
        "any classifier, as a TOML or JSON file describes it",
        _open_adapter,
        (Setting("file", "FILE", "the description", word=True, needed=True),),
    ),
    _checker(
        "alignscore", "AlignScore: RoBERTa with heads for alignment", "large", "sentence",
        Setting("head", "nli|bin|reg", "three classes, two, or a regression", "nli"),
    ),
    _checker("minicheck", "MiniCheck: RoBERTa, DeBERTa or Flan-T5", "flan-t5-large", "sentence"),
    _checker("factcg", "FactCG: DeBERTa that is asked a question", "deberta-v3-large", "sentence"),
    _checker("hhem", "HHEM 2.1 open: the encoder of Flan-T5", "2.1-open", "whole"),
)  # fmt: skip

_CHEAP_ROUGE = "12"
"""Kinds of ROUGE that cost about 10 µs a pair, as does a look-up; the longest common subsequence
costs three times as much (measured once, on 72,000 pairs)."""

FAMILIES: dict[str, Family] = {
    **{
        f"rouge{kind}-{part}": _ROUGE._replace(cheap=kind in _CHEAP_ROUGE)
        for kind in "12L"
        for part in ("precision", "recall", "f1")
    },
    **{family.name: family for family in _WITH_SETTINGS},
}
"""Families by the name before the colon; every other name is an NLI model's."""


def with_files(name: str, renamed: Callable[[str], str]) -> str:
    """The name of a scorer with each file and folder in it under another name.

    A word is taken for a file only where a scorer would open it as a file: a folder may have the
    name of a family, of a registered model or of a family's option.

    Args:
        name: the scorer's name.
        renamed: from a file's name to the new one.
    """
    kind, colon, rest = name.partition(":")
    if kind == "nli" and colon:
        return name if lookup(rest) else f"nli:{renamed(rest)}"
    if kind not in FAMILIES:
        return name if lookup(name) else renamed(name)

    def change(setting: Setting, value: str) -> str:
        if setting.value == "FILE":
            return renamed(value)
        if setting.value == "ENCODER":
            return with_files(value, renamed)
        if setting.value == "MODEL":
            return _unit_with_files(value, renamed)
        if setting.value != "MODEL[+MODEL]":
            return value
        models = [_unit_with_files(model, renamed) for model in value.split("+")]
        return value if any("+" in model for model in models) else "+".join(models)

    return Name.read(name).replaced(FAMILIES[kind].settings, change)


def _unit_with_files(name: str, renamed: Callable[[str], str]) -> str:
    from prevalence.scorers.summac import SUMMAC_MODELS

    return name if name.removeprefix("nli:") in SUMMAC_MODELS else with_files(name, renamed)


def files_read(name: str) -> list[str]:
    """What the name of a scorer may name as files and folders, whether or not they are there."""
    found: list[str] = []

    def keep(file: str) -> str:
        found.append(file)
        return file

    with_files(name, keep)
    return found
