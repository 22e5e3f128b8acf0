// How many instructions of a trace a second a model of a core takes, and how long all designs take together.
//   perfcast_core_bench [TRACE]     without a trace: an invented mix of 2 million instructions
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include "base/parallel.h"
#include "base/random.h"
#include "profile/core/simulate.h"

namespace perfcast {
namespace {

constexpr int kRounds = 3;
constexpr uint32_t kBlocks = 200, kSteps = 200000;
constexpr uint64_t kMemoryBytes = uint64_t{1} << 30U;

double now_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Blocks of ten: three loads, a store, a branch, arithmetic; one access in a hundred beyond the third level.
DecodedProcess invented() {
  Random random(1);
  DecodedProcess process;
  process.program = "invented";
  process.instruction_set = "x86_64";
  const auto reg = [&] { return static_cast<uint8_t>(random.next() % 14); };
  for (uint32_t block = 0; block < kBlocks; ++block) {
    process.blocks.push_back({0x1000 + 64 * uint64_t{block}, 40, 10 * block, 10});
    for (int i = 0; i < 10; ++i) {
      CoreInstruction one;
      one.op = i == 9 ? CoreOp::kBranch : i < 4 ? CoreOp::kNothing : CoreOp::kAlu;
      one.loads = i < 3 ? 1 : 0;
      one.sources = i < 3 ? 0 : 2;
      one.addresses = i < 4 ? 1 : 0;
      one.results = i == 3 || i == 9 ? 0 : 1;
      for (uint8_t& named : one.registers) named = reg();
      process.instructions.push_back(one);
    }
  }
  DecodedPiece piece;
  for (uint32_t step = 0; step < kSteps; ++step) {
    CoreStep one;
    one.block = static_cast<uint32_t>(random.next() % kBlocks);
    one.accesses = static_cast<uint32_t>(piece.accesses.size());
    one.mispredicted = random.uniform() < 0.03;
    one.taken = random.uniform() < 0.6;
    for (uint16_t i = 0; i < 4; ++i) {
      CoreAccess access;
      access.address = random.next() % kMemoryBytes;
      access.instruction = i;
      access.bytes = 8;
      access.store = i == 3;
      const double where = random.uniform();
      access.held_kib = where < 0.95 ? 32 : where < 0.98 ? 512 : where < 0.99 ? 8192 : 0;
      piece.accesses.push_back(access);
    }
    piece.steps.push_back(one);
  }
  piece.instructions_count = 10 * uint64_t{kSteps};
  piece.stands_for_count = static_cast<double>(piece.instructions_count);
  process.pieces = {piece};
  return process;
}

Result<std::vector<DecodedProcess>> processes_of(const char* path) {
  if (path == nullptr) return std::vector<DecodedProcess>{invented()};
  const auto trace = read_trace(path);
  if (!trace) return trace.error();
  std::vector<DecodedProcess> processes;
  for (const ProcessTrace& process : trace->processes) {
    auto decoded = decode_for_cores(process);
    if (!decoded) return decoded.error();
    processes.push_back(std::move(*decoded));
  }
  return processes;
}

int run(const char* path) {
  const auto designs = read_core_designs(std::string(PERFCAST_SOURCE_DIR) + "/data/cores/designs.json");
  const auto processes = processes_of(path);
  if (!designs || !processes) {
    std::fprintf(stderr, "%s\n", (designs ? processes.error() : designs.error()).message.c_str());
    return 1;
  }
  double instructions = 0;
  for (const DecodedProcess& process : *processes) {
    for (const DecodedPiece& piece : process.pieces) instructions += static_cast<double>(piece.instructions_count);
  }
  double checksum = 0;
  fmt::print("{:.2f} million instructions of {} processes\n", 1e-6 * instructions, processes->size());
  for (const CoreDesign& design : *designs) {
    double least_s = 1e9;
    for (int round = 0; round < kRounds; ++round) {
      const double began_s = now_s();
      for (const DecodedProcess& process : *processes) checksum += simulate_core(process, design).cycles;
      least_s = std::min(least_s, now_s() - began_s);
    }
    fmt::print("{:<16} {:6.1f} million instructions/s\n", design.name, 1e-6 * instructions / least_s);
  }
  const int threads = static_cast<int>(std::thread::hardware_concurrency());
  const double began_s = now_s();
  const Status done = parallel_for(designs->size(), threads, [&](size_t design) -> Status {
    for (const DecodedProcess& process : *processes) simulate_core(process, (*designs)[design]);
    return {};
  });
  fmt::print("all {} designs on {} threads: {:.2f} s (checksum {:.6g})\n", designs->size(), threads, now_s() - began_s,
             checksum);
  return done ? 0 : 1;
}

}  // namespace
}  // namespace perfcast

int main(int argc, char** argv) { return perfcast::run(argc > 1 ? argv[1] : nullptr); }
