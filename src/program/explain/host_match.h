#pragma once
// Which known platform a host is, or is nearest to, by its CPU facts. Clouds hide names and some hypervisors report a
// family and model that contradict the instruction sets: no single fact is trusted.

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "program/corpus/corpus.h"

namespace perfcast::program {

struct HostMatch {
  enum class Certainty {
    kName,   // the same model name, one that names a model; the only one whose core or provider the name leaves open; a
             // platform whose facts were read on such a machine, which agree in all; or the user says so
    kModel,  // the same CPU family and model, and no fact that contradicts; or one of several that the name stands for
    kNearest,  // another CPU of the same vendor
  };
  size_t platform = 0;  // index
  Certainty certainty = Certainty::kNearest;
  std::string how;  // for people: "same CPU family 25 and model 1", "nearest by flags and caches; differs in model"
  std::vector<size_t> runners_up;  // indices of the next near platforms, at most kRunnersUp; none beside a sure match
  static constexpr size_t kRunnersUp = 3;
};

// None where no platform has the host's architecture and vendor. For one of the host's name it is enough that what both
// state of these agrees.
std::optional<HostMatch> match_host(const HostFacts& host, const std::vector<Platform>& platforms);

// The same for many profiles of few hosts, from any thread: the hosts seen last are remembered.
class HostMatcher {
 public:
  // `platforms` must outlive it.
  explicit HostMatcher(const std::vector<Platform>& platforms) : platforms_(platforms) {}
  std::optional<HostMatch> match(const HostFacts& host) const;

 private:
  struct Known {
    HostFacts host;
    std::optional<HostMatch> match;
  };
  const std::vector<Platform>& platforms_;
  mutable std::mutex lock_;
  mutable std::deque<Known> known_;  // the newest in front
};

std::string to_string(HostMatch::Certainty certainty);  // "name", "model", "nearest"

}  // namespace perfcast::program
