#include "studies/adapt/predict_coverage.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "base/parallel.h"
#include "base/random.h"
#include "base/statistics.h"
#include "base/text.h"
#include "program/model/adapt/platform_adaptation.h"
#include "program/model/bundle/train_bundle.h"
#include "program/model/forecast/forecaster.h"

namespace perfcast::program::adapt_study {
namespace {

// Of new platforms, or of known ones.
struct PredictEntry {
  double off = 0, half_width = 0;  // log
  double doubt = 0;                // a typical half width of the known platforms: how far the model's parts disagree
};
using PredictEntries = std::vector<PredictEntry>;

double typical_error(const PredictEntries& entries) {
  std::vector<double> errors;
  errors.reserve(entries.size());
  for (const PredictEntry& entry : entries) errors.push_back(std::abs(std::exp(entry.off) - 1));
  return median(std::move(errors));
}

double typical_half_width(const PredictEntries& entries) {
  std::vector<double> widths;
  widths.reserve(entries.size());
  for (const PredictEntry& entry : entries) widths.push_back(entry.half_width);
  return median(std::move(widths));
}

double covered_share(const PredictEntries& entries, size_t begin, size_t end) {
  double covered = 0;
  for (size_t i = begin; i < end; ++i) covered += std::abs(entries[i].off) <= entries[i].half_width ? 1 : 0;
  return covered / static_cast<double>(end - begin);
}

struct PredictScored {
  PredictEntries added, known;
};
using PredictScores = std::map<std::pair<std::string, size_t>, PredictScored>;  // by group and count

template <typename T>
std::vector<T> shuffled(std::vector<T> items, Random& random) {
  for (size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random.below(i)]);
  return items;
}

// One design and one fold of families left out.
struct PredictJob {
  std::vector<size_t> known, added;    // platforms
  std::vector<size_t> trained, asked;  // programs
  uint64_t seed = 0;
};

// A forecast is about the mean over all platforms; what was measured is about the mean over those that it was measured
// on: both are taken about the latter.
void score_forecast(const TrainingTable& table, const PredictJob& job, size_t program, size_t added,
                    const Forecast& forecast, PredictScored& scores) {
  std::vector<size_t> columns = job.known;
  columns.push_back(added);
  std::vector<std::pair<size_t, double>> off;  // by position in the forecast
  double mean = 0;
  for (size_t j = 0; j < columns.size(); ++j) {
    const auto& time = table.at(program, columns[j]);
    if (!time) continue;
    off.emplace_back(j, forecast.log_rpv(static_cast<Eigen::Index>(j)) - time->log_time);
    mean += off.back().second;
  }
  mean /= static_cast<double>(off.size());
  const auto known = static_cast<Eigen::Index>(job.known.size());
  const double doubt = median(std::vector<double>(forecast.half_width.data(), forecast.half_width.data() + known));
  for (const auto& [j, apart] : off) {
    (j < job.known.size() ? scores.known : scores.added)
        .push_back({apart - mean, forecast.half_width(static_cast<Eigen::Index>(j)), doubt});
  }
}

// Times of the first `count` programs of `order`, indices of those trained on, as PlatformAdaptation takes them.
std::vector<ProgramRun> runs_of(const TrainingTable& known, const std::vector<double>& own,
                                const std::vector<size_t>& order, size_t count) {
  std::vector<ProgramRun> runs;
  for (size_t i = 0; i < count; ++i) {
    std::vector<double> times;
    for (size_t j = 0; j < known.platforms.size(); ++j) {
      if (const auto& time = known.at(order[i], j)) times.push_back(time->log_time);
    }
    runs.push_back({static_cast<Eigen::Index>(order[i]), own[order[i]] - mean(times)});
  }
  return runs;
}

Status run_job(const TrainingTable& table, const PredictCoverageOptions& options, const PredictJob& job,
               PredictScores& scores) {
  const TrainingTable known = table.with_platforms(job.known).with_programs(job.trained);
  TrainOptions train;
  train.model = options.model;
  train.fit.seed = options.seed;
  train.fit.inner_folds = options.inner_folds;
  const auto bundle = train_bundle(known, train);
  if (!bundle) return bundle.error();
  Random random(job.seed);
  for (const size_t added : job.added) {
    std::vector<double> own;
    std::vector<size_t> timed;
    for (size_t p = 0; p < job.trained.size(); ++p) {
      const auto& time = table.at(job.trained[p], added);
      own.push_back(time ? time->log_time : NAN);
      if (time) timed.push_back(p);
    }
    timed = shuffled(std::move(timed), random);
    auto adaptation = PlatformAdaptation::start(*bundle, table.platforms[added], options.transfer);
    if (!adaptation) return adaptation.error();
    for (const size_t count : options.counts) {
      if (count > timed.size()) continue;
      adaptation->measure(runs_of(known, own, timed, count));
      const Forecaster forecaster(std::make_shared<const Bundle>(adaptation->finish()));
      for (const size_t program : job.asked) {
        if (!table.at(program, added)) continue;
        const auto forecast = forecaster.forecast(table.profiles[program], {});
        if (!forecast) return forecast.error();
        for (const std::string& group : {std::string(), table.programs[program].group}) {
          score_forecast(table, job, program, added, *forecast, scores[{group, count}]);
        }
      }
    }
  }
  return {};
}

Result<std::vector<std::vector<size_t>>> designs_left_out(const TrainingTable& table,
                                                          const PredictCoverageOptions& options, Random& random) {
  std::map<std::string, std::vector<size_t>> designs;
  for (size_t j = 0; j < table.platforms.size(); ++j) designs[platform_design(table.platforms[j])].push_back(j);
  std::vector<std::vector<size_t>> drawn;
  std::vector<std::string> names;
  for (const auto& [design, members] : designs) {
    names.push_back(design);
    if (options.only_design.empty() || options.only_design == design) drawn.push_back(members);
  }
  if (drawn.empty()) {
    return Error{"unknown-design", "no platform is of the design '" + options.only_design + "'", "", join(names, ", ")};
  }
  drawn = shuffled(std::move(drawn), random);
  if (drawn.size() > options.designs) drawn.resize(options.designs);
  return drawn;
}

}  // namespace

