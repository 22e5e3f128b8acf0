#include "ai/transformer/transformer_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <vector>

#include "ai/llm/hf_config_reader.h"
#include "ai/llm/model_catalogue.h"
#include "ai/transformer/safetensors.h"
#include "base/file.h"
#include "base/json.h"
#include "base/python_json.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr size_t kLargestConfig = size_t{16} << 20;
constexpr size_t kMostFiles = 1000;

class OpenFile {
 public:
  explicit OpenFile(const std::string& path)
      : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)), path_(path) {
    if (descriptor_ >= 0) size_ = static_cast<int64_t>(lseek(descriptor_, 0, SEEK_END));
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  bool is_open() const { return descriptor_ >= 0 && size_ >= 0; }
  uint64_t size() const { return static_cast<uint64_t>(size_); }
  const std::string& path() const { return path_; }

  Status read(uint64_t offset, void* into, size_t bytes) const {
    auto* to = static_cast<char*>(into);
    while (bytes > 0) {
      const ssize_t got = pread(descriptor_, to, bytes, static_cast<off_t>(offset));
      if (got <= 0) {
        return Error{"bad-safetensors", "it ends before its tensors do, or can't be read", path_,
                     "a file that nobody changes meanwhile"};
      }
      to += got;
      offset += static_cast<uint64_t>(got);
      bytes -= static_cast<size_t>(got);
    }
    return {};
  }

 private:
  int descriptor_;
  int64_t size_ = -1;
  std::string path_;
};

struct PlacedTensor {
  const OpenFile* file = nullptr;
  SafeTensor tensor;
};

std::string tensor_name(WeightPart part, int64_t layer) {
  const std::string inside = "model.layers." + std::to_string(layer) + ".";
  switch (part) {
    case WeightPart::kEmbedding:
      return "model.embed_tokens.weight";
    case WeightPart::kAttentionNorm:
      return inside + "input_layernorm.weight";
    case WeightPart::kQuery:
      return inside + "self_attn.q_proj.weight";
    case WeightPart::kKey:
      return inside + "self_attn.k_proj.weight";
    case WeightPart::kValue:
      return inside + "self_attn.v_proj.weight";
    case WeightPart::kAttentionOutput:
      return inside + "self_attn.o_proj.weight";
    case WeightPart::kFfnNorm:
      return inside + "post_attention_layernorm.weight";
    case WeightPart::kGate:
      return inside + "mlp.gate_proj.weight";
    case WeightPart::kUp:
      return inside + "mlp.up_proj.weight";
    case WeightPart::kDown:
      return inside + "mlp.down_proj.weight";
    case WeightPart::kFinalNorm:
      return "model.norm.weight";
    case WeightPart::kHead:
      return "lm_head.weight";
  }
  return {};
}

size_t bytes_of(SafeTensorType type) { return type == SafeTensorType::kF64 ? 8 : type == SafeTensorType::kF32 ? 4 : 2; }

float value_at(const std::vector<char>& bytes, SafeTensorType type, size_t i) {
  const auto take = [&]<typename T>(T) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    return value;
  };
  switch (type) {
    case SafeTensorType::kF64:
      return static_cast<float>(take(double{}));
    case SafeTensorType::kF32:
      return take(float{});
    case SafeTensorType::kF16:
      return half_to_float(take(uint16_t{}));
    default:
      return bf16_to_float(take(uint16_t{}));
  }
}

class FileWeights : public WeightSource {
 public:
  Status open_file(const std::string& path) {
    auto file = std::make_unique<OpenFile>(path);
    if (!file->is_open()) return Error{"file-not-found", "it can't be opened", path, "a file that may be read"};
    uint64_t length = 0;
    if (file->size() < sizeof length) return Error{"bad-safetensors", "it is too short", path, "a safetensors file"};
    if (auto status = file->read(0, &length, sizeof length); !status) return status;
    length = std::min(length, kLargestTensorHeader);
    std::string header(static_cast<size_t>(std::min(sizeof length + length, file->size())), '\0');
    if (auto status = file->read(0, header.data(), header.size()); !status) return status;
    auto parsed = parse_safetensors(header, file->size(), path);
    if (!parsed) return parsed.error();
    for (auto& [name, tensor] : parsed->tensors) {
      if (!tensors_.emplace(name, PlacedTensor{file.get(), std::move(tensor)}).second) {
        return Error{"bad-safetensors", "tensor '" + printable(name.substr(0, 100)) + "' stands in two files", path,
                     "each tensor once"};
      }
    }
    files_.push_back(std::move(file));
    return {};
  }

