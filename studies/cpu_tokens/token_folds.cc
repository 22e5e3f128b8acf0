#include "studies/cpu_tokens/token_folds.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "ai/cpu_tokens/cpu_catalogue.h"
#include "base/parallel.h"
#include "base/random.h"
#include "base/unknown.h"

namespace perfcast::ai::cpu_tokens_study {

std::map<std::string, int64_t> group_names(const std::vector<std::string>& names, int64_t count, uint64_t seed) {
  const std::set<std::string> unique(names.begin(), names.end());
  std::vector<std::string> order(unique.begin(), unique.end());
  Random random(seed);
  random.shuffle(order);
  std::map<std::string, int64_t> groups;
  for (size_t i = 0; i < order.size(); ++i) groups[order[i]] = static_cast<int64_t>(i) % count;
  return groups;
}

Result<LeftOutForecasts> forecast_left_out(const TokenRates& rates, TokenPhase phase, const TokenFolds& folds,
                                           const FoldSettings& settings) {
  LeftOutForecasts forecasts;
  forecasts.learnt.assign(rates.rates.size(), kUnknown);
  forecasts.physics = forecasts.without_bandwidth = forecasts.learnt;
  std::set<int64_t> unique;
  for (size_t i = 0; i < rates.rates.size(); ++i) {
    if (rates.rates[i].phase == phase && folds[i] >= 0) unique.insert(folds[i]);
  }
  const std::vector<int64_t> order(unique.begin(), unique.end());
  const Status status = parallel_for(order.size(), static_cast<int>(settings.threads), [&](size_t k) -> Status {
    const int64_t fold = order[k];
    std::vector<bool> use(rates.rates.size());
    for (size_t i = 0; i < use.size(); ++i) use[i] = folds[i] != fold && folds[i] != kNeverUsed;
    TokenFitOptions fit;
    const auto own = settings.depth_of_fold.find(fold);
    fit.depth = own == settings.depth_of_fold.end() ? settings.depth : own->second;
    fit.rounds = settings.rounds;
    fit.seed = settings.seed;
    const auto model = TokenModel::fit(phase, token_cells(rates, phase, use), rates.llms, fit);
    if (!model) return model.error();
    std::vector<bool> donor(rates.servers.size());
    CpuCatalogue catalogue;
    if (settings.impute) {
      for (size_t i = 0; i < use.size(); ++i) {
        if (use[i]) donor[rates.rates[i].server] = true;
      }
      catalogue = CpuCatalogue::from_servers(rates.servers, donor);
    }
    for (size_t i = 0; i < use.size(); ++i) {
      const TokenRate& rate = rates.rates[i];
      if (rate.phase != phase || folds[i] != fold) continue;
      const CpuFacts& facts = rates.servers[rate.server].facts;
      if (!has_bandwidth(facts)) continue;
      const TokenQuestion question = {&facts, &rates.llms[rate.llm], rate.tokens};
      forecasts.learnt[i] = model->log_rate(question);
      forecasts.physics[i] = -model->physics().times(question).total;
      if (!settings.impute) continue;
      CpuFacts unmeasured = facts;
      unmeasured.read_bytes_per_s = unknown_bandwidth();
      if (const auto imputed = catalogue.impute(unmeasured)) {
        forecasts.without_bandwidth[i] = model->log_rate({&*imputed, question.llm, rate.tokens});
      }
    }
    return {};
  });
  if (!status) return status.error();
  return forecasts;
}

}  // namespace perfcast::ai::cpu_tokens_study
