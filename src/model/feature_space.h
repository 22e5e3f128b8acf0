#pragma once
// Which numbers a model sees of a profile. Chosen once from the training profiles and kept with the model, so that a
// forecast reads the same numbers that the model was fitted on.

#include <Eigen/Dense>
#include <string>
#include <vector>

#include "base/result.h"
#include "corpus/profile.h"

namespace perfcast {

class TensorMap;

class FeatureSpace {
 public:
  enum class Kind {
    kWork,      // model/features.h: causes of time per instruction; needs an instruction mix
    kCounters,  // whatever counters the training profiles share: a published data set, another profiler
  };

  FeatureSpace() = default;  // kWork

  // kWork where most training profiles have most of its numbers; else every counter that at least two profiles state
  // and that varies, and the platform that a profile was taken on where that varies.
  static FeatureSpace choose(const std::vector<const Profile*>& profiles);

  Kind kind() const { return kind_; }
  const std::vector<std::string>& names() const;  // F
  // [profiles x F]; absent is NaN. Counters that span orders of magnitude come as logarithms.
  Eigen::MatrixXd extract(const std::vector<const Profile*>& profiles) const;

  void save(TensorMap& tensors) const;
  // Absent in bundles of earlier versions, whose models all saw kWork.
  Status load(const TensorMap& tensors);

 private:
  struct Counter {
    std::string metric;
    bool logarithm = false;
    double floor = 0;  // added before the logarithm, so that 0 has one
  };
  Kind kind_ = Kind::kWork;
  std::vector<Counter> counters_;
  std::vector<std::string> hosts_;  // host.cpu_model, each a column of 0 and 1
  std::vector<std::string> names_;  // of kCounters
};

}  // namespace perfcast
