#include "ai/gemm/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "ai/gemm/advice.h"
#include "ai/gemm/conv/conv_advice.h"
#include "base/process/interrupt.h"
#include "base/statistics.h"
#include "base/text.h"
#include "machine/ceiling/cpu_isa.h"
#if defined(PERFCAST_HAVE_CUDA)
#include "ai/gemm/cuda/cuda_rungs.h"
#endif
#include "ai/gemm/run/noise.h"
#include "machine/ceiling/peak_loops.h"

namespace perfcast::ai::gemm {
namespace {

constexpr double kOverPeak = 1.02;          // above it: a warning
constexpr double kMemoryBound = 16;         // FLOP per byte below which memory may decide
constexpr double kLargestArray = 1u << 30;  // of the bandwidth loop

struct Part {
  const Rung* rung;
  int threads;
};

std::vector<Part> parts_of(const GemmRequest& request) {
  std::vector<Part> parts;
  for (const Rung* rung : request.rungs) {
    if (!request.precisions.empty() &&
        std::find(request.precisions.begin(), request.precisions.end(), rung->precision) == request.precisions.end()) {
      continue;
    }
    if (!rung->threaded) {
      parts.push_back({rung, 1});
      continue;
    }
    for (const int threads : request.threads) parts.push_back({rung, threads});
  }
  return parts;
}

// One ladder: a product, or a convolution and the product that it amounts to.
struct Problem {
  Shape shape;
  std::optional<ConvLayer> conv;

