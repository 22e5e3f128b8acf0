#include "profile/collect/session/doctor.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/json.h"
#include "base/process/program_inspector.h"
#include "base/process/tool.h"
#include "base/text.h"
#include "machine/meter/meter.h"

namespace perfcast {
namespace {

constexpr const char* kSuiteStressNg = "0.20.01";

bool has_flag(const HostFacts& host, const std::string& flag) {
  return std::find(host.cpu_flags.begin(), host.cpu_flags.end(), flag) != host.cpu_flags.end();
}

DoctorFinding examine_other_instruction_set() {
  const std::string other = host_instruction_set() == "aarch64" ? "x86_64" : "aarch64";
  const std::string name = "qemu-" + other;
  if (find_in_path(name).empty()) {
    return {name, "missing", "programs built for " + other + " can't be profiled", install_advice("qemu-user")};
  }
  if (other == "aarch64" && !std::filesystem::exists("/usr/aarch64-linux-gnu/lib")) {
    return {name, "limited", "counts of static programs built for " + other + "; its libraries are missing",
            install_advice("libc6-arm64-cross") + ", or QEMU_LD_PREFIX=FOLDER"};
  }
  return {name, "ok", "counts of programs built for " + other + ", without native times", ""};
}

DoctorFinding examine_wide_vectors(const HostFacts& host) {
  if (!has_flag(host, "avx512f"))
    return {"avx512", "ok", "this processor has none: every program here can be instrumented", ""};
  return {"avx512", "limited", "programs built for it (-march=native here) can't be instrumented",
          "-march=x86-64-v3 for what is to be profiled"};
}

DoctorFinding examine_stress_ng() {
  const std::string line = first_line_of({"stress-ng", "--version"});  // "stress-ng, version 0.15.06 (gcc ...)"
  const size_t at = line.find("version ");
  if (at == std::string::npos) {
    return {"stress-ng", "missing", "only `perfcast collect` of suites with stressors, such as cloud, needs it",
            fmt::format("stress-ng {} built from source, then --stress-ng PATH", kSuiteStressNg)};
  }
  const std::string rest = line.substr(at + 8);
  const std::string version = rest.substr(0, rest.find(' '));
  if (version == kSuiteStressNg) return {"stress-ng", "ok", "version " + version, ""};
  return {"stress-ng", "limited",
          fmt::format("version {}: `perfcast collect` skips stressors of the suite cloud, which are of {}", version,
                      kSuiteStressNg),
          fmt::format("stress-ng {} built from source, then --stress-ng PATH; or --any-version, though operations may "
                      "differ",
                      kSuiteStressNg)};
}

// One line for each kind of meter.
std::vector<DoctorFinding> examine_meters() {
  const MeterSet set = find_meters();
  std::vector<DoctorFinding> findings;
  for (const char* kind : {"rapl", "nvml", "hwmon"}) {
    std::vector<std::string> covered;
    for (const auto& meter : set.meters) {
      if (meter->facts().kind == kind) covered.push_back(meter->facts().covers);
    }
    const auto missing = std::find_if(set.missing.begin(), set.missing.end(),
                                      [&](const MissingMeter& each) { return each.kind == kind; });
    DoctorFinding finding = {kind, covered.empty() ? "missing" : "ok", "", ""};
    if (!covered.empty()) finding.detail = "energy: " + join(covered, ", ");
    if (missing != set.missing.end()) {
      if (!covered.empty()) finding.status = "limited";
      finding.detail += (covered.empty() ? "no energy: " : "; ") + missing->reason;
      finding.advice = missing->advice;
    }
    findings.push_back(std::move(finding));
  }
  return findings;
}

DoctorFinding examine_file(const std::string& name, const std::string& path, const std::string& advice) {
  std::error_code problem;
  const auto bytes = std::filesystem::file_size(path, problem);
  if (problem) return {name, "missing", path + ": " + problem.message(), advice};
  return {name, "ok", path + ", " + human_bytes(static_cast<double>(bytes)), ""};
}

std::string cache_sizes(const HostFacts& host) {
  std::vector<std::string> parts;
  const auto add = [&](const char* label, const std::optional<double>& bytes) {
    if (bytes) parts.push_back(std::string(label) + " " + human_bytes(*bytes));
  };
  add("L1d", host.l1d_bytes);
  add("L2", host.l2_bytes);
  add("L3", host.l3_bytes);
  add("memory", host.memory_bytes);
  return join(parts, ", ");
}

// ", 8 CPUs, 2 threads per core"
std::string processors_in_words(const HostFacts& host) {
  if (!host.logical_cpus) return "";
  std::string text = fmt::format(", {} CPU{}", *host.logical_cpus, *host.logical_cpus == 1 ? "" : "s");
  const int64_t threads = host.threads_per_core.value_or(1);
  if (threads > 1) text += fmt::format(", {} threads per core", threads);
  return text;
}

}  // namespace

std::vector<DoctorFinding> examine_machine(const HostFacts& host) {
  std::vector<DoctorFinding> findings;
  for (const auto& collector : all_collectors(host)) findings.push_back(collector->examine());
  for (const DoctorFinding& finding :
       {examine_other_instruction_set(), examine_wide_vectors(host), examine_stress_ng(),
        DoctorFinding{"gpu", "missing", "no GPU collector; programs are profiled on the CPU", ""}}) {
    findings.push_back(finding);
  }
  for (DoctorFinding& meter : examine_meters()) findings.push_back(std::move(meter));
  return findings;
}

std::vector<DoctorFinding> examine_files(const std::string& corpus, const std::string& bundle) {
  return {examine_file("bundle", bundle, "perfcast train -o FILE, or --bundle FILE"),
          examine_file("corpus", corpus, "only training needs it: perfcast import sparecores PATH")};
}

std::string findings_as_text(const HostFacts& host, const std::vector<DoctorFinding>& findings) {
  const std::string processors = processors_in_words(host);
  std::string text = fmt::format("{}{}, {}\n", host.name.empty() ? "unknown processor" : printable(host.name),
                                 processors, host.arch.empty() ? host_instruction_set() : host.arch);
  if (const std::string sizes = cache_sizes(host); !sizes.empty()) text += sizes + "\n";
  text += fmt::format("{}, kernel {}, hypervisor {}\n\n", host.os.empty() ? "unknown system" : printable(host.os),
                      printable(host.kernel), host.hypervisor.empty() ? "unknown" : printable(host.hypervisor));
  for (const DoctorFinding& finding : findings) {
    text += fmt::format("{:<8} {:<13} {}\n", finding.status, finding.name, printable(finding.detail));
    if (!finding.advice.empty()) text += fmt::format("{:<22} -> {}\n", "", printable(finding.advice));
  }
  return text;
}

Json findings_as_json(const HostFacts& host, const std::vector<DoctorFinding>& findings) {
  Profile carrier;
  carrier.host = host;
  Json json = {{"schema", "perfcast.doctor/1"}, {"host", to_json(carrier).value("host", Json::object())}};
  json["findings"] = Json::array();
  for (const DoctorFinding& finding : findings) {
    json["findings"].push_back(
        {{"name", finding.name}, {"status", finding.status}, {"detail", finding.detail}, {"advice", finding.advice}});
  }
  return json;
}

}  // namespace perfcast
