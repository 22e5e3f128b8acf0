#include "studies/cpu_tokens/token_evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <new>
#include <set>
#include <tuple>

#include "base/parallel.h"
#include "base/statistics.h"
#include "base/text.h"
#include "base/unknown.h"
#include "learn/conformal/conformal.h"
#include "machine/facts/core_design.h"
#include "studies/cpu_tokens/token_folds.h"

namespace perfcast::ai::cpu_tokens_study {
namespace {

constexpr double kCoverage = 0.9;
constexpr int64_t kFewestCpuModels = 4;

class Evaluator {
 public:
  Evaluator(const TokenRates& rates, const TokenEvaluationOptions& options) : rates_(rates), options_(options) {
    for (const TokenRate& rate : rates.rates) cpu_of_rate_.push_back(rates.servers[rate.server].cpu);
    std::set<std::string> designs;
    for (const TokenServer& server : rates.servers) {
      cpus_.insert(server.cpu);
      designs.insert(core_design(server.facts));
    }
    result_.servers = static_cast<int64_t>(rates.servers.size());
    result_.cpu_models = static_cast<int64_t>(cpus_.size());
    result_.core_designs = static_cast<int64_t>(designs.size());
  }
  Result<TokenEvaluation> run();

 private:
  using Logs = std::vector<double>;  // natural log of tokens/s, one per rate; NaN where none

  Status run_phase(TokenPhase phase);
  Result<int64_t> choose_depth(TokenPhase phase, const std::function<bool(const std::string&)>& may_use);
  Status other_splits(TokenPhase phase, int64_t depth);
  void baselines(TokenPhase phase);
  void noise_floor(TokenPhase phase);
  IntervalWidths widths(TokenPhase phase, const Logs& forecasts, const std::string& without) const;
  double coverage(TokenPhase phase, const Logs& forecasts) const;
  TokenScore& score(TokenPhase phase, const std::string& split, const std::string& predictor, const Logs& forecasts,
                    const std::string& part = "");
  double error(size_t i, const Logs& forecasts) const {
    return std::abs(std::expm1(forecasts[i] - std::log(rates_.rates[i].tokens_per_s)));
  }
  double median_error(TokenPhase phase, const Logs& forecasts) const;
  std::vector<std::string> names_of(const std::set<std::string>& set) const { return {set.begin(), set.end()}; }
  void say(const std::string& text) const {
    if (options_.progress) options_.progress(text);
  }

