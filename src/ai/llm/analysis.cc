#include "ai/llm/analysis.h"

#include <fmt/format.h>

#include <cmath>

#include "ai/llm/analysis_notes.h"
#include "ai/llm/model_catalogue.h"
#include "base/json.h"
#include "base/report/table.h"
#include "base/significant.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr double kLargestExact = 9'007'199'254'740'992;  // 2^53

std::string_view phase_name(LlmPhase phase) {
  return phase == LlmPhase::kPrefill ? "prefill" : phase == LlmPhase::kDecode ? "decode" : "train";
}

std::string_view kind_name(LlmKind kind) {
  return kind == LlmKind::kDecoder ? "decoder" : kind == LlmKind::kEncoder ? "encoder" : "vision encoder";
}

int64_t length_of(const LlmWorkload& workload) {
  return workload.phase == LlmPhase::kDecode && workload.context > 0 ? workload.context : workload.sequence;
}

// Whole numbers as such, so that a reader of JSON gets an integer.
bool is_whole(double value) { return std::nearbyint(value) == value && std::abs(value) < kLargestExact; }
Json number(double value) { return is_whole(value) ? Json(static_cast<int64_t>(value)) : Json(value); }
ReportValue whole(double value) {
  return is_whole(value) ? ReportValue(static_cast<int64_t>(value)) : ReportValue(value);
}

// 174606385152 -> "174,606,385,152".
std::string grouped(double value) {
  std::string digits = fmt::format("{:.0f}", value);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<size_t>(at), ",");
  }
  return digits;
}

std::string size_cell(int64_t value) { return value > 0 ? std::to_string(value) : ""; }

std::string intensity_cell(double value) { return value < 100 ? significant(value, 3) : fmt::format("{:.0f}", value); }

std::string headline(const LlmAnalysis& analysis) {
  const LlmConfig& config = analysis.config;
  std::string text = fmt::format("{} ({}): {}, {} layers, width {}", config.name, config.source, kind_name(config.kind),
                                 config.layers, config.hidden);
  if (config.attention_layers() > 0) text += fmt::format(", {} heads", config.heads);
  if (config.has_mla()) {
    text += fmt::format(" over a latent of {}", config.mla.kv_lora_rank);
  } else if (config.attention_layers() > 0) {
    if (config.kv_heads != config.heads) text += fmt::format(" ({} for keys and values)", config.kv_heads);
    text += fmt::format(" of {}", config.head_dim);
  }
  if (config.dense_ffn_layers() > 0) text += fmt::format(", ffn {}", config.ffn);
  if (config.has_moe()) {
    text += fmt::format(", {} experts of {} in {} layers, {} active", config.moe.experts, config.moe.expert_ffn,
                        config.moe.moe_layers, config.moe.active_experts);
  }
  if (config.mamba.layers > 0) {
    text += fmt::format(", {} Mamba layers of {} and {} with attention", config.mamba.layers, config.mamba.inner,
                        config.attention_layers());
  }
  if (config.vocab > 0) text += fmt::format(", vocabulary {}", config.vocab);
  const LlmWorkload& workload = analysis.workload;
  text += fmt::format("\n{}, batch {}, {} {}", phase_name(workload.phase), workload.batch,
                      workload.phase == LlmPhase::kDecode ? "context" : "sequence", length_of(workload));
  text += fmt::format(", weights {}, activations {}",
                      weights_name(analysis.config, workload.weights, workload.weight_bits_per_value),
                      info(workload.activations).name);
  if (config.has_cache() && workload.phase != LlmPhase::kTrain)
    text += fmt::format(", cache {}", info(workload.kv).name);
  if (workload.tensor_parallel > 1) text += fmt::format(", tensor parallel {}", workload.tensor_parallel);
  return text + "\n\n";
}

