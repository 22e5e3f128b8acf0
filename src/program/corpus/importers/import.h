#pragma once
// Importers turn a published data set, at a path that the user gives, into a corpus and a report of what they left out.

#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "program/corpus/corpus.h"
#include "program/corpus/program_catalogue.h"

namespace perfcast::program {

struct DroppedServer {
  std::string server;    // "vendor/name"
  std::string platform;  // id
  std::string reason;    // as in the exclusions
  double rate_ratio;     // its typical rate over its platform's; NaN where the reason is another
};

struct ImportReport {
  std::string format;
  int64_t servers_read_count = 0, servers_kept_count = 0;
  int64_t columns_read_count = 0, columns_used_count = 0;
  std::vector<DroppedServer> dropped_servers;
  std::vector<std::string> notes;             // how files were read, and warnings of profiles, each once
  std::vector<std::string> unknown_programs;  // not in the suite file; family by name, group "unknown"
};

struct Import {
  Corpus corpus;  // its exclusions say what was left out and why, with counts
  ImportReport report;
};

struct ImportFormat {
  std::string name;
  std::string description;
  Result<Import> (*read)(const std::string& path, const ProgramCatalogue& catalogue);
  std::vector<std::string> suites = {"suites/cloud.json"};  // shipped: the catalogue, unless others are named
  bool needs_suite = true;                                  // false: the source says enough of its programs by itself
  bool adds = false;                                        // one folder of many: what others gave before stays
};

// An explicit list; an unknown name is "bad-usage" with the valid ones listed.
const std::vector<ImportFormat>& import_formats();
Result<ImportFormat> find_import_format(const std::string& name);

// perfcast.import/1
Json to_json(const Import& result);
// For a person: what came in, what was left out and why.
std::string to_text(const Import& result);

}  // namespace perfcast::program
