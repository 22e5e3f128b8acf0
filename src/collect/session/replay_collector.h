#pragma once
// A stored profile in the place of measurements: no tool is needed, the result is always the same.

#include <string>

#include "collect/collector.h"

namespace perfcast {

class ReplayCollector : public Collector {
 public:
  explicit ReplayCollector(Profile profile) : profile_(std::move(profile)) {}
  static Result<ReplayCollector> open(const std::string& path);

  std::string name() const override { return "replay"; }
  Status available() const override { return {}; }
  // The command is not run. The stored metrics, missing ones and warnings.
  CollectResult collect(const CollectRequest& request) override;

 private:
  Profile profile_;
};

}  // namespace perfcast