// All columns of the operators, in the order of JSON.
ReportTable operator_table(const LlmAnalysis& analysis, bool for_csv) {
  using enum Quantity;
  using Column = ColumnOf<LlmOperator>;
  const bool trains = analysis.workload.phase == LlmPhase::kTrain;
  const auto size = [](const char* name, const char* title, int64_t LlmOperator::*of) {
    return Column(name, title, kCount, of, [of](const LlmOperator& op) { return size_cell(op.*of); });
  };
  const auto amount = [for_csv](double value) {
    return for_csv ? ReportValue(fmt::format("{:.17g}", value)) : whole(value);
  };
  const auto ratio = [for_csv](double value) {
    return for_csv ? ReportValue(fmt::format("{:.6g}", value)) : ReportValue(value);
  };
  const auto bytes = [amount](const char* name, double LlmOperator::*of) {
    return Column(name, "", kBytes,
                  [of, amount](const LlmOperator& op) { return amount(op.*of * static_cast<double>(op.count)); });
  };
  const auto share = [&analysis](const LlmOperator& op) { return op.total_flops() / analysis.totals.flops; };
  return table_of<LlmOperator>(
      "", analysis.graph,
      {{"name", "operator", kText, [](const LlmOperator& op) { return name_of(op.name); }},
       {"kind", "", kText, [](const LlmOperator& op) { return name_of(op.kind); }},
       {"pass", trains ? "pass" : "", kText, [](const LlmOperator& op) { return name_of(op.pass); }},
       size("m", "M", &LlmOperator::m),
       {"k", "K", kCount, [](const LlmOperator& op) { return op.is_product() ? ReportValue(op.k) : ReportValue(); },
        [](const LlmOperator& op) { return size_cell(op.k); }},
       size("n", "N", &LlmOperator::n),
       size("batch", "batch", &LlmOperator::batch),
       size("count", "count", &LlmOperator::count),
       {"macs", "MACs", kHuman, [&](const LlmOperator& op) { return amount(op.total_macs()); },
        [](const LlmOperator& op) { return op.is_product() ? human_number(op.total_macs()) : ""; }},
       {"flops", "FLOP", kHuman, [&](const LlmOperator& op) { return amount(op.total_flops()); },
        [](const LlmOperator& op) { return op.flops > 0 ? human_number(op.total_flops()) : ""; }},
       {"bytes", "bytes", kBytes, [&](const LlmOperator& op) { return amount(op.total_bytes()); },
        [](const LlmOperator& op) { return op.bytes() > 0 ? human_bytes(op.total_bytes()) : ""; }},
       bytes("weight_bytes", &LlmOperator::weight_bytes),
       bytes("input_bytes", &LlmOperator::input_bytes),
       bytes("output_bytes", &LlmOperator::output_bytes),
       bytes("kv_bytes", &LlmOperator::kv_bytes),
       bytes("link_bytes", &LlmOperator::link_bytes),
       {"intensity_flop_per_byte", "FLOP/byte", kNumber,
        [&](const LlmOperator& op) { return op.bytes() > 0 ? ratio(op.intensity()) : ReportValue(); },
        [](const LlmOperator& op) { return op.bytes() > 0 && op.flops > 0 ? intensity_cell(op.intensity()) : ""; }},
       {"flop_share", "share", kShare, [&](const LlmOperator& op) { return ratio(share(op)); },
        [&](const LlmOperator& op) { return op.flops > 0 ? percent(share(op), 2) : ""; }}});
}

std::string totals_text(const LlmAnalysis& analysis) {
  const LlmTotals& totals = analysis.totals;
  const LlmWorkload& workload = analysis.workload;
  TextTable table;
  table.add_column("total", TextTable::Align::kLeft);
  table.add_column("", TextTable::Align::kLeft);
  const auto add = [&](const char* name, const std::string& value) { table.add_row({name, value}); };
  const auto add_bytes = [&](const char* name, double bytes) {
    if (bytes > 0) add(name, human_bytes(bytes));
  };
  add("parameters", grouped(static_cast<double>(totals.parameters.total)));
  if (totals.parameters.active != totals.parameters.total) {
    add("active parameters", grouped(static_cast<double>(totals.parameters.active)));
  }
  add("MACs", fmt::format("{} ({})", grouped(totals.macs), human_number(totals.macs)));
  add("FLOP", human_number(totals.flops));
  add("memory traffic",
      fmt::format("{}, {} FLOP/byte", human_bytes(totals.traffic_bytes), significant(totals.intensity, 4)));
  add_bytes("sent to other devices", totals.link_bytes);
  add("weights", human_bytes(totals.weight_bytes));
  if (totals.kv_bytes > 0) {
    add("key-value cache",
        fmt::format("{}, {} a token", human_bytes(totals.kv_bytes), human_bytes(totals.kv_bytes_per_token)));
  }
  add_bytes("gradients", totals.gradient_bytes);
  add_bytes("optimizer", totals.optimizer_bytes);
  add(workload.phase == LlmPhase::kTrain ? "kept activations" : "activations, about",
      human_bytes(totals.activation_bytes));
  add(workload.tensor_parallel > 1 ? "memory, each device" : "memory", human_bytes(totals.memory_bytes));
  return table.to_text();
}

