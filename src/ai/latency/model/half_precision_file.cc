#include "ai/latency/model/half_precision_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr const char* kHalfPrecisionSchema = "perfcast.half-precision/1";
constexpr size_t kMostHalfDevices = 1000;

struct Range {
  double least, most;
};

struct ProductField {
  const char* key;
  double HalfPrecisionParameters::*member;
  Range range;
};
constexpr std::array kProductFields = {
    ProductField{"start_s", &HalfPrecisionParameters::start_s, {0, 1}},
    ProductField{"compute_efficiency", &HalfPrecisionParameters::compute_efficiency, {1e-3, 1}},
    ProductField{"prologue_bytes", &HalfPrecisionParameters::prologue_bytes, {0, 1e6}},
    ProductField{"memory_efficiency", &HalfPrecisionParameters::memory_efficiency, {1e-3, 1}},
    ProductField{"whole_wave_share", &HalfPrecisionParameters::whole_wave_share, {0, 1}},
    ProductField{"cache_bytes_per_cycle", &HalfPrecisionParameters::cache_bytes_per_cycle, {1e-3, 1e6}},
    ProductField{"split_traffic", &HalfPrecisionParameters::split_traffic, {0, 1e3}},
    ProductField{"streaming_share", &HalfPrecisionParameters::streaming_share, {1e-3, 1e3}},
    ProductField{"power_drop", &HalfPrecisionParameters::power_drop, {0, 0.99}},
};
constexpr std::array kLinkFields = {
    ProductField{"start_s", &HalfPrecisionParameters::link_start_s, {0, 1}},
    ProductField{"step_s", &HalfPrecisionParameters::link_step_s, {0, 1}},
    ProductField{"efficiency", &HalfPrecisionParameters::link_efficiency, {1e-3, 1}},
};
constexpr std::array<const char*, kVectorKinds> kVectorKindNames = {"unary", "binary", "softmax", "norm", "copy"};
constexpr Range kStart = {0, 1}, kBytesPerCycle = {1e-3, 1e6}, kLogError = {0, 10};

double checked(JsonReader& in, const std::string& key, double value, Range range) {
  if (!(value >= range.least && value <= range.most)) {
    in.complain(key, fmt::format("{:g}", value), fmt::format("a number in [{:g}, {:g}]", range.least, range.most));
  }
  return value;
}

double number(JsonReader& in, const std::string& key, Range range) { return checked(in, key, in.number(key), range); }

Result<DeviceFacts> facts_from(const Json& json, const std::string& path) {
  JsonReader in(json, path);
  DeviceFacts facts;
  facts.name = in.string("name");
  facts.memory_bytes_per_s = number(in, "memory_bytes_per_s", {1e8, 1e15});
  facts.units = number(in, "units", {1, 1e6});
  facts.clock_hz = number(in, "clock_hz", {1e7, 2e10});
  facts.peak_flops[static_cast<size_t>(MathMode::kHalf)] = number(in, "half_flops", {1e8, 1e18});
  if (const auto link = in.optional_number("link_bytes_per_s")) {
    facts.link_bytes_per_s = checked(in, "link_bytes_per_s", *link, {1e6, 1e14});
  }
  in.refuse_others();
  if (Status finished = in.finish(); !finished) return finished.error();
  return facts;
}

template <typename Fields>
Status read_fields(const Json& json, const std::string& path, const Fields& fields,
                   HalfPrecisionParameters& parameters) {
  JsonReader in(json, path);
  for (const ProductField& field : fields) parameters.*field.member = number(in, field.key, field.range);
  in.refuse_others();
  return in.finish();
}

Status read_vectors(const Json& json, const std::string& path, HalfPrecisionParameters& parameters) {
  JsonReader in(json, path);
  std::array<const Json*, kVectorKinds> kinds{};
  for (size_t i = 0; i < kVectorKinds; ++i) kinds[i] = in.require_object(kVectorKindNames[i]);
  in.refuse_others();
  if (Status finished = in.finish(); !finished) return finished;
  for (size_t i = 0; i < kVectorKinds; ++i) {
    JsonReader kind_in(*kinds[i], path + "." + kVectorKindNames[i]);
    parameters.vector[i].start_s = number(kind_in, "start_s", kStart);
    parameters.vector[i].bytes_per_cycle = number(kind_in, "bytes_per_cycle", kBytesPerCycle);
    kind_in.refuse_others();
    if (Status finished = kind_in.finish(); !finished) return finished;
  }
  return {};
}

