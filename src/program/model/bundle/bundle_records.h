#pragma once
// The records of a bundle: JSON for its header, and compact forms where JSON would take most of a forecast's start.

#include "base/json_fwd.h"
#include "program/model/bundle/bundle.h"

namespace perfcast::program {

Json header_of(const Platform& platform);  // without facts: see facts_as_matrix()
Json header_of(const Program& program);
Json header_of(const ModelCard& card);

// Thousands of servers: a line each, fields separated by tabs, blank where absent.
std::string servers_as_text(const std::vector<Server>& servers);
Result<std::vector<Server>> servers_from_text(std::string_view text, const std::string& path);

// The facts of all platforms: names in order, and [platforms x names], NaN where a platform does not state one.
struct FactMatrix {
  std::vector<std::string> names;
  Eigen::MatrixXd values;
};
FactMatrix facts_as_matrix(const std::vector<Platform>& platforms);
void set_facts(const FactMatrix& facts, std::vector<Platform>& platforms);

// Each reads what header_of wrote; mistakes are "bad-json-field" with `path`.
Result<Platform> platform_from_header(const Json& json, const std::string& path);
Result<Program> program_from_header(const Json& json, const std::string& path);
Result<ModelCard> card_from_header(const Json& json, const std::string& path);

}  // namespace perfcast::program
