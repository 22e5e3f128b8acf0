#include "ai/transformer/packed_matrix.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <vector>

#include "base/parallel.h"

namespace perfcast::ai {
namespace {

constexpr size_t kLine = 64;

int64_t byte_place(int64_t input, int64_t column) {
  return (input / kByteDepths * kPanelColumns + column) * kByteDepths + input % kByteDepths;
}

}  // namespace

double PackedMatrix::bytes() const {
  const auto weights = static_cast<double>(padded_outputs()) * static_cast<double>(padded_inputs());
  if (!in_bytes_) return weights * sizeof(float);
  return weights + static_cast<double>(padded_outputs()) * (sizeof(float) + sizeof(int32_t));
}

std::byte* WeightArena::take(size_t bytes) {
  if (bytes > memory_.size() - used_) throw std::bad_alloc();
  std::byte* const taken = memory_.data() + used_;
  used_ = std::min(memory_.size(), used_ + (bytes + kLine - 1) / kLine * kLine);
  return taken;
}

double PackedMatrix::arena_bytes(int64_t outputs, int64_t inputs, Precision precision) {
  PackedMatrix matrix;
  matrix.outputs_ = outputs;
  matrix.inputs_ = inputs;
  matrix.in_bytes_ = precision == Precision::kInt8;
  return matrix.bytes() + 3 * kLine;
}

Result<PackedMatrix> PackedMatrix::pack(int64_t outputs, int64_t inputs, Precision precision, int threads,
                                        const WeightRow& row, WeightArena* arena) {
  PackedMatrix matrix;
  matrix.outputs_ = outputs;
  matrix.inputs_ = inputs;
  matrix.in_bytes_ = precision == Precision::kInt8;
  try {
    if (arena == nullptr) {
      matrix.own_ = std::make_unique<WeightArena>(static_cast<size_t>(arena_bytes(outputs, inputs, precision)));
      arena = matrix.own_.get();
    }
    const auto columns = static_cast<size_t>(matrix.padded_outputs());
    const size_t weights = columns * static_cast<size_t>(matrix.padded_inputs());
    if (matrix.in_bytes_) {
      matrix.bytes_ = reinterpret_cast<int8_t*>(arena->take(weights));
      matrix.scales_ = reinterpret_cast<float*>(arena->take(columns * sizeof(float)));
      matrix.corrections_ = reinterpret_cast<int32_t*>(arena->take(columns * sizeof(int32_t)));
    } else {
      matrix.floats_ = reinterpret_cast<float*>(arena->take(weights * sizeof(float)));
    }
  } catch (const std::bad_alloc&) {
    return environment_error("out-of-memory", "there is no memory for a layer's weights", "",
                             "a smaller model, or int8 weights");
  }
  const auto work = [&](size_t panel) { return matrix.pack_panel(static_cast<int64_t>(panel), row); };
  if (auto status = parallel_for(static_cast<size_t>(matrix.panels()), threads, work); !status) return status.error();
  return matrix;
}

Status PackedMatrix::pack_panel(int64_t panel, const WeightRow& row) {
  std::vector<float> values(static_cast<size_t>(inputs_));
  const int64_t columns = std::min(kPanelColumns, outputs_ - panel * kPanelColumns);
  const int64_t start = panel * padded_inputs() * kPanelColumns;
  for (int64_t column = 0; column < columns; ++column) {
    const int64_t output = panel * kPanelColumns + column;
    if (auto status = row(output, values); !status) return status;
    if (!in_bytes_) {
      float* place = floats_ + start + column;
      for (int64_t i = 0; i < inputs_; ++i) place[i * kPanelColumns] = values[static_cast<size_t>(i)];
      continue;
    }
    float largest = 0;
    for (const float value : values) largest = std::max(largest, std::abs(value));
    const float steps = largest > 0 ? 127 / largest : 0;
    int32_t sum = 0;
    for (int64_t i = 0; i < inputs_; ++i) {
      const auto whole = static_cast<int32_t>(std::lrint(values[static_cast<size_t>(i)] * steps));
      bytes_[start + byte_place(i, column)] = static_cast<int8_t>(whole);
      sum += whole;
    }
    scales_[output] = largest / 127;
    corrections_[output] = kByteZero * sum;
  }
  return {};
}

float PackedMatrix::weight(int64_t output, int64_t input) const {
  const int64_t panel = output / kPanelColumns, column = output % kPanelColumns;
  if (!in_bytes_) return floats(panel)[input * kPanelColumns + column];
  return static_cast<float>(signed_bytes(panel)[byte_place(input, column)]) * scales_[output];
}

void PackedMatrix::copy_row(int64_t output, std::span<float> values) const {
  const int64_t panel = output / kPanelColumns, column = output % kPanelColumns;
  if (!in_bytes_) {
    const float* from = floats(panel) + column;
    for (size_t i = 0; i < values.size(); ++i) values[i] = from[static_cast<int64_t>(i) * kPanelColumns];
    return;
  }
  const int8_t* from = signed_bytes(panel);
  const float scale = scales_[output];
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(from[byte_place(static_cast<int64_t>(i), column)]) * scale;
  }
}

}  // namespace perfcast::ai
