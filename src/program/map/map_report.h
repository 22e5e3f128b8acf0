#pragma once
// A map of a corpus as text for a terminal and as JSON.

#include <string>

#include "base/json_fwd.h"
#include "program/map/corpus_map.h"

namespace perfcast::program {

// `corpus`: its file, for people.
std::string to_text(const CorpusMap& map, const std::string& corpus);
Json to_json(const CorpusMap& map, const std::string& corpus);  // perfcast.corpus-map/1

// "+1.9 sd".
std::string deviation_text(double deviations);
// A difference of logs as a share: 0.05 -> "5.1%".
std::string log_percent_text(double log);

}  // namespace perfcast::program
