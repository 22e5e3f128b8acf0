#include "ai/audit/claims_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "ai/audit/claim_words.h"
#include "ai/latency/model/device_catalogue.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr const char* kClaimsSchema = "perfcast.claims/1";
constexpr size_t kLargestClaimsBytes = size_t{1} << 24, kMostClaims = 2000, kMostNumbers = 8, kLongestText = 1000;
constexpr double kLargestNumber = 1e30, kMostCount = 1e12;

template <typename E, size_t N>
E one_of(JsonReader& in, const char* key, const std::array<std::pair<const char*, E>, N>& known) {
  const std::string text = in.string_or(key, "");
  std::vector<std::string> names;
  names.reserve(N);
  for (const auto& [name, value] : known) {
    if (text == name) return value;
    names.emplace_back(name);
  }
  if (!text.empty()) in.complain(key, "'" + printable(text.substr(0, 60)) + "'", "one of " + join(names, ", "));
  return E{};
}

constexpr std::array<std::pair<const char*, ClaimRung>, 5> kRungs = {{{"naive", ClaimRung::kNaive},
                                                                      {"compiler", ClaimRung::kCompiler},
                                                                      {"hand", ClaimRung::kHand},
                                                                      {"framework", ClaimRung::kFramework},
                                                                      {"library", ClaimRung::kLibrary}}};
constexpr std::array<std::pair<const char*, LatencyDefinition>, 5> kDefinitions = {
    {{"end-to-end", LatencyDefinition::kEndToEnd},
     {"kernel", LatencyDefinition::kKernel},
     {"per-token", LatencyDefinition::kPerToken},
     {"first-token", LatencyDefinition::kFirstToken},
     {"inverse-throughput", LatencyDefinition::kInverseThroughput}}};
constexpr std::array<std::pair<const char*, LatencyStatistic>, 6> kStatistics = {
    {{"mean", LatencyStatistic::kMean},
     {"p50", LatencyStatistic::kPercentile},
     {"p90", LatencyStatistic::kPercentile},
     {"p95", LatencyStatistic::kPercentile},
     {"p99", LatencyStatistic::kPercentile},
     {"p999", LatencyStatistic::kPercentile}}};
constexpr std::array<std::pair<const char*, ClaimScope>, 2> kScopes = {
    {{"system", ClaimScope::kSystem}, {"per-user", ClaimScope::kPerUser}}};
constexpr std::array<std::pair<const char*, ClaimPhase>, 3> kPhases = {
    {{"decode", ClaimPhase::kDecode}, {"prefill", ClaimPhase::kPrefill}, {"training", ClaimPhase::kTraining}}};
enum class Flag { kUnstated, kNo, kYes };
constexpr std::array<std::pair<const char*, Flag>, 2> kSparsities = {{{"dense", Flag::kNo}, {"2:4", Flag::kYes}}};
constexpr std::array<std::pair<const char*, Flag>, 2> kPaddings = {{{"removed", Flag::kNo}, {"computed", Flag::kYes}}};

std::optional<bool> flag(Flag value) {
  return value == Flag::kUnstated ? std::nullopt : std::optional(value == Flag::kYes);
}

std::string short_text(JsonReader& in, const char* key) {
  std::string text = in.string_or(key, "");
  if (text.size() <= kLongestText) return text;
  in.complain(key, fmt::format("{} characters", text.size()), fmt::format("{} at most", kLongestText));
  return "";
}

std::optional<int64_t> count(JsonReader& in, const char* key) {
  const size_t before = in.complaints().size();
  const auto given = in.optional_number(key);
  if (!given || in.complaints().size() > before) return std::nullopt;
  if (*given >= 1 && *given <= kMostCount && *given == std::floor(*given)) return static_cast<int64_t>(*given);
  in.complain(key, fmt::format("{:g}", *given), fmt::format("a whole number in [1, {:g}]", kMostCount));
  return std::nullopt;
}

std::optional<ClaimedNumber> number_from(JsonReader& in, std::string_view metric_name) {
  const auto metric = claim_metric_named(metric_name);
  const double value = in.number("value");
  const std::string unit = in.string_or("unit", metric == ClaimMetric::kSpeedup ? "x" : "");
  if (!metric) {
    in.complain("metric", "'" + printable(metric_name.substr(0, 60)) + "'", "one of " + claim_metric_names());
    return std::nullopt;
  }
  const auto scale = claim_unit_scale(*metric, unit);
  if (!scale) {
    in.complain("unit", unit.empty() ? "nothing" : "'" + printable(unit.substr(0, 60)) + "'",
                fmt::format("a unit of {}: one of {}", name_of(*metric), claim_unit_names(*metric)));
    return std::nullopt;
  }
  if (!(value > 0) || value > kLargestNumber) {
    in.complain("value", fmt::format("{:g}", value), fmt::format("a number above 0, {:g} at most", kLargestNumber));
    return std::nullopt;
  }
  ClaimedNumber number;
  number.metric = *metric;
  number.value = value * *scale;
  number.half_unit = half_unit_of(value) * *scale;
  number.text = fmt::format("{}{}{}", value, *metric == ClaimMetric::kSpeedup ? "" : " ", unit);
  return number;
}

