#include "profile/suite/suite.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

namespace perfcast {
namespace {

constexpr const char* kSchema = "perfcast.suite/1";
constexpr const char* kShape =
    R"({"schema": "perfcast.suite/1", "name": "mine", "groups": [{"id": "application", "text": "what they are"}], )"
    R"("programs": [{"id": ..., "family": ..., "group": "application", "work_unit": ..., "run": {...}}]}; )"
    "docs/collect.md has a whole one";
constexpr size_t kFileLimitBytes = size_t{16} << 20;

// Of the file as a whole: names of fields alone wouldn't tell what they hold.
Error with_shape(Error error, const std::string& expected = kShape) {
  error.expected = expected;
  return error;
}

Result<std::vector<SuiteEntry>> read_entries(const Json* json, const std::string& path) {
  std::vector<SuiteEntry> entries;
  for (size_t i = 0; json != nullptr && i < json->size(); ++i) {
    JsonReader in((*json)[i], path + "[" + std::to_string(i) + "]");
    SuiteEntry entry{in.string("id"), in.string("text")};
    if (const Status status = in.finish(); !status) {
      return with_shape(status.error(), R"({"id": "application", "text": "what they are"})");
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::vector<std::string> ids_of(const std::vector<SuiteEntry>& entries) {
  std::vector<std::string> ids;
  ids.reserve(entries.size());
  for (const SuiteEntry& entry : entries) ids.push_back(entry.id);
  return ids;
}

void require_known(JsonReader& in, const std::string& key, const std::string& value,
                   const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), value) == known.end()) {
    in.complain(key, "'" + printable(value) + "'", "one of " + join(known, ", "));
  }
}

// An id of the file's own list `of`, "groups" or "rules".
void require_listed(JsonReader& in, const std::string& key, const std::string& value,
                    const std::vector<SuiteEntry>& entries, const std::string& of) {
  if (!entries.empty()) return require_known(in, key, value, ids_of(entries));
  in.complain(key, "'" + printable(value) + "'",
              "an id of the file's " + of + ", which has none: \"" + of + "\": [{\"id\": \"" + printable(value) +
                  "\", \"text\": \"what it means\"}]");
}

int64_t positive(JsonReader& in, const std::string& key) {
  const int64_t value = in.integer_or(key, 0);
  if (value <= 0) in.complain(key, std::to_string(value), "a whole number above 0");
  return value;
}

// One argument vector, or an array of them.
std::vector<std::vector<std::string>> read_steps(JsonReader& in, const std::string& key) {
  const Json* value = in.array(key);
  if (value == nullptr || value->empty()) return {};
  if ((*value)[0].is_string()) return {in.strings(key)};
  std::vector<std::vector<std::string>> steps;
  for (size_t i = 0; i < value->size(); ++i) {
    const Json step = {{"step", (*value)[i]}};
    JsonReader reader(step, key + "[" + std::to_string(i) + "]");
    steps.push_back(reader.strings("step"));
    if (!reader.finish() || steps.back().empty()) {
      in.complain(key, "a step that is none", "a program with its arguments, or an array of such");
      return {};
    }
  }
  return steps;
}

SuiteRun read_run(JsonReader& in) {
  SuiteRun run;
  run.tool = in.string("tool");
  require_known(in, "tool", run.tool, {"stress-ng", "harness", "command"});
  if (in.optional_number("level")) run.level = in.integer_or("level", 0);
  if (in.optional_number("block_bytes")) run.block_bytes = positive(in, "block_bytes");
  if (run.tool == "stress-ng") {
    run.stressor = in.string("stressor");
    run.operations = positive(in, "operations");
    run.native_operations = positive(in, "native_operations");
    run.early_operations = in.integer_or("early_operations", 0);
    if (run.early_operations < 0 || run.early_operations >= std::min(run.operations, run.native_operations)) {
      in.complain("early_operations", std::to_string(run.early_operations), "at least 0, fewer than are run");
    }
  } else if (run.tool == "harness") {
    run.mode = in.string("mode");
    require_known(in, "mode", run.mode, {"compress", "openssl"});
    run.algorithm = in.string("algorithm");
    run.repeats = positive(in, "repeats");
    run.native_repeats = positive(in, "native_repeats");
    if (run.mode == "compress") {
      run.direction = in.string("direction");
      require_known(in, "direction", run.direction, {"compress", "decompress"});
      run.input_bytes = positive(in, "input_bytes");
    } else if (!run.block_bytes) {
      in.complain("block_bytes", "nothing", "the size of the buffer");
    }
  } else if (run.tool == "command") {
    if (in.optional_number("input_bytes")) run.input_bytes = positive(in, "input_bytes");
    run.command = in.strings("command");
    run.prepare = read_steps(in, "prepare");
    run.needs = in.strings("needs");
    run.packages = in.strings("packages");
    if (run.command.empty()) in.complain("command", "nothing", "a program with its arguments");
  }
  return run;
}

}  // namespace

const SuiteProgram* Suite::find(std::string_view id) const {
  for (const SuiteProgram& entry : programs) {
    if (entry.program.id == id) return &entry;
  }
  return nullptr;
}

Result<Suite> parse_suite(std::string_view json_text, const std::string& source) {
  const auto json = parse_json(json_text, source);
  if (!json) return json.error();
  JsonReader in(*json, source);
  Suite suite;
  const std::string schema = in.string("schema");
  suite.name = in.string("name");
  suite.description = in.string_or("description", "");
  suite.stress_ng_version = in.string_or("stress_ng_version", "");
  const Json* groups = in.require_array("groups");
  const Json* rules = in.array("rules");
  const Json* programs = in.require_array("programs");
  if (const Status status = in.finish(); !status) return with_shape(status.error());
  if (schema != kSchema) {
    return Error{"future-version", "found the schema '" + printable(schema) + "'", source,
                 std::string("\"schema\": \"") + kSchema + "\""};
  }
  auto group_entries = read_entries(groups, source + ".groups");
  if (!group_entries) return group_entries.error();
  suite.groups = std::move(*group_entries);
  auto rule_entries = read_entries(rules, source + ".rules");
  if (!rule_entries) return rule_entries.error();
  suite.rules = std::move(*rule_entries);

  std::set<std::string> seen;
  for (size_t i = 0; i < programs->size(); ++i) {
    const std::string path = source + ".programs[" + std::to_string(i) + "]";
    JsonReader entry((*programs)[i], path);
    SuiteProgram program;
    program.program.id = entry.string("id");
    program.program.family = entry.string("family");
    program.program.group = entry.string("group");
    program.program.work_unit = entry.string("work_unit");
    program.program.suite = suite.name;
    program.program.excluded = entry.string_or("excluded", "");
    program.label = entry.string_or("label", "");
    program.evidence = entry.string_or("evidence", "");
    program.note = entry.string_or("note", "");
    require_listed(entry, "group", program.program.group, suite.groups, "groups");
    if (!program.program.excluded.empty()) {
      require_listed(entry, "excluded", program.program.excluded, suite.rules, "rules");
    }
    if (!seen.insert(program.program.id).second) {
      entry.complain("id", "'" + printable(program.program.id) + "' again", "every id once");
    }
    const Json* run = entry.require_object("run");
    if (const Status status = entry.finish(); !status) return status.error();
    JsonReader run_reader(*run, path + ".run");
    program.run = read_run(run_reader);
    if (const Status status = run_reader.finish(); !status) return status.error();
    suite.programs.push_back(std::move(program));
  }
  return suite;
}

Result<Suite> read_suite(const std::string& path) {
  const auto text = read_file(path, kFileLimitBytes);
  if (!text) return text.error();
  auto suite = parse_suite(*text, path);
  if (!suite) return suite;
  // Preparations and programs may change their folder.
  std::error_code problem;
  suite->folder = std::filesystem::absolute(path, problem).string();
  if (suite->folder.ends_with(".json")) suite->folder.resize(suite->folder.size() - 5);
  return suite;
}

bool matches_pattern(std::string_view pattern, std::string_view text) {
  // On a mismatch the last * takes one character more: no recursion, no exponential patterns.
  size_t at = 0;
  size_t from = 0;
  size_t star = std::string_view::npos;
  size_t retry = 0;
  while (from < text.size()) {
    if (at < pattern.size() && (pattern[at] == '?' || pattern[at] == text[from]) && pattern[at] != '*') {
      ++at;
      ++from;
    } else if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      retry = from;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      from = ++retry;
    } else {
      return false;
    }
  }
  while (at < pattern.size() && pattern[at] == '*') ++at;
  return at == pattern.size();
}

double native_work_units(const SuiteRun& run) {
  if (run.tool == "stress-ng") return static_cast<double>(run.native_operations - run.early_operations);
  const double input_bytes = static_cast<double>(run.input_bytes);
  if (run.tool == "command") return run.input_bytes > 0 ? input_bytes : 1;
  const double bytes = run.mode == "openssl" ? static_cast<double>(run.block_bytes.value_or(0)) : input_bytes;
  return bytes * static_cast<double>(run.native_repeats);
}

}  // namespace perfcast
