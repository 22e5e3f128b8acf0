#pragma once
// A diagnosis as small as one can be that has something of everything.

#include "measure/diagnose/diagnosis.h"

namespace perfcast::measure {

// With one experiment that shows a gain of 20%.
inline Finding proven_finding() {
  Finding finding;
  finding.cause = "allocation";
  finding.title = "30% of the CPU time is allocating and freeing memory";
  finding.gain_ratio = 0.24;
  finding.evidence = {"samples: malloc 30.0%"};
  finding.advice = "reuse";
  finding.if_wrong = "more memory";
  finding.proof = "count";
  ExperimentResult result;
  result.experiment = {"the allocator jemalloc", {{"LD_PRELOAD", "/j.so"}}, {}, {}};
  result.ratio = 0.8;
  result.lower = 0.7;
  result.upper = 0.9;
  result.pairs_count = 6;
  finding.results = {result};
  return finding;
}

inline Diagnosis full_diagnosis() {
  Diagnosis diagnosis;
  diagnosis.command = {"./prog", "<x>"};
  Observation& seen = diagnosis.seen;
  seen.run.exit_code = 0;
  seen.run.wall_s = 3;
  seen.run.user_s = 1;
  seen.run.system_s = 1;
  seen.run.threads = 1;
  seen.run.processes = 1;
  seen.samples_count = 2000;
  seen.looks = 150;
  HotFunction function;
  function.function = "multiply<float>(float const*)";
  function.library = "/home/a/prog";
  function.source = "/home/a/prog.cc";
  function.line = 12;
  function.cpu_share = 0.5;
  seen.functions = {function};
  for (ThreadTimes* const times : {&seen.threads, &seen.first_thread}) {
    times->s[static_cast<size_t>(ThreadState::kRunning)] = 2;
    times->s[static_cast<size_t>(ThreadState::kSleep)] = 1;
  }
  RunTimeline& timeline = seen.timeline;
  timeline.length_s = 3;
  timeline.interval_s = 1;
  timeline.cpu = {{0, {1, 0, 0}}, {TimelineRow::kOtherCode, {0, 0, 0}}, {TimelineRow::kKernelCode, {0, 0, 1}}};
  for (auto& state : timeline.state_s) state.assign(3, 0);
  timeline.state_s[static_cast<size_t>(ThreadState::kRunning)] = {1, 0, 1};
  timeline.state_s[static_cast<size_t>(ThreadState::kSleep)] = {0, 1, 0};
  timeline.threads_count = {1, 1, 1};
  timeline.phases = {{0, 1, "multiply<float>(float const*)"}, {1, 2, "waiting: a time to pass"}, {2, 3, "the kernel"}};
  ThreadTrack track{70, 70, "prog", 2, {}};
  track.spans = {{0, 1, ThreadSpan::Doing::kUserCode, 0, ThreadState::kOther, ""},
                 {1, 2, ThreadSpan::Doing::kWaiting, -1, ThreadState::kSleep, "nanosleep"},
                 {2, 3, ThreadSpan::Doing::kKernel, 0, ThreadState::kOther, ""}};
  timeline.threads = {track};
  seen.run.course = {{1.5, 1, 0, 0, 1.5, 100, 1 << 20}, {1.5, 1, 1, 0, 1.5, 0, 3 << 20}};
  diagnosis.design = "some-core";
  diagnosis.bounds = {{"memory", 0.6}, {"base", 0.4}};
  Roofline roofline;
  roofline.ceilings.cpus_count = 2;
  roofline.ceilings.compute = {{"avx2", "fp32", 8, 64e9, 128e9}, {"scalar", "fp32", 1, 8e9, 16e9}};
  roofline.ceilings.bandwidth = {{"L1", 1 << 14, 200e9, 400e9}, {"memory", 1 << 26, 10e9, 12e9}};
  roofline.ceilings.one_cpu_additions_per_s = 12e9;
  RooflinePoint point;
  point.time_s = 1;
  point.work.instructions_count = 5e9;
  point.work.fp32_flops_count = 2e9;
  point.work.loaded_bytes = 8e9;
  point.is_float = true;
  point.format = "fp32";
  point.operations_per_s = 2e9;
  point.operations_per_byte = 0.25;
  point.ceiling_per_s = 64e9;
  point.roofs = {{"L1", 50e9}, {"memory", 2.5e9}};
  roofline.points = {point};
  roofline.notes = {"a note of the roofline"};
  diagnosis.roofline = roofline;
  Finding finding = proven_finding();
  finding.title = "30% of the CPU time is allocating & freeing memory";
  ExperimentResult failed;
  failed.experiment.name = "the allocator mimalloc";
  failed.failed = "it is not installed";
  finding.results.push_back(failed);
  Finding small = finding;
  small.gain_ratio = 0.001;
  small.title = "too small to be shown";
  small.results.clear();
  diagnosis.findings = {finding, small};
  diagnosis.notes = {"a note"};
  diagnosis.first_finding_s = 4;
  diagnosis.took_s = 60;
  return diagnosis;
}

}  // namespace perfcast::measure
