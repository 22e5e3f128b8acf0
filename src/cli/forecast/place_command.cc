// perfcast place: one workload on CPUs, GPUs, TPUs and other ASICs side by side.

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>

#include "ai/latency/model/device_catalogue.h"
#include "base/csv.h"
#include "base/file.h"
#include "base/json.h"
#include "base/process/duration.h"
#include "base/text.h"
#include "base/unknown.h"
#include "cli/ai/llm_command.h"
#include "cli/ai/llm_engine.h"
#include "cli/choices.h"
#include "cli/command.h"
#include "cli/forecast/place_inputs.h"
#include "cli/option_table.h"
#include "cli/shared/energy_options.h"
#include "cli/shared/forecast_input.h"
#include "cli/shared/named_file.h"
#include "cli/shared/price_options.h"
#include "cli/shared/table_options.h"
#include "place/workload/break_even.h"
#include "place/workload/place_llm.h"
#include "place/workload/place_profile.h"
#include "place/workload/placement.h"
#include "place/workload/placement_figure.h"
#include "program/forecast/number_text.h"

namespace perfcast::cli {
namespace {

constexpr size_t kPlaceRows = 20;
constexpr int64_t kMostBatch = 65536;
constexpr double kLeastLink_bytes_per_s = 1e6;

using Pairs = std::vector<std::pair<std::string, double>>;

struct PlaceArguments {
  std::string workload, device_file, svg, break_even, host;
  std::vector<std::string> kinds, devices, measured, prices, powers;
  std::string most_latency, most_energy;
  PriceArguments price_list;
  place::PlacementWishes::Sort sort = place::PlacementWishes::Sort::kTime;
  std::optional<double> budget, host_link_bytes_per_s, link_bytes_per_s, vcpus;
  ai::WorkloadFormats precision;
  EngineArguments engine;
  int64_t batch = 1, output_tokens = 128, tensor_parallel = 0;
  std::optional<int64_t> sequence;
  EnergyOptions energy;
  bool graph_launch = false, count_load = false, resident = false, all = false, accept_failure = false;
};

// DEVICE=2.5, DEVICE=40ms.
Result<Pairs> measured_times(const std::vector<std::string>& given) {
  Pairs pairs;
  pairs.reserve(given.size());
  for (const std::string& text : given) {
    const size_t equals = text.rfind('=');
    const std::string name(equals == std::string::npos ? "" : trim(text.substr(0, equals)));
    const auto time_s = parse_duration_s(name.empty() ? "" : trim(std::string_view(text).substr(equals + 1)), "");
    if (!time_s) {
      return usage_error("bad-usage", "'" + printable(text) + "' gives no time above 0", "--measured",
                         "DEVICE=TIME, such as L4=2.5 for seconds, or L4=40ms");
    }
    pairs.emplace_back(name, *time_s);
  }
  return pairs;
}

// DEVICE=NUMBER; a number alone, where one may be of all rows.
Result<Pairs> pairs_of(const std::vector<std::string>& given, const char* option, bool of_all) {
  Pairs pairs;
  pairs.reserve(given.size());
  for (const std::string& text : given) {
    const size_t equals = text.rfind('=');
    const bool alone = equals == std::string::npos;
    const auto value = parse_number(trim(alone ? text : text.substr(equals + 1)));
    const std::string name(alone ? "" : trim(text.substr(0, equals)));
    if (!value || !(*value > 0) || (name.empty() && !(alone && of_all))) {
      return usage_error("bad-usage", "'" + printable(text) + "' gives no number above 0", option,
                         of_all ? "DEVICE=NUMBER, or a number for all rows" : "DEVICE=NUMBER");
    }
    pairs.emplace_back(name, *value);
  }
  return pairs;
}

Result<place::PlacementWishes> wishes_of(const PlaceArguments& arguments) {
  place::PlacementWishes wishes;
  for (const auto& [given, option, expected] :
       {std::tuple{&arguments.kinds, "--kinds", "some of: cpu, gpu, tpu, asic"},
        {&arguments.devices, "--device", "parts of names, such as h100,epyc"}}) {
    if (!given->empty() && list_of(*given).empty())
      return usage_error("bad-usage", "it names nothing", option, expected);
  }
  for (const std::string& name : list_of(arguments.kinds)) {
    const auto kind = place::place_kind_named(name);
    if (!kind) {
      return usage_error("bad-usage", "there is no kind '" + printable(name) + "'", "--kinds",
                         "some of: cpu, gpu, tpu, asic");
    }
    wishes.kinds.push_back(*kind);
  }
  wishes.filters = list_of(arguments.devices);
  wishes.sort = arguments.sort;
  wishes.most_cost = arguments.budget;
  if (!arguments.most_latency.empty()) {
    const auto most_s = parse_duration_s(arguments.most_latency, "--max-latency");
    if (!most_s) return most_s.error();
    wishes.most_s = *most_s;
  }
  if (!arguments.most_energy.empty()) {
    wishes.most_joules = joules_in_words(arguments.most_energy);
    if (!wishes.most_joules || !(*wishes.most_joules > 0)) {
      return usage_error("bad-usage", "'" + printable(arguments.most_energy) + "' is no energy above 0", "--max-energy",
                         "such as 600J, 1.2kJ, 3Wh, or 600 for joules");
    }
  }
  auto measured_s = measured_times(arguments.measured);
  if (!measured_s) return measured_s.error();
  wishes.measured_s = *std::move(measured_s);
  const struct {
    const std::vector<std::string>& given;
    const char* option;
    bool of_all;
    Pairs& taken;
  } values[] = {{arguments.powers, "--power-w", false, wishes.powers_w},
                {arguments.prices, "--price", true, wishes.prices_per_hour}};
  for (const auto& each : values) {
    auto pairs = pairs_of(each.given, each.option, each.of_all);
    if (!pairs) return pairs.error();
    each.taken = *std::move(pairs);
  }
  for (const auto& [value, option] : {std::pair{arguments.budget, "--max-cost"},
                                      {arguments.link_bytes_per_s, "--link-bytes-per-s"},
                                      {arguments.host_link_bytes_per_s, "--host-link"}}) {
    if (value && !(*value > 0)) return usage_error("bad-usage", "a number that is not above 0", option, "above 0");
  }
  // In GB/s or MB/s every transfer would take hours, and no row would say why.
  for (const auto& [value, option] : {std::pair{arguments.link_bytes_per_s, "--link-bytes-per-s"},
                                      {arguments.host_link_bytes_per_s, "--host-link"}}) {
    if (!value || *value >= kLeastLink_bytes_per_s) continue;
    return usage_error("bad-usage", "no link is as slow as " + program::in_unit(*value, "bytes/s"), option,
                       "bytes per second, such as 3.15e10 for PCI Express 4.0 with 16 lanes");
  }
  return wishes;
}

Result<std::optional<std::pair<std::string, std::string>>> named_pair_of(const std::string& text) {
  using Pair = std::optional<std::pair<std::string, std::string>>;
  if (text.empty()) return Pair();
  const size_t comma = text.find(',');
  if (comma == std::string::npos || text.find(',', comma + 1) != std::string::npos) {
    return usage_error("bad-usage", "'" + printable(text) + "' names no two rows", "--break-even", "A,B");
  }
  return Pair(std::pair(std::string(trim(text.substr(0, comma))), std::string(trim(text.substr(comma + 1)))));
}

bool wants(const place::PlacementWishes& wishes, place::PlaceKind kind) {
  return wishes.kinds.empty() || std::find(wishes.kinds.begin(), wishes.kinds.end(), kind) != wishes.kinds.end();
}

bool wants_accelerators(const place::PlacementWishes& wishes) {
  return wants(wishes, place::PlaceKind::kGpu) || wants(wishes, place::PlaceKind::kTpu) ||
         wants(wishes, place::PlaceKind::kAsic);
}

// What rows are made of.
struct Hardware {
  std::vector<place::PlaceDevice> devices;
  std::vector<place::PlaceCpu> cpus;
  ai::TokenBundle tokens;
  std::optional<program::PriceList> prices;
};

Result<Hardware> hardware_of(const PlaceArguments& arguments, const place::PlacementWishes& wishes, bool with_clocks,
                             const CommonOptions& options) {
  Hardware hardware;
  auto prices = read_prices(arguments.price_list);
  if (!prices) return prices.error();
  hardware.prices = *std::move(prices);
  if (wants_accelerators(wishes) || !arguments.device_file.empty()) {
    auto devices = place_devices(arguments.device_file);
    if (!devices) return devices.error();
    hardware.devices = *std::move(devices);
  }
  if (!wants(wishes, place::PlaceKind::kCpu)) return hardware;
  auto tokens = ai::read_token_bundle(shipped_file("bundles/cpu-tokens.json"));
  if (!tokens) return tokens.error();
  hardware.tokens = *std::move(tokens);
  CpuChoice choice;
  choice.vcpus = arguments.vcpus.value_or(kUnknown);
  choice.with_clocks = with_clocks;
  choice.prices = hardware.prices ? &*hardware.prices : nullptr;
  choice.wanted = unclaimed_names(wishes.filters, hardware.devices, hardware.tokens.cpus);
  program::ForecastRequest energy;
  if (Status taken = take_energy_options(arguments.energy, energy); !taken) return taken.error();
  if (energy.energy) choice.powers = &energy.energy->table;
  auto cpus = place_cpus(hardware.tokens, choice, options);
  if (!cpus) {
    Error error = cpus.error();
    if (error.code == "bad-vcpus") error.where = "--vcpus";
    return error;
  }
  hardware.cpus = *std::move(cpus);
  return hardware;
}

// Prices, wishes and break-evens: what all workloads have in common.
Result<place::Placement> finished(const PlaceArguments& arguments, const place::PlacementWishes& wishes,
                                  const std::optional<program::PriceList>& prices, place::Placement placement,
                                  const place::TimeAtSize& time, int64_t present, int64_t most) {
  const auto pair = named_pair_of(arguments.break_even);
  if (!pair) return pair.error();
  if (prices) place::take_prices(*prices, placement);
  if (placement.currency.empty() && !wishes.prices_per_hour.empty()) placement.currency = "USD";
  if (Status status = place::finish_placement(wishes, placement); !status) return status.error();
  if (!time) return placement;
  auto crossings = place::find_break_even(placement, time, *pair, present, most);
  if (!crossings) return crossings.error();
  placement.break_even = *std::move(crossings);
  return placement;
}

Result<place::Placement> place_model(const PlaceArguments& arguments, const place::PlacementWishes& wishes,
                                     const ai::LlmConfig& config, const CommonOptions& options) {
  place::LlmPlaceRequest request;
  request.config = config;
  ai::LlmWorkload formats;
  if (Status status = ai::take_formats(config, arguments.precision, formats); !status) return status.error();
  request.request.weights = formats.weights;
  request.request.activations = formats.activations;
  request.request.kv = formats.kv;
  request.request.weight_bits_per_value = formats.weight_bits_per_value;
  const bool asked = !arguments.precision.weights.empty() || !arguments.precision.precision.empty();
  if (asked) request.cpu_weights = formats.weights;
  // What a config.json says is of the weights beside it; on CPUs llama.cpp runs a GGUF file made of them.
  if (config.stored_weight_name.empty()) request.cpu_bits_per_value = formats.weight_bits_per_value;
  request.request.batch = arguments.batch;
  request.request.output_tokens = arguments.output_tokens;
  request.request.sequence = arguments.sequence.value_or(ai::usual_prompt(config, arguments.output_tokens));
  request.request.tensor_parallel = arguments.tensor_parallel;
  request.graph_launch = arguments.graph_launch;
  request.host_link_bytes_per_s = arguments.host_link_bytes_per_s.value_or(kUnknown);
  request.link_bytes_per_s = arguments.link_bytes_per_s.value_or(kUnknown);
  request.count_load = arguments.count_load;
  auto engine = arguments.graph_launch ? ai::EngineTerms() : engine_of(arguments.engine);
  if (!engine) return engine.error();
  request.engine = *std::move(engine);
  if (!arguments.host.empty()) {
    const auto host = host_named(arguments.host);
    if (!host) return host.error();
    request.engine.host = *host;
  }
  const auto hardware = hardware_of(arguments, wishes, false, options);
  if (!hardware) return hardware.error();
  auto placer = place::LlmPlacer::create(request, hardware->devices, hardware->cpus, hardware->tokens);
  if (!placer) return placer.error();
  auto placement = placer->place();
  if (!placement) return placement.error();
  const int64_t tokens = request.request.sequence + (config.has_cache() ? arguments.output_tokens : 0);
  if (config.max_positions > 0 && tokens > config.max_positions) {
    placement->notes.push_back("the model was made for " + std::to_string(config.max_positions) + " tokens, and " +
                               std::to_string(tokens) + " are asked for: what it says beyond is worth little");
  }
  return finished(
      arguments, wishes, hardware->prices, *std::move(placement),
      [&](const std::string& device, int64_t batch) { return placer->at_size(device, batch); }, arguments.batch,
      kMostBatch);
}

Result<place::Placement> place_matrices(const PlaceArguments& arguments, const place::PlacementWishes& wishes,
                                        const place::ProductWorkload& product, const CommonOptions& options) {
  const auto hardware = hardware_of(arguments, wishes, true, options);
  if (!hardware) return hardware.error();
  place::ProductRequest request;
  request.product = product;
  request.host_link_bytes_per_s = arguments.host_link_bytes_per_s.value_or(kUnknown);
  request.resident = arguments.resident;
  const place::ProductPlacer placer(request, hardware->devices, hardware->cpus);
  return finished(
      arguments, wishes, hardware->prices, placer.place(),
      [&](const std::string& device, int64_t side) { return placer.at_size(device, side); }, product.longest(),
      place::kLongestSide);
}

Result<place::Placement> place_program(const PlaceArguments& arguments, place::PlacementWishes wishes,
                                       const Profile& profile, const CommonOptions& options) {
  if (Status status = program::check_success(profile, arguments.accept_failure); !status) return status.error();
  std::vector<DeviceFacts> devices;
  if (wants_accelerators(wishes)) {
    const auto known = place_devices(arguments.device_file);
    if (!known) return known.error();
    devices.reserve(known->size());
    for (const place::PlaceDevice& device : *known) devices.push_back(device->device());
  }
  program::ForecastRequest request;
  request.host = arguments.host;
  auto prices = read_prices(arguments.price_list);
  if (!prices) return prices.error();
  request.prices = *std::move(prices);
  // Times of CPUs sharpen the forecasts of all others.
  ai::DeviceCatalogue catalogue;
  catalogue.devices = devices;
  Pairs of_devices;
  for (const auto& [name, seconds] : wishes.measured_s) {
    (ai::find_device(catalogue, name) ? of_devices : request.measured_s).emplace_back(name, seconds);
  }
  wishes.measured_s = std::move(of_devices);
  if (Status taken = take_energy_options(arguments.energy, request); !taken) return taken.error();
  const auto forecaster = open_forecaster(options);
  if (!forecaster) return forecaster.error();
  auto placement = place::place_profile(*forecaster, profile, request, devices);
  if (!placement) return placement.error();
  return finished(arguments, wishes, std::nullopt, *std::move(placement), {}, 1, 1);
}

constexpr const char* kOfModels[] = {
    "--batch",        "--sequence",     "--output-tokens", "--tensor-parallel", "--precision", "--weight-precision",
    "--kv-precision", "--graph-launch", "--with-load",     "--engine"};
constexpr const char* kOfProducts[] = {"--resident"};
constexpr const char* kOfHosts[] = {"--host"};
constexpr const char* kOfPrograms[] = {"--accept-failure", "--measured-energy", "--power-model"};
constexpr const char* kOfSizes[] = {"--break-even", "--vcpus", "--host-link"};

// Options of another kind of workload.
template <size_t N>
Status check_none(const CLI::App& verb, const char* way, const char* const (&options)[N], const char* kind) {
  for (const char* option : options) {
    const std::string expected = std::string("a ") + kind + " with it, or none of it";
    if (Status status = check_unused(verb, way, {option}, expected); !status) return status;
  }
  return {};
}

Status check_options(const CLI::App& verb, const PlacedInput& input) {
  const bool is_profile = std::holds_alternative<Profile>(input);
  const char* way = is_profile                                     ? "a profile"
                    : std::holds_alternative<ai::LlmConfig>(input) ? "a language model"
                                                                   : "a product";
  if (!std::holds_alternative<ai::LlmConfig>(input)) {
    if (Status status = check_none(verb, way, kOfModels, "language model"); !status) return status;
  }
  if (!std::holds_alternative<place::ProductWorkload>(input)) {
    if (Status status = check_none(verb, way, kOfProducts, "product"); !status) return status;
  }
  if (std::holds_alternative<place::ProductWorkload>(input)) {
    if (Status status = check_none(verb, way, kOfHosts, "profile or a language model"); !status) return status;
  }
  if (is_profile) return check_none(verb, way, kOfSizes, "language model or a product");
  return check_none(verb, way, kOfPrograms, "profile");
}

Result<place::Placement> placement_of(const PlaceArguments& arguments, const CLI::App& verb,
                                      const CommonOptions& options) {
  if (Status there = check_named_file("--device-file", arguments.device_file); !there) return there.error();
  const std::vector<std::string> read = {arguments.workload, arguments.device_file, arguments.price_list.path,
                                         arguments.energy.power};
  for (const auto& [option, file] : {std::pair("--svg", arguments.svg), std::pair("-o", options.output)}) {
    if (file.empty() || file == "-") continue;
    if (Status fine = check_output_file(option, file); !fine) return fine.error();
    if (Status kept = check_not_read(option, file, read); !kept) return kept.error();
  }
  if (!arguments.svg.empty() && same_file(arguments.svg, options.output)) {
    return usage_error("bad-usage", "the picture and the table go to one place", "--svg", "another file");
  }
  const auto input = read_workload(arguments.workload, options.quiet);
  if (!input) return input.error();
  if (Status status = check_options(verb, *input); !status) return status.error();
  const auto wishes = wishes_of(arguments);
  if (!wishes) return wishes.error();
  if (const auto* profile = std::get_if<Profile>(&*input)) return place_program(arguments, *wishes, *profile, options);
  if (const auto* model = std::get_if<ai::LlmConfig>(&*input)) return place_model(arguments, *wishes, *model, options);
  return place_matrices(arguments, *wishes, std::get<place::ProductWorkload>(*input), options);
}

int run_place(PlaceArguments& arguments, const CLI::App& verb, const CommandContext& context) {
  const CommonOptions& options = context.options;
  // A word after "--" is the workload as well: so those are given that begin with a dash.
  if (!context.command.empty()) {
    if (!arguments.workload.empty() || context.command.size() > 1) {
      return report_error(
          usage_error("bad-usage", "place runs no program: '" + printable(context.command[0]) + "' stands behind --",
                      "WORKLOAD", "perfcast predict -- CMD ARGS, then perfcast place last"),
          options);
    }
    arguments.workload = context.command.front();
  }
  auto placement = placement_of(arguments, verb, options);
  if (!placement) return report_error(placement.error(), options);
  if (!arguments.svg.empty()) {
    const auto picture = place::placement_svg(*placement);
    if (!picture) return report_error(picture.error(), options);
    if (Status status = write_file_atomically(arguments.svg, *picture); !status) {
      return report_error(status.error(), options);
    }
  }
  if (options.quiet && !options.json) placement->notes.clear();
  const std::string text =
      options.json ? to_text(to_json(*placement)) : placement_text(*placement, arguments.all ? 0 : kPlaceRows);
  const int exit_code = write_result(text, options);
  // The table says what each row lacks; a script must not take that for a place.
  return exit_code == kExitDone && placement->best.empty() ? kExitFailure : exit_code;
}

}  // namespace

void add_place_command(CLI::App& app, CommandContext& context) {
  auto arguments = std::make_shared<PlaceArguments>();
  arguments->energy.energy = true;
  CLI::App* verb = add_verb(app, {"place",
                                  "Says where a workload runs best: CPUs, GPUs, TPUs and other chips side by side.",
                                  "",
                                  {"perfcast place llama3-8b --batch 8 --price H100=3.5 --price L4=0.8",
                                   "perfcast place last --prices prices.csv"},
                                  "place"});
  verb->footer(
      "Each row says where its numbers come from: measured, fitted to measurements, or computed from a data sheet.");
  add_basic(*verb, "workload", arguments->workload, "WORKLOAD",
            "What is to run: a profile (p.json, or last), a language model (llama3-8b, config.json, GGUF), or a "
            "product of matrices M,N,K[,PRECISION].");
  add_basic(*verb, "--kinds", arguments->kinds, "KIND,...", "Shows only these kinds of hardware: cpu, gpu, tpu, asic.");
  add_basic(*verb, "--device", arguments->devices, "TEXT,...",
            "Shows only rows with one of these words in their names, such as h100,epyc.");
  add_advanced(*verb, "--sort", arguments->sort, "KEY", "Sorts the rows by this, and judges by it which row is best.")
      ->transform(choices<place::PlacementWishes::Sort>({{"time", place::PlacementWishes::Sort::kTime},
                                                         {"energy", place::PlacementWishes::Sort::kEnergy},
                                                         {"cost", place::PlacementWishes::Sort::kCost},
                                                         {"name", place::PlacementWishes::Sort::kName}}));
  add_advanced(*verb, "--measured", arguments->measured, "DEVICE=TIME",
               "A time that the workload took on a device, such as H100=2.5 or H100=40ms. If the workload is a "
               "profile, a CPU's time improves all other forecasts. Repeatable.")
      ->take_all()
      ->allow_extra_args(false);
  add_basic(*verb, "--max-latency", arguments->most_latency, "TIME",
            "Excludes rows from best that take longer than this, such as 250ms or 2s.");
  add_basic(*verb, "--max-cost,--budget", arguments->budget, "MONEY",
            "Excludes rows from best that cost more than this. It needs prices.");
  add_advanced(
      *verb, "--max-energy", arguments->most_energy, "ENERGY",
      "Excludes rows from best that need more energy than this: 600J, 1.2kJ or 3Wh. A number alone means joules.");
  add_basic(*verb, "--batch", arguments->batch, "N", "How many sequences a language model handles at once.")
      ->capture_default_str()
      ->check(CLI::Range(1, 1 << 30));
  add_basic(*verb, "--sequence", arguments->sequence, "N",
            "How many tokens the prompt has. Default: 2048, or as many as the model takes.")
      ->check(CLI::Range(1, 1 << 30));
  add_advanced(*verb, "--output-tokens", arguments->output_tokens, "N", "The number of new tokens of each sequence.")
      ->capture_default_str()
      ->check(CLI::Range(1, 1 << 30));
  add_llm_precision_options(*verb, arguments->precision);
  add_advanced(*verb, "--tensor-parallel", arguments->tensor_parallel, "N",
               "How many devices share the model. Default: as few as can hold it, at most 8.")
      ->check(CLI::Range(1, 4096));
  add_advanced(*verb, "--link-bytes-per-s", arguments->link_bytes_per_s, "BYTES",
               "Bandwidth between two devices in one direction, in bytes per second.");
  add_advanced(*verb, "--graph-launch", arguments->graph_launch,
               "Launches all kernels of a step as one recorded graph.");
  add_advanced(*verb, "--with-load", arguments->count_load, "Adds the time to copy the weights to the device once.");
  add_advanced(*verb, "--resident", arguments->resident,
               "Assumes that the operands of a product are on the device already, and that the result stays there.");
  add_advanced(*verb, "--host-link", arguments->host_link_bytes_per_s, "BYTES",
               "The bandwidth between host and device in one direction, in bytes per second. Default: that of each "
               "device's data sheet.");
  add_advanced(*verb, "--vcpus", arguments->vcpus, "N",
               "How many vCPUs a CPU's machine has. Default: the size nearest to 32 that clouds offer.");
  add_advanced(*verb, "--break-even", arguments->break_even, "A,B",
               "Says from which size of the workload on row A is better than row B. Default: compares the best row "
               "with those of other kinds.");
  add_basic(*verb, "--price", arguments->prices, "DEVICE=USD",
            "Price of one device per hour, such as H100=3.5, or one number for all. Repeatable.")
      ->take_all()
      ->allow_extra_args(false);
  add_price_options(*verb, arguments->price_list,
                    "A price list (CSV, SkyPilot's catalogue, AWS's or Azure's JSON) of instance types and devices.");
  add_advanced(*verb, "--power-w", arguments->powers, "DEVICE=W",
               "The watts of one device or machine. Default: those of its data sheet.")
      ->take_all()
      ->allow_extra_args(false);
  add_power_options(*verb, arguments->energy);
  add_advanced(*verb, "--device-file", arguments->device_file, "FILE",
               "Adds the facts of more devices from this file (JSON).");
  add_engine_option(*verb, arguments->engine);
  add_advanced(*verb, "--host", arguments->host, "HOST",
               "For a profile: the platform it was taken on. For a language model: the CPU or the instance type that "
               "the accelerators are in.");
  add_advanced(*verb, "--accept-failure", arguments->accept_failure,
               "Also takes the profile of a program that failed.");
  add_advanced(*verb, "--all", arguments->all, "Prints every row of the table. Default: 20 rows. JSON always has all.");
  add_basic(*verb, "--svg", arguments->svg, "FILE", "Draws time against cost (or energy) into this file.");
  add_common_options(*verb, context, kBundleOption | kQuietOption);
  verb->callback([arguments, verb, &context] {
    context.run = [arguments, verb, &context] { return run_place(*arguments, *verb, context); };
  });
}

}  // namespace perfcast::cli
