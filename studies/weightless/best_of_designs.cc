#include "studies/weightless/best_of_designs.h"

#include <algorithm>
#include <limits>
#include <map>

#include "machine/facts/core_design.h"
#include "program/corpus/store/store.h"
#include "program/model/fit/standardised_inputs.h"

namespace perfcast::program::weightless_study {
namespace {

struct Candidate {
  size_t platform = 0, programs = 0;
};

std::vector<size_t> chosen_platforms(const TrainingTable& table, size_t designs) {
  std::map<std::string, Candidate> by_design;
  for (size_t j = 0; j < table.platforms.size(); ++j) {
    const std::string design = core_design(table.platforms[j]);
    if (design.empty()) continue;
    size_t programs = 0;
    for (size_t i = 0; i < table.programs.size(); ++i) programs += table.at(i, j) ? 1 : 0;
    Candidate& best = by_design[design];
    const bool first = programs == best.programs && table.platforms[j].id < table.platforms[best.platform].id;
    if (programs > best.programs || first) best = {j, programs};
  }
  std::vector<Candidate> all;
  for (const auto& [design, candidate] : by_design) all.push_back(candidate);
  std::stable_sort(all.begin(), all.end(),
                   [](const Candidate& a, const Candidate& b) { return a.programs > b.programs; });
  all.resize(std::min(all.size(), designs));
  std::vector<size_t> platforms;
  for (const Candidate& of : all) platforms.push_back(of.platform);
  return platforms;
}

}  // namespace

Result<BestOfDesigns> best_of_designs(const std::string& corpus, const std::vector<std::string>& groups,
                                      size_t designs) {
  auto store = CorpusStore::open_read_only(corpus);
  if (!store) return store.error();
  const auto loaded = (*store)->load();
  if (!loaded) return loaded.error();
  TableOptions options;
  options.groups = groups;
  const auto table = make_training_table(*loaded, options);
  if (!table) return table.error();
  BestOfDesigns made;
  const std::vector<size_t> platforms = chosen_platforms(*table, designs);
  if (platforms.size() < designs)
    return Error{"too-few-designs", "the corpus has CPU models of " + std::to_string(platforms.size()) + " designs",
                 corpus, std::to_string(designs)};
  for (const size_t platform : platforms) made.platforms.push_back(table->platforms[platform].name);
  const StandardisedInputs inputs =
      StandardisedInputs::fit(*table, Eigen::VectorXd::Ones(static_cast<Eigen::Index>(table->programs.size())));
  const Eigen::MatrixXd rows = inputs.rows(profiles_of(*table));
  std::map<std::string, uint32_t> families;
  made.set.name = "best of " + std::to_string(designs) + " CPU models";
  made.set.inputs = static_cast<size_t>(rows.cols());
  made.set.classes = designs;
  for (size_t i = 0; i < table->programs.size(); ++i) {
    double best = std::numeric_limits<double>::infinity();
    uint32_t label = 0;
    bool complete = true;
    for (size_t c = 0; c < platforms.size(); ++c) {
      const auto& time = table->at(i, platforms[c]);
      complete = complete && time;
      if (!time || time->log_time >= best) continue;
      best = time->log_time;
      label = static_cast<uint32_t>(c);
    }
    if (!complete) continue;
    for (Eigen::Index f = 0; f < rows.cols(); ++f)
      made.set.rows.push_back(static_cast<float>(rows(static_cast<Eigen::Index>(i), f)));
    made.set.labels.push_back(label);
    const auto family = families.emplace(table->programs[i].family, static_cast<uint32_t>(families.size())).first;
    made.set.part.push_back(family->second);
  }
  made.set.parts = families.size();
  return made;
}

}  // namespace perfcast::program::weightless_study
