// Files of results as the tools have written them over the years and as others have saved them again: whatever order,
// optional members, units, line ends, encodings and sizes, the times are those that were measured.

#include "measure/compare/testing/made_results.h"

namespace perfcast::measure::made {
namespace {

TEST(ResultReader, OfHyperfine) {
  Random random(21);
  for (int round = 0; round < 250; ++round) {
    Writer out(random);
    auto all = measure(random);
    auto expected = expected_of(all);
    std::vector<std::string> entries;
    size_t at = 0, notes = with_zeros(all);
    for (const Measured& each : all) {
      Fields fields = {{"command", out.quoted(each.name)}, {"mean", out.number(each.mean_s())}};
      BenchmarkRuns* const of = each.kept().empty() ? nullptr : &expected[at++];
      const bool has_single = !out.one_in(5) || each.has_zeros();  // since 1.6
      if (has_single) fields.emplace_back("times", out.numbers(each.times_s));
      if (!has_single) of->wall = summary(each.mean_s(), each.mean_s() / 8, 1);
      if (!has_single && out.one_in(2)) fields.emplace_back("times", out.one_in(2) ? "null" : "[]");
      fields.emplace_back("stddev", has_single && out.one_in(2) ? "null" : out.number(each.mean_s() / 8));
      if (!each.parameters.empty()) {
        fields.emplace_back("parameters", parameters_json(each.parameters, out, true));
      } else if (out.one_in(3)) {
        fields.emplace_back("parameters", out.one_in(2) ? "{}" : "null");
      }
      if (out.one_in(2)) {
        fields.emplace_back("user", out.number(each.mean_s() * 3));
        fields.emplace_back("system", out.number(each.mean_s() / 2));
        if (of != nullptr) of->busy_cpus = 3.5;
      }
      if (out.one_in(2)) {
        std::vector<std::string> codes(each.times_s.size(), "0");
        const bool fails = out.one_in(3);
        if (fails) codes[random.below(codes.size())] = out.one_in(2) ? "1" : "null";
        if (fails) ++notes;
        fields.emplace_back("exit_codes", out.list(codes));
      }
      if (out.one_in(3)) fields.emplace_back("memory_usage_byte", out.numbers({1024, 2048}));
      if (out.one_in(2)) fields.emplace_back("median", out.number(1));
      entries.push_back(out.object(fields));
    }
    Fields file = {{"results", out.list(entries)}};
    if (out.one_in(4)) file.emplace_back("version", "\"2\"");
    ASSERT_NO_FATAL_FAILURE(expect_read("hyperfine", out.object(file), expected, notes, random));
  }
}

std::string cell(const std::string& text, char separator) {
  if (text.find_first_of(std::string("\"\n") + separator) == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

// As hyperfine writes it, and as a spreadsheet of another country has saved it.
TEST(ResultReader, OfHyperfineAsCsv) {
  Random random(22);
  for (int round = 0; round < 300; ++round) {
    Writer out(random);
    auto all = measure(random);
    const bool own = out.one_in(2);
    const char separator = own ? ',' : out.one_in(2) ? ';' : '\t', decimal = !own && out.one_in(2) ? ',' : '.';
    const std::string end = out.one_in(2) ? "\r\n" : "\n", between(1, separator);
    const auto number = [&](double value) {
      std::string text = std::to_string(value);
      if (decimal == ',') std::replace(text.begin(), text.end(), '.', ',');
      return cell(text, separator);
    };
    std::vector<BenchmarkRuns> expected;
    std::string text;
    for (const char* name : {"command", "mean", "stddev", "median", "user", "system", "min", "max"})
      text += (text.empty() ? "" : between) + name;
    for (const char* name : {"n", "algo"}) text.append(between).append("parameter_").append(name);
    text += end;
    std::map<std::string, int> seen;
    for (const Measured& each : all) {
      const std::string n = std::to_string(10 * (1 + random.below(9))), algo = out.one_in(2) ? "merge" : "radix";
      const double mean_s = static_cast<double>(1 + random.below(9'999'999)) / 1e6;
      const bool has_deviation = !out.one_in(4);
      text += cell("run " + each.name, separator) + between + number(mean_s) + between +
              (has_deviation ? number(0.25) : "");
      for (const double value : {mean_s, 2 * mean_s, mean_s, mean_s, mean_s}) text += between + number(value);
      text.append(between).append(n).append(between).append(algo).append(end);
      std::string full = "run " + each.name + " (algo=" + algo;
      if ((" " + each.name + " ").find(" " + n + " ") == std::string::npos) full += ", n=" + n;
      const int count = ++seen[full];
      BenchmarkRuns& of = expected.emplace_back();
      of.name = full + ")" + (count == 1 ? "" : " #" + std::to_string(count));
      of.wall = summary(mean_s, has_deviation ? 0.25 : 0, 1);
      of.busy_cpus = std::stod(std::to_string(2 * mean_s)) / mean_s + 1;
    }
    ASSERT_NO_FATAL_FAILURE(expect_read("hyperfine", text, expected, separator == ',' ? 0 : 1, random));
  }
}

TEST(ResultReader, OfPytestBenchmark) {
  Random random(23);
  for (int round = 0; round < 250; ++round) {
    Writer out(random);
    auto all = measure(random);
    auto expected = expected_of(all);
    std::vector<std::string> entries;
    size_t at = 0, notes = 0;
    for (const Measured& each : all) {
      BenchmarkRuns* const of = each.kept().empty() ? nullptr : &expected[at++];
      Fields stats = {{"mean", out.number(each.mean_s())},
                      {"stddev", out.number(each.mean_s() / 16)},
                      {"rounds", std::to_string(each.times_s.size())},
                      {"ops", each.mean_s() > 0 ? "1.0" : "NaN"},
                      {"outliers", "\"1;2\""}};
      const bool has_single = out.one_in(2);  // --benchmark-save-data
      if (has_single) stats.emplace_back("data", out.numbers(each.times_s));
      notes += (has_single ? each.has_zeros() : of == nullptr) ? 1 : 0;
      if (!has_single && of != nullptr) {
        of->wall = summary(each.mean_s(), each.mean_s() / 16, static_cast<int64_t>(each.times_s.size()));
      }
      Fields fields = {{"stats", out.object(stats)}, {"group", "null"}, {"extra_info", "{}"}};
      const bool has_full_name = !out.one_in(4);
      fields.emplace_back(has_full_name ? "fullname" : "name", out.quoted(each.name));
      if (has_full_name) fields.emplace_back("name", "\"short\"");
      if (each.parameters.empty()) {
        fields.emplace_back("params", "null");
      } else {
        fields.emplace_back("params", parameters_json(each.parameters, out, false));
      }
      if (out.one_in(2)) fields.emplace_back("options", R"({"timer": "perf_counter", "min_time": 5e-06})");
      entries.push_back(out.object(fields));
    }
    const Fields file = {{"machine_info", R"({"node": "x", "cpu": {"count": 4}})"},
                         {"benchmarks", out.list(entries)},
                         {"version", "\"4.0.0\""},
                         {"datetime", "\"2026-11-27\""}};
    ASSERT_NO_FATAL_FAILURE(expect_read("pytest-benchmark", out.object(file), expected, notes, random));
  }
}

TEST(ResultReader, OfJmh) {
  Random random(25);
  for (int round = 0; round < 250; ++round) {
    Writer out(random);
    auto all = measure(random);
    for (Measured& each : all) {  // no more than one mode of each
      each.name = "org.B." + each.name;
      each.full_name = "org.B." + each.full_name;
    }
    auto expected = expected_of(all);
    std::vector<std::string> entries;
    size_t at = 0, notes = with_zeros(all);
    for (const Measured& each : all) {
      BenchmarkRuns* const of = each.kept().empty() ? nullptr : &expected[at++];
      const std::pair<const char*, double> kUnits[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"min", 60}};
      const auto [unit, unit_s] = kUnits[random.below(5)];
      const bool is_rate = out.one_in(2), is_sampled = !is_rate && out.one_in(3);
      const auto score = [&, unit_s = unit_s](double time_s) {
        return time_s == 0 ? 0 : is_rate ? unit_s / time_s : time_s / unit_s;
      };
      // Iterations in forks of some each; sampled ones as times that occurred so often.
      std::vector<std::string> forks, fork;
      for (size_t i = 0; i < each.times_s.size(); ++i) {
        const double value = score(each.times_s[i]);
        if (is_sampled) {
          fork.push_back(
              out.list({out.list({out.number(value * 0.5), "3"}), out.list({out.number(value * 2.5), "1"})}));
        } else {
          fork.push_back(out.number(value));
        }
        if (i + 1 < each.times_s.size() && !out.one_in(3)) continue;
        forks.push_back(out.list(fork));
        fork.clear();
      }
      const bool has_missing = out.one_in(10);
      if (has_missing) forks.push_back(out.list({"\"NaN\""}));
      notes += has_missing ? 1 : 0;
      const Fields metric = {
          {"score", out.one_in(2) ? "\"NaN\"" : out.number(score(each.mean_s()))},
          {"scoreError", "\"NaN\""},
          {"scoreConfidence", R"(["NaN", "NaN"])"},
          {"scorePercentiles", R"({"0.0": 1.0E-5, "50.0": "NaN"})"},
          {"scoreUnit", out.quoted(is_rate ? std::string("ops/") + unit : std::string(unit) + "/op")},
          {is_sampled ? "rawDataHistogram" : "rawData", out.list(forks)}};
      Fields fields = {{"benchmark", out.quoted(each.name)},
                       {"primaryMetric", out.object(metric)},
                       {"threads", std::to_string(static_cast<int>(each.threads))},
                       {"mode", "\"avgt\""},
                       {"secondaryMetrics", R"({"gc.alloc.rate": {"score": 1.0, "scoreUnit": "MB/sec"}})"}};
      if (of != nullptr) of->busy_cpus = each.threads;
      if (!each.parameters.empty()) fields.emplace_back("params", parameters_json(each.parameters, out, true));
      if (out.one_in(2)) fields.emplace_back("jmhVersion", "\"1.37\"");
      entries.push_back(out.object(fields));
    }
    ASSERT_NO_FATAL_FAILURE(expect_read("JMH", out.list(entries), expected, notes, random));
  }
}

}  // namespace
}  // namespace perfcast::measure::made
