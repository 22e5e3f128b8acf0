#pragma once
// The drawings of a map: programs in a plane, and what dropping costs.

#include "base/figure/page.h"
#include "program/map/corpus_map.h"

namespace perfcast::program {

Figure principal_plane_figure(const CorpusMap& map);
Figure tsne_figure(const CorpusMap& map);  // without images where there are no such points
Figure drop_cost_figure(const CorpusMap& map);

// "compress.gzip.9.c" -> "gzip.9.c": what suites put before is the same for all of a kind.
std::string short_program_name(const std::string& id);

}  // namespace perfcast::program
