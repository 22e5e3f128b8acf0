#pragma once
// The fields of one config.json: as the file states them, else as its class in transformers has them.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"

namespace perfcast {
class JsonReader;
}

namespace perfcast::ai {

// What transformers' configuration class of a model_type takes for what a file leaves out. 0: the class has none.
struct ClassDefaults {
  std::string_view type;
  int64_t vocab = 0, hidden = 0, ffn = 0, layers = 0, heads = 0;
  int64_t kv_heads = 0;  // 0: as many as heads
  int64_t head_dim = 0;  // 0: width / heads
  int64_t window = 0;
  bool tied = false;
  std::pair<std::string_view, int64_t> more[10] = {};  // further sizes by name, such as experts
};
// Null where the class isn't known.
const ClassDefaults* class_defaults_of(std::string_view model_type);

// Limits on every size, so that products of some can't overflow.
class Fields {
 public:
  // `is_part`: within another model's file, where transformers writes only what differs from the class. Any other file
  // must state its width and layers, or nothing is taken from the class. `defaults` may be null.
  Fields(const Json& json, const std::string& source, const ClassDefaults* defaults, bool is_part);
  ~Fields();
  Fields(const Fields&) = delete;
  Fields& operator=(const Fields&) = delete;

  int64_t size(const char* key);
  // Where neither file nor class has the key, or the file says null.
  int64_t size_or(const char* key, int64_t fallback, int64_t least = 1);
  bool flag(const char* key, bool fallback);
  double share_or(const char* key, double fallback);  // above 0, at most 1
  std::string text_or(const char* key, const std::string& fallback);
  bool has(const char* key) const;  // and it isn't null
  bool is_tied_by_class() const { return defaults_ != nullptr && defaults_->tied; }
  const Json* array(const char* key);
  const Json* object(const char* key);
  void complain(const char* key, const std::string& found, const std::string& expected);
  Status finish() const;  // all mistakes
  // What was taken from the class: "num_attention_heads 8". In the order in which it was asked for.
  const std::vector<std::string>& assumed() const { return assumed_; }

 private:
  bool states(const char* key) const;  // null, too
  std::optional<int64_t> assume(const char* key);
  int64_t checked(const char* key, int64_t value, int64_t least);

  const Json& json_;
  std::unique_ptr<JsonReader> in_;
  const ClassDefaults* defaults_;  // null: nothing is taken from it
  std::vector<std::string> assumed_;
};

}  // namespace perfcast::ai
