#include "ai/gemm/run/task.h"

#include <charconv>

#include "ai/gemm/conv/conv_task.h"
#include "base/json.h"
#include "base/text.h"
#if defined(PERFCAST_HAVE_CUDA)
#include "ai/gemm/cuda/cuda_rungs.h"
#endif
#include "ai/gemm/run/gemm_task.h"
#include "ai/gemm/run/limit_tasks.h"

namespace perfcast::ai::gemm {

Json to_json(const TaskSpec& spec) {
  Json json;
  json["op"] = spec.op;
  json["rung"] = spec.rung;
  json["sizes"] = spec.sizes;
  json["threads"] = spec.threads;
  json["seed"] = std::to_string(spec.seed);  // all 64 bits
  return json;
}

Result<TaskSpec> task_spec_from(const Json& json) {
  JsonReader in(json, "spec");
  TaskSpec spec;
  spec.op = in.string("op");
  spec.rung = in.string("rung");
  spec.threads = static_cast<int>(in.integer("threads"));
  const std::string seed = in.string("seed");
  if (const Json* sizes = in.require_array("sizes")) {
    for (const Json& size : *sizes) {
      if (size.is_number_integer() && spec.sizes.size() < 16) {
        spec.sizes.push_back(size.get<int64_t>());
      } else {
        in.complain("sizes", size.dump(), "up to 16 whole numbers");
      }
    }
  }
  if (const auto status = in.finish(); !status) return status.error();
  if (spec.threads < 1 || spec.threads > 4096) {
    return Error{"bad-json-field", "threads is out of range", "spec", "1 to 4096"};
  }
  const auto [end, problem] = std::from_chars(seed.data(), seed.data() + seed.size(), spec.seed);
  if (problem != std::errc() || end != seed.data() + seed.size()) {
    return Error{"bad-json-field", "seed is no number", "spec", "a whole number"};
  }
  return spec;
}

Result<std::unique_ptr<Task>> make_task(const TaskSpec& spec) {
  if (spec.op == "gemm") return make_gemm_task(spec);
  if (spec.op == "conv") return make_conv_task(spec);
  if (spec.op == "peak") return make_peak_task(spec);
  if (spec.op == "read") return make_read_task(spec);
#if defined(PERFCAST_HAVE_CUDA)
  if (spec.op == "cuda-peak") return make_cuda_peak_task(spec);
#endif
  return Error{"unknown-task", "there is no family of tasks '" + printable(spec.op) + "'", "op",
               "gemm, conv, peak, read"};
}

}  // namespace perfcast::ai::gemm
