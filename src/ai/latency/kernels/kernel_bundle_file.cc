#include "ai/latency/kernels/kernel_bundle_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr std::string_view kKernelSchema = "perfcast.kernels/";
constexpr const char* kKernelVersion = "1";
constexpr size_t kMostBundleBytes = size_t{64} << 20;
constexpr size_t kMostDonors = 1000, kMostGroups = 10'000, kMostValues = 10'000, kMostCells = 4'000'000;
constexpr double kMostResidual = 10000;  // thousandths of a log
constexpr std::array<const char*, kKernelKinds> kKinds = {"product", "prefill", "decode", "experts"};
constexpr std::array<const char*, kKernelFormats> kFormats = {"half", "fp8", "fp8_block", "fp4"};

// The place of a name in a list; complains and gives 0 where it isn't there.
template <typename Names>
size_t place_in(JsonReader& in, const char* key, const Names& names) {
  const std::string name = in.string(key);
  const auto found = std::find_if(names.begin(), names.end(), [&](const char* each) { return name == each; });
  if (found != names.end()) return static_cast<size_t>(found - names.begin());
  in.complain(key, "'" + printable(name.substr(0, 60)) + "'",
              "one of " + join(std::vector<std::string>(names.begin(), names.end()), ", "));
  return 0;
}

double amount(JsonReader& in, const std::string& key, double least, double most) {
  const double value = in.number(key);
  if (!(value >= least && value <= most)) {
    in.complain(key, fmt::format("{:g}", value), fmt::format("a number from {:g} to {:g}", least, most));
  }
  return value;
}

Status read_form(const Json& json, const std::string& path, KernelBundle& bundle) {
  JsonReader in(json, path);
  const auto kind = static_cast<KernelKind>(place_in(in, "kind", kKinds));
  const auto format = static_cast<KernelFormat>(place_in(in, "format", kFormats));
  const Json* constants = in.require_object("constants");
  KernelEntry entry;
  entry.known = true;
  entry.spread.log_sd = amount(in, "log_sd", 0, 10);
  entry.spread.same_generation = amount(in, "same_generation", 0, 1);
  entry.spread.same_class = amount(in, "same_class", 0, 1);
  entry.spread.other = amount(in, "other", 0, 1);
  entry.spread.shape_log_sd = amount(in, "shape_log_sd", 0, 10);
  entry.spread.interval_ratio = amount(in, "interval_ratio", 0, 100);
  in.refuse_others();
  if (Status status = in.finish(); !status) return status;
  JsonReader of(*constants, path + ".constants");
  const auto names = kernel_constant_names(kind);
  for (size_t i = 0; i < names.size(); ++i) entry.constants[i] = amount(of, names[i], 0, 1e9);
  of.refuse_others();
  if (Status status = of.finish(); !status) return status;
  bundle.entry(kind, format) = entry;
  return {};
}

// Numbers of an array, null as not-a-number; "bad-json-field" where it has another size or other elements.
Result<std::vector<double>> numbers_of(const Json& json, const std::string& path, size_t most) {
  std::vector<double> numbers;
  const auto bad = [&] {
    return Error{"bad-json-field", "an array of other than numbers, or with too many", path,
                 fmt::format("from 1 to {} numbers", most)};
  };
  if (!json.is_array() || json.empty() || json.size() > most) return bad();
  for (const Json& each : json) {
    if (!each.is_number() && !each.is_null()) return bad();
    numbers.push_back(each.is_null() ? kUnknown : each.get<double>());
  }
  return numbers;
}

bool are_sizes(const std::vector<double>& sizes) {
  return std::ranges::all_of(sizes, [](double size) { return size >= 0 && size <= 2147483648; });
}

