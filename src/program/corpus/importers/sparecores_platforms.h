#pragma once
// From the server table of Spare Cores to platforms: which servers are one CPU model, and what is known about it.

#include <optional>
#include <string>
#include <vector>

#include "base/csv.h"
#include "program/corpus/corpus.h"

namespace perfcast::program {

struct SparecoresServer {
  Server server;  // platform, source: filled in by group_platforms()
  std::string cpu_model, arch, cpu_vendor;
  std::string
      name;  // of the CPU: the chip's where `cpu_model` is a core's, else `cpu_model`; split by provider where need be
  std::optional<int64_t> cpu_family, model, stepping;
  std::map<std::string, double> facts;  // of this server, by the platform's fact names
  std::vector<std::string> flags;
  size_t platform = 0;  // index
  std::string id() const { return server.vendor + "/" + server.name; }
};

// Error "missing-column" where vendor, server, arch or cpu_model lack; any other column may be absent or unreadable.
Result<std::vector<SparecoresServer>> read_sparecores_servers(const CsvTable& table);

// One platform per name of a CPU, sorted; one name over several families or models makes several. Sets server.platform
// of each.
std::vector<Platform> group_platforms(std::vector<SparecoresServer>& servers, const std::string& source);

// What a server says of itself that matters when all of it is busy: its caches, and the rate at which all its vCPUs
// together read memory, by the largest table that was timed.
void set_own_facts(SparecoresServer& server);

// Medians of the facts and the flags that most have, over the servers for which `use` is true, or all of a platform's
// where it holds for none.
void gather_facts(const std::vector<SparecoresServer>& servers, const std::vector<bool>& use,
                  std::vector<Platform>& platforms);

}  // namespace perfcast::program
