// A model in one GGUF file or in several: NAME-00001-of-00003.gguf, as llama.cpp's gguf-split writes them. The first
// holds the metadata and perhaps no tensors; the others hold tensors and split.* alone.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "ai/llm/gguf_reader.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr size_t kFirstRead = size_t{16} << 20;  // vocabularies take some megabytes
constexpr size_t kLargestHeader = size_t{256} << 20;
constexpr int64_t kMostPieces = 65535;  // split.count has 16 bits
constexpr size_t kMostNamed = 8;

Result<GgufHeader> read_header(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{"file-not-found", "the file can't be opened", path, "a GGUF file"};
  std::string bytes;
  for (size_t wanted = kFirstRead;; wanted *= 4) {
    const size_t before = bytes.size();
    bytes.resize(wanted);
    file.read(bytes.data() + before, static_cast<std::streamsize>(wanted - before));
    bytes.resize(before + static_cast<size_t>(file.gcount()));
    const bool at_end = bytes.size() < wanted;
    auto header = parse_gguf_header(bytes, path);
    // By its code, which is part of that function's contract: to everyone else a header that ends early is bad data as
    // any other, so that it has no kind of its own.
    if (header || header.error().code != "gguf-truncated" || at_end) return header;
    if (wanted >= kLargestHeader) {
      return Error{"bad-gguf", "the header takes more than 256 MiB", path, "a GGUF file of a model"};
    }
  }
}

std::optional<int64_t> integer_of(const GgufHeader& header, std::string_view key) {
  const auto found = header.metadata.find(key);
  return found == header.metadata.end() ? std::nullopt : found->second.integer;
}

struct PieceName {
  std::string stem;
  int64_t number = 0, count = 0;  // from 1

  std::string path_of(int64_t piece) const { return fmt::format("{}-{:05}-of-{:05}.gguf", stem, piece, count); }
};

// "m-00002-of-00003.gguf".
std::optional<PieceName> piece_name(const std::string& path) {
  constexpr std::string_view kForm = "-00000-of-00000.gguf";
  if (path.size() <= kForm.size()) return std::nullopt;
  const std::string_view end = std::string_view(path).substr(path.size() - kForm.size());
  PieceName name{path.substr(0, path.size() - kForm.size())};
  for (size_t i = 0; i < kForm.size(); ++i) {
    const bool is_digit = end[i] >= '0' && end[i] <= '9';
    if (kForm[i] == '0' ? !is_digit : end[i] != kForm[i]) return std::nullopt;
    if (is_digit) (i < kForm.size() / 2 ? name.number : name.count) *= 10;
    if (is_digit) (i < kForm.size() / 2 ? name.number : name.count) += end[i] - '0';
  }
  if (name.number < 1 || name.count < name.number || name.count > kMostPieces) return std::nullopt;
  return name;
}

Error missing_pieces(const PieceName& name, const std::vector<int64_t>& missing) {
  std::vector<std::string> numbers;
  for (size_t i = 0; i < missing.size() && i < kMostNamed; ++i) numbers.push_back(std::to_string(missing[i]));
  std::string which = join(numbers, ", ");
  if (missing.size() > kMostNamed) which += fmt::format(" and {} more", missing.size() - kMostNamed);
  const bool one = missing.size() == 1;
  return {"missing-pieces",
          fmt::format("of the model's {} pieces, {} {} missing", name.count, which, one ? "is" : "are"),
          name.path_of(missing.front()), "all pieces in one folder, under the names that they were published with"};
}

Error wrong_piece(const std::string& path, const std::string& what) {
  return {"bad-gguf", what, path, "pieces of one model under the names that they were published with"};
}

// All headers as one: the first one's metadata, everybody's tensors.
Result<GgufHeader> read_set(const PieceName& name, GgufHeader given) {
  std::vector<GgufHeader> headers;
  std::vector<int64_t> missing;
  for (int64_t piece = 1; piece <= name.count; ++piece) {
    const std::string path = name.path_of(piece);
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) {
      missing.push_back(piece);
      continue;
    }
    auto header = piece == name.number ? std::move(given) : read_header(path);
    if (!header) return header.error();
    const int64_t number = integer_of(*header, "split.no").value_or(piece - 1) + 1;
    const int64_t count = integer_of(*header, "split.count").value_or(name.count);
    if (number != piece || count != name.count) {
      return wrong_piece(path, fmt::format("the file says that it is piece {} of {}", number, count));
    }
    headers.push_back(*std::move(header));
  }
  if (!missing.empty()) return missing_pieces(name, missing);
  GgufHeader whole = std::move(headers.front());
  for (size_t i = 1; i < headers.size(); ++i) {
    std::move(headers[i].tensors.begin(), headers[i].tensors.end(), std::back_inserter(whole.tensors));
  }
  const auto tensors = integer_of(whole, "split.tensors.count");
  if (tensors && *tensors != static_cast<int64_t>(whole.tensors.size())) {
    return wrong_piece(name.path_of(1),
                       fmt::format("the pieces hold {} tensors, and should hold {}", whole.tensors.size(), *tensors));
  }
  return whole;
}

}  // namespace

Result<LlmConfig> read_gguf(const std::string& path) {
  auto header = read_header(path);
  if (!header) return header.error();
  const int64_t count = integer_of(*header, "split.count").value_or(1);
  const auto name = piece_name(path);
  if (!name || name->count == 1) {
    if (count <= 1) return gguf_config(*header, path);
    const int64_t number = integer_of(*header, "split.no").value_or(0) + 1;
    return wrong_piece(
        path, fmt::format("the file is piece {} of {}, and its name doesn't say where the others are", number, count));
  }
  const auto whole = read_set(*name, *std::move(header));
  if (!whole) return whole.error();
  auto config = gguf_config(*whole, name->path_of(1));
  if (config) config->notes.push_back(fmt::format("the model's {} files are read together", name->count));
  return config;
}

}  // namespace perfcast::ai
