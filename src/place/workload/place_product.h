#pragma once
// A product of matrices, (M x K) by (K x N), on every device: arithmetic and memory of it, and moving operands to the
// device and the result back.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ai/latency/model/operator_time.h"
#include "ai/llm/precision.h"
#include "base/result.h"
#include "base/unknown.h"
#include "machine/meter/platform_power.h"
#include "place/workload/placement.h"
#include "place/workload/product_on_cpu.h"

namespace perfcast::place {

struct ProductWorkload {
  int64_t m = 0, n = 0, k = 0;
  ai::Precision precision = ai::Precision::kFp32;

  double operations() const;
  double operand_bytes() const;  // A and B
  double result_bytes() const;   // C: 4 bytes a value of fp32, tf32 and int8, else 2
  double bytes() const { return operand_bytes() + result_bytes(); }
  int64_t longest() const;
  // The same form with another longest side.
  ProductWorkload scaled_to(int64_t longest_side) const;
  std::string to_text() const;  // "4096 x 4096 x 1024 fp16": M, N, K
};
inline constexpr int64_t kLongestSide = int64_t{1} << 20;

// "M,N,K" or "M,N,K,PRECISION", also as to_text() has it, and "half" for fp16: whether a word looks so, and its parts.
// "bad-product" names the part: sides are whole
// numbers from 1 to kLongestSide, precisions those of activations.
bool looks_like_product(std::string_view text);
Result<ProductWorkload> parse_product(std::string_view text);

using PlaceDevice = std::shared_ptr<const ai::LatencyModel>;

struct PlaceCpu {
  ai::CpuFacts facts;
  double clock_hz = kUnknown;  // that it keeps under load: busy_clock_hz()
  std::string instance;        // "aws c7i.xlarge"; empty: none in particular
  double price_per_hour = kUnknown;
  std::optional<CpuPower> power;  // of its package, where a vendor states it
  std::string note;               // what to know of its facts; empty: nothing

  // Of a row on so many of its cores.
  void set_power(double cores, PlacementRow& row) const;
  std::string name() const { return instance.empty() ? facts.name : facts.name + " (" + instance + ")"; }
};

struct ProductRequest {
  ProductWorkload product;
  double host_link_bytes_per_s = kUnknown;
  bool resident = false;  // operands lie on the device and the result stays there
};

// The rows of one product, and its time at other sizes. Devices and CPUs must outlive it.
class ProductPlacer {
 public:
  ProductPlacer(ProductRequest request, const std::vector<PlaceDevice>& devices, const std::vector<PlaceCpu>& cpus)
      : request_(request), devices_(devices), cpus_(cpus) {}

  // Not finished: see finish_placement().
  Placement place() const;
  // Of a row by its name, with the longest side in the place of the product's; absent where it holds no such product.
  std::optional<SizedTime> at_size(const std::string& device, int64_t longest_side) const;

 private:
  PlacementRow row_of(const PlaceDevice& device, const ProductWorkload& product) const;
  PlacementRow row_of(const PlaceCpu& cpu, const ProductWorkload& product) const;

  ProductRequest request_;
  const std::vector<PlaceDevice>& devices_;
  const std::vector<PlaceCpu>& cpus_;
};

}  // namespace perfcast::place
