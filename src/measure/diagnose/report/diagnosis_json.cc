#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "machine/facts/core_design.h"
#include "measure/diagnose/report/bloat_report.h"
#include "measure/diagnose/report/diagnosis_report.h"
#include "measure/diagnose/report/parallel_report.h"
#include "measure/diagnose/report/report_words.h"

namespace perfcast::measure {
namespace {

Json experiment_json(const ExperimentResult& result) {
  const bool known = result.failed.empty() && result.is_timed();
  return {{"name", result.experiment.name},
          {"how", result.experiment.in_words()},
          {"time", result.experiment.by_cpu_time ? "cpu" : "wall"},
          {"time_ratio", known ? Json(result.ratio) : Json()},
          {"time_ratio_lower", known && !result.is_screened ? Json(result.lower) : Json()},
          {"time_ratio_upper", known && !result.is_screened ? Json(result.upper) : Json()},
          {"pairs_count", result.pairs_count},
          {"is_gain", known && result.is_gain()},
          {"is_promising", known && result.is_promising},
          {"is_ignored", known && result.is_ignored()},
          {"flags", result.experiment.flags.empty() ? Json() : Json(result.experiment.flags)},
          {"output_differs", result.output_differs},
          {"changes_results", result.experiment.changes_results},
          {"failed", result.failed.empty() ? Json() : Json(result.failed)}};
}

Json finding_json(const Finding& finding) {
  Json tried = Json::array();
  for (const ExperimentResult& result : finding.results) tried.push_back(experiment_json(result));
  const ExperimentResult* proven = finding.proven();
  // Less CPU time on one CPU is evidence, no gain.
  if (proven != nullptr && proven->experiment.by_cpu_time) proven = nullptr;
  return {{"cause", finding.cause},
          {"title", finding.title},
          {"kind", std::string(to_text(finding.basis))},
          {"severity_ratio", finding.no_gain.empty() ? Json(finding.gain_ratio) : Json()},
          {"no_severity", finding.no_gain.empty() ? Json() : Json(finding.no_gain)},
          {"evidence", finding.evidence},
          {"advice", finding.advice},
          {"if_wrong", finding.if_wrong},
          {"how_to_prove", finding.proof},
          {"tried", tried},
          {"proven_gain_ratio", proven != nullptr ? Json(1 - proven->ratio) : Json()},
          {"proven_gain_ratio_lower", proven != nullptr ? Json(1 - proven->upper) : Json()},
          {"proven_gain_ratio_upper", proven != nullptr ? Json(std::min(1.0, 1 - proven->lower)) : Json()}};
}

Json function_json(const HotFunction& function) {
  return {{"function", function.function},
          {"library", function.library},
          {"source", function.source},
          {"line", function.line},
          {"compiler", function.compiler},
          {"role", std::string(code_role_text(function.role))},
          {"cpu_ratio", function.cpu_share},
          {"kernel_ratio", function.kernel_share},
          {"caller", function.caller},
          {"caller_place", function.caller_place},
          {"loop_cpu_ratio", function.loop ? Json(function.loop->cpu_share) : Json()},
          {"vector_bits", function.loop ? Json(function.loop->vector_bits()) : Json()}};
}

Json known_or_null(double value) { return value > 0 ? Json(value) : Json(); }

Json ceilings_json(const MachineCeilings& ceilings) {
  Json compute = Json::array(), bandwidth = Json::array();
  for (const ComputeCeiling& of : ceilings.compute) {
    compute.push_back({{"isa", of.isa},
                       {"format", of.format},
                       {"lanes_count", of.lanes},
                       {"one_cpu_flops_per_s", of.one_cpu_flops_per_s},
                       {"all_cpus_flops_per_s", of.all_cpus_flops_per_s}});
  }
  for (const BandwidthCeiling& of : ceilings.bandwidth) {
    bandwidth.push_back({{"level", of.level},
                         {"working_set_bytes", of.working_set_bytes},
                         {"one_cpu_bytes_per_s", of.one_cpu_bytes_per_s},
                         {"all_cpus_bytes_per_s", of.all_cpus_bytes_per_s}});
  }
  return {{"cpus_count", ceilings.cpus_count},
          {"compute", compute},
          {"bandwidth", bandwidth},
          {"clock_hz", known_or_null(ceilings.clock_hz)},
          {"one_cpu_additions_per_s", known_or_null(ceilings.one_cpu_additions_per_s)},
          {"all_cpus_additions_per_s", known_or_null(ceilings.all_cpus_additions_per_s)},
          {"one_cpu_product_flops_per_s", known_or_null(ceilings.one_cpu_product_flops_per_s)},
          {"took_s", ceilings.took_s}};
}

Json by_bits_json(const std::map<uint32_t, double>& by_bits) {
  Json json = Json::object();
  for (const auto& [bits, operations] : by_bits) json[bits == 0 ? "scalar" : std::to_string(bits)] = operations;
  return json;
}

Json point_json(const RooflinePoint& point, const Observation& seen) {
  Json roofs = Json::object();
  for (const RooflineRoof& roof : point.roofs) roofs[roof.level] = roof.allowed_per_s;
  const FunctionWork& work = point.work;
  return {{"function", seen.functions[point.function].name()},
          {"cpu_s", point.time_s},
          {"unit", point.is_float ? "flops" : "instructions"},
          {"format", point.format.empty() ? Json() : Json(point.format)},
          {"operations_per_s", point.operations_per_s},
          {"operations_per_byte", point.operations_per_byte ? Json(*point.operations_per_byte) : Json()},
          {"ceiling_per_s", known_or_null(point.ceiling_per_s)},
          {"allowed_per_s_by_memory", roofs},
          {"instructions_count", work.instructions_count},
          {"fp32_flops_count", work.fp32_flops_count},
          {"fp64_flops_count", work.fp64_flops_count},
          {"other_flops_count", work.other_flops_count},
          {"loaded_bytes", work.loaded_bytes},
          {"stored_bytes", work.stored_bytes},
          {"flops_count_by_register_bits", by_bits_json(work.flops_by_bits)},
          {"integer_operations_count_by_register_bits", by_bits_json(work.integer_operations_by_bits)}};
}

Json narrow_loop_json(const NarrowLoop& loop, const Observation& seen) {
  const auto counted = [&](double value) { return loop.is_counted ? Json(value) : Json(); };
  return {{"function", seen.functions[loop.function].name()},
          {"computes", loop.shape.in_words()},
          {"cpu_s", loop.time_s},
          {"register_bits", loop.shape.register_bits},
          {"possible_bits", loop.possible_bits},
          {"operations_count", counted(loop.operations_count)},
          {"bytes", counted(loop.bytes)},
          {"trips_count", counted(loop.trips_count)},
          {"limit_s", counted(loop.limit_s)},
          {"limited_by", loop.is_counted ? Json(loop.limited_by) : Json()}};
}

Json roofline_json(const Diagnosis& diagnosis) {
  const Roofline& roofline = *diagnosis.roofline;
  Json points = Json::array(), products = Json::array(), loops = Json::array();
  for (const NarrowLoop& loop : roofline.narrow_loops) loops.push_back(narrow_loop_json(loop, diagnosis.seen));
  for (const RooflinePoint& point : roofline.points) points.push_back(point_json(point, diagnosis.seen));
  for (const RecognisedProduct& of : roofline.products) {
    products.push_back({{"function", diagnosis.seen.functions[of.function].name()},
                        {"is_convolution", of.nest.is_convolution},
                        {"m", of.nest.m},
                        {"n", of.nest.n},
                        {"k", of.nest.k},
                        {"times_count", of.nest.times_count},
                        {"flops_count", of.nest.flops_count},
                        {"flops_per_s", of.flops_per_s},
                        {"machine_flops_per_s", known_or_null(of.machine_flops_per_s)}});
  }
  return {{"ceilings", ceilings_json(roofline.ceilings)},
          {"roofs_while_all_cpus_are_busy", roofline.runs_in_parallel},
          {"seen_ratio", roofline.seen.basis == SeenWork::Basis::kNotKnown ? Json() : Json(roofline.seen.ratio)},
          {"points", points},
          {"narrow_loops", loops},
          {"products", products}};
}

Json by_state_json(const ThreadTimes& times) {
  Json json = Json::object();
  for (size_t i = 1; i < kThreadStates; ++i) {
    if (const auto state = static_cast<ThreadState>(i); times.of(state) > 0)
      json[std::string(thread_state_text(state))] = times.of(state);
  }
  return json;
}

Json waits_json(const Observation& seen) {
  constexpr size_t kMost = 50;
  Json places = Json::array();
  for (const WaitPlace& place : seen.waits) {
    if (places.size() == kMost) break;
    places.push_back({{"for", std::string(thread_state_text(place.state))},
                      {"threads_s", place.s},
                      {"function", place.function},
                      {"place", place.source},
                      {"entry", place.entry},
                      {"system_call", place.call},
                      {"objects_count", place.objects_count},
                      {"threads_count", place.threads_count}});
  }
  return {{"places", places},
          {"nothing_ran_s_by_what", by_state_json(seen.idle)},
          {"first_thread_alone_s", seen.serial.s},
          {"uneven_threads_s", seen.uneven.s}};
}

Json script_json(const Observation& seen) {
  constexpr size_t kMost = 100;
  Json lines = Json::array();
  for (const ScriptLine& line : seen.script) {
    if (lines.size() == kMost) break;
    lines.push_back({{"file", line.file},
                     {"function", line.function},
                     {"line", line.line},
                     {"text", line.text},
                     {"cpu_s", line.cpu_s},
                     {"waiting_s_by_what", by_state_json(line.waits)}});
  }
  return lines;
}

// Microseconds are finer than what was sampled.
Json rounded_json(const std::vector<double>& values) {
  Json json = Json::array();
  for (const double value : values) json.push_back(std::round(1e6 * value) / 1e6);
  return json;
}

Json timeline_json(const Observation& seen) {
  const RunTimeline& timeline = seen.timeline;
  Json cpu = Json::array(), waiting = Json::object(), phases = Json::array();
  for (const TimelineRow& row : timeline.cpu)
    cpu.push_back({{"name", row_in_words(row, seen)}, {"cpu_s", rounded_json(row.cpu_s)}});
  for (size_t i = 1; i < kThreadStates; ++i) {
    if (const auto state = static_cast<ThreadState>(i); seen.threads.of(state) > 0)
      waiting[std::string(thread_state_text(state))] = rounded_json(timeline.state_s.at(i));
  }
  for (const RunPhase& phase : timeline.phases)
    phases.push_back({{"start_s", phase.start_s}, {"end_s", phase.end_s}, {"name", phase.name}});
  return {{"interval_s", timeline.interval_s},
          {"cpu", cpu},
          {"waiting_s_by_what", waiting},
          {"threads_count", rounded_json(timeline.threads_count)},
          {"phases", phases}};
}

}  // namespace

Json diagnosis_json(const Diagnosis& diagnosis) {
  const Observation& seen = diagnosis.seen;
  Json findings = Json::array(), functions = Json::array(), waiting = Json::object();
  for (const Finding& finding : diagnosis.findings) findings.push_back(finding_json(finding));
  for (const HotFunction& function : seen.functions) functions.push_back(function_json(function));
  for (size_t i = 1; i < kThreadStates; ++i) {
    if (const auto state = static_cast<ThreadState>(i); seen.threads.of(state) > 0)
      waiting[std::string(thread_state_text(state))] = seen.threads.of(state);
  }
  const auto efficiency = diagnosis.parallel_efficiency_ratio();
  return {{"schema", "perfcast.diagnosis/1"},
          {"command", diagnosis.command},
          {"wall_s", seen.run.wall_s},
          {"user_s", seen.run.user_s},
          {"system_s", seen.run.system_s},
          {"ready_s", seen.ready_s},
          {"waiting_s_by_what", waiting},
          {"samples_count", seen.samples_count},
          {"cpus_count", diagnosis.cpus_count},
          {"parallel_efficiency_ratio", efficiency ? Json(*efficiency) : Json()},
          {"thread_curve", diagnosis.curve ? thread_curve_json(*diagnosis.curve) : Json()},
          {"shared_lines", shared_lines_json(diagnosis.shared_lines)},
          {"hardware_counters", seen.hardware.empty() ? Json() : Json(seen.hardware)},
          {"no_hardware_counters", seen.no_hardware.empty() ? Json() : Json(seen.no_hardware)},
          {"core_design", diagnosis.design.empty() ? Json() : Json(diagnosis.design)},
          {"core_cycles_ratio_by_bound", diagnosis.bounds},
          {"findings", findings},
          {"functions", functions},
          {"waits", waits_json(seen)},
          {"script", script_json(seen)},
          {"bloat", diagnosis.bloat ? code_bloat_json(*diagnosis.bloat) : Json()},
          {"roofline", diagnosis.roofline ? roofline_json(diagnosis) : Json()},
          {"timeline", seen.timeline.intervals_count() > 0 ? timeline_json(seen) : Json()},
          {"notes", all_notes(diagnosis)},
          {"first_finding_s", diagnosis.first_finding_s},
          {"took_s", diagnosis.took_s}};
}

}  // namespace perfcast::measure
