#pragma once
// What measured kernels say beyond a form, at their shapes and between them: log(measured / form), linear in the log of
// each size. Exact at measured shapes; beyond the outermost ones as there.

#include <array>
#include <optional>
#include <vector>

#include "ai/latency/model/kernel_shape.h"

namespace perfcast::ai {

class KernelResiduals {
 public:
  struct Found {
    double log_ratio = 0;
    double outside = 0;  // how far beyond the outermost measured sizes, as a log; 0: inside
  };

  // Shapes in any order; of equal ones the last counts. Call finish() before find().
  void add(const KernelShape& shape, double log_ratio);
  void finish();

  // None where nothing was measured of this kind and format, head dimension and window, number of experts and of those
  // chosen, skew and degree of expert parallelism: these are never interpolated. A window as long as the context counts
  // as none.
  std::optional<Found> find(const KernelShape& shape) const;
  // Where nothing was, the mean of what the others of this kind and format have at these sizes.
  std::optional<Found> find_alike(const KernelShape& shape) const;

  struct Point {
    std::array<float, 4> at{};  // logs of sizes, the outermost axis first; unused ones 0
    double log_ratio = 0;
  };
  struct Group {
    KernelShape rest;           // kind, format and what is never interpolated; the other sizes are 0
    std::vector<Point> points;  // in order
  };
  const std::vector<Group>& groups() const { return groups_; }
  size_t size() const;
  bool covers(KernelKind kind, KernelFormat format) const;

 private:
  std::vector<Group> groups_;
};

// The sizes that are interpolated, the outermost first.
struct KernelAxes {
  std::array<size_t, 4> axis{};
  size_t count = 0;
};
KernelAxes interpolated_axes(KernelKind kind);

}  // namespace perfcast::ai
