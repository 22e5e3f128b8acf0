#include "fleet/traces/job_mix.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/random.h"
#include "base/statistics.h"
#include "base/text.h"

namespace perfcast::fleet {
namespace {

// One stream for each purpose, so that a change of one leaves the others as they were.
enum Stream : uint64_t { kPrograms = 1, kArrivals = 2, kLengths = 3, kErrors = 4, kOwnErrors = 5, kTrueTimes = 6 };
Random stream(uint64_t seed, Stream purpose) { return Random(seed * 0xD1342543DE82EF95u + purpose); }

Error bad_mix(std::string message, std::string where, std::string expected) {
  return {"bad-mix", std::move(message), std::move(where), std::move(expected)};
}

struct Rows {
  std::vector<double> MixProgram::*row;
  std::vector<double> Workload::*matrix;
  const char* name;
  bool positive;
};
constexpr std::array<Rows, 5> kRows = {
    Rows{&MixProgram::time_s, &Workload::time_s, "time_s", false},
    Rows{&MixProgram::forecast_s, &Workload::forecast_s, "forecast_s", true},
    Rows{&MixProgram::lower_s, &Workload::lower_s, "lower_s", true},
    Rows{&MixProgram::upper_s, &Workload::upper_s, "upper_s", true},
    Rows{&MixProgram::energy_joules, &Workload::energy_joules, "energy_joules", false}};

Status check_program(const ProgramMix& mix, const MixProgram& program) {
  const std::string where = "program " + printable(program.name);
  if (!(program.weight >= 0) || std::isinf(program.weight)) {
    return bad_mix(fmt::format("its weight is {}", program.weight), where, "a number from 0");
  }
  for (const Rows& rows : kRows) {
    const std::vector<double>& row = program.*(rows.row);
    const bool required = rows.row == &MixProgram::time_s;
    if (row.size() != mix.platforms.size() && (required || !row.empty())) {
      return bad_mix(fmt::format("{} has {} entries", rows.name, row.size()), where,
                     fmt::format("one for each of {} platforms", mix.platforms.size()));
    }
    for (const double value : row) {
      if (value < 0 || std::isinf(value) || (rows.positive && value == 0)) {
        return bad_mix(fmt::format("{} holds {}", rows.name, value), where,
                       rows.positive ? "numbers above 0, or none" : "numbers from 0, or none");
      }
    }
  }
  const size_t entries = mix.platforms.size() * mix.platforms.size();
  const auto finite = [](double value) { return std::isfinite(value); };
  if (!program.log_error_root.empty() &&
      (program.log_error_root.size() != entries ||
       !std::all_of(program.log_error_root.begin(), program.log_error_root.end(), finite))) {
    return bad_mix(fmt::format("log_error_root has {} entries, or infinite ones", program.log_error_root.size()), where,
                   fmt::format("none, or {} numbers", entries));
  }
  return {};
}

Status check_mix(const ProgramMix& mix) {
  if (mix.platforms.empty()) return bad_mix("it has no platform", mix.source, "at least one");
  double total = 0;
  for (const MixProgram& program : mix.programs) {
    if (Status checked = check_program(mix, program); !checked) return checked;
    total += program.weight;
  }
  if (!(total > 0) || std::isinf(total)) {
    return bad_mix("no program has a weight", mix.source, "at least one program with a weight above 0");
  }
  return {};
}

// Draws programs in proportion to their weights.
class ProgramDraw {
 public:
  explicit ProgramDraw(const ProgramMix& mix) {
    double total = 0;
    for (const MixProgram& program : mix.programs) above_.push_back(total += program.weight);
  }
  size_t operator()(Random& random) const {
    const auto found = std::upper_bound(above_.begin(), above_.end(), random.uniform() * above_.back());
    // Rounding may reach the very end: the last program with a weight is the first that holds the total.
    if (found == above_.end()) {
      return static_cast<size_t>(std::lower_bound(above_.begin(), above_.end(), above_.back()) - above_.begin());
    }
    return static_cast<size_t>(found - above_.begin());
  }

