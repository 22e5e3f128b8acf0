#include "place/workload/place_product.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ai/latency/model/device_catalogue.h"
#include "ai/llm/operator_graph.h"
#include "ai/llm_forecast/llm_forecast.h"
#include "ai/llm_forecast/step_time.h"
#include "base/csv.h"
#include "base/text.h"
#include "machine/meter/accelerator_power.h"
#include "place/workload/host_link.h"
#include "place/workload/place_bound.h"
#include "program/forecast/number_text.h"

namespace perfcast::place {
namespace {

constexpr size_t kLongestText = 120;

double as_real(int64_t value) { return static_cast<double>(value); }

std::string_view format_name(ai::Precision precision) { return ai::info(precision).name; }

// "M,N,K,PRECISION", and the same with x between the sides and a blank before the precision, as it is printed.
std::vector<std::string> parts_of(std::string_view text) {
  std::string commas(text);
  char before = ' ';
  for (size_t i = 0; i < commas.size(); ++i) {
    const bool after_side = before >= '0' && before <= '9';
    const size_t next = commas.find_first_not_of(' ', i + 1);
    const bool before_side = next != std::string::npos && commas[next] >= '0' && commas[next] <= '9';
    if ((commas[i] == 'x' || commas[i] == 'X') && after_side && before_side) commas[i] = ',';
    if (commas[i] != ' ') before = commas[i];
  }
  std::vector<std::string> parts = split(commas, ',');
  if (parts.size() != 3) return parts;
  const std::string last(trim(parts[2]));
  if (const size_t blank = last.find(' '); blank != std::string::npos) {
    parts[2] = last.substr(0, blank);
    parts.push_back(last.substr(blank + 1));
  }
  return parts;
}

// What a value of the result takes: sums are kept in fp32 or int32, and written as the operands are where those are
// shorter floats.
double result_value_bytes(ai::Precision precision) {
  switch (precision) {
    case ai::Precision::kFp32:
    case ai::Precision::kTf32:
    case ai::Precision::kInt8:
      return 4;
    default:
      return 2;
  }
}

// The 90% interval of a sum whose parts err together.
void set_interval(PlacementRow& row, double log_sd) {
  row.lower_s = *row.time_s * std::exp(-ai::kInterval90 * log_sd);
  row.upper_s = *row.time_s * std::exp(ai::kInterval90 * log_sd);
}

// Whether it fits, and how many would hold it, where the memory is known.
void set_memory(PlacementRow& row, double bytes, double memory_bytes) {
  row.needed_bytes = bytes;
  if (!(memory_bytes > 0)) return;
  row.memory_bytes = memory_bytes;
  const double free_bytes = (1 - ai::kMemoryReserve) * memory_bytes;
  row.fits = bytes <= free_bytes;
  if (!*row.fits) row.fits_on = static_cast<int64_t>(std::ceil(bytes / free_bytes));
}

}  // namespace

double ProductWorkload::operations() const { return 2 * as_real(m) * as_real(n) * as_real(k); }
double ProductWorkload::operand_bytes() const {
  return ai::bytes_per_value(precision) * as_real(k) * (as_real(m) + as_real(n));
}
double ProductWorkload::result_bytes() const { return result_value_bytes(precision) * as_real(m) * as_real(n); }
int64_t ProductWorkload::longest() const { return std::max({m, n, k}); }

ProductWorkload ProductWorkload::scaled_to(int64_t longest_side) const {
  ProductWorkload scaled = *this;
  const double ratio = as_real(longest_side) / as_real(longest());
  for (int64_t* side : {&scaled.m, &scaled.n, &scaled.k}) {
    *side = std::max<int64_t>(1, std::llround(as_real(*side) * ratio));
  }
  return scaled;
}

std::string ProductWorkload::to_text() const { return fmt::format("{} x {} x {} {}", m, n, k, format_name(precision)); }

bool looks_like_product(std::string_view text) {
  const std::vector<std::string> parts = parts_of(text.substr(0, kLongestText));
  return parts.size() >= 2 && std::all_of(parts.begin(), parts.begin() + 2,
                                          [](const std::string& part) { return parse_number(trim(part)).has_value(); });
}

Result<ProductWorkload> parse_product(std::string_view text) {
  const std::string shown = printable(text.substr(0, kLongestText));
  const std::vector<std::string> parts = parts_of(text.substr(0, kLongestText));
  const char* expected = "M,N,K or M,N,K,PRECISION, as in 4096,4096,4096,fp16";
  if (parts.size() < 3 || parts.size() > 4) {
    return usage_error("bad-product", "'" + shown + "' is no product", "WORKLOAD", expected);
  }
  ProductWorkload product;
  int64_t* const sides[] = {&product.m, &product.n, &product.k};
  for (size_t i = 0; i < 3; ++i) {
    const auto value = parse_number(trim(parts[i]));
    if (!value || !(*value >= 1) || *value > as_real(kLongestSide) || *value != std::floor(*value)) {
      return usage_error("bad-product", "'" + printable(parts[i]) + "' is no side of a product", "WORKLOAD",
                         fmt::format("whole numbers from 1 to {}", kLongestSide));
    }
    *sides[i] = static_cast<int64_t>(*value);
  }
  if (parts.size() == 3) return product;
  const std::string_view named = trim(parts[3]);
  const auto precision = named == "half" ? ai::Precision::kFp16 : ai::precision_named(named);
  if (!precision || ai::info(*precision).weights_only || *precision == ai::Precision::kInt4) {
    return usage_error("bad-product", "products are not computed in '" + printable(parts[3]) + "'", "WORKLOAD",
                       "one of: fp32, tf32, fp16, bf16, fp8, int8");
  }
  product.precision = *precision;
  return product;
}

PlacementRow ProductPlacer::row_of(const PlaceDevice& device, const ProductWorkload& product) const {
  const DeviceFacts& facts = device->device();
  PlacementRow row;
  row.device = facts.name;
  row.kind = kind_of(facts);
  row.aliases = facts.aliases;
  set_memory(row, product.bytes(), facts.memory_bytes);
  ai::LlmWorkload formats;
  formats.weights = formats.activations = formats.kv = product.precision;
  const auto modes = ai::math_modes(*device, formats);
  if (!modes) {
    row.note = modes.error().message;
    return row;
  }
  const MathMode mode = modes->product;
  // Both 16-bit formats are computed in one mode: its name is the format's then.
  row.precision = mode == MathMode::kHalf && ai::bytes_per_value(product.precision) == 2
                      ? format_name(product.precision)
                  : mode == MathMode::kHalf ? format_name(ai::Precision::kFp16)
                                            : ai::name_of(mode);
  row.basis = device->calibrated(mode, as_real(product.m)) ? PlaceBasis::kFitted : PlaceBasis::kDatasheet;
  const ai::ProductShape shape{1, as_real(product.m), as_real(product.k), as_real(product.n), true};
  const double right_bytes = ai::bytes_per_value(product.precision) * as_real(product.k) * as_real(product.n);
  const ai::OperatorTime time = device->product(shape, mode, right_bytes);
  if (!(time.seconds > 0) || !std::isfinite(time.seconds)) {
    row.note = "its model has no time for this product";
    return row;
  }
  const double on_device_s = time.seconds + time.launch_seconds;
  row.transfer_s = 0;
  if (facts.kind != DeviceKind::kCpu && !request_.resident) {
    const HostLink link = host_link_of(facts, request_.host_link_bytes_per_s);
    constexpr double kCopies = 3;  // two operands, one result
    row.transfer_s = link.seconds(product.bytes(), kCopies);
    row.host_link_assumed = link.assumed;
  }
  row.time_s = on_device_s + *row.transfer_s;
  // Small operands may lie in caches and copies may go on meanwhile, so that each is a bound by itself.
  const double peak = facts.peak(mode);
  double least_s = peak > 0 ? product.operations() / peak : 0;
  if (*row.transfer_s > 0 && !row.host_link_assumed) {
    const HostLink link = host_link_of(facts, request_.host_link_bytes_per_s);
    least_s = std::max(least_s, std::max(product.operand_bytes(), product.result_bytes()) / link.bytes_per_s);
  }
  if (least_s > 0) row.least_s = least_s;
  const double log_error = std::isfinite(time.log_error) ? time.log_error : device->log_error(mode);
  set_interval(row, (on_device_s * log_error + *row.transfer_s * kHostCopyLogError) / *row.time_s);
  const bool starts = time.launch_seconds > time.seconds;
  row.bound = !row.fits.value_or(true)        ? PlaceBound::kCapacity
              : *row.transfer_s > on_device_s ? PlaceBound::kTransfer
              : starts                        ? PlaceBound::kLaunch
                                              : place_bound_of(time.bound);
  row.power_w = if_known(facts.power_w);
  if (row.power_w && facts.kind != DeviceKind::kCpu && peak > 0 && facts.memory_bytes_per_s > 0) {
    const AcceleratorLoad load = {product.operations() / peak / on_device_s,
                                  product.bytes() / facts.memory_bytes_per_s / on_device_s};
    *row.power_w *=
        (accelerator_power_ratio(load) * on_device_s + accelerator_power_ratio({}) * *row.transfer_s) / *row.time_s;
    row.energy_basis = EnergyBasis::kModelled;
  }
  row.price_time();
  return row;
}

PlacementRow ProductPlacer::row_of(const PlaceCpu& cpu, const ProductWorkload& product) const {
  PlacementRow row;
  row.device = cpu.name();
  row.kind = PlaceKind::kCpu;
  row.vcpus = cpu.facts.vcpus;
  row.instance = cpu.instance;
  row.price_per_hour = if_known(cpu.price_per_hour);
  row.note = cpu.note;
  constexpr double kGib = 1024.0 * 1024 * 1024;
  set_memory(row, product.bytes(), cpu.facts.memory_gib * kGib);
  const CpuProductTime time =
      product_on_cpu(cpu.facts, cpu.clock_hz, product.precision, product.operations(), product.bytes());
  if (std::isnan(time.seconds)) {
    row.note = cpu.clock_hz > 0 ? "its memory's bandwidth is not known" : "its clock is not known";
    return row;
  }
  row.precision = format_name(time.computed_in);
  row.transfer_s = 0;
  row.time_s = time.seconds;
  cpu.set_power(time.threads, row);
  set_interval(row, std::hypot(kCpuShareLogError, kCpuClockLogError));
  row.bound = row.fits.value_or(true) ? time.bound : PlaceBound::kCapacity;
  row.price_time();
  return row;
}

void PlaceCpu::set_power(double cores, PlacementRow& row) const {
  if (!power || !(cores > 0)) return;
  row.power_w = tdp_joules(*power, cores);
  row.energy_basis = EnergyBasis::kTdp;
}

Placement ProductPlacer::place() const {
  Placement placement;
  placement.kind = PlacedWorkload::kProduct;
  placement.workload = request_.product.to_text();
  placement.details = fmt::format(
      "{}, {} of operands and result{}", program::in_unit(request_.product.operations(), "FLOP"),
      human_bytes(request_.product.bytes()), request_.resident ? "; operands and result stay on the device" : "");
  placement.rows.reserve(devices_.size() + cpus_.size());
  for (const PlaceDevice& device : devices_) placement.rows.push_back(row_of(device, request_.product));
  for (const PlaceCpu& cpu : cpus_) placement.rows.push_back(row_of(cpu, request_.product));
  return placement;
}

std::optional<SizedTime> ProductPlacer::at_size(const std::string& device, int64_t longest_side) const {
  const ProductWorkload product = request_.product.scaled_to(longest_side);
  const auto answer = [](const PlacementRow& row) {
    if (!row.time_s || !row.fits.value_or(true)) return std::optional<SizedTime>();
    // How busy a device is, and how many of a CPU's cores are, hangs on the size.
    return std::optional<SizedTime>({*row.time_s, row.power_w});
  };
  for (const PlaceDevice& one : devices_) {
    if (one->device().name == device) return answer(row_of(one, product));
  }
  for (const PlaceCpu& one : cpus_) {
    if (one.name() == device) return answer(row_of(one, product));
  }
  return std::nullopt;
}

}  // namespace perfcast::place
