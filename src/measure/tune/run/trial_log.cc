#include "measure/tune/run/trial_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "base/json.h"
#include "base/text.h"

namespace perfcast::measure {
namespace {

constexpr std::array<const char*, 3> kPurposes = {"search", "again", "final"};

// nullopt: a value that isn't one of the knob's.
std::optional<Setting> setting_of(const Json& knobs, const TuneSpace& space) {
  Setting setting = space.default_setting();
  for (size_t i = 0; i < space.knobs().size(); ++i) {
    const auto found = knobs.find(space.knobs()[i].name);
    if (found == knobs.end()) continue;
    if (!found->is_string()) return std::nullopt;
    const auto level = space.knobs()[i].level_of(found->get<std::string>());
    if (!level) return std::nullopt;
    setting[i] = *level;
  }
  space.settle(setting);
  if (space.broken_constraint(setting) != nullptr) return std::nullopt;
  return setting;
}

std::optional<TrialRun> run_of(const Json& line) {
  const auto number = [&line](const char* key) -> std::optional<double> {
    const auto found = line.find(key);
    if (found == line.end() || !found->is_number() || !std::isfinite(found->get<double>())) return std::nullopt;
    return found->get<double>();
  };
  const auto state = line.find("state");
  if (state == line.end() || !state->is_string()) return std::nullopt;
  const auto parsed = parse_trial_state(state->get<std::string>());
  if (!parsed) return std::nullopt;
  TrialRun run;
  run.state = *parsed;
  run.wall_s = number("wall_s").value_or(0);
  run.cpu_s = number("cpu_s").value_or(0);
  run.peak_resident_bytes = number("peak_resident_bytes");
  if (run.state == TrialState::kDone) {
    const auto value = number("value");
    if (!value || !(*value > 0)) return std::nullopt;
    run.value = *value;
  }
  if (const auto why = line.find("why"); why != line.end() && why->is_string()) run.why = why->get<std::string>();
  return run;
}

}  // namespace

std::string objective_text(const Objective& objective) {
  switch (objective.measure) {
    case ObjectiveMeasure::kWall:
      return "wall_s";
    case ObjectiveMeasure::kCpu:
      return "cpu_s";
    case ObjectiveMeasure::kPrinted:
      break;
  }
  return std::string(objective.maximise ? "maximise " : "minimise ") + objective.pattern;
}

std::string fingerprint_of(const TuneFile& file, const std::vector<std::string>& command) {
  std::string text =
      join(command, "\n") + "\n" + file.prepare + "\n" + file.check + "\n" + objective_text(file.objective);
  for (const Knob& knob : file.space.knobs()) {
    text +=
        "\n" + name_of(knob.kind) + " " + knob.name + " " + knob.flag + (knob.when ? " when " + knob.when->text() : "");
    for (const KnobValue& value : knob.values) text += "\n " + value.text;
  }
  text += fmt::format("\n{} {}", file.same_output, file.peak_memory_bytes.value_or(0));
  for (size_t i = 0; i < file.space.knobs().size(); ++i) {
    const KnobValue* standard = file.space.value_of(file.space.default_setting(), i);
    text += "\n" + (standard == nullptr ? std::string() : standard->text);
  }
  for (const Expression& constraint : file.space.constraints()) text += "\n" + constraint.text();
  return short_hash(text);
}

std::string log_head(const TuneFile& file, const std::vector<std::string>& command, uint64_t seed) {
  const Json json = {{"schema", kTuningLogSchema},
                     {"fingerprint", fingerprint_of(file, command)},
                     {"objective", objective_text(file.objective)},
                     {"command", command},
                     {"seed", seed}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string log_line(const TuneSpace& space, const LoggedRun& run) {
  Json knobs = Json::object();
  for (size_t i = 0; i < space.knobs().size(); ++i) {
    if (const KnobValue* value = space.value_of(run.setting, i); value != nullptr)
      knobs[space.knobs()[i].name] = value->text;
  }
  Json json = {
      {"purpose", kPurposes[static_cast<size_t>(run.purpose)]}, {"state", name_of(run.run.state)}, {"knobs", knobs}};
  if (run.run.state == TrialState::kDone) json["value"] = run.run.value;
  json["wall_s"] = run.run.wall_s;
  json["cpu_s"] = run.run.cpu_s;
  if (run.run.peak_resident_bytes) json["peak_resident_bytes"] = *run.run.peak_resident_bytes;
  if (!run.run.why.empty()) json["why"] = run.run.why;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<TrialLog> parse_trial_log(std::string_view text, const TuneSpace& space, const std::string& source) {
  TrialLog log;
  size_t number = 0;
  for (size_t from = 0; from < text.size();) {
    const size_t end = text.find('\n', from);
    if (end == std::string_view::npos) break;  // cut off
    const std::string where = fmt::format("{}:{}", source, ++number);
    const auto json = parse_json(text.substr(from, end - from), where);
    const bool is_last = end + 1 >= text.size();
    const auto bad = [&](const std::string& what) {
      return Error{"bad-log", what, where, "a log of perfcast tune --log"};
    };
    if (!json || !json->is_object()) {
      if (is_last && number > 1) break;
      return json ? bad("no object") : bad(json.error().message);
    }
    if (number == 1) {
      JsonReader in(*json, where);
      const std::string schema = in.string("schema");
      log.fingerprint = in.string("fingerprint");
      log.objective = in.string("objective");
      if (Status read = in.finish(); !read) return read.error();
      if (schema != kTuningLogSchema) return bad("schema '" + printable(schema) + "'");
    } else {
      const auto purpose = json->find("purpose");
      const auto knobs = json->find("knobs");
      const auto run = run_of(*json);
      if (!run || purpose == json->end() || !purpose->is_string() || knobs == json->end() || !knobs->is_object())
        return bad("a line without purpose, state, knobs or a value above 0");
      LoggedRun logged;
      logged.run = *run;
      for (size_t i = 0; i < kPurposes.size(); ++i) {
        if (purpose->get<std::string>() == kPurposes[i]) logged.purpose = static_cast<RunPurpose>(i);
      }
      if (const auto setting = setting_of(*knobs, space)) {
        logged.setting = *setting;
        log.runs.push_back(std::move(logged));
      } else {
        ++log.unknown;
      }
    }
    from = end + 1;
    log.whole_bytes = from;
  }
  if (number == 0 || log.whole_bytes == 0)
    return Error{"bad-log", "there is no head", source, "a log of perfcast tune --log"};
  return log;
}

TrialLogFile::~TrialLogFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

Status TrialLogFile::open_at(const std::string& path, std::optional<size_t> keep_bytes) {
  path_ = path;
  descriptor_ = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_APPEND | (keep_bytes ? 0 : O_TRUNC), 0600);
  if (descriptor_ < 0) return failed();
  if (keep_bytes && ftruncate(descriptor_, static_cast<off_t>(*keep_bytes)) != 0) return failed();
  return {};
}

Status TrialLogFile::add(const std::string& line) {
  if (descriptor_ < 0) return {};
  for (size_t done = 0; done < line.size();) {
    const ssize_t written = write(descriptor_, line.data() + done, line.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failed();
    done += static_cast<size_t>(written);
  }
  fdatasync(descriptor_);  // a trial that was paid for outlasts a power loss, where the file system can
  return {};
}

Status TrialLogFile::failed() const {
  return environment_error("cannot-write", std::string("cannot write the log: ") + std::strerror(errno), path_,
                           "a place with room");
}

}  // namespace perfcast::measure
