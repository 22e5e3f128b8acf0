#include "ai/llm/hf_config_reader.h"

#include <algorithm>
#include <filesystem>

#include "ai/llm/hf_model_types.h"
#include "ai/llm/hf_quantization.h"
#include "base/file.h"
#include "base/json.h"
#include "base/python_json.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr size_t kLargestConfigBytes = size_t{16} << 20;

// Of the weights as published; "dtype" in files since 2025.
void read_precision(Fields& in, LlmConfig& config) {
  const char* const key = in.has("torch_dtype") ? "torch_dtype" : "dtype";
  const std::string name = in.has(key) ? in.text_or(key, "") : "";
  static constexpr std::pair<std::string_view, Precision> kKnown[] = {{"float32", Precision::kFp32},
                                                                      {"float16", Precision::kFp16},
                                                                      {"bfloat16", Precision::kBf16},
                                                                      {"float8_e4m3fn", Precision::kFp8},
                                                                      {"int8", Precision::kInt8}};
  for (const auto& [known, precision] : kKnown) {
    if (name == known) config.stored_precision = precision;
  }
  if (!name.empty() && !config.stored_precision) {
    config.notes.push_back("of the file's precision, " + printable(name.substr(0, 60)) +
                           ", nothing is known: --precision says which one to take");
  }
}

// The part of a model of text and images that is its language model; the whole where it is nothing else.
struct TextPart {
  const Json* json;
  std::string where;
  bool is_part = false;
};
TextPart text_part(const Json& whole, const std::string& source) {
  for (const char* key : {"text_config", "llm_config", "language_config"}) {
    const auto part = whole.is_object() ? whole.find(key) : whole.end();
    if (whole.is_object() && part != whole.end() && part->is_object()) return {&*part, source + "." + key, true};
  }
  return {&whole, source};
}

std::string assumed_note(const std::string& type, const std::vector<std::string>& assumed) {
  return "left out of the file, so as transformers' class for " + type + " has it: " + join(assumed, ", ");
}

}  // namespace

std::vector<std::string> hf_model_types() {
  std::vector<std::string> names;
  for (const HfModelType& type : hf_model_type_table()) names.emplace_back(type.name);
  return names;
}

Result<LlmConfig> parse_hf_config(std::string_view text, const std::string& source) {
  const auto whole = parse_python_json(text, source);
  if (!whole) return whole.error();
  const TextPart part = text_part(*whole, source);
  JsonReader head(*whole, source), part_head(*part.json, part.where);
  const std::string outer_name = part.is_part ? head.string_or("model_type", "") : head.string("model_type");
  std::string name(text_part_of(outer_name));
  if (part.is_part || name.empty()) name = part_head.string_or("model_type", name);
  if (name.empty() && part.is_part) part_head.string("model_type");
  for (const JsonReader* reader : {&head, &part_head}) {
    if (Status status = reader->finish(); !status) return status.error();
  }
  const auto types = hf_model_type_table();
  const auto type =
      std::find_if(types.begin(), types.end(), [&](const HfModelType& each) { return each.name == name; });
  if (type == types.end()) {
    return Error{"unknown-model-type", "model_type '" + printable(name.substr(0, 60)) + "' is not known", part.where,
                 "one of: " + join(hf_model_types(), ", ")};
  }
  Fields in(*part.json, part.where, class_defaults_of(name), part.is_part);
  Fields outer(*whole, source, nullptr, false);
  LlmConfig config;
  config.name = printable(in.text_or("_name_or_path", "").substr(0, 100));
  if (config.name.empty()) config.name = source;
  config.source = source;
  read_precision(outer, config);
  if (part.is_part && !config.stored_precision) read_precision(in, config);
  type->read(in, config);
  if (part.is_part && !in.has("tie_word_embeddings")) {
    config.tied_embeddings = outer.flag("tie_word_embeddings", config.tied_embeddings);
  }
  for (const Fields* fields : {&outer, &in}) {
    if (Status status = fields->finish(); !status) return status.error();
  }
  const std::string assumed = in.assumed().empty() ? "" : assumed_note(name, in.assumed());
  if (!assumed.empty()) config.notes.push_back(assumed);
  if (Status status = check_config(config); !status) {
    Error error = status.error();
    if (!assumed.empty()) error.message += "; " + assumed;
    return error;
  }
  for (const Json* json : {&*whole, part.json}) {
    const auto quantization = json->find("quantization_config");
    if (quantization == json->end() || !quantization->is_object()) continue;
    read_quantization(*quantization, config);
    break;
  }
  return config;
}

Result<LlmConfig> read_hf_config(const std::string& path) {
  std::error_code ignored;
  const std::string file = std::filesystem::is_directory(path, ignored) ? path + "/config.json" : path;
  const auto text = read_file(file, kLargestConfigBytes);
  if (!text) return text.error();
  return parse_hf_config(*text, file);
}

}  // namespace perfcast::ai
