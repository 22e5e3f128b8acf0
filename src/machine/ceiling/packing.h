#pragma once
// Copies blocks of A and B into the order in which a register block reads them, so that its inner loop walks straight
// through memory. Edges are filled with zeros: the inner loop knows no edges.

#include <cstdint>

namespace perfcast {

inline int64_t round_up(int64_t value, int64_t step) { return (value + step - 1) / step * step; }

// Rows of A, `rows` x `depth` of row length `stride`, as panels of `panel` rows: for each panel and each l, the
// panel's column l. `out`: round_up(rows, panel) * depth floats.
void pack_rows(const float* a, int64_t stride, int64_t rows, int64_t depth, int64_t panel, float* out);

// Columns of B, `depth` x `columns` of row length `stride`, as panels of `panel` columns: for each panel and each l,
// the panel's row l. `out`: depth * round_up(columns, panel) floats.
void pack_columns(const float* b, int64_t stride, int64_t depth, int64_t columns, int64_t panel, float* out);

}  // namespace perfcast