Result<HalfPrecisionDevice> device_from(const Json& json, const std::string& path) {
  JsonReader in(json, path);
  const Json* facts = in.require_object("facts");
  const Json* product = in.require_object("product");
  const Json* vector = in.require_object("vector");
  const Json* link = in.object("link");
  HalfPrecisionDevice device;
  device.parameters.product_log_error = number(in, "product_log_error", kLogError);
  device.parameters.vector_log_error = number(in, "vector_log_error", kLogError);
  in.refuse_others();
  if (Status finished = in.finish(); !finished) return finished.error();
  auto read = facts_from(*facts, path + ".facts");
  if (!read) return read.error();
  device.facts = *std::move(read);
  if (Status done = read_fields(*product, path + ".product", kProductFields, device.parameters); !done) {
    return done.error();
  }
  if (Status done = read_vectors(*vector, path + ".vector", device.parameters); !done) return done.error();
  if (link != nullptr) {
    if (Status done = read_fields(*link, path + ".link", kLinkFields, device.parameters); !done) return done.error();
  }
  return device;
}

template <typename Fields>
Json fields_json(const Fields& fields, const HalfPrecisionParameters& parameters) {
  Json json = Json::object();
  for (const ProductField& field : fields) json[field.key] = parameters.*field.member;
  return json;
}

Json to_json(const HalfPrecisionDevice& device) {
  const HalfPrecisionParameters& parameters = device.parameters;
  Json facts = {{"name", device.facts.name},
                {"memory_bytes_per_s", device.facts.memory_bytes_per_s},
                {"units", device.facts.units},
                {"clock_hz", device.facts.clock_hz},
                {"half_flops", device.facts.peak(MathMode::kHalf)}};
  if (!std::isnan(device.facts.link_bytes_per_s)) facts["link_bytes_per_s"] = device.facts.link_bytes_per_s;
  Json vector = Json::object();
  for (size_t i = 0; i < kVectorKinds; ++i) {
    vector[kVectorKindNames[i]] = {{"start_s", parameters.vector[i].start_s},
                                   {"bytes_per_cycle", parameters.vector[i].bytes_per_cycle}};
  }
  Json json = {
      {"facts", std::move(facts)}, {"product", fields_json(kProductFields, parameters)}, {"vector", std::move(vector)}};
  if (!std::isnan(parameters.link_start_s)) json["link"] = fields_json(kLinkFields, parameters);
  json["product_log_error"] = parameters.product_log_error;
  json["vector_log_error"] = parameters.vector_log_error;
  return json;
}

}  // namespace

Result<HalfPrecisionBundle> parse_half_precision(std::string_view text, const std::string& source) {
  const auto json = parse_json(text, source);
  if (!json) return json.error();
  JsonReader in(*json, source);
  HalfPrecisionBundle bundle;
  const std::string schema = in.string("schema");
  if (!schema.empty() && schema != kHalfPrecisionSchema)
    in.complain("schema", "'" + printable(schema.substr(0, 60)) + "'", kHalfPrecisionSchema);
  const Json* card = in.require_object("card");
  bundle.transfer_log_error = number(in, "transfer_log_error", kLogError);
  const Json* devices = in.require_array("devices");
  in.refuse_others();
  if (devices != nullptr && (devices->empty() || devices->size() > kMostHalfDevices)) {
    in.complain("devices", fmt::format("{} devices", devices->size()), fmt::format("1 to {}", kMostHalfDevices));
  }
  if (Status finished = in.finish(); !finished) return finished.error();
  JsonReader card_in(*card, source + ".card");
  bundle.source = card_in.string("source");
  bundle.licence = card_in.string("licence");
  bundle.trained = card_in.string("trained");
  card_in.refuse_others();
  if (Status finished = card_in.finish(); !finished) return finished.error();
  for (size_t i = 0; i < devices->size(); ++i) {
    auto device = device_from((*devices)[i], fmt::format("{}.devices[{}]", source, i));
    if (!device) return device.error();
    bundle.devices.push_back(*std::move(device));
  }
  return bundle;
}

Result<HalfPrecisionBundle> read_half_precision(const std::string& path) {
  const auto text = read_file(path, size_t{1} << 24);
  if (!text) return text.error();
  return parse_half_precision(*text, path);
}

Json to_json(const HalfPrecisionBundle& bundle) {
  Json devices = Json::array();
  for (const HalfPrecisionDevice& device : bundle.devices) devices.push_back(to_json(device));
  return {{"schema", kHalfPrecisionSchema},
          {"card", {{"source", bundle.source}, {"licence", bundle.licence}, {"trained", bundle.trained}}},
          {"transfer_log_error", bundle.transfer_log_error},
          {"devices", std::move(devices)}};
}

Status write_half_precision(const HalfPrecisionBundle& bundle, const std::string& path) {
  return write_file_atomically(path, to_text(to_json(bundle)));
}

}  // namespace perfcast::ai
