#pragma once
// Times of benchmarks that nobody measured, and ways to write them: what a reader of results must make of each.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "measure/compare/result_file.h"

namespace perfcast::measure::made {

using Fields = std::vector<std::pair<std::string, std::string>>;  // names, and values as JSON
using Parameters = std::vector<std::pair<std::string, std::string>>;

// Writes JSON in a form of its own.
class Writer {
 public:
  explicit Writer(Random& random) : random_(random) {
    const char* const kBlanks[] = {"", " ", "\n  ", "\r\n\t"};
    blank_ = kBlanks[random.below(4)];
    escapes_ = one_in(2);
    is_java_ = one_in(3);
  }
  bool one_in(uint64_t n) { return random_.below(n) == 0; }
  std::string object(Fields fields) {
    random_.shuffle(fields);
    std::string text;
    for (const auto& [name, value] : fields) {
      if (!text.empty()) text += ",";
      text.append(blank_).append(quoted(name)).append(":").append(blank_).append(value);
    }
    return "{" + text + blank_ + "}";
  }
  std::string list(const std::vector<std::string>& values) const {
    std::string text;
    for (const std::string& value : values) text += (text.empty() ? "" : ",") + blank_ + value;
    return "[" + text + blank_ + "]";
  }
  std::string numbers(const std::vector<double>& values) {
    std::vector<std::string> texts;
    for (const double value : values) texts.push_back(number(value));
    return list(texts);
  }
  std::string number(double value) {
    char text[40];
    std::snprintf(text, sizeof text, is_java_ ? "%.16E" : one_in(3) ? "%.16e" : "%.17g", value);
    return text;
  }
  std::string quoted(const std::string& text) const {
    std::string out = "\"";
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '"' || text[i] == '\\') {
        out += std::string("\\") + text[i];
      } else if (escapes_ && text.compare(i, 2, "\xC3\xB6") == 0) {
        out += "\\u00f6";
        ++i;
      } else {
        out += text[i];
      }
    }
    return out + "\"";
  }

 private:
  Random& random_;
  std::string blank_;
  bool escapes_ = false, is_java_ = false;
};

// One benchmark as it was measured, and the name that its file's reader makes of it.
struct Measured {
  std::string name, full_name;
  Parameters parameters;
  std::vector<double> times_s;  // also zeros
  std::vector<double> cpu_s;    // as many
  double threads = 1;

  std::vector<double> kept() const {
    std::vector<double> above;
    std::copy_if(times_s.begin(), times_s.end(), std::back_inserter(above), [](double time_s) { return time_s > 0; });
    return above;
  }
  double mean_s() const {
    double sum = 0;
    for (const double time_s : times_s) sum += time_s;
    return sum / static_cast<double>(times_s.size());
  }
  bool has_zeros() const { return kept().size() < times_s.size(); }
};

inline Parameters make_parameters(Random& random) {
  Parameters parameters;
  if (random.below(2) == 0) parameters.emplace_back("n", std::to_string(10 * (1 + random.below(9))));
  if (random.below(3) == 0) parameters.emplace_back("algo", random.below(2) == 0 ? "quick" : "heap");
  if (random.below(5) == 0) parameters.emplace_back("x", "0.5");
  return parameters;
}

// With names that repeat and that have all, some or none of their parameters in them.
inline std::vector<Measured> measure(Random& random) {
  std::vector<Measured> all(1 + random.below(random.below(20) == 0 ? 200 : 6));
  const char* const kNames[] = {"sort",
                                "./gr\xC3\xB6\xC3\x9F"
                                "e -v",
                                "BM_Copy<\"a\">", "t.py::test_a", "a\\b, c; d|e"};
  for (Measured& each : all) {
    each.name = kNames[random.below(5)];
    each.parameters = make_parameters(random);
    Parameters missing;
    for (const auto& parameter : each.parameters) {
      if (random.below(2) == 0) {
        each.name += " " + parameter.second;
      } else {
        missing.push_back(parameter);
      }
    }
    each.full_name = each.name;
    std::sort(missing.begin(), missing.end());
    for (size_t i = 0; i < missing.size(); ++i)
      each.full_name.append(i == 0 ? " (" : ", ").append(missing[i].first + "=" + missing[i].second);
    if (!missing.empty()) each.full_name += ")";
    each.times_s.resize(1 + random.below(8));
    each.threads = static_cast<double>(1 + random.below(2));
    const double scale = std::pow(10, -static_cast<double>(random.below(9)));
    for (double& time_s : each.times_s) {
      time_s = random.below(12) == 0 ? 0 : scale * random.uniform(0.5, 2);
      each.cpu_s.push_back(time_s * random.uniform(0.5, 1));
    }
  }
  return all;
}

