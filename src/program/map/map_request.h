#pragma once
// What of a corpus goes into its map.

#include <string>
#include <vector>

#include "program/corpus/corpus.h"
#include "program/map/corpus_map.h"

namespace perfcast::program {

// Of a corpus without times: valid programs of the groups (none: all) with the first good profile of each, no
// platforms.
TrainingTable table_without_times(const Corpus& corpus, const std::vector<std::string>& groups);

// Valid programs of the groups with a good profile that aren't rows of the table: nobody timed them where it looks.
std::vector<NamedProfile> untimed_programs(const Corpus& corpus, const std::vector<std::string>& groups,
                                           const TrainingTable& table);

}  // namespace perfcast::program
