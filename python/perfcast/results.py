"""Answers of perfcast as typed values. Times are in seconds; a value that isn't known is None."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Type, TypeVar

from . import _picture

if TYPE_CHECKING:
    import pandas

Json = Dict[str, Any]
_Row = TypeVar("_Row")


def _row(kind: Type[_Row], item: Mapping[str, Any]) -> _Row:
    """The members of `item` that `kind` has."""
    names = {field.name for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    return kind(**{name: value for name, value in item.items() if name in names})


def _frame(rows: Sequence[Json]) -> "pandas.DataFrame":
    import pandas

    return pandas.json_normalize(list(rows))


@dataclasses.dataclass(frozen=True)
class ForecastWarning:
    """Why a forecast is less sure."""

    code: str
    message: str
    advice: str = ""


@dataclasses.dataclass(frozen=True)
class PlatformForecast:
    """A program on one platform. rpv: its time relative to the forecast's reference; lower, upper: 90% interval."""

    id: str
    name: str
    rpv: float
    lower: float
    upper: float
    vendor: str = ""
    kind: Optional[str] = None
    arch: str = ""
    time_s: Optional[float] = None
    time_lower_s: Optional[float] = None
    time_upper_s: Optional[float] = None
    measured: bool = False
    cost: Optional[float] = None


@dataclasses.dataclass(frozen=True)
class Forecast:
    """A program on the platforms of a bundle, the fastest first. json: the whole answer, perfcast.forecast/1."""

    program: str
    bundle: str
    model: str
    reference: str
    in_distribution: bool
    nearest: List[str]
    platforms: List[PlatformForecast]
    warnings: List[ForecastWarning]
    notes: List[str]
    json: Json = dataclasses.field(repr=False, compare=False)

    @classmethod
    def from_json(cls, json: Json) -> "Forecast":
        return cls(
            program=json["program"],
            bundle=json["bundle"],
            model=json["model"],
            reference=json["reference"],
            in_distribution=json["in_distribution"],
            nearest=json["nearest"],
            platforms=[_row(PlatformForecast, item) for item in json["platforms"]],
            warnings=[_row(ForecastWarning, item) for item in json["warnings"]],
            notes=json["notes"],
            json=json,
        )

    def platform(self, name: str) -> PlatformForecast:
        """The platform with this id or name; KeyError where there is none."""
        for platform in self.platforms:
            if name in (platform.id, platform.name):
                return platform
        raise KeyError(name)

    def to_pandas(self) -> "pandas.DataFrame":
        """One row for each platform. Needs pandas."""
        return _frame(self.json["platforms"])

    def _repr_html_(self) -> str:
        seconds = all(platform.time_s is not None for platform in self.platforms)
        bars = [
            _picture.Bar(p.name, p.time_s or 0, p.time_lower_s or 0, p.time_upper_s or 0)
            if seconds
            else _picture.Bar(p.name, p.rpv, p.lower, p.upper)
            for p in self.platforms
        ]
        sure = "in distribution" if self.in_distribution else "OUT OF DISTRIBUTION: the intervals are wider"
        return _picture.page(
            f"{self.program}: {sure}",
            bars,
            "seconds" if seconds else "relative time",
            [f"{warning.code}: {warning.message}" for warning in self.warnings] + self.notes,
        )


@dataclasses.dataclass(frozen=True)
class DeviceForecast:
    """A language model on one device. prefill_s: time to the first token; token_s: of each further one."""

    device: str
    tokens_per_s: float
    lower: float
    upper: float
    prefill_s: Optional[float] = None
    token_s: Optional[float] = None
    batch: int = 1
    sequence: Optional[int] = None
    tensor_parallel: int = 1
    prefill_lower_s: Optional[float] = None
    prefill_upper_s: Optional[float] = None
    token_lower_s: Optional[float] = None
    token_upper_s: Optional[float] = None
    request_s: Optional[float] = None
    fits: Optional[bool] = None
    memory_bytes: Optional[float] = None
    calibrated: Optional[bool] = None
    engine: Optional[str] = None
    cost_per_million_tokens_usd: Optional[float] = None


@dataclasses.dataclass(frozen=True)
class ModelForecast:
    """A language model on devices. json: the whole answer, perfcast.llm.forecast/1."""

    model: str
    rows: List[DeviceForecast]
    notes: List[str]
    json: Json = dataclasses.field(repr=False, compare=False)

    @classmethod
    def from_json(cls, json: Json) -> "ModelForecast":
        return cls(
            model=json["model"],
            rows=[_row(DeviceForecast, item) for item in json["rows"]],
            notes=json["notes"],
            json=json,
        )

    def to_pandas(self) -> "pandas.DataFrame":
        """One row for each device, batch and prompt. Needs pandas."""
        return _frame(self.json["rows"])

    def _repr_html_(self) -> str:
        def label(row: DeviceForecast) -> str:
            return f"{row.device}, batch {row.batch}" if len({r.batch for r in self.rows}) > 1 else row.device

        bars = [_picture.Bar(label(row), row.tokens_per_s, row.lower, row.upper) for row in self.rows]
        return _picture.page(self.model, bars, "tokens/s", self.notes)


@dataclasses.dataclass(frozen=True)
class ServiceForecast:
    """A service of a language model under one load. pace: "keeps up", "falls behind", "closed loop" and others.

    first_token_s, further_token_s: "mean", "p50", "p90", "p95" and "p99" over the requests.
    """

    device: str
    pace: str
    rate_per_s: Optional[float] = None
    concurrency: Optional[int] = None
    requests: Optional[int] = None
    first_token_s: Optional[Dict[str, float]] = None
    further_token_s: Optional[Dict[str, float]] = None
    request_s: Optional[Dict[str, float]] = None
    output_tokens_per_s: Optional[float] = None
    requests_per_s: Optional[float] = None
    objectives: Optional[List[Json]] = None
    cost_per_million_output_tokens_usd: Optional[float] = None
    problem: Optional[str] = None


@dataclasses.dataclass(frozen=True)
class ServingForecast:
    """Services of a language model under loads. json: the whole answer, perfcast.serving/1."""

    model: str
    engine: str
    rows: List[ServiceForecast]
    notes: List[str]
    json: Json = dataclasses.field(repr=False, compare=False)

    @classmethod
    def from_json(cls, json: Json) -> "ServingForecast":
        return cls(
            model=json["model"],
            engine=json["engine"],
            rows=[_row(ServiceForecast, item) for item in json["rows"]],
            notes=json["notes"],
            json=json,
        )

    def to_pandas(self) -> "pandas.DataFrame":
        """One row for each device and load. Needs pandas."""
        return _frame(self.json["rows"])

    def _repr_html_(self) -> str:
        bars = []
        for row, item in zip(self.rows, self.json["rows"]):
            if not row.first_token_s:
                continue
            load = f"{row.rate_per_s:g}/s" if row.rate_per_s is not None else f"{row.concurrency} clients"
            lower = item.get("first_token_lower_s", row.first_token_s)["p50"]
            upper = item.get("first_token_upper_s", row.first_token_s)["p50"]
            bars.append(_picture.Bar(f"{row.device}, {load}: {row.pace}", row.first_token_s["p50"], lower, upper))
        return _picture.page(self.model, bars, "seconds to the first token, median", self.notes)
