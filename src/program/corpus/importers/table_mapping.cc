#include "program/corpus/importers/table_mapping.h"

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/text.h"

namespace perfcast::program {
namespace {

constexpr const char* kMappingSchema = "perfcast.table/1";

struct MappingUnit {
  std::string_view name, suffix;
  double factor;
};
constexpr MappingUnit kTimeUnits[] = {{"s", "_s", 1}, {"ms", "_s", 1e-3}, {"us", "_s", 1e-6}, {"ns", "_s", 1e-9}};
constexpr MappingUnit kEnergyUnits[] = {
    {"J", "", 1}, {"mJ", "", 1e-3}, {"uJ", "", 1e-6}, {"kJ", "", 1e3}, {"Wh", "", 3600}};
constexpr MappingUnit kCounterUnits[] = {{"count", "_count", 1},
                                         {"ratio", "_ratio", 1},
                                         {"percent", "_ratio", 0.01},
                                         {"byte", "_bytes", 1},
                                         {"KiB", "_bytes", 1024},
                                         {"MiB", "_bytes", 1048576},
                                         {"GiB", "_bytes", 1073741824},
                                         {"J", "_joules", 1},
                                         {"s", "_s", 1},
                                         {"ms", "_s", 1e-3},
                                         {"us", "_s", 1e-6},
                                         {"ns", "_s", 1e-9},
                                         {"1/s", "_per_s", 1},
                                         {"byte/s", "_bytes_per_s", 1},
                                         {"MB/s", "_bytes_per_s", 1e6},
                                         {"GB/s", "_bytes_per_s", 1e9}};

// The fields of one object of the mapping. A complaint shows what was found.
class MappingReader : public JsonReader {
 public:
  MappingReader(const Json& json, std::string path, std::vector<std::string>& mistakes)
      : JsonReader(json, std::move(path)), mistakes_(mistakes) {}

  std::string text(const std::string& key, bool required = false) {
    const Json* value = member(key);
    if (value == nullptr && !required) return {};
    if (value == nullptr || !value->is_string() || value->get<std::string>().empty()) {
      complain(key, "a text");
      return {};
    }
    return value->get<std::string>();
  }
  // A text, or an array of texts.
  std::vector<std::string> texts(const std::string& key, bool required = false) {
    const Json* value = member(key);
    std::vector<std::string> found;
    if (value == nullptr && !required) return found;
    if (value != nullptr && value->is_string()) found.push_back(value->get<std::string>());
    if (value != nullptr && value->is_array()) {
      for (const Json& entry : *value) found.push_back(entry.is_string() ? entry.get<std::string>() : "");
    }
    if (found.empty() || std::find(found.begin(), found.end(), "") != found.end()) {
      complain(key, "the name of a column, or an array of names");
    }
    return found;
  }
  template <size_t N>
  const MappingUnit* unit(const std::string& key, const MappingUnit (&units)[N], bool required) {
    const std::string name = text(key, required);
    std::vector<std::string> names;
    for (const MappingUnit& known : units) {
      if (known.name == name) return &known;
      names.emplace_back(known.name);
    }
    if (!name.empty()) complain(key, "one of " + join(names, ", "));
    return nullptr;
  }
  void complain(const std::string& key, const std::string& expected) {
    const Json* value = member(key);
    std::string found = value == nullptr ? "nothing" : value->dump(-1, ' ', false, Json::error_handler_t::replace);
    if (found.size() > 60) found = found.substr(0, 57) + "...";
    JsonReader::complain(key, printable(found), expected);
  }
  // At the end: fields that nobody asked for are misspelt ones.
  void close() {
    refuse_others();
    mistakes_.insert(mistakes_.end(), complaints().begin(), complaints().end());
  }

