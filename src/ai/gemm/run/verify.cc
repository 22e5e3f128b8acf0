#include "ai/gemm/run/verify.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/random.h"

namespace perfcast::ai::gemm {
namespace {

constexpr double kElementBudget = 2e8;  // multiplications spent on rows compared element by element
constexpr double kWorst = 1e9;          // instead of infinity, which JSON has not

double excess(double difference, double allowed) {
  if (std::isnan(difference)) return kWorst;
  if (difference <= 0) return 0;
  return allowed > 0 ? std::min(kWorst, difference / allowed) : kWorst;
}

std::vector<int64_t> rows_to_compare(const Shape& shape, Random& random) {
  const double per_row = static_cast<double>(shape.n) * static_cast<double>(shape.k);
  const auto wanted = static_cast<int64_t>(std::clamp(kElementBudget / per_row, 3.0, static_cast<double>(kMaxSide)));
  std::vector<int64_t> rows;
  if (wanted >= shape.m) {
    rows.resize(static_cast<size_t>(shape.m));
    std::iota(rows.begin(), rows.end(), int64_t{0});
    return rows;
  }
  rows = {0, shape.m - 1};  // edges are where blocks go wrong
  while (static_cast<int64_t>(rows.size()) < wanted) {
    rows.push_back(static_cast<int64_t>(random.below(static_cast<uint64_t>(shape.m))));
  }
  return rows;
}

struct Elements {
  double worst = 0, squared_error = 0, squared_size = 0;
  int64_t row = 0, column = 0;
};

}  // namespace

Verdict verify(const Operands& operands, Precision precision, std::span<const double> c, uint64_t seed) {
  const auto [m, n, k] = operands.shape;
  const size_t width = static_cast<size_t>(n), depth = static_cast<size_t>(k);
  Random random(seed ^ 0x5eedu);
  const double roundoff = kBoundFactor * std::sqrt(static_cast<double>(k)) * sum_roundoff(precision);
  const double unit = product_unit(precision);
  // Rounded inputs are floats again, integers of int8 too.
  std::vector<float> b(operands.b.size());
  for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(rounded(operands.b[i], precision));

  Elements found;
  std::vector<double> sum(width), size(width), exact(width);
  for (const int64_t row : rows_to_compare(operands.shape, random)) {
    std::fill(sum.begin(), sum.end(), 0);
    std::fill(size.begin(), size.end(), 0);
    std::fill(exact.begin(), exact.end(), 0);
    for (size_t l = 0; l < depth; ++l) {
      const double original = operands.a[static_cast<size_t>(row) * depth + l];
      const double factor = rounded(static_cast<float>(original), precision);
      const float *row_b = b.data() + l * width, *original_b = operands.b.data() + l * width;
      for (size_t j = 0; j < width; ++j) {
        const double term = factor * static_cast<double>(row_b[j]);
        sum[j] += term;
        size[j] += std::abs(term);
        exact[j] += original * static_cast<double>(original_b[j]);
      }
    }
    for (size_t j = 0; j < width; ++j) {
      const double value = c[static_cast<size_t>(row) * width + j];
      const double ratio = excess(std::abs(value - sum[j]), roundoff * size[j]);
      if (ratio > found.worst) {
        found.worst = ratio;
        found.row = row;
        found.column = static_cast<int64_t>(j);
      }
      const double error = value * unit - exact[j];
      found.squared_error += error * error;
      found.squared_size += exact[j] * exact[j];
    }
  }

  // Freivalds. The error of a row is a sum of n errors with random signs: sqrt(n) of their size, 6 deviations of it.
  std::vector<double> signs(width);
  for (double& sign : signs) sign = (random.next() & 1) != 0 ? 1 : -1;
  std::vector<double> bx(depth), absolute(depth);
  for (size_t l = 0; l < depth; ++l) {
    for (size_t j = 0; j < width; ++j) {
      const double value = b[l * width + j];
      bx[l] += value * signs[j];
      absolute[l] += std::abs(value);
    }
  }
  const double deviations = 6 / std::sqrt(static_cast<double>(n));
  for (int64_t i = 0; i < m; ++i) {
    double expected = 0, allowed = 0, actual = 0;
    for (size_t l = 0; l < depth; ++l) {
      const double factor = rounded(operands.a[static_cast<size_t>(i) * depth + l], precision);
      expected += factor * bx[l];
      allowed += std::abs(factor) * absolute[l];
    }
    for (size_t j = 0; j < width; ++j) actual += c[static_cast<size_t>(i) * width + j] * signs[j];
    // Where n is small, errors may all have one sign: then their plain sum is the bound.
    const double ratio = excess(std::abs(actual - expected), roundoff * allowed * std::min(1.0, deviations));
    if (ratio > found.worst) {
      found.worst = ratio;
      found.row = i;
      found.column = -1;
    }
  }

  Verdict verdict;
  verdict.worst = found.worst;
  verdict.correct = found.worst <= 1;
  verdict.relative_error = found.squared_size > 0 ? std::sqrt(found.squared_error / found.squared_size)
                                                  : (found.squared_error > 0 ? kWorst : 0);
  if (std::isnan(verdict.relative_error)) verdict.relative_error = kWorst;
  if (!verdict.correct) {
    verdict.detail = "row " + std::to_string(found.row) +
                     (found.column >= 0 ? ", column " + std::to_string(found.column) : "") + " is wrong";
  }
  return verdict;
}

}  // namespace perfcast::ai::gemm
