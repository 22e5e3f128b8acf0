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

// Numbers that two registers hold, and 16 bits each that two more do.
constexpr size_t kWindow = 32, kMostGroups = 64;

struct PackedView {
  size_t inputs, bits;
  const uint32_t* bit_input;
  const float* bit_threshold;
  size_t arity, padded;  // of the first layer; its tables, padded to whole words of bits
  const int32_t* read_input;
  const float* read_threshold;
  const uint64_t* padded_tables;
  // The bits that the first layer reads, by input, sixteen to a group of inputs within a window of the row, from which
  // each table picks: pick_byte and pick_bit are [arity x padded]. 0 groups: there are more bits than that.
  size_t groups;
  const int32_t* group_base;
  const int32_t* group_input;  // [16 x groups], from the base
  const float* group_threshold;
  const uint8_t* pick_byte;
  const uint8_t* pick_bit;
  const PackedLayerView* layers;
  size_t layer_count, most_bits;  // of any layer, the encoder's among them
  size_t outputs;
  const uint32_t* vote;
};

struct PackedKernels {
  // Bits of the first layer for one row: padded / 64 words.
  void (*first_layer)(const PackedView& view, const float* row, uint64_t* words);
  // Of each output's tables, those whose bit is set: masks [outputs x words] say which they are.
  void (*count_votes)(const uint64_t* bits, size_t words, const uint64_t* masks, size_t outputs, int32_t* votes);
  // Blocks of `block_rows` rows whole; `room` holds room_words(view) words, aligned to 64 bytes.
  size_t block_rows;
  size_t (*room_words)(const PackedView& view);
  void (*block_best)(const PackedView& view, const float* rows, uint64_t* room, uint8_t* best);
};

extern const PackedKernels kPackedScalar, kPackedAvx2, kPackedAvx512, kPackedAvx512Vbmi;

}  // namespace perfcast
