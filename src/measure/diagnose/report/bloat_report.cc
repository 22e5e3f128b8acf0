#include "measure/diagnose/report/bloat_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "measure/diagnose/bloat/code_sizes.h"

namespace perfcast::measure {
namespace {

constexpr size_t kFilesShown = 12, kFunctionsListed = 40, kIdleNamesShown = 6;
constexpr size_t kNameBytes = 40;

std::string size_text(uint64_t bytes) { return human_bytes(static_cast<double>(bytes)); }

std::string share_text(uint64_t part, uint64_t all) {
  return all == 0 ? "-" : fmt::format("{:.1f}%", 100 * static_cast<double>(part) / static_cast<double>(all));
}

// Those with most bytes that did not run.
std::vector<BloatFunction> most_idle(const BloatFile& file, size_t most) {
  std::vector<BloatFunction> functions = file.functions;
  const auto idle = [](const BloatFunction& of) { return of.bytes - std::min(of.bytes, of.executed_bytes); };
  std::stable_sort(functions.begin(), functions.end(),
                   [&](const BloatFunction& a, const BloatFunction& b) { return idle(a) > idle(b); });
  functions.resize(std::min(most, functions.size()));
  return functions;
}

void add_files(const CodeBloat& bloat, std::string& text) {
  TextTable table;
  table.add_column("  file", TextTable::Align::kLeft);
  table.add_column("mapped", TextTable::Align::kRight);
  table.add_column("code", TextTable::Align::kRight);
  table.add_column("ran", TextTable::Align::kRight);
  table.add_column("", TextTable::Align::kRight);
  table.add_column("functions", TextTable::Align::kRight);
  table.add_column("never ran", TextTable::Align::kRight);
  table.add_column("", TextTable::Align::kLeft);
  size_t shown = 0;
  for (const BloatFile& file : bloat.files) {
    if (shown++ == kFilesShown) break;
    const uint64_t code = file.code ? file.code->purposes.code_bytes : 0;
    table.add_row({"  " + printable(file.name()), size_text(file.mapped_bytes), file.code ? size_text(code) : "-",
                   file.executed_bytes ? size_text(*file.executed_bytes) : "-",
                   file.executed_bytes && file.code ? share_text(*file.executed_bytes, code) : "-",
                   file.code ? std::to_string(file.functions.size()) : "-",
                   file.code && bloat.is_executed_known ? std::to_string(file.never_ran_count) : "-",
                   std::string(to_text(file.use)) + (file.is_unneeded ? ", not needed" : "")});
  }
  text += table.to_text();
  if (bloat.files.size() > kFilesShown)
    text += fmt::format("  and {} smaller files\n", bloat.files.size() - kFilesShown);
}

void add_purposes(const CodeBloat& bloat, std::string& text) {
  const ElfPurposes all = bloat.purposes();
  text += fmt::format(
      "  in these files besides code: {} constants, {} for unwinding, {} for the dynamic linker; not loaded: {} names "
      "of "
      "symbols, {} for debuggers\n",
      size_text(all.constant_bytes), size_text(all.unwinding_bytes), size_text(all.linking_bytes),
      size_text(all.symbols_bytes), size_text(all.debugging_bytes));
  uint64_t variants = 0, executed = 0;
  for (const BloatFile& file : bloat.files) {
    variants += file.variants_bytes.value_or(0);
    executed += file.variants_executed_bytes.value_or(0);
  }
  if (variants > 0) {
    text += fmt::format("  functions in several variants, for other processors too: {}", size_text(variants));
    if (bloat.is_executed_known) text += fmt::format(", of which {} ran", size_text(executed));
    text += "\n";
  }
}

void add_linker(const CodeBloat& bloat, std::string& text) {
  if (!bloat.loader || bloat.loader->starts_count == 0) return;
  const LoaderStart& start = *bloat.loader;
  text += fmt::format("  dynamic linker: {} until the first instruction of {:.0f} program{}",
                      human_seconds(start.start_s), start.starts_count, start.starts_count == 1 ? "" : "s");
  if (const double run_s = std::max(bloat.wall_s, bloat.cpu_s); run_s > 0)
    text += fmt::format(" ({:.1f}% of the time)", 100 * std::min(1.0, start.start_s / run_s));
  text += fmt::format("; {:.0f} relocations by name, {:.0f} relative\n", start.by_name_count, start.relative_count);
}

void add_idle_functions(const CodeBloat& bloat, std::string& text) {
  if (!bloat.is_executed_known) return;
  for (const BloatFile& file : bloat.files) {
    if (file.use != CodeUse::kProgram) continue;
    std::vector<std::string> names;
    for (const BloatFunction& function : most_idle(file, file.functions.size())) {
      if (function.executed_bytes > 0 || function.name.empty()) continue;
      const std::string name = printable(function.name);
      names.push_back(fmt::format("{} {}", name.size() > kNameBytes ? name.substr(0, kNameBytes - 3) + "..." : name,
                                  size_text(function.bytes)));
      if (names.size() == kIdleNamesShown) break;
    }
    if (!names.empty()) text += fmt::format("  of {} never ran: {}\n", printable(file.name()), join(names, ", "));
  }
}

Json optional_number(const std::optional<uint64_t>& value) { return value ? Json(*value) : Json(); }

Json purposes_json(const ElfPurposes& of) {
  return {{"code", of.code_bytes},           {"constants", of.constant_bytes}, {"variables", of.variable_bytes},
          {"unwinding", of.unwinding_bytes}, {"linking", of.linking_bytes},    {"symbols", of.symbols_bytes},
          {"debugging", of.debugging_bytes}, {"comments", of.comments_bytes},  {"other", of.other_bytes}};
}

Json bloat_file_json(const CodeBloat& bloat, const BloatFile& file) {
  Json functions = Json::array();
  for (const BloatFunction& function : most_idle(file, kFunctionsListed)) {
    functions.push_back({{"function", function.name},
                         {"offset_bytes", function.offset},
                         {"bytes", function.bytes},
                         {"executed_bytes", bloat.is_executed_known ? Json(function.executed_bytes) : Json()}});
  }
  const bool known = file.code.has_value();
  return {{"path", file.path},
          {"use", std::string(to_text(file.use))},
          {"is_unneeded", file.is_unneeded},
          {"mapped_bytes", file.mapped_bytes},
          {"executed_bytes", optional_number(file.executed_bytes)},
          {"used_bytes", optional_number(file.used_bytes)},
          {"file_bytes", known ? Json(file.code->file_bytes) : Json()},
          {"file_bytes_by_purpose", known ? purposes_json(file.code->purposes) : Json()},
          {"relocations_count", known ? Json(file.code->relocations_count) : Json()},
          {"functions_count", known ? Json(file.functions.size()) : Json()},
          {"never_ran_count", known && bloat.is_executed_known ? Json(file.never_ran_count) : Json()},
          {"never_ran_bytes", known && bloat.is_executed_known ? Json(file.never_ran_bytes) : Json()},
          {"variants_bytes", optional_number(file.variants_bytes)},
          {"variants_executed_bytes", optional_number(file.variants_executed_bytes)},
          {"functions", functions}};
}

}  // namespace

Json file_sizes_json(const FileSizes& of) {
  return {{"file_bytes", of.file_bytes}, {"mapped_bytes", of.mapped_bytes}, {"code_bytes", of.code_bytes}};
}

// "-12.3%" of what the first build has.
std::string change_text(uint64_t now, uint64_t before) {
  if (before == 0) return "-";
  return fmt::format("{:+.1f}%", 100 * (static_cast<double>(now) / static_cast<double>(before) - 1));
}

void add_builds(const CodeBloat& bloat, std::string& text) {
  if (bloat.builds.empty()) return;
  TextTable table;
  table.add_column("  built", TextTable::Align::kLeft);
  table.add_column("program", TextTable::Align::kRight);
  table.add_column("", TextTable::Align::kRight);
  table.add_column("code mapped with libraries", TextTable::Align::kRight);
  table.add_column("", TextTable::Align::kRight);
  table.add_column("flags", TextTable::Align::kLeft);
  const auto& first = bloat.builds.front().sizes;
  std::string failed;
  for (const BuildSizes& of : bloat.builds) {
    if (!of.sizes) {
      failed += fmt::format("  {}: {}\n", of.build.name, printable(of.failed));
      continue;
    }
    const FileSizes all = of.sizes->total();
    table.add_row({"  " + of.build.name, size_text(of.sizes->program.file_bytes),
                   first ? change_text(of.sizes->program.file_bytes, first->program.file_bytes) : "-",
                   size_text(all.mapped_bytes),
                   first ? change_text(all.mapped_bytes, first->total().mapped_bytes) : "-", of.build.flags});
  }
  text += table.to_text() + failed;
}

std::string code_bloat_text(const CodeBloat& bloat) {
  std::string text = fmt::format("code: {} mapped in {} file{}, {} of instructions", size_text(bloat.mapped_bytes()),
                                 bloat.files.size(), bloat.files.size() == 1 ? "" : "s", size_text(bloat.code_bytes()));
  if (bloat.is_executed_known)
    text += fmt::format(", of which {} ran ({})", size_text(bloat.executed_bytes()),
                        share_text(bloat.executed_bytes(), bloat.code_bytes()));
  text += "\n";
  add_files(bloat, text);
  if (bloat.generated_bytes > 0)
    text += fmt::format("  and {} of code that it made itself ran\n", size_text(bloat.generated_bytes));
  add_idle_functions(bloat, text);
  add_linker(bloat, text);
  add_purposes(bloat, text);
  add_builds(bloat, text);
  for (const std::string& note : bloat.notes) text += "  note: " + printable(note) + "\n";
  return text;
}

Json code_bloat_json(const CodeBloat& bloat) {
  Json files = Json::array(), rebuilds = Json::array(), linker;
  for (const BloatFile& file : bloat.files) files.push_back(bloat_file_json(bloat, file));
  for (const BuildSizes& of : bloat.builds) {
    rebuilds.push_back({{"name", of.build.name},
                        {"flags", of.build.flags},
                        {"program", of.sizes ? file_sizes_json(of.sizes->program) : Json()},
                        {"with_libraries", of.sizes ? file_sizes_json(of.sizes->total()) : Json()},
                        {"failed", of.sizes ? Json() : Json(of.failed)}});
  }
  if (bloat.loader) {
    const LoaderStart& of = *bloat.loader;
    linker = {{"starts_count", of.starts_count},
              {"start_s", of.start_s},
              {"relocation_s", of.relocation_s},
              {"load_s", of.load_s},
              {"relocations_by_name_count", of.by_name_count},
              {"relocations_relative_count", of.relative_count},
              {"relocations_by_name_until_end_count", of.at_end_count}};
  }
  return {{"mapped_bytes", bloat.mapped_bytes()},
          {"code_bytes", bloat.code_bytes()},
          {"executed_bytes", bloat.is_executed_known ? Json(bloat.executed_bytes()) : Json()},
          {"generated_code_bytes", bloat.is_executed_known ? Json(bloat.generated_bytes) : Json()},
          {"code_of_unknown_origin_bytes", bloat.is_executed_known ? Json(bloat.elsewhere_bytes) : Json()},
          {"is_cut", bloat.is_executed_known ? Json(bloat.is_cut) : Json()},
          {"file_bytes_by_purpose", purposes_json(bloat.purposes())},
          {"dynamic_linker", linker},
          {"dynamic_linker_cpu_ratio", bloat.loader_cpu_ratio ? Json(*bloat.loader_cpu_ratio) : Json()},
          {"files", files},
          {"rebuilds", rebuilds},
          {"notes", bloat.notes}};
}

}  // namespace perfcast::measure
