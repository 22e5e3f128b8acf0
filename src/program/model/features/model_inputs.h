#pragma once
// Which numbers a model sees of a profile. Chosen once from the training profiles and kept with the model, so that a
// forecast reads the same numbers that the model was fitted on.

#include <Eigen/Core>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "profile/profile.h"
#include "program/corpus/corpus.h"

namespace perfcast {
class TensorMap;
}  // namespace perfcast

namespace perfcast::program {

class ModelInputs {
 public:
  enum class Kind {
    // program/model/features/work_features.h: causes of time per instruction; needs an instruction mix. Where most
    // training profiles have them, what core models make of the program, too: "relative_core_<design>_cycles_count".
    kWork,
    kCounters,  // whatever counters the training profiles share: a published data set, another profiler, Table I
  };

  ModelInputs() = default;  // kWork, no source

  // kWork where most training profiles have most of its numbers and all counters may be seen; else every counter that
  // at least two profiles state and that varies. Then the source: the platform that a profile was taken on, as
  // inputs.source has it, where that varies.
  static ModelInputs choose(const std::vector<const Profile*>& profiles, const InputChoice& inputs = {});
  static ModelInputs choose(const TrainingTable& table);

  Kind kind() const { return kind_; }
  const std::vector<std::string>& names() const;  // F: counters, then the source's "on_<platform>" or "source_<fact>"
  int64_t source_columns() const { return static_cast<int64_t>(hosts_.size() + facts_.size()); }
  // [profiles x F]; absent is NaN. Counters and facts that span orders of magnitude come as logarithms. A platform that
  // no training profile was taken on is none of "on_...": 0 in each; its facts are those that the profile states.
  Eigen::MatrixXd extract(const std::vector<const Profile*>& profiles) const;

  // Counters that kCounters reads and the profile doesn't state; of kWork none are told.
  std::vector<std::string> missing_counters(const Profile& profile) const;

  // Whether the model's inputs tell the platform that the profile was taken on; true where none of them is the source.
  bool knows_source(const Profile& profile) const;
  // Platforms that training profiles were taken on; empty where the source is no input.
  std::vector<std::string> sources() const;

  // Counters that choose() left out; only in what it gave, not after load().
  bool counters_vary() const { return varies_; }                          // between the profiles that it was chosen for
  const std::vector<std::string>& constant() const { return constant_; }  // the same in every profile
  const std::vector<std::string>& in_one_only() const { return one_only_; }  // stated by one profile, or never finite

  void save(TensorMap& tensors) const;
  // Absent in bundles of earlier versions, whose models all saw kWork.
  Status load(const TensorMap& tensors);

 private:
  struct Counter {
    std::string metric;
    bool logarithm = false;
    double floor = 0;  // added before the logarithm, so that 0 has one
    double read(const std::map<std::string, double, std::less<>>& values) const;
    std::string name() const { return (logarithm ? "log_" : "") + metric; }
  };
  using Facts = std::map<std::string, double, std::less<>>;

  // Of those values that vary; `left_out` is told of the others.
  static std::vector<Counter> varying(const std::vector<Facts>& rows, ModelInputs* left_out);
  static Status read_counters(const Json& json, std::vector<Counter>& counters);
  void choose_source(const std::vector<const Profile*>& profiles, const InputChoice& inputs);
  Facts facts_of(const Profile& profile) const;
  void make_names();

  Kind kind_ = Kind::kWork;
  bool cores_ = false;   // relative_log_cycles() after the others of kWork
  bool table1_ = false;  // counters that the profile lacks are derived, as the catalogue has it
  std::vector<Counter> counters_;
  std::vector<std::string> hosts_;           // host.name, each a column of 0 and 1; sorted
  std::vector<Counter> facts_;               // of the source
  std::map<std::string, Facts> host_facts_;  // of training hosts, the facts above
  std::vector<std::string> names_;           // empty: work_feature_names() alone
  bool varies_ = true;
  std::vector<std::string> constant_, one_only_;
};

// Says what models of the table see, where that is not simply all: counters of Table I that are there and that lack,
// columns left out as constant, the source. "missing-counters": none of Table I's is there. "unknown-source": nothing
// is known of the platforms that profiles were taken on, or all were taken on one.
Result<std::vector<std::string>> describe_inputs(const TrainingTable& table);

}  // namespace perfcast::program
