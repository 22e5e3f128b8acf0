#include "ai/gemm/conv/conv_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ai/gemm/conv/conv_rung.h"
#include "base/json.h"
#include "base/text.h"

namespace perfcast::ai::gemm {
namespace {

using Align = TextTable::Align;

double macs(const ConvLayer& layer) { return operations(product_of(layer.shape)) / 2; }

double network_macs() {
  double all = 0;
  for (const ConvLayer& layer : resnet50_layers()) all += macs(layer) * layer.count;
  return all;
}

struct Pass {
  const RungResult* row = nullptr;
  size_t layers = 0;
  double seconds = 0, operations = 0;
};

}  // namespace

std::string network_text(const GemmResult& result) {
  std::vector<ConvLayer> layers;
  for (const RungResult& row : result.rungs) {
    if (!row.conv || row.conv->name.empty()) continue;
    if (std::find(layers.begin(), layers.end(), *row.conv) == layers.end()) layers.push_back(*row.conv);
  }
  if (layers.size() < 2) return "";
  std::vector<Pass> passes;  // in the order of the ladder
  for (const RungResult& row : result.rungs) {
    if (!row.conv || row.conv->name.empty() || std::isnan(row.median_s)) continue;
    auto pass = std::find_if(passes.begin(), passes.end(), [&row](const Pass& known) {
      return known.row->name == row.name && known.row->threads == row.threads;
    });
    if (pass == passes.end()) pass = passes.insert(passes.end(), Pass{&row});
    pass->layers += 1;
    pass->seconds += row.median_s * row.conv->count;
    pass->operations += operations(row.shape) * row.conv->count;
  }
  int count = 0;
  for (const ConvLayer& layer : layers) count += layer.count;
  TextTable table;
  table.add_column("rung", Align::kLeft);
  table.add_column("precision", Align::kLeft);
  for (const char* title : {"threads", "time", "GFLOP/s", "speed-up"}) table.add_column(title, Align::kRight);
  std::erase_if(passes, [&layers](const Pass& pass) { return pass.layers != layers.size(); });
  if (passes.empty()) return "";
  std::vector<double> times_s;
  times_s.reserve(passes.size());
  for (const Pass& pass : passes) times_s.push_back(pass.seconds);
  const std::vector<std::string> times = seconds_column(times_s);
  const double first_s = passes.front().seconds, all = passes.front().operations;
  for (size_t i = 0; i < passes.size(); ++i) {
    const Pass& pass = passes[i];
    table.add_row({pass.row->title, std::string(name_of(pass.row->precision)), std::to_string(pass.row->threads),
                   times[i], fmt::format("{:.3g}", pass.operations / pass.seconds / 1e9),
                   fmt::format("{:.1f}x", first_s / pass.seconds)});
  }
  return fmt::format("\none pass over these {} shapes, {} convolutions, {} MACs, by their medians\n", layers.size(),
                     count, human_number(all / 2)) +
         table.to_text();
}

std::string conv_list_text() {
  TextTable rungs;
  for (const char* title : {"rung", "what", "precision", "threads", "here"}) rungs.add_column(title, Align::kLeft);
  for (const ConvRung& rung : all_conv_rungs()) {
    const std::string reason = rung.unavailable ? rung.unavailable() : "";
    rungs.add_row({rung.name, rung.title, std::string(name_of(rung.precision)), rung.threaded ? "any" : "1",
                   reason.empty() ? "yes" : "no: " + reason});
  }
  TextTable layers;
  layers.add_column("layer", Align::kLeft);
  for (const char* title :
       {"count", "channels", "image", "to", "kernel", "stride", "output", "M", "N", "K", "MACs", "share of all"}) {
    layers.add_column(title, Align::kRight);
  }
  for (const ConvLayer& layer : resnet50_layers()) {
    const ConvShape& shape = layer.shape;
    const Shape product = product_of(shape);
    layers.add_row({layer.name, std::to_string(layer.count), std::to_string(shape.in_channels),
                    fmt::format("{} x {}", shape.height, shape.width), std::to_string(shape.out_channels),
                    fmt::format("{} x {}", shape.kernel_height, shape.kernel_width), std::to_string(shape.stride),
                    fmt::format("{} x {}", shape.out_height(), shape.out_width()), std::to_string(product.m),
                    std::to_string(product.n), std::to_string(product.k), human_number(macs(layer)),
                    fmt::format("{:.1f}%", 100 * macs(layer) * layer.count / network_macs())});
  }
  return rungs.to_text() +
         fmt::format("\nResNet-50's convolutions, one image of 224 x 224: {} MACs; MACs of one, share of all\n",
                     human_number(network_macs())) +
         layers.to_text();
}

Json conv_list_json() {
  Json json;
  json["schema"] = "perfcast.gemm.conv_rungs/1";
  json["rungs"] = Json::array();
  for (const ConvRung& rung : all_conv_rungs()) {
    const std::string reason = rung.unavailable ? rung.unavailable() : "";
    Json entry = {{"name", rung.name},
                  {"title", rung.title},
                  {"device", rung.device},
                  {"precision", name_of(rung.precision)},
                  {"threaded", rung.threaded}};
    if (!reason.empty()) entry["unavailable"] = reason;
    json["rungs"].push_back(std::move(entry));
  }
  json["layers"] = Json::array();
  for (const ConvLayer& layer : resnet50_layers()) {
    const ConvShape& shape = layer.shape;
    const Shape product = product_of(shape);
    json["layers"].push_back({{"layer", layer.name},
                              {"layer_count", layer.count},
                              {"in_channels", shape.in_channels},
                              {"height", shape.height},
                              {"width", shape.width},
                              {"out_channels", shape.out_channels},
                              {"kernel_height", shape.kernel_height},
                              {"kernel_width", shape.kernel_width},
                              {"stride", shape.stride},
                              {"padding", shape.padding},
                              {"m", product.m},
                              {"n", product.n},
                              {"k", product.k},
                              {"macs", macs(layer)}});
  }
  json["macs"] = network_macs();
  return json;
}

}  // namespace perfcast::ai::gemm
