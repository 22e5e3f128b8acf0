#pragma once
// What packed_network.cc asks of a path; each is compiled for its own instructions, and nothing else is compiled there.

#include <cstddef>
#include <cstdint>

namespace perfcast {

struct PackedLayerView {
  size_t luts, arity;
  const uint32_t* mapping;
  const uint64_t* tables;
};

struct PackedView {
  size_t inputs, bits;
  const uint32_t* bit_input;
  const float* bit_threshold;
  size_t arity, padded;  // of the first layer
  const int32_t* read_input;
  const float* read_threshold;
  const uint64_t* padded_tables;
  const PackedLayerView* layers;
  size_t layer_count, most_bits;  // of any layer, the encoder's among them
  size_t outputs;
  const uint32_t* vote;
};

struct PackedKernels {
  // Bits of the first layer for one row: padded / 64 words and one more.
  void (*first_layer)(const PackedView& view, const float* row, uint64_t* words);
  // Blocks of `block_rows` rows whole; `room` holds room_words(view) words, aligned to 64 bytes.
  size_t block_rows;
  size_t (*room_words)(const PackedView& view);
  void (*block_best)(const PackedView& view, const float* rows, uint64_t* room, uint8_t* best);
};

extern const PackedKernels kPackedScalar, kPackedAvx2, kPackedAvx512;

}  // namespace perfcast
