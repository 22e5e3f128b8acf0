#pragma once
// The loops over one row's metrics. Plain loops over pointers that don't overlap: CMakeLists.txt has their file
// vectorised in every build. n: columns. NaN is an absent value.

#include <cstddef>

namespace perfcast::measure {

// z = (sign(x) log(1 + |x| / knee) - centre) / scale, within +-40; NaN stays.
void transform_row(size_t n, const double* values, const float* inverse_knee, const float* centre,
                   const float* inverse_scale, float* z);

// v = (e - median) / deviation, within +-most; 0 where absent.
void scale_row(size_t n, const float* e, const float* median, const float* inverse_deviation, float most, float* v);

// w_j = sum over k of v_k m[k][j].
void multiply_square(size_t n, const float* m, const float* v, float* w);

// One row into what is known of each metric's past; absent values leave it as it is. `reference_step` 0: the reference
// stays.
struct PastRow {
  float* last;        // the row before
  float* short_mean;  // over some 8 rows
  float* long_mean;   // over some 40
  float* reference;   // of the short mean, over a day or so
  float* step;        // mean of |z - last| over some 24
};
// How it stands to that; NaN where nothing is known. Upwards; downwards is the same with the other sign.
struct PastStatistics {
  float *value, *mean, *jump, *short_shift, *long_shift, *variation;
};
void follow_past(size_t n, const float* z, float reference_step, const PastRow& past, const PastStatistics& to);

// How far z and the mean lie above `high` and below `low`; NaN where these are.
void leave_range(size_t n, const float* z, const float* mean, const float* low, const float* high, float* above,
                 float* below, float* mean_above, float* mean_below);

// Means of w within +-12 over some 8 and some 40 rows; absent (NaN) leaves them.
void follow_means(size_t n, const float* w, float* short_mean, float* long_mean);

// low = min(low, z), high = max(high, z).
void widen_range(size_t n, const float* z, float* low, float* high);

// Values x sign beside their tails: block_most = max(block_most, x), nats = max(nats, x > bound ? base + (x - bound) /
// beta : 0). NaN: nothing.
void score_tail(size_t n, float sign, const float* value, const float* bound, const float* inverse_beta,
                const float* base, float* block_most, float* nats);

// y += x W for rows of 16 outputs at a time; y, of `stride` columns, a multiple of kOutputTile, holds each row's bias.
// A row's sums run over the inputs in their order, whatever other rows there are.
inline constexpr size_t kOutputTile = 16;
void multiply_rows(size_t rows, size_t inputs, size_t stride, const float* x, size_t x_stride, const float* weights,
                   float* y);

}  // namespace perfcast::measure
