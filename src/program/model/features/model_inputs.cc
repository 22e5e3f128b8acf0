#include "program/model/features/model_inputs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/json.h"
#include "base/text.h"
#include "base/unknown.h"
#include "learn/tensors/tensor_map.h"
#include "machine/facts/caches.h"
#include "profile/metrics/catalogue.h"
#include "program/model/cores/modelled_cycles.h"
#include "program/model/features/work_features.h"

namespace perfcast::program {
namespace {

constexpr const char* kInstructionsCount = "instructions_count";
constexpr double kMostFeatures = 0.5;  // share of kWork's numbers that a profile must have
constexpr double kMostProfiles = 0.8;  // share of the profiles that must
constexpr double kWideRange = 20;      // largest over smallest positive value from which ratios matter
constexpr double kSameValue = 1e-12;   // relative; a counter that varies less is constant
constexpr const char* kTensor = "feature_space";

bool has_work(const std::vector<const Profile*>& profiles) {
  const Eigen::MatrixXd features = extract_work_features(profiles);
  int64_t enough = 0;
  for (Eigen::Index p = 0; p < features.rows(); ++p) {
    const auto stated = static_cast<double>((!features.row(p).array().isNaN()).count());
    enough += stated >= kMostFeatures * static_cast<double>(features.cols()) ? 1 : 0;
  }
  return static_cast<double>(enough) >= kMostProfiles * static_cast<double>(features.rows());
}

// The counters of Table I that the profile states or that follow from what it states.
MetricValues table1_of(const Profile& profile) {
  const Catalogue& catalogue = Catalogue::built_in();
  MetricValues values;
  const MetricValues all = catalogue.derive(profile.metrics);
  for (const Metric& metric : catalogue.metrics()) {
    if (metric.table1.empty()) continue;
    if (const auto found = all.find(metric.name); found != all.end()) values[metric.name] = found->second;
  }
  return values;
}

// What a profile itself says of its host, by the names that platforms' facts have.
std::map<std::string, double> stated_facts(const HostFacts& host) {
  std::map<std::string, double> facts;
  for (const CacheField& field : kCacheFields) {
    if (const auto& bytes = host.*field.bytes) facts[field.name] = *bytes;
  }
  return facts;
}

std::set<std::string> hosts_of(const std::vector<const Profile*>& profiles) {
  std::set<std::string> hosts;
  for (const Profile* profile : profiles) {
    if (!profile->host.name.empty()) hosts.insert(profile->host.name);
  }
  return hosts;
}

// Most of them say what core models make of the program.
bool have_cores(const std::vector<const Profile*>& profiles) {
  const auto has = [](const Profile* profile) { return profile->metrics.contains(core_metrics().front()); };
  return 2 * std::count_if(profiles.begin(), profiles.end(), has) > static_cast<std::ptrdiff_t>(profiles.size());
}

}  // namespace

double ModelInputs::Counter::read(const Facts& values) const {
  const auto found = values.find(metric);
  double value = found == values.end() ? kUnknown : found->second;
  if (logarithm) value = value >= 0 && value + floor > 0 ? std::log(value + floor) : kUnknown;
  return std::isfinite(value) ? value : kUnknown;
}

std::vector<ModelInputs::Counter> ModelInputs::varying(const std::vector<Facts>& rows, ModelInputs* left_out) {
  struct Range {
    size_t stated = 0;
    double least = std::numeric_limits<double>::infinity(), most = -least, least_positive = least;
  };
  std::map<std::string, Range> ranges;
  for (const Facts& row : rows) {
    for (const auto& [name, value] : row) {
      Range& range = ranges[name];
      if (!std::isfinite(value)) continue;
      ++range.stated;
      range.least = std::min(range.least, value);
      range.most = std::max(range.most, value);
      if (value > 0) range.least_positive = std::min(range.least_positive, value);
    }
  }
  std::vector<Counter> counters;
  for (const auto& [name, range] : ranges) {
    const double magnitude = std::max(std::abs(range.least), std::abs(range.most));
    const bool once = range.stated < 2;
    if (once || range.most - range.least <= kSameValue * magnitude) {
      if (left_out != nullptr) (once ? left_out->one_only_ : left_out->constant_).push_back(name);
      continue;
    }
    const bool logarithm = range.least >= 0 && range.most > kWideRange * range.least_positive;
    counters.push_back({name, logarithm, logarithm && range.least == 0 ? range.least_positive / 2 : 0});
  }
  return counters;
}

ModelInputs ModelInputs::choose(const std::vector<const Profile*>& profiles, const InputChoice& inputs) {
  ModelInputs chosen;
  chosen.table1_ = inputs.counters == InputChoice::Counters::kTable1;
  if (profiles.empty()) return {};
  if (chosen.table1_ || !has_work(profiles)) {
    chosen.kind_ = Kind::kCounters;
    std::vector<Facts> rows;
    rows.reserve(profiles.size());
    for (const Profile* profile : profiles) rows.push_back(chosen.table1_ ? table1_of(*profile) : profile->metrics);
    chosen.counters_ = varying(rows, &chosen);
    chosen.varies_ = !chosen.counters_.empty();
    // So that a fold whose programs show no difference still has a column, of which a model can make nothing.
    if (!chosen.varies_) chosen.counters_.push_back({kInstructionsCount, false, 0});
  }
  chosen.cores_ = chosen.kind_ == Kind::kWork && have_cores(profiles);
  chosen.choose_source(profiles, inputs);
  chosen.make_names();
  return chosen;
}

ModelInputs ModelInputs::choose(const TrainingTable& table) {
  std::vector<const Profile*> profiles;
  for (const Profile& profile : table.profiles) profiles.push_back(&profile);
  return choose(profiles, table.inputs);
}

void ModelInputs::choose_source(const std::vector<const Profile*>& profiles, const InputChoice& inputs) {
  const std::set<std::string> hosts = hosts_of(profiles);
  const bool usual = inputs.source == InputChoice::Source::kUsual && kind_ == Kind::kCounters;
  if ((usual || inputs.source == InputChoice::Source::kOneHot) && hosts.size() > 1) {
    hosts_.assign(hosts.begin(), hosts.end());
  }
  if (inputs.source != InputChoice::Source::kFacts) return;
  std::vector<Facts> rows;
  for (const std::string& host : hosts) {
    const auto known = inputs.facts.find(host);
    if (known != inputs.facts.end() && !known->second.empty()) {
      rows.emplace_back(known->second.begin(), known->second.end());
      host_facts_[host] = rows.back();
    }
  }
  facts_ = varying(rows, nullptr);
  for (auto& [host, facts] : host_facts_) {
    std::erase_if(facts, [this](const auto& fact) {
      return std::none_of(facts_.begin(), facts_.end(), [&](const Counter& used) { return used.metric == fact.first; });
    });
  }
  std::erase_if(host_facts_, [](const auto& host) { return host.second.empty(); });
}

void ModelInputs::make_names() {
  names_.clear();
  if (kind_ == Kind::kWork) {
    if (source_columns() == 0 && !cores_) return;
    names_ = work_feature_names();
  }
  if (cores_) {
    for (const std::string& metric : core_metrics()) names_.push_back("relative_" + metric);
  }
  for (const Counter& counter : counters_) names_.push_back(counter.name());
  for (const std::string& host : hosts_) names_.push_back("on_" + host);
  for (const Counter& fact : facts_) names_.push_back("source_" + fact.name());
}

const std::vector<std::string>& ModelInputs::names() const {
  return kind_ == Kind::kWork && names_.empty() ? work_feature_names() : names_;
}

ModelInputs::Facts ModelInputs::facts_of(const Profile& profile) const {
  if (const auto known = host_facts_.find(profile.host.name); known != host_facts_.end()) return known->second;
  const auto stated = stated_facts(profile.host);
  return {stated.begin(), stated.end()};
}

Eigen::MatrixXd ModelInputs::extract(const std::vector<const Profile*>& profiles) const {
  Eigen::MatrixXd result(static_cast<Eigen::Index>(profiles.size()), static_cast<Eigen::Index>(names().size()));
  Eigen::Index first = 0;
  if (kind_ == Kind::kWork) {
    Eigen::MatrixXd work = extract_work_features(profiles);
    if (names_.empty()) return work;
    first = work.cols();
    result.leftCols(first) = work;
  }
  if (cores_) {
    const Eigen::MatrixXd cycles = relative_log_cycles(profiles);
    result.middleCols(first, cycles.cols()) = cycles;
    first += cycles.cols();
  }
  for (Eigen::Index p = 0; p < result.rows(); ++p) {
    const Profile& profile = *profiles[static_cast<size_t>(p)];
    Eigen::Index column = first;
    if (table1_) {
      const MetricValues values = table1_of(profile);
      for (const Counter& counter : counters_) result(p, column++) = counter.read(values);
    } else {
      for (const Counter& counter : counters_) result(p, column++) = counter.read(profile.metrics);
    }
    const std::string& on = profile.host.name;
    for (const std::string& host : hosts_) result(p, column++) = on.empty() ? kUnknown : host == on ? 1 : 0;
    if (facts_.empty()) continue;
    const Facts facts = facts_of(profile);
    for (const Counter& fact : facts_) result(p, column++) = fact.read(facts);
  }
  return result;
}

std::vector<std::string> ModelInputs::missing_counters(const Profile& profile) const {
  std::vector<std::string> missing;
  const MetricValues stated = table1_ ? table1_of(profile) : profile.metrics;
  for (const Counter& counter : counters_) {
    if (std::isnan(counter.read(stated))) missing.push_back(counter.metric);
  }
  return missing;
}

bool ModelInputs::knows_source(const Profile& profile) const {
  if (!hosts_.empty()) return std::binary_search(hosts_.begin(), hosts_.end(), profile.host.name);
  return facts_.empty() || host_facts_.contains(profile.host.name);
}

std::vector<std::string> ModelInputs::sources() const {
  std::vector<std::string> names = hosts_;
  for (const auto& [host, facts] : host_facts_) {
    if (!facts_.empty()) names.push_back(host);
  }
  return names;
}

void ModelInputs::save(TensorMap& tensors) const {
  Json json = {{"kind", kind_ == Kind::kWork ? "work" : "counters"}};
  const auto list = [](const std::vector<Counter>& counters) {
    Json items = Json::array();
    for (const Counter& counter : counters) {
      items.push_back({{"metric", counter.metric}, {"logarithm", counter.logarithm}, {"floor", counter.floor}});
    }
    return items;
  };
  if (kind_ == Kind::kCounters) json["counters"] = list(counters_);
  if (kind_ == Kind::kCounters || !hosts_.empty()) json["hosts"] = hosts_;
  if (cores_) json["cores"] = true;
  if (table1_) json["table1"] = true;
  if (!facts_.empty()) {
    json["facts"] = list(facts_);
    json["host_facts"] = Json(host_facts_);
  }
  tensors.put_json(kTensor, json);
}

Status ModelInputs::read_counters(const Json& json, std::vector<Counter>& counters) {
  const Error bad{"bad-bundle", "the list of features is damaged", kTensor, "a bundle written by perfcast train"};
  if (!json.is_array()) return bad;
  for (const Json& item : json) {
    if (!item.is_object() || !item.contains("metric") || !item["metric"].is_string() || !item.contains("logarithm") ||
        !item["logarithm"].is_boolean() || !item.contains("floor") || !item["floor"].is_number()) {
      return bad;
    }
    Counter counter{item["metric"], item["logarithm"], item["floor"]};
    if (!counters.empty() && !(counters.back().metric < counter.metric)) return bad;
    counters.push_back(std::move(counter));
  }
  return {};
}

Status ModelInputs::load(const TensorMap& tensors) {
  *this = ModelInputs();
  const auto json = tensors.get_json(kTensor);
  if (!json) return {};
  const Error bad{"bad-bundle", "the list of features is damaged", kTensor, "a bundle written by perfcast train"};
  if (!json->is_object() || !json->contains("kind") || !(*json)["kind"].is_string()) return bad;
  const Json kind = (*json)["kind"];
  if (kind != "work" && kind != "counters") return bad;
  if (json->contains("cores")) {
    if (!(*json)["cores"].is_boolean() || kind != "work") return bad;
    cores_ = (*json)["cores"].get<bool>();
  }
  if (kind == "counters") {
    kind_ = Kind::kCounters;
    if (!json->contains("counters")) return bad;
    if (auto status = read_counters((*json)["counters"], counters_); !status) return status;
  }
  table1_ = json->value("table1", Json()) == true;
  if (json->contains("hosts")) {
    if (!(*json)["hosts"].is_array()) return bad;
    for (const Json& host : (*json)["hosts"]) {
      if (!host.is_string() || (!hosts_.empty() && !(hosts_.back() < host.get<std::string>()))) return bad;
      hosts_.push_back(host);
    }
  }
  if (json->contains("facts")) {
    if (auto status = read_counters((*json)["facts"], facts_); !status) return status;
    const Json hosts = json->value("host_facts", Json());
    if (!hosts.is_object()) return bad;
    for (const auto& [host, facts] : hosts.items()) {
      if (!facts.is_object()) return bad;
      for (const auto& [name, value] : facts.items()) {
        if (!value.is_number()) return bad;
        host_facts_[host][name] = value;
      }
    }
  }
  make_names();
  return names().empty() ? Status(bad) : Status();
}

Result<std::vector<std::string>> describe_inputs(const TrainingTable& table) {
  const ModelInputs chosen = ModelInputs::choose(table);
  std::vector<std::string> notes;
  if (table.inputs.counters == InputChoice::Counters::kTable1) {
    std::set<std::string> stated, lacking;
    std::vector<std::string> lacking_metrics;
    for (const Profile& profile : table.profiles) {
      for (const auto& [name, value] : table1_of(profile)) stated.insert(name);
    }
    for (const Metric& metric : Catalogue::built_in().metrics()) {
      if (metric.table1.empty() || stated.contains(metric.name)) continue;
      lacking.insert(metric.table1);
      lacking_metrics.push_back(metric.name);
    }
    if (stated.empty()) {
      return Error{"missing-counters", "no profile has any of the counters of Table I", "--features",
                   "some of: " + join(lacking_metrics, ", ")};
    }
    notes.push_back("inputs: " + std::to_string(stated.size()) + " metrics of Table I" +
                    (lacking.empty() ? "" : "; the profiles lack " + join(lacking_metrics, ", ")));
  }
  std::vector<const Profile*> profiles;
  for (const Profile& profile : table.profiles) profiles.push_back(&profile);
  const std::set<std::string> hosts = hosts_of(profiles);
  if (chosen.kind() == ModelInputs::Kind::kCounters && !chosen.counters_vary()) {
    return Error{"missing-counters", "no counter differs between the profiles: there is nothing to forecast from", "",
                 "profiles with counters that vary from program to program"};
  }
  const bool wanted =
      table.inputs.source == InputChoice::Source::kOneHot || table.inputs.source == InputChoice::Source::kFacts;
  if (wanted && chosen.source_columns() == 0) {
    if (hosts.size() < 2) {
      return Error{"unknown-source", "all profiles were taken on one platform: it says nothing as an input",
                   hosts.empty() ? "" : *hosts.begin(),
                   "profiles of several platforms (--every-profile takes all), or --source none"};
    }
    return Error{"unknown-source", "the corpus knows no fact in which the platforms of the profiles differ",
                 "--source facts",
                 "--source one-hot or none, or platforms with facts: " + join({hosts.begin(), hosts.end()}, ", ")};
  }
  if (!chosen.constant().empty()) {
    notes.push_back("inputs: left out as constant over all profiles: " + join(chosen.constant(), ", "));
  }
  if (!chosen.in_one_only().empty()) {
    notes.push_back("inputs: left out as stated by one profile or none: " + join(chosen.in_one_only(), ", "));
  }
  return notes;
}

}  // namespace perfcast::program