  // That the tensor is there, with such a shape. It counts as used.
  Status expect(WeightPart part, int64_t layer, const std::vector<int64_t>& shape) {
    const std::string name = tensor_name(part, layer);
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) {
      return Error{"missing-tensor", "there is no tensor '" + name + "'", files_.front()->path(),
                   "the weights of a model like that of config.json"};
    }
    const PlacedTensor& placed = found->second;
    if (placed.tensor.shape != shape || placed.tensor.type == SafeTensorType::kOther) {
      std::vector<std::string> sizes;
      sizes.reserve(shape.size());
      for (const int64_t size : shape) sizes.push_back(std::to_string(size));
      return Error{"bad-safetensors", "tensor '" + name + "' has another shape or type", placed.file->path(),
                   join(sizes, " x ") + " in F64, F32, F16 or BF16"};
    }
    used_.insert(name);
    return {};
  }

  // A tensor that nothing would read is of another form of model, whose answers would be others. But a head that is
  // stored beside the embedding that it is tied to, and the angles of positions, which follow from the config.
  Status refuse_unused(bool tied) const {
    for (const auto& [name, placed] : tensors_) {
      const bool harmless =
          (tied && name == tensor_name(WeightPart::kHead, 0)) || name.ends_with(".rotary_emb.inv_freq");
      if (harmless || used_.contains(name)) continue;
      return Error{"unsupported-model", "tensor '" + printable(name.substr(0, 100)) + "' is none of such a model's",
                   placed.file->path(),
                   "the weights of a model like that of config.json: no biases, no further layers"};
    }
    return {};
  }

  Status row(WeightPart part, int64_t layer, int64_t row, std::span<float> values) const override {
    const PlacedTensor& placed = tensors_.find(tensor_name(part, layer))->second;
    const size_t each = bytes_of(placed.tensor.type);
    std::vector<char> bytes(values.size() * each);
    const uint64_t offset = placed.tensor.begin + static_cast<uint64_t>(row) * bytes.size();
    if (auto status = placed.file->read(offset, bytes.data(), bytes.size()); !status) return status;
    for (size_t i = 0; i < values.size(); ++i) values[i] = value_at(bytes, placed.tensor.type, i);
    return {};
  }

 private:
  std::vector<std::unique_ptr<OpenFile>> files_;
  std::map<std::string, PlacedTensor, std::less<>> tensors_;
  std::set<std::string> used_;
};

std::vector<std::string> tensor_files(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code problem;
  for (std::filesystem::directory_iterator at(folder, problem), end; !problem && at != end; at.increment(problem)) {
    std::error_code unknown;
    if (at->path().extension() == ".safetensors" && at->is_regular_file(unknown)) files.push_back(at->path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string config_in(const std::string& path) {
  std::error_code problem;
  return std::filesystem::is_directory(path, problem) ? path + "/config.json" : path;
}

// What positions are scaled by; other kinds than none change angles.
Status check_rope_scaling(const Json& json, const char* key, const std::string& source) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_object()) return {};
  for (const char* field : {"rope_type", "type"}) {
    const auto type = found->find(field);
    if (type == found->end() || !type->is_string() || *type == "default") continue;
    return Error{"unsupported-model",
                 "positions are scaled by '" + printable(type->get_ref<const std::string&>().substr(0, 40)) + "'",
                 source + ", " + key, "plain rotary positions"};
  }
  return {};
}

}  // namespace

Result<TransformerModel> parse_transformer_config(const std::string& text, const std::string& source) {
  auto config = parse_hf_config(text, source);
  if (!config) return config.error();
  const auto json = parse_python_json(text, source);
  if (!json) return json.error();
  TransformerModel model;
  model.config = std::move(*config);
  JsonReader in(*json, source);
  model.norm_epsilon = in.number_or("rms_norm_eps", model.norm_epsilon);
  model.rope_theta = in.number_or("rope_theta", model.rope_theta);
  if (const auto inner = json->find("rope_parameters"); inner != json->end() && inner->is_object()) {
    JsonReader parameters(*inner, source + ", rope_parameters");
    model.rope_theta = parameters.number_or("rope_theta", model.rope_theta);
    if (auto status = parameters.finish(); !status) return status.error();
  }
  if (!(model.norm_epsilon >= 0 && model.norm_epsilon <= 1)) {
    in.complain("rms_norm_eps", std::to_string(model.norm_epsilon), "0 to 1");
  }
  if (!(model.rope_theta >= 1)) in.complain("rope_theta", std::to_string(model.rope_theta), "1 and more");
  if (auto status = in.finish(); !status) return status.error();
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    if (auto status = check_rope_scaling(*json, key, source); !status) return status.error();
  }
  if (auto status = check_transformer(model.config); !status) return status.error();
  return model;
}