Result<PredictCoverage> predict_coverage(const TrainingTable& table, const PredictCoverageOptions& options) {
  Random random(options.seed);
  const auto designs = designs_left_out(table, options, random);
  if (!designs) return designs.error();
  std::vector<std::string> families;
  for (const Program& program : table.programs) families.push_back(program.family);
  std::sort(families.begin(), families.end());
  families.erase(std::unique(families.begin(), families.end()), families.end());
  families = shuffled(std::move(families), random);
  std::map<std::string, size_t> fold_of;
  for (size_t f = 0; f < families.size(); ++f) fold_of[families[f]] = f % options.folds;

  PredictCoverage result;
  std::vector<PredictJob> jobs;
  for (const std::vector<size_t>& members : *designs) {
    result.designs.push_back(platform_design(table.platforms[members.front()]));
    std::vector<size_t> added = shuffled(members, random);
    if (added.size() > options.platforms) added.resize(options.platforms);
    for (size_t fold = 0; fold < std::min(options.folds_run, options.folds); ++fold) {
      PredictJob job{{}, added, {}, {}, options.seed + jobs.size()};
      for (size_t j = 0; j < table.platforms.size(); ++j) {
        if (std::find(members.begin(), members.end(), j) == members.end()) job.known.push_back(j);
      }
      for (size_t p = 0; p < table.programs.size(); ++p) {
        (fold_of.at(table.programs[p].family) == fold ? job.asked : job.trained).push_back(p);
      }
      jobs.push_back(std::move(job));
    }
  }
  std::vector<PredictScores> of_jobs(jobs.size());
  const Status done = parallel_for(jobs.size(), options.threads,
                                   [&](size_t i) { return run_job(table, options, jobs[i], of_jobs[i]); });
  if (!done) return done.error();
  PredictScores all;
  for (const PredictScores& scores : of_jobs) {
    for (const auto& [key, scored] : scores) {
      PredictScored& sum = all[key];
      sum.added.insert(sum.added.end(), scored.added.begin(), scored.added.end());
      sum.known.insert(sum.known.end(), scored.known.begin(), scored.known.end());
    }
  }
  for (auto& [key, scored] : all) {
    PredictEntries& added = scored.added;
    std::stable_sort(added.begin(), added.end(),
                     [](const PredictEntry& a, const PredictEntry& b) { return a.doubt < b.doubt; });
    PredictPoint point{key.first, key.second};
    point.median_error = typical_error(added);
    point.coverage_90 = covered_share(added, 0, added.size());
    if (const size_t third = added.size() / 3; third > 0) {
      point.coverage_agreed = covered_share(added, 0, third);
      point.coverage_disagreed = covered_share(added, added.size() - third, added.size());
    }
    point.half_width = typical_half_width(added);
    point.known_error = typical_error(scored.known);
    point.known_coverage_90 = covered_share(scored.known, 0, scored.known.size());
    point.known_half_width = typical_half_width(scored.known);
    point.entries = static_cast<int64_t>(added.size());
    result.points.push_back(std::move(point));
  }
  return result;
}

}  // namespace perfcast::program::adapt_study
