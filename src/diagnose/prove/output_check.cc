#include "diagnose/prove/output_check.h"

#include <array>
#include <fstream>

#include "collect/process/process.h"
#include "collect/process/program_inspector.h"

namespace perfcast {

Result<OutputCheck::Printed> OutputCheck::printed_by(const std::vector<std::string>& command) const {
  auto folder = TempFolder::create();
  if (!folder) return folder.error();
  const auto program = inspect_program(command);
  if (!program) return program.error();
  ProcessRequest process;
  process.executable = program->path;
  process.arguments = command;
  process.output_file = folder->path() + "/output";
  process.limit_s = limit_s_;
  const auto outcome = run_process(process);
  if (!outcome) return outcome.error();
  if (!outcome->ok())
    return Error{"program-failed", outcome->limit_reached ? "it takes too long" : "it fails", "",
                 "a program that works"};
  // FNV-1a, of 64 bits.
  Printed printed;
  printed.hash = 0xcbf29ce484222325;
  std::ifstream stream(process.output_file, std::ios::binary);
  std::array<char, 1 << 16> block;
  while (stream.read(block.data(), block.size()), stream.gcount() > 0) {
    const auto count = static_cast<size_t>(stream.gcount());
    for (size_t i = 0; i < count; ++i)
      printed.hash = (printed.hash ^ static_cast<uint8_t>(block.at(i))) * 0x100000001b3;
    printed.bytes += count;
  }
  return printed;
}

Result<SameOutput> OutputCheck::compare(const std::vector<std::string>& other) {
  if (own_failed_) return *own_failed_;
  if (!own_) {
    const auto first = printed_by(command_);
    const auto again = first ? printed_by(command_) : first;
    if (!first || !again) {
      const Error& why = first ? again.error() : first.error();
      if (why.kind == ErrorKind::kInterrupted) return why;
      own_failed_ = Error{why.code, "the command as it is can't be compared with: " + why.message, why.where, ""};
      return *own_failed_;
    }
    own_ = *first;
    varies_ = !(*first == *again);
  }
  if (varies_) return SameOutput::kVaries;
  const auto printed = printed_by(other);
  if (!printed) return printed.error();
  return *printed == *own_ ? SameOutput::kSame : SameOutput::kDiffers;
}

}  // namespace perfcast