Json config_json(const LlmConfig& config) {
  Json json{{"kind", kind_name(config.kind)},
            {"layers", config.layers},
            {"hidden", config.hidden},
            {"heads", config.heads},
            {"kv_heads", config.kv_heads},
            {"head_dim", config.head_dim},
            {"ffn", config.ffn},
            {"gated_ffn", config.gated_ffn},
            {"vocabulary", config.vocab},
            {"tied_embeddings", config.tied_embeddings}};
  if (config.max_positions > 0) json["max_positions"] = config.max_positions;
  if (config.windowed_layers > 0) {
    json["sliding_window"] = config.sliding_window;
    json["windowed_layers"] = config.windowed_layers;
  }
  if (config.has_moe()) {
    json["experts"] = config.moe.experts;
    json["active_experts"] = config.moe.active_experts;
    json["expert_ffn"] = config.moe.expert_ffn;
    json["shared_expert_ffn"] = config.moe.shared_ffn;
    json["moe_layers"] = config.moe.moe_layers;
  }
  if (config.mamba.layers > 0) {
    json["attention_layers"] = config.attention_layers();
    json["mamba_layers"] = config.mamba.layers;
    json["mamba_inner"] = config.mamba.inner;
    json["mamba_state"] = config.mamba.state;
  }
  if (config.has_mla()) {
    json["q_lora_rank"] = config.mla.q_lora_rank;
    json["kv_lora_rank"] = config.mla.kv_lora_rank;
  }
  return json;
}

Json workload_json(const LlmConfig& config, const LlmWorkload& workload) {
  Json json{{"phase", phase_name(workload.phase)}, {"batch", workload.batch}};
  json[workload.phase == LlmPhase::kDecode ? "context" : "sequence"] = length_of(workload);
  if (workload.weight_bits_per_value) {
    json["weights"] = config.stored_weight_name.empty() ? "file" : config.stored_weight_name;
  } else {
    json["weights"] = info(workload.weights).name;
  }
  json["weight_bits"] = workload.weight_bytes_per_value() * 8;
  json["activations"] = info(workload.activations).name;
  json["kv"] = info(workload.kv).name;
  json["tensor_parallel"] = workload.tensor_parallel;
  json["fused_attention"] = workload.fused_attention;
  json["skip_masked"] = workload.skip_masked;
  json["head_all_positions"] = workload.head_all_positions;
  return json;
}

}  // namespace

Result<LlmAnalysis> analyze_llm(const LlmConfig& config, const LlmWorkload& workload) {
  if (Status status = check_config(config); !status) return status.error();
  LlmAnalysis analysis;
  analysis.config = config;
  analysis.workload = workload;
  if (Status status = build_operators(config, workload, analysis.graph); !status) return status.error();
  auto totals = total_operators(config, workload, analysis.graph);
  if (!totals) return totals.error();
  analysis.totals = *totals;
  analysis.notes = analysis_notes(config, workload);
  return analysis;
}

std::string analysis_text(const LlmAnalysis& analysis) {
  std::string text = headline(analysis) + rows_text(operator_table(analysis, false)) + "\n" + totals_text(analysis);
  for (const std::string& note : analysis.notes) text += "\nnote: " + note;
  return text + "\n";
}

std::string analysis_csv(const LlmAnalysis& analysis) { return rows_csv(operator_table(analysis, true)); }

Json analysis_json(const LlmAnalysis& analysis) {
  const LlmTotals& totals = analysis.totals;
  Json json{{"schema", "perfcast.llm.analysis/1"},
            {"model", analysis.config.name},
            {"source", analysis.config.source},
            {"parameters", totals.parameters.total},
            {"active_parameters", totals.parameters.active},
            {"total_macs", number(totals.macs)},
            {"total_flops", number(totals.flops)},
            {"traffic_bytes", number(totals.traffic_bytes)},
            {"link_bytes", number(totals.link_bytes)},
            {"intensity_flop_per_byte", totals.intensity},
            {"weight_bytes", number(totals.weight_bytes)},
            {"kv_bytes", number(totals.kv_bytes)},
            {"kv_bytes_per_token", number(totals.kv_bytes_per_token)},
            {"activation_bytes", number(totals.activation_bytes)}};
  if (analysis.workload.phase == LlmPhase::kTrain) {
    json["gradient_bytes"] = number(totals.gradient_bytes);
    json["optimizer_bytes"] = number(totals.optimizer_bytes);
  }
  json["memory_bytes"] = number(totals.memory_bytes);
  json["architecture"] = config_json(analysis.config);
  json["workload"] = workload_json(analysis.config, analysis.workload);
  json["operators"] = rows_json(operator_table(analysis, false));
  json["notes"] = analysis.notes;
  return json;
}

}  // namespace perfcast::ai
