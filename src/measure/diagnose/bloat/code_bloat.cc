#include "measure/diagnose/bloat/code_bloat.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>

#include "measure/diagnose/find/rules.h"

namespace perfcast::measure {
namespace {

// Code without a name around a constructor's address: the compiler's own start-up code, which is short.
constexpr uint64_t kNamelessStartBytes = 512;
constexpr size_t kLeastVariants = 2;

// Apart from each other, in order.
std::vector<CodeRange> united(std::vector<CodeRange> ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const CodeRange& a, const CodeRange& b) { return a.from < b.from; });
  std::vector<CodeRange> result;
  for (const CodeRange& range : ranges) {
    if (range.to <= range.from) continue;
    if (!result.empty() && range.from <= result.back().to) {
      result.back().to = std::max(result.back().to, range.to);
    } else {
      result.push_back(range);
    }
  }
  return result;
}

// Of `ranges` what lies in none of `others`; both apart and in order.
std::vector<CodeRange> without(const std::vector<CodeRange>& ranges, const std::vector<CodeRange>& others) {
  std::vector<CodeRange> result;
  auto other = others.begin();
  for (CodeRange left : ranges) {
    while (other != others.end() && other->to <= left.from) ++other;
    for (auto at = other; at != others.end() && at->from < left.to; ++at) {
      if (at->from > left.from) result.push_back({left.from, at->from});
      left.from = std::max(left.from, std::min(at->to, left.to));
    }
    if (left.from < left.to) result.push_back(left);
  }
  return result;
}

uint64_t bytes_of(const std::vector<CodeRange>& ranges) {
  return std::accumulate(ranges.begin(), ranges.end(), uint64_t{0},
                         [](uint64_t sum, const CodeRange& range) { return sum + (range.to - range.from); });
}

// Of [from, to) what lies in `ranges`, which are apart and in order.
uint64_t bytes_within(const std::vector<CodeRange>& ranges, uint64_t from, uint64_t to) {
  auto at = std::partition_point(ranges.begin(), ranges.end(), [&](const CodeRange& of) { return of.to <= from; });
  uint64_t sum = 0;
  for (; at != ranges.end() && at->from < to; ++at) sum += std::min(at->to, to) - std::max(at->from, from);
  return sum;
}

// What ran of a file, by its place in the file.
struct RanOfFile {
  std::vector<CodeRange> all, used;  // used: between the program's start and its end
};

class BloatSum {
 public:
  explicit BloatSum(const BloatEvidence& evidence) : evidence_(evidence) {}
  CodeBloat sum();

 private:
  void add_executed();
  void add_file(const std::string& path);
  void judge_use(BloatFile& file, const std::vector<CodeRange>& used) const;
  void judge_functions(BloatFile& file) const;
  void judge_needs();
  static std::vector<CodeRange> start_code(const ElfCode& code);
  bool is_program(const std::string& path) const { return programs_.count(path) > 0; }

  const BloatEvidence& evidence_;
  CodeBloat result_;
  std::map<std::string, RanOfFile> ran_;
  std::set<std::string> programs_;
};

void BloatSum::add_executed() {
  std::vector<CodeRange> generated, elsewhere;
  for (const ExecutedCode& process : *evidence_.executed) {
    programs_.insert(process.program);
    for (const ExecutedBlock& block : process.blocks) {
      const ExecutedMapping* const mapping = mapping_of(process.mappings, block.address);
      const uint64_t end = block.address + block.bytes;
      if (mapping == nullptr) {
        elsewhere.push_back({block.address, end});
        continue;
      }
      if (mapping->path.empty()) {
        generated.push_back({block.address, end});
        continue;
      }
      const uint64_t from = block.address - mapping->start + mapping->file_offset_bytes;
      const uint64_t to = std::min(end, mapping->end) - mapping->start + mapping->file_offset_bytes;
      RanOfFile& ran = ran_[mapping->path];
      ran.all.push_back({from, to});
      if (block.executions_count > block.before_count + block.since_end_count) ran.used.push_back({from, to});
    }
    // Large programs have many blocks, and blocks overlap: together they are few ranges.
    for (auto& [path, ran] : ran_) {
      ran.all = united(std::move(ran.all));
      ran.used = united(std::move(ran.used));
    }
  }
  result_.generated_bytes = bytes_of(united(std::move(generated)));
  result_.elsewhere_bytes = bytes_of(united(std::move(elsewhere)));
}

