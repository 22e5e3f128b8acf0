// As result_reader_test.cc, for Google Benchmark: single runs and aggregates of all its versions.

#include "measure/compare/testing/made_results.h"

namespace perfcast::measure::made {
namespace {

// An entry of one run, and where its benchmark's entries go on.
struct Entries {
  std::vector<std::string> of;
  size_t next = 0;
};

TEST(GoogleResults, AreReadAlike) {
  Random random(24);
  for (int round = 0; round < 300; ++round) {
    Writer out(random);
    auto all = measure(random);
    const bool is_old = out.one_in(4);  // before 1.5: without run_name and run_type
    const bool has_families = !is_old && !out.one_in(3);
    std::vector<Entries> lists;
    std::vector<BenchmarkRuns> expected(all.size());
    size_t skipped = 0, notes = 0;
    for (size_t i = 0; i < all.size(); ++i) {
      Measured& each = all[i];
      if (!has_families) each.name += "/" + std::to_string(100 + i);  // otherwise repetitions of one
      const char* const kUnits[] = {"ns", "us", "ms", "s"};
      const uint64_t unit = random.below(4);
      const double per_s = std::pow(10, 9 - 3 * static_cast<double>(unit));
      const auto entry = [&](const std::string& suffix, double wall_s, double cpu_s) {
        Fields fields = {{"name", out.quoted(each.name + (suffix.empty() ? "" : "_" + suffix))},
                         {"iterations", "1000"},
                         {"real_time", out.number(wall_s * per_s)},
                         {"cpu_time", out.number(cpu_s * per_s)}};
        if (unit > 0 || out.one_in(2)) fields.emplace_back("time_unit", out.quoted(kUnits[unit]));
        if (!is_old) {
          fields.emplace_back("run_name", out.quoted(each.name));
          fields.emplace_back("run_type", suffix.empty() ? "\"iteration\"" : "\"aggregate\"");
          fields.emplace_back("threads", std::to_string(static_cast<int>(each.threads)));
          fields.emplace_back("repetitions", std::to_string(each.times_s.size()));
          if (!suffix.empty()) fields.emplace_back("aggregate_name", out.quoted(suffix));
          if (!suffix.empty() && out.one_in(2)) fields.emplace_back("aggregate_unit", "\"time\"");
        }
        if (has_families) {
          fields.emplace_back("family_index", std::to_string(i / 2));
          fields.emplace_back("per_family_instance_index", std::to_string(i % 2));
        }
        // As streams print them, before 1.4.
        const char* const kCounters[] = {"NaN", "Infinity", "-Infinity", "1.5e+07", "nan", "-nan", "inf", "-inf"};
        if (out.one_in(3)) fields.emplace_back("hits", kCounters[random.below(is_old ? 8 : 4)]);
        if (out.one_in(3)) fields.emplace_back("label", out.quoted(each.name));
        return fields;
      };
      Entries& list = lists.emplace_back();
      BenchmarkRuns& runs = expected[i];
      runs.name = each.name;
      const bool only_aggregates = each.times_s.size() > 1 && out.one_in(4);
      if (!only_aggregates) {
        for (size_t run = 0; run < each.times_s.size(); ++run)
          list.of.push_back(out.object(entry("", each.times_s[run], each.cpu_s[run])));
        runs.wall.runs_s = each.kept();
        for (const double cpu_s : each.cpu_s) {
          if (cpu_s > 0) runs.cpu.runs_s.push_back(cpu_s);
        }
        notes += each.has_zeros() ? 1 : 0;
      }
      if (only_aggregates || (each.times_s.size() > 1 && out.one_in(2))) {
        const double mean_s = each.mean_s();
        list.of.push_back(out.object(entry("mean", mean_s, mean_s / 2)));
        list.of.push_back(out.object(entry("median", mean_s * 2, mean_s)));
        list.of.push_back(out.object(entry("stddev", mean_s / 8, mean_s / 16)));
        if (only_aggregates) {
          const int64_t count = is_old ? 1 : static_cast<int64_t>(each.times_s.size());
          runs.wall = summary(mean_s, mean_s / 8, count);
          runs.cpu = summary(mean_s / 2, mean_s / 16, count);
          notes += mean_s > 0 ? 0 : 1;
        }
        if (!is_old) {
          Fields cv = entry("cv", 0.1, 0.1);
          cv.emplace_back("aggregate_unit", "\"percentage\"");
          cv.erase(std::remove_if(cv.begin(), cv.end() - 1, [](const auto& f) { return f.first == "aggregate_unit"; }),
                   cv.end() - 1);
          list.of.push_back(out.object(cv));
        }
      }
      if (runs.wall.is_known() && !is_old) runs.busy_cpus = each.threads;
      if (out.one_in(8)) {
        Fields failed = entry("", 0, 0);
        if (out.one_in(2)) {
          failed.emplace_back("error_occurred", "true");
          failed.emplace_back("error_message", "\"no\"");
        } else {
          failed.emplace_back("skipped", "true");
        }
        list.of.push_back(out.object(failed));
        ++skipped;
      }
      if (out.one_in(6)) {
        Fields fit = {{"name", out.quoted(each.name + "_BigO")},
                      {"cpu_coefficient", "0.5"},
                      {"real_coefficient", "0.5"},
                      {"big_o", "\"N\""},
                      {"time_unit", "\"ns\""}};
        Fields error = {{"name", out.quoted(each.name + "_RMS")}, {"rms", "0.02"}};
        if (!is_old) {
          for (Fields* fields : {&fit, &error}) {
            fields->emplace_back("run_name", out.quoted(each.name));
            fields->emplace_back("run_type", "\"aggregate\"");
            fields->emplace_back("aggregate_name", fields == &fit ? "\"BigO\"" : "\"RMS\"");
          }
        }
        list.of.push_back(out.object(fit));
        list.of.push_back(out.object(error));
      }
    }
    if (skipped > 0) ++notes;
    // --benchmark_enable_random_interleaving
    std::vector<std::string> entries;
    const bool interleaves = out.one_in(3);
    std::vector<size_t> order;  // of benchmarks, by their first entry
    for (size_t left = lists.size(); left > 0;) {
      size_t i = interleaves ? random.below(lists.size()) : lists.size() - left;
      while (lists[i].next == lists[i].of.size()) i = (i + 1) % lists.size();
      if (lists[i].next == 0) order.push_back(i);
      entries.push_back(lists[i].of[lists[i].next++]);
      if (lists[i].next == lists[i].of.size()) --left;
    }
    std::vector<BenchmarkRuns> ordered;
    std::map<std::string, int> seen;
    for (const size_t i : order) {
      BenchmarkRuns runs = expected[i];
      const int number = ++seen[runs.name];
      if (number > 1) runs.name += " #" + std::to_string(number);
      if (runs.wall.is_known()) ordered.push_back(std::move(runs));
    }
    Fields file = {{"benchmarks", out.list(entries)}};
    if (!out.one_in(5)) file.emplace_back("context", R"({"date": "2026", "num_cpus": 4, "load_avg": [1.0, NaN]})");
    ASSERT_NO_FATAL_FAILURE(expect_read("Google Benchmark", out.object(file), ordered, notes, random));
  }
}

}  // namespace
}  // namespace perfcast::measure::made
