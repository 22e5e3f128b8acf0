#pragma once
// A map of a corpus as text for a terminal and as JSON.

#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/report/table.h"
#include "program/map/corpus_map.h"

namespace perfcast::program {

// `corpus`: its file, for people.
std::string to_text(const CorpusMap& map, const std::string& corpus);
Json to_json(const CorpusMap& map, const std::string& corpus);  // perfcast.corpus-map/1

// As people, pages and JSON have them.
ReportTable pairs_table(const std::vector<RedundantPair>& pairs);
ReportTable drops_table(const std::vector<DropStep>& drops);
ReportTable gains_table(const std::vector<ProgramGain>& gains);
ReportTable programs_table(const std::vector<MappedProgram>& programs);
// What forecasts are worth before anything is dropped, where that is known, then the drops.
std::vector<DropStep> drops_from_nothing(const CorpusMap& map);

std::string near_text(const std::vector<NearProgram>& near);    // "sort (0.12), gzip (0.20)"
std::string marks_text(const std::vector<FeatureMark>& marks);  // "loads +1.9 sd; ..."; empty: nothing marks it
// "+1.9 sd".
std::string deviation_text(double deviations);
// A difference of logs as a share: 0.05 -> "5.1%".
std::string log_percent_text(double log);

}  // namespace perfcast::program
