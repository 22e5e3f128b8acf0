// Planted: what an image's columns come to is added up one column after the other, so that each step down is on another
// cache line.
#include <algorithm>
#include <array>
#include <vector>

#include "planted.h"

namespace {

constexpr size_t kRows = 4096;
constexpr size_t kColumns = 8192;
constexpr int kPasses = 5;

using Gamma = std::array<uint16_t, 256>;  // brightness of a pixel's value

struct Column {
  uint64_t sum = 0;
  uint64_t squares = 0;
  uint64_t largest = 0;
};

void add(uint64_t brightness, Column& column) {
  column.sum += brightness;
  column.squares += brightness * brightness;
  column.largest = std::max(column.largest, brightness);
}

void add_image(const std::vector<uint8_t>& image, const Gamma& gamma, std::vector<Column>& columns) {
  if constexpr (planted::kMended) {
    for (size_t y = 0; y < kRows; ++y) {
      for (size_t x = 0; x < kColumns; ++x) add(gamma[image[y * kColumns + x]], columns[x]);
    }
  } else {
    for (size_t x = 0; x < kColumns; ++x) {
      for (size_t y = 0; y < kRows; ++y) add(gamma[image[y * kColumns + x]], columns[x]);
    }
  }
}

}  // namespace

int main() {
  Gamma gamma;
  for (size_t value = 0; value < gamma.size(); ++value) gamma[value] = static_cast<uint16_t>(value * value);
  std::vector<uint8_t> image(kRows * kColumns);
  for (size_t i = 0; i < image.size(); ++i) image[i] = static_cast<uint8_t>(i * i >> 7);
  std::vector<Column> columns(kColumns);
  for (int pass = 0; pass < kPasses; ++pass) add_image(image, gamma, columns);
  uint64_t checksum = 0;
  for (const Column& column : columns) checksum = planted::mix(checksum + column.sum + column.squares + column.largest);
  return planted::print_checksum(checksum);
}