// Sections and functions that run at the start and the end of a file, whether anything else of it does or not.
std::vector<CodeRange> BloatSum::start_code(const ElfCode& code) {
  std::vector<CodeRange> ranges;
  for (const ElfPiece& section : code.sections) {
    if (section.name == ".init" || section.name == ".fini" || section.name.starts_with(".plt"))
      ranges.push_back({section.offset, section.end()});
  }
  for (const uint64_t address : code.start_functions) {
    const ElfPiece* const piece = code.piece_at(address);
    if (piece == nullptr) continue;
    uint64_t from = 0, to = 0;
    if (const ElfFunction* const function = code.function_at(address)) {
      from = function->address;
      to = function->address + function->bytes;
    } else {
      // What has no name, up to the functions on both sides.
      const auto after = std::upper_bound(code.functions.begin(), code.functions.end(), address,
                                          [](uint64_t value, const ElfFunction& of) { return value < of.address; });
      from = piece->address;
      to = piece->address + piece->bytes;
      if (after != code.functions.begin()) from = std::max(from, std::prev(after)->address + std::prev(after)->bytes);
      if (after != code.functions.end()) to = std::min(to, after->address);
      from = std::max(from, address > kNamelessStartBytes ? address - kNamelessStartBytes : 0);
      to = std::min(to, address + kNamelessStartBytes);
    }
    if (from >= piece->address && from < to)
      ranges.push_back({from - piece->address + piece->offset, to - piece->address + piece->offset});
  }
  return united(std::move(ranges));
}

void BloatSum::judge_use(BloatFile& file, const std::vector<CodeRange>& used) const {
  const std::string name = file.name();
  if (is_program(file.path)) {
    file.use = CodeUse::kProgram;
  } else if (name.starts_with("ld-linux") || name.starts_with("ld-musl") || name.starts_with("ld-") ||
             name == "ld.so") {
    file.use = CodeUse::kLoader;
  }
  if (!result_.is_executed_known) return;
  file.executed_bytes = bytes_of(file.executed);
  file.used_bytes = bytes_of(file.code ? without(used, start_code(*file.code)) : used);
  if (file.use != CodeUse::kUnseen) return;
  if (*file.used_bytes > 0) {
    file.use = CodeUse::kUsed;
  } else if (evidence_.is_all_seen && !evidence_.is_cut) {
    file.use = *file.executed_bytes > 0 ? CodeUse::kStartOnly : CodeUse::kNeverRan;
  }
}

void BloatSum::judge_functions(BloatFile& file) const {
  std::map<std::string, std::pair<size_t, std::pair<uint64_t, uint64_t>>> variants;  // how many, bytes, executed
  for (const ElfFunction& function : file.code->functions) {
    const ElfPiece* const piece = file.code->piece_at(function.address);
    if (piece == nullptr) continue;
    BloatFunction of{function.name, function.address - piece->address + piece->offset, function.bytes, 0};
    of.executed_bytes = bytes_within(file.executed, of.offset, of.offset + of.bytes);
    if (const std::string family = variant_of(of.name); !family.empty()) {
      auto& [count, bytes] = variants[family];
      ++count;
      bytes.first += of.bytes;
      bytes.second += of.executed_bytes;
    }
    file.functions.push_back(std::move(of));
  }
  std::sort(file.functions.begin(), file.functions.end(),
            [](const BloatFunction& a, const BloatFunction& b) { return a.offset < b.offset; });
  if (file.code->has_symbols) file.variants_bytes = 0;
  for (const auto& [family, sum] : variants) {
    if (sum.first < kLeastVariants) continue;
    file.variants_bytes = file.variants_bytes.value_or(0) + sum.second.first;
    if (result_.is_executed_known)
      file.variants_executed_bytes = file.variants_executed_bytes.value_or(0) + sum.second.second;
  }
  if (!result_.is_executed_known) return;
  // Another variant may be what this processor runs.
  std::set<std::string> sampled;
  for (const HotFunction& hot : evidence_.seen.functions) {
    if (hot.library == file.path) sampled.insert(hot.function);
  }
  for (const BloatFunction& function : file.functions) {
    if (function.executed_bytes > 0 || (!function.name.empty() && sampled.count(function.name) > 0)) continue;
    ++file.never_ran_count;
    file.never_ran_bytes += function.bytes;
  }
}

void BloatSum::add_file(const std::string& path) {
  BloatFile file;
  file.path = path;
  const auto native = evidence_.seen.mapped.find(path);
  if (native != evidence_.seen.mapped.end()) file.mapped_bytes = mapped_bytes(native->second);
  if (auto code = read_elf_code(path)) {
    file.code = std::move(*code);
    if (native == evidence_.seen.mapped.end()) file.mapped_bytes = file.code->mapped_bytes;
  } else {
    result_.notes.push_back(path + ": " + code.error().message);
  }
  std::vector<CodeRange> used;
  if (const auto ran = ran_.find(path); ran != ran_.end()) {
    file.executed = ran->second.all;
    used = ran->second.used;
  }
  judge_use(file, used);
  if (file.code) judge_functions(file);
  result_.files.push_back(std::move(file));
}

