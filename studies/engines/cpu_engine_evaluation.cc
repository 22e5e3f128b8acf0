#include "studies/engines/cpu_engine_evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "ai/cpu_tokens/cpu_catalogue.h"
#include "ai/engine/engine_step.h"
#include "base/parallel.h"
#include "base/statistics.h"
#include "studies/engines/cpu_engine_baselines.h"

namespace perfcast::ai::engines_study {
namespace {

constexpr size_t kFewestCpus = 3;
constexpr double kInterval = 0.9;

double measured_of(const CpuEngineRow& row, EngineTarget target) {
  return target == EngineTarget::kFirstToken     ? row.first_s
         : target == EngineTarget::kFurtherToken ? row.further_s
                                                 : row.client_token_s;
}

double& width_of(CpuEngineWidths& widths, EngineTarget target) {
  return target == EngineTarget::kFirstToken     ? widths.first_token
         : target == EngineTarget::kFurtherToken ? widths.further_token
                                                 : widths.client_token;
}

CpuTimes times_of(const CpuEngineConstants& constants, const CpuEngineMachine& machine, const CpuEngineRow& row) {
  const CpuEngineTimes times =
      cpu_engine_times(constants, machine, row.work, row.sorts, static_cast<double>(row.prompt_tokens));
  return cpu_times(row, times.first_s(), times.further_s());
}

std::string size_of(const CpuEngineRow& row) {
  const double vcpus = row.facts.vcpus;
  for (const auto& [most, name] : {std::pair{3, "2 to 3 vCPUs"},
                                   {7, "4 to 7 vCPUs"},
                                   {15, "8 to 15 vCPUs"},
                                   {31, "16 to 31 vCPUs"},
                                   {63, "32 to 63 vCPUs"},
                                   {127, "64 to 127 vCPUs"}}) {
    if (vcpus <= most) return name;
  }
  return "128 and more vCPUs";
}

class CpuEvaluator {
 public:
  CpuEvaluator(const std::vector<CpuEngineRow>& rows, const std::vector<TokenServer>& servers, int threads)
      : rows_(rows), servers_(servers), threads_(threads), cells_(cpu_engine_cells(rows)) {}

  Result<CpuEngineEvaluation> run();

 private:
  using Forecasts = std::vector<CpuTimes>;
  using Widths = std::vector<double>;  // half widths of each row's interval, in logs; NaN: none
  using Names = std::vector<std::string>;

  struct Split {
    Names groups;  // of each row
    Forecasts ours, of_kin;
  };

  // Each row's forecast by the constants that were fitted without its group.
  Result<Split> left_out(const std::function<std::string(const CpuEngineRow&)>& group, bool with_kin) const;
  CpuCatalogue catalogue_without(const std::string& cpu) const;
  // Of the rows for which `use` holds.
  double width(const Split& split, const Forecasts& forecasts, EngineTarget target,
               const std::function<bool(size_t)>& use) const;
  // Of each group as it would be without it.
  Widths widths(const Split& errors, const Forecasts& forecasts, EngineTarget target, const Names& groups) const;
  Widths new_model_widths(EngineTarget target) const;
  EngineScore score(const Forecasts& forecasts, EngineTarget target, const Widths& widths,
                    const std::function<bool(size_t)>& use) const;
  void add(const char* split, const char* predictor, const Forecasts& forecasts,
           const std::function<Widths(EngineTarget)>& widths);
  void add_groups();
  void set_profile();

