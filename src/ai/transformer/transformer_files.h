#pragma once
// Models and weights from outside: config.json and safetensors as they lie side by side on Hugging Face. Untrusted
// input.

#include <memory>
#include <string>

#include "ai/transformer/transformer.h"
#include "base/result.h"

namespace perfcast::ai {

// The text of a config.json. Beside parse_hf_config()'s errors and check_transformer()'s: "unsupported-model" where
// positions are scaled in a way that this doesn't know.
Result<TransformerModel> parse_transformer_config(const std::string& json, const std::string& source);

// A transformer of ours by name, else MODEL of `llm analyze`: a built-in name, a config.json or its folder, a GGUF
// file, of whose weights nothing is read. Held to check_transformer().
Result<TransformerModel> find_transformer(const std::string& name_or_path);

// Weights of all regular files *.safetensors of a folder, in float or half precision, by the names that Llama's have
// there. Every tensor that the model needs is looked up, with its shape: "missing-tensor", "bad-safetensors",
// "file-not-found"; "unsupported-model" names a tensor that the model has no use for.
Result<std::unique_ptr<WeightSource>> open_weights(const std::string& folder, const TransformerModel& model);

// What a person names: a folder with weights, or a model that gets those of `seed`. `random_weights` says which it was.
struct OpenedTransformer {
  Transformer transformer;
  bool random_weights = true;
};
Result<OpenedTransformer> open_transformer(const std::string& name_or_path, uint64_t seed,
                                           const TransformerOptions& options);

}  // namespace perfcast::ai