// Mistakes of a part are the claim's.
void take_complaints(JsonReader& in, const JsonReader& part) {
  for (const std::string& complaint : part.complaints()) {
    const size_t dot = complaint.find(": found ");
    const size_t expected = complaint.find(", expected ");
    if (dot == std::string::npos || expected == std::string::npos || complaint.size() <= in.path().size()) continue;
    in.complain(complaint.substr(in.path().size() + 1, dot - in.path().size() - 1),
                complaint.substr(dot + 8, expected - dot - 8), complaint.substr(expected + 11));
  }
}

ClaimedBaseline baseline_from(const Json& json, JsonReader& in, const std::string& path) {
  JsonReader part(json, in.path() + "." + path);
  ClaimedBaseline baseline;
  if (json.is_object() && json.contains("metric")) {
    baseline.number = number_from(part, part.string_or("metric", "latency"));
  } else if (json.is_object() && json.contains("value")) {
    part.complain("metric", "nothing", "what the value is of: one of " + claim_metric_names());
  }
  baseline.device = short_text(part, "device");
  baseline.precision = short_text(part, "precision");
  baseline.rung = one_of(part, "rung", kRungs);
  baseline.threads = count(part, "threads");
  part.refuse_others({"metric", "value", "unit"});
  take_complaints(in, part);
  return baseline;
}

void read_speedups(JsonReader& in, Claim& claim) {
  const Json* list = in.array("speedups");
  if (list == nullptr) return;
  if (list->size() > kMostNumbers) {
    in.complain("speedups", fmt::format("{} of them", list->size()), fmt::format("{} at most", kMostNumbers));
    return;
  }
  for (size_t i = 0; i < list->size(); ++i) {
    const std::string path = fmt::format("speedups[{}]", i);
    JsonReader part((*list)[i], in.path() + "." + path);
    ClaimedSpeedup speedup;
    const auto ratio = number_from(part, name_of(ClaimMetric::kSpeedup));
    speedup.over.claim = short_text(part, "over");
    if (const Json* baseline = part.object("baseline")) {
      speedup.over = baseline_from(*baseline, part, "baseline");
    } else if (speedup.over.claim.empty()) {
      part.complain("over", "nothing", "the id of the claim that it is over, or a baseline");
    }
    part.refuse_others();
    take_complaints(in, part);
    if (!ratio) continue;
    speedup.ratio = *ratio;
    claim.speedups.push_back(std::move(speedup));
  }
}

void read_further_numbers(JsonReader& in, Claim& claim) {
  const Json* list = in.array("and");
  if (list == nullptr) return;
  if (list->size() > kMostNumbers) {
    in.complain("and", fmt::format("{} numbers", list->size()), fmt::format("{} at most", kMostNumbers));
    return;
  }
  for (size_t i = 0; i < list->size(); ++i) {
    JsonReader part((*list)[i], fmt::format("{}.and[{}]", in.path(), i));
    const auto number = number_from(part, part.string("metric"));
    part.refuse_others();
    take_complaints(in, part);
    if (number && number->metric == ClaimMetric::kSpeedup) {
      in.complain(fmt::format("and[{}].metric", i), "speedup", "an entry of speedups, which says over what");
    } else if (number && claim.find(number->metric) != nullptr) {
      in.complain(fmt::format("and[{}].metric", i), std::string(name_of(number->metric)) + " a second time",
                  "one number of each metric");
    } else if (number) {
      claim.numbers.push_back(*number);
    }
  }
}

void read_accuracy(JsonReader& in, Claim& claim) {
  const Json* json = in.object("accuracy");
  if (json == nullptr) return;
  JsonReader part(*json, in.path() + ".accuracy");
  const std::string unit = part.string("unit");
  const double scale = unit == "%" ? 0.01 : 1;
  if (!unit.empty() && unit != "%" && unit != "ratio") {
    part.complain("unit", "'" + printable(unit.substr(0, 60)) + "'", "% or ratio");
  }
  const auto ratio = [&](const char* key) -> std::optional<double> {
    const auto value = part.optional_number(key);
    if (value && (*value < 0 || *value > kLargestNumber)) part.complain(key, fmt::format("{:g}", *value), "0 or more");
    return value ? std::optional(*value * scale) : std::nullopt;
  };
  ClaimedAccuracy accuracy;
  const auto value = ratio("value");
  if (!value) part.complain("value", "nothing", "a number");
  accuracy.ratio = value.value_or(0);
  accuracy.metric = short_text(part, "metric");
  accuracy.reference_ratio = ratio("reference");
  accuracy.least_share = part.optional_number("least_share");
  if (accuracy.least_share && !(*accuracy.least_share > 0 && *accuracy.least_share <= 1)) {
    part.complain("least_share", fmt::format("{:g}", *accuracy.least_share), "a number in (0, 1]");
  }
  part.refuse_others();
  take_complaints(in, part);
  claim.accuracy = accuracy;
}

