// What transformers and others would write of the same model: in any order, with what equals its class left out or not,
// within the file of a model of images or not, with what says nothing to us between. It is the same model.

#include <gtest/gtest.h>

#include "ai/llm/hf_config_reader.h"
#include "ai/llm/hf_fields.h"
#include "ai/llm/hf_model_types.h"
#include "ai/llm/model_config.h"
#include "ai/llm/testing/published_configs.h"
#include "base/json.h"
#include "base/python_json.h"
#include "base/random.h"

namespace perfcast::ai {
namespace {

using FieldList = std::vector<std::pair<std::string, std::string>>;  // names, and values as JSON

// An object of the fields in any order, in a form of its own.
std::string written(FieldList fields, Random& random) {
  const char* const kBlanks[] = {"", " ", "\n  ", "\r\n\t"};
  const std::string blank = kBlanks[random.below(4)];
  random.shuffle(fields);
  std::string text;
  for (const auto& [name, value] : fields)
    text += (text.empty() ? "" : ",") + blank + "\"" + name + "\":" + blank + value;
  return "{" + text + blank + "}";
}

// What a language model is, as a published file states it.
struct Published {
  std::string type;
  FieldList fields;  // of its text part
};

Published published(const std::string& text) {
  Json json = *parse_python_json(text, "c.json");
  Published model;
  model.type = text_part_of(json.at("model_type").get<std::string>());
  const bool is_part = json.contains("text_config");
  if (is_part) json = Json(json.at("text_config"));
  if (json.contains("model_type")) model.type = json.at("model_type").get<std::string>();
  for (const auto& [name, value] : json.items()) {
    if (name != "model_type") model.fields.emplace_back(name, value.dump());
  }
  return model;
}

bool has(const FieldList& fields, std::string_view name) {
  for (const auto& field : fields) {
    if (field.first == name) return true;
  }
  return false;
}

// Some of what the class has and the file leaves out.
void add_defaults(const ClassDefaults& defaults, FieldList& fields, Random& random) {
  std::vector<std::pair<std::string_view, int64_t>> sizes = {
      {"vocab_size", defaults.vocab},          {"hidden_size", defaults.hidden},
      {"intermediate_size", defaults.ffn},     {"num_hidden_layers", defaults.layers},
      {"num_attention_heads", defaults.heads}, {"num_key_value_heads", defaults.kv_heads},
      {"head_dim", defaults.head_dim},         {"sliding_window", defaults.window}};
  sizes.insert(sizes.end(), std::begin(defaults.more), std::end(defaults.more));
  for (const auto& [name, value] : sizes) {
    if (value > 0 && !has(fields, name) && random.below(2) == 0) fields.emplace_back(name, std::to_string(value));
  }
  if (defaults.tied && !has(fields, "tie_word_embeddings") && random.below(2) == 0)
    fields.emplace_back("tie_word_embeddings", "true");
}

TEST(HfClassDefaults, EveryModelIsTheSameHoweverItIsWritten) {
  Random random(13);
  std::vector<std::string> texts;
  for (const auto& each : testing::kSameAsBuiltIn) texts.emplace_back(each.second);
  for (const testing::PublishedFile& each : testing::kPublishedFiles) texts.emplace_back(each.json);
  for (const std::string& text : texts) {
    const auto plain = parse_hf_config(text, "c.json");
    ASSERT_TRUE(plain) << text << to_text(plain.error());
    const Published model = published(text);
    const ClassDefaults* const defaults = class_defaults_of(model.type);
    const bool needs_class = text.find("text_config") != std::string::npos;
    for (int round = 0; round < 60; ++round) {
      const auto one_in = [&](uint64_t n) { return random.below(n) == 0; };
      FieldList fields = model.fields, whole;
      if (defaults != nullptr) add_defaults(*defaults, fields, random);
      if (one_in(2)) fields.emplace_back("initializer_range", one_in(2) ? "NaN" : "0.02");
      if (one_in(2)) fields.emplace_back("limits", "[0.0, -Infinity, null]");
      if (one_in(2)) fields.emplace_back("rope_scaling", R"({"factor": 8.0, "sliding_window": 3, "vocab_size": 1})");
      if (one_in(3)) fields.emplace_back("eos_token_id", one_in(2) ? "[1, 106]" : "2");
      if (one_in(3)) fields.emplace_back("architectures", R"(["SomethingForCausalLM"])");
      const bool is_part = needs_class || one_in(2);
      FieldList& outside = is_part ? whole : fields;
      // Stated within or outside; of both, the outer one is the whole's.
      const bool has_type = one_in(2), has_bits = one_in(3), has_fp8 = !has_bits && one_in(3);
      if (has_type) (one_in(2) ? outside : fields).emplace_back(one_in(2) ? "torch_dtype" : "dtype", "\"bfloat16\"");
      if (has_bits) {
        (one_in(2) ? outside : fields)
            .emplace_back("quantization_config", R"({"quant_method": "gptq", "bits": 4, "group_size": 128})");
      }
      if (has_fp8) {
        (one_in(2) ? outside : fields)
            .emplace_back("quantization_config", R"({"quant_method": "fp8", "activation_scheme": "dynamic"})");
      }
      fields.emplace_back("model_type", "\"" + model.type + "\"");
      if (is_part) {
        const char* const kParts[] = {"text_config", "llm_config", "language_config"};
        whole.emplace_back(kParts[random.below(3)], written(fields, random));
        whole.emplace_back("model_type", "\"somevision\"");
        whole.emplace_back("vision_config",
                           R"({"hidden_size": 1152, "num_hidden_layers": 27, "model_type": "siglip"})");
      }
      const std::string form = written(is_part ? whole : fields, random);
      const auto read = parse_hf_config(form, "c.json");
      ASSERT_TRUE(read) << form << to_text(read.error());
      ASSERT_EQ(count_parameters(*read)->total, count_parameters(*plain)->total) << form;
      ASSERT_EQ(read->head_dim, plain->head_dim) << form;
      ASSERT_EQ(read->kv_heads, plain->kv_heads) << form;
      ASSERT_EQ(read->vocab, plain->vocab) << form;
      ASSERT_EQ(read->windowed_layers, plain->windowed_layers) << form;
      ASSERT_EQ(read->sliding_window, plain->sliding_window) << form;
      ASSERT_EQ(read->tied_embeddings, plain->tied_embeddings) << form;
      ASSERT_EQ(read->moe.experts, plain->moe.experts) << form;
      ASSERT_EQ(read->moe.active_experts, plain->moe.active_experts) << form;
      ASSERT_EQ(read->stored_precision.has_value(), has_type) << form;
      ASSERT_EQ(read->stored_weight_bytes.has_value(), has_bits || has_fp8) << form;
      if (has_bits) {
        ASSERT_EQ(read->stored_weight_name, "int4") << form;
      }
      if (has_fp8) {
        ASSERT_EQ(read->stored_activations, Precision::kFp8) << form;
      }
    }
  }
}

}  // namespace
}  // namespace perfcast::ai
