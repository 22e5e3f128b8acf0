#pragma once
// A map of a corpus as one HTML file: pictures, and all numbers in tables.

#include <string>

#include "program/map/corpus_map.h"

namespace perfcast::program {

// `corpus`: its file, for people.
std::string map_page(const CorpusMap& map, const std::string& corpus);

}  // namespace perfcast::program
