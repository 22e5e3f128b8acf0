#include "model/bundle_records.h"

namespace perfcast {
namespace {

// Absent stays absent: no null, no zero.
template <typename T>
void put_if(Json& json, const char* key, const std::optional<T>& value) {
  if (value) json[key] = *value;
}

std::optional<int64_t> optional_integer(JsonReader& in, const char* key) {
  const std::optional<double> value = in.optional_number(key);
  if (!value || *value < -9e15 || *value > 9e15) return std::nullopt;
  return static_cast<int64_t>(*value);
}

}  // namespace

Json header_of(const Platform& platform) {
  Json json = {{"id", platform.id},
               {"name", platform.name},
               {"kind", platform.kind},
               {"arch", platform.arch},
               {"vendor", platform.vendor}};
  put_if(json, "cpu_family", platform.cpu_family);
  put_if(json, "model", platform.model);
  put_if(json, "stepping", platform.stepping);
  json["facts"] = platform.facts;
  json["flags"] = platform.flags;
  json["source"] = platform.source;
  return json;
}

Result<Platform> platform_from_header(const Json& json, const std::string& path) {
  JsonReader in(json, path);
  Platform platform;
  platform.id = in.string("id");
  platform.name = in.string("name");
  platform.kind = in.string("kind");
  platform.arch = in.string("arch");
  platform.vendor = in.string("vendor");
  platform.cpu_family = optional_integer(in, "cpu_family");
  platform.model = optional_integer(in, "model");
  platform.stepping = optional_integer(in, "stepping");
  if (const Json* facts = in.object("facts")) {
    for (const auto& [name, value] : facts->items()) {
      if (value.is_number()) {
        platform.facts[name] = value.get<double>();
      } else {
        in.complain("facts." + name, value.type_name(), "a number");
      }
    }
  }
  platform.flags = in.strings("flags");
  platform.source = in.string("source");
  if (auto status = in.finish(); !status) return status.error();
  return platform;
}

// Servers are thousands: a row each, not an object, keeps reading a bundle fast.
Json header_of(const Server& server) {
  const auto value = [](const std::optional<double>& number) { return number ? Json(*number) : Json(nullptr); };
  return Json::array({server.vendor, server.name, server.platform, value(server.vcpus), value(server.memory_gib),
                      value(server.threads_per_core), value(server.cores), server.source});
}

Result<Server> server_from_header(const Json& json, const std::string& path) {
  const Error bad{"bad-json-field", path + " is no server record", path,
                  "[vendor, name, platform, vcpus, memory_gib, threads_per_core, cores, source]"};
  if (!json.is_array() || json.size() != 8) return bad;
  for (const size_t i : {0, 1, 2, 7}) {
    if (!json[i].is_string()) return bad;
  }
  const auto number = [&json](size_t i) {
    return json[i].is_number() ? std::optional<double>(json[i].get<double>()) : std::nullopt;
  };
  Server server;
  server.vendor = json[0].get<std::string>();
  server.name = json[1].get<std::string>();
  server.platform = json[2].get<std::string>();
  server.vcpus = number(3);
  server.memory_gib = number(4);
  server.threads_per_core = number(5);
  server.cores = number(6);
  server.source = json[7].get<std::string>();
  return server;
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

Json header_of(const HostFacts& host) {
  Json json = {{"cpu_model", host.cpu_model}, {"cpu_vendor", host.cpu_vendor}, {"arch", host.arch}};
  put_if(json, "cpu_family", host.cpu_family);
  put_if(json, "model", host.model);
  put_if(json, "stepping", host.stepping);
  put_if(json, "logical_cpus", host.logical_cpus);
  put_if(json, "memory_bytes", host.memory_bytes);
  put_if(json, "l1d_bytes", host.l1d_bytes);
  put_if(json, "l1i_bytes", host.l1i_bytes);
  put_if(json, "l2_bytes", host.l2_bytes);
  put_if(json, "l3_bytes", host.l3_bytes);
  json["cpu_flags"] = host.cpu_flags;
  json["kernel"] = host.kernel;
  json["os"] = host.os;
  json["hypervisor"] = host.hypervisor;
  return json;
}

Result<HostFacts> host_from_header(const Json& json, const std::string& path) {
  JsonReader in(json, path);
  HostFacts host;
  host.cpu_model = in.string("cpu_model");
  host.cpu_vendor = in.string("cpu_vendor");
  host.arch = in.string("arch");
  host.cpu_family = optional_integer(in, "cpu_family");
  host.model = optional_integer(in, "model");
  host.stepping = optional_integer(in, "stepping");
  host.logical_cpus = optional_integer(in, "logical_cpus");
  host.memory_bytes = in.optional_number("memory_bytes");
  host.l1d_bytes = in.optional_number("l1d_bytes");
  host.l1i_bytes = in.optional_number("l1i_bytes");
  host.l2_bytes = in.optional_number("l2_bytes");
  host.l3_bytes = in.optional_number("l3_bytes");
  host.cpu_flags = in.strings("cpu_flags");
  host.kernel = in.string("kernel");
  host.os = in.string("os");
  host.hypervisor = in.string("hypervisor");
  if (auto status = in.finish(); !status) return status.error();
  return host;
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
          {"scores", card.scores}};
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
  if (const Json* scores = in.object("scores")) card.scores = *scores;
  if (auto status = in.finish(); !status) return status.error();
  return card;
}

}  // namespace perfcast
