#include "ai/latency/model/gpu_bundle.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "ai/latency/model/kin.h"
#include "base/json.h"

namespace perfcast::ai {
namespace {

constexpr size_t kMostGpus = 1000, kMostKernels = 1000, kMostNodes = 1000000;
constexpr double kMostFact = 1e18, kMostError = 10;

Json facts_json(const DeviceFacts& device) {
  Json json;
  json["name"] = device.name;
  json["vendor"] = device.vendor;
  json["generation"] = device.generation;
  const auto put = [&](const char* key, double value) {
    if (std::isfinite(value)) json[key] = value;
  };
  put("process_nm", device.process_nm);
  put("memory_bytes", device.memory_bytes);
  put("memory_bytes_per_s", device.memory_bytes_per_s);
  put("l2_bytes", device.l2_bytes);
  put("units", device.units);
  put("clock_hz", device.clock_hz);
  put("power_w", device.power_w);
  put("fp32_flop_per_s", device.peak(MathMode::kFp32));
  return json;
}

template <size_t kTerms, typename Info>
Json terms_json(const std::array<double, kTerms>& terms, const std::array<Info, kTerms>& infos) {
  Json json;
  for (size_t i = 0; i < kTerms; ++i) json[std::string(infos[i].name)] = terms[i];
  return json;
}

Json products_json(const ProductModel& model) {
  Json json;
  json["log_error"] = model.log_error;
  json["kernels"] = Json::array();
  for (const TileKernel& kernel : model.kernels) {
    Json one;
    one["tile_m"] = kernel.tile_m;
    one["tile_n"] = kernel.tile_n;
    one["terms"] = terms_json(kernel.terms, tile_terms());
    json["kernels"].push_back(std::move(one));
  }
  json["classes"] = Json::array();
  for (const KernelClass& kind : model.classes) json["classes"].push_back(Json::array({kind.kernel, kind.split_k}));
  // A node: feature, threshold, left, right; a leaf: its class shares.
  json["nodes"] = Json::array();
  for (const TileChoice::Node& node : model.choice.nodes()) {
    if (node.feature >= 0) {
      json["nodes"].push_back(Json::array({node.feature, node.threshold, node.left, node.right}));
      continue;
    }
    Json leaf = Json::array();
    for (int32_t i = 0; i < node.shares; ++i) {
      const ClassShare& share = model.choice.shares()[static_cast<size_t>(node.first_share) + static_cast<size_t>(i)];
      leaf.push_back(Json::array({share.class_index, share.probability}));
    }
    Json wrapped;
    wrapped["shares"] = std::move(leaf);
    json["nodes"].push_back(std::move(wrapped));
  }
  return json;
}

constexpr std::array<std::pair<const char*, VectorModel VectorModels::*>, 5> kVectorParts = {{
    {"unary", &VectorModels::unary},
    {"binary", &VectorModels::binary},
    {"short_softmax", &VectorModels::short_softmax},
    {"long_softmax", &VectorModels::long_softmax},
    {"norm", &VectorModels::norm},
}};

constexpr std::array<const char*, kVectorKinds> kVectorErrors = {"unary", "binary", "softmax", "norm", "copy"};

// Names and places of the numbers of one set.
std::vector<std::pair<std::string, double*>> errors_of(CarriedErrors& errors) {
  std::vector<std::pair<std::string, double*>> all = {{"linear", &errors.linear}, {"batched", &errors.batched}};
  for (size_t i = 0; i < kVectorKinds; ++i) all.emplace_back(kVectorErrors[i], &errors.vector[i]);
  all.emplace_back("whole_model", &errors.whole_model);
  return all;
}

// Empty where nothing is known.
Json carried_json(CarriedErrors errors) {
  Json json = Json::object();
  for (const auto& [name, value] : errors_of(errors)) {
    if (std::isfinite(*value)) json[name] = *value;
  }
  return json;
}

Error bad(const std::string& where, std::string found, std::string expected) {
  return {"bad-gpu-bundle", std::move(found), where, std::move(expected)};
}

// A number of an object inside [least, most].
Result<double> ranged(JsonReader& in, const char* key, double least, double most) {
  const double value = in.number(key);
  if (const Status read = in.finish(); !read) return read.error();
  if (value < least || value > most) {
    return bad(in.path(), fmt::format("{} is {}", key, value), fmt::format("from {} to {}", least, most));
  }
  return value;
}

template <size_t kTerms, typename Info>
Result<std::array<double, kTerms>> parse_terms(const Json& json, const std::string& path,
                                               const std::array<Info, kTerms>& infos) {
  JsonReader in(json, path);
  std::array<double, kTerms> terms{};
  constexpr double kRounding = 1e-9;
  for (size_t i = 0; i < kTerms; ++i) {
    const auto value = ranged(in, std::string(infos[i].name).c_str(), infos[i].least * (1 - kRounding),
                              infos[i].most * (1 + kRounding));
    if (!value) return value.error();
    terms[i] = *value;
  }
  return terms;
}

Result<DeviceFacts> parse_facts(const Json& json, const std::string& path) {
  JsonReader in(json, path);
  DeviceFacts device;
  device.name = in.string("name");
  device.vendor = in.string("vendor");
  device.generation = in.string("generation");
  const std::pair<const char*, double*> needed[] = {{"memory_bytes_per_s", &device.memory_bytes_per_s},
                                                    {"l2_bytes", &device.l2_bytes},
                                                    {"units", &device.units},
                                                    {"clock_hz", &device.clock_hz},
                                                    {"fp32_flop_per_s", &device.peak_flops[0]}};
  for (const auto& [key, into] : needed) {
    const auto value = ranged(in, key, 1, kMostFact);
    if (!value) return value.error();
    *into = *value;
  }
  const std::pair<const char*, double*> optional[] = {
      {"process_nm", &device.process_nm}, {"power_w", &device.power_w}, {"memory_bytes", &device.memory_bytes}};
  for (const auto& [key, into] : optional) {
    if (const auto value = in.optional_number(key)) {
      if (!(*value > 0) || *value > kMostFact) return bad(path, fmt::format("{} is {}", key, *value), "above 0");
      *into = *value;
    }
  }
  if (const Status read = in.finish(); !read) return read.error();
  return device;
}

Result<CarriedErrors> parse_carried(const Json& json, const std::string& path) {
  JsonReader in(json, path);
  CarriedErrors errors;
  for (const auto& [name, into] : errors_of(errors)) {
    if (!json.contains(name)) continue;
    const auto value = ranged(in, name.c_str(), 0, kMostError);
    if (!value) return value.error();
    *into = *value;
  }
  return errors;
}

// A whole number in [least, most], or -1.
int64_t whole(const Json& json, int64_t least, int64_t most) {
  if (!json.is_number()) return -1;
  const auto value = json.get<double>();
  if (!(value >= static_cast<double>(least)) || !(value <= static_cast<double>(most)) || value != std::floor(value)) {
    return -1;
  }
  return static_cast<int64_t>(value);
}

Result<ProductModel> parse_products(const Json& json, const std::string& path) {
  JsonReader in(json, path);
  ProductModel model;
  const auto error = ranged(in, "log_error", 0, kMostError);
  if (!error) return error.error();
  model.log_error = *error;
  const Json* kernels = in.require_array("kernels");
  const Json* classes = in.require_array("classes");
  const Json* nodes = in.require_array("nodes");
  if (const Status read = in.finish(); !read) return read.error();
  if (kernels->empty() || kernels->size() > kMostKernels || classes->size() > kMostKernels ||
      nodes->size() > kMostNodes) {
    return bad(path, fmt::format("{} kernels, {} classes, {} nodes", kernels->size(), classes->size(), nodes->size()),
               fmt::format("1 to {} kernels and classes, at most {} nodes", kMostKernels, kMostNodes));
  }
  for (size_t i = 0; i < kernels->size(); ++i) {
    const std::string where = fmt::format("{}.kernels[{}]", path, i);
    JsonReader one((*kernels)[i], where);
    TileKernel kernel;
    for (const auto& [key, into] : {std::pair("tile_m", &kernel.tile_m), std::pair("tile_n", &kernel.tile_n)}) {
      const auto tile = ranged(one, key, 1, 4096);
      if (!tile) return tile.error();
      *into = *tile;
    }
    const Json* terms = one.require_object("terms");
    if (const Status read = one.finish(); !read) return read.error();
    const auto parsed = parse_terms(*terms, where + ".terms", tile_terms());
    if (!parsed) return parsed.error();
    kernel.terms = *parsed;
    model.kernels.push_back(kernel);
  }
  for (const Json& kind : *classes) {
    const bool pair = kind.is_array() && kind.size() == 2;
    const int64_t kernel = pair ? whole(kind[0], 0, static_cast<int64_t>(model.kernels.size()) - 1) : -1;
    const int64_t split = pair ? whole(kind[1], 1, 1024) : -1;
    if (kernel < 0 || split < 0) return bad(path + ".classes", "a class is no [kernel, parts of k]", "both in range");
    model.classes.push_back({static_cast<int32_t>(kernel), static_cast<double>(split)});
  }
  std::vector<TileChoice::Node> tree;
  std::vector<ClassShare> shares;
  const auto most = static_cast<int64_t>(kMostNodes);
  for (const Json& node : *nodes) {
    TileChoice::Node out;
    if (node.is_array() && node.size() == 4 && node[1].is_number()) {
      out.feature = static_cast<int32_t>(whole(node[0], 0, static_cast<int64_t>(kChoiceFeatures) - 1));
      out.threshold = node[1].get<double>();
      out.left = static_cast<int32_t>(whole(node[2], 0, most));
      out.right = static_cast<int32_t>(whole(node[3], 0, most));
      if (out.feature < 0) return bad(path + ".nodes", "a node splits on no known feature", "a feature's number");
    } else if (node.is_object() && node.contains("shares") && node["shares"].is_array()) {
      out.first_share = static_cast<int32_t>(shares.size());
      for (const Json& share : node["shares"]) {
        const bool pair = share.is_array() && share.size() == 2 && share[1].is_number();
        const int64_t index = pair ? whole(share[0], 0, static_cast<int64_t>(model.classes.size()) - 1) : -1;
        if (index < 0) return bad(path + ".nodes", "a leaf's share is no [class, probability]", "both in range");
        shares.push_back({static_cast<int32_t>(index), share[1].get<double>()});
      }
      out.shares = static_cast<int32_t>(shares.size()) - out.first_share;
    } else {
      return bad(path + ".nodes", "a node is neither a split nor a leaf",
                 "[feature, threshold, left, right] or {\"shares\": ...}");
    }
    tree.push_back(out);
  }
  if (!TileChoice::valid(tree, shares, static_cast<int32_t>(model.classes.size()))) {
    return bad(path + ".nodes", "the tree has a circle, an empty leaf or a probability out of range",
               "children behind their parents, shares in (0, 1]");
  }
  model.choice = TileChoice(std::move(tree), std::move(shares));
  return model;
}

Result<VectorModels> parse_vectors(const Json& json, const std::string& path) {
  VectorModels models;
  JsonReader in(json, path);
  for (const auto& [name, member] : kVectorParts) {
    const Json* part = in.require_object(name);
    if (const Status read = in.finish(); !read) return read.error();
    const std::string where = path + "." + name;
    JsonReader one(*part, where);
    VectorModel model;
    const auto passes = ranged(one, "passes", 0.5, 100);
    if (!passes) return passes.error();
    const auto rows = ranged(one, "row_shape", 0, 2);
    if (!rows) return rows.error();
    const auto error = ranged(one, "log_error", 0, kMostError);
    if (!error) return error.error();
    const Json* terms = one.require_object("terms");
    if (const Status read = one.finish(); !read) return read.error();
    const auto parsed = parse_terms(*terms, where + ".terms", vector_terms());
    if (!parsed) return parsed.error();
    model.passes = *passes;
    model.rows = static_cast<RowShape>(static_cast<int>(*rows));
    model.log_error = *error;
    model.terms = *parsed;
    models.*member = model;
  }
  return models;
}

Result<GpuModels> parse_device(const Json& json, const std::string& path) {
  JsonReader in(json, path);
  const Json* facts = in.require_object("device");
  const Json* linear = in.object("linear");
  const Json* batched = in.object("batched");
  const Json* vectors = in.require_object("vectors");
  if (const Status read = in.finish(); !read) return read.error();
  GpuModels models;
  const auto device = parse_facts(*facts, path + ".device");
  if (!device) return device.error();
  models.device = *device;
  models.fitted_on = device->name;
  if ((linear == nullptr) != (batched == nullptr)) {
    return bad(path, "only one of linear and batched is there", "both, or neither");
  }
  if (linear) {
    auto parsed = parse_products(*linear, path + ".linear");
    if (!parsed) return parsed.error();
    models.linear = std::move(*parsed);
    parsed = parse_products(*batched, path + ".batched");
    if (!parsed) return parsed.error();
    models.batched = std::move(*parsed);
  }
  const auto parsed = parse_vectors(*vectors, path + ".vectors");
  if (!parsed) return parsed.error();
  models.vectors = *parsed;
  return models;
}

}  // namespace

std::string gpu_bundle_text(const GpuBundle& bundle) {
  Json head;
  head["schema"] = kGpuBundleSchema;
  head["card"] = bundle.card;
  head["flop_per_joule_at_16nm"] = bundle.flops_per_joule_16nm;
  const std::pair<const char*, const CarriedErrors*> carried[] = {{"log_error_carried_over", &bundle.carried},
                                                                  {"log_error_calibrated", &bundle.calibrated}};
  for (const auto& [name, errors] : carried) {
    if (Json json = carried_json(*errors); !json.empty()) head[name] = std::move(json);
  }
  std::string text = head.dump();
  text.pop_back();
  // One device a line: a change of one shows as one.
  text += ",\"fitted\":[";
  for (size_t i = 0; i < bundle.fitted.size(); ++i) {
    const GpuModels& models = bundle.fitted[i];
    Json device;
    device["device"] = facts_json(models.device);
    if (models.has_products()) {
      device["linear"] = products_json(models.linear);
      device["batched"] = products_json(models.batched);
    }
    for (const auto& [name, member] : kVectorParts) {
      const VectorModel& model = models.vectors.*member;
      Json part;
      part["row_shape"] = static_cast<int>(model.rows);
      part["passes"] = model.passes;
      part["log_error"] = model.log_error;
      part["terms"] = terms_json(model.terms, vector_terms());
      device["vectors"][name] = std::move(part);
    }
    text += (i ? ",\n" : "\n") + device.dump();
  }
  return text + "\n]}\n";
}

Result<GpuBundle> parse_gpu_bundle(std::string_view text, const std::string& source) {
  const auto json = parse_json(text, source);
  if (!json) return json.error();
  JsonReader in(*json, source);
  const std::string schema = in.string("schema");
  GpuBundle bundle;
  bundle.card = in.strings("card");
  bundle.flops_per_joule_16nm = in.number("flop_per_joule_at_16nm");
  const Json* fitted = in.require_array("fitted");
  const Json* carried = in.object("log_error_carried_over");
  const Json* calibrated = in.object("log_error_calibrated");
  if (const Status read = in.finish(); !read) return read.error();
  for (const auto& [errors, into] : {std::pair(carried, &bundle.carried), std::pair(calibrated, &bundle.calibrated)}) {
    if (!errors) continue;
    auto parsed = parse_carried(*errors, source);
    if (!parsed) return parsed.error();
    *into = *parsed;
  }
  if (schema != kGpuBundleSchema) return bad(source, fmt::format("schema is '{}'", schema), kGpuBundleSchema);
  if (bundle.flops_per_joule_16nm < 0 || bundle.flops_per_joule_16nm > kMostFact) {
    return bad(source, "flop_per_joule_at_16nm is out of range", "0 or more");
  }
  if (fitted->size() > kMostGpus) return bad(source, "too many devices", fmt::format("{}", kMostGpus));
  for (size_t i = 0; i < fitted->size(); ++i) {
    auto models = parse_device((*fitted)[i], fmt::format("{}.fitted[{}]", source, i));
    if (!models) return models.error();
    bundle.fitted.push_back(std::move(*models));
  }
  return bundle;
}

double DeviceModels::product_log_error(bool weights) const {
  const double own = (weights ? models.linear : models.batched).log_error;
  if (products_measured) return own;
  const double left_out = carried.product(weights);
  return std::isfinite(left_out) ? left_out : std::hypot(own, kAssumedCarriedError);
}

double DeviceModels::vector_log_error(const VectorShape& shape) const {
  const double own = models.vectors.of(shape.kind, shape.columns).log_error;
  if (vectors_measured) return own;
  const double left_out = carried.vector[static_cast<size_t>(shape.kind)];
  return std::isfinite(left_out) ? left_out : std::hypot(own, kAssumedCarriedError);
}

Result<DeviceModels> models_of(const GpuBundle& bundle, const DeviceFacts& device) {
  const std::pair<const char*, double> needed[] = {{"memory_bytes_per_s", device.memory_bytes_per_s},
                                                   {"l2_bytes", device.l2_bytes},
                                                   {"units", device.units},
                                                   {"clock_hz", device.clock_hz},
                                                   {"peak in fp32", device.peak(MathMode::kFp32)}};
  for (const auto& [name, value] : needed) {
    if (!(value > 0)) {
      return Error{"missing-fact", fmt::format("{} of {} isn't known", name, device.name), device.name,
                   "a device file that states it"};
    }
  }
  const auto is_it = [&](const GpuModels& models) {
    return models.fitted_on == device.name ||
           std::find(device.aliases.begin(), device.aliases.end(), models.fitted_on) != device.aliases.end();
  };
  const auto own = std::find_if(bundle.fitted.begin(), bundle.fitted.end(), is_it);
  const bool measured = own != bundle.fitted.end();
  DeviceModels out;
  out.carried = bundle.carried;
  out.calibrated = bundle.calibrated;
  if (measured && own->has_products()) {
    out.models = *own;
    out.products_measured = out.vectors_measured = true;
    out.products_from = out.vectors_from = own->fitted_on;
    return out;
  }
  const GpuModels* kin = nearest_kin(device, bundle.fitted);
  if (!kin) return Error{"no-kin", "the bundle has no models of products", device.name, "a bundle with one"};
  out.models = carried_to(*kin, device, bundle.flops_per_joule_16nm);
  out.products_from = out.vectors_from = kin->fitted_on;
  if (measured) {
    out.models.vectors = own->vectors;
    out.vectors_measured = true;
    out.vectors_from = own->fitted_on;
  }
  return out;
}

}  // namespace perfcast::ai
