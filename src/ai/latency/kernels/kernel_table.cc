#include "ai/latency/kernels/kernel_table.h"

#include <array>
#include <cmath>
#include <filesystem>
#include <utility>

#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr size_t kNone = SIZE_MAX;
constexpr double kMostSize = 2147483648;  // 2^31
constexpr double kMostKernelSeconds = 3600;

struct TableForm {
  KernelTableKind kind;
  const char* format;  // the column that tells it from the others
  const char* file;    // what its file's name holds
  std::vector<const char*> sizes;
};

const std::array<TableForm, 3>& table_forms() {
  static const std::array<TableForm, 3> forms = {
      {{KernelTableKind::kProducts, "gemm_dtype", "gemm", {"m", "n", "k"}},
       {KernelTableKind::kAttention,
        "attn_dtype",
        "attention",
        {"batch_size", "isl", "num_heads", "num_key_value_heads", "head_dim"}},
       {KernelTableKind::kExperts,
        "moe_dtype",
        "moe",
        {"num_tokens", "hidden_size", "inter_size", "topk", "num_experts", "moe_tp_size", "moe_ep_size"}}}};
  return forms;
}

const TableForm* form_of(const CsvTable& table, const std::string& source) {
  for (const TableForm& form : table_forms()) {
    if (table.find_column(form.format)) return &form;
  }
  // Latent attention has tables of other columns: "mla_context_module_perf".
  const std::string file = std::filesystem::path(source).filename().string();
  for (const TableForm& form : table_forms()) {
    if (file.find(form.file) != std::string::npos && table.find_column(form.sizes.front())) return &form;
  }
  return nullptr;
}

size_t optional_column(const CsvTable& table, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const auto found = table.find_column(name)) return *found;
  }
  return kNone;
}

std::optional<KernelFormat> format_named(std::string_view text) {
  const std::string name = lower_case(trim(text));
  if (name == "bfloat16" || name == "float16" || name == "bf16" || name == "fp16" || name == "half") {
    return KernelFormat::kHalf;
  }
  if (name == "fp8" || name == "fp8_e4m3") return KernelFormat::kFp8;
  if (name == "fp8_block") return KernelFormat::kFp8Block;
  if (name == "nvfp4") return KernelFormat::kFp4;
  return std::nullopt;
}

std::string unknown_format(std::string_view text) {
  return "the format '" + printable(text.substr(0, 40)) + "' is none of bfloat16, float16, fp8, fp8_block, nvfp4";
}

}  // namespace

bool KernelTable::is_one(const CsvTable& table, const std::string& source) { return form_of(table, source) != nullptr; }

Result<KernelTable> KernelTable::open(const CsvTable& table, const std::string& source) {
  KernelTable result;
  result.table_ = &table;
  if (Status status = result.find_columns(source); !status) return status.error();
  return result;
}

Status KernelTable::find_columns(const std::string& source) {
  const TableForm* form = form_of(*table_, source);
  if (form == nullptr) {
    return Error{"missing-column", "none of the columns gemm_dtype, attn_dtype and moe_dtype is there", source,
                 "a table of products, attention or experts with one of them"};
  }
  kind_ = form->kind;
  const auto need = [&](const char* name, size_t& at) -> Status {
    const auto found = table_->column(name);
    if (!found) return found.error();
    at = *found;
    return {};
  };
  for (const char* name : form->sizes) {
    if (Status status = need(name, sizes_.emplace_back()); !status) return status;
  }
  if (Status status = need("system", system_); !status) return status;
  if (Status status = need(form->format, format_); !status) return status;
  if (kind_ == KernelTableKind::kAttention) {
    computed_ = format_;
    if (Status status = need("kv_cache_dtype", format_); !status) return status;
    if (Status status = need("step", step_); !status) return status;
    window_ = optional_column(*table_, {"window_size"});
  }
  if (kind_ == KernelTableKind::kExperts) skew_ = optional_column(*table_, {"distribution"});
  engine_ = optional_column(*table_, {"engine", "framework"});
  version_ = optional_column(*table_, {"engine_version", "version"});
  library_ = optional_column(*table_, {"kernel_source"});
  constexpr std::array<std::pair<const char*, double>, 3> kUnits = {
      {{"latency_ms", 1e-3}, {"latency_us", 1e-6}, {"latency_s", 1}}};
  for (const auto& [name, seconds] : kUnits) {
    const auto found = table_->find_column(name);
    if (!found) continue;
    latency_ = *found;
    unit_s_ = seconds;
    unit_note_ = std::string(name) + " is read as its name says";
    return {};
  }
  return need("latency", latency_);
}

std::string_view KernelTable::cell(size_t row, size_t column) const {
  return column == kNone ? std::string_view() : trim(table_->cell(row, column));
}

std::optional<std::string> KernelTable::read_sizes(size_t row, KernelShape& shape) const {
  for (size_t i = 0; i < sizes_.size(); ++i) {
    const auto value = parse_number(cell(row, sizes_[i]));
    if (!value || !(*value >= 1) || *value > kMostSize || *value != std::floor(*value)) {
      return table_->columns()[sizes_[i]] + " is no whole number from 1 to 2^31";
    }
    shape.size[i] = *value;
  }
  if (kind_ == KernelTableKind::kAttention) {
    const auto step = parse_number(cell(row, step_));
    if (!step || !(*step >= 0) || *step > kMostSize) return "step is no number of tokens";
    shape.kind = *step > 0 ? KernelKind::kDecode : KernelKind::kPrefill;
    shape.size[AttentionAxis::kLength] += *step;
    const auto text = cell(row, window_);
    const auto window = text.empty() ? std::optional<double>(0) : parse_number(text);
    if (!window || !(*window >= 0) || *window > kMostSize) return "window_size is no number of tokens";
    shape.size[AttentionAxis::kWindow] = *window;
  }
  if (kind_ == KernelTableKind::kExperts) {
    shape.kind = KernelKind::kExperts;
    const auto text = cell(row, skew_);
    constexpr std::string_view kPowerLaw = "power_law_";
    const auto exponent = text.starts_with(kPowerLaw) ? parse_number(text.substr(kPowerLaw.size())) : std::nullopt;
    if (exponent && *exponent > 0 && *exponent < 100) {
      shape.size[ExpertsAxis::kSkew] = *exponent;
    } else if (!text.empty() && text != "balanced" && text != "uniform") {
      return "the distribution is neither balanced nor a power law";
    }
  }
  return std::nullopt;
}

std::optional<std::string> KernelTable::read(size_t row, KernelRow& into) const {
  into.shape = KernelShape();
  into.system = cell(row, system_);
  if (into.system.empty() || into.system.size() > 200) return "no system";
  const auto format = format_named(cell(row, format_));
  if (!format) return unknown_format(cell(row, format_));
  into.shape.format = *format;
  if (kind_ == KernelTableKind::kAttention) {
    if (format_named(cell(row, computed_)) != KernelFormat::kHalf)
      return "attention that computes in fewer than 16 bits";
    if (*format != KernelFormat::kHalf && *format != KernelFormat::kFp8) return unknown_format(cell(row, format_));
  }
  if (auto problem = read_sizes(row, into.shape)) return problem;
  const auto time = parse_number(cell(row, latency_));
  if (!time || !(*time > 0)) return "a time that is no number above 0";
  into.seconds = *time * unit_s_;
  if (!(into.seconds > 0) || into.seconds > kMostKernelSeconds) return "a time of more than an hour";
  into.engine = cell(row, engine_);
  into.version = cell(row, version_);
  into.library = cell(row, library_);
  return std::nullopt;
}

}  // namespace perfcast::ai
