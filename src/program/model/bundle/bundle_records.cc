#include "program/model/bundle/bundle_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string_view>

#include "base/csv.h"
#include "base/json.h"
#include "base/text.h"
#include "base/unknown.h"
#include "machine/facts/instance_facts.h"

namespace perfcast::program {
namespace {

constexpr char kFieldEnd = '\t';
constexpr size_t kServerFields = 9, kServerFieldsBefore = 8;  // facts came later

}  // namespace

Json header_of(const Platform& platform) { return to_json(platform); }

Result<Platform> platform_from_header(const Json& json, const std::string& path) {
  return platform_from_json(json, path);
}

// Whole numbers, such as bytes of a cache, as they are; measured ones with the six digits that their sources have.
std::string fact_text(double value) {
  return value == std::trunc(value) ? fmt::format("{}", value) : fmt::format("{:.6g}", value);
}

// Servers are thousands: a row each, not an object, keeps reading a bundle fast.
std::string servers_as_text(const std::vector<Server>& servers) {
  std::string text;
  const auto add = [&text](const std::string& field) { text += printable(field) + kFieldEnd; };
  const auto add_number = [&text](const std::optional<double>& value) {
    text += (value ? fmt::format("{}", *value) : std::string()) + kFieldEnd;
  };
  for (const Server& server : servers) {
    add(server.vendor);
    add(server.name);
    add(server.platform);
    add_number(server.vcpus);
    add_number(server.memory_gib);
    add_number(server.threads_per_core);
    add_number(server.cores);
    add(server.source);
    for (const auto& [name, value] : server.facts) text += printable(name) + "=" + fact_text(value) + " ";
    if (text.back() == ' ') text.pop_back();
    text += "\n";
  }
  return text;
}

Result<std::vector<Server>> servers_from_text(std::string_view text, const std::string& path) {
  std::vector<Server> servers;
  size_t line = 0;
  for (std::string_view rest = text; !rest.empty(); ++line) {
    const std::string_view row = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), row.size() + 1));
    std::array<std::string_view, kServerFields> fields;
    size_t count = 0;
    bool is_whole = false;
    for (size_t begin = 0; count < kServerFields; ++count) {
      const size_t end = std::min(row.find(kFieldEnd, begin), row.size());
      fields[count] = row.substr(begin, end - begin);
      if (end == row.size()) {
        ++count;
        is_whole = true;
        break;
      }
      begin = end + 1;
    }
    bool good = is_whole && (count == kServerFields || count == kServerFieldsBefore);
    const auto number = [&good](std::string_view field) -> std::optional<double> {
      if (field.empty()) return std::nullopt;
      const std::optional<double> value = parse_number(field);
      good = good && value.has_value();
      return value;
    };
    Server server;
    server.vendor = fields[0];
    server.name = fields[1];
    server.platform = fields[2];
    server.vcpus = number(fields[3]);
    server.memory_gib = number(fields[4]);
    if (!server.memory_gib)
      server.memory_gib = published_memory_gib(server.vendor, server.name, server.vcpus.value_or(0));
    server.threads_per_core = number(fields[5]);
    server.cores = number(fields[6]);
    server.source = fields[7];
    for (std::string_view facts = fields[8]; !facts.empty();) {
      const std::string_view fact = facts.substr(0, facts.find(' '));
      facts.remove_prefix(std::min(facts.size(), fact.size() + 1));
      if (fact.empty()) continue;
      const size_t equals = fact.find('=');
      good = good && equals != std::string_view::npos && equals > 0;
      if (!good) break;
      if (const auto value = number(fact.substr(equals + 1))) {
        // They stand in the order of their names.
        server.facts.insert_or_assign(server.facts.end(), std::string(fact.substr(0, equals)), *value);
      }
    }
    if (!good) {
      const std::string where = path + ".servers:" + std::to_string(line + 1);
      return Error{"bad-bundle", "a server's record is not understood", where, "a file written by perfcast train"};
    }
    servers.push_back(std::move(server));
  }
  return servers;
}