// What the reader should have found: names that repeat are numbered, those without a time are left out.
inline std::vector<BenchmarkRuns> expected_of(const std::vector<Measured>& all) {
  std::vector<BenchmarkRuns> expected;
  std::map<std::string, int> seen;
  for (const Measured& each : all) {
    if (each.kept().empty()) continue;
    const int number = ++seen[each.full_name];
    BenchmarkRuns& runs = expected.emplace_back();
    runs.name = number == 1 ? each.full_name : each.full_name + " #" + std::to_string(number);
    runs.wall.runs_s = each.kept();
  }
  return expected;
}

inline void expect_times(const TimedRuns& read, const TimedRuns& expected, const std::string& text) {
  ASSERT_EQ(read.runs(), expected.runs()) << text;
  ASSERT_EQ(read.runs_s.size(), expected.runs_s.size()) << text;
  for (size_t i = 0; i < read.runs_s.size(); ++i) ASSERT_NEAR(read.runs_s[i] / expected.runs_s[i], 1, 1e-12) << text;
  if (!expected.runs_s.empty() || !expected.is_known()) return;
  ASSERT_NEAR(read.mean_s / expected.mean_s, 1, 1e-12) << text;
  ASSERT_NEAR(read.deviation_s, expected.deviation_s, 1e-12 * expected.mean_s) << text;
}

inline std::string as_utf16(const std::string& text) {
  std::string wide = "\xFF\xFE";
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned code = static_cast<unsigned char>(text[i]);
    if (code >= 0xC0) code = (code & 0x1F) << 6 | (static_cast<unsigned char>(text[++i]) & 0x3F);
    wide += static_cast<char>(code & 0xFF);
    wide += static_cast<char>(code >> 8);
  }
  return wide;
}

// Reads `text` in one of the encodings, and compares.
inline void expect_read(const std::string& tool, const std::string& text, const std::vector<BenchmarkRuns>& expected,
                        size_t notes, Random& random) {
  const uint64_t encoding = random.below(20);
  Result<ResultFile> read = parse_result_file(encoding % 2 == 0 ? text : "\xEF\xBB\xBF" + text, "r.json");
  if (encoding == 0) {
    const std::string path = ::testing::TempDir() + "/perfcast_result_forms.json";
    std::ofstream(path, std::ios::binary) << as_utf16(text);
    EXPECT_TRUE(is_compared_file(path));
    auto file = read_compared_file(path);
    std::filesystem::remove(path);
    ASSERT_TRUE(file) << to_text(file.error()) << text;
    read = std::move(file->results);
  }
  if (expected.empty()) {
    ASSERT_FALSE(read) << text;
    ASSERT_EQ(read.error().code, "no-results") << to_text(read.error()) << text;
    return;
  }
  ASSERT_TRUE(read) << to_text(read.error()) << text;
  ASSERT_EQ(read->tool, tool) << text;
  ASSERT_EQ(read->notes.size(), notes) << ::testing::PrintToString(read->notes) << text;
  ASSERT_EQ(read->benchmarks.size(), expected.size()) << text;
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(read->benchmarks[i].name, expected[i].name) << text;
    ASSERT_NO_FATAL_FAILURE(expect_times(read->benchmarks[i].wall, expected[i].wall, text));
    ASSERT_NO_FATAL_FAILURE(expect_times(read->benchmarks[i].cpu, expected[i].cpu, text));
    if (expected[i].busy_cpus) {
      ASSERT_TRUE(read->benchmarks[i].busy_cpus) << text;
      ASSERT_NEAR(*read->benchmarks[i].busy_cpus, *expected[i].busy_cpus, 1e-9) << text;
    }
  }
}

inline std::string parameters_json(const Parameters& parameters, Writer& out, bool only_texts) {
  Fields fields;
  for (const auto& [name, value] : parameters)
    fields.emplace_back(name, only_texts || name == "algo" || out.one_in(2) ? out.quoted(value) : value);
  return out.object(fields);
}

inline size_t with_zeros(const std::vector<Measured>& all) {
  return static_cast<size_t>(
      std::count_if(all.begin(), all.end(), [](const Measured& each) { return each.has_zeros(); }));
}

// A mean in the place of single runs.
inline TimedRuns summary(double mean_s, double deviation_s, int64_t count) {
  TimedRuns runs;
  if (!(mean_s > 0)) return runs;
  runs.mean_s = mean_s;
  runs.deviation_s = deviation_s;
  runs.count = count;
  return runs;
}

}  // namespace perfcast::measure::made
