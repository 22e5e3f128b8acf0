#include <cstdint>
#include <string>
#include <vector>

#include "base/fuzz/mended_checksum.h"
#include "learn/weightless/lut_network.h"
#include "learn/weightless/packed_network.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto network = perfcast::LutNetwork::from_bytes(with_mended_checksum(data, size), "fuzz");
  if (!network || network->luts() > 10000 || network->inputs() > 10000 || network->outputs() > 1000) return 0;
  std::vector<float> row(network->inputs());
  for (size_t i = 0; i < row.size(); ++i) row[i] = 0.25f * static_cast<float>(i % 7) - 0.5f;
  if (const auto again = perfcast::LutNetwork::from_bytes(network->to_bytes(), "fuzz");
      !again || again->to_bytes() != network->to_bytes())
    __builtin_trap();
  std::vector<int32_t> sums(network->outputs());
  perfcast::PackedLutNetwork(*network).sums(row.data(), sums.data());
  if (sums != network->sums(row)) __builtin_trap();
  if (network->pruned().sums(row) != sums) __builtin_trap();
  if (network->luts() * network->inputs() > 10000 || network->outputs() > 256) return 0;
  std::vector<float> rows;
  for (int r = 0; r < 513; ++r) rows.insert(rows.end(), row.begin(), row.end());
  for (const perfcast::PackedPath path : perfcast::packed_paths()) {
    std::vector<uint8_t> best(513);
    const perfcast::PackedLutNetwork packed(*network, path);
    packed.sums(row.data(), sums.data());
    if (sums != network->sums(row)) __builtin_trap();
    packed.best(rows.data(), best.size(), best.data());
    if (best[0] != network->best(row) || best[511] != best[0]) __builtin_trap();
  }
  return 0;
}
