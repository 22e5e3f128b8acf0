"""Tests of the module against the real library; PERFCAST_LIBRARY and PERFCAST_SHARE say where it and its data are."""

import doctest
import json
import os
import pathlib
import threading
import unittest
import xml.etree.ElementTree

import perfcast
from perfcast import _picture

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROFILE = ROOT / "data" / "profiles" / "apps" / "apps.aobench.json"


class Programs(unittest.TestCase):
    def test_forecast_of_a_file_and_of_its_json_are_equal(self) -> None:
        forecast = perfcast.forecast(PROFILE)
        self.assertEqual(forecast.program, "apps.aobench")
        self.assertGreater(len(forecast.platforms), 200)
        self.assertEqual(forecast, perfcast.forecast(json.loads(PROFILE.read_text())))

    def test_platforms_are_sorted_and_lie_in_their_intervals(self) -> None:
        platforms = perfcast.forecast(PROFILE).platforms
        self.assertEqual(platforms, sorted(platforms, key=lambda platform: platform.rpv))
        for platform in platforms:
            self.assertLessEqual(platform.lower, platform.rpv)
            self.assertLessEqual(platform.rpv, platform.upper)
            self.assertIsInstance(platform.name, str)

    def test_parameters_reach_the_request(self) -> None:
        forecast = perfcast.forecast(PROFILE, top=5, filter=["arch=aarch64"])
        self.assertEqual(len(forecast.platforms), 5)
        self.assertEqual({platform.arch for platform in forecast.platforms}, {"aarch64"})
        first = forecast.platforms[0]
        other = perfcast.forecast(PROFILE, measured={first.name: 7.5}, reference=first.name)
        self.assertAlmostEqual(other.platform(first.id).rpv, 1)
        self.assertAlmostEqual(other.platform(first.id).time_s, 7.5)
        self.assertTrue(other.platform(first.name).measured)
        with self.assertRaises(KeyError):
            other.platform("Zilog Z80")

    def test_errors_have_fields(self) -> None:
        with self.assertRaises(perfcast.PerfcastError) as caught:
            perfcast.forecast(PROFILE, reference="Zilog Z80")
        error = caught.exception
        self.assertEqual(error.code, "unknown-platform")
        self.assertEqual(error.where, "reference")
        self.assertIn("Zilog Z80", error.message)
        self.assertIn(error.allowed, str(error))
        for profile, code in (
            ("/nonexistent/p.json", "file-not-found"),
            (ROOT / "LICENSE", "bad-json"),
            ({"schema": "perfcast.profile/1", "x": float("nan")}, "bad-json"),
        ):
            with self.assertRaises(perfcast.PerfcastError) as caught:
                perfcast.forecast(profile)
            self.assertEqual(caught.exception.code, code)
        with self.assertRaises(perfcast.PerfcastError) as caught:
            perfcast.forecast(PROFILE, tops=3)
        self.assertEqual(caught.exception.code, "bad-json-field")

    def test_a_closed_bundle_answers_nothing(self) -> None:
        with perfcast.Bundle(ROOT / "data" / "bundles" / "cpus.pcb") as bundle:
            self.assertEqual(bundle.forecast(PROFILE, top=1).bundle, "cpus")
        bundle.close()
        with self.assertRaises(perfcast.PerfcastError) as caught:
            bundle.forecast(PROFILE)
        self.assertEqual(caught.exception.code, "closed-bundle")
        with self.assertRaises(perfcast.PerfcastError) as caught:
            perfcast.Bundle(ROOT / "LICENSE")
        self.assertEqual(caught.exception.code, "bad-bundle")

    def test_threads_share_a_bundle(self) -> None:
        alone = perfcast.forecast(PROFILE)
        found = []
        threads = [threading.Thread(target=lambda: found.append(perfcast.forecast(PROFILE))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [alone] * 4)


class LanguageModels(unittest.TestCase):
    def test_forecast(self) -> None:
        forecast = perfcast.forecast_model("llama3-8b", on="h100,l4", batch=[1, 8], price={"l4": 0.8})
        self.assertEqual([(row.device, row.batch) for row in forecast.rows][1:3], [("NVIDIA H100 80GB HBM3", 8), ("NVIDIA L4", 1)])
        self.assertEqual(forecast.rows, perfcast.forecast_model("llama3-8b", on=["h100", "l4"], batch=[1, 8], price={"l4": 0.8}).rows)
        for row in forecast.rows:
            self.assertLess(row.lower, row.tokens_per_s)
            self.assertEqual(row.cost_per_million_tokens_usd is None, row.device != "NVIDIA L4")

    def test_service(self) -> None:
        answer = perfcast.simulate_serving("llama3-8b", on="h100", rate=2, requests=200, objective="ttft=1s,tpot=50ms")
        (row,) = answer.rows
        self.assertEqual((row.pace, row.requests, row.rate_per_s), ("keeps up", 200, 2))
        self.assertLess(row.first_token_s["p50"], row.first_token_s["p99"])
        self.assertTrue(row.objectives[0]["met"])

    def test_errors(self) -> None:
        with self.assertRaises(perfcast.PerfcastError) as caught:
            perfcast.forecast_model("llama3-8b", on="abacus")
        self.assertEqual(caught.exception.code, "unknown-device")


class Notebooks(unittest.TestCase):
    def test_pictures_are_well_formed_and_escaped(self) -> None:
        answers = [
            perfcast.forecast(PROFILE),
            perfcast.forecast_model("llama3-8b", on="h100,l4", batch=[1, 8]),
            perfcast.simulate_serving("llama3-8b", on="h100", rate=2, requests=200),
        ]
        for answer, bars in zip(answers, (20, 4, 1)):
            page = xml.etree.ElementTree.fromstring(answer._repr_html_().replace("<br>", "<br/>"))
            self.assertEqual(len(page.findall(".//{http://www.w3.org/2000/svg}circle")), bars)
        bar = _picture.Bar("<script>&", 2, 1, 3)
        drawing = xml.etree.ElementTree.fromstring(_picture.interval_svg([bar], "s"))
        self.assertEqual(drawing.find(".//{http://www.w3.org/2000/svg}g/{http://www.w3.org/2000/svg}text").text, "<script>&")
        self.assertEqual(_picture.interval_svg([], "s"), "")

    def test_ticks(self) -> None:
        for most, ticks in ((1, "0 0.2 0.4 0.6 0.8 1"), (37, "0 10 20 30"), (600, "0 100 200 300 400 500 600")):
            self.assertEqual(" ".join(f"{tick:g}" for tick in _picture._ticks(most)), ticks)

    def test_pandas(self) -> None:
        try:
            import pandas  # noqa: F401
        except ImportError:
            self.skipTest("pandas is not installed")
        frame = perfcast.forecast(PROFILE, top=5).to_pandas()
        self.assertEqual(len(frame), 5)
        self.assertEqual(frame["rpv"].is_monotonic_increasing, True)
        self.assertEqual(len(perfcast.forecast_model("llama3-8b", on="h100,l4").to_pandas()), 2)


class Pages(unittest.TestCase):
    def test_examples_of_the_page(self) -> None:
        before = os.getcwd()
        os.chdir(ROOT)
        try:
            result = doctest.testfile(
                str(ROOT / "docs" / "python.md"), module_relative=False, optionflags=doctest.ELLIPSIS
            )
        finally:
            os.chdir(before)
        self.assertGreater(result.attempted, 10)
        self.assertEqual(result.failed, 0)

    def test_names(self) -> None:
        for name in perfcast.__all__:
            self.assertTrue(getattr(perfcast, name).__doc__, name)
        self.assertRegex(perfcast.version(), r"^\d+\.\d+\.\d+$")


if __name__ == "__main__":
    unittest.main()
