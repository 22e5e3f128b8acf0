#pragma once
// Builds the bytes of small invented GGUF files for tests.

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace perfcast::ai::testing {

class GgufWriter {
 public:
  explicit GgufWriter(uint32_t version = 3) : version_(version) {}

  void text(const std::string& key, const std::string& value) {
    begin(key, 8);
    put_text(keys_, value);
  }
  void u32(const std::string& key, uint32_t value) {
    begin(key, 4);
    put(keys_, value);
  }
  void u64(const std::string& key, uint64_t value) {
    begin(key, 10);
    put(keys_, value);
  }
  // What gguf-split writes into each piece; `number` from 0.
  void split(uint16_t number, uint16_t count, int32_t tensors) {
    begin("split.no", 2);
    put(keys_, number);
    begin("split.count", 2);
    put(keys_, count);
    begin("split.tensors.count", 5);
    put(keys_, tensors);
  }
  void f32(const std::string& key, float value) {
    begin(key, 6);
    put(keys_, value);
  }
  void u32_array(const std::string& key, const std::vector<uint32_t>& values) {
    begin(key, 9);
    put(keys_, uint32_t{4});
    put(keys_, uint64_t{values.size()});
    for (const uint32_t value : values) put(keys_, value);
  }
  void text_array(const std::string& key, const std::vector<std::string>& values) {
    begin(key, 9);
    put(keys_, uint32_t{8});
    put(keys_, uint64_t{values.size()});
    for (const std::string& value : values) put_text(keys_, value);
  }
  // A key whose bytes are given as they are.
  void raw(const std::string& key, uint32_t type, const std::string& bytes) {
    begin(key, type);
    keys_ += bytes;
  }
  void tensor(const std::string& name, const std::vector<uint64_t>& shape, uint32_t type) {
    ++tensor_count_;
    put_text(tensors_, name);
    put(tensors_, static_cast<uint32_t>(shape.size()));
    for (const uint64_t size : shape) put(tensors_, size);
    put(tensors_, type);
    put(tensors_, uint64_t{0});
  }

  std::string bytes() const {
    std::string all = "GGUF";
    put(all, version_);
    put(all, tensor_count_);
    put(all, key_count_);
    return all + keys_ + tensors_;
  }

  template <typename T>
  static void put(std::string& to, T value) {
    char raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof(T));
    to.append(raw, sizeof(T));
  }
  static void put_text(std::string& to, const std::string& text) {
    put(to, uint64_t{text.size()});
    to += text;
  }

 private:
  void begin(const std::string& key, uint32_t type) {
    ++key_count_;
    put_text(keys_, key);
    put(keys_, type);
  }

  uint32_t version_;
  uint64_t key_count_ = 0, tensor_count_ = 0;
  std::string keys_, tensors_;
};

struct TinyTensor {
  std::string name;
  std::vector<uint64_t> shape;
  uint32_t type;
};

// Of tiny_llama(), in a file's order.
inline std::vector<TinyTensor> tiny_tensors() {
  std::vector<TinyTensor> all = {{"token_embd.weight", {64, 100}, 8}};
  for (const std::string layer : {"blk.0.", "blk.1."}) {
    all.push_back({layer + "attn_norm.weight", {64}, 0});
    all.push_back({layer + "attn_q.weight", {64, 64}, 8});
    all.push_back({layer + "attn_k.weight", {64, 32}, 8});
    all.push_back({layer + "attn_v.weight", {64, 32}, 8});
    all.push_back({layer + "attn_output.weight", {64, 64}, 8});
    all.push_back({layer + "ffn_norm.weight", {64}, 0});
    all.push_back({layer + "ffn_gate.weight", {64, 128}, 8});
    all.push_back({layer + "ffn_up.weight", {64, 128}, 8});
    all.push_back({layer + "ffn_down.weight", {128, 64}, 8});
  }
  all.push_back({"output_norm.weight", {64}, 0});
  all.push_back({"output.weight", {64, 100}, 8});
  return all;
}

inline void tiny_metadata(GgufWriter& file) {
  file.text("general.architecture", "llama");
  file.text("general.name", "tiny");
  file.u32("llama.block_count", 2);
  file.u32("llama.embedding_length", 64);
  file.u32("llama.feed_forward_length", 128);
  file.u32("llama.attention.head_count", 4);
  file.u32("llama.attention.head_count_kv", 2);
  file.u32("llama.context_length", 512);
  file.f32("llama.rope.freq_base", 10000);
  file.text_array("tokenizer.ggml.tokens", std::vector<std::string>(100, "x"));
}

// A llama of 2 layers, 64 wide, 4 heads, 2 of keys and values, FFN 128, vocabulary 100; matrices as Q8_0, norms as F32.
inline GgufWriter tiny_llama(uint32_t version = 3) {
  GgufWriter file(version);
  tiny_metadata(file);
  for (const TinyTensor& each : tiny_tensors()) file.tensor(each.name, each.shape, each.type);
  return file;
}

}  // namespace perfcast::ai::testing
