#include "profile/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/csv.h"
#include "base/json.h"
#include "base/text.h"
#include "profile/whole_metrics.h"

namespace perfcast {
namespace {

constexpr size_t kMaximumArguments = size_t{1} << 20;
constexpr size_t kMaximumNames = 10'000;  // metrics, collectors, ... of one object
constexpr size_t kMaximumPhases = 100'000;
constexpr int64_t kMaximumKinds = 64;
constexpr size_t kMaximumNameLength = 128;
constexpr size_t kMistakesShown = 10;
constexpr std::string_view kSchemaStem = "perfcast.profile/";

std::string excerpt(std::string_view text) { return printable(text.substr(0, 80)) + (text.size() > 80 ? "..." : ""); }

// Everything that is wrong with a document, so that it is all said at once.
class Mistakes {
 public:
  void add(const std::string& where, const std::string& found, const std::string& expected) {
    add(where + ": found " + found + ", expected " + expected);
  }
  void add(const Status& status) {
    if (!status) add(status.error().message);
  }
  Status finish(const std::string& source) const {
    if (shown_.empty()) return {};
    std::string message = join(shown_, "; ");
    if (count_ > shown_.size()) message += "; and " + std::to_string(count_ - shown_.size()) + " more";
    return Error{"bad-profile", message, source, "a profile written by `perfcast profile`"};
  }

 private:
  void add(std::string text) {
    ++count_;
    if (shown_.size() < kMistakesShown) shown_.push_back(std::move(text));
  }

  std::vector<std::string> shown_;
  size_t count_ = 0;
};

bool is_metric_name(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == ':' || c == '-';
  };
  return !name.empty() && name.size() <= kMaximumNameLength && std::all_of(name.begin(), name.end(), allowed);
}

bool is_never_negative(std::string_view name) {
  return name.ends_with("_count") || name.ends_with("_bytes") || name.ends_with("_s");
}

// Fields whose mistakes are added to a document's.
class Fields : public JsonReader {
 public:
  Fields(const Json& json, std::string path, Mistakes& mistakes)
      : JsonReader(json, std::move(path)), mistakes_(mistakes) {}
  ~Fields() { mistakes_.add(finish()); }
  Fields(const Fields&) = delete;
  Fields& operator=(const Fields&) = delete;