 private:
  std::vector<double> above_;  // sums of the weights up to and with each program
};

// Sizes the matrices that any program of the mix has rows for.
void make_matrices(const ProgramMix& mix, Workload& workload) {
  for (const Rows& rows : kRows) {
    const bool any = std::any_of(mix.programs.begin(), mix.programs.end(),
                                 [&](const MixProgram& program) { return !(program.*(rows.row)).empty(); });
    auto& matrix = workload.*(rows.matrix);
    matrix.clear();
    if (any) matrix.assign(workload.size() * mix.platforms.size(), kUnknown);
  }
}

void put_rows(const MixProgram& program, double factor, size_t job, Workload& workload) {
  for (const Rows& rows : kRows) {
    const std::vector<double>& row = program.*(rows.row);
    for (size_t j = 0; j < row.size(); ++j) {
      (workload.*(rows.matrix))[job * workload.platforms.size() + j] = row[j] * factor;
    }
  }
}

// What the programs take in this sample, where it is only forecast.
std::vector<MixProgram> with_true_times(const ProgramMix& mix, uint64_t seed) {
  std::vector<MixProgram> programs = mix.programs;
  Random random = stream(seed, kTrueTimes);
  const size_t platforms = mix.platforms.size();
  std::vector<double> normal(platforms);
  for (double& value : normal) value = random.normal();
  for (MixProgram& program : programs) {
    if (program.log_error_root.empty()) continue;
    for (size_t j = 0; j < platforms; ++j) {
      double log_error = 0;
      for (size_t k = 0; k < platforms; ++k) log_error += program.log_error_root[j * platforms + k] * normal[k];
      program.time_s[j] *= std::exp(log_error);
    }
  }
  return programs;
}

double exponential(Random& random, double rate) { return -std::log(1 - random.uniform()) / rate; }

double gap_s(const Arrivals& arrivals, Random& random) {
  switch (arrivals.kind) {
    case Arrivals::Kind::kBatch:
      return 0;
    case Arrivals::Kind::kInterval:
      return 1 / arrivals.rate_per_s;
    case Arrivals::Kind::kPoisson:
      return exponential(random, arrivals.rate_per_s);
    case Arrivals::Kind::kBursty:
      break;
  }
  const double c2 = arrivals.squared_variation;
  const double p = (1 + std::sqrt((c2 - 1) / (c2 + 1))) / 2;
  const double share = random.uniform() < p ? p : 1 - p;
  return exponential(random, 2 * share * arrivals.rate_per_s);
}

Status check_options(const MixOptions& options) {
  const Arrivals& arrivals = options.arrivals;
  if (options.jobs < 1 || options.jobs > INT32_MAX) {
    return bad_mix(fmt::format("{} jobs", options.jobs), "jobs", fmt::format("1 to {}", INT32_MAX));
  }
  if (arrivals.kind != Arrivals::Kind::kBatch && (!(arrivals.rate_per_s > 0) || std::isinf(arrivals.rate_per_s))) {
    return bad_mix(fmt::format("jobs come at a rate of {} a second", arrivals.rate_per_s), "rate", "a rate above 0");
  }
  if (arrivals.kind == Arrivals::Kind::kBursty &&
      (!(arrivals.squared_variation >= 1) || arrivals.squared_variation > 1e6)) {
    return bad_mix(fmt::format("the gaps' squared coefficient of variation is {}", arrivals.squared_variation),
                   "squared variation", "1 (Poisson) to 1e6");
  }
  if (!(options.length_sigma >= 0) || options.length_sigma > 5) {
    return bad_mix(fmt::format("the lengths' sigma is {}", options.length_sigma), "length sigma", "0 to 5");
  }
  return {};
}

}  // namespace

Result<Workload> draw_jobs(const ProgramMix& mix, const MixOptions& options) {
  if (Status checked = check_mix(mix); !checked) return checked.error();
  if (Status checked = check_options(options); !checked) return checked.error();
  Workload workload;
  workload.source = mix.source;
  workload.notes = mix.notes;
  workload.platforms = mix.platforms;
  for (const MixProgram& program : mix.programs) workload.programs.push_back(program.name);
  workload.jobs.resize(static_cast<size_t>(options.jobs));
  make_matrices(mix, workload);
  const ProgramDraw draw(mix);
  const std::vector<MixProgram> true_programs = with_true_times(mix, options.seed);
  Random programs = stream(options.seed, kPrograms);
  Random arrivals = stream(options.seed, kArrivals);
  Random lengths = stream(options.seed, kLengths);
  const double sigma = options.length_sigma;
  double now_s = 0;
  for (size_t i = 0; i < workload.size(); ++i) {
    const size_t drawn = draw(programs);
    const MixProgram& program = true_programs[drawn];
    JobRequest& job = workload.jobs[i];
    if (i > 0 || options.arrivals.kind != Arrivals::Kind::kInterval) now_s += gap_s(options.arrivals, arrivals);
    job.id = static_cast<int64_t>(i) + 1;
    job.arrival_s = now_s;
    job.cores = program.cores;
    job.gpus = program.gpus;
    job.spread = program.spread;
    job.memory_bytes = program.memory_bytes;
    job.program = static_cast<int32_t>(drawn);
    const double factor = sigma > 0 ? std::exp(sigma * lengths.normal() - sigma * sigma / 2) : 1;
    put_rows(program, factor, i, workload);
  }
  if (Status checked = check_workload(workload); !checked) return checked.error();
  return workload;
}

double mean_absolute_error_of(double sigma) {
  return std::exp(sigma * sigma / 2) * std::erf(sigma * 0.70710678118654752440);
}

double sigma_of_error(double error_ratio) {
  if (!(error_ratio > 0)) return 0;
  double low = 0;
  double high = 1;
  while (mean_absolute_error_of(high) < error_ratio && high < 30) high *= 2;
  while (true) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) return middle;
    (mean_absolute_error_of(middle) < error_ratio ? low : high) = middle;
  }
}