Status read_group(const Json& json, const std::string& path, KernelResiduals& residuals) {
  JsonReader in(json, path);
  KernelShape rest;
  rest.kind = static_cast<KernelKind>(place_in(in, "kind", kKinds));
  rest.format = static_cast<KernelFormat>(place_in(in, "format", kFormats));
  const Json* rest_json = in.require_array("rest");
  const Json* axes_json = in.require_array("axes");
  const Json* values_json = in.require_array("permille");
  in.refuse_others();
  if (Status status = in.finish(); !status) return status;
  const KernelAxes axes = interpolated_axes(rest.kind);
  const auto bad = [&](const std::string& found, const std::string& expected) {
    return Error{"bad-json-field", found, path, expected};
  };
  const auto sizes = numbers_of(*rest_json, path + ".rest", kKernelSizes);
  if (!sizes) return sizes.error();
  if (sizes->size() != kKernelSizes || !are_sizes(*sizes)) return bad("rest is no shape", "eight sizes");
  std::copy(sizes->begin(), sizes->end(), rest.size.begin());
  if (axes_json->size() != axes.count) return bad("another number of axes", std::to_string(axes.count));
  std::vector<std::vector<double>> values;
  size_t cells = 1;
  for (const Json& each : *axes_json) {
    auto axis = numbers_of(each, path + ".axes", kMostValues);
    if (!axis) return axis.error();
    if (!are_sizes(*axis) || !std::ranges::all_of(*axis, [](double size) { return size >= 1; })) {
      return bad("an axis of other than sizes", "sizes from 1 to 2^31");
    }
    cells *= axis->size();
    if (cells > kMostCells) return bad("too many cells", fmt::format("at most {}", kMostCells));
    values.push_back(*std::move(axis));
  }
  const auto permille = numbers_of(*values_json, path + ".permille", kMostCells);
  if (!permille) return permille.error();
  if (permille->size() != cells) return bad("another number of residuals than of cells", std::to_string(cells));
  for (size_t cell = 0; cell < cells; ++cell) {
    const double residual = (*permille)[cell];
    if (std::isnan(residual)) continue;
    if (!(std::abs(residual) <= kMostResidual)) return bad("a residual that none is", "from -10000 to 10000");
    KernelShape shape = rest;
    size_t left = cell;
    for (size_t i = axes.count; i-- > 0;) {
      shape.size[axes.axis[i]] = values[i][left % values[i].size()];
      left /= values[i].size();
    }
    residuals.add(shape, residual / 1000);
  }
  return {};
}

Result<KernelDonor> read_donor(const Json& json, const std::string& path) {
  JsonReader in(json, path);
  DeviceFacts facts;
  facts.name = in.string("name");
  facts.generation = in.string("generation");
  facts.units = amount(in, "units", 1, 1e6);
  facts.clock_hz = amount(in, "clock_hz", 1e7, 2e10);
  facts.memory_bytes_per_s = amount(in, "memory_bytes_per_s", 1e8, 1e15);
  facts.l2_bytes = amount(in, "l2_bytes", 1, 1e12);
  facts.peak_flops[static_cast<size_t>(MathMode::kHalf)] = amount(in, "half_flops", 1e8, 1e18);
  if (const auto fp8 = in.optional_amount("fp8_flops")) facts.peak_flops[static_cast<size_t>(MathMode::kFp8)] = *fp8;
  KernelDonor donor;
  Status done;
  in.each("measured", kMostGroups, [&](const Json& group, const std::string& at) {
    if (done) done = read_group(group, at, donor.residuals);
  });
  in.refuse_others();
  if (Status status = in.finish(); !status) return status.error();
  if (!done) return done.error();
  const auto device = KernelDevice::of(facts);
  if (!device) return Error{"bad-json-field", "facts that no form can use", path, "facts above 0"};
  donor.name = facts.name;
  donor.facts_generation = facts.generation;
  donor.device = *device;
  donor.residuals.finish();
  return donor;
}

Json form_json(KernelKind kind, KernelFormat format, const KernelEntry& entry) {
  Json constants = Json::object();
  const auto names = kernel_constant_names(kind);
  const auto digits = [](double value) { return std::stod(fmt::format("{:.5g}", value)); };
  for (size_t i = 0; i < names.size(); ++i) constants[names[i]] = digits(entry.constants[i]);
  const KernelSpread& spread = entry.spread;
  return {{"kind", kKinds[static_cast<size_t>(kind)]},
          {"format", kFormats[static_cast<size_t>(format)]},
          {"constants", std::move(constants)},
          {"log_sd", digits(spread.log_sd)},
          {"same_generation", digits(spread.same_generation)},
          {"same_class", digits(spread.same_class)},
          {"other", digits(spread.other)},
          {"shape_log_sd", digits(spread.shape_log_sd)},
          {"interval_ratio", digits(spread.interval_ratio)}};
}

