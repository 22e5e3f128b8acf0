#include "model/feature_space.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "model/bundle.h"
#include "model/features.h"

namespace perfcast {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kMostFeatures = 0.5;  // share of kWork's numbers that a profile must have
constexpr double kMostProfiles = 0.8;  // share of the profiles that must
constexpr double kWideRange = 20;      // largest over smallest positive value from which ratios matter
constexpr double kSameValue = 1e-12;   // relative; a counter that varies less is constant
constexpr const char* kTensor = "feature_space";

bool has_work(const std::vector<const Profile*>& profiles) {
  const Eigen::MatrixXd features = extract_features(profiles);
  int64_t enough = 0;
  for (Eigen::Index p = 0; p < features.rows(); ++p) {
    const auto stated = static_cast<double>((!features.row(p).array().isNaN()).count());
    enough += stated >= kMostFeatures * static_cast<double>(features.cols()) ? 1 : 0;
  }
  return static_cast<double>(enough) >= kMostProfiles * static_cast<double>(features.rows());
}

}  // namespace

FeatureSpace FeatureSpace::choose(const std::vector<const Profile*>& profiles) {
  FeatureSpace space;
  if (profiles.empty() || has_work(profiles)) return space;
  space.kind_ = Kind::kCounters;
  struct Range {
    size_t stated = 0;
    double least = std::numeric_limits<double>::infinity(), most = -least, least_positive = least;
  };
  std::map<std::string, Range> ranges;
  std::set<std::string> hosts;
  for (const Profile* profile : profiles) {
    hosts.insert(profile->host.cpu_model);
    for (const auto& [name, value] : profile->metrics) {
      if (!std::isfinite(value)) continue;
      Range& range = ranges[name];
      ++range.stated;
      range.least = std::min(range.least, value);
      range.most = std::max(range.most, value);
      if (value > 0) range.least_positive = std::min(range.least_positive, value);
    }
  }
  for (const auto& [name, range] : ranges) {
    const double magnitude = std::max(std::abs(range.least), std::abs(range.most));
    if (range.stated < 2 || range.most - range.least <= kSameValue * magnitude) continue;
    const bool logarithm = range.least >= 0 && range.most > kWideRange * range.least_positive;
    space.counters_.push_back({name, logarithm, logarithm && range.least == 0 ? range.least_positive / 2 : 0});
    space.names_.push_back(logarithm ? "log_" + name : name);
  }
  if (hosts.size() > 1) {
    space.hosts_.assign(hosts.begin(), hosts.end());
    for (const std::string& host : space.hosts_) space.names_.push_back("on_" + host);
  }
  return space;
}

const std::vector<std::string>& FeatureSpace::names() const { return kind_ == Kind::kWork ? feature_names() : names_; }

Eigen::MatrixXd FeatureSpace::extract(const std::vector<const Profile*>& profiles) const {
  if (kind_ == Kind::kWork) return extract_features(profiles);
  Eigen::MatrixXd result(static_cast<Eigen::Index>(profiles.size()), static_cast<Eigen::Index>(names_.size()));
  for (Eigen::Index p = 0; p < result.rows(); ++p) {
    const Profile& profile = *profiles[static_cast<size_t>(p)];
    Eigen::Index column = 0;
    auto have = profile.metrics.begin();  // both lists are sorted
    for (const Counter& counter : counters_) {
      while (have != profile.metrics.end() && have->first < counter.metric) ++have;
      double value = have != profile.metrics.end() && have->first == counter.metric ? have->second : kNaN;
      if (counter.logarithm) value = value >= 0 && value + counter.floor > 0 ? std::log(value + counter.floor) : kNaN;
      result(p, column++) = std::isfinite(value) ? value : kNaN;
    }
    const bool known = std::binary_search(hosts_.begin(), hosts_.end(), profile.host.cpu_model);
    for (const std::string& host : hosts_) {
      result(p, column++) = !known ? kNaN : host == profile.host.cpu_model ? 1 : 0;
    }
  }
  return result;
}

void FeatureSpace::save(TensorMap& tensors) const {
  Json json = {{"kind", kind_ == Kind::kWork ? "work" : "counters"}};
  if (kind_ == Kind::kCounters) {
    Json& counters = json["counters"] = Json::array();
    for (const Counter& counter : counters_) {
      counters.push_back({{"metric", counter.metric}, {"logarithm", counter.logarithm}, {"floor", counter.floor}});
    }
    json["hosts"] = hosts_;
  }
  tensors.put_json(kTensor, std::move(json));
}

Status FeatureSpace::load(const TensorMap& tensors) {
  *this = FeatureSpace();
  const auto json = tensors.get_json(kTensor);
  if (!json) return {};
  const Error bad{"bad-bundle", "the list of features is damaged", kTensor, "a bundle written by perfcast train"};
  if (!json->is_object() || !json->contains("kind") || !(*json)["kind"].is_string()) return bad;
  if ((*json)["kind"] == "work") return {};
  if ((*json)["kind"] != "counters" || !json->contains("counters") || !(*json)["counters"].is_array()) return bad;
  kind_ = Kind::kCounters;
  for (const Json& item : (*json)["counters"]) {
    if (!item.is_object() || !item.contains("metric") || !item["metric"].is_string() || !item.contains("logarithm") ||
        !item["logarithm"].is_boolean() || !item.contains("floor") || !item["floor"].is_number()) {
      return bad;
    }
    Counter counter{item["metric"], item["logarithm"], item["floor"]};
    if (!counters_.empty() && !(counters_.back().metric < counter.metric)) return bad;
    names_.push_back(counter.logarithm ? "log_" + counter.metric : counter.metric);
    counters_.push_back(std::move(counter));
  }
  if (json->contains("hosts")) {
    if (!(*json)["hosts"].is_array()) return bad;
    for (const Json& host : (*json)["hosts"]) {
      if (!host.is_string() || (!hosts_.empty() && !(hosts_.back() < host.get<std::string>()))) return bad;
      hosts_.push_back(host);
      names_.push_back("on_" + hosts_.back());
    }
  }
  if (names_.empty()) return bad;
  return {};
}

}  // namespace perfcast
