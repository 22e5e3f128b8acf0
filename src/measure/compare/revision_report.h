#pragma once
// Which revision made it slower, for people, for pull requests and as JSON (perfcast.revision-search/1).

#include <string>

#include "base/json_fwd.h"
#include "measure/compare/comparison_report.h"
#include "measure/compare/revision_comparison.h"

namespace perfcast::measure {

// "v1.2 (1a2b3c4 Make it work): ./prog input"
std::string revision_text(const std::string& as_given, const Revision& revision, const std::string& command);
std::string search_text(const RevisionSearch& search, const CommandTexts& commands, bool markdown = false);
Json search_json(const RevisionSearch& search, const CommandTexts& commands);

}  // namespace perfcast::measure
