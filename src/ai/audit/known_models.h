#pragma once
// What is publicly known of models that are no language models of ai/llm, and of the quality that a benchmark
// asks of a model: the shipped data/audit/models.json, schema perfcast.audit-models/1:
//   {"schema": "perfcast.audit-models/1",
//    "models": [{"name": "resnet50", "aliases": ["resnet50-v1.5"], "flops_per_sample_least": 8.2e9,
//    "parameters": 2.56e7,
//                "convolutional": true, "accuracy": {"metric": "top-1", "ratio": 0.7646, "least_share": 0.99},
//                "dataset": "ImageNet", "sources": ["accuracy: a document"]}]}
// flops_per_sample_least is a lower bound of what any implementation of the model executes for a sample of its data set
// (a multiply-add is two), by textbook products and convolutions: a factor of 2.25 below it would still be possible
// with Winograd convolutions, which the audit allows for.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unknown.h"

namespace perfcast::ai {

struct KnownModel {
  std::string name;
  std::vector<std::string> aliases;
  std::string language_model;  // its name in ai/llm; empty: none
  bool convolutional = false;
  double flops_per_sample_least = kUnknown;
  double tokens_per_sample_least = kUnknown;  // of an encoder whose padding may be left out
  double parameters = kUnknown;
  std::string accuracy_metric, dataset;
  double accuracy_ratio = kUnknown, least_share = kUnknown;
  std::vector<std::string> sources;
};

struct KnownModels {
  std::vector<KnownModel> models;
};

// "bad-json", "bad-json-field"; "bad-model" for a name that two models bear.
Result<KnownModels> parse_known_models(std::string_view text, const std::string& source);
Result<KnownModels> read_known_models(const std::string& path);

// By name or alias, upper and lower case and "-", "_", " " alike; null: none. The pointer is into `models`.
const KnownModel* find_known_model(const KnownModels& models, std::string_view name);
std::vector<std::string> names_of(const KnownModels& models);

}  // namespace perfcast::ai
