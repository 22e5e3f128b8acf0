#pragma once
// How alike platforms are by their facts: a covariance of functions over platforms, for Gaussian processes on times.
//
// k(i, j) = sum over kinds of facts g of slope_g <x_gi, x_gj> / F_g                       what grows with a fact
//           + line(i, j) exp(-1/2 sum over g of bend_g |x_gi - x_gj|^2 / F_g)             what like platforms share
//           + design [same core design] + provider [chance of the same cloud provider] + own [i = j]
// where x_g are the F_g standardised facts of a kind and line is 1 within a line of designs, `other_line` across.

#include <Eigen/Core>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "program/corpus/corpus.h"

namespace perfcast::program {

// Core: clocks, bandwidth and latency of what is nearest; caches, memory: of what is farther; sizes; instruction sets.
enum class FactKind { kCore, kCaches, kMemory, kSizes, kInstructions };
inline constexpr size_t kFactKinds = 5;

// What a fact of Platform::facts tells of; kFactKinds: nothing that is used here.
size_t fact_kind(std::string_view name);

// Platforms that share what one learns of one of them: a CPU's core design, a GPU's architecture.
std::string platform_design(const Platform& platform);

// Logs of a platform's positive facts in the order of `names`, NaN where absent. A clock of exactly 2 GHz is absent:
// it is what hypervisors state that know none.
std::vector<double> log_facts(const Platform& platform, const std::vector<std::string>& names);

struct PlatformKernel {
  std::array<double, kFactKinds> bend{0.3, 0.1, 0.3, 0.1, 0.05};
  std::array<double, kFactKinds> slope{0.1, 0.02, 0.02, 0.02, 0.02};
  double smooth = 1, other_line = 0.4, design = 0.03, provider = 0.1, own = 0.06;

  static constexpr size_t kParameters = 2 * kFactKinds + 5;
  std::array<double, kParameters> parameters() const;
  static PlatformKernel of(const std::array<double, kParameters>& parameters);
};

// The facts of all platforms, standardised over the known ones.
class PlatformLikeness {
 public:
  // Facts that fewer than 8 of the known platforms state, or a quarter of them where they are few, or that do not vary
  // there, are left out. One that a platform doesn't state is the mean of its design's, of its line's, or 0.
  PlatformLikeness(const std::vector<Platform>& platforms, const std::vector<size_t>& known);

  size_t platforms() const { return static_cast<size_t>(line_.rows()); }
  // [rows x columns] covariances.
  Eigen::MatrixXd covariance(const PlatformKernel& kernel, const std::vector<size_t>& rows,
                             const std::vector<size_t>& columns) const;
  // Of each platform: index of its design, in order of first appearance.
  const std::vector<size_t>& designs() const { return designs_; }
  // 1 where two platforms are of one line of designs, else 0.
  bool same_line(size_t a, size_t b) const;
  // Mean squared difference over all kinds of facts.
  double distance(size_t a, size_t b) const;
  // [platforms x F] standardised, of all kinds.
  const Eigen::MatrixXd& facts() const { return facts_; }

 private:
  std::array<Eigen::MatrixXd, kFactKinds> difference_, product_;  // [platforms x platforms]
  Eigen::MatrixXd line_, design_, provider_, facts_;
  std::vector<size_t> designs_;
};

}  // namespace perfcast::program