  std::vector<int64_t> sizes() const {
    return conv ? sizes_of(conv->shape) : std::vector<int64_t>{shape.m, shape.n, shape.k};
  }
  double intensity() const {
    return operations(shape) / (conv ? compulsory_bytes(conv->shape, 4, 4) : compulsory_bytes(shape, 4, 4));
  }
};

std::vector<Problem> problems_of(const GemmRequest& request) {
  std::vector<Problem> problems;
  for (const Shape& shape : request.shapes) problems.push_back({shape, std::nullopt});
  for (const ConvLayer& layer : request.convolutions) problems.push_back({product_of(layer.shape), layer});
  return problems;
}

std::vector<LadderEntry> peak_entries(const std::vector<Part>& parts) {
  std::set<Precision> precisions;
  std::set<int> threads;
  for (const Part& part : parts) {
    if (part.rung->device != "cpu") continue;
    precisions.insert(part.rung->precision);
    threads.insert(part.threads);
  }
  std::vector<LadderEntry> entries;
  for (const PeakLoop& loop : peak_loops()) {
    const auto precision = precision_named(loop.format);
    if (!precision || !precisions.contains(*precision) || loop.isa == kScalarIsa) continue;
    for (const int count : threads) {
      LadderEntry entry;
      entry.spec.op = "peak";
      entry.spec.rung = fmt::format("{}/{}", loop.isa, loop.format);
      entry.spec.threads = count;
      entry.keep_all_rounds = true;
      entries.push_back(std::move(entry));
    }
  }
  return entries;
}

// Of the GPU, for the precisions of its rungs.
std::vector<LadderEntry> gpu_peak_entries([[maybe_unused]] const std::vector<Part>& parts) {
  std::vector<LadderEntry> entries;
#if defined(PERFCAST_HAVE_CUDA)
  std::vector<Precision> precisions;
  for (const Part& part : parts) {
    if (part.rung->device == "cuda") precisions.push_back(part.rung->precision);
  }
  for (TaskSpec& spec : cuda_peaks(precisions)) {
    LadderEntry entry;
    entry.spec = std::move(spec);
    entry.keep_all_rounds = true;
    entries.push_back(std::move(entry));
  }
#endif
  return entries;
}

std::vector<LadderEntry> bandwidth_entries(const std::vector<Part>& parts, int64_t asked_bytes) {
  std::set<int> threads;
  for (const Part& part : parts) threads.insert(part.threads);
  const double cache = last_level_cache_bytes(), free = available_memory();
  double bytes = std::isnan(cache) ? kLargestArray / 4 : std::clamp(2 * cache, kLargestArray / 16, kLargestArray);
  if (!std::isnan(free)) bytes = std::min(bytes, free / 16);
  if (asked_bytes > 0) bytes = static_cast<double>(asked_bytes);
  std::vector<LadderEntry> entries;
  for (const int count : threads) {
    LadderEntry entry;
    entry.spec.op = "read";
    entry.spec.rung = "memory";
    entry.spec.sizes = {std::max<int64_t>(4096, static_cast<int64_t>(bytes))};
    entry.spec.threads = count;
    entry.keep_all_rounds = true;
    entries.push_back(std::move(entry));
  }
  return entries;
}

void add_peak(const Measurement& measured, GemmResult& result) {
  const size_t slash = measured.spec.rung.find('/');
  Peak peak;
  peak.isa = measured.spec.rung.substr(0, slash);
  if (measured.spec.op == "cuda-peak") peak.device = "cuda";
  peak.precision = *precision_named(std::string_view(measured.spec.rung).substr(slash + 1));
  peak.threads = measured.spec.threads;
  if (!measured.ran()) {
    result.warnings.push_back("no peak of " + measured.spec.rung + ": " +
                              (measured.skipped.empty() ? measured.verdict.detail : measured.skipped));
    return;
  }
  peak.gflops = measured.best_rate() / 1e9;
  peak.spread = measured.spread();
  for (Peak& known : result.peaks) {
    if (known.isa != peak.isa || known.precision != peak.precision || known.threads != peak.threads) continue;
    known.gflops = std::max(known.gflops, peak.gflops);
    known.spread = std::fmax(known.spread, peak.spread);  // of shapes where it is known
    return;
  }
  result.peaks.push_back(peak);
}

void add_rung(const Part& part, const Problem& problem, const Measurement& measured, GemmResult& result) {
  const Rung& rung = *part.rung;
  if (!measured.skipped.empty()) {
    result.skipped.push_back({rung.name, measured.skipped, problem.shape, part.threads, problem.conv});
    return;
  }
  RungResult row;
  row.name = rung.name;
  row.title = rung.title;
  row.device = rung.device;
  row.isa = rung.isa;
  row.precision = rung.precision;
  row.shape = problem.shape;
  row.conv = problem.conv;
  row.threads = part.threads;
  row.environment = rung.environment;
  row.correct = measured.verdict.correct;
  row.relative_error = measured.verdict.relative_error;
  row.kernel = measured.kernel;
  row.note = measured.note;
  if (!measured.verdict.correct) {
    result.warnings.push_back(rung.name + " at " + problem_text(problem.shape, problem.conv) +
                              " gave a wrong result and was not timed: " + measured.verdict.detail);
  } else {
    row.samples = static_cast<int>(measured.samples_s.size());
    row.median_s = measured.median_s();
    row.low_s = measured.low_s();
    row.high_s = measured.high_s();
    row.spread = measured.spread();
    row.on_cpu = measured.on_cpu();
    row.gflops = measured.rate() / 1e9;
    row.best_gflops = measured.best_rate() / 1e9;
  }
  result.rungs.push_back(std::move(row));
}

// Shares and speed-ups, once all limits are known.
void relate(GemmResult& result) {
  for (RungResult& row : result.rungs) {
    if (std::isnan(row.gflops)) continue;
    if (!result.oversubscribed(row.device, row.threads)) {
      row.peak_gflops = result.peak(row.device, row.precision, row.threads);
      row.peak_share = row.gflops / row.peak_gflops;
      if (!row.isa.empty()) row.isa_share = row.gflops / result.peak(row.device, row.precision, row.threads, row.isa);
    }
    const auto first = std::find_if(result.rungs.begin(), result.rungs.end(), [&row](const RungResult& other) {
      return same_problem(other, row) && !std::isnan(other.median_s);
    });
    row.speedup = first->median_s / row.median_s;
    if (row.peak_share > kOverPeak) {
      result.warnings.push_back(row.name + " at " + problem_text(row.shape, row.conv) +
                                " is above the measured peak of " + std::string(name_of(row.precision)) +
                                ": it uses instructions that no peak loop here has, or the machine was not quiet");
    }
  }
}

void warn_of_threads(const std::vector<Part>& parts, GemmResult& result) {
  std::set<int> too_many;
  for (const Part& part : parts) {
    if (result.oversubscribed(part.rung->device, part.threads)) too_many.insert(part.threads);
  }
  for (const int threads : too_many) {
    result.warnings.push_back(std::to_string(threads) + " threads: more threads than cores (" +
                              std::to_string(result.cores) +
                              "): peaks and times of that row mean little, and no share of a peak is given");
  }
}

void look_at_noise(GemmResult& result) {
  for (const Peak& peak : result.peaks) {
    if (peak.precision == Precision::kFp32 && peak.threads == 1) {
      result.noise.peak_spread = std::fmax(result.noise.peak_spread, peak.spread);
    }
  }
  std::vector<double> on_cpu;
  for (const RungResult& row : result.rungs) on_cpu.push_back(row.on_cpu);
  result.noise.on_cpu = median_of_known(std::move(on_cpu));
  const Noise& noise = result.noise;
  if (noise.on_cpu < 0.97) {
    result.warnings.push_back("rungs of one thread had a CPU for only " +
                              std::to_string(std::lround(noise.on_cpu * 100)) +
                              "% of their time: other programs want it too, and times are too long by that");
  }
  if (noise.load_average > 0.5) {
    result.warnings.push_back("other programs were running (load average " +
                              std::to_string(noise.load_average).substr(0, 4) + " at the start)");
  }
  if (noise.steal_share > 0.01) {
    result.warnings.push_back("the hypervisor took " + std::to_string(noise.steal_share * 100).substr(0, 4) +
                              "% of the CPU time for others");
  }
  if (noise.peak_spread > 0.05) {
    result.warnings.push_back("the fp32 peak loop itself varied by " +
                              std::to_string(noise.peak_spread * 100).substr(0, 4) +
                              "% from round to round: the clock or neighbours changed");
  }
}

}  // namespace

bool GemmResult::oversubscribed(const std::string& device, int threads) const {
  return device == "cpu" && threads > cores;
}

double GemmResult::peak(const std::string& device, Precision precision, int threads, const std::string& isa) const {
  double widest = kUnknown;
  for (const Peak& peak : peaks) {
    if (peak.device != device || peak.precision != precision || peak.threads != threads) continue;
    if (!isa.empty() && peak.isa != isa) continue;
    if (!(peak.gflops <= widest)) widest = peak.gflops;
  }
  return widest;
}

double memory_needed(const GemmRequest& request, const Shape& shape) {
  const double matrices = compulsory_bytes(shape, 4, 4);
  // Two copies of the operands in each worker (ours, the library's), and once what the check needs: C in float64 and B
  // rounded.
  const double base = 64e6;  // of a process with its library
  const std::vector<Part> parts = parts_of(request);
  const auto workers = std::count_if(parts.begin(), parts.end(), [](const Part& part) {
    return !part.rung->unavailable || part.rung->unavailable().empty();
  });
  return static_cast<double>(workers) * (2 * matrices + base) +
         8.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n) +
         4.0 * static_cast<double>(shape.k) * static_cast<double>(shape.n);
}

