#pragma once
// A map of the code of each file that a program loads: what ran of it.

#include "base/figure/page.h"
#include "measure/diagnose/bloat/code_bloat.h"

namespace perfcast::measure {

// Rows of a file's code from its beginning to its end, in cells of as many bytes in every file; the largest files
// first. Without an instrumented run there is nothing to draw, and the caption says so.
Figure code_bloat_figure(const CodeBloat& bloat);

}  // namespace perfcast::measure
