#include "program/corpus/importers/sparecores_columns.h"

#include <cmath>
#include <vector>

#include "base/csv.h"
#include "base/text.h"
#include "machine/facts/platform.h"

namespace perfcast::program {
namespace {

using Segments = std::vector<std::string>;

SparecoresColumn skip(const std::string& reason) {
  SparecoresColumn column;
  column.reason = reason;
  return column;
}

SparecoresColumn run(const std::string& program, int64_t threads) {
  SparecoresColumn column;
  column.use = SparecoresColumn::Use::kRun;
  column.program = program;
  column.threads = threads;
  column.per_vcpu = threads == 0;
  return column;
}

SparecoresColumn fact(const std::string& name, double scale, bool per_vcpu) {
  SparecoresColumn column;
  column.use = SparecoresColumn::Use::kFact;
  column.fact = name;
  column.scale = scale;
  column.per_vcpu = per_vcpu;
  return column;
}

SparecoresColumn machine_run(const std::string& program, bool per_core) {
  SparecoresColumn column;
  column.use = SparecoresColumn::Use::kMachineRun;
  column.program = program;
  column.per_core = per_core;
  return column;
}

SparecoresColumn unknown() { return skip("no rule knows this column"); }

std::string join_range(const Segments& segments, size_t first, size_t last) {
  return join(Segments(segments.begin() + static_cast<std::ptrdiff_t>(first),
                       segments.begin() + static_cast<std::ptrdiff_t>(last)),
              ".");
}

// stressng.<stressor>.<1|N>
SparecoresColumn stressor(const Segments& segments) {
  if (segments.size() < 3) return unknown();
  if (segments.back() == "N") return machine_run(join_range(segments, 0, segments.size() - 1), false);
  if (segments.back() != "1") return unknown();
  return run(join_range(segments, 0, segments.size() - 1), 1);
}

// compress.<algorithm>.<level>[.b<block>].<1|N>.<c|d>
SparecoresColumn compressor(const Segments& segments) {
  const size_t size = segments.size();
  if (size < 4 || (segments[size - 1] != "c" && segments[size - 1] != "d")) return unknown();
  const bool all = segments[size - 2] == "N";
  if (!all && segments[size - 2] != "1") return unknown();
  Segments id(segments.begin(), segments.end() - 2);
  std::erase(id, "null");  // an algorithm without levels
  id.push_back(segments[size - 1]);
  return all ? machine_run(join(id, "."), true) : run(join(id, "."), 1);
}

// geekbench6.<Workload>.<1|N>: whole applications, but for those whose matrix instructions, where a CPU has any, make
// them a kind of their own.
SparecoresColumn workload(const Segments& segments, std::string_view name) {
  const bool all = segments.back() == "N";
  if (segments.size() < 3 || (!all && segments.back() != "1")) return unknown();
  const std::string_view label = name.substr(0, name.rfind('.'));
  const std::string workload = slug(std::string(label.substr(kScorePrefix.size())));
  if (workload.empty()) return unknown();
  if (workload.ends_with("score")) return skip("a score over all workloads");
  const std::string program = std::string(kScorePrefix) + workload;
  SparecoresColumn column = all ? machine_run(program, false) : run(program, 1);
  column.label = label;
  column.group = workload == "object-detection" ? "matrix" : "application";
  column.is_score = true;
  return column;
}

// redis.<command>.t<threads>.p<pipeline>.rps
SparecoresColumn redis(const Segments& segments) {
  if (segments.size() != 5 || segments[4] != "rps" || segments[2].size() < 2 || segments[2][0] != 't') return unknown();
  const auto threads = parse_number(std::string_view(segments[2]).substr(1));
  if (!threads || *threads < 1 || *threads > 1024 || *threads != std::floor(*threads)) return unknown();
  return run("redis." + segments[1] + "." + segments[3], static_cast<int64_t>(*threads));
}

// bwmem.<operation>.<decimal megabytes>MB: the sum over all vCPUs.
SparecoresColumn bandwidth(const Segments& segments) {
  if (segments.size() < 3) return unknown();
  std::string size = join_range(segments, 2, segments.size());
  if (!size.ends_with("MB")) return unknown();
  size.resize(size.size() - 2);
  const auto megabytes = parse_number(size);
  if (!megabytes || *megabytes <= 0 || *megabytes > 1e6) return unknown();
  const auto bytes = static_cast<int64_t>(std::llround(*megabytes * 1e6));
  const std::string label = bytes < 1'000'000 && bytes % 1024 == 0 ? std::to_string(bytes / 1024) + "kib"
                                                                   : std::to_string(bytes / 1'000'000) + "mb";
  return fact("bwmem_" + segments[1] + "_" + label + "_per_vcpu_bytes_per_s", 1e6, true);
}

// membench.<read|write|copy>_MBps.<size>KB (the sum over all vCPUs), membench.lat_ns.<size>KB
SparecoresColumn memory(const Segments& segments) {
  if (segments.size() != 3 || !segments[2].ends_with("KB")) return unknown();
  const auto size = parse_number(std::string_view(segments[2]).substr(0, segments[2].size() - 2));
  if (!size || *size < 1 || *size > 1e12) return unknown();
  const std::string label = std::to_string(static_cast<int64_t>(*size)) + "kib";
  if (segments[1] == "lat_ns") return fact("membench_latency_" + label + "_ns", 1, false);
  const std::string suffix = "_MBps";
  if (!segments[1].ends_with(suffix)) return unknown();
  const std::string operation = segments[1].substr(0, segments[1].size() - suffix.size());
  return fact("membench_" + operation + "_" + label + "_per_vcpu_bytes_per_s", 1e6, true);
}

SparecoresColumn classify(std::string_view name) {
  const Segments segments = split(name, '.');
  const std::string& kind = segments[0];
  if (kind == "stressng" || kind == "stressngfull") return stressor(segments);
  if (kind == "compress") return compressor(segments);
  // Measured on all cores only.
  if (kind == "openssl" && segments.size() == 3) return run(std::string(name), 0);
  if (kind == "redis") return redis(segments);
  if (kind == "static_web" && segments.size() == 3 && segments[2] == "best_rps") {
    return run(join_range(segments, 0, 2), 0);
  }
  if (kind == "bwmem") return bandwidth(segments);
  if (kind == "membench") return memory(segments);
  if (kind == "llm") return skip("tokens/s of language models: not used yet");
  if (kind == "geekbench6") return workload(segments, name);
  if (kind == "passmark") return skip("score of a closed benchmark, not a rate of its own work");
  return unknown();
}

}  // namespace

SparecoresColumn classify_sparecores_column(std::string_view name) {
  SparecoresColumn column = classify(name);
  if (!column.label.empty()) return column;
  // "stressng.cpu.N" -> "stressng.cpu.1", "compress.gzip.9.N.c" -> "compress.gzip.9.1.c"
  column.label = name;
  const size_t at = column.label.rfind(".N");
  if (at != std::string::npos) column.label[at + 1] = '1';
  return column;
}

}  // namespace perfcast::program
