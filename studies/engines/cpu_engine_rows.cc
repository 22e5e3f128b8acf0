#include "studies/engines/cpu_engine_rows.h"

#include <fmt/format.h>

#include <map>
#include <optional>

#include "ai/engine/engine_step.h"
#include "ai/llm/model_catalogue.h"
#include "ai/llm_forecast/cpu_work.h"
#include "base/text.h"

namespace perfcast::ai::engines_study {
namespace {

struct KnownModel {
  LlmWork work;
  bool sorts = false;
};

std::optional<KnownModel> known_model(const std::string& name) {
  const auto config = built_in_model(name);
  if (!config) return std::nullopt;
  auto work = cpu_work_of(*config, Precision::kBf16);
  if (!work) return std::nullopt;
  return KnownModel{std::move(*work), sampler_defaults(*config).truncates};
}

}  // namespace

CpuEngineRows cpu_engine_rows(const std::vector<VllmPoint>& points, const std::vector<TokenServer>& servers) {
  std::map<std::pair<std::string, std::string>, const TokenServer*> server_of;
  for (const TokenServer& server : servers) server_of.emplace(std::pair(server.vendor, server.name), &server);
  std::map<std::string, std::optional<KnownModel>> models;
  std::map<std::string, int64_t> left_out;
  CpuEngineRows result;
  for (const VllmPoint& point : points) {
    const auto found = models.find(point.model);
    const auto& model = found != models.end() ? found->second : models[point.model] = known_model(point.model);
    const auto server = server_of.find({point.vendor, point.server});
    const bool is_bf16 = point.precision == "bfloat16", is_fp16 = point.precision == "float16";
    std::string why;
    if (!model) {
      why = "no language model is called '" + printable(point.model) + "'";
    } else if (server == server_of.end()) {
      why = "no facts of the server";
    } else if (!is_bf16 && !is_fp16) {
      why = "precision '" + printable(point.precision) + "'";
    } else if (!has_bandwidth(server->second->facts)) {
      why = "no measured bandwidth of the server";
    } else {
      CpuEngineRow row = cpu_engine_row(point, *server->second, model->work,
                                        is_bf16 ? Precision::kBf16 : Precision::kFp16, model->sorts);
      why = why_another_machine(point, row);
      if (why.empty()) {
        result.rows.push_back(std::move(row));
        result.from.push_back(static_cast<size_t>(&point - points.data()));
      }
    }
    if (!why.empty()) ++left_out[why];
  }
  mark_starts(result.rows);
  for (const auto& [why, count] : left_out) {
    result.notes.push_back(fmt::format("left out: {} single streams on CPUs, {}", count, why));
  }
  return result;
}

}  // namespace perfcast::ai::engines_study
