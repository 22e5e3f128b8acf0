// Full throughput of vLLM on CPU servers, simulated beside measured, each CPU model left out:
// `perfcast_cpu_serving_reproduction FOLDER [--json]`. FOLDER holds vllm_serving/ and sparecores/.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "ai/cpu_tokens/token_rates.h"
#include "ai/engine/cpu_engine_fit.h"
#include "ai/serving/cpu_serving_forecast.h"
#include "ai/serving/cpu_step_time.h"
#include "base/parallel.h"
#include "base/statistics.h"
#include "studies/engines/cpu_engine_rows.h"
#include "studies/output.h"
#include "studies/serving/client_load.h"
#include "studies/serving/load_scores.h"

namespace perfcast::ai::serving_study {
namespace {

constexpr const char* kLoad = "full throughput";
constexpr const char* kOurs = "perfcast";
constexpr const char* kAlone = "a single stream's rate x requests in flight";
constexpr const char* kBandwidthOrCores = "bandwidth or cores, one constant";
constexpr const char* kFloor = "noise floor: other servers";
constexpr double kOneRequest = 1.05;  // in flight, by the client: it counted the only one that ended
constexpr double kLongest = 20;       // times the point's seconds, until the first request ends
constexpr double kChange = 1.5;       // of a constant that is tried

struct Point {
  CpuEngineRow row;
  ClientLoad load;
  double most_sequences = 0, step_tokens = 0, concurrency = 0;
  Delivered measured, forecast, alone, bandwidth_or_cores, other;
};

std::vector<Point> points_of(const VllmPoints& all, const std::vector<TokenServer>& servers,
                             std::vector<std::string>& notes) {
  std::vector<VllmPoint> loads;
  for (const VllmPoint& point : all.points) {
    if (!point.on_gpu && point.strategy == PointStrategy::kThroughput && point.output_per_s > 0 &&
        point.further_s > 0 && point.first_s > 0 && point.most_concurrency >= 1 && point.seconds > 0 &&
        point.most_sequences >= 1 && point.step_tokens >= 1) {
      loads.push_back(point);
    }
  }
  const engines_study::CpuEngineRows rows = engines_study::cpu_engine_rows(loads, servers);
  notes.insert(notes.end(), rows.notes.begin(), rows.notes.end());
  std::vector<Point> points;
  for (size_t i = 0; i < rows.rows.size(); ++i) {
    const VllmPoint& point = loads[rows.from[i]];
    Point made;
    made.row = rows.rows[i];
    made.load = {.strategy = point.strategy,
                 .most_concurrency = point.most_concurrency,
                 .seconds = point.seconds,
                 .prompt_tokens = point.prompt_tokens,
                 .output_tokens = point.output_tokens,
                 .provider = point.vendor};
    made.most_sequences = point.most_sequences;
    made.step_tokens = point.step_tokens;
    made.concurrency = point.concurrency;
    made.measured = {point.output_per_s, point.further_s, point.first_s, point.first_p95_s};
    points.push_back(std::move(made));
  }
  return points;
}

Delivered simulate(const CpuEngineConstants& constants, const CpuBatchConstants& of_batches, const Point& point) {
  const CpuEngineRow& row = point.row;
  ServeOptions options;
  options.limits = cpu_engine_limits(row.work, row.processes);
  options.limits.max_sequences = static_cast<int64_t>(point.most_sequences);
  options.limits.step_tokens = std::max(options.limits.max_sequences, static_cast<int64_t>(point.step_tokens));
  options.most_in_flight = static_cast<int64_t>(point.load.most_concurrency);
  options.front_end.fixed_s = constants.http_ms * 1e-3 * cpu_engine_slowness(constants, row.machine);
  options.most_s = point.load.seconds;
  const CpuStepTime times(constants, row.machine, row.work, row.sorts, 1, 1, of_batches);
  const ServingTrace trace = client_trace(point.load);
  const auto run = serve(trace, options, times);
  if (!run) return {};
  const Delivered delivered = delivered_of(*run, point.load);
  if (delivered.tokens_per_s > 0) return delivered;
  options.most_s = kLongest * point.load.seconds;
  const auto longer = serve(trace, options, times);
  return longer ? first_of(*longer, point.load) : Delivered();
}

Delivered alone(const CpuEngineConstants& constants, const Point& point) {
  const CpuEngineTimes one = cpu_engine_times(constants, point.row.machine, point.row.work, point.row.sorts,
                                              static_cast<double>(point.load.prompt_tokens));
  const double output = static_cast<double>(point.load.output_tokens);
  const double in_flight = std::min(point.most_sequences, point.load.most_concurrency);
  const double request_s = one.first_s() + (output - 1) * one.further_s();
  return {in_flight * output / request_s, one.further_s(), one.first_s(), one.first_s()};
}

// Tokens/s that memory or cores allow, times a constant.
double bandwidth_or_cores(const Point& point) {
  const LlmWork& work = point.row.work;
  const double prompts = static_cast<double>(point.load.prompt_tokens) / static_cast<double>(point.load.output_tokens);
  const double by_memory = memory_bandwidth(point.row.facts) * point.most_sequences / work.weight_bytes;
  return std::min(by_memory, 1e10 * point.row.facts.cores / (work.prefill_macs_per_token * (1 + prompts)));
}

// The shipped constants, and each of them larger and smaller.
std::vector<CpuBatchConstants> tried_constants() {
  std::vector<CpuBatchConstants> sets = {{}};
  for (double CpuBatchConstants::*member :
       {&CpuBatchConstants::sequence_ms, &CpuBatchConstants::key_product_ns, &CpuBatchConstants::prompt_ratio}) {
    for (const double factor : {1 / kChange, kChange}) {
      sets.emplace_back().*member *= member == &CpuBatchConstants::prompt_ratio ? std::sqrt(factor) : factor;
    }
  }
  return sets;
}

class Evaluation {
 public:
  Evaluation(std::vector<Point> points, std::vector<CpuEngineCell> streams, int threads)
      : points_(std::move(points)), streams_(std::move(streams)), threads_(threads) {
    for (const Point& point : points_) cpus_.insert(point.row.cpu);
    for (const Point& point : points_) points_of_[point.row.cpu] += 1;
  }

