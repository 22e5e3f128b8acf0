#pragma once
// Use case: a bundle's weightless model as source that needs no perfcast.

#include <string>
#include <vector>

#include "base/result.h"
#include "learn/weightless/export/network_source.h"
#include "profile/profile.h"
#include "program/model/bundle/bundle.h"
#include "program/model/weightless/integer_forecast.h"

namespace perfcast::program {

struct ExportRequest {
  std::string name = "perfcast";  // prefix of all that the source defines
  SourceFormat format = SourceFormat::kC;
  IntegerTask task = IntegerTask::kTimes;
  std::vector<std::string> platforms;  // as find_platform(); empty: all of the bundle
  std::vector<Profile> profiles;       // recorded for the self-test, the first of all
  size_t drawn_rows = 64;              // recorded beside those of the training programs
  uint64_t seed = 1;
};

struct ExportedModel {
  std::vector<SourceFile> files;
  ExportedNetwork network;
  std::vector<std::string> platforms;  // ids of the outputs
  NetworkSize size;
  size_t recorded = 0;                // rows that the self-test holds the source against
  std::vector<RecordedRow> profiles;  // of those asked for
};

Result<IntegerTask> parse_integer_task(const std::string& text);  // "best" or "times"; "bad-usage"
std::string to_text(IntegerTask task);

// Errors: those of find_platform(), Predictor::as_integers() and network_source().
Result<ExportedModel> export_model(const Bundle& bundle, const ExportRequest& request);

}  // namespace perfcast::program
