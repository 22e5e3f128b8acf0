#pragma once
// How far the times of two platforms of a kind lie apart: what is not known of a host that was matched by its design
// alone. From the bundle's training programs; each figure is computed when it is first asked for, and kept.

#include <memory>
#include <mutex>
#include <utility>

#include "program/model/bundle/bundle.h"

namespace perfcast::program {

class HostSpread {
 public:
  explicit HostSpread(std::shared_ptr<const Bundle> bundle) : bundle_(std::move(bundle)) {}

  // |log ratio| that the calibration's share (90%) of all (program, pair of platforms) stays below. Pairs are of one
  // microarchitecture; where there are none, as of_line().
  double of_design() const;
  // Of one line of cores; where there are none, any two; 0 where there is only one platform.
  double of_line() const;

 private:
  std::shared_ptr<const Bundle> bundle_;
  mutable std::once_flag design_known_, line_known_;
  mutable double design_ = 0, line_ = 0;
};

}  // namespace perfcast::program