 private:
  std::vector<std::string>& mistakes_;
};

int64_t stars(const std::string& text) { return std::count(text.begin(), text.end(), '*'); }

std::string text_of(const Json& json) { return json.is_string() ? json.get<std::string>() : std::string(); }

template <size_t N>
PlatformColumns platform_columns(MappingReader& in, const std::string& key, const MappingUnit (&units)[N],
                                 std::vector<std::string>& mistakes) {
  PlatformColumns result;
  const Json* json = in.member(key);
  if (json == nullptr) return result;
  MappingReader fields(*json, in.path(key), mistakes);
  const MappingUnit* unit = fields.unit("unit", units, true);
  if (unit != nullptr) result.factor = unit->factor;
  const Json* columns = fields.member("columns");
  if (columns != nullptr && stars(text_of(*columns)) == 1) {
    result.pattern = text_of(*columns);
  } else if (columns != nullptr && columns->is_object() && !columns->empty()) {
    for (const auto& [platform, column] : columns->items()) {
      if (platform.empty() || !column.is_string()) {
        fields.complain("columns", "the name of a column for each platform");
      } else {
        result.columns.emplace_back(platform, text_of(column));
      }
    }
  } else {
    fields.complain("columns", "a pattern with one '*' (the platform), or an object from platform to column");
  }
  fields.close();
  return result;
}

std::string suffix_of(std::string_view metric) {
  for (const std::string_view suffix : {"_bytes_per_s", "_per_s", "_count", "_ratio", "_bytes", "_s"}) {
    if (metric.ends_with(suffix) && metric.size() > suffix.size()) return std::string(suffix);
  }
  return {};
}

void read_counters(const Json& json, const std::string& path, TableMapping& mapping,
                   std::vector<std::string>& mistakes) {
  if (!json.is_array()) {
    mistakes.push_back(path + ": expected an array of objects with column, unit and metric");
    return;
  }
  for (size_t i = 0; i < json.size(); ++i) {
    MappingReader in(json[i], path + "[" + std::to_string(i) + "]", mistakes);
    MappedCounters counters;
    counters.column = in.text("column", true);
    counters.metric = in.text("metric");
    const MappingUnit* unit = in.unit("unit", kCounterUnits, counters.metric.empty());
    if (unit != nullptr) {
      counters.suffix = unit->suffix;
      counters.factor = unit->factor;
    }
    const bool named = !counters.metric.empty();
    const std::string suffix = suffix_of(counters.metric);
    const std::string_view allowed = "abcdefghijklmnopqrstuvwxyz0123456789_";
    if (named && (suffix.empty() || counters.metric.size() > 100 ||
                  counters.metric.find_first_not_of(allowed) != std::string::npos)) {
      in.complain("metric", "a name of a-z, 0-9 and _ that ends in _count, _ratio, _bytes, _s, _per_s or _bytes_per_s");
    } else if (named && unit != nullptr && suffix != unit->suffix) {
      in.complain("unit", "a unit of " + counters.metric);
    }
    if (named) counters.suffix = suffix;
    if (stars(counters.column) > 0 && named) in.complain("metric", "no metric beside a pattern of columns");
    if (stars(counters.column) > 1) in.complain("column", "a name, or a pattern with one '*'");
    in.close();
    mapping.counters.push_back(std::move(counters));
  }
}

void read_platforms(const Json& json, const std::string& path, TableMapping& mapping,
                    std::vector<std::string>& mistakes) {
  if (!json.is_object()) {
    mistakes.push_back(path + ": expected an object from platform to its kind, vendor, arch and facts");
    return;
  }
  for (const auto& [name, fields] : json.items()) {
    MappingReader in(fields, path + "." + printable(name.substr(0, 60)), mistakes);
    Platform platform;
    platform.name = name;
    const std::string kind = in.text("kind");
    if (kind == "cpu" || kind == "gpu" || kind == "accelerator") {
      platform.kind = kind;
    } else if (!kind.empty()) {
      in.complain("kind", "cpu, gpu or accelerator");
    }
    platform.vendor = in.text("vendor");
    platform.arch = in.text("arch");
    if (const Json* facts = in.member("facts")) {
      if (!facts->is_object()) in.complain("facts", "an object of numbers");
      for (const auto& [fact, value] : facts->items()) {
        if (facts->is_object() && value.is_number() && std::isfinite(value.get<double>())) {
          platform.facts[fact] = value.get<double>();
        } else {
          in.complain("facts", "an object of numbers");
        }
      }
    }
    in.close();
    mapping.platforms[name] = std::move(platform);
  }
}

// Either platform and time, or times.
void check_shape(MappingReader& in, const TableMapping& mapping) {
  const bool is_long = !mapping.platform.empty() || !mapping.time.empty();
  if (is_long && !mapping.times.empty()) in.complain("times", "either platform and time, or times");
  if (!is_long && mapping.times.empty()) in.complain("times", "platform and time (long table), or times (wide table)");
  if (is_long && mapping.platform.empty()) in.complain("platform", "the column that names the platform");
  if (is_long && mapping.time.empty()) in.complain("time", "an object with column and unit");
  if (is_long && !mapping.energies.empty()) in.complain("energies", "energy, in a long table");
  if (!is_long && !mapping.energy.empty()) in.complain("energy", "energies, in a wide table");
}

template <size_t N>
void read_column(MappingReader& in, const std::string& key, const MappingUnit (&units)[N], std::string& column,
                 double& factor, std::vector<std::string>& mistakes) {
  const Json* json = in.member(key);
  if (json == nullptr) return;
  MappingReader fields(*json, in.path(key), mistakes);
  column = fields.text("column", true);
  if (const MappingUnit* unit = fields.unit("unit", units, true)) factor = unit->factor;
  fields.close();
}

}  // namespace

std::optional<std::string> match_pattern(std::string_view pattern, std::string_view text) {
  const size_t star = pattern.find('*');
  if (star == std::string_view::npos) return std::nullopt;
  const std::string_view head = pattern.substr(0, star), tail = pattern.substr(star + 1);
  if (text.size() <= head.size() + tail.size() || !text.starts_with(head) || !text.ends_with(tail)) return std::nullopt;
  return std::string(text.substr(head.size(), text.size() - head.size() - tail.size()));
}

Result<TableMapping> parse_table_mapping(std::string_view json_text, const std::string& source) {
  const auto json = parse_json(json_text, source);
  if (!json) return json.error();
  std::vector<std::string> mistakes;
  MappingReader in(*json, source, mistakes);
  const std::string schema = in.text("schema", true);
  if (in.complaints().empty() && schema != kMappingSchema) {
    return Error{schema.starts_with("perfcast.table/") ? "future-version" : "bad-mapping",
                 "found the schema '" + printable(schema.substr(0, 60)) + "'", source, kMappingSchema};
  }
  TableMapping mapping;
  mapping.name = in.text("name", true);
  if (slug(mapping.name).empty()) in.complain("name", "a name with letters or digits");
  mapping.csv = in.text("csv", true);
  mapping.url = in.text("url");
  mapping.licence = in.text("licence");
  mapping.note = in.text("note");
  if (const std::string separator = in.text("separator"); separator.size() == 1) {
    mapping.separator = separator[0];
  } else if (!separator.empty()) {
    in.complain("separator", "one character");
  }
  mapping.program = in.texts("program", true);
  mapping.input = in.texts("input");
  mapping.family = in.text("family");
  if (const std::string group = in.text("group"); !group.empty()) mapping.group = group;
  mapping.platform = in.text("platform");
  read_column(in, "time", kTimeUnits, mapping.time, mapping.time_factor, mistakes);
  read_column(in, "energy", kEnergyUnits, mapping.energy, mapping.energy_factor, mistakes);
  mapping.times = platform_columns(in, "times", kTimeUnits, mistakes);
  mapping.energies = platform_columns(in, "energies", kEnergyUnits, mistakes);
  if (const Json* counters = in.member("counters")) read_counters(*counters, source + ".counters", mapping, mistakes);
  mapping.counters_platform = in.text("counters_platform");
  if (const std::string repeats = in.text("repeats"); repeats == "median") {
    mapping.fold_repeats = true;
  } else if (!repeats.empty() && repeats != "error") {
    in.complain("repeats", "error or median");
  }
  if (const Json* platforms = in.member("platforms"))
    read_platforms(*platforms, source + ".platforms", mapping, mistakes);
  check_shape(in, mapping);
  in.close();
  if (!mistakes.empty()) return Error{"bad-mapping", join(mistakes, "; "), source, "the fields of docs/import.md"};
  return mapping;
}

}  // namespace perfcast::program