void read_shape(JsonReader& in, Claim& claim) {
  const Json* shape = in.array("shape");
  if (shape == nullptr) return;
  const bool sound = shape->size() == 3 && std::all_of(shape->begin(), shape->end(), [](const Json& side) {
                       return side.is_number_integer() && side.get<double>() >= 1 && side.get<double>() <= 1e9;
                     });
  if (!sound) {
    in.complain("shape", "something else", "three whole numbers m, n, k in [1, 1e9]");
    return;
  }
  for (const Json& side : *shape) claim.shape.push_back(side.get<int64_t>());
}

Claim claim_from(JsonReader& in) {
  Claim claim;
  claim.id = in.string("id");
  if (claim.id.size() > 80 || printable(claim.id) != claim.id) {
    in.complain("id", "'" + printable(claim.id.substr(0, 60)) + "'", "a name of at most 80 characters");
  }
  for (const auto& [key, member] :
       {std::pair("says", &Claim::says), std::pair("source", &Claim::source), std::pair("system", &Claim::system),
        std::pair("device", &Claim::device), std::pair("model", &Claim::model),
        std::pair("precision", &Claim::precision), std::pair("weights", &Claim::weights),
        std::pair("dataset", &Claim::dataset), std::pair("split", &Claim::split),
        std::pair("libraries", &Claim::libraries), std::pair("language", &Claim::language)}) {
    claim.*member = short_text(in, key);
  }
  for (const auto& [key, member] :
       {std::pair("devices", &Claim::devices), std::pair("batch", &Claim::batch),
        std::pair("concurrency", &Claim::concurrency), std::pair("sequence", &Claim::sequence),
        std::pair("input_tokens", &Claim::input_tokens), std::pair("output_tokens", &Claim::output_tokens),
        std::pair("threads", &Claim::threads)}) {
    claim.*member = count(in, key);
  }
  for (const auto& [key, member] :
       {std::pair("speculative", &Claim::speculative), std::pair("offload", &Claim::offload),
        std::pair("prefix_cached", &Claim::prefix_cached), std::pair("in_cache", &Claim::in_cache)}) {
    claim.*member = in.optional_boolean(key);
  }
  claim.tokens_per_step = in.optional_number("tokens_per_step");
  if (claim.tokens_per_step && !(*claim.tokens_per_step >= 1 && *claim.tokens_per_step <= 1000)) {
    in.complain("tokens_per_step", fmt::format("{:g}", *claim.tokens_per_step), "a number in [1, 1000]");
  }
  claim.sparse = flag(one_of(in, "sparsity", kSparsities));
  claim.padded = flag(one_of(in, "padding", kPaddings));
  claim.latency_definition = one_of(in, "latency_definition", kDefinitions);
  claim.statistic = one_of(in, "statistic", kStatistics);
  claim.scope = one_of(in, "scope", kScopes);
  claim.phase = one_of(in, "phase", kPhases);
  claim.rung = one_of(in, "rung", kRungs);
  read_shape(in, claim);
  const auto main = number_from(in, in.string("metric"));
  if (main && main->metric != ClaimMetric::kSpeedup) claim.numbers.push_back(*main);
  if (const Json* baseline = in.object("baseline")) {
    if (main && main->metric == ClaimMetric::kSpeedup) {
      claim.speedups.push_back({*main, baseline_from(*baseline, in, "baseline")});
    } else {
      in.complain("baseline", "one of a claim that is no speed-up", "an entry of speedups");
    }
  } else if (main && main->metric == ClaimMetric::kSpeedup) {
    claim.speedups.push_back({*main, {}});
  }
  read_further_numbers(in, claim);
  read_speedups(in, claim);
  read_accuracy(in, claim);
  claim.assumed = in.strings("assumed");
  const std::vector<std::string>& keys = in.asked();
  if (claim.assumed.size() > keys.size()) {
    in.complain("assumed", std::to_string(claim.assumed.size()) + " fields", "at most each field of the claim once");
    claim.assumed.clear();
  }
  for (const std::string& field : claim.assumed) {
    if (std::find(keys.begin(), keys.end(), field) == keys.end()) {
      in.complain("assumed", "'" + printable(field.substr(0, 60)) + "'",
                  "fields of the claim, such as " + nearest_names(field, keys, 3));
    }
  }
  claim.phase_stated = !in.string_or("phase", "").empty() &&
                       std::find(claim.assumed.begin(), claim.assumed.end(), "phase") == claim.assumed.end();
  return claim;
}

