#include "ai/cpu_tokens/token_rates.h"

#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "base/csv.h"
#include "base/file.h"
#include "base/table_row.h"
#include "base/text.h"
#include "base/unknown.h"
#include "machine/facts/caches.h"
#include "machine/facts/processor.h"

namespace perfcast::ai {
namespace {

constexpr double kImplausible = 4;  // times the measured bandwidth; the highest of sound servers is 2.4
constexpr size_t kMaximumTableBytes = size_t{512} << 20;

CpuFacts read_facts(const TableRow& row) {
  CpuFacts facts;
  facts.name = row.text("cpu_model");
  facts.arch = row.text("arch");
  facts.vendor = vendor_name(row.text("cpu_vendor"));
  facts.cpu_family = row.integer("cpu_family");
  facts.model = row.integer("model");
  facts.stepping = row.integer("stepping");
  for (const char* flag : {"avx2", "avx512f", "amx", "sve", "asimd", "sha"}) {
    if (row.integer(std::string("f_") + flag) == 1) facts.flags.insert(flag);
  }
  facts.vcpus = row.positive("vcpus").value_or(kUnknown);
  facts.sockets = row.positive("sockets").value_or(1);
  facts.numa_nodes = row.positive("numa_nodes").value_or(1);
  facts.cores = row.positive("cores_per_socket").value_or(kUnknown) * facts.sockets;
  if (std::isnan(facts.cores)) facts.cores = facts.vcpus / row.positive("threads_per_core").value_or(1);
  facts.cores = std::max(1.0, std::min(facts.cores, facts.vcpus));
  if (const auto l2 = parse_cache_instances(row.text("l2"))) facts.l2_bytes = l2->bytes;
  if (const auto l3 = parse_cache_instances(row.text("l3"))) {
    facts.l3_bytes = l3->bytes;
    facts.l3_count = l3->count;
  }
  facts.memory_gib = row.positive("mem_gib").value_or(kUnknown);
  return facts;
}

// Column of kBandwidthBytes[i].
const char* bandwidth_column(size_t i) {
  static constexpr std::array<const char*, kBandwidthBytes.size()> names = {
      "bwmem.rd.0.016384MB", "bwmem.rd.0.262144MB", "bwmem.rd.1.00MB",  "bwmem.rd.2.00MB",
      "bwmem.rd.4.00MB",     "bwmem.rd.8.00MB",     "bwmem.rd.16.00MB", "bwmem.rd.32.00MB",
      "bwmem.rd.64.00MB",    "bwmem.rd.256.00MB",   "bwmem.rd.512.00MB"};
  return names[i];
}

struct RateColumn {
  size_t index, llm;
  TokenPhase phase;
  int64_t tokens;
};

// llm.<model>.<pp|tg><tokens>.tps of the models that benchmark_llms() knows.
std::optional<RateColumn> rate_column(const std::string& name, size_t index) {
  constexpr std::string_view kPrefix = "llm.", kSuffix = ".tps";
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return std::nullopt;
  const std::string middle = name.substr(kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size());
  for (size_t llm = 0; llm < benchmark_llms().size(); ++llm) {
    const std::string& column = benchmark_llms()[llm].column;
    if (!middle.starts_with(column + ".")) continue;
    const std::string test = middle.substr(column.size() + 1);
    const bool prefill = test.starts_with("pp");
    if (!prefill && !test.starts_with("tg")) continue;
    const auto tokens = parse_number(std::string_view(test).substr(2));
    if (!tokens || *tokens < 1 || *tokens > 1e9 || *tokens != std::floor(*tokens)) continue;
    return RateColumn{index, llm, prefill ? TokenPhase::kPrefill : TokenPhase::kGeneration,
                      static_cast<int64_t>(*tokens)};
  }
  return std::nullopt;
}

std::string key_of(std::string_view vendor, std::string_view server) {
  return std::string(trim(vendor)) + "/" + std::string(trim(server));
}

// Both tables, joined by provider and server.
struct Tables {
  CsvTable servers, rates;
  std::unordered_map<std::string, size_t> rate_row;  // the first of two rows stays

  static Result<Tables> parse(const TokenRatesText& text);
};

Result<Tables> Tables::parse(const TokenRatesText& text) {
  auto servers = CsvTable::parse(text.servers_csv, text.servers_path);
  if (!servers) return servers.error();
  auto rates = CsvTable::parse(text.rates_csv, text.rates_path);
  if (!rates) return rates.error();
  for (const char* required : {"vendor", "server", "arch", "cpu_model", "vcpus", "gpu"}) {
    if (const auto column = servers->column(required); !column) return column.error();
  }
  const auto vendor = rates->column("vendor");
  if (!vendor) return vendor.error();
  const auto name = rates->column("server");
  if (!name) return name.error();
  Tables tables = {std::move(*servers), std::move(*rates), {}};
  for (size_t row = 0; row < tables.rates.rows(); ++row) {
    tables.rate_row.emplace(key_of(tables.rates.cell(row, *vendor), tables.rates.cell(row, *name)), row);
  }
  return tables;
}

// Absent where vCPUs and cores aren't plausible.
std::optional<TokenServer> read_server(const TableRow& server, const TableRow& measured) {
  TokenServer entry;
  entry.vendor = server.text("vendor");
  entry.name = server.text("server");
  entry.facts = read_facts(server);
  for (size_t i = 0; i < kBandwidthBytes.size(); ++i) {
    entry.facts.read_bytes_per_s[i] = measured.positive(bandwidth_column(i)).value_or(kUnknown) * 1e6;
  }
  if (!check_cpu_facts(entry.facts)) return std::nullopt;
  entry.cpu = cpu_model_key(entry.facts);
  return entry;
}

class Reader {
 public:
  Result<TokenRates> read(const TokenRatesText& text);

