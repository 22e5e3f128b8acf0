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

// u = (z - median) / deviation; 0 where absent.
void score_row(size_t n, const float* z, const float* median, const float* inverse, float* u);

// A step of `step` deviations towards the row, of median and deviation, which stays at `least` or above.
void adapt_row(size_t n, const float* z, float step, float least, float* median, float* deviation, float* inverse);

// Means of values within +-clip, exponentially weighted; and |value|, |mean|, |mean|.
struct MeanSteps {
  float clip, of_short, of_long;
};
void update_means(size_t n, const float* value, const MeanSteps& steps, float* short_mean, float* long_mean, float* now,
                  float* of_short, float* of_long);

// most = max(most, statistic > bound ? least + (statistic - bound) / beta : 0).
void score_channel(size_t n, float least, const float* statistic, const float* bound, const float* inverse_beta,
                   float* most);

// y += x W for rows of 16 outputs at a time; y, of `stride` columns, a multiple of kOutputTile, holds each row's bias.
// A row's sums run over the inputs in their order, whatever other rows there are.
inline constexpr size_t kOutputTile = 16;
void multiply_rows(size_t rows, size_t inputs, size_t stride, const float* x, size_t x_stride, const float* weights,
                   float* y);

}  // namespace perfcast::measure
