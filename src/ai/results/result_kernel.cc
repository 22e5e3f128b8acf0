#include "ai/results/result_kernel.h"

#include <algorithm>
#include <cmath>

#include "base/statistics.h"

namespace perfcast::ai {
namespace {

struct TermFacts {
  const char* name;
  double variance;
};

// Rates of models differ by factors of thousands: their own variances are wide and aren't fitted to be narrower.
constexpr std::array<TermFacts, kResultTerms> kTermFacts = {{
    {"family", 25},
    {"model", 0.1},
    {"scenario", 1},
    {"task", 0.1},
    {"version x task", 0.01},
    {"version x family", 0.02},
    {"facts", 0.05},
    {"facts x family", 0.02},
    {"facts x task", 0.01},
    {"likeness", 0.02},
    {"likeness x family", 0.01},
    {"facts x scenario", 0.02},
    {"likeness x scenario", 0.02},
    {"generation", 0.02},
    {"generation x family", 0.01},
    {"vendor", 0.05},
    {"vendor x family", 0.02},
    {"accelerator", 0.02},
    {"accelerator x family", 0.01},
    {"accelerator x model", 0.003},
    {"accelerator x scenario", 0.005},
    {"unknown accelerator", 36},
    {"unknown accelerator x scenario", 1},
    {"unknown accelerator x family", 0.3},
    {"unknown accelerator x task", 0.3},
    {"count", 0.005},
    {"count x scenario", 0.005},
    {"count x task", 0.002},
    {"nodes", 0.01},
    {"submitter", 0.003},
    {"submitter x family", 0.002},
    {"system", 0.004},
    {"system x scenario", 0.006},
    {"own", 0.004},
}};

// A fact that varies less over the accelerators, as a logarithm, is stretched no further.
constexpr double kLeastDeviation = 0.05;

}  // namespace

std::string name_of(ResultTerm term) { return kTermFacts[static_cast<size_t>(term)].name; }

const ResultTerms& usual_variances() {
  static const ResultTerms variances = [] {
    ResultTerms result{};
    for (size_t t = 0; t < kResultTerms; ++t) result[t] = kTermFacts[t].variance;
    return result;
  }();
  return variances;
}

ResultPoints::ResultPoints(const std::vector<ResultRow>& rows, const std::vector<size_t>& known) {
  // Each accelerator once, however many results it has.
  std::map<std::string, const ResultFacts*> accelerators;
  for (const size_t row : known) {
    if (rows[row].knows_facts()) accelerators.emplace(rows[row].accelerator, &rows[row].facts);
  }
  ResultFacts centre{}, deviation;
  deviation.fill(1);
  for (size_t fact = 0; fact < kResultFacts; ++fact) {
    std::vector<double> values;
    values.reserve(accelerators.size());
    for (const auto& [name, facts] : accelerators) {
      if (!std::isnan((*facts)[fact])) values.push_back((*facts)[fact]);
    }
    if (values.empty()) continue;
    centre[fact] = mean(values);
    if (values.size() > 1) deviation[fact] = std::max(kLeastDeviation, standard_deviation(values));
  }

  std::map<std::string, int> names[9];
  const auto index = [&names](size_t kind, const std::string& name) {
    return names[kind].emplace(name, static_cast<int>(names[kind].size())).first->second;
  };
  points_.reserve(rows.size());
  for (const ResultRow& row : rows) {
    Point point{};
    point.family = index(0, row.family);
    point.model = index(1, row.model);
    point.scenario = index(2, row.scenario);
    point.version = index(3, row.version);
    point.generation = index(4, row.generation);
    point.vendor = index(5, row.vendor);
    point.accelerator = index(6, row.accelerator);
    point.submitter = index(7, row.submitter);
    point.system = index(8, row.system);
    point.knows_facts = row.knows_facts();
    point.log_count = std::log(static_cast<double>(row.count));
    point.log_nodes = std::log(static_cast<double>(row.nodes));
    point.own = 1 / static_cast<double>(row.results);
    const double peak = point.knows_facts ? row.facts[static_cast<size_t>(ResultFact::kPeak)] : centre[0];
    point.expected = peak + (scales_with_accelerators(row.scenario) ? point.log_count : 0);
    for (size_t fact = 0; fact < kResultFacts; ++fact) {
      const bool states = point.knows_facts && !std::isnan(row.facts[fact]);
      point.facts[fact] = states ? (row.facts[fact] - centre[fact]) / deviation[fact] : 0;
    }
    points_.push_back(point);
  }
}

void ResultPoints::terms(size_t i, size_t j, ResultTerms& bases) const {
  const Point &a = points_[i], &b = points_[j];
  const auto set = [&bases](ResultTerm term, double value) { bases[static_cast<size_t>(term)] = value; };
  const double family = a.family == b.family ? 1 : 0, model = a.model == b.model ? 1 : 0;
  const double scenario = a.scenario == b.scenario ? 1 : 0, task = model * scenario;
  const double version = a.version == b.version ? 1 : 0;
  const double accelerator = a.accelerator == b.accelerator ? 1 : 0;
  const double known = a.knows_facts && b.knows_facts ? 1 : 0;
  const double generation = a.generation == b.generation ? known : 0, vendor = a.vendor == b.vendor ? known : 0;
  double product = 0, distance = 0;
  if (a.knows_facts && b.knows_facts) {
    for (size_t fact = 0; fact < kResultFacts; ++fact) {
      product += a.facts[fact] * b.facts[fact];
      const double apart = a.facts[fact] - b.facts[fact];
      distance += apart * apart;
    }
  }
  constexpr auto kFacts = static_cast<double>(kResultFacts);
  const double line = product / kFacts;
  double likeness = accelerator;
  if (a.knows_facts && b.knows_facts) likeness = std::exp(-0.5 * distance / kFacts);
  const double count = a.log_count * b.log_count;
  const double submitter = a.submitter == b.submitter ? 1 : 0, system = a.system == b.system ? 1 : 0;
  set(ResultTerm::kFamily, family);
  set(ResultTerm::kModel, model);
  set(ResultTerm::kScenario, scenario);
  set(ResultTerm::kTask, task);
  set(ResultTerm::kVersionTask, version * task);
  set(ResultTerm::kVersionFamily, version * family);
  set(ResultTerm::kFacts, line);
  set(ResultTerm::kFactsFamily, line * family);
  set(ResultTerm::kFactsTask, line * task);
  set(ResultTerm::kLike, likeness);
  set(ResultTerm::kLikeFamily, likeness * family);
  set(ResultTerm::kFactsScenario, line * scenario);
  set(ResultTerm::kLikeScenario, likeness * scenario);
  set(ResultTerm::kGeneration, generation);
  set(ResultTerm::kGenerationFamily, generation * family);
  set(ResultTerm::kVendor, vendor);
  set(ResultTerm::kVendorFamily, vendor * family);
  set(ResultTerm::kAccelerator, accelerator);
  set(ResultTerm::kAcceleratorFamily, accelerator * family);
  set(ResultTerm::kAcceleratorModel, accelerator * model);
  set(ResultTerm::kAcceleratorScenario, accelerator * scenario);
  const double unknown = a.knows_facts ? 0 : accelerator;
  set(ResultTerm::kUnknownAccelerator, unknown);
  set(ResultTerm::kUnknownScenario, unknown * scenario);
  set(ResultTerm::kUnknownFamily, unknown * family);
  set(ResultTerm::kUnknownTask, unknown * task);
  set(ResultTerm::kCount, count);
  set(ResultTerm::kCountScenario, count * scenario);
  set(ResultTerm::kCountTask, count * task);
  set(ResultTerm::kNodes, a.log_nodes * b.log_nodes);
  set(ResultTerm::kSubmitter, submitter);
  set(ResultTerm::kSubmitterFamily, submitter * family);
  set(ResultTerm::kSystem, system);
  set(ResultTerm::kSystemScenario, system * scenario);
  set(ResultTerm::kOwn, i == j ? a.own : 0);
}

double ResultPoints::covariance(size_t i, size_t j, const ResultTerms& variances) const {
  ResultTerms bases;
  terms(i, j, bases);
  double sum = 0;
  for (size_t t = 0; t < kResultTerms; ++t) sum += variances[t] * bases[t];
  return sum;
}

}  // namespace perfcast::ai
