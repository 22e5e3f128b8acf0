#pragma once
// A corpus as a folder of plain tables, for other tools: sources.csv, platforms.csv, facts.csv, servers.csv,
// programs.csv, runs.csv, exclusions.csv and profiles.jsonl (one perfcast.profile/1 per line, with program and source).

#include <string>

#include "corpus/corpus.h"

namespace perfcast {

// Each file is written whole or not at all; the folder is created where absent.
Status write_tables(const Corpus& corpus, const std::string& folder);

}  // namespace perfcast
