// write_synthetic DIR: the small world of synthetic_corpus.h as files, for command-line tests: tiny.db, and profiles of
// programs that the corpus does not hold: tiny.json, failed.json (exit status 3), far.json (unlike all others),
// other-cpu.json (a host that no platform is like); loop.trace (windows of tiny.json's program: a chain of additions),
// nothing.trace (pieces that stand for nothing).

#include <cstdio>
#include <string>

#include "base/file.h"
#include "base/json.h"
#include "profile/trace/trace.h"
#include "program/corpus/store/store.h"
#include "program/evaluate/testing/synthetic_corpus.h"

namespace perfcast::program {
namespace {

// Ten additions, each of the sum before it, and a branch back; `stands_for_count` of a thousand rounds.
Trace chain_of_additions(uint64_t stands_for_count) {
  constexpr uint8_t kSum = 3, kFlags = 64;
  constexpr uint64_t kRounds = 1000;
  ProcessTrace process;
  process.program = "loop";
  process.instruction_set = "x86_64";
  process.classes = {"int_alu", "cond_branch"};
  TraceBlock block;
  block.address = 0x1000;
  block.branch = TraceBranch::kConditional;
  TraceInstruction add, branch;
  add.op = 0;
  add.size_bytes = 3;
  add.registers = {kSum, kSum};
  add.register_counts = {1, 0, 1};
  branch.op = 1;
  branch.size_bytes = 2;
  branch.registers = {kFlags};
  branch.register_counts = {1, 0, 0};
  block.instructions.assign(10, add);
  block.instructions.push_back(branch);
  block.fall_through = block.address + 32;
  process.blocks = {block};
  TracePiece piece;
  piece.window = true;
  piece.stands_for_count = stands_for_count;
  piece.instructions_count = kRounds * block.instructions.size();
  piece.events.assign(kRounds, '\0');
  process.pieces = {piece};
  return {"loop", {"./loop"}, {process}};
}

Status write_files(const std::string& folder) {
  const SyntheticOptions world;
  auto store = CorpusStore::open(folder + "/tiny.db");
  if (!store) return store.error();
  if (Status status = (*store)->merge(synthetic_corpus(world)); !status) return status;

  const auto write = [&](const std::string& name, const Profile& profile) {
    return write_file_atomically(folder + "/" + name, to_text(to_json(profile)));
  };
  const Profile profile = synthetic_profile(world, 11);
  if (Status status = write("tiny.json", profile); !status) return status;
  Profile failed = profile;
  failed.exit_code = 3;
  if (Status status = write("failed.json", failed); !status) return status;
  Profile far = profile;
  far.program = "far";
  for (auto& [name, value] : far.metrics) {
    if (name.starts_with("op_fp") || name.starts_with("op_x87") || name.starts_with("miss_")) value *= 300;
  }
  if (Status status = write("far.json", far); !status) return status;
  const auto ran = static_cast<uint64_t>(profile.metrics.at("instructions_count"));
  if (Status status = write_trace(chain_of_additions(ran), folder + "/loop.trace"); !status) return status;
  Trace missed = chain_of_additions(ran);
  const auto all = static_cast<double>(ran);
  missed.counts = {
      {"instructions_count", all}, {"miss_32m_random_count", all / 50}, {"miss_16m_random_count", all / 50}};
  if (Status status = write_trace(missed, folder + "/missed.trace"); !status) return status;
  if (Status status = write_trace(chain_of_additions(0), folder + "/nothing.trace"); !status) return status;
  Profile other = profile;
  other.host.name = "Unknown Vendor CPU";
  other.host.vendor = "CentaurHauls";
  return write("other-cpu.json", other);
}

}  // namespace
}  // namespace perfcast::program

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: write_synthetic DIR\n", stderr);
    return 2;
  }
  const perfcast::Status status = perfcast::program::write_files(argv[1]);
  if (!status) std::fprintf(stderr, "%s\n", perfcast::to_text(status.error()).c_str());
  return status ? 0 : 1;
}
