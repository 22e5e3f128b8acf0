#pragma once
// Names to indices in order of first appearance: the owners and programs of a workload while it is read.

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace perfcast::fleet {

class NameIndex {
 public:
  explicit NameIndex(std::vector<std::string>& names) : names_(names) {}

  int32_t of(const std::string& name) {
    const auto [at, is_new] = index_.try_emplace(name, static_cast<int32_t>(names_.size()));
    if (is_new) names_.push_back(name);
    return at->second;
  }

 private:
  std::vector<std::string>& names_;
  std::unordered_map<std::string, int32_t> index_;
};

}  // namespace perfcast::fleet
