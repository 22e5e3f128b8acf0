#include "measure/diagnose/roofline/function_work.h"

#include <algorithm>

namespace perfcast::measure {
namespace {

constexpr size_t kMostPieces = 100'000;  // of code without symbols: the rest of it is left out

struct Change {
  double executions = 0, iterations = 0;
};

}  // namespace

ExecutedCounts::ExecutedCounts(const std::vector<ExecutedCode>& executed, CodeMap& code,
                               const std::set<std::string>& paths) {
  const auto is_wanted = [&](const std::string& path) { return paths.empty() || paths.contains(path); };
  std::map<std::string, std::map<uint64_t, Change>> changes;
  std::map<std::string, std::map<uint64_t, Piece>> pieces;
  for (const ExecutedCode& part : executed) {
    for (const ExecutedBlock& block : part.blocks) {
      const ExecutedMapping* const mapping = mapping_of(part.mappings, block.address);
      if (mapping == nullptr || mapping->path.empty() || block.bytes == 0 || !is_wanted(mapping->path)) continue;
      const uint64_t offset = block.address - mapping->start + mapping->file_offset_bytes;
      uint64_t address = 0;
      if (!code.address_of(mapping->path, offset, address)) continue;
      const double executions = part.weight * static_cast<double>(block.executions_count);
      const double iterations = part.weight * static_cast<double>(block.iterations_count);
      auto& of_file = changes[mapping->path];
      of_file[address].executions += executions;
      of_file[address].iterations += iterations;
      of_file[address + block.bytes].executions -= executions;
      of_file[address + block.bytes].iterations -= iterations;
      pieces[mapping->path].try_emplace(address, Piece{address, block.bytes, offset});
    }
  }
  for (const auto& [path, of_file] : changes) {
    CountedFile& file = files_[path];
    double executions = 0, iterations = 0;
    for (const auto& [address, change] : of_file) {
      executions += change.executions;
      iterations += change.iterations;
      file.executions.emplace_back(address, executions);
      file.iterations.emplace_back(address, iterations);
    }
    // Blocks may begin within each other.
    for (const auto& [address, piece] : pieces[path]) {
      if (!file.pieces.empty() && address < file.pieces.back().address + file.pieces.back().bytes) {
        Piece& last = file.pieces.back();
        last.bytes = std::max(last.bytes, address + piece.bytes - last.address);
      } else {
        file.pieces.push_back(piece);
      }
    }
  }
}

double ExecutedCounts::level_at(const Levels& levels, uint64_t address) {
  const auto after = std::upper_bound(levels.begin(), levels.end(), address,
                                      [](uint64_t value, const auto& level) { return value < level.first; });
  // Sums of many changes of both signs come to 0 but for rounding.
  return after == levels.begin() || (after - 1)->second < 0.5e-6 ? 0 : (after - 1)->second;
}

double ExecutedCounts::executions(const std::string& path, uint64_t address) const {
  const auto file = files_.find(path);
  return file == files_.end() ? 0 : level_at(file->second.executions, address);
}

double ExecutedCounts::iterations(const std::string& path, uint64_t address) const {
  const auto file = files_.find(path);
  return file == files_.end() ? 0 : level_at(file->second.iterations, address);
}

const std::vector<ExecutedCounts::Piece>& ExecutedCounts::pieces(const std::string& path) const {
  static const std::vector<Piece> kNone;
  const auto file = files_.find(path);
  return file == files_.end() ? kNone : file->second.pieces;
}

void FunctionWork::add(const CodeInstruction& instruction, double executions, double iterations) {
  instructions_count += executions;
  const double times = instruction.is_repeated ? executions + iterations : executions;
  loaded_bytes += times * instruction.loaded_bytes;
  stored_bytes += times * instruction.stored_bytes;
  const double flops = executions * instruction.flops;
  if (instruction.flops > 0) {
    (instruction.element_bits == 32   ? fp32_flops_count
     : instruction.element_bits == 64 ? fp64_flops_count
                                      : other_flops_count) += flops;
    flops_by_bits[instruction.lanes > 1 ? instruction.vector_bits : 0] += flops;
  } else if (instruction.lanes > 0) {
    integer_operations_by_bits[instruction.lanes > 1 ? instruction.vector_bits : 0] += executions * instruction.lanes;
  }
}

void FunctionWork::scale(double factor) {
  for (double* const value :
       {&instructions_count, &loaded_bytes, &stored_bytes, &fp32_flops_count, &fp64_flops_count, &other_flops_count})
    *value *= factor;
  for (auto* const by_bits : {&flops_by_bits, &integer_operations_by_bits}) {
    for (auto& [bits, operations] : *by_bits) operations *= factor;
  }
}

FunctionWork work_of(const std::vector<CodeInstruction>& instructions, const std::string& path,
                     const ExecutedCounts& counts) {
  FunctionWork work;
  for (const CodeInstruction& instruction : instructions) {
    const double executions = counts.executions(path, instruction.address);
    if (executions > 0)
      work.add(instruction, executions, instruction.is_repeated ? counts.iterations(path, instruction.address) : 0);
  }
  return work;
}

FunctionWork function_work(const HotFunction& function, const ExecutedCounts& counts, CodeMap& code) {
  if (!counts.knows(function.library)) return {};
  if (function.bytes > 0)
    return work_of(code.instructions(function.library, function.address, function.bytes), function.library, counts);
  FunctionWork work;
  // A caller's name was borrowed: which code is meant is not known.
  if (!function.function.empty()) return work;
  size_t looked_at = 0;
  for (const ExecutedCounts::Piece& piece : counts.pieces(function.library)) {
    if (looked_at++ == kMostPieces) break;
    const CodePlace* const place = code.place(function.library, piece.file_offset_bytes);
    if (place == nullptr || !place->function.empty()) continue;
    const FunctionWork of_piece =
        work_of(code.instructions(function.library, piece.address, piece.bytes), function.library, counts);
    work.instructions_count += of_piece.instructions_count;
    work.loaded_bytes += of_piece.loaded_bytes;
    work.stored_bytes += of_piece.stored_bytes;
    work.fp32_flops_count += of_piece.fp32_flops_count;
    work.fp64_flops_count += of_piece.fp64_flops_count;
    work.other_flops_count += of_piece.other_flops_count;
    for (const auto& [bits, operations] : of_piece.flops_by_bits) work.flops_by_bits[bits] += operations;
    for (const auto& [bits, operations] : of_piece.integer_operations_by_bits)
      work.integer_operations_by_bits[bits] += operations;
  }
  return work;
}

}  // namespace perfcast::measure
