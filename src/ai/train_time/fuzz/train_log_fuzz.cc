// Any bytes as a log of trainings: no crash; what is read is in the order of time, and can be compared.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "ai/train_time/train_log.h"
#include "ai/train_time/train_report.h"
#include "base/json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::ai;
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  const auto reader = MetricReader::create("accuracy", data[0] % 2 == 0 ? "" : "a(c+)u([0-9.]+)");
  if (!reader) std::abort();
  auto log = parse_train_log(text, "input", *reader, "system", data[0] % 8 == 3 ? "start" : "");
  if (!log) return 0;
  if (log->whole_bytes > text.size()) std::abort();
  TrainReport report;
  report.metric = "accuracy";
  report.curves = std::move(log->curves);
  TrainRequest request;
  request.threshold = 0.9;
  request.rule.kind = static_cast<RuleKind>(data[0] % 3);
  request.rule.evaluations = 1 + data[0] % 4;
  const auto comparison = compare_trainings(report.curves, request);
  if (!comparison) return 0;
  report.comparison = *comparison;
  (void)train_report_text(report);
  (void)to_text(train_report_json(report));
  (void)train_report_page(report);
  return 0;
}
