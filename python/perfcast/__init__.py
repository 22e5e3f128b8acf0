"""Forecasts how programs and language models run on machines you don't have.

    import perfcast
    forecast = perfcast.forecast("p.json")
    print(forecast.platforms[0].name, forecast.platforms[0].rpv)

docs/python.md of perfcast has more examples.
"""

from ._library import PerfcastError
from .results import (
    DeviceForecast,
    Forecast,
    ModelForecast,
    PlatformForecast,
    ServiceForecast,
    ServingForecast,
    ForecastWarning,
)
from .bundle import Bundle, forecast, forecast_model, simulate_serving, version

__all__ = [
    "DeviceForecast",
    "Forecast",
    "ModelForecast",
    "PerfcastError",
    "PlatformForecast",
    "ServiceForecast",
    "ServingForecast",
    "Bundle",
    "ForecastWarning",
    "forecast",
    "forecast_model",
    "simulate_serving",
    "version",
]
