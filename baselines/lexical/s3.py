"""S3: a learnt regression from features of a summary beside its references to human scores.

``s3-pyr`` estimates pyramid scores, ``s3-resp`` responsiveness. The regressions were learnt on
TAC's judgments and belong to the authors' release, which stores them as pickles; here they are
read from safetensors, to which :func:`write_regression` brings them.

Source: Peyrard, Botschen and Gurevych 2017, section 3.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from prevalence.baselines.lexical.rouge import words_of
from prevalence.baselines.lexical.s3_features import (
    FEATURES,
    VECTOR_FEATURES,
    WordVectors,
    s3_features,
)
from prevalence.baselines.rules import JOINT, comparing
from prevalence.errors import ConfigurationError, ModelError
from prevalence.files import expanded_path

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from prevalence.baselines.protocol import Comparison, Entry, Metric, Runtime
    from prevalence.scorers.grammar import Spec

__all__ = ["Regression", "open_s3", "read_regression", "write_regression"]

_KERNELS: dict[str, Callable[[NDArray[np.float64], NDArray[np.float64], Regression], Any]] = {
    "linear": lambda rows, support, _: rows @ support.T,
    "poly": lambda rows, support, own: (own.gamma * rows @ support.T + own.constant) ** own.degree,
    "rbf": lambda rows, support, own: np.exp(
        -own.gamma * ((rows[:, None] - support[None]) ** 2).sum(-1)
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Regression:
    """A kernel regression, such as scikit-learn's SVR, KernelRidge or, with one row, a linear one.

    The value of a row x is the sum of ``weights[i] · k(support[i], z)`` and the intercept, where
    z = (x − mean) / scale.

    Attributes:
        features: names of the F features, in the order of the columns.
        support: float64 [S, F], in the scale of z.
        weights: float64 [S].
        intercept: what is added.
        mean: float64 [F], taken from a feature.
        scale: float64 [F], by which it is divided.
        kernel: linear, poly ((γ a·b + c)^d) or rbf (exp(−γ |a − b|²)).
        gamma: γ of poly and rbf.
        constant: c of poly.
        degree: d of poly.

    Raises:
        ModelError: sizes do not agree, or a name or number is none that can be used.
    """

    features: tuple[str, ...]
    support: NDArray[np.float64]
    weights: NDArray[np.float64]
    intercept: float
    mean: NDArray[np.float64]
    scale: NDArray[np.float64]
    kernel: str = "rbf"
    gamma: float = 1.0
    constant: float = 0.0
    degree: int = 3

    def __post_init__(self) -> None:
        """Refuse what cannot be computed."""
        unknown = [name for name in self.features if name not in FEATURES]
        if unknown or not self.features:
            raise ModelError(
                f"unknown feature {unknown[0] if unknown else ''!r}; S3 knows {', '.join(FEATURES)}"
            )
        if self.kernel not in _KERNELS:
            raise ModelError(f"unknown kernel {self.kernel!r}; choose {', '.join(_KERNELS)}")
        count, width = len(self.weights), len(self.features)
        shapes = [self.support.shape, self.weights.shape, self.mean.shape, self.scale.shape]
        if shapes != [(count, width), (count,), (width,), (width,)]:
            raise ModelError(f"tensors of sizes {shapes} do not fit {width} features")
        numbers = (
            self.support, self.weights, self.mean, self.scale, self.intercept, self.gamma,
            self.constant, self.degree,
        )  # fmt: skip
        if not all(np.isfinite(part).all() for part in numbers) or not self.scale.all():
            raise ModelError("a number in it is not finite, or a scale is 0")

    def predict(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Values of rows of features.

        Args:
            rows: float64 [N, F].

        Returns:
            float64 [N].
        """
        scaled = (rows - self.mean) / self.scale
        values: NDArray[np.float64] = _KERNELS[self.kernel](scaled, self.support, self)
        return values @ self.weights + self.intercept


def open_s3(entry: Entry, spec: Spec, runtime: Runtime) -> Metric:  # noqa: ARG001
    """Open S3 of the entry's target: what its regression makes of the features, unbounded.

    Raises:
        ConfigurationError: no regression is named, or the word vectors that a feature needs.
        ModelError: the file is no regression.

    Source: Peyrard, Botschen and Gurevych 2017, section 3.
    """
    folder = spec.options.get("weights")
    if folder is None:
        raise ConfigurationError(
            f"{entry.name}: name the folder of its regression with weights=PATH; "
            "docs/baselines.md says how to make it of the authors' release"
        )
    target = entry.name.removeprefix("s3-")
    path = expanded_path(folder) / f"{target}.safetensors"
    regression = read_regression(path)
    vectors = _vectors(entry, spec, regression)

    def compute(comparisons: Sequence[Comparison]) -> list[float]:
        return [_value(regression, pair, vectors) for pair in comparisons]

    digest = hashlib.blake2b(path.read_bytes(), digest_size=6).hexdigest()
    signature = {"weights": f"{path.name}@{digest}"}
    if vectors is not None:
        signature["vectors"] = vectors.signature
    return comparing(entry, spec, compute, signature=signature, refs=JOINT, joint=True)


def write_regression(regression: Regression, path: Path | str) -> None:
    """Write a regression as safetensors, which :func:`read_regression` reads back."""
    from safetensors.numpy import save_file

    names = ("support", "weights", "mean", "scale")
    tensors = {name: np.ascontiguousarray(getattr(regression, name)) for name in names}
    said = ("kernel", "gamma", "constant", "degree", "intercept")
    stated = {name: str(getattr(regression, name)) for name in said}
    save_file(tensors, path, {**stated, "features": ",".join(regression.features)})


def read_regression(path: Path | str) -> Regression:
    """Read a regression that :func:`write_regression` wrote.

    Raises:
        ModelError: it is not there, is something else, or cannot be computed.
    """
    from safetensors import safe_open

    if not Path(path).is_file():
        raise ModelError(
            f"{path}: no such file; weights=PATH is a folder with pyr.safetensors and "
            "resp.safetensors, see docs/baselines.md"
        )
    try:
        with safe_open(path, framework="numpy") as file:
            tensors = {name: file.get_tensor(name).astype(np.float64) for name in file.keys()}  # noqa: SIM118
            stated = file.metadata() or {}
        return Regression(
            features=tuple(stated["features"].split(",")),
            kernel=stated["kernel"],
            gamma=float(stated["gamma"]),
            constant=float(stated["constant"]),
            degree=int(stated["degree"]),
            intercept=float(stated["intercept"]),
            **tensors,
        )
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from error
    except Exception as error:
        raise ModelError(f"{path}: not a regression of S3 ({type(error).__name__})") from error


def _vectors(entry: Entry, spec: Spec, regression: Regression) -> WordVectors | None:
    wanted = next((name for name in regression.features if name in VECTOR_FEATURES), None)
    file = spec.options.get("vectors")
    if wanted is None and file is not None:
        raise ConfigurationError(f"{entry.name}: vectors= does not apply: no feature needs them")
    if wanted is not None and file is None:
        raise ConfigurationError(
            f"{entry.name}: its feature {wanted} needs word vectors: name their file with "
            "vectors=FILE"
        )
    return None if file is None else WordVectors(file)


def _value(regression: Regression, pair: Comparison, vectors: WordVectors | None) -> float:
    texts = [text for text in pair.texts if words_of(text)]
    if not texts or not words_of(pair.summary):
        return math.nan
    row = s3_features(pair.summary, texts, names=regression.features, vectors=vectors)
    return float(regression.predict(row[None])[0])
