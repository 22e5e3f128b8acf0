#include "cli/forecast/place_inputs.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>

#include "ai/llm/model_catalogue.h"
#include "base/file.h"
#include "base/json.h"
#include "base/python_json.h"
#include "base/text.h"
#include "cli/ai/llm_cpu_forecast.h"
#include "cli/ai/llm_devices.h"
#include "cli/shared/forecast_input.h"
#include "cli/shared/named_file.h"
#include "machine/facts/instance_facts.h"
#include "program/model/bundle/bundle.h"

namespace perfcast::cli {
namespace {

constexpr size_t kBeginning = 256, kLargestConfigBytes = size_t{64} << 20;

// A profile begins with its schema.
bool holds_profile(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return false;
  std::string beginning(kBeginning, '\0');
  beginning.resize(std::fread(beginning.data(), 1, kBeginning, file));
  std::fclose(file);
  return beginning.find("\"perfcast.profile/") != std::string::npos;
}

// What can be said of a file that holds no workload, better than a reader of models could.
Status check_workload_file(const std::string& path) {
  constexpr const char* kExpected =
      "a profile (perfcast profile -o FILE -- CMD), a model's config.json or GGUF file, or a product M,N,K[,PRECISION]";
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return {};
  if (std::filesystem::file_size(path, ignored) == 0)
    return Error{"bad-workload", "the file is empty", path, kExpected};
  if (!path.ends_with(".json")) return {};
  const auto text = read_file(path, kLargestConfigBytes);
  if (!text) return text.error();
  const auto json = parse_python_json(*text, path);
  if (!json) {
    Error error = json.error();
    error.expected = kExpected;
    return error;
  }
  if (!json->is_object()) return Error{"bad-workload", "the file holds no object of JSON", path, kExpected};
  const auto schema = json->find("schema");
  if (schema != json->end() && schema->is_string()) {
    return Error{"bad-workload", "'" + printable(schema->get<std::string>().substr(0, 60)) + "' is no workload", path,
                 kExpected};
  }
  if (json->contains("model_type") || json->contains("architectures")) return {};
  return Error{"bad-workload",
               "the JSON is neither a profile nor a model's config.json: it has no schema and no model_type", path,
               kExpected};
}

// The base clock of x86 is that of the time-stamp counter. What kernels in virtual machines report as the maximum is
// often a constant below it.
double clock_of(const Platform& platform) {
  const auto fact = [&](const char* name) {
    const auto found = platform.facts.find(name);
    return found == platform.facts.end() ? kUnknown : found->second;
  };
  const double counter_hz = fact("tsc_hz");
  return place::busy_clock_hz(counter_hz > 0 ? counter_hz : fact("nominal_hz"), fact("max_hz"));
}

// Of the sizes that are rented with this CPU the one nearest to a usual one.
double usual_size(const ai::CpuRecord& record) {
  constexpr double kUsualVcpus = 32;
  const auto apart = [](const ai::CpuShape& shape) { return std::abs(std::log(shape.vcpus / kUsualVcpus)); };
  return std::min_element(record.shapes.begin(), record.shapes.end(),
                          [&](const auto& a, const auto& b) { return apart(a) < apart(b); })
      ->vcpus;
}

// The instance types of a CPU model that have a price, cheapest first.
void add_instances(const ai::TokenBundle& tokens, const place::PlaceCpu& cpu,
                   const std::vector<const program::Server*>& servers, const program::PriceList& prices,
                   std::vector<place::PlaceCpu>& rows) {
  for (const program::Server* server : servers) {
    const auto price = prices.per_hour(server->vendor, server->name);
    if (!price || !server->vcpus) continue;
    if (cpu_share_of(server->vendor, server->name) != CpuShare::kOwn && !prices.with_shared()) continue;
    place::PlaceCpu row = cpu;
    const auto facts = tokens.cpus.find(cpu.facts.name, *server->vcpus);
    if (!facts) continue;
    row.facts = *facts;
    row.facts.memory_gib =
        server->memory_gib ? *server->memory_gib : prices.memory_gib(server->vendor, server->name).value_or(kUnknown);
    row.instance = server->vendor + " " + server->name;
    row.price_per_hour = *price;
    rows.push_back(std::move(row));
  }
}

// CPU models with this part in their names that nobody measured language models on, each once.
Status add_wanted(const ai::TokenBundle& tokens, const std::string& part, const std::vector<Platform>& platforms,
                  const CpuChoice& choice, std::vector<place::PlaceCpu>& rows) {
  const std::string wanted = lower_case(trim(part));
  for (const Platform& platform : platforms) {
    if (platform.kind != "cpu" || lower_case(platform.name).find(wanted) == std::string::npos) continue;
    const bool is_there = std::ranges::any_of(rows, [&](const auto& row) { return row.facts.name == platform.name; });
    if (is_there || ai::knows_cpu(tokens.cpus, platform.name)) continue;
    const auto facts = facts_of_platform(platform, choice.vcpus);
    if (!facts) return facts.error();
    auto imputed = tokens.cpus.impute(*facts);
    if (!imputed) return imputed.error();
    place::PlaceCpu cpu;
    cpu.facts = *std::move(imputed);
    cpu.clock_hz = clock_of(platform);
    cpu.note = "nobody measured its memory: the bandwidth is that of CPUs like it";
    if (choice.powers != nullptr) {
      if (const CpuPower* power = choice.powers->find(platform.name)) cpu.power = *power;
    }
    rows.push_back(std::move(cpu));
  }
  return {};
}

}  // namespace

Result<PlacedInput> read_workload(const std::string& given, bool quiet) {
  if (given.empty()) {
    return usage_error(
        "bad-usage", "no workload is named", "WORKLOAD",
        "a profile (p.json, or last), a language model (perfcast llm analyze --list, a config.json, a GGUF "
        "file), or a product M,N,K[,PRECISION]");
  }
  if (place::looks_like_product(given)) {
    auto product = place::parse_product(given);
    if (!product) return product.error();
    return PlacedInput(*product);
  }
  const std::string path = profile_path(given);
  if (given == "last" && !holds_profile(path)) {
    return usage_error("file-not-found", "no profile was kept yet", "WORKLOAD last",
                       "perfcast predict -- CMD ARGS first");
  }
  if (holds_profile(path)) {
    auto profile = read_given_profile(given, quiet);
    if (!profile) return profile.error();
    return PlacedInput(*std::move(profile));
  }
  if (Status fine = check_workload_file(given); !fine) return fine.error();
  auto model = ai::load_model(given);
  if (model) return PlacedInput(*std::move(model));
  Error error = as_named_file(model.error(), true);
  if (error.code == "unknown-model") {
    error.message = "'" + printable(given) + "' is no language model that is known, no file and no product";
    error.where = "WORKLOAD";
    error.expected += "; or a profile, or M,N,K[,PRECISION]";
  }
  return error;
}

Result<std::vector<place::PlaceDevice>> place_devices(const std::string& device_file) {
  const auto provider = open_devices(device_file);
  if (!provider) return provider.error();
  const std::vector<std::string> names = (*provider)->names();
  std::vector<place::PlaceDevice> devices;
  devices.reserve(names.size());
  for (const std::string& name : names) {
    const auto model = (*provider)->find(name);
    if (!model) return model.error();
    devices.push_back(*model);
  }
  return devices;
}

std::vector<std::string> unclaimed_names(std::vector<std::string> parts, const std::vector<place::PlaceDevice>& devices,
                                         const ai::CpuCatalogue& cpus) {
  std::erase_if(parts, [&](const std::string& part) {
    const std::string wanted = lower_case(trim(part));
    const auto holds = [&](const std::string& name) { return lower_case(name).find(wanted) != std::string::npos; };
    const auto of_device = [&](const place::PlaceDevice& device) {
      return holds(device->device().name) || std::ranges::any_of(device->device().aliases, holds);
    };
    const auto of_cpu = [&](const ai::CpuRecord& record) { return holds(record.facts.name); };
    return std::ranges::any_of(devices, of_device) || std::ranges::any_of(cpus.records(), of_cpu);
  });
  return parts;
}

Result<std::vector<place::PlaceCpu>> place_cpus(const ai::TokenBundle& tokens, const CpuChoice& choice,
                                                const CommonOptions& options) {
  std::map<std::string, double> clocks;                                // by the platform's name
  std::map<std::string, std::vector<const program::Server*>> servers;  // likewise
  std::optional<program::Bundle> bundle;
  if (choice.with_clocks || choice.prices != nullptr || !choice.wanted.empty()) {
    auto read = program::read_bundle(options.bundle);
    if (!read) return as_named_file(read.error(), options.bundle_given);
    bundle = *std::move(read);
    std::map<std::string, std::string> names;  // by id
    for (const Platform& platform : bundle->platforms) {
      clocks.emplace(platform.name, clock_of(platform));
      names.emplace(platform.id, platform.name);
    }
    for (const program::Server& server : bundle->servers) servers[names[server.platform]].push_back(&server);
  }
  std::vector<place::PlaceCpu> rows;
  rows.reserve(tokens.cpus.records().size());
  for (const ai::CpuRecord& record : tokens.cpus.records()) {
    const auto facts =
        tokens.cpus.find(record.facts.name, std::isnan(choice.vcpus) ? usual_size(record) : choice.vcpus);
    if (!facts) return facts.error();
    place::PlaceCpu cpu;
    cpu.facts = *facts;
    const auto clock = clocks.find(record.facts.name);
    if (clock != clocks.end()) cpu.clock_hz = clock->second;
    const CpuPower* power = choice.powers != nullptr ? choice.powers->find(record.facts.name) : nullptr;
    if (power != nullptr) cpu.power = *power;
    const size_t before = rows.size();
    if (choice.prices != nullptr) add_instances(tokens, cpu, servers[record.facts.name], *choice.prices, rows);
    if (rows.size() == before) rows.push_back(std::move(cpu));
  }
  for (const std::string& part : choice.wanted) {
    if (Status added = add_wanted(tokens, part, bundle->platforms, choice, rows); !added) return added.error();
  }
  return rows;
}

}  // namespace perfcast::cli