Result<TransformerModel> find_transformer(const std::string& name_or_path) {
  const auto names = built_in_transformers();
  if (std::find(names.begin(), names.end(), name_or_path) != names.end()) return built_in_transformer(name_or_path);
  const std::string file = config_in(name_or_path);
  std::error_code problem;
  if (file.ends_with(".json") && std::filesystem::is_regular_file(file, problem)) {
    const auto text = read_file(file, kLargestConfig);
    if (!text) return text.error();
    return parse_transformer_config(*text, file);
  }
  auto config = load_model(name_or_path);
  if (!config) {
    Error error = config.error();
    if (error.code == "unknown-model") error.expected += "; run here: " + join(names, ", ");
    return error;
  }
  TransformerModel model;
  model.config = std::move(*config);
  if (auto status = check_transformer(model.config); !status) return status.error();
  return model;
}

Result<std::unique_ptr<WeightSource>> open_weights(const std::string& folder, const TransformerModel& model) {
  const auto files = tensor_files(folder);
  if (files.empty() || files.size() > kMostFiles) {
    return Error{"file-not-found", "there are no safetensors, or too many", folder, "1 to 1,000 files *.safetensors"};
  }
  auto weights = std::make_unique<FileWeights>();
  for (const std::string& file : files) {
    if (auto status = weights->open_file(file); !status) return status.error();
  }
  const LlmConfig& config = model.config;
  const int64_t hidden = config.hidden, queries = config.heads * config.head_dim,
                keys = config.kv_heads * config.head_dim;
  struct Expected {
    WeightPart part;
    std::vector<int64_t> shape;
  };
  const auto expect_all = [&](int64_t layer, const std::vector<Expected>& all) -> Status {
    for (const Expected& each : all) {
      if (auto status = weights->expect(each.part, layer, each.shape); !status) return status;
    }
    return {};
  };
  std::vector<Expected> outer = {{WeightPart::kEmbedding, {config.vocab, hidden}}, {WeightPart::kFinalNorm, {hidden}}};
  if (!config.tied_embeddings) outer.push_back({WeightPart::kHead, {config.vocab, hidden}});
  if (auto status = expect_all(0, outer); !status) return status.error();
  const std::vector<Expected> inner = {{WeightPart::kAttentionNorm, {hidden}},
                                       {WeightPart::kQuery, {queries, hidden}},
                                       {WeightPart::kKey, {keys, hidden}},
                                       {WeightPart::kValue, {keys, hidden}},
                                       {WeightPart::kAttentionOutput, {hidden, queries}},
                                       {WeightPart::kFfnNorm, {hidden}},
                                       {WeightPart::kGate, {config.ffn, hidden}},
                                       {WeightPart::kUp, {config.ffn, hidden}},
                                       {WeightPart::kDown, {hidden, config.ffn}}};
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    if (auto status = expect_all(layer, inner); !status) return status.error();
  }
  if (auto status = weights->refuse_unused(config.tied_embeddings); !status) return status.error();
  return std::unique_ptr<WeightSource>(std::move(weights));
}

Result<OpenedTransformer> open_transformer(const std::string& name_or_path, uint64_t seed,
                                           const TransformerOptions& options) {
  const auto model = find_transformer(name_or_path);
  if (!model) return model.error();
  if (tensor_files(name_or_path).empty()) {
    auto transformer = Transformer::random(*model, seed, options);
    if (!transformer) return transformer.error();
    return OpenedTransformer{std::move(*transformer), true};
  }
  const auto weights = open_weights(name_or_path, *model);
  if (!weights) return weights.error();
  auto transformer = Transformer::create(*model, **weights, options);
  if (!transformer) return transformer.error();
  return OpenedTransformer{std::move(*transformer), false};
}

}  // namespace perfcast::ai
