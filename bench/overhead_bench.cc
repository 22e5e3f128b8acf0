// What a profile costs: `gzip -9 -c` of 5 MB of mixed text, natively, as a whole profile, and as the opcode mix alone.
// Goals: the whole profile at most 25 times the native time, the mix at most 5 times. Runs are interleaved and medians
// taken, so that a busy host disturbs all three alike; cpu_* are the same ratios of CPU time, which it disturbs less.

#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/process/process.h"
#include "base/process/program_inspector.h"
#include "base/process/temp_folder.h"
#include "base/random.h"
#include "base/statistics.h"
#include "profile/collect/collector.h"

namespace perfcast {
namespace {

constexpr size_t kTextBytes = 5'000'000;
constexpr int kRounds = 5;

// Words of a small vocabulary by a skewed law, numbers, and some bytes that don't compress.
std::string mixed_text() {
  Random random(20240601);
  std::vector<std::string> words;
  for (int i = 0; i < 4000; ++i) {
    std::string word;
    for (uint64_t length = 2 + random.below(9); length > 0; --length) {
      word += static_cast<char>('a' + random.below(26));
    }
    words.push_back(word);
  }
  std::string text;
  while (text.size() < kTextBytes) {
    const double draw = random.uniform();
    if (draw < 0.9) {
      text += words[static_cast<size_t>(4000 * random.uniform() * random.uniform())] + ' ';
    } else if (draw < 0.97) {
      text += std::to_string(random.below(100000)) + '\n';
    } else {
      for (int i = 0; i < 8; ++i) text += static_cast<char>(random.below(256));
    }
  }
  text.resize(kTextBytes);
  return text;
}

struct Cost {
  std::vector<double> wall_s, cpu_s;
};

double children_cpu_s() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

template <typename Action>
bool measure(Cost& cost, Action action) {
  const double cpu_before_s = children_cpu_s();
  const auto start = std::chrono::steady_clock::now();
  const bool ok = action();
  cost.wall_s.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  cost.cpu_s.push_back(children_cpu_s() - cpu_before_s);
  return ok;
}

bool profile_ok(const std::string& path, bool mix_only) {
  CollectRequest request;
  request.command = {"gzip", "-9", "-c", path};
  request.pass_output = false;
  request.input_descriptor = -1;
  request.mix_only = mix_only;
  request.exact = true;  // what sampling saves: tools/bench-profile
  const auto profile = profile_command(request, [](const std::string&) {});
  return profile && profile->ok() && profile->metrics.contains("instructions_count");
}

void profile_overhead(benchmark::State& state) {
  const auto folder = TempFolder::create();
  if (!folder) return state.SkipWithError(folder.error().message.c_str());
  const std::string path = folder->path() + "/text";
  if (!write_file_atomically(path, mixed_text())) return state.SkipWithError("cannot write the text");
  ProcessRequest native;
  native.executable = find_in_path("gzip");
  native.arguments = {"gzip", "-9", "-c", path};
  Cost natively, whole, mix;
  for (auto _ : state) {
    for (int round = 0; round < kRounds; ++round) {
      const bool ok = measure(natively,
                              [&] {
                                const auto outcome = run_process(native);
                                return outcome && outcome->ok();
                              }) &&
                      measure(whole, [&] { return profile_ok(path, false); }) &&
                      measure(mix, [&] { return profile_ok(path, true); });
      if (!ok) return state.SkipWithError("a run failed: perfcast doctor says what is missing");
    }
  }
  state.counters["native_s"] = median(natively.wall_s);
  state.counters["whole_ratio"] = median(whole.wall_s) / median(natively.wall_s);
  state.counters["mix_ratio"] = median(mix.wall_s) / median(natively.wall_s);
  state.counters["cpu_whole_ratio"] = median(whole.cpu_s) / median(natively.cpu_s);
  state.counters["cpu_mix_ratio"] = median(mix.cpu_s) / median(natively.cpu_s);
  state.SetLabel("goals: whole <= 25, mix <= 5");
}
BENCHMARK(profile_overhead)->Iterations(1)->Unit(benchmark::kSecond)->UseRealTime();

}  // namespace
}  // namespace perfcast