Json group_json(const KernelResiduals::Group& group) {
  const KernelAxes axes = interpolated_axes(group.rest.kind);
  std::vector<std::vector<float>> values(axes.count);
  for (size_t i = 0; i < axes.count; ++i) {
    std::set<float> seen;
    for (const auto& point : group.points) seen.insert(point.at[i]);
    values[i].assign(seen.begin(), seen.end());
  }
  size_t cells = 1;
  for (const auto& axis : values) cells *= axis.size();
  std::vector<Json> permille(cells);
  for (const auto& point : group.points) {
    size_t cell = 0;
    for (size_t i = 0; i < axes.count; ++i) {
      cell = cell * values[i].size() +
             static_cast<size_t>(std::ranges::lower_bound(values[i], point.at[i]) - values[i].begin());
    }
    permille[cell] = std::lround(1000 * point.log_ratio);
  }
  Json lists = Json::array();
  for (const auto& axis : values) {
    Json sizes = Json::array();
    for (const float log_size : axis) sizes.push_back(std::llround(std::exp(static_cast<double>(log_size))));
    lists.push_back(std::move(sizes));
  }
  return {{"kind", kKinds[static_cast<size_t>(group.rest.kind)]},
          {"format", kFormats[static_cast<size_t>(group.rest.format)]},
          {"rest", group.rest.size},
          {"axes", std::move(lists)},
          {"permille", permille}};
}

}  // namespace

std::string kernel_bundle_text(const KernelBundle& bundle) {
  std::string text =
      fmt::format("{{\"schema\": \"{}{}\",\n\"card\": {},\n\"forms\": [", kKernelSchema, kKernelVersion,
                  Json{{"source", bundle.source}, {"licence", bundle.licence}, {"trained", bundle.trained}}.dump());
  const char* between = "\n";
  for (size_t kind = 0; kind < kKernelKinds; ++kind) {
    for (size_t format = 0; format < kKernelFormats; ++format) {
      const KernelEntry& entry = bundle.entries[kind][format];
      if (!entry.known) continue;
      text += between + form_json(static_cast<KernelKind>(kind), static_cast<KernelFormat>(format), entry).dump();
      between = ",\n";
    }
  }
  text += "],\n\"devices\": [";
  between = "\n";
  for (const KernelDonor& donor : bundle.donors) {
    const KernelDevice& device = donor.device;
    Json facts = {{"name", donor.name},
                  {"generation", donor.facts_generation},
                  {"units", device.units},
                  {"clock_hz", std::round(1 / device.cycle_s)},
                  {"memory_bytes_per_s", std::round(1 / device.byte_s)},
                  {"l2_bytes", device.l2_bytes},
                  {"half_flops", std::round(1 / device.flop_s[0])}};
    put_known(facts, "fp8_flops", std::round(1 / device.flop_s[1]));
    std::string line = facts.dump();
    line.pop_back();
    text += between + line + ", \"measured\": [";
    const char* group_between = "\n";
    for (const auto& group : donor.residuals.groups()) {
      text += group_between + group_json(group).dump();
      group_between = ",\n";
    }
    text += "]}";
    between = ",\n";
  }
  return text + "]}\n";
}

Result<KernelBundle> parse_kernel_bundle(std::string_view text, const std::string& source) {
  const auto json = parse_json(text, source);
  if (!json) return json.error();
  JsonReader in(*json, source);
  const std::string schema = in.string("schema");
  if (schema.starts_with(kKernelSchema) && schema.substr(kKernelSchema.size()) != kKernelVersion) {
    return Error{"future-version", "the bundle is of another version: " + printable(schema.substr(0, 60)), source,
                 std::string(kKernelSchema) + kKernelVersion};
  }
  if (!schema.empty() && !schema.starts_with(kKernelSchema)) {
    in.complain("schema", "'" + printable(schema.substr(0, 60)) + "'", std::string(kKernelSchema) + kKernelVersion);
  }
  KernelBundle bundle;
  const Json* card = in.require_object("card");
  Status done;
  in.each("forms", kKernelKinds * kKernelFormats, [&](const Json& form, const std::string& path) {
    if (done) done = read_form(form, path, bundle);
  });
  std::set<std::string> names;
  in.each("devices", kMostDonors, [&](const Json& device, const std::string& path) {
    if (!done) return;
    auto donor = read_donor(device, path);
    if (!donor) {
      done = donor.error();
    } else if (!names.insert(donor->name).second) {
      done =
          Error{"bad-json-field", "two devices are named '" + printable(donor->name) + "'", path, "names that differ"};
    } else {
      bundle.donors.push_back(*std::move(donor));
    }
  });
  in.refuse_others();
  if (Status status = in.finish(); !status) return status.error();
  if (!done) return done.error();
  JsonReader of(*card, source + ".card");
  bundle.source = of.string("source");
  bundle.licence = of.string("licence");
  bundle.trained = of.string("trained");
  of.refuse_others();
  if (Status status = of.finish(); !status) return status.error();
  return bundle;
}

Result<KernelBundle> read_kernel_bundle(const std::string& path) {
  const auto text = read_file(path, kMostBundleBytes);
  if (!text) return text.error();
  return parse_kernel_bundle(*text, path);
}

}  // namespace perfcast::ai
