#include "measure/diagnose/observe/script_lines.h"

#include <elfutils/libdwfl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iterator>
#include <optional>

#include "base/file.h"
#include "base/text.h"
#include "measure/diagnose/observe/code_map.h"
#include "measure/diagnose/observe/mapped_files.h"
#include "measure/diagnose/observe/symbol_file.h"

namespace perfcast::measure {
namespace {

constexpr size_t kMostFrames = 200, kMostThreads = 64, kMostTextBytes = 4096, kMostTableBytes = 1 << 20;
constexpr size_t kMostLines = 5000, kMostCodes = 20'000;
constexpr size_t kMostTexts = 20'000;
constexpr double kMostTries = 50;
constexpr double kMakingOfLetter_s = 20e-6;  // at most, where it is made once

// Bytes from the beginning of each structure.
struct Layout {
  int minor;
  size_t interpreters, threads, next_thread, frame, native_thread;  // of the runtime, interpreters, threads
  bool has_c_frame;                                                 // the frame is a pointer away
  size_t current_frame;
  size_t code, previous, instruction;                  // of frames
  size_t first_line, file, name, table, instructions;  // of code objects
  size_t ascii, unicode;                               // of texts, where their letters begin
};
constexpr Layout kLayouts[] = {
    {11, 40, 16, 8, 56, 160, true, 8, 32, 48, 56, 72, 112, 128, 136, 184, 48, 72},
    {12, 40, 72, 8, 56, 144, true, 0, 0, 8, 56, 68, 112, 128, 136, 192, 40, 56},
    {13, 632, 7344, 8, 72, 160, false, 0, 0, 8, 56, 68, 112, 128, 136, 200, 40, 56},
};
constexpr size_t kFirstLocal = 72;  // of a frame, of all three

// Numbers of instructions, by Lib/opcode.py and Include/internal/pycore_opcode.h: also of those that an instruction is
// replaced by once its operands are known.
struct Operations {
  int minor, contains;
  std::array<int, 4> adds;
  std::array<std::pair<int, int>, 10> calls;  // of what is not written in Python: from, to
  bool is_add(int operation) const { return std::find(adds.begin(), adds.end(), operation) != adds.end(); }
  bool is_call(int operation) const {
    return std::any_of(calls.begin(), calls.end(),
                       [&](const auto& of) { return operation >= of.first && operation <= of.second; });
  }
};
constexpr Operations kOperations[] = {
    {11,
     118,
     {122, 3, 6, 7},
     {{{22, 22},
       {64, 67},
       {72, 73},
       {76, 81},
       {113, 113},
       {121, 121},
       {127, 127},
       {141, 142},
       {166, 166},
       {171, 171}}}},
    {12, 118, {122, 8, 10}, {{{28, 29}, {34, 34}, {38, 48}, {56, 56}, {142, 142}, {171, 171}}}},
    {13, 59, {45, 152, 3}, {{{53, 54}, {57, 57}, {165, 181}}}},
};

const Layout* layout_of(int minor) {
  for (const Layout& layout : kLayouts) {
    if (layout.minor == minor) return &layout;
  }
  return nullptr;
}

template <typename T>
std::optional<T> read_value(pid_t process, uint64_t address) {
  T value{};
  if (address == 0 || !read_memory(process, address, &value, sizeof(value))) return std::nullopt;
  return value;
}

uint64_t read_pointer(pid_t process, uint64_t address) { return read_value<uint64_t>(process, address).value_or(0); }

// Of a text whose letters are bytes: names of files and functions; others are left out. Of a long one, the beginning.
std::string read_text(pid_t process, const Layout& layout, uint64_t address) {
  const auto length = read_value<int64_t>(process, address + 16);
  const auto state = read_value<uint32_t>(process, address + 32);
  if (!length || !state || *length <= 0) return "";
  const uint32_t kind = (*state >> 2U) & 7U;
  const bool is_compact = (*state >> 5U & 1U) != 0, is_ascii = (*state >> 6U & 1U) != 0;
  if (kind != 1 || !is_compact) return "";
  std::string text(std::min(static_cast<size_t>(*length), kMostTextBytes), ' ');
  const uint64_t letters = address + (is_ascii ? layout.ascii : layout.unicode);
  return read_memory(process, letters, text.data(), text.size()) ? text : "";
}

std::string read_bytes(pid_t process, uint64_t address) {
  const auto length = read_value<int64_t>(process, address + 16);
  if (!length || *length <= 0 || *length > static_cast<int64_t>(kMostTableBytes)) return "";
  std::string bytes(static_cast<size_t>(*length), '\0');
  return read_memory(process, address + 32, bytes.data(), bytes.size()) ? bytes : "";
}

// What comes with Python, or was installed: it works for the script.
bool is_library(const std::string& file) {
  return file.starts_with('<') || file.find("/lib/python3") != std::string::npos ||
         file.find("/dist-packages/") != std::string::npos || file.find("/site-packages/") != std::string::npos;
}

// "_PyRuntime" of a file: as the file numbers it; 0: it has none.
uint64_t runtime_symbol(const std::string& path) {
  const SymbolFile file(path);
  if (file.module() == nullptr) return 0;
  const WithoutSymbolServers without_servers;
  const int count = dwfl_module_getsymtab(file.module());
  for (int i = 0; i < count; ++i) {
    GElf_Sym symbol;
    const char* const name = dwfl_module_getsym(file.module(), i, &symbol, nullptr);
    if (name != nullptr && std::strcmp(name, "_PyRuntime") == 0) return symbol.st_value - file.bias();
  }
  return 0;
}

// Functions of Python's library that make something of a text: the same of the same text. `_compile` looks into its
// cache first, which is time, too.
struct Maker {
  std::string_view file, function, what;
};
constexpr std::array<Maker, 5> kMakers = {{{"/json/__init__.py", "loads", "parsing JSON"},
                                           {"/re/__init__.py", "_compile", "compiling regular expressions"},
                                           {"/tomllib/_parser.py", "loads", "parsing TOML"},
                                           {"/configparser.py", "read_string", "parsing settings"},
                                           {"/ast.py", "parse", "parsing Python"}}};

const Maker* maker_of(const std::string& file, const std::string& function) {
  const auto* const found = std::find_if(kMakers.begin(), kMakers.end(), [&](const Maker& maker) {
    return function == maker.function && file.ends_with(maker.file);
  });
  return found == kMakers.end() ? nullptr : found;
}

// What the thread has run for; without a CPU it makes nothing of its text.
double cpu_time_s(pid_t process, pid_t thread) {
  const auto text = read_file(fmt::format("/proc/{}/task/{}/schedstat", process, thread), 256);
  return text ? 1e-9 * std::strtod(text->c_str(), nullptr) : 0;
}

std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

std::string ScriptLine::place() const { return name_of(file) + ":" + std::to_string(line); }

std::string ScriptLine::in_words() const {
  std::string words = function + " (" + place() + ")";
  if (!text.empty()) words += ": `" + text + "`";
  return words;
}

int python_minor_version(std::string_view file_name) {
  if (file_name.starts_with("lib")) file_name.remove_prefix(3);
  constexpr std::string_view kName = "python3.";
  if (!file_name.starts_with(kName)) return 0;
  int minor = 0;
  for (const char c : file_name.substr(kName.size())) {
    if (c < '0' || c > '9' || minor > 100) break;
    minor = 10 * minor + (c - '0');
  }
  return minor;
}

int line_of_instruction(std::string_view table, int first_line, int64_t unit) {
  int64_t line = first_line, passed = 0;
  size_t at = 0;
  const auto byte = [&]() -> unsigned { return at < table.size() ? static_cast<uint8_t>(table[at++]) : 0; };
  // Six bits at a time, the lowest first; another follows where the seventh says so.
  const auto number = [&] {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 42 && at < table.size(); shift += 6) {
      const unsigned part = byte();
      value |= static_cast<uint64_t>(part & 63U) << shift;
      if ((part & 64U) == 0) break;
    }
    return value;
  };
  const auto signed_number = [&] {
    const uint64_t value = number();
    return (value & 1U) != 0 ? -static_cast<int64_t>(value >> 1U) : static_cast<int64_t>(value >> 1U);
  };
  while (at < table.size()) {
    const unsigned head = byte();
    if ((head & 0x80U) == 0) return 0;
    const unsigned kind = head >> 3U & 15U;
    bool has_line = true;
    if (kind == 15) {
      has_line = false;
    } else if (kind == 14) {
      line += signed_number();
      number();
      number();
      number();
    } else if (kind == 13) {
      line += signed_number();
    } else if (kind >= 10) {
      line += kind - 10;
      at += 2;
    } else {
      at += 1;
    }
    passed += (head & 7U) + 1;
    if (unit < passed) return has_line && line > 0 && line < 10'000'000 ? static_cast<int>(line) : 0;
  }
  return 0;
}

ScriptLines::Interpreter ScriptLines::find_interpreter(pid_t process, const std::string& program) {
  Interpreter found;
  const auto maps = read_file("/proc/" + std::to_string(process) + "/maps", size_t{1} << 22);
  if (!maps) return found;
  CodeMap code;
  for (const CodeMapping& mapping : executable_mappings(*maps)) {
    const int minor = python_minor_version(name_of(mapping.path));
    if (minor == 0) continue;
    found.minor = minor;
    uint64_t address = 0;
    if (layout_of(minor) == nullptr || !code.address_of(mapping.path, mapping.file_offset_bytes, address)) continue;
    if (const uint64_t symbol = runtime_symbol(mapping.path); symbol != 0) {
      found.runtime = mapping.start - address + symbol;
      return found;
    }
  }
  if (found.minor == 0) found.minor = python_minor_version(name_of(program));
  return found;
}

std::map<pid_t, uint64_t> ScriptLines::frames_of(pid_t process, const Interpreter& interpreter) {
  std::map<pid_t, uint64_t> frames;
  const Layout& layout = *layout_of(interpreter.minor);
  const uint64_t first = read_pointer(process, interpreter.runtime + layout.interpreters);
  uint64_t thread = first == 0 ? 0 : read_pointer(process, first + layout.threads);
  for (size_t i = 0; thread != 0 && i < kMostThreads; ++i) {
    const auto number = read_value<uint64_t>(process, thread + layout.native_thread);
    uint64_t frame = read_pointer(process, thread + layout.frame);
    if (layout.has_c_frame && frame != 0) frame = read_pointer(process, frame + layout.current_frame);
    if (number && frame != 0) frames[static_cast<pid_t>(*number)] = frame;
    thread = read_pointer(process, thread + layout.next_thread);
  }
  return frames;
}

const ScriptLines::Code* ScriptLines::code_at(pid_t process, const Interpreter& interpreter, uint64_t address) {
  const Layout& layout = *layout_of(interpreter.minor);
  std::array<char, 144> head{};
  if (!read_memory(process, address, head.data(), head.size())) return nullptr;
  const auto pointer = [&](size_t at) {
    uint64_t value = 0;
    std::memcpy(&value, head.data() + at, sizeof(value));
    return value;
  };
  const uint64_t file = pointer(layout.file), name = pointer(layout.name), table = pointer(layout.table);
  const auto known = codes_.find({process, file, name, table});
  if (known != codes_.end()) return &known->second;
  if (codes_.size() == kMostCodes) return nullptr;
  Code code;
  code.file = read_text(process, layout, file);
  code.function = read_text(process, layout, name);
  code.table = read_bytes(process, table);
  int32_t first_line = 0;
  std::memcpy(&first_line, head.data() + layout.first_line, sizeof(first_line));
  code.first_line = first_line;
  if (code.file.empty() || code.function.empty() || code.table.empty()) return nullptr;
  code.instructions = address + layout.instructions;
  return &codes_.emplace(std::tuple{process, file, name, table}, std::move(code)).first->second;
}

// Innermost first.
std::vector<ScriptLines::Frame> ScriptLines::stack_of(pid_t process, const Interpreter& interpreter, uint64_t frame) {
  const Layout& layout = *layout_of(interpreter.minor);
  std::vector<Frame> stack;
  for (size_t i = 0; frame != 0 && i < kMostFrames; ++i) {
    std::array<uint64_t, kFirstLocal / 8 + 1> words{};
    if (!read_memory(process, frame, words.data(), sizeof(words))) break;
    const uint64_t instruction = words.at(layout.instruction / 8);
    if (const Code* const code = code_at(process, interpreter, words.at(layout.code / 8))) {
      Frame found{code, 0, 0, words.back()};
      const int64_t unit = (static_cast<int64_t>(instruction) - static_cast<int64_t>(code->instructions)) / 2;
      found.line = unit < 0 ? code->first_line : line_of_instruction(code->table, code->first_line, unit);
      if (i == 0) found.operation = read_value<uint8_t>(process, instruction).value_or(0);
      stack.push_back(found);
      // What the script does is known by then.
      if (!is_library(code->file) && found.line > 0) break;
    }
    frame = words.at(layout.previous / 8);
  }
  return stack;
}

// A text that comes again after something else, or that takes far longer than it does once.
void ScriptLines::add_making(const std::vector<Frame>& stack, const ThreadNow& thread, const Interpreter& interpreter,
                             ScriptLine& line) {
  const Maker* maker = nullptr;
  const auto frame = std::find_if(stack.begin(), stack.end(), [&](const Frame& of) {
    maker = maker_of(of.code->file, of.code->function);
    return maker != nullptr;
  });
  if (frame == stack.end()) {
    making_.erase(thread.thread);
    return;
  }
  line.making_s += thread.length_s;
  line.making = maker->what;
  const std::string head = read_text(thread.process, *layout_of(interpreter.minor), frame->first_argument);
  if (head.empty()) return;
  const auto letters = read_value<int64_t>(thread.process, frame->first_argument + 16).value_or(0);
  const Text text{static_cast<size_t>(letters), std::hash<std::string>()(head)};
  const auto before = making_.find(thread.thread);
  const bool is_same = before != making_.end() && before->second.text == text;
  const double now_s = cpu_time_s(thread.process, thread.thread);
  Making& now = making_[thread.thread];
  now = {text, is_same ? now.s : now_s};
  const bool is_known = made_of_.size() < kMostTexts ? !made_of_.insert(text).second : made_of_.count(text) > 0;
  if (is_same ? now_s - now.s > kMakingOfLetter_s * static_cast<double>(text.letters) : is_known)
    line.again_s += thread.length_s;
}

void ScriptLines::add(const std::vector<Frame>& stack, const ThreadNow& thread, const Interpreter& interpreter) {
  const auto own = std::find_if(stack.begin(), stack.end(),
                                [](const Frame& frame) { return frame.line > 0 && !is_library(frame.code->file); });
  const Frame* const frame = own != stack.end() ? &*own : stack.empty() ? nullptr : &stack.front();
  if (frame == nullptr || frame->line == 0) return;
  const std::tuple key{frame->code->file, frame->code->function, frame->line};
  if (lines_.size() == kMostLines && lines_.count(key) == 0) return;
  ScriptLine& line = lines_[key];
  line.file = frame->code->file;
  line.function = frame->code->function;
  line.line = frame->line;
  if (thread.state != ThreadState::kRunning) {
    line.waits.s[static_cast<size_t>(thread.state)] += thread.length_s;
    return;
  }
  line.cpu_s += thread.length_s;
  add_making(stack, thread, interpreter, line);
  const auto* const of = std::find_if(std::begin(kOperations), std::end(kOperations),
                                      [&](const Operations& known) { return known.minor == interpreter.minor; });
  if (frame != &stack.front() || frame->operation == 0 || of == std::end(kOperations)) return;
  if (frame->operation == of->contains) line.in_s += thread.length_s;
  if (of->is_add(frame->operation)) line.add_s += thread.length_s;
  if (of->is_call(frame->operation)) line.call_s += thread.length_s;
}

void ScriptLines::look(const std::vector<ThreadNow>& threads) {
  pid_t process = 0;
  std::map<pid_t, uint64_t> frames;
  const Interpreter* interpreter = nullptr;
  for (const ThreadNow& thread : threads) {
    if (thread.process != process) {
      process = thread.process;
      frames.clear();
      interpreter = nullptr;
      std::array<char, 4096> target{};
      const ssize_t size =
          readlink(("/proc/" + std::to_string(process) + "/exe").c_str(), target.data(), target.size());
      if (size <= 0) continue;
      const std::string program(target.data(), static_cast<size_t>(size));
      std::vector<std::string>& programs = programs_[process];
      if (programs.empty() || programs.back() != program) programs.push_back(program);
      if (!name_of(program).starts_with("python")) continue;
      Interpreter& known = interpreters_[{process, program}];
      // Its library comes a little after its start.
      if (known.runtime == 0 && known.found_looks++ < kMostTries) {
        const double looks = known.found_looks;
        known = find_interpreter(process, program);
        known.found_looks = looks;
      }
      if (known.runtime == 0) {
        missing_ = known.minor > 0 && layout_of(known.minor) == nullptr
                       ? fmt::format("lines of the script are known of Python 3.11 to 3.13; this is 3.{}", known.minor)
                       : "lines of the script are not known: this Python's structures were not found";
        continue;
      }
      interpreter = &known;
      frames = frames_of(process, known);
    }
    if (interpreter == nullptr) continue;
    if (const auto frame = frames.find(thread.thread); frame != frames.end())
      add(stack_of(process, *interpreter, frame->second), thread, *interpreter);
  }
}

void add_texts(std::vector<ScriptLine>& lines) {
  std::map<std::string, std::vector<std::string>> sources;
  for (ScriptLine& line : lines) {
    const auto [source, is_new] = sources.try_emplace(line.file);
    if (is_new) {
      if (const auto text = read_file(line.file, size_t{1} << 24)) source->second = split(*text, '\n');
    }
    const auto number = static_cast<size_t>(line.line);
    if (number > 0 && number <= source->second.size()) line.text = std::string(trim(source->second[number - 1]));
  }
}

void hold_to_cpu_time(std::vector<ScriptLine>& lines, double cpu_s) {
  double sum_s = 0;
  for (const ScriptLine& line : lines) sum_s += line.cpu_s;
  if (!(sum_s > cpu_s)) return;
  for (ScriptLine& line : lines) {
    for (double* seconds : {&line.cpu_s, &line.in_s, &line.call_s, &line.add_s, &line.making_s, &line.again_s})
      *seconds *= cpu_s / sum_s;
  }
}

std::vector<ScriptLine> ScriptLines::lines() const {
  std::vector<ScriptLine> lines;
  for (const auto& [key, line] : lines_) lines.push_back(line);
  const auto time = [](const ScriptLine& line) { return line.cpu_s + line.waits.total(); };
  std::stable_sort(lines.begin(), lines.end(),
                   [&](const ScriptLine& a, const ScriptLine& b) { return time(a) > time(b); });
  add_texts(lines);
  return lines;
}

}  // namespace perfcast::measure