  const std::vector<CpuEngineRow>& rows_;
  const std::vector<TokenServer>& servers_;
  int threads_;
  std::vector<CpuEngineCell> cells_;
  CpuEngineConstants all_;
  Split cpus_, designs_, models_;
  CpuEngineEvaluation result_;
};

CpuCatalogue CpuEvaluator::catalogue_without(const std::string& cpu) const {
  std::vector<bool> use;
  for (const TokenServer& server : servers_) use.push_back(server.cpu != cpu);
  return CpuCatalogue::from_servers(servers_, use);
}

Result<CpuEvaluator::Split> CpuEvaluator::left_out(const std::function<std::string(const CpuEngineRow&)>& group,
                                                   bool with_kin) const {
  Split split;
  for (const CpuEngineRow& row : rows_) split.groups.push_back(group(row));
  split.ours.resize(rows_.size());
  split.of_kin.resize(rows_.size());
  const std::set<std::string> unique(split.groups.begin(), split.groups.end());
  const Names order(unique.begin(), unique.end());
  const Status status = parallel_for(order.size(), threads_, [&](size_t k) -> Status {
    std::vector<bool> use;
    for (const CpuEngineCell& cell : cells_) use.push_back(group(*cell.like) != order[k]);
    const auto constants = fit_cpu_engine(cells_, use, &all_);
    if (!constants) return constants.error();
    CpuCatalogue catalogue;
    if (with_kin) catalogue = catalogue_without(order[k]);
    std::map<std::string, CpuFacts> of_kin;  // by server
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (split.groups[i] != order[k]) continue;
      const CpuEngineRow& row = rows_[i];
      split.ours[i] = times_of(*constants, row.machine, row);
      if (!with_kin) continue;
      auto known = of_kin.find(row.server);
      if (known == of_kin.end()) {
        CpuFacts facts = row.facts;
        facts.read_bytes_per_s = unknown_bandwidth();
        const auto imputed = catalogue.impute(facts);
        known = of_kin.emplace(row.server, imputed ? *imputed : facts).first;
      }
      split.of_kin[i] = times_of(*constants, cpu_engine_machine_of(known->second, row.precision, row.processes), row);
    }
    return {};
  });
  if (!status) return status.error();
  return split;
}

double CpuEvaluator::width(const Split& split, const Forecasts& forecasts, EngineTarget target,
                           const std::function<bool(size_t)>& use) const {
  std::vector<GroupedError> errors;
  for (size_t i = 0; i < rows_.size(); ++i) {
    const double log_ratio = std::log(forecasts[i].of(target) / measured_of(rows_[i], target));
    if (use(i) && std::isfinite(log_ratio)) errors.push_back({split.groups[i], log_ratio});
  }
  return log_half_width(errors, kInterval);
}

CpuEvaluator::Widths CpuEvaluator::widths(const Split& errors, const Forecasts& forecasts, EngineTarget target,
                                          const Names& groups) const {
  std::map<std::string, double> of_group;
  Widths widths;
  for (const std::string& group : groups) {
    auto known = of_group.find(group);
    if (known == of_group.end()) {
      const double own = width(errors, forecasts, target, [&](size_t i) { return groups[i] != group; });
      known = of_group.emplace(group, own).first;
    }
    widths.push_back(known->second);
  }
  return widths;
}

// As a forecast of a language model that isn't known has them.
CpuEvaluator::Widths CpuEvaluator::new_model_widths(EngineTarget target) const {
  Widths all = widths(cpus_, cpus_.ours, target, models_.groups);
  for (size_t i = 0; i < all.size(); ++i) {
    CpuEngineProfile others;
    for (const CpuEngineModel& model : result_.profile.models) {
      if (model.name != models_.groups[i]) others.models.push_back(model);
    }
    CpuEngineWidths like = others.nearest_model(rows_[i].work.weight_bytes)->left_out;
    all[i] = std::max(all[i], width_of(like, target));
  }
  return all;
}

EngineScore CpuEvaluator::score(const Forecasts& forecasts, EngineTarget target, const Widths& widths,
                                const std::function<bool(size_t)>& use) const {
  EngineScore result;
  result.target = target;
  std::vector<double> sizes, signed_sizes;
  double with_interval = 0, covered = 0;
  for (size_t i = 0; i < rows_.size(); ++i) {
    const double ratio = forecasts[i].of(target) / measured_of(rows_[i], target) - 1;
    if (!use(i) || !std::isfinite(ratio)) continue;
    sizes.push_back(std::abs(ratio));
    signed_sizes.push_back(ratio);
    if (widths.empty() || std::isnan(widths[i])) continue;
    with_interval += 1;
    if (std::abs(std::log1p(ratio)) <= widths[i]) covered += 1;
  }
  result.n = static_cast<int64_t>(sizes.size());
  if (sizes.empty()) return result;
  result.mean_error = mean(sizes);
  result.median_error = median(sizes);
  result.bias = mean(signed_sizes);
  if (with_interval > 0) result.coverage = covered / with_interval;
  return result;
}

void CpuEvaluator::add(const char* split, const char* predictor, const Forecasts& forecasts,
                       const std::function<Widths(EngineTarget)>& widths) {
  for (const EngineTarget target : kEngineTargets) {
    const Widths own = widths ? widths(target) : Widths();
    for (const bool all : {true, false}) {
      EngineScore found = score(forecasts, target, own, [&](size_t i) { return all || !rows_[i].starts_up; });
      found.split = split;
      found.predictor = predictor;
      found.part = all ? "all" : kWithoutStarts;
      if (found.n > 0) result_.scores.push_back(std::move(found));
    }
  }
}

void CpuEvaluator::add_groups() {
  const std::function<std::string(const CpuEngineRow&)> kinds[] = {
      [](const CpuEngineRow& row) { return row.work.name + ", prompt " + std::to_string(row.prompt_tokens); },
      size_of,
      [](const CpuEngineRow& row) { return row.design; },
      [](const CpuEngineRow& row) { return row.provider; },
  };
  std::map<EngineTarget, Widths> own;
  for (const EngineTarget target : kEngineTargets) own[target] = widths(cpus_, cpus_.ours, target, cpus_.groups);
  for (const auto& kind : kinds) {
    std::set<std::string> names;
    for (const CpuEngineRow& row : rows_) names.insert(kind(row));
    for (const std::string& name : names) {
      for (const EngineTarget target : kEngineTargets) {
        EngineScore found = score(cpus_.ours, target, own[target], [&](size_t i) { return kind(rows_[i]) == name; });
        found.split = kCpuOut;
        found.predictor = kOurs;
        found.part = name;
        result_.groups.push_back(std::move(found));
      }
    }
  }
  for (const CpuEngineModel& model : result_.profile.models) {
    for (const EngineTarget target : kEngineTargets) {
      EngineScore found = score(models_.ours, target, new_model_widths(target),
                                [&](size_t i) { return models_.groups[i] == model.name; });
      found.split = kModelOut;
      found.predictor = kOurs;
      found.part = model.name;
      result_.groups.push_back(std::move(found));
    }
  }
}

void CpuEvaluator::set_profile() {
  CpuEngineProfile& profile = result_.profile;
  profile.constants = all_;
  std::set<std::string> cpus;
  std::map<std::string, double> models;
  for (const CpuEngineRow& row : rows_) {
    if (row.starts_up) continue;
    ++profile.rows;
    models[row.work.name] = row.work.weight_bytes;
    cpus.insert(row.cpu);
  }
  for (const auto& [name, weight_bytes] : models) profile.models.push_back({name, weight_bytes, {}});
  profile.cpus.assign(cpus.begin(), cpus.end());
  const auto all = [](size_t) { return true; };
  const auto three_digits = [](double value) { return std::round(value * 1e3) / 1e3; };
  for (const EngineTarget target : kEngineTargets) {
    width_of(profile.measured, target) = three_digits(width(cpus_, cpus_.ours, target, all));
    width_of(profile.of_kin, target) = three_digits(width(cpus_, cpus_.of_kin, target, all));
    for (CpuEngineModel& model : profile.models) {
      width_of(model.left_out, target) =
          three_digits(width(models_, models_.ours, target, [&](size_t i) { return models_.groups[i] == model.name; }));
    }
  }
}

Result<CpuEngineEvaluation> CpuEvaluator::run() {
  std::set<std::string> cpus;
  for (const CpuEngineRow& row : rows_) cpus.insert(row.cpu);
  if (cpus.size() < kFewestCpus) {
    return Error{"too-few-rows", fmt::format("{} CPU models", cpus.size()), "", fmt::format("{} or more", kFewestCpus)};
  }
  const auto all = fit_cpu_engine(cells_);
  if (!all) return all.error();
  all_ = *all;
  auto by_cpu = left_out([](const CpuEngineRow& row) { return row.cpu; }, true);
  if (!by_cpu) return by_cpu.error();
  cpus_ = std::move(*by_cpu);
  auto by_design = left_out([](const CpuEngineRow& row) { return row.design; }, false);
  if (!by_design) return by_design.error();
  designs_ = std::move(*by_design);
  auto by_model = left_out([](const CpuEngineRow& row) { return row.work.name; }, false);
  if (!by_model) return by_model.error();
  models_ = std::move(*by_model);
  set_profile();
  add(kCpuOut, kOurs, cpus_.ours, [&](EngineTarget target) { return widths(cpus_, cpus_.ours, target, cpus_.groups); });
  add(kDesignOut, kOurs, designs_.ours,
      [&](EngineTarget target) { return widths(cpus_, cpus_.ours, target, designs_.groups); });
  add(kModelOut, kOurs, models_.ours, [&](EngineTarget target) { return new_model_widths(target); });
  add(kCpuOutKin, kOurs, cpus_.of_kin,
      [&](EngineTarget target) { return widths(cpus_, cpus_.of_kin, target, cpus_.groups); });
  const auto baselines = cpu_engine_baselines(rows_);
  if (!baselines) return baselines.error();
  add(kCpuOut, kThreeConstants, baselines->three_constants, nullptr);
  add(kCpuOut, kBandwidthOrCores, baselines->one_constant, nullptr);
  add(kSameServerSize, kFloor, baselines->other_servers, nullptr);
  add_groups();
  return std::move(result_);
}

}  // namespace

Result<CpuEngineEvaluation> evaluate_cpu_engine(const std::vector<CpuEngineRow>& rows,
                                                const std::vector<TokenServer>& servers, int threads) {
  return CpuEvaluator(rows, servers, threads).run();
}

ReportTable cpu_engine_constants_table(const CpuEngineProfile& profile) {
  using Row = CpuEngineConstant;
  return table_of<Row>(
      "", cpu_engine_constants(),
      {{"constant", "constant", Quantity::kText, [](const Row& row) { return row.name; }},
       {"value", profile.name, Quantity::kNumber, [&](const Row& row) { return profile.constants.*row.member; },
        [&](const Row& row) { return fmt::format("{:g}", profile.constants.*row.member); }}});
}

}  // namespace perfcast::ai::engines_study