FactMatrix facts_as_matrix(const std::vector<Platform>& platforms) {
  std::set<std::string> names;
  for (const Platform& platform : platforms) {
    for (const auto& [name, value] : platform.facts) names.insert(name);
  }
  FactMatrix facts;
  facts.names.assign(names.begin(), names.end());
  facts.values.resize(static_cast<Eigen::Index>(platforms.size()), static_cast<Eigen::Index>(names.size()));
  for (Eigen::Index p = 0; p < facts.values.rows(); ++p) {
    const auto& stated = platforms[static_cast<size_t>(p)].facts;
    for (Eigen::Index f = 0; f < facts.values.cols(); ++f) {
      const auto found = stated.find(facts.names[static_cast<size_t>(f)]);
      facts.values(p, f) = found == stated.end() ? kUnknown : found->second;
    }
  }
  return facts;
}

void set_facts(const FactMatrix& facts, std::vector<Platform>& platforms) {
  for (Eigen::Index p = 0; p < facts.values.rows(); ++p) {
    auto& stated = platforms[static_cast<size_t>(p)].facts;
    for (Eigen::Index f = 0; f < facts.values.cols(); ++f) {
      if (!std::isfinite(facts.values(p, f))) continue;
      stated.emplace_hint(stated.end(), facts.names[static_cast<size_t>(f)], facts.values(p, f));
    }
  }
}

Json header_of(const Program& program) {
  return {{"id", program.id},        {"family", program.family},       {"group", program.group},
          {"suite", program.suite},  {"work_unit", program.work_unit}, {"excluded", program.excluded},
          {"source", program.source}};
}

Result<Program> program_from_header(const Json& json, const std::string& path) {
  JsonReader in(json, path);
  Program program;
  program.id = in.string("id");
  program.family = in.string("family");
  program.group = in.string("group");
  program.suite = in.string("suite");
  program.work_unit = in.string("work_unit");
  program.excluded = in.string("excluded");
  program.source = in.string("source");
  if (auto status = in.finish(); !status) return status.error();
  return program;
}

Json header_of(const ModelCard& card) {
  Json sources = Json::array();
  for (const Source& source : card.sources) {
    sources.push_back({{"id", source.id},
                       {"url", source.url},
                       {"licence", source.licence},
                       {"retrieved_utc", source.retrieved_utc},
                       {"note", source.note}});
  }
  return {{"name", card.name},
          {"created_utc", card.created_utc},
          {"perfcast_version", card.perfcast_version},
          {"model", card.model},
          {"licence", card.licence},
          {"notes", card.notes},
          {"sources", sources},
          {"scores", card.scores ? *card.scores : Json()}};
}

Result<ModelCard> card_from_header(const Json& json, const std::string& path) {
  JsonReader in(json, path);
  ModelCard card;
  card.name = in.string("name");
  card.created_utc = in.string("created_utc");
  card.perfcast_version = in.string("perfcast_version");
  card.model = in.string("model");
  card.licence = in.string("licence");
  card.notes = in.string("notes");
  if (const Json* sources = in.require_array("sources")) {
    for (size_t i = 0; i < sources->size(); ++i) {
      const std::string item = path + ".sources[" + std::to_string(i) + "]";
      JsonReader row((*sources)[i], item);
      Source source;
      source.id = row.string("id");
      source.url = row.string("url");
      source.licence = row.string("licence");
      source.retrieved_utc = row.string("retrieved_utc");
      source.note = row.string("note");
      if (auto status = row.finish(); !status) return status.error();
      card.sources.push_back(source);
    }
  }
  if (const Json* scores = in.object("scores")) card.scores = std::make_shared<const Json>(*scores);
  if (auto status = in.finish(); !status) return status.error();
  return card;
}

}  // namespace perfcast::program
