"""What perfcast can be asked."""

from __future__ import annotations

import json
import os
import threading
from types import TracebackType
from typing import Any, Dict, Mapping, Optional, Sequence, Type, Union

from ._library import Library, PerfcastError
from .results import Forecast, ModelForecast, ServingForecast

Json = Dict[str, Any]
Profile = Union[str, "os.PathLike[str]", Mapping[str, Any]]
Names = Union[str, Sequence[str]]

_library_lock = threading.Lock()
_library: Optional[Library] = None
_shipped_lock = threading.Lock()
_opened: Optional["Bundle"] = None


def _the_library() -> Library:
    global _library
    with _library_lock:
        if _library is None:
            _library = Library()
        return _library


def _shipped() -> "Bundle":
    global _opened
    with _shipped_lock:
        if _opened is None:
            _opened = Bundle()
        return _opened


def version() -> str:
    """The library's version, such as "0.9.0"."""
    return _the_library().version()


def _read_profile(profile: Profile) -> Any:
    if isinstance(profile, Mapping):
        return dict(profile)
    try:
        with open(profile, encoding="utf-8") as file:
            return json.load(file)
    except OSError as problem:
        raise PerfcastError(
            "file-not-found" if isinstance(problem, FileNotFoundError) else "unreadable-file",
            f"the profile can't be read: {problem.strerror}",
            os.fspath(profile),
            "a file that perfcast profile -o FILE has written",
        ) from problem
    except ValueError as problem:
        raise PerfcastError("bad-json", f"the profile is no JSON: {problem}", os.fspath(profile), "a profile") from problem


def _names(names: Names) -> list[str]:
    return names.split(",") if isinstance(names, str) else list(names)


class Bundle:
    """A bundle of trained models, and facts of machines. Threads may share it.

    bundle: the file of a bundle; None: the one that perfcast ships. Fields of requests that have no parameter here are
    further keywords; docs/c-api.md tells where they are listed.
    """

    def __init__(self, bundle: Union[None, str, "os.PathLike[str]"] = None) -> None:
        self._library = _the_library()
        self._handle = self._library.open(None if bundle is None else os.fspath(bundle))
        self._is_open = True

    def close(self) -> None:
        """Gives the memory back. No thread may still ask this bundle."""
        if self._is_open:
            self._is_open = False
            self._library.close(self._handle)

    def __enter__(self) -> "Bundle":
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        problem: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_is_open", False):
            self.close()

    def call(self, operation: str, request: Mapping[str, Any]) -> Json:
        """The answer of an operation as JSON has it. docs/c-api.md lists operations and their fields."""
        if not self._is_open:
            raise PerfcastError("closed-bundle", "the bundle is closed", "", "a bundle that is open")
        try:
            text = json.dumps(request, allow_nan=False).encode()
        except (TypeError, ValueError) as problem:
            raise PerfcastError("bad-json", f"the request can't be JSON: {problem}", operation, "texts, numbers") from problem
        answer: Json = json.loads(self._library.call(self._handle, operation, text))
        return answer

    def forecast(
        self,
        profile: Profile,
        *,
        measured: Optional[Mapping[str, float]] = None,
        reference: Optional[str] = None,
        top: Optional[int] = None,
        **fields: Any,
    ) -> Forecast:
        """How a program runs on each platform of the bundle.

        profile: the file that `perfcast profile -o FILE` wrote, or its JSON. measured: seconds of the program by
        platform. reference: the platform that relative times refer to. top: the fastest platforms alone.
        """
        request = dict(fields, profile=_read_profile(profile), measured=measured, reference=reference, top=top)
        return Forecast.from_json(self.call("forecast", _given(request)))

    def forecast_model(
        self,
        model: Union[str, Mapping[str, Any]],
        on: Names,
        *,
        batch: Union[None, int, Sequence[int]] = None,
        sequence: Union[None, int, Sequence[int]] = None,
        output_tokens: Optional[int] = None,
        price: Optional[Mapping[str, float]] = None,
        **fields: Any,
    ) -> ModelForecast:
        """How fast devices run a language model.

        model: a name that perfcast knows, or the JSON of a config.json. on: devices. batch, sequence: numbers of
        sequences and of tokens in a prompt. price: US dollars per hour by device.
        """
        request = dict(
            fields,
            **_model(model),
            on=_names(on),
            batch=_list(batch),
            sequence=_list(sequence),
            output_tokens=output_tokens,
            price=price,
        )
        return ModelForecast.from_json(self.call("llm/forecast", _given(request)))

    def simulate_serving(
        self,
        model: Union[str, Mapping[str, Any]],
        on: Names,
        *,
        rate: Union[None, float, Sequence[float]] = None,
        concurrency: Union[None, int, Sequence[int]] = None,
        requests: Optional[int] = None,
        objective: Union[None, str, Sequence[str]] = None,
        price: Optional[Mapping[str, float]] = None,
        **fields: Any,
    ) -> ServingForecast:
        """What a service of a language model delivers under a load.

        rate: requests per second, or concurrency: clients that wait for their answers. requests: their number.
        objective: limits of times, such as "ttft=1s,tpot=50ms". price: US dollars per hour by device.
        """
        request = dict(
            fields,
            **_model(model),
            on=_names(on),
            rate=_list(rate),
            concurrency=_list(concurrency),
            requests=requests,
            objective=_list(objective),
            price=price,
        )
        return ServingForecast.from_json(self.call("llm/serve-sim", _given(request)))


def _model(model: Union[str, Mapping[str, Any]]) -> Json:
    return {"model": model} if isinstance(model, str) else {"config": dict(model)}


def _list(values: Any) -> Any:
    return [values] if isinstance(values, (int, float, str)) else values


def _given(request: Mapping[str, Any]) -> Json:
    return {name: value for name, value in request.items() if value is not None}


def forecast(profile: Profile, **fields: Any) -> Forecast:
    """Bundle.forecast() with the shipped bundle."""
    return _shipped().forecast(profile, **fields)


def forecast_model(model: Union[str, Mapping[str, Any]], on: Names, **fields: Any) -> ModelForecast:
    """Bundle.forecast_model() with the shipped facts."""
    return _shipped().forecast_model(model, on, **fields)


def simulate_serving(model: Union[str, Mapping[str, Any]], on: Names, **fields: Any) -> ServingForecast:
    """Bundle.simulate_serving() with the shipped facts."""
    return _shipped().simulate_serving(model, on, **fields)