 private:
  Mistakes& mistakes_;
};

MetricValues read_metrics(const Json& json, const std::string& path, Mistakes& mistakes) {
  MetricValues values;
  if (json.size() > kMaximumNames) {
    mistakes.add(path, std::to_string(json.size()) + " metrics", "at most " + std::to_string(kMaximumNames));
    return values;
  }
  for (const auto& [name, value] : json.items()) {
    const std::string where = path + "." + excerpt(name);
    if (!is_metric_name(name)) {
      mistakes.add(where, "such a name", "a metric name of letters, digits and _ . : -");
    } else if (!value.is_number()) {
      mistakes.add(where, value.type_name(), "a finite number; a metric that could not be read is left out");
    } else if (const double number = value.get<double>(); !std::isfinite(number)) {
      mistakes.add(where, "no finite number", "a finite number");
    } else if (number < 0 && is_never_negative(name)) {
      mistakes.add(where, value.dump(), "a number of at least 0");
    } else {
      values[name] = number;
    }
  }
  return values;
}

std::map<std::string, std::string> read_missing(const Json& json, const std::string& path, Mistakes& mistakes) {
  std::map<std::string, std::string> missing;
  if (json.size() > kMaximumNames) {
    mistakes.add(path, std::to_string(json.size()) + " metrics", "at most " + std::to_string(kMaximumNames));
    return missing;
  }
  for (const auto& [name, reason] : json.items()) {
    const std::string where = path + "." + excerpt(name);
    if (!is_metric_name(name)) {
      mistakes.add(where, "such a name", "a metric name of letters, digits and _ . : -");
    } else if (!reason.is_string()) {
      mistakes.add(where, reason.type_name(), "the reason, a string");
    } else {
      missing[name] = reason.get<std::string>();
    }
  }
  return missing;
}

HostFacts read_host(const Json& json, const std::string& path, Mistakes& mistakes) {
  const auto host = host_facts_from_json(json, path);
  if (host) return *host;
  mistakes.add(host.error());
  return {};
}

CollectorRecord read_collector(const Json& json, const std::string& path, Mistakes& mistakes) {
  Fields in(json, path, mistakes);
  CollectorRecord record;
  record.name = in.string("name");
  record.version = in.string_or("version", "");
  record.seconds_s = in.optional_amount("seconds_s");
  record.status = in.string_or("status", "");
  record.note = in.string_or("note", "");
  return record;
}

ProfileWarning read_warning(const Json& json, const std::string& path, Mistakes& mistakes) {
  Fields in(json, path, mistakes);
  return {in.string("code"), in.string_or("message", ""), in.string_or("advice", "")};
}

ProfilePhase read_phase(const Json& json, const std::string& path, Mistakes& mistakes) {
  Fields in(json, path, mistakes);
  ProfilePhase phase;
  phase.first_instruction_count = in.optional_amount("first_instruction_count").value_or(0);
  phase.instructions_count = in.optional_amount("instructions_count").value_or(0);
  if (const Json* metrics = in.object("metrics")) {
    phase.metrics = read_metrics(*metrics, in.path("metrics"), mistakes);
  }
  if (const auto kind = in.optional_integer("kind", 0, kMaximumKinds - 1)) phase.kind = static_cast<size_t>(*kind);
  phase.native_cpu_s = in.optional_amount("native_cpu_s");
  return phase;
}

PhaseKind read_phase_kind(const Json& json, const std::string& path, Mistakes& mistakes) {
  Fields in(json, path, mistakes);
  PhaseKind kind;
  kind.instructions_count = in.optional_amount("instructions_count").value_or(0);
  kind.visits_count = in.optional_amount("visits_count").value_or(0);
  kind.representative_phase =
      static_cast<size_t>(in.optional_integer("representative_phase", 0, kMaximumPhases - 1).value_or(0));
  kind.native_cpu_s = in.optional_amount("native_cpu_s");
  kind.native_deviation_s = in.optional_amount("native_deviation_s");
  if (const Json* metrics = in.object("metrics")) kind.metrics = read_metrics(*metrics, in.path("metrics"), mistakes);
  if (const Json* functions = in.array("functions")) {
    for (size_t i = 0; i < functions->size(); ++i) {
      Fields of((*functions)[i], fmt::format("{}[{}]", in.path("functions"), i), mistakes);
      kind.functions.push_back(
          {of.string_or("function", ""), of.string("file"), of.optional_amount("time_ratio").value_or(0)});
    }
  }
  return kind;
}

std::vector<double> read_row(const Json& json, const std::string& path, size_t size, Mistakes& mistakes) {
  std::vector<double> row;
  if (!json.is_array() || json.size() != size) {
    mistakes.add(path, json.type_name(), fmt::format("an array of {} numbers", size));
    return row;
  }
  row.reserve(size);
  for (const Json& value : json) {
    const double number = value.is_number() ? value.get<double>() : -1;
    if (!(number >= 0) || !std::isfinite(number)) mistakes.add(path, value.type_name(), "numbers of at least 0");
    row.push_back(number);
  }
  return row;
}

// And that each slice's kind is one of them.
void read_phase_kinds(const Json& json, const std::string& path, Profile& profile, Mistakes& mistakes) {
  Fields in(json, path, mistakes);
  PhaseSet set;
  set.program = in.string_or("program", "");
  set.instructions_ratio = std::min(1.0, in.optional_amount("instructions_ratio").value_or(1));
  in.each("kinds", kMaximumKinds,
          [&](const Json& entry, const std::string& at) { set.kinds.push_back(read_phase_kind(entry, at, mistakes)); });
  in.each("transitions", kMaximumKinds, [&](const Json& entry, const std::string& at) {
    set.transitions.push_back(read_row(entry, at, set.kinds.size(), mistakes));
  });
  if (set.transitions.size() != set.kinds.size())
    mistakes.add(in.path("transitions"), fmt::format("{} rows", set.transitions.size()), "a row for each kind");
  for (const PhaseKind& kind : set.kinds) {
    if (kind.representative_phase >= profile.phases.size())
      mistakes.add(in.path("kinds"), "a representative phase that is none", "an index of phases");
  }
  for (const ProfilePhase& phase : profile.phases) {
    if (phase.kind.value_or(0) >= set.kinds.size()) {
      mistakes.add(path, "a phase of no kind", "kinds that the phases name");
      break;
    }
  }
  profile.phase_kinds = std::move(set);
}

ProfilePart read_part(const Json& json, const std::string& path, Mistakes& mistakes) {
  Fields in(json, path, mistakes);
  ProfilePart part;
  part.program = in.string("program");
  part.command = in.string_or("command", "");
  part.processes_count = in.optional_amount("processes_count").value_or(0);
  part.instrumented_count = in.optional_amount("instrumented_count").value_or(0);
  part.cpu_s = in.optional_amount("cpu_s");
  if (const Json* metrics = in.object("metrics")) {
    part.metrics = read_metrics(*metrics, in.path("metrics"), mistakes);
  }
  return part;
}

CourseInterval read_interval(const Json& json, const std::string& path, Mistakes& mistakes) {
  Fields in(json, path, mistakes);
  CourseInterval interval;
  interval.length_s = in.optional_amount("length_s").value_or(0);
  interval.running_count = in.optional_amount("running_count").value_or(0);
  interval.ready_count = in.optional_amount("ready_count").value_or(0);
  interval.blocked_count = in.optional_amount("blocked_count").value_or(0);
  interval.system_ratio = in.optional_amount("system_ratio").value_or(0);
  interval.page_faults_minor_count = in.optional_amount("page_faults_minor_count").value_or(0);
  interval.resident_bytes = in.optional_amount("resident_bytes").value_or(0);
  return interval;
}

ThreadCounts read_thread(const Json& json, const std::string& path, Mistakes& mistakes) {
  Fields in(json, path, mistakes);
  ThreadCounts thread;
  thread.program = in.string("program");
  if (const Json* metrics = in.object("metrics")) {
    thread.metrics = read_metrics(*metrics, in.path("metrics"), mistakes);
  }
  return thread;
}

std::array<double, 3> read_sizes(const Json& json, const std::string& path, Mistakes& mistakes) {
  std::array<double, 3> sizes{};
  const std::vector<double> row = read_row(json, path, sizes.size(), mistakes);
  if (row.size() == sizes.size()) std::copy(row.begin(), row.end(), sizes.begin());
  return sizes;
}

KernelLaunch read_launch(const Json& json, const std::string& path, Mistakes& mistakes) {
  Fields in(json, path, mistakes);
  KernelLaunch launch;
  launch.number = in.optional_amount("launch").value_or(0);
  launch.stands_for_count = in.optional_amount("stands_for_count").value_or(1);
  if (const Json* sizes = in.array("global_size"))
    launch.global_size = read_sizes(*sizes, in.path("global_size"), mistakes);
  if (const Json* sizes = in.array("local_size"))
    launch.local_size = read_sizes(*sizes, in.path("local_size"), mistakes);
  if (const Json* metrics = in.object("metrics")) launch.metrics = read_metrics(*metrics, in.path("metrics"), mistakes);
  return launch;
}

ProfileKernel read_kernel(const Json& json, const std::string& path, Mistakes& mistakes) {
  Fields in(json, path, mistakes);
  ProfileKernel kernel;
  kernel.name = in.string("name");
  kernel.launches_count = in.optional_amount("launches_count").value_or(0);
  kernel.work_items_count = in.optional_amount("work_items_count").value_or(0);
  in.each("launches", kMaximumNames, [&](const Json& entry, const std::string& at) {
    kernel.launches.push_back(read_launch(entry, at, mistakes));
  });
  if (const Json* metrics = in.object("metrics")) kernel.metrics = read_metrics(*metrics, in.path("metrics"), mistakes);
  return kernel;
}

std::map<std::string, CoreBoundRatios> read_core_bounds(const Json& json, const std::string& path, Mistakes& mistakes) {
  std::map<std::string, CoreBoundRatios> designs;
  if (json.size() > kMaximumNames) {
    mistakes.add(path, std::to_string(json.size()) + " designs", "at most " + std::to_string(kMaximumNames));
    return designs;
  }
  for (const auto& [design, bounds] : json.items()) {
    const std::string where = path + "." + excerpt(design);
    if (!is_metric_name(design)) {
      mistakes.add(where, "such a name", "a core design of letters, digits and _ . : -");
    } else if (!bounds.is_object()) {
      mistakes.add(where, bounds.type_name(), "an object of shares");
    } else {
      designs[design] = read_metrics(bounds, where, mistakes);
      for (const auto& [bound, ratio] : designs[design]) {
        if (!(ratio >= 0 && ratio <= 1))
          mistakes.add(where + "." + excerpt(bound), fmt::format("{:g}", ratio), "a share from 0 to 1");
      }
    }
  }
  return designs;
}

Status check_schema(const Json& json, const std::string& source) {
  const auto found = json.is_object() ? json.find("schema") : json.end();
  if (!json.is_object() || found == json.end() || !found->is_string()) {
    const std::string what = json.is_object() ? "an object without a schema" : json.type_name();
    return Error{"bad-profile", "not a profile: found " + what, source,
                 std::string("an object whose schema is ") + kProfileSchema};
  }
  const std::string schema = found->get<std::string>();
  if (schema == kProfileSchema) return {};
  if (schema.starts_with(kSchemaStem)) {
    const std::optional<double> version = parse_number(std::string_view(schema).substr(kSchemaStem.size()));
    if (version && *version > 1) {
      return Error{"future-version", "the profile has schema " + excerpt(schema) + ", newer than this program knows",
                   source, std::string("schema ") + kProfileSchema + ", or a newer perfcast"};
    }
  }
  return Error{"bad-profile", "not a profile: found schema " + excerpt(schema), source,
               std::string("schema ") + kProfileSchema};
}

// Counts are written as integers where they are: 1234567 rather than 1234567.0.
Json number_to_json(double value) {
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (std::abs(value) < kExact && value == std::floor(value) && !(value == 0 && std::signbit(value))) {
    return static_cast<int64_t>(value);
  }
  return value;
}

Json metrics_to_json(const MetricValues& metrics) {
  Json json = Json::object();
  for (const auto& [name, value] : metrics) {
    if (std::isfinite(value)) json[name] = number_to_json(value);
  }
  return json;
}

}  // namespace

