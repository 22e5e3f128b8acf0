#include "program/model/forecast/host_spread.h"

#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/unknown.h"
#include "program/model/features/microarchitecture.h"
#include "program/model/forecast/calibration.h"

namespace perfcast::program {
namespace {

// NaN where no two platforms are of a kind.
template <typename KindOf>
double spread_among(const Bundle& bundle, const KindOf& kind_of) {
  std::vector<std::string> kinds;
  kinds.reserve(bundle.platforms.size());
  for (const Platform& platform : bundle.platforms) kinds.push_back(kind_of(platform));
  std::vector<double> ratios;
  std::map<std::string_view, size_t> of_kind;
  size_t pairs = 0;
  for (const std::string& kind : kinds) pairs += of_kind[kind]++;
  ratios.reserve(pairs * static_cast<size_t>(bundle.training_log_rpv.rows()));  // else the kernel clears twice as much
  for (size_t a = 0; a < bundle.platforms.size(); ++a) {
    for (size_t b = 0; b < a; ++b) {
      if (kinds[a] != kinds[b]) continue;
      const auto times = bundle.training_log_rpv.col(static_cast<int64_t>(a));
      const auto others = bundle.training_log_rpv.col(static_cast<int64_t>(b));
      for (Eigen::Index i = 0; i < times.size(); ++i) {
        const double ratio = std::abs(times(i) - others(i));
        if (!std::isnan(ratio)) ratios.push_back(ratio);
      }
    }
  }
  return unweighted_quantile(std::move(ratios), bundle.calibration.coverage);
}

}  // namespace

double HostSpread::of_design() const {
  std::call_once(design_known_, [this] {
    design_ = spread_among(*bundle_, microarchitecture);
    if (std::isnan(design_)) design_ = of_line();
  });
  return design_;
}

double HostSpread::of_line() const {
  std::call_once(line_known_, [this] {
    line_ = spread_among(*bundle_, core_line);
    if (std::isnan(line_)) line_ = spread_among(*bundle_, [](const Platform&) { return std::string(); });
    if (std::isnan(line_)) line_ = 0;
  });
  return line_;
}

}  // namespace perfcast::program