Status perturb_forecasts(Workload& workload, const PerturbOptions& options) {
  if (!(options.error_ratio >= 0) || options.error_ratio > 100) {
    return bad_mix(fmt::format("a forecast error of {}", options.error_ratio), "error", "a ratio from 0 to 100");
  }
  const size_t columns = workload.platforms.size();
  if (workload.time_s.size() != workload.size() * columns) {
    return bad_mix("the jobs have no times", workload.source, "times on each platform, or none where it can't run");
  }
  const double sigma = sigma_of_error(options.error_ratio);
  const double reach = std::exp(kNormal95 * sigma);
  Random shared = stream(options.seed, kErrors);
  std::vector<double> of_program(workload.programs.size() * columns);
  for (double& factor : of_program) factor = std::exp(sigma * shared.normal());
  Random own = stream(options.seed, kOwnErrors);
  for (auto* matrix : {&workload.forecast_s, &workload.lower_s, &workload.upper_s}) {
    matrix->assign(workload.time_s.size(), kUnknown);
  }
  for (size_t i = 0; i < workload.size(); ++i) {
    const int32_t program = workload.jobs[i].program;
    for (size_t j = 0; j < columns; ++j) {
      const size_t at = i * columns + j;
      const bool draws = options.per_job || program == kNoIndex;
      const double factor =
          draws ? std::exp(sigma * own.normal()) : of_program[static_cast<size_t>(program) * columns + j];
      if (std::isnan(workload.time_s[at])) continue;
      const double forecast_s = std::max(kLeastForecast_s, workload.time_s[at] * factor);
      workload.forecast_s[at] = forecast_s;
      workload.lower_s[at] = std::max(kLeastForecast_s, forecast_s / reach);
      workload.upper_s[at] = forecast_s * reach;
    }
  }
  return {};
}

}  // namespace perfcast::fleet