// Libraries that the program asks for without need: none of its symbols is defined there, and nothing else that is
// loaded asks for them.
void BloatSum::judge_needs() {
  const auto program = std::find_if(result_.files.begin(), result_.files.end(),
                                    [&](const BloatFile& of) { return of.path == evidence_.program; });
  if (program == result_.files.end() || !program->code) return;
  const ElfCode& asks = *program->code;
  for (BloatFile& file : result_.files) {
    if (!file.code || file.use == CodeUse::kLoader || file.path == program->path) continue;
    const std::string asked = file.code->own_name.empty() ? file.name() : file.code->own_name;
    const auto names = [&](const std::vector<std::string>& list) {
      return std::find(list.begin(), list.end(), asked) != list.end();
    };
    if (!names(asks.needed) || names(asks.versions_from)) continue;
    const bool others_ask = std::any_of(result_.files.begin(), result_.files.end(), [&](const BloatFile& other) {
      return other.path != program->path && other.code && names(other.code->needed);
    });
    std::vector<std::string> common;
    std::set_intersection(asks.undefined.begin(), asks.undefined.end(), file.code->defined.begin(),
                          file.code->defined.end(), std::back_inserter(common));
    file.is_unneeded = !others_ask && common.empty();
  }
}

CodeBloat BloatSum::sum() {
  const Observation& seen = evidence_.seen;
  result_.is_executed_known = evidence_.executed != nullptr && !evidence_.executed->empty();
  result_.is_cut = evidence_.is_cut;
  result_.loader = evidence_.loader;
  result_.cpu_s = seen.run.cpu_s();
  result_.wall_s = seen.run.wall_s;
  if (seen.samples_count >= kFewestSamples) result_.loader_cpu_ratio = seen.share_of(CodeRole::kLoader);
  programs_.insert(evidence_.program);
  if (result_.is_executed_known) add_executed();
  std::set<std::string> paths;
  for (const auto& [path, pieces] : seen.mapped) paths.insert(path);
  for (const auto& [path, ran] : ran_) paths.insert(path);
  for (const std::string& path : paths) add_file(path);
  judge_needs();
  std::stable_sort(result_.files.begin(), result_.files.end(),
                   [](const BloatFile& a, const BloatFile& b) { return a.mapped_bytes > b.mapped_bytes; });
  if (result_.is_executed_known && !evidence_.is_all_seen)
    result_.notes.emplace_back(
        "some processes ran without the instrumenter: code that only they ran counts as not run");
  if (result_.is_executed_known && result_.is_cut)
    result_.notes.emplace_back(
        "the instrumented run did not come to the program's end as the native one did: code that would have run later "
        "counts as not run");
  return std::move(result_);
}

}  // namespace

std::string_view to_text(CodeUse use) {
  switch (use) {
    case CodeUse::kProgram:
      return "program";
    case CodeUse::kLoader:
      return "dynamic linker";
    case CodeUse::kUsed:
      return "used";
    case CodeUse::kStartOnly:
      return "start and end only";
    case CodeUse::kNeverRan:
      return "never ran";
    case CodeUse::kUnseen:
      break;
  }
  return "not known";
}

std::string BloatFile::name() const { return path.substr(path.rfind('/') + 1); }

uint64_t CodeBloat::mapped_bytes() const {
  uint64_t sum = 0;
  for (const BloatFile& file : files) sum += file.mapped_bytes;
  return sum;
}

uint64_t CodeBloat::code_bytes() const { return purposes().code_bytes; }

uint64_t CodeBloat::executed_bytes() const {
  uint64_t sum = 0;
  for (const BloatFile& file : files) sum += file.executed_bytes.value_or(0);
  return sum;
}

ElfPurposes CodeBloat::purposes() const {
  ElfPurposes sum;
  for (const BloatFile& file : files) {
    if (!file.code) continue;
    const ElfPurposes& of = file.code->purposes;
    sum.code_bytes += of.code_bytes;
    sum.constant_bytes += of.constant_bytes;
    sum.variable_bytes += of.variable_bytes;
    sum.unwinding_bytes += of.unwinding_bytes;
    sum.linking_bytes += of.linking_bytes;
    sum.symbols_bytes += of.symbols_bytes;
    sum.debugging_bytes += of.debugging_bytes;
    sum.comments_bytes += of.comments_bytes;
    sum.other_bytes += of.other_bytes;
  }
  return sum;
}

CodeBloat code_bloat(const BloatEvidence& evidence) { return BloatSum(evidence).sum(); }

}  // namespace perfcast::measure