Json to_json(const std::vector<TimedFunction>& functions) {
  Json json = Json::array();
  for (const TimedFunction& function : functions) {
    Json entry = {{"file", function.file}, {"time_ratio", number_to_json(function.time_ratio)}};
    if (!function.function.empty()) entry["function"] = function.function;
    json.push_back(std::move(entry));
  }
  return json;
}

namespace {

Json phase_kinds_to_json(const PhaseSet& set) {
  Json json = {{"program", set.program},
               {"instructions_ratio", number_to_json(set.instructions_ratio)},
               {"kinds", Json::array()},
               {"transitions", set.transitions}};
  for (const PhaseKind& kind : set.kinds) {
    Json entry = {{"instructions_count", number_to_json(kind.instructions_count)},
                  {"visits_count", number_to_json(kind.visits_count)},
                  {"representative_phase", kind.representative_phase},
                  {"metrics", metrics_to_json(kind.metrics)}};
    put_known(entry, "native_cpu_s", kind.native_cpu_s);
    put_known(entry, "native_deviation_s", kind.native_deviation_s);
    if (!kind.functions.empty()) entry["functions"] = to_json(kind.functions);
    json["kinds"].push_back(std::move(entry));
  }
  return json;
}

Json kernel_to_json(const ProfileKernel& kernel) {
  Json json = {{"name", kernel.name},
               {"launches_count", number_to_json(kernel.launches_count)},
               {"work_items_count", number_to_json(kernel.work_items_count)},
               {"metrics", metrics_to_json(kernel.metrics)},
               {"launches", Json::array()}};
  const auto sizes_to_json = [](const std::array<double, 3>& sizes) {
    return Json{number_to_json(sizes[0]), number_to_json(sizes[1]), number_to_json(sizes[2])};
  };
  for (const KernelLaunch& launch : kernel.launches) {
    json["launches"].push_back({{"launch", number_to_json(launch.number)},
                                {"stands_for_count", number_to_json(launch.stands_for_count)},
                                {"global_size", sizes_to_json(launch.global_size)},
                                {"local_size", sizes_to_json(launch.local_size)},
                                {"metrics", metrics_to_json(launch.metrics)}});
  }
  return json;
}

}  // namespace

