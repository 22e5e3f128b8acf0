#pragma once
// The code that a program loads, and what of it ran: for people, and as JSON (`bloat` of perfcast.diagnosis/1).

#include <string>

#include "base/json_fwd.h"
#include "measure/diagnose/bloat/code_bloat.h"

namespace perfcast::measure {

std::string code_bloat_text(const CodeBloat& bloat);
Json code_bloat_json(const CodeBloat& bloat);

}  // namespace perfcast::measure
