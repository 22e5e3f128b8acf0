// Weightless networks beside XGBoost, small networks of neurons and the classic weightless ones:
//   perfcast_weightless_study [--corpus FILE] [--public FOLDER] [--seeds N] [--threads N] [--json]
// CORPUS: the cloud corpus; FOLDER: the data of Debian's python3-sklearn. Every contender's setting is chosen on the
// training rows alone, their parts (families, or drawn ones) left out in three groups. tools/bench-weightless runs it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>

#include "base/parallel.h"
#include "base/statistics.h"
#include "base/text.h"
#include "studies/output.h"
#include "studies/weightless/best_of_designs.h"
#include "studies/weightless/contenders.h"

namespace perfcast::program::weightless_study {
namespace {

constexpr size_t kInnerGroups = 3;

struct Answers {
  std::vector<double> answers;             // of each row, by the model that did not see its part
  std::vector<double> bytes, saved_bytes;  // of each part's model
  double row_ns = 0;                       // median over rounds, one row at a time
  std::map<std::string, int> chosen;
};

// Right answers, or minus the squared error: the more the better.
double merit(const TabularSet& set, size_t row, double answer) {
  if (!set.labels.empty()) return answer == static_cast<double>(set.labels[row]) ? 1 : 0;
  return -std::pow(answer - static_cast<double>(set.targets[row]), 2);
}

std::span<const float> row_of(const TabularSet& set, size_t row) {
  return std::span(set.rows).subspan(row * set.inputs, set.inputs);
}

using Fitted = Result<std::unique_ptr<FittedContender>>;

Result<size_t> choose(const Contender& contender, const TabularSet& training, uint64_t seed) {
  if (contender.settings.size() == 1) return size_t{0};
  std::optional<size_t> best;
  double most = -INFINITY;
  for (size_t s = 0; s < contender.settings.size(); ++s) {
    double sum = 0, bytes = 0;
    for (size_t group = 0; group < kInnerGroups; ++group) {
      std::vector<size_t> in, out;
      for (size_t r = 0; r < training.count(); ++r) (training.part[r] % kInnerGroups == group ? out : in).push_back(r);
      if (in.empty() || out.empty()) continue;
      const TabularSet part = training.rows_of(in);
      Fitted model = contender.settings[s].fit(part, seed);
      if (!model) return model.error();
      for (const size_t r : out) sum += merit(training, r, (*model)->answer(row_of(training, r)));
      bytes = std::max(bytes, static_cast<double>((*model)->bytes()));
    }
    if (contender.most_bytes > 0 && bytes > static_cast<double>(contender.most_bytes)) continue;
    if (best && sum <= most) continue;
    best = s;
    most = sum;
  }
  return best.value_or(0);
}

double row_ns(const FittedContender& model, const TabularSet& set) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> rounds;
  double sink = 0;
  for (int round = 0; round < 9; ++round) {
    const auto begin = Clock::now();
    size_t answered = 0;
    while (answered < 2000) {
      for (size_t r = 0; r < set.count(); ++r, ++answered) sink += model.answer(row_of(set, r));
    }
    rounds.push_back(std::chrono::duration<double, std::nano>(Clock::now() - begin).count() /
                     static_cast<double>(answered));
  }
  if (std::isnan(sink)) std::fputs("an answer was no number\n", stderr);
  return median(rounds);
}

Result<Answers> answers_of(const Contender& contender, const TabularSet& set, uint64_t seed, int threads) {
  Answers made;
  made.answers.assign(set.count(), NAN);
  made.bytes.assign(set.parts, 0);
  made.saved_bytes.assign(set.parts, 0);
  std::vector<std::string> chosen(set.parts);
  std::unique_ptr<FittedContender> first;
  TabularSet first_rows;
  const Status done = parallel_for(set.parts, threads, [&](size_t part) -> Status {
    std::vector<size_t> in, out;
    for (size_t r = 0; r < set.count(); ++r) (set.part[r] == part ? out : in).push_back(r);
    TabularSet training = set.rows_of(in), test = set.rows_of(out);
    standardise(training, test);
    const auto setting = choose(contender, training, seed);
    if (!setting) return setting.error();
    Fitted model = contender.settings[*setting].fit(training, seed);
    if (!model) return model.error();
    for (size_t i = 0; i < out.size(); ++i) made.answers[out[i]] = (*model)->answer(row_of(test, i));
    made.bytes[part] = static_cast<double>((*model)->bytes());
    made.saved_bytes[part] = static_cast<double>((*model)->saved_bytes());
    chosen[part] = contender.settings[*setting].name;
    if (part == 0) {
      first = std::move(*model);
      first_rows = std::move(training);
    }
    return {};
  });
  if (!done) return done.error();
  for (const std::string& name : chosen) ++made.chosen[name];
  made.row_ns = row_ns(*first, first_rows);
  return made;
}

double score_of(const TabularSet& set, const std::vector<double>& answers) {
  double sum = 0, mean_target = 0, spread = 0;
  for (size_t r = 0; r < set.count(); ++r) sum += merit(set, r, answers[r]);
  if (!set.labels.empty()) return sum / static_cast<double>(set.count());
  for (const float target : set.targets) mean_target += static_cast<double>(target) / static_cast<double>(set.count());
  for (const float target : set.targets) spread += std::pow(static_cast<double>(target) - mean_target, 2);
  return 1 + sum / spread;
}

struct Line {
  std::string contender, chosen;
  std::vector<double> scores;  // by seed
  double bytes = 0, saved_bytes = 0, row_ns = 0;
};

ReportTable lines_table(const TabularSet& set, const std::vector<Line>& lines) {
  return table_of<Line>(
      fmt::format("{}: {} rows, {} inputs, {} parts left out in turn", set.name, set.count(), set.inputs, set.parts),
      lines,
      {{"contender", "contender", Quantity::kText, [](const Line& line) { return line.contender; }},
       {set.labels.empty() ? "r2" : "right", set.labels.empty() ? "R2" : "right", Quantity::kNumber,
        [](const Line& line) { return mean(line.scores); }, 3},
       {"deviation", "sd", Quantity::kNumber,
        [](const Line& line) { return line.scores.size() > 1 ? standard_deviation(line.scores) : NAN; }, 3},
       {"bytes", "bytes", Quantity::kNumber, [](const Line& line) { return line.bytes; }, 0},
       {"saved_bytes", "saved", Quantity::kNumber, [](const Line& line) { return line.saved_bytes; }, 0},
       {"row_ns", "ns a row", Quantity::kNumber, [](const Line& line) { return line.row_ns; }, 0},
       {"chosen", "chosen most often", Quantity::kText, [](const Line& line) { return line.chosen; }}});
}

Result<Line> line_of(const Contender& contender, const std::vector<TabularSet>& by_seed, int threads) {
  Line line;
  line.contender = contender.name;
  std::map<std::string, int> chosen;
  std::vector<double> bytes, saved_bytes;
  for (size_t seed = 0; seed < by_seed.size(); ++seed) {
    const auto answers = answers_of(contender, by_seed[seed], seed + 1, threads);
    if (!answers) return answers.error();
    line.scores.push_back(score_of(by_seed[seed], answers->answers));
    bytes.insert(bytes.end(), answers->bytes.begin(), answers->bytes.end());
    saved_bytes.insert(saved_bytes.end(), answers->saved_bytes.begin(), answers->saved_bytes.end());
    for (const auto& [name, count] : answers->chosen) chosen[name] += count;
    line.row_ns = answers->row_ns;
  }
  line.bytes = median(bytes);
  line.saved_bytes = median(saved_bytes);
  line.chosen = std::max_element(chosen.begin(), chosen.end(), [](const auto& a, const auto& b) {
                  return a.second < b.second;
                })->first;
  return line;
}

// `by_seed`: the same rows, parted anew for each seed (or not, where parts are families).
Status study(const std::vector<TabularSet>& by_seed, int threads, StudyOutput& output) {
  const TabularSet& set = by_seed.front();
  const bool classes = !set.labels.empty();
  std::vector<Line> lines;
  const auto add = [&](const Contender& contender) -> Status {
    auto line = line_of(contender, by_seed, threads);
    if (!line) return line.error();
    lines.push_back(std::move(*line));
    return {};
  };
  std::vector<Contender> contenders = classes ? majority_contenders(set) : std::vector<Contender>();
  const size_t first = contenders.size();
  for (Contender& of : classes ? weightless_classifiers(set) : weightless_regressions())
    contenders.push_back(std::move(of));
  contenders.push_back(xgboost_contender(set, 0));
  for (const Contender& contender : contenders) {
    if (const Status added = add(contender); !added) return added;
  }
  const Line& full = lines.back();
  const double majority = lines.front().scores.empty() ? 0 : mean(lines.front().scores);
  const double gain = mean(full.scores) - majority, ours = mean(lines[first].scores) - majority;
  const double share_of_bytes = lines[first].bytes / full.bytes,
               share_of_saved = lines[first].saved_bytes / full.saved_bytes;
  const auto bytes = static_cast<size_t>(lines[first].bytes);
  for (const Contender& contender : {xgboost_contender(set, bytes), mlp_contender(set, bytes)}) {
    if (const Status added = add(contender); !added) return added;
  }
  output.add(set.name, lines_table(set, lines));
  if (classes && gain > 0)
    output.note(fmt::format(
        "of XGBoost's gain over the majority ({:.3f}) votes have {:.0f}%, in {:.1f}% of its bytes ({:.1f}% of what it "
        "saves)",
        gain, 100 * ours / gain, 100 * share_of_bytes, 100 * share_of_saved));
  return {};
}

struct Options {
  std::string corpus, folder;
  std::vector<std::string> sets = {"digits", "breast_cancer", "wine", "diabetes"};
  uint64_t seeds = 3;
  int threads = 2;
  bool json = false;
};

Status run(Options options) {
  StudyOutput output("weightless", options.json);
  if (!options.corpus.empty()) {
    const auto best = best_of_designs(options.corpus, {"compressor", "user"}, 8);
    if (!best) return best.error();
    output.note("CPU models: " + join(best->platforms, "; "));
    if (const Status done = study(std::vector<TabularSet>(options.seeds, best->set), options.threads, output); !done)
      return done;
  }
  if (options.folder.empty()) options.sets.clear();
  for (const std::string& name : options.sets) {
    std::vector<TabularSet> by_seed;
    for (uint64_t seed = 1; seed <= options.seeds; ++seed) {
      auto set = read_public_set(options.folder, name, seed);
      if (!set) return set.error();
      by_seed.push_back(std::move(*set));
    }
    if (const Status done = study(by_seed, options.threads, output); !done) return done;
  }
  output.finish();
  return {};
}

}  // namespace
}  // namespace perfcast::program::weightless_study

int main(int argc, char** argv) {
  perfcast::program::weightless_study::Options options;
  CLI::App app("Weightless networks beside their rivals");
  app.add_option("--corpus", options.corpus, "The cloud corpus");
  app.add_option("--public", options.folder, "Data of python3-sklearn");
  app.add_option("--sets", options.sets, "Of the public ones")->delimiter(',');
  app.add_option("--seeds", options.seeds, "Repetitions")->check(CLI::Range(1, 1000));
  app.add_option("--threads", options.threads, "Threads")->check(CLI::Range(1, 4096));
  app.add_flag("--json", options.json, "For programs");
  CLI11_PARSE(app, argc, argv);
  const perfcast::Status done = perfcast::program::weightless_study::run(options);
  if (done) return 0;
  std::fprintf(stderr, "%s\n", to_text(done.error()).c_str());
  return 1;
}