Json to_json(const Profile& profile) {
  Json json = {{"schema", kProfileSchema}, {"program", profile.program}, {"command", profile.command}};
  put_known(json, "instruction_set", profile.instruction_set);
  put_known(json, "started_utc", profile.started_utc);
  put_known(json, "exit_code", profile.exit_code);
  put_known(json, "signal", profile.signal);
  put_known(json, "work_units", profile.work_units);
  put_known(json, "work_unit", profile.work_unit);
  json["host"] = to_json(profile.host);
  const double part_ratio = knows_whole_counts(profile) ? 1 : profile.partly_seen->seen_ratio;
  // Null where all of `metrics` hold for the whole.
  const auto put_metrics = [&](Json& at, const MetricValues& metrics) {
    if (knows_whole_counts(profile)) {
      at["metrics"] = metrics_to_json(metrics);
      return Json();
    }
    const WholeAndPart split = split_by_part(metrics, part_ratio);
    at["metrics"] = metrics_to_json(split.whole);
    return metrics_to_json(split.part);
  };
  const Json counted = put_metrics(json, profile.metrics);
  if (profile.partly_seen) {
    json["partly_seen"] = {{"seen_ratio", number_to_json(profile.partly_seen->seen_ratio)},
                           {"unlike_ratio", number_to_json(profile.partly_seen->unlike_ratio)}};
    if (!counted.is_null()) json["partly_seen"]["counted"] = counted;
  }
  std::map<std::string, std::string> missing = profile.missing;
  if (!knows_whole_counts(profile)) {
    for (const auto& [name, value] : profile.metrics) {
      if (!json["metrics"].contains(name)) missing.emplace(name, kNoWholeCounts);
    }
  }
  for (const auto& [name, value] : profile.metrics) {
    if (!std::isfinite(value)) missing.emplace(name, "its value is not a finite number");
  }
  json["missing"] = Json::object();
  for (const auto& [name, reason] : missing) json["missing"][name] = reason;
  json["collectors"] = Json::array();
  for (const CollectorRecord& record : profile.collectors) {
    Json entry = {{"name", record.name}};
    put_known(entry, "version", record.version);
    put_known(entry, "seconds_s", record.seconds_s);
    put_known(entry, "status", record.status);
    put_known(entry, "note", record.note);
    json["collectors"].push_back(std::move(entry));
  }
  json["warnings"] = Json::array();
  for (const ProfileWarning& warning : profile.warnings) {
    Json entry = {{"code", warning.code}};
    put_known(entry, "message", warning.message);
    put_known(entry, "advice", warning.advice);
    json["warnings"].push_back(std::move(entry));
  }
  json["phases"] = Json::array();
  for (const ProfilePhase& phase : profile.phases) {
    Json entry = {{"first_instruction_count", number_to_json(phase.first_instruction_count)},
                  {"instructions_count", number_to_json(phase.instructions_count)},
                  {"metrics", metrics_to_json(phase.metrics)}};
    if (phase.kind) entry["kind"] = *phase.kind;
    put_known(entry, "native_cpu_s", phase.native_cpu_s);
    json["phases"].push_back(std::move(entry));
  }
  if (profile.phase_kinds) json["phase_kinds"] = phase_kinds_to_json(*profile.phase_kinds);
  put_known(json, "accounted_cpu_ratio", profile.accounted_cpu_ratio);
  if (!profile.replicates.empty()) json["replicates"] = Json::array();
  for (const MetricValues& replicate : profile.replicates) {
    if (knows_whole_counts(profile)) {
      json["replicates"].push_back(metrics_to_json(replicate));
      continue;
    }
    WholeAndPart split = split_by_part(replicate, part_ratio);
    split.whole.merge(split.part);
    json["replicates"].push_back(metrics_to_json(split.whole));
  }
  if (!profile.course.empty()) json["course"] = Json::array();
  for (const CourseInterval& interval : profile.course) {
    json["course"].push_back({{"length_s", number_to_json(interval.length_s)},
                              {"running_count", number_to_json(interval.running_count)},
                              {"ready_count", number_to_json(interval.ready_count)},
                              {"blocked_count", number_to_json(interval.blocked_count)},
                              {"system_ratio", number_to_json(interval.system_ratio)},
                              {"page_faults_minor_count", number_to_json(interval.page_faults_minor_count)},
                              {"resident_bytes", number_to_json(interval.resident_bytes)}});
  }
  if (!profile.threads.empty()) json["threads"] = Json::array();
  for (const ThreadCounts& thread : profile.threads) {
    json["threads"].push_back({{"program", thread.program}, {"metrics", metrics_to_json(thread.metrics)}});
  }
  if (!profile.kernels.empty()) json["kernels"] = Json::array();
  for (const ProfileKernel& kernel : profile.kernels) json["kernels"].push_back(kernel_to_json(kernel));
  if (!profile.core_bounds.empty()) json["core_cycles_ratio_by_bound"] = profile.core_bounds;
  if (!profile.parts.empty()) json["processes"] = Json::array();
  for (const ProfilePart& part : profile.parts) {
    Json entry = {{"program", part.program},
                  {"processes_count", number_to_json(part.processes_count)},
                  {"instrumented_count", number_to_json(part.instrumented_count)}};
    if (const Json of_part = put_metrics(entry, part.metrics); !of_part.is_null()) entry["counted"] = of_part;
    put_known(entry, "command", part.command);
    put_known(entry, "cpu_s", part.cpu_s);
    json["processes"].push_back(std::move(entry));
  }
  return json;
}

