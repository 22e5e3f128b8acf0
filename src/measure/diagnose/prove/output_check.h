#pragma once
// Whether another command prints what the user's prints, byte by byte: a program that is faster and wrong is no gain.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/process/process.h"
#include "base/process/temp_folder.h"
#include "base/result.h"

namespace perfcast::measure {

enum class SameOutput {
  kSame,
  kDiffers,
  kVaries,  // the user's command prints something else each time: nothing can be said
};

class OutputCheck {
 public:
  OutputCheck(std::vector<std::string> command, double limit_s, AroundRun around = {})
      : command_(std::move(command)), limit_s_(limit_s), around_(std::move(around)) {}

  // Runs the other command once, the user's twice the first time. Errors: "program-failed" where the other fails,
  // run_process()'s.
  Result<SameOutput> compare(const std::vector<std::string>& other);

 private:
  struct Printed {
    uint64_t bytes = 0, hash = 0;
    bool operator==(const Printed&) const = default;
  };
  class PipeReader;
  Result<Printed> printed_by(const std::vector<std::string>& command) const;

  std::vector<std::string> command_;
  double limit_s_;
  AroundRun around_;
  std::optional<Printed> own_;
  std::optional<Error> own_failed_;
  bool varies_ = false;
};

}  // namespace perfcast::measure
