#include "ai/gemm/conv/conv_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ai/gemm/conv/conv_rung.h"
#include "ai/gemm/report/rung_list.h"
#include "base/json.h"
#include "base/report/table.h"
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

// The layers of ResNet-50, in the order of JSON.
ReportTable layer_table() {
  using enum Quantity;
  using Column = ColumnOf<ConvLayer>;
  const auto size = [](const char* name, const char* title, auto ConvShape::*of) {
    return Column(name, title, kCount, [of](const ConvLayer& layer) { return layer.shape.*of; });
  };
  const auto sides = [](const char* title, auto of) {
    return Column("", title, kNumber, [of](const ConvLayer& layer) {
      const auto [height, width] = of(layer.shape);
      return fmt::format("{} x {}", height, width);
    });
  };
  const auto product = [](const char* name, const char* title, auto Shape::*of) {
    return Column(name, title, kCount, [of](const ConvLayer& layer) { return product_of(layer.shape).*of; });
  };
  return table_of<ConvLayer>(
      "", resnet50_layers(),
      {{"layer", "layer", kText, &ConvLayer::name},
       {"layer_count", "count", kCount, &ConvLayer::count},
       size("in_channels", "channels", &ConvShape::in_channels),
       sides("image", [](const ConvShape& shape) { return std::pair(shape.height, shape.width); }),
       size("height", "", &ConvShape::height),
       size("width", "", &ConvShape::width),
       size("out_channels", "to", &ConvShape::out_channels),
       sides("kernel", [](const ConvShape& shape) { return std::pair(shape.kernel_height, shape.kernel_width); }),
       size("kernel_height", "", &ConvShape::kernel_height),
       size("kernel_width", "", &ConvShape::kernel_width),
       size("stride", "stride", &ConvShape::stride),
       size("padding", "", &ConvShape::padding),
       sides("output", [](const ConvShape& shape) { return std::pair(shape.out_height(), shape.out_width()); }),
       product("m", "M", &Shape::m),
       product("n", "N", &Shape::n),
       product("k", "K", &Shape::k),
       {"macs", "MACs", kHuman, macs},
       {"", "share of all", kShare, [](const ConvLayer& layer) { return macs(layer) * layer.count / network_macs(); },
        1}});
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
  return rows_text(rung_list(all_conv_rungs())) +
         fmt::format("\nResNet-50's convolutions, one image of 224 x 224: {} MACs; MACs of one, share of all\n",
                     human_number(network_macs())) +
         rows_text(layer_table());
}

Json conv_list_json() {
  return {{"schema", "perfcast.gemm.conv_rungs/1"},
          {"rungs", rows_json(rung_list(all_conv_rungs()))},
          {"layers", rows_json(layer_table())},
          {"macs", network_macs()}};
}

}  // namespace perfcast::ai::gemm
