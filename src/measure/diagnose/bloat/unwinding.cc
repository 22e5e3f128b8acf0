// Functions of stripped files: every function that an exception may pass has an entry in .eh_frame, with its first
// address and its length. The format is that of the LSB, chapter "Exception Frames".
#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>

#include "measure/diagnose/bloat/elf_code.h"

namespace perfcast::measure {
namespace {

constexpr size_t kMostFunctions = 2'000'000;
constexpr uint8_t kPointerAbsolute = 0x00, kPointerRelative = 0x10, kPointerHow = 0x70;

// Bytes in order; what isn't there reads as nothing, and stays so.
class UnwindReader {
 public:
  UnwindReader(std::string_view bytes, size_t at) : bytes_(bytes), at_(std::min(at, bytes.size())) {}
  bool ok() const { return ok_; }
  size_t at() const { return at_; }
  void skip(uint64_t count) {
    ok_ = ok_ && count <= bytes_.size() - at_;
    if (ok_) at_ += static_cast<size_t>(count);
  }
  template <typename T>
  T get() {
    T value{};
    if (bytes_.size() - at_ < sizeof(T)) ok_ = false;
    if (!ok_) return value;
    std::memcpy(&value, bytes_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }
  uint64_t leb() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 63 && ok_; shift += 7) {
      const auto byte = get<uint8_t>();
      value |= static_cast<uint64_t>(byte & 0x7FU) << shift;
      if ((byte & 0x80U) == 0) return value;
    }
    ok_ = false;
    return 0;
  }
  std::string_view text() {
    const size_t end = bytes_.find('\0', at_);
    if (end == std::string_view::npos) ok_ = false;
    if (!ok_) return {};
    const std::string_view text = bytes_.substr(at_, end - at_);
    at_ = end + 1;
    return text;
  }
  // A pointer's value without what it is relative to.
  uint64_t pointer(uint8_t encoding) {
    switch (encoding & 0x0FU) {
      case 0x00:
      case 0x04:
      case 0x0C:
        return get<uint64_t>();
      case 0x02:
        return get<uint16_t>();
      case 0x03:
        return get<uint32_t>();
      case 0x0A:
        return static_cast<uint64_t>(static_cast<int64_t>(get<int16_t>()));
      case 0x0B:
        return static_cast<uint64_t>(static_cast<int64_t>(get<int32_t>()));
      default:
        ok_ = false;
        return 0;
    }
  }

 private:
  std::string_view bytes_;
  size_t at_;
  bool ok_ = true;
};

// How the entries that refer to this one write addresses; absent where it isn't known.
std::optional<uint8_t> encoding_of(std::string_view section, size_t at) {
  UnwindReader in(section, at);
  const auto version = in.get<uint8_t>();
  const std::string_view augmentation = in.text();
  if (!in.ok() || (version != 1 && version != 3)) return std::nullopt;
  if (augmentation.empty()) return kPointerAbsolute;
  if (augmentation[0] != 'z') return std::nullopt;
  in.leb();
  in.leb();
  if (version == 1) {
    in.skip(1);
  } else {
    in.leb();
  }
  in.leb();
  uint8_t encoding = kPointerAbsolute;
  for (const char what : augmentation.substr(1)) {
    if (what == 'R') {
      encoding = in.get<uint8_t>();
    } else if (what == 'L') {
      in.skip(1);
    } else if (what == 'P') {
      in.pointer(in.get<uint8_t>());
    } else if (what != 'S' && what != 'B') {
      return std::nullopt;
    }
  }
  return in.ok() ? std::optional(encoding) : std::nullopt;
}

}  // namespace

std::vector<ElfFunction> functions_of_unwinding(const std::string& section, uint64_t address) {
  std::vector<ElfFunction> functions;
  std::map<size_t, std::optional<uint8_t>> encodings;
  size_t at = 0;
  while (at < section.size() && functions.size() < kMostFunctions) {
    UnwindReader in(section, at);
    const auto length = in.get<uint32_t>();
    // 0 ends it; entries of 4 GiB are of no file.
    if (!in.ok() || length == 0 || length == UINT32_MAX || length > section.size() - in.at()) break;
    const size_t body = in.at();
    at = body + length;
    const auto back = in.get<uint32_t>();
    if (!in.ok() || back == 0) continue;  // what functions share
    if (back > body) continue;
    const size_t shared = body - back;
    auto known = encodings.find(shared);
    if (known == encodings.end()) known = encodings.emplace(shared, encoding_of(section, shared + 8)).first;
    if (!known->second) continue;
    const uint8_t encoding = *known->second, how = encoding & kPointerHow;
    if (how != kPointerAbsolute && how != kPointerRelative) continue;
    const uint64_t field = address + in.at();
    ElfFunction function;
    function.address = in.pointer(encoding) + (how == kPointerRelative ? field : 0);
    function.bytes = in.pointer(encoding & 0x0FU);
    // Entries of what the linker left out begin at 0.
    if (in.ok() && in.at() <= at && function.bytes > 0 && function.address != 0)
      functions.push_back(std::move(function));
  }
  return functions;
}

}  // namespace perfcast::measure