 private:
  void read_rates(const TableRow& server, const CsvTable& rates, size_t row, const std::vector<RateColumn>& columns);
  void leave_out(const std::string& subject, const std::string& reason) { ++left_out_[{subject, reason}]; }

  TokenRates result_;
  std::map<std::pair<std::string, std::string>, int64_t> left_out_;
};

Result<TokenRates> Reader::read(const TokenRatesText& text) {
  const auto tables = Tables::parse(text);
  if (!tables) return tables.error();
  for (const BenchmarkLlm& llm : benchmark_llms()) result_.llms.push_back(llm.work);
  std::vector<RateColumn> columns;
  for (size_t i = 0; i < tables->rates.columns().size(); ++i) {
    if (const auto column = rate_column(tables->rates.columns()[i], i)) columns.push_back(*column);
  }
  std::set<std::string> seen;
  for (size_t i = 0; i < tables->servers.rows(); ++i) {
    const TableRow server(tables->servers, i);
    const std::string key = key_of(server.text("vendor"), server.text("server"));
    const auto row = tables->rate_row.find(key);
    if (!seen.insert(key).second) {
      leave_out("server", "named twice: the first row stays");
    } else if (!server.text("gpu").empty()) {
      leave_out("server", "has a GPU");
    } else if (row == tables->rate_row.end()) {
      leave_out("server", "no row of rates");
    } else {
      read_rates(server, tables->rates, row->second, columns);
    }
  }
  for (const auto& [what, count] : left_out_) result_.left_out.push_back({what.first, what.second, count});
  return std::move(result_);
}

void Reader::read_rates(const TableRow& server, const CsvTable& rates, size_t row,
                        const std::vector<RateColumn>& columns) {
  auto entry = read_server(server, TableRow(rates, row));
  if (!entry) {
    leave_out("server", "without a plausible number of vCPUs and cores");
    return;
  }
  std::vector<TokenRate> found;
  for (const RateColumn& column : columns) {
    const std::string_view cell = trim(rates.cell(row, column.index));
    if (cell.empty()) continue;  // the benchmark did not get that far: too slow, or too little memory
    const auto value = parse_number(cell);
    if (!value || !(*value > 0) || *value > 1e12) {
      leave_out("rate", "no number above 0");
      continue;
    }
    const double weights = result_.llms[column.llm].weight_bytes;
    const double fed = read_bandwidth(entry->facts, weights / entry->facts.vcpus) / weights;
    if (column.phase == TokenPhase::kGeneration && *value > kImplausible * fed) {
      leave_out("rate", "generation at over 4 times what the measured bandwidth feeds");
      continue;
    }
    found.push_back({result_.servers.size(), column.llm, column.phase, column.tokens, *value});
  }
  if (found.empty()) {
    leave_out("server", "no rate of a language model");
    return;
  }
  result_.rates.insert(result_.rates.end(), found.begin(), found.end());
  result_.servers.push_back(std::move(*entry));
}

// servers.csv and benchmarks_wide.csv[.gz] of the folder.
Result<TokenRatesText> read_rate_tables(const std::string& folder) {
  namespace fs = std::filesystem;
  TokenRatesText text;
  text.servers_path = folder + "/servers.csv";
  text.rates_path = folder + "/benchmarks_wide.csv";
  std::error_code ignored;
  if (!fs::exists(text.rates_path, ignored)) text.rates_path += ".gz";
  auto servers = read_file(text.servers_path, kMaximumTableBytes);
  if (!servers) return servers.error();
  auto rates = read_file(text.rates_path, kMaximumTableBytes);
  if (!rates) return rates.error();
  text.servers_csv = std::move(*servers);
  text.rates_csv = std::move(*rates);
  return text;
}

}  // namespace

const char* to_string(TokenPhase phase) { return phase == TokenPhase::kPrefill ? "prefill" : "generation"; }

Result<TokenRates> parse_token_rates(const TokenRatesText& text) { return Reader().read(text); }

Result<std::vector<TokenServer>> parse_cpu_servers(const TokenRatesText& text) {
  const auto tables = Tables::parse(text);
  if (!tables) return tables.error();
  std::vector<TokenServer> servers;
  std::set<std::string> seen;
  for (size_t i = 0; i < tables->servers.rows(); ++i) {
    const TableRow row(tables->servers, i);
    const std::string key = key_of(row.text("vendor"), row.text("server"));
    const auto measured = tables->rate_row.find(key);
    if (measured == tables->rate_row.end() || !seen.insert(key).second) continue;
    if (auto server = read_server(row, TableRow(tables->rates, measured->second))) {
      servers.push_back(std::move(*server));
    }
  }
  return servers;
}

Result<TokenRates> read_token_rates(const std::string& folder) {
  const auto text = read_rate_tables(folder);
  if (!text) return text.error();
  return parse_token_rates(*text);
}

Result<std::vector<TokenServer>> read_cpu_servers(const std::string& folder) {
  const auto text = read_rate_tables(folder);
  if (!text) return text.error();
  return parse_cpu_servers(*text);
}

}  // namespace perfcast::ai
