// The accuracy table of GPU operators and whole models, from NeuSight's published measurements:
// `perfcast_neusight_reproduction FOLDER`.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "base/csv.h"
#include "base/file.h"
#include "base/text.h"
#include "workload/latency/gpu_fit.h"
#include "workload/latency/kin.h"
#include "workload/latency/neusight_score.h"

using namespace perfcast;

static std::map<std::string, DeviceFacts> facts(const std::string& folder) {
  auto text = read_file(folder + "/devices.csv");
  auto table = CsvTable::parse(*text, "devices.csv");
  std::map<std::string, DeviceFacts> out;
  const std::map<std::string, std::tuple<double, double, std::string>> more = {
      {"Tesla P4", {16, 75, "pascal"}},
      {"Tesla T4", {12, 70, "turing"}},
      {"Tesla P100-PCIE-16GB", {16, 250, "pascal"}},
      {"Tesla V100-PCIE-32GB", {12, 250, "volta"}},
      {"NVIDIA A100-PCIE-40GB", {7, 250, "ampere"}},
      {"NVIDIA A100 80GB PCIe", {7, 300, "ampere"}},
      {"NVIDIA L4", {5, 72, "ada"}}};
  for (size_t r = 0; r < table->rows(); ++r) {
    DeviceFacts d;
    auto num = [&](const char* c) {
      auto v = *table->number(r, *table->column(c));
      return v ? *v : std::nan("");
    };
    d.name = table->cell(r, *table->column("device"));
    d.vendor = table->cell(r, *table->column("vendor"));
    d.memory_bytes_per_s = num("mem_bw_gbs") * 1e9;
    d.units = num("num_sm");
    d.clock_hz = num("freq_mhz") * 1e6;
    d.l2_bytes = num("l2_mb") * 1e6;
    d.peak_flops[0] = num("single_gflops") * 1e9;
    if (auto it = more.find(d.name); it != more.end()) {
      std::tie(d.process_nm, d.power_w, d.generation) = it->second;
    }
    out[d.name] = d;
  }
  return out;
}

int main(int argc, char** argv) {
  const std::string folder = argv[1];
  auto data = read_neusight(folder);
  if (!data) {
    fmt::print("{}\n", to_text(data.error()));
    return 1;
  }
  auto devices = facts(folder);
  std::vector<GpuModels> fitted;
  for (const char* name :
       {"NVIDIA A100-PCIE-40GB", "Tesla P100-PCIE-16GB", "Tesla V100-PCIE-32GB", "Tesla T4", "Tesla P4"}) {
    GpuModels m;
    m.fitted_on = name;
    m.device = devices[name];
    std::vector<NeusightProduct> lin, bat;
    std::vector<NeusightVector> vec;
    for (auto& p : data->train.products)
      if (p.device == name) (p.shape.weights ? lin : bat).push_back(p);
    for (auto& v : data->train.vectors)
      if (v.device == name) vec.push_back(v);
    auto rates = rates_of(m.device, MathMode::kFp32);
    auto l = fit_products(lin, rates);
    auto b = fit_products(bat, rates);
    auto v = fit_vectors(vec, rates, m.device.clock_hz);
    if (!l || !b || !v) {
      fmt::print("fit failed {}\n", name);
      return 1;
    }
    m.linear = *l;
    m.batched = *b;
    m.vectors = *v;
    fmt::print("{} log error linear {:.3f} bmm {:.3f}\n", name, l->log_error, b->log_error);
    std::fflush(stdout);
    fitted.push_back(m);
  }
  const double kappa = flops_per_joule_16nm(fitted);
  fmt::print("flops per joule at 16 nm {:.3g}\n", kappa);
  auto score = [&](const GpuModels& m) {
    std::string dir = m.device.name;
    for (char& c : dir)
      if (c == ' ') c = '_';
    auto rows = end_to_end(m, data->models, dir);
    double inf = 0, ninf = 0, all = 0, fl = 0;
    for (auto& r : rows) {
      fmt::print("   {} {} {} {:+.3f} floor {:+.3f}\n", r.timed->model, r.timed->training ? "train" : "inf",
                 r.timed->batch, r.error(), r.floor_error());
      if (!r.timed->training) {
        inf += std::abs(r.error());
        ninf += 1;
      }
      all += std::abs(r.error());
      fl += std::abs(r.floor_error());
    }
    fmt::print("{}: inf {:.2f} (n {}) all {:.2f} (n {}) floor {:.2f} neusight {:.2f} sustained {:.3f}\n", dir,
               100 * inf / ninf, ninf, 100 * all / rows.size(), rows.size(), 100 * fl / rows.size(),
               100 * published_error(data->predictions, "neusight", rows), m.sustained);
    std::vector<NeusightProduct> test;
    for (auto& p : data->test.products)
      if (p.device == m.device.name) test.push_back(p);
    for (bool w : {false, true}) {
      auto e = product_errors(m, test, w);
      fmt::print("     {} n {} mae {:.1f} bias {:+.1f} within {:.2f}\n", w ? "linear" : "bmm", e.n, 100 * e.mean_abs,
                 100 * e.bias, e.within_90);
    }
  };
  for (auto& m : fitted) score(m);
  for (const char* name : {"NVIDIA L4", "NVIDIA A100 80GB PCIe"}) {
    auto kin = nearest_kin(devices[name], fitted);
    auto m = carried_to(*kin, devices[name], kappa);
    fmt::print("{} from {}\n", name, kin->fitted_on);
    score(m);
  }
}
