#include "ai/llm/analysis.h"

#include <fmt/format.h>

#include <cmath>

#include "ai/llm/analysis_notes.h"
#include "ai/llm/model_catalogue.h"
#include "base/json.h"
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
Json number(double value) {
  if (std::nearbyint(value) == value && std::abs(value) < kLargestExact) return static_cast<int64_t>(value);
  return value;
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

std::string intensity_cell(double value) {
  return value < 100 ? fmt::format("{:.3g}", value) : fmt::format("{:.0f}", value);
}

std::string weights_name(const LlmWorkload& workload) {
  if (workload.weight_bits_per_value) return fmt::format("{:.3f} bits", *workload.weight_bits_per_value);
  return std::string(info(workload.weights).name);
}

std::string headline(const LlmAnalysis& analysis) {
  const LlmConfig& config = analysis.config;
  std::string text = fmt::format("{} ({}): {}, {} layers, width {}, {} heads", config.name, config.source,
                                 kind_name(config.kind), config.layers, config.hidden, config.heads);
  if (config.has_mla()) {
    text += fmt::format(" over a latent of {}", config.mla.kv_lora_rank);
  } else {
    if (config.kv_heads != config.heads) text += fmt::format(" and {} of keys and values", config.kv_heads);
    text += fmt::format(" of {}", config.head_dim);
  }
  if (config.dense_ffn_layers() > 0) text += fmt::format(", ffn {}", config.ffn);
  if (config.has_moe()) {
    text += fmt::format(", {} experts of {} in {} layers, {} active", config.moe.experts, config.moe.expert_ffn,
                        config.moe.moe_layers, config.moe.active_experts);
  }
  if (config.vocab > 0) text += fmt::format(", vocabulary {}", config.vocab);
  const LlmWorkload& workload = analysis.workload;
  text += fmt::format("\n{}, batch {}, {} {}", phase_name(workload.phase), workload.batch,
                      workload.phase == LlmPhase::kDecode ? "context" : "sequence", length_of(workload));
  text += fmt::format(", weights {}, activations {}", weights_name(workload), info(workload.activations).name);
  if (config.has_cache() && workload.phase != LlmPhase::kTrain)
    text += fmt::format(", cache {}", info(workload.kv).name);
  if (workload.tensor_parallel > 1) text += fmt::format(", tensor parallel {}", workload.tensor_parallel);
  return text + "\n\n";
}

std::string operator_table(const LlmAnalysis& analysis) {
  using Align = TextTable::Align;
  const bool trains = analysis.workload.phase == LlmPhase::kTrain;
  TextTable table;
  table.add_column("operator", Align::kLeft);
  if (trains) table.add_column("pass", Align::kLeft);
  for (const char* title : {"M", "K", "N", "batch", "count", "MACs", "FLOP", "bytes", "FLOP/byte", "share"}) {
    table.add_column(title, Align::kRight);
  }
  for (const LlmOperator& op : analysis.graph) {
    std::vector<std::string> cells = {std::string(name_of(op.name))};
    if (trains) cells.emplace_back(name_of(op.pass));
    for (const int64_t size : {op.m, op.k, op.n, op.batch, op.count}) cells.push_back(size_cell(size));
    cells.push_back(op.is_product() ? human_number(op.total_macs()) : "");
    cells.push_back(op.flops > 0 ? human_number(op.total_flops()) : "");
    cells.push_back(op.bytes() > 0 ? human_bytes(op.total_bytes()) : "");
    cells.push_back(op.bytes() > 0 && op.flops > 0 ? intensity_cell(op.intensity()) : "");
    cells.push_back(op.flops > 0 ? fmt::format("{:.2f}%", 100 * op.total_flops() / analysis.totals.flops) : "");
    table.add_row(std::move(cells));
  }
  return table.to_text();
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
  add("MACs", fmt::format("{} ({:.4g})", grouped(totals.macs), totals.macs));
  add("FLOP", fmt::format("{:.4g}", totals.flops));
  add("memory traffic", fmt::format("{}, {:.4g} FLOP/byte", human_bytes(totals.traffic_bytes), totals.intensity));
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

Json operator_json(const LlmOperator& op, double all_flops) {
  const auto count = static_cast<double>(op.count);
  Json json{{"name", name_of(op.name)}, {"kind", name_of(op.kind)}, {"pass", name_of(op.pass)}, {"m", op.m}};
  if (op.is_product()) json["k"] = op.k;
  json["n"] = op.n;
  json["batch"] = op.batch;
  json["count"] = op.count;
  json["macs"] = number(op.total_macs());
  json["flops"] = number(op.total_flops());
  json["bytes"] = number(op.total_bytes());
  json["weight_bytes"] = number(op.weight_bytes * count);
  json["input_bytes"] = number(op.input_bytes * count);
  json["output_bytes"] = number(op.output_bytes * count);
  json["kv_bytes"] = number(op.kv_bytes * count);
  json["link_bytes"] = number(op.link_bytes * count);
  if (op.bytes() > 0) json["intensity_flop_per_byte"] = op.intensity();
  json["flop_share"] = op.total_flops() / all_flops;
  return json;
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
  if (config.has_mla()) {
    json["q_lora_rank"] = config.mla.q_lora_rank;
    json["kv_lora_rank"] = config.mla.kv_lora_rank;
  }
  return json;
}

Json workload_json(const LlmWorkload& workload) {
  Json json{{"phase", phase_name(workload.phase)}, {"batch", workload.batch}};
  json[workload.phase == LlmPhase::kDecode ? "context" : "sequence"] = length_of(workload);
  if (workload.weight_bits_per_value) {
    json["weights"] = "file";
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
  std::string text = headline(analysis) + operator_table(analysis) + "\n" + totals_text(analysis);
  for (const std::string& note : analysis.notes) text += "\nnote: " + note;
  return text + "\n";
}

std::string analysis_csv(const LlmAnalysis& analysis) {
  std::string text =
      "name,kind,pass,m,k,n,batch,count,macs,flops,bytes,weight_bytes,input_bytes,output_bytes,kv_bytes,link_bytes,"
      "intensity_flop_per_byte,flop_share\n";
  for (const LlmOperator& op : analysis.graph) {
    const auto count = static_cast<double>(op.count);
    text += fmt::format("{},{},{},{},{},{},{},{}", name_of(op.name), name_of(op.kind), name_of(op.pass), op.m,
                        size_cell(op.k), op.n, op.batch, op.count);
    for (const double value :
         {op.total_macs(), op.total_flops(), op.total_bytes(), op.weight_bytes * count, op.input_bytes * count,
          op.output_bytes * count, op.kv_bytes * count, op.link_bytes * count}) {
      text += fmt::format(",{:.17g}", value);
    }
    text += op.bytes() > 0 ? fmt::format(",{:.6g}", op.intensity()) : ",";
    text += fmt::format(",{:.6g}\n", op.total_flops() / analysis.totals.flops);
  }
  return text;
}

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
  json["workload"] = workload_json(analysis.workload);
  json["operators"] = Json::array();
  for (const LlmOperator& op : analysis.graph) json["operators"].push_back(operator_json(op, totals.flops));
  json["notes"] = analysis.notes;
  return json;
}

}  // namespace perfcast::ai
