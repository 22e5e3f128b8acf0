#include "ai/cpu_tokens/token_model.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "base/json.h"
#include "base/statistics.h"
#include "base/unknown.h"
#include "machine/facts/core_design.h"

namespace perfcast::ai {
namespace {

constexpr double kLargestResidual = 1;  // in log rates: what lies further off is not learnt
constexpr size_t kFewestCells = 20;
constexpr double kSmallWeights = 200e6, kMiddleWeights = 1e9;  // bytes
constexpr int64_t kLongest = 10'000'000;                       // tokens
constexpr int64_t kFullWeightRates = 3;  // of a cell: more of them don't make its median much better
constexpr float kAbsent = -1;            // XGBoost's rows have no gaps

double or_absent(double value) { return std::isfinite(value) ? value : static_cast<double>(kAbsent); }

std::vector<float> features_of(const TokenQuestion& question, const TokenTimes& times) {
  const CpuFacts& cpu = *question.cpu;
  const auto has = [&](const char* flag) { return cpu.flags.contains(flag) ? 1.0 : 0.0; };
  const double ln_cores = std::log(cpu.cores);
  const auto per_core = [&](size_t size) { return std::log(read_bandwidth(cpu, kBandwidthBytes[size])) - ln_cores; };
  const std::string design = core_design(cpu);
  const double weights = question.llm->weight_bytes, l3_bytes = cpu.l3_bytes.value_or(kUnknown);
  const double values[] = {
      per_core(0),
      per_core(1),
      per_core(3),
      per_core(6),
      per_core(8),
      per_core(10),
      std::log(read_bandwidth(cpu, weights / cpu.vcpus)) - ln_cores,
      std::log(memory_bandwidth(cpu) / cpu.sockets),
      ln_cores,
      std::log(cpu.vcpus),
      cpu.vcpus / cpu.cores,
      cpu.vcpus > cpu.cores ? 1.0 : 0.0,
      cpu.numa_nodes,
      cpu.sockets,
      std::log(std::max(1.0, cpu.numa_nodes / cpu.sockets)),
      has("avx2"),
      has("avx512f"),
      has("amx"),
      has("sve"),
      has("sha"),
      std::log2(int8_products_per_cycle(cpu)),
      design == "skylake-server" || design == "cascade-lake" ? 1.0 : 0.0,
      cpu.vendor == "AMD" ? 1.0 : 0.0,
      cpu.arch == "aarch64" || cpu.arch == "arm64" ? 1.0 : 0.0,
      std::log(cpu.l2_bytes.value_or(kUnknown)),
      std::log(l3_bytes),
      std::log(l3_bytes * cpu.l3_count) - ln_cores,
      std::log(static_cast<double>(question.tokens)),
      std::log(weights) - ln_cores,
      question.llm->short_block_share,
      times.total,
      times.compute - std::log(weights),
      times.memory - std::log(weights),
      times.barrier - std::log(weights),
      times.compute - times.memory,
  };
  std::vector<float> row;
  for (const double value : values) row.push_back(static_cast<float>(or_absent(value)));
  return row;
}

CpuFacts typical(const std::vector<const CpuFacts*>& members) {
  CpuFacts facts = *members.front();
  const auto median_fact = [&](auto&& fact) {
    std::vector<double> values;
    values.reserve(members.size());
    for (const CpuFacts* member : members) values.push_back(fact(*member));
    return median_of_known(std::move(values));
  };
  for (size_t i = 0; i < kBandwidthBytes.size(); ++i) {
    facts.read_bytes_per_s[i] = median_fact([i](const CpuFacts& f) { return f.read_bytes_per_s[i]; });
  }
  facts.l2_bytes = if_known(median_fact([](const CpuFacts& f) { return f.l2_bytes.value_or(kUnknown); }));
  facts.l3_bytes = if_known(median_fact([](const CpuFacts& f) { return f.l3_bytes.value_or(kUnknown); }));
  facts.l3_count = median_fact([](const CpuFacts& f) { return f.l3_count; });
  return facts;
}

}  // namespace

const std::vector<std::string>& token_feature_names() {
  static const std::vector<std::string> names = {"core_read_16kb",
                                                 "core_read_256kb",
                                                 "core_read_2mb",
                                                 "core_read_16mb",
                                                 "core_read_64mb",
                                                 "core_read_512mb",
                                                 "core_read_at_weights",
                                                 "socket_read",
                                                 "cores",
                                                 "vcpus",
                                                 "threads_per_core",
                                                 "shares_core",
                                                 "numa_nodes",
                                                 "sockets",
                                                 "nodes_per_socket",
                                                 "avx2",
                                                 "avx512f",
                                                 "amx",
                                                 "sve",
                                                 "sha",
                                                 "int8_products",
                                                 "skylake_server",
                                                 "amd",
                                                 "arm",
                                                 "l2",
                                                 "l3",
                                                 "l3_per_core",
                                                 "tokens",
                                                 "weights_per_core",
                                                 "short_blocks",
                                                 "time",
                                                 "compute_per_byte",
                                                 "memory_per_byte",
                                                 "barrier_per_byte",
                                                 "compute_over_memory"};
  return names;
}

size_t llm_size_class(const LlmWork& llm) {
  return llm.weight_bytes < kSmallWeights ? 0 : llm.weight_bytes < kMiddleWeights ? 1 : 2;
}

std::vector<TokenCell> token_cells(const TokenRates& rates, TokenPhase phase, const std::vector<bool>& use) {
  using Size = std::tuple<std::string, std::string, double, double, double, double>;
  std::map<Size, std::vector<const CpuFacts*>> members;
  std::vector<Size> size_of;
  for (const TokenServer& server : rates.servers) {
    const CpuFacts& facts = server.facts;
    size_of.emplace_back(server.cpu, server.vendor, facts.vcpus, facts.cores, facts.sockets, facts.numa_nodes);
  }
  std::map<std::tuple<Size, size_t, int64_t>, std::vector<double>> log_rates;
  std::vector<bool> counted(rates.servers.size());
  for (size_t i = 0; i < rates.rates.size(); ++i) {
    const TokenRate& rate = rates.rates[i];
    if (rate.phase != phase || (!use.empty() && !use[i])) continue;
    const CpuFacts& facts = rates.servers[rate.server].facts;
    if (!has_bandwidth(facts)) continue;
    if (!counted[rate.server]) members[size_of[rate.server]].push_back(&facts);
    counted[rate.server] = true;
    log_rates[{size_of[rate.server], rate.llm, rate.tokens}].push_back(std::log(rate.tokens_per_s));
  }
  std::map<Size, CpuFacts> facts_of_size;
  for (const auto& [size, facts] : members) facts_of_size.emplace(size, typical(facts));
  std::vector<TokenCell> cells;
  for (const auto& [key, values] : log_rates) {
    const auto& [size, llm, tokens] = key;
    cells.push_back(
        {std::get<0>(size), facts_of_size.at(size), llm, tokens, median(values), static_cast<int64_t>(values.size())});
  }
  return cells;
}

Result<TokenModel> TokenModel::fit(TokenPhase phase, const std::vector<TokenCell>& cells,
                                   const std::vector<LlmWork>& llms, const TokenFitOptions& options) {
  if (cells.size() < kFewestCells) {
    return Error{"too-few-rows", "too few measured rates to learn from: " + std::to_string(cells.size()), "",
                 "at least " + std::to_string(kFewestCells)};
  }
  const auto rows = static_cast<Eigen::Index>(cells.size());
  std::map<std::string, double> cells_of;
  for (const TokenCell& cell : cells) ++cells_of[cell.cpu];
  std::vector<TokenQuestion> questions;
  Eigen::VectorXd log_rates(rows), weights(rows);
  for (Eigen::Index r = 0; r < rows; ++r) {
    const TokenCell& cell = cells[static_cast<size_t>(r)];
    questions.push_back({&cell.facts, &llms[cell.llm], cell.tokens});
    log_rates[r] = cell.log_rate;
    weights[r] = std::sqrt(static_cast<double>(std::min(cell.rates, kFullWeightRates)) / cells_of[cell.cpu]);
  }
  weights /= weights.mean();
  TokenModel model(phase);
  model.physics_.fit(questions, log_rates, weights);
  if (options.depth == 0) return model;

  const auto columns = static_cast<Eigen::Index>(token_feature_names().size());
  Eigen::MatrixXd features(rows, columns);
  Eigen::VectorXd residuals(rows);
  for (Eigen::Index r = 0; r < rows; ++r) {
    const TokenTimes times = model.physics_.times(questions[static_cast<size_t>(r)]);
    const std::vector<float> row = features_of(questions[static_cast<size_t>(r)], times);
    for (Eigen::Index c = 0; c < columns; ++c) features(r, c) = static_cast<double>(row[static_cast<size_t>(c)]);
    residuals[r] = std::clamp(log_rates[r] + times.total, -kLargestResidual, kLargestResidual);
  }
  BoostOptions boost;
  boost.rounds = options.rounds;
  boost.depth = options.depth;
  boost.learning_rate = options.learning_rate;
  boost.seed = options.seed;
  auto trees = BoostedTrees::fit(features, residuals, weights, boost);
  if (!trees) return trees.error();
  model.trees_ = std::move(*trees);
  // As the bundle has them: the coefficients and trees that are written are those that forecast.
  return from_json(model.to_json(), phase, "model");
}

double TokenModel::log_rate(const TokenQuestion& question, TokenTimes& times) const {
  times = physics_.times(question);
  double rate = -times.total;
  if (trees_) rate += trees_->predict(features_of(question, times));
  if (phase() == TokenPhase::kGeneration) {
    rate = std::min(rate, std::log(kBoundSlack * bandwidth_bound(*question.cpu, *question.llm)));
  }
  return rate;
}

double TokenModel::log_rate(const TokenQuestion& question) const {
  TokenTimes times;
  return log_rate(question, times);
}

Result<TokenForecast> TokenModel::forecast(const CpuFacts& cpu, const LlmWork& llm, int64_t tokens) const {
  if (const Status status = check_cpu_facts(cpu); !status) return status.error();
  if (const Status status = check_llm_work(llm); !status) return status.error();
  if (tokens < 1 || tokens > kLongest) {
    return Error{"bad-tokens", "the number of tokens can't be used: " + std::to_string(tokens), "",
                 "1 to " + std::to_string(kLongest)};
  }
  if (!has_bandwidth(cpu)) {
    return Error{"unknown-bandwidth", "the CPU's read bandwidth is not known", cpu.name,
                 "a measurement, or that of CPUs like it (CpuCatalogue::impute)"};
  }
  TokenTimes times;
  const double rate = log_rate({&cpu, &llm, tokens}, times);
  const double width = (cpu.bandwidth_imputed ? imputed_widths : measured_widths)[llm_size_class(llm)];
  TokenForecast forecast;
  forecast.tokens_per_s = std::exp(rate);
  forecast.low = std::exp(rate - width);
  forecast.high = std::exp(rate + width);
  if (phase() == TokenPhase::kGeneration) forecast.bound_tokens_per_s = bandwidth_bound(cpu, llm);
  const double top = std::max({times.compute, times.memory, times.barrier});
  forecast.compute_share = std::exp(times.compute - top);
  forecast.memory_share = std::exp(times.memory - top);
  forecast.barrier_share = std::exp(times.barrier - top);
  const double sum = forecast.compute_share + forecast.memory_share + forecast.barrier_share;
  forecast.compute_share /= sum;
  forecast.memory_share /= sum;
  forecast.barrier_share /= sum;
  forecast.bandwidth_imputed = cpu.bandwidth_imputed;
  if (cpu.memory_gib > 0) {
    const double context = llm.kv_bytes_per_token * static_cast<double>(tokens);
    forecast.fits_memory = llm.file_bytes + context <= cpu.memory_gib * 1024 * 1024 * 1024;
  }
  return forecast;
}

}  // namespace perfcast::ai
