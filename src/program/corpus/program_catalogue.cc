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
constexpr std::string_view kCollections[] = {"apps", "compress", "geekbench6", "openssl", "stressng", "stressngfull"};

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
    if (const Status status = catalogue.add(std::move(program), label, entry.path()); !status) return status.error();
  }
  return catalogue;
}

Status ProgramCatalogue::add(Program program, const std::string& label, const std::string& where) {
  const std::string id = program.id;
  const auto [added, is_new] = programs_.emplace(id, std::move(program));
  if (!is_new) {
    return Error{"bad-json-field", "the program '" + printable(id) + "' is named twice", where, "unique ids"};
  }
  if (label.empty()) return {};
  std::set<std::string>& ids = ids_by_label_[label];
  ids.insert(id);
  // They have the same times: with one left out to be forecast, the other would give them away.
  const std::string& family = programs_.at(*ids.begin()).family;
  if (family != programs_.at(*ids.rbegin()).family || family != added->second.family) {
    return Error{"bad-json-field", "programs with the label '" + printable(label) + "' are of two families", where,
                 "one family for all programs of one label"};
  }
  return {};
}

Result<ProgramCatalogue> ProgramCatalogue::read(const std::vector<std::string>& paths) {
  ProgramCatalogue all;
  for (const std::string& path : paths) {
    auto text = read_file(path, kMaximumSuiteBytes);
    if (!text) return text.error();
    auto one = parse(*text, path);
    if (!one) return one.error();
    std::map<std::string, std::string> label_of;
    for (const auto& [label, ids] : one->ids_by_label_) {
      for (const std::string& id : ids) label_of.emplace(id, label);
    }
    for (const auto& [id, program] : one->programs_) {
      if (const Status status = all.add(program, label_of[id], path); !status) return status.error();
    }
  }
  return all;
}

const Program* ProgramCatalogue::find(std::string_view id) const {
  const auto found = programs_.find(id);
  return found == programs_.end() ? nullptr : &found->second;
}

std::vector<std::string> ProgramCatalogue::ids_of_label(std::string_view label) const {
  const auto found = ids_by_label_.find(label);
  return found == ids_by_label_.end() ? std::vector<std::string>()
                                      : std::vector<std::string>(found->second.begin(), found->second.end());
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