  Status run() {
    const auto all = fit_cpu_engine(streams_);
    if (!all) return all.error();
    const std::vector<CpuBatchConstants> sets = tried_constants();
    if (Status done = take_losses(*all, sets); !done) return done;
    const std::vector<std::string> order(cpus_.begin(), cpus_.end());
    const Status done = parallel_for(order.size(), threads_, [&](size_t k) -> Status {
      std::vector<bool> use;
      for (const CpuEngineCell& cell : streams_) use.push_back(cell.cpu != order[k]);
      const auto constants = fit_cpu_engine(streams_, use, &*all);
      if (!constants) return constants.error();
      const CpuBatchConstants& of_batches = sets[least_loss_without(order[k])];
      for (Point& point : points_) {
        if (point.row.cpu != order[k]) continue;
        point.forecast = simulate(*constants, of_batches, point);
        point.alone = alone(*constants, point);
      }
      return {};
    });
    if (!done) return done;
    set_bandwidth_or_cores();
    set_others();
    return {};
  }

  std::vector<LoadScore> scores() const;
  size_t cpus() const { return cpus_.size(); }
  size_t points() const { return points_.size(); }
  int64_t cpus_with_shipped() const {
    return std::count_if(cpus_.begin(), cpus_.end(),
                         [&](const std::string& cpu) { return least_loss_without(cpu) == 0; });
  }
  // That most CPU models get.
  CpuBatchConstants usual_choice() const {
    std::map<size_t, int64_t> counts;
    for (const std::string& cpu : cpus_) ++counts[least_loss_without(cpu)];
    const auto most = std::max_element(counts.begin(), counts.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    return tried_constants()[most->first];
  }
  // Half width in logs that holds nine in ten of tokens/s, CPU models weighing by the root of their points.
  double log_half_width_90() const {
    std::vector<GroupedError> errors;
    for (const Point& point : points_) {
      const double error = std::log(point.forecast.tokens_per_s / point.measured.tokens_per_s);
      if (std::isfinite(error)) errors.push_back({point.row.cpu, error});
    }
    return log_half_width(errors, 0.9);
  }

 private:
  Status take_losses(const CpuEngineConstants& constants, const std::vector<CpuBatchConstants>& sets) {
    losses_.assign(sets.size(), {});
    return parallel_for(sets.size(), threads_, [&](size_t k) -> Status {
      for (const Point& point : points_) {
        const double ratio = simulate(constants, sets[k], point).tokens_per_s / point.measured.tokens_per_s;
        const double loss = std::isfinite(ratio) && ratio > 0 ? std::min(1.0, std::abs(std::log(ratio))) : 1;
        losses_[k][point.row.cpu] += loss / std::sqrt(points_of_.at(point.row.cpu));
      }
      return {};
    });
  }

  // Of the tried constants, by the points of other CPU models.
  size_t least_loss_without(const std::string& cpu) const {
    size_t best = 0;
    double least = HUGE_VAL;
    for (size_t k = 0; k < losses_.size(); ++k) {
      double sum = 0;
      for (const auto& [other, loss] : losses_[k]) sum += other == cpu ? 0 : loss;
      if (sum < least) {
        least = sum;
        best = k;
      }
    }
    return best;
  }

  void set_bandwidth_or_cores() {
    for (const std::string& cpu : cpus_) {
      std::vector<double> ratios;
      for (const Point& point : points_) {
        if (point.row.cpu != cpu) ratios.push_back(point.measured.tokens_per_s / bandwidth_or_cores(point));
      }
      const double constant = median(ratios);
      for (Point& point : points_) {
        if (point.row.cpu == cpu) point.bandwidth_or_cores.tokens_per_s = constant * bandwidth_or_cores(point);
      }
    }
  }

  void set_others() {
    std::map<std::tuple<std::string, std::string, double, std::string, int64_t, Precision>, std::vector<Point*>> same;
    for (Point& point : points_) {
      const CpuEngineRow& row = point.row;
      same[{row.cpu, row.provider, row.facts.vcpus, row.work.name, row.prompt_tokens, row.precision}].push_back(&point);
    }
    for (const auto& [setting, members] : same) {
      for (Point* point : members) {
        for (const LoadFigure& figure : kLoadFigures) {
          std::vector<double> others;
          for (const Point* other : members) {
            if (other->row.server != point->row.server) others.push_back(other->measured.*figure.member);
          }
          point->other.*figure.member = median_of_known(others);
        }
      }
    }
  }

  std::vector<Point> points_;
  std::vector<CpuEngineCell> streams_;
  int threads_;
  std::set<std::string> cpus_;
  std::map<std::string, double> points_of_;
  std::vector<std::map<std::string, double>> losses_;  // of each set of constants, by CPU model
};

std::vector<LoadScore> Evaluation::scores() const {
  std::map<std::string, std::vector<const Point*>> parts;
  for (const Point& point : points_) {
    parts[" all"].push_back(&point);
    parts[point.concurrency > kOneRequest ? " several requests ended" : " one request ended"].push_back(&point);
    parts["model " + point.row.work.name].push_back(&point);
    parts[fmt::format("products {}", name_of(point.row.machine.path))].push_back(&point);
    parts[point.row.facts.vcpus < 16   ? "vCPUs below 16"
          : point.row.facts.vcpus < 64 ? "vCPUs 16 to 63"
                                       : "vCPUs from 64"]
        .push_back(&point);
  }
  const std::pair<const char*, Delivered Point::*> predictors[] = {{kOurs, &Point::forecast},
                                                                   {kAlone, &Point::alone},
                                                                   {kBandwidthOrCores, &Point::bandwidth_or_cores},
                                                                   {kFloor, &Point::other}};
  std::vector<LoadScore> scores;
  for (const auto& [part, in] : parts) {
    const bool is_main = part.starts_with(' ');
    for (const LoadFigure& figure : kLoadFigures) {
      for (const auto& [name, forecast] : predictors) {
        if (!is_main && name != kOurs) continue;
        std::vector<double> ratios;
        for (const Point* point : in) {
          ratios.push_back(point->*forecast.*figure.member / (point->measured.*figure.member));
        }
        LoadScore score = load_score(kLoad, figure, part.substr(is_main ? 1 : 0), name, ratios);
        if (score.n > 0) scores.push_back(std::move(score));
      }
    }
  }
  return scores;
}

Status reproduce(const std::string& folder, int threads, bool as_json) {
  const auto all = read_vllm_points(folder + "/vllm_serving");
  if (!all) return all.error();
  const auto servers = read_cpu_servers(folder + "/sparecores");
  if (!servers) return servers.error();
  const engines_study::CpuEngineRows streams =
      engines_study::cpu_engine_rows(single_streams(*all, PointHardware::kCpu), *servers);
  std::vector<std::string> notes;
  Evaluation evaluation(points_of(*all, *servers, notes), cpu_engine_cells(streams.rows), threads);
  if (Status done = evaluation.run(); !done) return done;
  StudyOutput output("cpu-serving", as_json);
  output.note(
      fmt::format("{} points at full throughput on {} CPU models; each left out of the fit of single streams "
                  "and of the choice among {} sets of constants for several sequences, which were found on all",
                  evaluation.points(), evaluation.cpus(), tried_constants().size()));
  output.note(fmt::format("{} of the choices are the shipped constants; 90% of tokens/s are within a factor of {:.2f}",
                          evaluation.cpus_with_shipped(), std::exp(evaluation.log_half_width_90())));
  const CpuBatchConstants usual = evaluation.usual_choice();
  output.note(
      fmt::format("the usual choice: {:.3g} ms a sequence, {:.3g} ns a product with keys, steps with prompts x {:.3g}",
                  usual.sequence_ms, usual.key_product_ns, usual.prompt_ratio));
  output.note("one request ended: the client's time was up before, so its rate is that of this request alone");
  for (const std::string& note : notes) output.note(note);
  output.add("scores", load_scores_table(evaluation.scores()));
  output.finish();
  return {};
}

}  // namespace
}  // namespace perfcast::ai::serving_study

int main(int argc, char** argv) try {
  std::string folder;
  int threads = 2;
  bool as_json = false;
  CLI::App app("Simulates vLLM at full throughput on CPU servers that were measured, each CPU model left out");
  app.add_option("folder", folder, "holds vllm_serving/ and sparecores/")->required();
  app.add_option("--threads", threads, "of this program")->capture_default_str();
  app.add_flag("--json", as_json, "for programs");
  CLI11_PARSE(app, argc, argv);
  const perfcast::Status done = perfcast::ai::serving_study::reproduce(folder, threads, as_json);
  if (!done) fmt::print(stderr, "{}\n", perfcast::to_text(done.error()));
  return done ? 0 : 1;
} catch (const std::exception& error) {
  std::fputs(error.what(), stderr);
  return 1;
}
