// The catalogue as JSON: one object per CPU model, one array of numbers per size.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "ai/cpu_tokens/cpu_catalogue.h"
#include "base/json.h"
#include "base/text.h"
#include "base/unknown.h"

namespace perfcast::ai {
namespace {

constexpr size_t kShapeNumbers = 6;  // vCPUs, cores, sockets, NUMA nodes, L3 instances, servers; then GB/s

Json rounded(double value) {  // four significant digits; null where not known
  if (std::isnan(value)) return nullptr;
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return std::strtod(text, nullptr);
}

void put(Json& json, const char* key, double value) {
  if (!std::isnan(value)) json[key] = rounded(value);
}

Error bad(const std::string& path, const std::string& found) {
  return Error{"bad-bundle", "a CPU model of the bundle can't be used: " + found, path,
               "a bundle written by perfcast_cpu_tokens_reproduction --write-bundle"};
}

// Null is "not known"; anything else but a number above 0 is wrong.
bool read_amount(const Json& json, double& value) {
  value = kUnknown;
  if (json.is_null()) return true;
  if (!json.is_number()) return false;
  value = json.get<double>();
  return value > 0 && value < 1e18;
}

Result<CpuShape> read_shape(const Json& json, const std::string& path) {
  if (!json.is_array() || json.size() != kShapeNumbers + kBandwidthBytes.size()) return bad(path, "a size's numbers");
  CpuShape shape;
  double servers = 0;
  double* const numbers[kShapeNumbers] = {&shape.vcpus,      &shape.cores,    &shape.sockets,
                                          &shape.numa_nodes, &shape.l3_count, &servers};
  for (size_t i = 0; i < kShapeNumbers; ++i) {
    if (!read_amount(json[i], *numbers[i])) return bad(path, "a number of a size");
  }
  if (!(servers >= 1 && servers <= 1e9)) return bad(path, "the number of servers");
  shape.servers = static_cast<int64_t>(servers);
  for (size_t i = 0; i < kBandwidthBytes.size(); ++i) {
    double& bandwidth = shape.read_bytes_per_s[i];
    if (!read_amount(json[kShapeNumbers + i], bandwidth)) return bad(path, "a bandwidth");
    bandwidth *= 1e9;
  }
  return shape;
}

Result<CpuRecord> read_record(const Json& json, const std::string& path) {
  JsonReader in(json, path);
  CpuRecord record;
  CpuFacts& facts = record.facts;
  facts.name = in.string("name");
  facts.arch = in.string("arch");
  facts.vendor = in.string("vendor");
  if (json.is_object()) {
    const auto integer = [&](const char* key) -> std::optional<int64_t> {
      return json.contains(key) ? std::optional(in.integer(key)) : std::nullopt;
    };
    facts.cpu_family = integer("family");
    facts.model = integer("model");
    facts.stepping = integer("stepping");
  }
  for (const std::string& flag : in.strings("flags")) facts.flags.insert(flag);
  facts.l2_bytes = in.optional_number("l2_bytes");
  facts.l3_bytes = in.optional_number("l3_bytes");
  const Json* shapes = in.require_array("shapes");
  if (const Status status = in.finish(); !status) return bad(path, status.error().message);
  record.key = cpu_model_key(facts);
  if (shapes->empty()) return bad(path, "no size");
  for (const Json& entry : *shapes) {
    auto shape = read_shape(entry, path);
    if (!shape) return shape.error();
    CpuFacts whole = facts;
    whole.vcpus = shape->vcpus;
    whole.cores = shape->cores;
    whole.sockets = shape->sockets;
    whole.numa_nodes = shape->numa_nodes;
    whole.read_bytes_per_s = shape->read_bytes_per_s;
    if (const Status status = check_cpu_facts(whole); !status) return bad(path, status.error().message);
    if (!has_bandwidth(whole)) return bad(path, "no bandwidth");
    record.servers += shape->servers;
    record.shapes.push_back(*shape);
  }
  return record;
}

}  // namespace

Json CpuCatalogue::to_json() const {
  Json list = Json::array();
  for (const CpuRecord& record : records_) {
    Json json;
    json["name"] = record.facts.name;
    json["arch"] = record.facts.arch;
    json["vendor"] = record.facts.vendor;
    if (record.facts.cpu_family) json["family"] = *record.facts.cpu_family;
    if (record.facts.model) json["model"] = *record.facts.model;
    if (record.facts.stepping) json["stepping"] = *record.facts.stepping;
    json["flags"] = record.facts.flags;
    put(json, "l2_bytes", record.facts.l2_bytes.value_or(kUnknown));
    put(json, "l3_bytes", record.facts.l3_bytes.value_or(kUnknown));
    json["shapes"] = Json::array();
    for (const CpuShape& shape : record.shapes) {
      Json numbers = {rounded(shape.vcpus),      rounded(shape.cores),    rounded(shape.sockets),
                      rounded(shape.numa_nodes), rounded(shape.l3_count), shape.servers};
      for (const double bandwidth : shape.read_bytes_per_s) numbers.push_back(rounded(bandwidth / 1e9));
      json["shapes"].push_back(std::move(numbers));
    }
    list.push_back(std::move(json));
  }
  return list;
}

Result<CpuCatalogue> CpuCatalogue::from_json(const Json& json, const std::string& path) {
  if (!json.is_array()) return bad(path, "no array");
  CpuCatalogue catalogue;
  for (size_t i = 0; i < json.size(); ++i) {
    auto record = read_record(json[i], path + "[" + std::to_string(i) + "]");
    if (!record) return record.error();
    catalogue.records_.push_back(std::move(*record));
  }
  std::sort(catalogue.records_.begin(), catalogue.records_.end(),
            [](const CpuRecord& a, const CpuRecord& b) { return a.key < b.key; });
  return catalogue;
}

}  // namespace perfcast::ai
