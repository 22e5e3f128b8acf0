#include "measure/diagnose/report/diagnosis_trace.h"

#include <gtest/gtest.h>

#include <map>

#include "base/json.h"
#include "measure/diagnose/report/testing/small_diagnosis.h"

namespace perfcast::measure {
namespace {

Json trace_of(const Diagnosis& diagnosis) {
  const auto trace = parse_json(diagnosis_trace(diagnosis.seen, diagnosis.command), "trace");
  return trace ? *trace : Json();
}

TEST(DiagnosisTrace, HasASpanForWhatEachThreadDid) {
  const Json trace = trace_of(full_diagnosis());
  EXPECT_EQ(trace["otherData"]["command"], "./prog <x>");
  std::vector<Json> spans;
  std::map<std::string, std::string> names;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == "X" && event["pid"] == 70) spans.push_back(event);
    if (event["name"] == "process_name") names[event["pid"].dump()] = event["args"]["name"];
  }
  EXPECT_EQ(names["0"], "the run");
  EXPECT_EQ(names["70"], "prog (70)");
  ASSERT_EQ(spans.size(), 3U);
  EXPECT_EQ(spans[0]["name"], "multiply<float>(float const*)");
  EXPECT_EQ(spans[0]["args"]["where"], "prog.cc:12");
  EXPECT_EQ(spans[0]["cat"], "user");
  EXPECT_EQ(spans[1]["name"], "waiting: a time to pass");
  EXPECT_EQ(spans[1]["args"]["system_call"], "nanosleep");
  EXPECT_EQ(spans[1]["ts"], 1'000'000);
  EXPECT_EQ(spans[1]["dur"], 1'000'000);
  EXPECT_EQ(spans[2]["cat"], "kernel");
  for (size_t i = 1; i < spans.size(); ++i)
    EXPECT_GE(spans[i]["ts"].get<int64_t>(), spans[i - 1]["ts"].get<int64_t>() + spans[i - 1]["dur"].get<int64_t>());
}

TEST(DiagnosisTrace, HasPhasesAndCounters) {
  const Json trace = trace_of(full_diagnosis());
  std::vector<std::string> phases;
  std::map<std::string, std::vector<double>> counters;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == "X" && event["pid"] == 0) phases.push_back(event["name"]);
    if (event["ph"] == "C") counters[event["name"]].push_back(event["args"][event["name"].get<std::string>()]);
  }
  EXPECT_EQ(phases,
            (std::vector<std::string>{"multiply<float>(float const*)", "waiting: a time to pass", "the kernel"}));
  EXPECT_EQ(counters["CPUs in use: user code"], (std::vector<double>{1, 0}));
  EXPECT_EQ(counters["CPUs in use: the kernel"], (std::vector<double>{0, 1}));
  EXPECT_EQ(counters["threads that wait"], (std::vector<double>{0, 1, 0}));
  EXPECT_EQ(counters["resident memory (MiB)"], (std::vector<double>{1, 3}));
}

TEST(DiagnosisTrace, OfNothingIsAnEmptyTrace) {
  const Json trace = trace_of(Diagnosis());
  ASSERT_TRUE(trace["traceEvents"].is_array());
  for (const Json& event : trace["traceEvents"]) EXPECT_EQ(event["ph"], "M");
}

}  // namespace
}  // namespace perfcast::measure
