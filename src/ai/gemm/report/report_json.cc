#include <cmath>

#include "ai/gemm/report/report.h"
#include "ai/gemm/rung/rung.h"
#include "base/json.h"
#include "base/report/put_known.h"

namespace perfcast::ai::gemm {
namespace {

// The widest instructions at one thread and at the most threads that were measured and have a core each, then every
// loop.
Json peaks_json(const GemmResult& result) {
  Json all = Json::object();
  for (const Precision precision : precisions()) {
    Json entry = Json::object();
    int most = 0;
    for (const Peak& peak : result.peaks) {
      if (peak.precision != precision || peak.device != "cpu") continue;
      if (!result.oversubscribed(peak.device, peak.threads)) most = std::max(most, peak.threads);
    }
    if (most > 0) {
      put_known(entry, "per_core", result.peak("cpu", precision, 1));
      put_known(entry, "total", result.peak("cpu", precision, most));
      entry["total_threads"] = most;
    }
    Json loops = Json::array();
    for (const Peak& peak : result.peaks) {
      if (peak.precision != precision) continue;
      Json loop;
      loop["device"] = peak.device;
      loop["isa"] = peak.isa;
      loop["threads"] = peak.threads;
      put_known(loop, "gflops", peak.gflops);
      put_known(loop, "spread_ratio", peak.spread);
      loops.push_back(std::move(loop));
    }
    if (loops.empty()) continue;
    entry["loops"] = std::move(loops);
    all[std::string(name_of(precision))] = std::move(entry);
  }
  return all;
}

void put_conv(Json& json, const std::optional<ConvLayer>& conv) {
  if (!conv) return;
  const ConvShape& shape = conv->shape;
  if (!conv->name.empty()) {
    json["layer"] = conv->name;
    json["layer_count"] = conv->count;
  }
  json["batch"] = shape.batch;
  json["in_channels"] = shape.in_channels;
  json["height"] = shape.height;
  json["width"] = shape.width;
  json["out_channels"] = shape.out_channels;
  json["kernel_height"] = shape.kernel_height;
  json["kernel_width"] = shape.kernel_width;
  json["stride"] = shape.stride;
  json["padding"] = shape.padding;
}

Json rung_json(const RungResult& row) {
  Json json;
  json["name"] = row.name;
  json["title"] = row.title;
  json["device"] = row.device;
  json["precision"] = name_of(row.precision);
  json["m"] = row.shape.m;
  json["n"] = row.shape.n;
  json["k"] = row.shape.k;
  put_conv(json, row.conv);
  json["threads"] = row.threads;
  put_known(json, "median_s", row.median_s);
  put_known(json, "low_s", row.low_s);
  put_known(json, "high_s", row.high_s);
  put_known(json, "spread_ratio", row.spread);
  put_known(json, "on_cpu_ratio", row.on_cpu);
  json["samples"] = row.samples;
  put_known(json, "gflops", row.gflops);
  put_known(json, "best_gflops", row.best_gflops);
  put_known(json, "peak_share", row.peak_share);
  put_known(json, "isa_share", row.isa_share);
  put_known(json, "speedup", row.speedup);
  json["correct"] = row.correct;
  put_known(json, "relative_error", row.relative_error);
  if (!row.isa.empty()) json["isa"] = row.isa;
  json["kernel"] = row.kernel;
  json["note"] = row.note;
  return json;
}

}  // namespace

Json to_json(const GemmResult& result) {
  Json json;
  json["schema"] = kGemmSchema;
  json["op"] = result.op;
  json["cpu"] = result.cpu;
  json["cores"] = result.cores;
  json["instruction_sets"] = result.isas;
  json["seed"] = result.seed;
  json["peak_gflops"] = peaks_json(result);
  Json bandwidths = Json::array();
  for (const Bandwidth& bandwidth : result.bandwidths) {
    bandwidths.push_back({{"threads", bandwidth.threads},
                          {"read_bytes_per_s", bandwidth.gb_per_s * 1e9},
                          {"array_bytes", bandwidth.array_bytes}});
  }
  json["bandwidth"] = std::move(bandwidths);
  if (result.gpu) {
    Json gpu;
    gpu["name"] = result.gpu->name;
    gpu["driver"] = result.gpu->driver;
    put_known(gpu, "memory_bytes", result.gpu->memory_bytes);
    put_known(gpu, "clock_hz", result.gpu->clock_hz);
    put_known(gpu, "clock_limit_hz", result.gpu->clock_limit_hz);
    put_known(gpu, "power_w", result.gpu->power_w);
    put_known(gpu, "power_limit_w", result.gpu->power_limit_w);
    put_known(gpu, "temperature_c", result.gpu->temperature_c);
    json["gpu"] = std::move(gpu);
  }
  json["rungs"] = Json::array();
  for (const RungResult& row : result.rungs) json["rungs"].push_back(rung_json(row));
  json["skipped"] = Json::array();
  for (const SkippedRung& skipped : result.skipped) {
    json["skipped"].push_back({{"name", skipped.name},
                               {"reason", skipped.reason},
                               {"m", skipped.shape.m},
                               {"n", skipped.shape.n},
                               {"k", skipped.shape.k},
                               {"threads", skipped.threads}});
    put_conv(json["skipped"].back(), skipped.conv);
  }
  json["advice"] = Json::array();
  for (const Advice& advice : result.advice) {
    Json entry;
    entry["change"] = advice.change;
    entry["kind"] = advice.kind;
    entry["m"] = advice.shape.m;
    entry["n"] = advice.shape.n;
    entry["k"] = advice.shape.k;
    put_conv(entry, advice.conv);
    put_known(entry, "before_gflops", advice.before_gflops);
    put_known(entry, "after_gflops", advice.after_gflops);
    put_known(entry, "gain", advice.gain);
    if (!advice.cost.empty()) entry["cost"] = advice.cost;
    json["advice"].push_back(std::move(entry));
  }
  Json noise = Json::object();
  put_known(noise, "load_average", result.noise.load_average);
  put_known(noise, "steal_ratio", result.noise.steal_share);
  put_known(noise, "on_cpu_ratio", result.noise.on_cpu);
  put_known(noise, "peak_spread_ratio", result.noise.peak_spread);
  json["noise"] = std::move(noise);
  json["warnings"] = result.warnings;
  return json;
}

Json rung_list_json() {
  Json json;
  json["schema"] = "perfcast.gemm.rungs/1";
  json["rungs"] = Json::array();
  for (const Rung& rung : all_rungs()) {
    const std::string reason = rung.unavailable ? rung.unavailable() : "";
    Json entry;
    entry["name"] = rung.name;
    entry["title"] = rung.title;
    entry["device"] = rung.device;
    entry["precision"] = name_of(rung.precision);
    entry["threaded"] = rung.threaded;
    if (!reason.empty()) entry["unavailable"] = reason;
    json["rungs"].push_back(std::move(entry));
  }
  return json;
}

}  // namespace perfcast::ai::gemm