Status check_references(const ClaimsFile& file, const std::string& source) {
  std::set<std::string> ids;
  for (const Claim& claim : file.claims) {
    if (!ids.insert(claim.id).second) {
      return Error{"bad-claim", "two claims have the id '" + claim.id + "'", source, "an id of its own for each"};
    }
  }
  for (const Claim& claim : file.claims) {
    for (const ClaimedSpeedup& speedup : claim.speedups) {
      const std::string& over = speedup.over.claim;
      if (over.empty() || (ids.count(over) > 0 && over != claim.id)) continue;
      return Error{"bad-claim",
                   fmt::format("claim '{}' has a speed-up over '{}', which is no other claim", claim.id,
                               printable(over.substr(0, 60))),
                   source, "one of " + nearest_names(over, {ids.begin(), ids.end()})};
    }
  }
  return {};
}

}  // namespace

Result<ClaimsFile> parse_claims(std::string_view text, const std::string& source) {
  if (text.size() > kLargestClaimsBytes) {
    return Error{"file-too-large", fmt::format("{} bytes of claims", text.size()), source,
                 fmt::format("{} at most", kLargestClaimsBytes)};
  }
  const auto json = parse_json(text, source);
  if (!json) return json.error();
  JsonReader in(*json, source);
  const std::string schema = in.string("schema");
  if (!schema.empty() && schema != kClaimsSchema) {
    in.complain("schema", "'" + printable(schema.substr(0, 60)) + "'", kClaimsSchema);
  }
  ClaimsFile file;
  file.source = short_text(in, "source");
  const Json* devices = in.array("devices");
  const Json* claims = in.require_array("claims");
  in.refuse_others({"note"});
  if (claims != nullptr && (claims->empty() || claims->size() > kMostClaims)) {
    in.complain("claims", fmt::format("{} claims", claims->size()), fmt::format("1 to {}", kMostClaims));
  }
  if (Status finished = in.finish(); !finished) return finished.error();
  if (devices != nullptr && !devices->empty()) {
    const Json catalogue = {{"schema", "perfcast.devices/1"}, {"devices", *devices}};
    auto own = parse_device_catalogue(to_text(catalogue), source);
    if (!own) return own.error();
    file.devices = std::move(own->devices);
  }
  file.claims.reserve(claims->size());
  for (size_t i = 0; i < claims->size(); ++i) {
    const Json& entry = (*claims)[i];
    JsonReader claim_in(entry, fmt::format("{}.claims[{}]", source, i));
    if (!entry.is_object()) {
      if (Status finished = claim_in.finish(); !finished) return finished.error();
    }
    file.claims.push_back(claim_from(claim_in));
    claim_in.refuse_others();
    if (Status finished = claim_in.finish(); !finished) return finished.error();
  }
  if (Status sound = check_references(file, source); !sound) return sound.error();
  return file;
}

Result<ClaimsFile> read_claims(const std::string& path) {
  const auto text = read_file(path, kLargestClaimsBytes);
  if (!text) return text.error();
  return parse_claims(*text, path);
}

namespace {

Result<Claim> claim_in_words(const std::string& text, const std::string& id, const std::vector<DeviceFacts>& devices,
                             const KnownModels& models) {
  auto claim = claim_from_words(text, devices, models);
  if (!claim) return claim.error();
  (*claim)["id"] = id;
  JsonReader in(*claim, "claim");
  Claim read = claim_from(in);
  if (Status finished = in.finish(); !finished) {
    return usage_error("bad-claim", finished.error().message, "claim '" + printable(text.substr(0, 100)) + "'",
                       finished.error().expected);
  }
  return read;
}

}  // namespace

ClaimsInWords claims_in_words(const std::vector<std::string>& texts, const std::vector<DeviceFacts>& devices,
                              const KnownModels& models) {
  ClaimsInWords found;
  for (size_t i = 0; i < texts.size(); ++i) {
    const std::string id = texts.size() > 1 ? fmt::format("claim-{}", i + 1) : "claim";
    auto claim = claim_in_words(texts[i], id, devices, models);
    if (claim) {
      found.file.claims.push_back(std::move(*claim));
    } else {
      found.unreadable.push_back(claim.error());
    }
  }
  return found;
}

}  // namespace perfcast::ai