std::map<std::string, std::string> thread_environment(int threads) {
  const std::string count = std::to_string(threads);
  return {{"OMP_NUM_THREADS", count},
          {"OPENBLAS_NUM_THREADS", count},
          {"BLIS_NUM_THREADS", count},
          {"MKL_NUM_THREADS", count}};
}

Result<GemmResult> run_gemm(const GemmRequest& request) {
  const InterruptGuard guard;
  const std::vector<Part> parts = parts_of(request);
  if (parts.empty()) {
    return usage_error("bad-usage", "no rung is left to run", "--rungs, --precision", "perfcast gemm --list has all");
  }
  const double free = available_memory();
  const std::vector<Problem> problems = problems_of(request);
  for (const auto& [shape, conv] : problems) {
    // The columns of a convolution are B.
    const double needed = memory_needed(request, shape);
    if (needed > 0.8 * free) {
      return Error{"too-large",
                   (shape.m == shape.n && shape.n == shape.k ? "N = " : "M x N x K = ") + to_text(shape) +
                       " needs about " + human_bytes(needed) + " of memory: " +
                       (parts.size() == 1 ? "one worker" : std::to_string(parts.size()) + " workers, each") +
                       " with the three matrices and their packed copies, and the reference of the check; " +
                       human_bytes(free) + " are free",
                   "--n, --shape", "a smaller shape, or fewer rungs (--rungs)"};
    }
  }

  GemmResult result;
  if (!request.convolutions.empty()) result.op = "conv";
  result.cpu = cpu_title();
  result.cores = online_cores();
  result.isas = cpu_isas();
  result.seed = request.seed;
  warn_of_threads(parts, result);
  result.noise.load_average = load_average();
  const CpuTicks before = cpu_ticks();
  for (const Problem& problem : problems) {
    std::vector<LadderEntry> entries;
    for (const Part& part : parts) {
      LadderEntry entry;
      entry.spec = {result.op,    part.rung->name, problem.sizes(),
                    part.threads, request.seed,    thread_environment(part.threads)};
      for (const auto& [name, value] : part.rung->environment) entry.spec.environment[name] = value;
      entry.guess_first = part.rung->slow;
      entries.push_back(std::move(entry));
    }
    for (LadderEntry& entry : peak_entries(parts)) entries.push_back(std::move(entry));
    for (LadderEntry& entry : gpu_peak_entries(parts)) entries.push_back(std::move(entry));
    const bool read = result.bandwidths.empty() && (request.bandwidth || problem.intensity() < kMemoryBound);
    if (read) {
      for (LadderEntry& entry : bandwidth_entries(parts, request.read_bytes)) entries.push_back(std::move(entry));
    }
    const auto measured = run_ladder(entries, request.ladder);
    if (!measured) return measured.error();
    for (size_t i = 0; i < measured->measured.size(); ++i) {
      const Measurement& each = measured->measured[i];
      if (i < parts.size()) {
        add_rung(parts[i], problem, each, result);
      } else if (each.spec.op == "peak" || each.spec.op == "cuda-peak") {
        add_peak(each, result);
      } else if (each.ran()) {
        result.bandwidths.push_back({each.spec.threads, each.best_rate() / 1e9, each.work, each.spread()});
      }
    }
    result.interrupted = measured->interrupted;
    if (result.interrupted) break;
  }
  relate(result);
  if (std::any_of(result.rungs.begin(), result.rungs.end(),
                  [](const RungResult& row) { return row.device == "cuda"; })) {
    if (const auto facts = read_gpu_facts()) result.gpu = *facts;
  }
  if (request.advice && result.op == "conv") {
    result.advice = conv_advice(result);
  } else if (request.advice && !result.interrupted) {
    if (const Status advised = find_advice(request, result); !advised) {
      if (advised.error().kind != ErrorKind::kInterrupted) return advised.error();
      result.interrupted = advised.error();
    }
  }
  if (result.interrupted) result.warnings.emplace_back("interrupted: this is what was measured until then");
  result.noise.steal_share = steal_share(before, cpu_ticks());
  look_at_noise(result);
  return result;
}

}  // namespace perfcast::ai::gemm
