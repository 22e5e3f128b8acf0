#include "ai/results/result_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/statistics.h"

namespace perfcast::ai {
namespace {

double narrowest_peak(const DeviceFacts& device) {
  double peak = kUnknown;
  for (const MathMode mode : {MathMode::kInt8, MathMode::kFp8, MathMode::kHalf}) {
    const double own = device.peak(mode);
    if (!std::isnan(own) && !(peak >= own)) peak = own;
  }
  return peak;
}

}  // namespace

std::string model_family(const std::string& model) {
  for (const char* ending : {"-99.9", "-99"}) {
    if (model.ends_with(ending)) return model.substr(0, model.size() - std::string_view(ending).size());
  }
  return model;
}

ResultFacts result_facts(const ResultAccelerator& accelerator) {
  ResultFacts facts;
  facts.fill(kUnknown);
  if (accelerator.facts == nullptr) return facts;
  const DeviceFacts& device = *accelerator.facts;
  const double peak = narrowest_peak(device) * accelerator.compute_share;
  const double bandwidth = device.memory_bytes_per_s * accelerator.memory_share;
  const auto set = [&facts](ResultFact fact, double value) { facts[static_cast<size_t>(fact)] = std::log(value); };
  set(ResultFact::kPeak, peak);
  set(ResultFact::kHalfShare, device.peak(MathMode::kHalf) * accelerator.compute_share / peak);
  set(ResultFact::kBandwidth, bandwidth / peak);
  set(ResultFact::kMemory, device.memory_bytes * accelerator.memory_share);
  set(ResultFact::kCache, device.l2_bytes / device.memory_bytes_per_s);
  set(ResultFact::kPower, device.power_w * accelerator.compute_share / peak);
  return facts;
}

ResultRow result_row(const PublishedResult& published, const std::vector<DeviceFacts>& devices) {
  const ResultAccelerator accelerator = result_accelerator(published, devices);
  ResultRow row;
  row.version = published.version;
  row.submitter = published.submitter;
  row.model = published.model;
  row.scenario = published.scenario;
  row.family = model_family(published.model);
  row.accelerator = accelerator.name;
  row.whole = accelerator.whole;
  row.generation = accelerator.generation;
  row.vendor = accelerator.vendor;
  row.facts = result_facts(accelerator);
  row.count = accelerator.count;
  row.nodes = published.nodes.value_or(1);
  row.system = fmt::format("{}, {}, {}, {}", row.submitter, row.accelerator, row.count, row.nodes);
  row.tokens_per_sample = published.tokens_per_s / published.samples_per_s;
  return row;
}

std::vector<ResultRow> result_rows(const std::vector<PublishedResult>& results,
                                   const std::vector<DeviceFacts>& devices) {
  struct Cell {
    size_t row;
    std::vector<double> log_rates, tokens;
  };
  std::vector<ResultRow> rows;
  std::vector<Cell> cells;
  std::map<std::array<std::string, 4>, size_t> places;
  for (const PublishedResult& result : results) {
    const double rate = result_rate_per_s(result);
    if (!result.valid || !(rate > 0)) continue;
    ResultRow row = result_row(result, devices);
    const auto [place, is_new] =
        places.emplace(std::array<std::string, 4>{row.system, row.version, row.model, row.scenario}, cells.size());
    if (is_new) {
      cells.push_back({rows.size(), {}, {}});
      rows.push_back(std::move(row));
    }
    Cell& cell = cells[place->second];
    cell.log_rates.push_back(std::log(rate));
    cell.tokens.push_back(result.tokens_per_s / result.samples_per_s);
  }
  for (Cell& cell : cells) {
    rows[cell.row].results = cell.log_rates.size();
    rows[cell.row].log_rate = median(std::move(cell.log_rates));
    rows[cell.row].tokens_per_sample = median_of_known(std::move(cell.tokens));
  }
  return rows;
}

}  // namespace perfcast::ai
