#include "ai/llm/hf_fields.h"

#include <algorithm>
#include <iterator>

#include "base/json.h"

namespace perfcast::ai {
namespace {

constexpr int64_t kLargestSize = int64_t{1} << 31;

std::optional<int64_t> default_of(const ClassDefaults& defaults, std::string_view key) {
  const std::pair<std::string_view, int64_t> common[] = {
      {"vocab_size", defaults.vocab},          {"hidden_size", defaults.hidden},
      {"intermediate_size", defaults.ffn},     {"num_hidden_layers", defaults.layers},
      {"num_attention_heads", defaults.heads}, {"num_key_value_heads", defaults.kv_heads},
      {"head_dim", defaults.head_dim},         {"sliding_window", defaults.window}};
  for (const auto& [name, value] : common) {
    if (name == key && value > 0) return value;
  }
  for (const auto& [name, value] : defaults.more) {
    if (name == key) return value;
  }
  return std::nullopt;
}

}  // namespace

Fields::Fields(const Json& json, const std::string& source, const ClassDefaults* defaults, bool is_part)
    : json_(json), in_(std::make_unique<JsonReader>(json, source)), defaults_(defaults) {
  constexpr const char* kDepths[] = {"num_hidden_layers", "n_layer", "hybrid_override_pattern", "layers_block_type"};
  const bool has_depth =
      std::any_of(std::begin(kDepths), std::end(kDepths), [this](const char* key) { return has(key); });
  if (!is_part && !(has("hidden_size") && has_depth)) defaults_ = nullptr;
}

Fields::~Fields() = default;

bool Fields::flag(const char* key, bool fallback) { return in_->boolean_or(key, fallback); }

std::string Fields::text_or(const char* key, const std::string& fallback) { return in_->string_or(key, fallback); }

const Json* Fields::array(const char* key) { return in_->array(key); }

const Json* Fields::object(const char* key) { return in_->object(key); }

void Fields::complain(const char* key, const std::string& found, const std::string& expected) {
  in_->complain(key, found, expected);
}

Status Fields::finish() const { return in_->finish(); }

bool Fields::states(const char* key) const { return json_.is_object() && json_.contains(key); }

bool Fields::has(const char* key) const { return states(key) && !json_[key].is_null(); }

std::optional<int64_t> Fields::assume(const char* key) {
  const std::string_view name = key;
  if (defaults_ == nullptr || states(key)) return std::nullopt;
  const auto value = default_of(*defaults_, name);
  const std::string entry = value ? std::string(name) + " " + std::to_string(*value) : "";
  if (value && std::find(assumed_.begin(), assumed_.end(), entry) == assumed_.end()) assumed_.push_back(entry);
  return value;
}

int64_t Fields::size(const char* key) {
  if (const auto value = assume(key)) return *value;
  return checked(key, in_->integer(key), 1);
}

int64_t Fields::size_or(const char* key, int64_t fallback, int64_t least) {
  if (has(key)) return checked(key, in_->integer(key), least);
  return assume(key).value_or(fallback);
}

double Fields::share_or(const char* key, double fallback) {
  const double value = in_->number_or(key, fallback);
  if (value > 0 && value <= 1) return value;
  in_->complain(key, std::to_string(value), "above 0, at most 1");
  return fallback;
}

int64_t Fields::checked(const char* key, int64_t value, int64_t least) {
  if (value >= least && value <= kLargestSize) return value;
  // A missing or misspelt field was complained about already.
  if (has(key) && json_.find(key)->is_number_integer()) {
    in_->complain(key, std::to_string(value), "from " + std::to_string(least) + " to " + std::to_string(kLargestSize));
  }
  return 1;
}

}  // namespace perfcast::ai