  const TokenRates& rates_;
  const TokenEvaluationOptions& options_;
  std::vector<std::string> cpu_of_rate_;
  std::set<std::string> cpus_;
  TokenEvaluation result_;
};

Result<TokenEvaluation> Evaluator::run() {
  if (result_.cpu_models < kFewestCpuModels) {
    return Error{"too-few-rows", "rates of too few CPU models: " + std::to_string(result_.cpu_models), "",
                 "at least " + std::to_string(kFewestCpuModels)};
  }
  for (const auto& left : rates_.left_out) {
    result_.notes.push_back(fmt::format("left out: {} {}(s): {}", left.count, left.subject, left.reason));
  }
  for (const TokenPhase phase : {TokenPhase::kGeneration, TokenPhase::kPrefill}) {
    if (const Status status = run_phase(phase); !status) return status.error();
  }
  return std::move(result_);
}

double Evaluator::median_error(TokenPhase phase, const Logs& forecasts) const {
  std::vector<double> errors;
  for (size_t i = 0; i < rates_.rates.size(); ++i) {
    if (rates_.rates[i].phase == phase && !std::isnan(forecasts[i])) errors.push_back(error(i, forecasts));
  }
  return median(std::move(errors));
}

// The depth of the smallest median error on inner folds of the CPU models that may be used.
Result<int64_t> Evaluator::choose_depth(TokenPhase phase, const std::function<bool(const std::string&)>& may_use) {
  if (options_.depths.size() == 1) return options_.depths.front();
  std::set<std::string> usable;
  for (const std::string& cpu : cpus_) {
    if (may_use(cpu)) usable.insert(cpu);
  }
  const auto group = group_names(names_of(usable), options_.inner_folds, options_.seed + 1);
  TokenFolds folds;
  for (const std::string& cpu : cpu_of_rate_) {
    const auto found = group.find(cpu);
    folds.push_back(found == group.end() ? kNeverUsed : found->second);
  }
  int64_t best = options_.depths.front();
  double least = kUnknown;
  for (const int64_t depth : options_.depths) {
    FoldSettings settings;
    settings.depth = depth;
    settings.rounds = options_.rounds;
    settings.threads = options_.threads;
    settings.seed = options_.seed;
    const auto forecasts = forecast_left_out(rates_, phase, folds, settings);
    if (!forecasts) return forecasts.error();
    const double found = median_error(phase, forecasts->learnt);
    if (std::isnan(least) || found < least) {
      least = found;
      best = depth;
    }
  }
  return best;
}

TokenScore& Evaluator::score(TokenPhase phase, const std::string& split, const std::string& predictor,
                             const Logs& forecasts, const std::string& part) {
  TokenScore score;
  score.phase = phase;
  score.split = split;
  score.predictor = predictor;
  score.part = part;
  std::vector<double> errors;
  std::map<std::string, std::vector<double>> of_cpu;
  for (size_t i = 0; i < rates_.rates.size(); ++i) {
    if (rates_.rates[i].phase != phase || std::isnan(forecasts[i])) continue;
    if (!part.empty() && rates_.llms[rates_.rates[i].llm].name != part) continue;
    errors.push_back(error(i, forecasts));
    of_cpu[cpu_of_rate_[i]].push_back(errors.back());
  }
  score.n = static_cast<int64_t>(errors.size());
  if (!errors.empty()) {
    std::vector<double> medians;
    medians.reserve(of_cpu.size());
    for (const auto& [cpu, values] : of_cpu) medians.push_back(median(values));
    score.cpu_median_error = median(std::move(medians));
    score.p90_error = quantile(errors, 0.9);
    score.median_error = median(std::move(errors));
  }
  result_.scores.push_back(score);
  return result_.scores.back();
}

// Of the errors of all CPU models but one.
IntervalWidths Evaluator::widths(TokenPhase phase, const Logs& forecasts, const std::string& without) const {
  IntervalWidths result;
  for (size_t size = 0; size < kLlmSizes; ++size) {
    std::vector<double> errors;
    ConformalScores scores;
    std::map<std::string, int64_t> family;
    for (size_t i = 0; i < rates_.rates.size(); ++i) {
      const TokenRate& rate = rates_.rates[i];
      if (rate.phase != phase || std::isnan(forecasts[i]) || cpu_of_rate_[i] == without) continue;
      if (llm_size_class(rates_.llms[rate.llm]) != size) continue;
      errors.push_back(std::abs(forecasts[i] - std::log(rate.tokens_per_s)));
      scores.family.push_back(family.emplace(cpu_of_rate_[i], static_cast<int64_t>(family.size())).first->second);
    }
    scores.scores = Eigen::Map<Eigen::VectorXd>(errors.data(), static_cast<Eigen::Index>(errors.size()));
    result[size] = conformal_quantile(scores, kCoverage);
  }
  return result;
}

// Share of rates inside the interval that the other CPU models' errors give.
double Evaluator::coverage(TokenPhase phase, const Logs& forecasts) const {
  std::map<std::string, IntervalWidths> widths_without;
  const std::vector<std::string> names = names_of(cpus_);
  std::vector<IntervalWidths> found(names.size());
  const Status done = parallel_for(names.size(), static_cast<int>(options_.threads), [&](size_t k) {
    found[k] = widths(phase, forecasts, names[k]);
    return Status();
  });
  if (!done) throw std::bad_alloc();  // nothing else fails there
  for (size_t k = 0; k < names.size(); ++k) widths_without[names[k]] = found[k];
  double inside = 0, all = 0;
  for (size_t i = 0; i < rates_.rates.size(); ++i) {
    const TokenRate& rate = rates_.rates[i];
    if (rate.phase != phase || std::isnan(forecasts[i])) continue;
    const double width = widths_without.at(cpu_of_rate_[i])[llm_size_class(rates_.llms[rate.llm])];
    ++all;
    if (std::abs(forecasts[i] - std::log(rate.tokens_per_s)) <= width) ++inside;
  }
  return all > 0 ? inside / all : kUnknown;
}

void Evaluator::baselines(TokenPhase phase) {
  const size_t count = rates_.rates.size();
  Logs roofline(count, kUnknown), at_size = roofline, cores = roofline;
  for (size_t i = 0; i < count; ++i) {
    const TokenRate& rate = rates_.rates[i];
    const CpuFacts& facts = rates_.servers[rate.server].facts;
    const LlmWork& llm = rates_.llms[rate.llm];
    if (rate.phase != phase || !has_bandwidth(facts)) continue;
    roofline[i] = std::log(memory_bandwidth(facts) / llm.weight_bytes);
    at_size[i] = std::log(bandwidth_bound(facts, llm));
    cores[i] = std::log(facts.cores / llm.prefill_macs_per_token);
  }
  // Times one efficiency: the median of the other CPU models' rates over the roofline.
  const auto fitted = [&](const Logs& raw) {
    std::map<std::string, std::vector<double>> ratios;
    for (size_t i = 0; i < count; ++i) {
      if (!std::isnan(raw[i])) ratios[cpu_of_rate_[i]].push_back(std::log(rates_.rates[i].tokens_per_s) - raw[i]);
    }
    std::map<std::string, double> efficiency;
    for (const auto& [cpu, own] : ratios) {
      std::vector<double> others;
      for (const auto& [other, values] : ratios) {
        if (other != cpu) others.insert(others.end(), values.begin(), values.end());
      }
      efficiency[cpu] = median(std::move(others));
    }
    Logs result = raw;
    for (size_t i = 0; i < count; ++i) {
      if (!std::isnan(raw[i])) result[i] += efficiency.at(cpu_of_rate_[i]);
    }
    return result;
  };
  score(phase, kCpuModelLeftOut, "bandwidth / weights", roofline);
  score(phase, kCpuModelLeftOut, "bandwidth / weights x one efficiency", fitted(roofline));
  score(phase, kCpuModelLeftOut, "bandwidth at the weights' size x one efficiency", fitted(at_size));
  if (phase == TokenPhase::kPrefill) score(phase, kCpuModelLeftOut, "cores / products x one rate", fitted(cores));
}

// Every second server of one CPU model and size, by name, forecast by the median of the others.
void Evaluator::noise_floor(TokenPhase phase) {
  using Key = std::tuple<std::string, double, double, double, size_t, int64_t>;
  std::map<Key, std::vector<std::pair<std::string, size_t>>> same;
  for (size_t i = 0; i < rates_.rates.size(); ++i) {
    const TokenRate& rate = rates_.rates[i];
    const TokenServer& server = rates_.servers[rate.server];
    if (rate.phase != phase || !has_bandwidth(server.facts)) continue;
    same[{server.cpu, server.facts.vcpus, server.facts.cores, server.facts.sockets, rate.llm, rate.tokens}]
        .emplace_back(server.vendor + "/" + server.name, i);
  }
  Logs other_half(rates_.rates.size(), kUnknown);
  for (auto& [key, members] : same) {
    if (members.size() < 2) continue;
    std::sort(members.begin(), members.end());
    std::vector<double> even;
    for (size_t m = 0; m < members.size(); m += 2)
      even.push_back(std::log(rates_.rates[members[m].second].tokens_per_s));
    const double middle = median(std::move(even));
    for (size_t m = 1; m < members.size(); m += 2) other_half[members[m].second] = middle;
  }
  score(phase, "same CPU model and size", "noise floor: the other half of the servers", other_half);
}

Status Evaluator::run_phase(TokenPhase phase) {
  // Where folds are groups, the depth of one is chosen without all of it.
  const int64_t groups = options_.cpu_folds > 0 ? options_.cpu_folds : options_.outer_groups;
  const auto outer = group_names(names_of(cpus_), groups, options_.seed);
  FoldSettings settings;
  settings.rounds = options_.rounds;
  settings.threads = options_.threads;
  settings.seed = options_.seed;
  settings.impute = true;
  std::map<int64_t, int64_t> depth_of_group, chosen;
  for (int64_t group = 0; group < groups; ++group) {
    say(fmt::format("{}: depth of the trees, group {} of {}", to_string(phase), group + 1, groups));
    const auto depth = choose_depth(phase, [&](const std::string& cpu) { return outer.at(cpu) != group; });
    if (!depth) return depth.error();
    depth_of_group[group] = *depth;
    ++chosen[*depth];
  }
  std::vector<std::string> counts;
  counts.reserve(chosen.size());
  for (const auto& [depth, count] : chosen) counts.push_back(fmt::format("{} x depth {}", count, depth));
  result_.notes.push_back(fmt::format("{}: trees as inner folds chose them: {}", to_string(phase), join(counts, ", ")));

  // A fold is a CPU model, or a group of them, and takes the depth that was chosen without its outer group.
  std::map<std::string, int64_t> fold_of_cpu;
  for (const std::string& cpu : cpus_) fold_of_cpu[cpu] = static_cast<int64_t>(fold_of_cpu.size());
  if (options_.cpu_folds > 0) {
    for (auto& [cpu, fold] : fold_of_cpu) fold = outer.at(cpu);
  }
  for (const auto& [cpu, fold] : fold_of_cpu) settings.depth_of_fold[fold] = depth_of_group.at(outer.at(cpu));
  TokenFolds folds;
  folds.reserve(cpu_of_rate_.size());
  for (const std::string& cpu : cpu_of_rate_) folds.push_back(fold_of_cpu.at(cpu));
  say(fmt::format("{}: each CPU model left out", to_string(phase)));
  const auto forecasts = forecast_left_out(rates_, phase, folds, settings);
  if (!forecasts) return forecasts.error();

  baselines(phase);
  score(phase, kCpuModelLeftOut, "physics alone", forecasts->physics);
  score(phase, kCpuModelLeftOut, kOurTokenForecasts, forecasts->learnt).coverage = coverage(phase, forecasts->learnt);
  for (const LlmWork& llm : rates_.llms) {
    const TokenScore& of_llm = score(phase, kCpuModelLeftOut, kOurTokenForecasts, forecasts->learnt, llm.name);
    if (of_llm.n == 0) result_.scores.pop_back();
  }
  score(phase, kCpuModelLeftOut, "perfcast, bandwidth not measured", forecasts->without_bandwidth).coverage =
      coverage(phase, forecasts->without_bandwidth);
  noise_floor(phase);

  say(fmt::format("{}: depth for all", to_string(phase)));
  const auto depth = choose_depth(phase, [](const std::string&) { return true; });
  if (!depth) return depth.error();
  const bool prefill = phase == TokenPhase::kPrefill;
  (prefill ? result_.prefill_depth : result_.generation_depth) = *depth;
  (prefill ? result_.prefill_measured : result_.generation_measured) = widths(phase, forecasts->learnt, "");
  (prefill ? result_.prefill_imputed : result_.generation_imputed) = widths(phase, forecasts->without_bandwidth, "");
  return options_.other_splits ? other_splits(phase, *depth) : Status();
}

Status Evaluator::other_splits(TokenPhase phase, int64_t depth) {
  FoldSettings settings;
  settings.depth = depth;
  settings.rounds = options_.rounds;
  settings.threads = options_.threads;
  settings.seed = options_.seed;
  std::map<std::string, int64_t> design_fold;
  std::vector<std::string> servers;
  for (const TokenServer& server : rates_.servers) {
    design_fold.emplace(core_design(server.facts), static_cast<int64_t>(design_fold.size()));
    servers.push_back(server.vendor + "/" + server.name);
  }
  const auto random_fold = group_names(servers, 10, options_.seed + 2);
  TokenFolds by_design, by_llm, at_random;
  for (const TokenRate& rate : rates_.rates) {
    by_design.push_back(design_fold.at(core_design(rates_.servers[rate.server].facts)));
    by_llm.push_back(static_cast<int64_t>(rate.llm));
    at_random.push_back(random_fold.at(servers[rate.server]));
  }
  const std::pair<const char*, const TokenFolds*> splits[] = {{"a core design left out", &by_design},
                                                              {"a language model left out", &by_llm},
                                                              {"random servers, for contrast", &at_random}};
  for (const auto& [name, folds] : splits) {
    if (std::set<int64_t>(folds->begin(), folds->end()).size() < 2) continue;  // nothing would be left to learn from
    say(fmt::format("{}: {}", to_string(phase), name));
    const auto forecasts = forecast_left_out(rates_, phase, *folds, settings);
    if (!forecasts) return forecasts.error();
    score(phase, name, kOurTokenForecasts, forecasts->learnt);
    if (folds != &by_llm) continue;
    for (const LlmWork& llm : rates_.llms) {
      if (score(phase, name, kOurTokenForecasts, forecasts->learnt, llm.name).n == 0) result_.scores.pop_back();
    }
  }
  return {};
}

}  // namespace

Result<TokenEvaluation> evaluate_token_rates(const TokenRates& rates, const TokenEvaluationOptions& options) {
  return Evaluator(rates, options).run();
}

}  // namespace perfcast::ai::cpu_tokens_study
