#pragma once
// The quality card and the contents of a corpus, for people and as JSON.

#include <string>

#include "base/json_fwd.h"
#include "program/corpus/quality/quality.h"

namespace perfcast::program {

// perfcast.corpus.check/1
Json to_json(const QualityCard& card);
std::string to_text(const QualityCard& card);

// perfcast.corpus.info/1: sources and licences, counts, platforms, programs.
Json info_json(const Corpus& corpus);
std::string info_text(const Corpus& corpus);

}  // namespace perfcast::program
