#include "program/corpus/program_catalogue.h"

#include <algorithm>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

namespace perfcast::program {
namespace {

constexpr size_t kMaximumSuiteBytes = size_t{16} << 20;
constexpr const char* kSuiteSchema = "perfcast.suite/1";
// Collections of programs: the second segment of an id names the program.
constexpr std::string_view kCollections[] = {"apps", "compress", "openssl", "stressng", "stressngfull"};

}  // namespace

Result<ProgramCatalogue> ProgramCatalogue::parse(std::string_view json_text, const std::string& source) {
  auto json = parse_json(json_text, source);
  if (!json) return json.error();
  JsonReader in(*json, source);
  const std::string schema = in.string("schema");
  const std::string suite = in.string("name");
  const Json* rules = in.array("rules");
  const Json* entries = in.require_array("programs");
  if (const Status status = in.finish(); !status) return status.error();
  if (schema != kSuiteSchema) {
    return Error{"future-version", "found the schema '" + printable(schema) + "'", source, kSuiteSchema};
  }
  std::vector<std::string> rule_names;
  for (size_t i = 0; rules != nullptr && i < rules->size(); ++i) {
    JsonReader rule((*rules)[i], source + ".rules[" + std::to_string(i) + "]");
    rule_names.push_back(rule.string("id"));
    if (const Status status = rule.finish(); !status) return status.error();
  }

  ProgramCatalogue catalogue;
  for (size_t i = 0; i < entries->size(); ++i) {
    JsonReader entry((*entries)[i], source + ".programs[" + std::to_string(i) + "]");
    Program program;
    program.id = entry.string("id");
    program.family = entry.string_or("family", family_of(program.id));
    program.group = entry.string("group");
    program.suite = suite;
    program.work_unit = entry.string_or("work_unit", "");
    program.excluded = entry.string_or("excluded", "");
    if (program.id.empty()) entry.complain("id", "an empty string", "the program's name");
    if (!program.excluded.empty()) {
      if (std::find(rule_names.begin(), rule_names.end(), program.excluded) == rule_names.end()) {
        entry.complain("excluded", "'" + printable(program.excluded) + "'",
                       "one of the rules " + join(rule_names, ", "));
      }
      const std::string evidence = entry.string_or("evidence", "");
      if (!evidence.empty()) program.excluded += ": " + evidence;
    }
    const std::string label = entry.string_or("label", "");
    if (const Status status = entry.finish(); !status) return status.error();
    const std::string id = program.id;
    if (!label.empty() && !catalogue.ids_by_label_.emplace(label, id).second) {
      return Error{"bad-json-field", "two programs have the label '" + printable(label) + "'", entry.path(),
                   "a label of its own for each program"};
    }
    if (!catalogue.programs_.emplace(id, std::move(program)).second) {
      return Error{"bad-json-field", "the program '" + printable(id) + "' is named twice", entry.path(), "unique ids"};
    }
  }
  return catalogue;
}

Result<ProgramCatalogue> ProgramCatalogue::read(const std::string& path) {
  auto text = read_file(path, kMaximumSuiteBytes);
  if (!text) return text.error();
  return parse(*text, path);
}

const Program* ProgramCatalogue::find(std::string_view id) const {
  const auto found = programs_.find(id);
  return found == programs_.end() ? nullptr : &found->second;
}

const std::string* ProgramCatalogue::id_of_label(std::string_view column) const {
  const auto found = ids_by_label_.find(column);
  return found == ids_by_label_.end() ? nullptr : &found->second;
}

Program ProgramCatalogue::describe(const std::string& id, const std::string& source) const {
  Program program;
  if (const Program* known = find(id)) {
    program = *known;
  } else {
    program.id = id;
    program.family = family_of(id);
    program.group = "unknown";
  }
  program.source = source;
  return program;
}

std::string family_of(std::string_view program_id) {
  const std::vector<std::string> segments = split(program_id, '.');
  for (const std::string_view collection : kCollections) {
    if (segments.size() > 1 && segments[0] == collection) return segments[1];
  }
  return segments.empty() ? std::string(program_id) : segments[0];
}

}  // namespace perfcast::program