Result<Profile> profile_from_json(const Json& json, const std::string& source) {
  if (const Status status = check_schema(json, source); !status) return status.error();
  Profile profile;
  Mistakes mistakes;
  MetricValues counts_of_part;  // of a run that was cut
  std::vector<MetricValues> parts_of_part;
  {
    Fields in(json, source, mistakes);
    profile.program = in.string("program");
    profile.command = in.strings("command", kMaximumArguments);
    profile.instruction_set = in.string_or("instruction_set", "");
    profile.started_utc = in.string_or("started_utc", "");
    if (const auto code = in.optional_integer("exit_code", 0, 255)) profile.exit_code = static_cast<int>(*code);
    if (const auto signal = in.optional_integer("signal", 1, 128)) profile.signal = static_cast<int>(*signal);
    profile.work_units = in.optional_amount("work_units");
    profile.work_unit = in.string_or("work_unit", "");
    if (const Json* host = in.object("host")) profile.host = read_host(*host, in.path("host"), mistakes);
    if (const Json* metrics = in.require_object("metrics")) {
      profile.metrics = read_metrics(*metrics, in.path("metrics"), mistakes);
    }
    if (const Json* missing = in.object("missing")) {
      profile.missing = read_missing(*missing, in.path("missing"), mistakes);
    }
    in.each("collectors", kMaximumNames, [&](const Json& entry, const std::string& path) {
      profile.collectors.push_back(read_collector(entry, path, mistakes));
    });
    in.each("warnings", kMaximumNames, [&](const Json& entry, const std::string& path) {
      profile.warnings.push_back(read_warning(entry, path, mistakes));
    });
    in.each("phases", kMaximumPhases, [&](const Json& entry, const std::string& path) {
      profile.phases.push_back(read_phase(entry, path, mistakes));
    });
    if (const Json* kinds = in.object("phase_kinds"))
      read_phase_kinds(*kinds, in.path("phase_kinds"), profile, mistakes);
    profile.accounted_cpu_ratio = in.optional_amount("accounted_cpu_ratio");
    if (const Json* seen = in.object("partly_seen")) {
      Fields of(*seen, in.path("partly_seen"), mistakes);
      profile.partly_seen = {std::min(1.0, of.optional_amount("seen_ratio").value_or(0)),
                             std::min(1.0, of.optional_amount("unlike_ratio").value_or(1)), true};
      if (const Json* counted = of.object("counted")) {
        profile.partly_seen->knows_whole_counts = false;
        counts_of_part = read_metrics(*counted, of.path("counted"), mistakes);
      }
    }
    in.each("replicates", kMaximumNames, [&](const Json& entry, const std::string& path) {
      if (entry.is_object()) {
        profile.replicates.push_back(read_metrics(entry, path, mistakes));
      } else {
        mistakes.add(path, entry.type_name(), "an object of metrics");
      }
    });
    in.each("course", kMaximumNames, [&](const Json& entry, const std::string& path) {
      profile.course.push_back(read_interval(entry, path, mistakes));
    });
    in.each("threads", kMaximumNames, [&](const Json& entry, const std::string& path) {
      profile.threads.push_back(read_thread(entry, path, mistakes));
    });
    if (const Json* bounds = in.object("core_cycles_ratio_by_bound")) {
      profile.core_bounds = read_core_bounds(*bounds, in.path("core_cycles_ratio_by_bound"), mistakes);
    }
    in.each("kernels", kMaximumNames, [&](const Json& entry, const std::string& path) {
      profile.kernels.push_back(read_kernel(entry, path, mistakes));
    });
    in.each("processes", kMaximumNames, [&](const Json& entry, const std::string& path) {
      profile.parts.push_back(read_part(entry, path, mistakes));
      parts_of_part.emplace_back();
      if (!entry.is_object()) return;
      Fields of(entry, path, mistakes);
      if (const Json* counted = of.object("counted"))
        parts_of_part.back() = read_metrics(*counted, of.path("counted"), mistakes);
    });
  }
  if (const Status status = mistakes.finish(source); !status) return status.error();
  if (!knows_whole_counts(profile)) {
    const double seen_ratio = profile.partly_seen->seen_ratio;
    profile.metrics = join_with_part(profile.metrics, counts_of_part, seen_ratio);
    std::erase_if(profile.missing, [&](const auto& entry) { return profile.metrics.contains(entry.first); });
    for (size_t i = 0; i < profile.parts.size(); ++i)
      profile.parts[i].metrics = join_with_part(profile.parts[i].metrics, parts_of_part[i], seen_ratio);
    for (MetricValues& replicate : profile.replicates) {
      WholeAndPart split = split_by_part(replicate, 1 / std::max(seen_ratio, 1e-6));
      split.whole.merge(split.part);
      replicate = std::move(split.whole);
    }
  }
  return profile;
}

}  // namespace perfcast
