#include "ai/llm/model_catalogue.h"

#include <array>
#include <filesystem>

#include "ai/llm/gguf_reader.h"
#include "ai/llm/hf_config_reader.h"
#include "ai/llm/model_table.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr size_t kLongestName = 200;

// Endings of published names that don't change the architecture.
constexpr std::array<std::string_view, 16> kEndings = {
    "-hf",   "-instruct", "-chat",   "-it",   "-base",        "-uncased",     "-cased", "-v0.1",
    "-v0.2", "-q4",       "-q4_k_m", "-q8_0", "-patch16-224", "-patch14-224", "-4k",    "-gguf"};

// One spelling for "meta-llama/Llama-2-7b-hf", "llama-2-7b" and "llama2-7b".
std::string plain_model_name(std::string_view name) {
  std::string text = lower_case(name.substr(0, kLongestName));
  if (const size_t slash = text.rfind('/'); slash != std::string::npos) text.erase(0, slash + 1);
  if (text.starts_with("meta-")) text.erase(0, 5);
  std::string plain;
  for (const char c : text) {
    if (c != '-' && c != '_' && c != '.') plain += c;
  }
  return plain;
}

// Takes one such ending off; false where there is none.
bool take_ending(std::string& name) {
  for (const std::string_view ending : kEndings) {
    if (!name.ends_with(ending) || name.size() == ending.size()) continue;
    name.erase(name.size() - ending.size());
    return true;
  }
  return false;
}

// The built-in models whose names go on behind this one: of "mixtral" mixtral-8x7b and mixtral-8x22b.
std::vector<std::string> sizes_of(std::string_view name) {
  const std::string spelling = plain_model_name(name);
  std::vector<std::string> sizes;
  for (const ModelRow& row : model_table()) {
    if (!spelling.empty() && plain_model_name(row.name).starts_with(spelling)) sizes.emplace_back(row.name);
  }
  return sizes;
}

LlmConfig config_of(const ModelRow& row) {
  LlmConfig config;
  config.name = row.name;
  config.source = "built in";
  config.layers = row.layers;
  config.hidden = row.hidden;
  config.heads = row.heads;
  config.kv_heads = row.kv_heads;
  config.head_dim = row.head_dim;
  config.ffn = row.ffn;
  config.vocab = row.vocab;
  config.max_positions = row.max_positions;
  apply_family(row.family, config);
  config.tied_embeddings = row.tied;
  if (row.particulars != nullptr) row.particulars(config);
  return config;
}

}  // namespace

std::vector<std::string> built_in_models() {
  std::vector<std::string> names;
  for (const ModelRow& row : model_table()) names.emplace_back(row.name);
  return names;
}

Result<LlmConfig> built_in_model(std::string_view name) {
  std::string shorter = lower_case(name.substr(0, kLongestName));
  do {
    const std::string spelling = plain_model_name(shorter);
    for (const ModelRow& row : model_table()) {
      if (plain_model_name(row.name) == spelling) return config_of(row);
    }
  } while (take_ending(shorter));
  const std::vector<std::string> sizes = sizes_of(name);
  const std::string what = sizes.empty() ? "there is no built-in model '" : "there are several sizes of '";
  return usage_error("unknown-model", what + printable(name.substr(0, kLongestName)) + "'", "MODEL",
                     (sizes.empty() ? "one of " + std::to_string(model_table().size()) +
                                          ", nearest: " + nearest_names(name, built_in_models())
                                    : "one of: " + join(sizes, ", ")) +
                         "; or a config.json, a folder with one, or a GGUF file");
}

Result<LlmConfig> load_model(const std::string& name_or_path) {
  std::error_code ignored;
  if (name_or_path.ends_with(".gguf")) return read_gguf(name_or_path);
  if (name_or_path.ends_with(".json")) return read_hf_config(name_or_path);
  auto known = built_in_model(name_or_path);
  // Names come before folders that happen to be called so: ./gpt2 is the folder.
  if (known && !name_or_path.starts_with(".") && !name_or_path.starts_with("/")) return known;
  if (std::filesystem::is_directory(name_or_path, ignored)) return read_hf_config(name_or_path);
  if (std::filesystem::exists(name_or_path, ignored)) return read_gguf(name_or_path);
  return known;
}

}  // namespace perfcast::ai
