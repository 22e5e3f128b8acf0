#pragma once
// Where one CPU's name stands for machines of several speeds at several cloud providers.

#include <string>
#include <vector>

#include "program/corpus/importers/server_screening.h"

namespace perfcast::program {

// A platform whose providers differ, and into which groups it falls.
struct ProviderSplit {
  size_t platform = 0;  // as ScreenedServer::platform
  std::vector<std::vector<std::string>>
      groups;              // of providers, each sorted; two at least, that with most servers first
  double apart_ratio = 0;  // how far the first two are apart: median over programs of |log ratio|
  double own_ratio = 0;    // how far servers of one of the two providers are from its medians
};

// Two providers are compared by the first of `parts` in which each has kFewestServersCompared servers that don't share
// their cores, with kFewestProgramsCompared programs in common. Of each program the medians over the servers are
// compared. The providers differ where the median over programs of the absolute log ratio is kApart or more, and
// kOverSpread times what a provider's own servers are away from its medians (the same measure, of the typical server of
// the worse provider). A provider joins the nearest of those before it, largest first, from whom it does not differ;
// one that can't be compared joins the largest. `parts` hold the same servers in the same order.
std::vector<ProviderSplit> split_by_provider(const std::vector<std::vector<ScreenedServer>>& parts);

inline constexpr size_t kFewestServersCompared = 2, kFewestProgramsCompared = 5;
inline constexpr double kApart = 0.06, kOverSpread = 2;

}  // namespace perfcast::program
