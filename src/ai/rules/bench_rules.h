#pragma once
// What the field asks of a benchmark's run, as data: the shipped data/bench/rules.json, schema perfcast.bench-rules/1.
//   {"schema": "perfcast.bench-rules/1", "sources": {"slides": "a document", ...},
//    "scenarios": [{"scenario": "server", "percentile": 0.99, "min_duration_s": 600, "min_queries": 1,
//                   "source": "..."}],
//    "categories": [{"name": "edge", "scenarios": ["single-stream", "offline"], "source": "..."}],
//    "inference": [{"name": "resnet50", "aliases": [], "category": ["datacenter"], "area": "Vision", "task": "...",
//                   "model": "...", "dataset": "...", "samples": 1024, "quality": "99% of FP32 (76.46%)",
//                   "metric": "top-1 accuracy in %", "reference": 76.46, "least_shares": [0.99], "not_held": [],
//                   "server_latency_s": 0.015, "offline_min_samples": 24576, "version": "v4.0", "sources":
//                   ["slides"]}],
//    "training": [{"name": "retinanet", "aliases": [], "area": "...", "benchmark": "...", "dataset": "...",
//                  "quality": "34.0% mAP", "metric": "mAP", "target": 0.34, "larger_is_better": true, "not_held": [],
//                  "model": "...", "version": "v4.1", "sources": ["slides"]}]}
// "quality" is what the document says; "metric", "reference", "target" what of it can be compared, "not_held" its other
// parts: a run has one quality.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ai/load/load_settings.h"
#include "ai/load/load_verdict.h"
#include "base/result.h"

namespace perfcast::ai {

struct ScenarioRule {
  LoadScenario scenario = LoadScenario::kSingleStream;
  double percentile = 0.99;
  double min_duration_s = 600;
  int64_t min_queries = 1;        // offline: samples
  int64_t samples_per_query = 1;  // multi stream
};

struct CategoryRule {
  std::string name;
  std::vector<LoadScenario> scenarios;
};

struct InferenceRule {
  std::string name;
  std::vector<std::string> aliases, categories;
  std::string area, task, model, dataset, quality, metric, version;
  int64_t samples = 0;               // that performance mode draws from; 0: not stated
  std::optional<double> reference;   // of the metric, in fp32
  std::vector<double> least_shares;  // of the reference, weakest first
  std::vector<std::string> not_held;
  std::optional<double> server_latency_s, ttft_s, tpot_s;
  std::optional<int64_t> offline_min_samples;
  bool equal_issue = false;
  std::vector<std::string> sources;
  bool streams() const { return ttft_s || tpot_s; }
};

struct TrainingRule {
  std::string name, area, benchmark, dataset, quality, metric, model, version;
  std::optional<double> target;
  bool larger_is_better = true;
  std::vector<std::string> aliases, not_held, sources;
};

struct BenchRules {
  std::map<std::string, std::string> sources;
  std::vector<ScenarioRule> scenarios;
  std::vector<CategoryRule> categories;
  std::vector<InferenceRule> inference;
  std::vector<TrainingRule> training;
};

// "bad-json", "bad-json-field"; "bad-rules" for a name twice, a source that is none, a scenario without a rule.
Result<BenchRules> parse_bench_rules(std::string_view text, const std::string& source);
Result<BenchRules> read_bench_rules(const std::string& path);

// By name or alias, "-", "_" and case alike; null: none.
const InferenceRule* find_inference_rule(const BenchRules& rules, std::string_view name);
const TrainingRule* find_training_rule(const BenchRules& rules, std::string_view name);
const ScenarioRule& rule_of(const BenchRules& rules, LoadScenario scenario);

// Closed: the model, its quality and all limits are given. Open: the model may be another, its quality is only told.
enum class BenchDivision { kClosed, kOpen };

struct BenchmarkChoice {
  std::string benchmark, category;  // either may be empty
  BenchDivision division = BenchDivision::kClosed;
  bool high_accuracy = false;  // the stricter share, where there are two
};

// What a run has to keep. "bad-usage": no such benchmark or category, a benchmark of other categories, a scenario that
// the category or the benchmark has not.
Result<LoadRules> load_rules_for(const BenchRules& rules, const BenchmarkChoice& choice, LoadScenario scenario);

}  // namespace perfcast::ai
