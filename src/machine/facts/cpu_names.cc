#include "machine/facts/cpu_names.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "base/text.h"
#include "machine/facts/chip_names.h"

namespace perfcast {
namespace {

// Verbatim; only those that a key tells apart and that end in a clock, which the plain name lacks.
constexpr std::string_view kRentedXeons[] = {
    "Intel(R) Xeon(R) CPU E3-1270 v6 @ 3.80GHz",      "Intel(R) Xeon(R) CPU E5-2651 v2 @ 1.80GHz",
    "Intel(R) Xeon(R) CPU E5-2665 0 @ 2.40GHz",       "Intel(R) Xeon(R) CPU E5-2666 v3 @ 2.90GHz",
    "Intel(R) Xeon(R) CPU E5-2667 v4 @ 3.20GHz",      "Intel(R) Xeon(R) CPU E5-2670 v2 @ 2.50GHz",
    "Intel(R) Xeon(R) CPU E5-2676 v3 @ 2.40GHz",      "Intel(R) Xeon(R) CPU E5-2680 v2 @ 2.80GHz",
    "Intel(R) Xeon(R) CPU E5-2682 v4 @ 2.50GHz",      "Intel(R) Xeon(R) CPU E5-2686 v4 @ 2.30GHz",
    "Intel(R) Xeon(R) CPU E5-2698B v3 @ 2.00GHz",     "Intel(R) Xeon(R) CPU E7-8880 v3 @ 2.30GHz",
    "Intel(R) Xeon(R) E-2176G CPU @ 3.70GHz",         "Intel(R) Xeon(R) E-2286G CPU @ 4.00GHz",
    "Intel(R) Xeon(R) E-2288G CPU @ 3.70GHz",         "Intel(R) Xeon(R) E-2388G CPU @ 3.20GHz",
    "Intel(R) Xeon(R) Gold 6149 CPU @ 3.10GHz",       "Intel(R) Xeon(R) Gold 6226R CPU @ 2.90GHz",
    "Intel(R) Xeon(R) Platinum 8124M CPU @ 3.00GHz",  "Intel(R) Xeon(R) Platinum 8151 CPU @ 3.40GHz",
    "Intel(R) Xeon(R) Platinum 8163 CPU @ 2.50GHz",   "Intel(R) Xeon(R) Platinum 8168 CPU @ 2.70GHz",
    "Intel(R) Xeon(R) Platinum 8171M CPU @ 2.60GHz",  "Intel(R) Xeon(R) Platinum 8175M CPU @ 2.50GHz",
    "Intel(R) Xeon(R) Platinum 8176M CPU @ 2.10GHz",  "Intel(R) Xeon(R) Platinum 8223CL CPU @ 3.00GHz",
    "Intel(R) Xeon(R) Platinum 8252C CPU @ 3.80GHz",  "Intel(R) Xeon(R) Platinum 8259CL CPU @ 2.50GHz",
    "Intel(R) Xeon(R) Platinum 8269CL CPU @ 2.50GHz", "Intel(R) Xeon(R) Platinum 8272CL CPU @ 2.60GHz",
    "Intel(R) Xeon(R) Platinum 8275CL CPU @ 3.00GHz", "Intel(R) Xeon(R) Platinum 8280L CPU @ 2.70GHz",
    "Intel(R) Xeon(R) Platinum 8280M CPU @ 2.70GHz",  "Intel(R) Xeon(R) Platinum 8369B CPU @ 2.90GHz",
    "Intel(R) Xeon(R) Platinum 8369HC CPU @ 3.30GHz", "Intel(R) Xeon(R) Platinum 8370C CPU @ 2.80GHz",
    "Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz",  "Intel(R) Xeon(R) Silver 4214 CPU @ 2.20GHz",
    "Intel(R) Xeon(R) W-3235 CPU @ 3.30GHz"};

struct Silicon {
  int64_t model = 0;
  std::optional<int64_t> stepping = std::nullopt;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The digits that a word begins with: "6226R" -> "6226".
std::string_view leading_digits(std::string_view word) {
  const auto end = std::find_if_not(word.begin(), word.end(), is_digit);
  return word.substr(0, static_cast<size_t>(end - word.begin()));
}

// "E5-2680", "v3".
std::optional<Silicon> numbered_xeon(const std::string& word, const std::string& version) {
  const std::string_view digits = leading_digits(std::string_view(word).substr(3));
  if (digits.size() != 4) return std::nullopt;
  if (word.starts_with("e3-")) {
    constexpr std::pair<std::string_view, int64_t> kModels[] = {
        {"v2", 58}, {"v3", 60}, {"v4", 71}, {"v5", 94}, {"v6", 158}};
    for (const auto& [name, model] : kModels) {
      if (version == name) return Silicon{model};
    }
    return std::nullopt;
  }
  constexpr std::pair<std::string_view, int64_t> kModels[] = {{"0", 45}, {"v2", 62}, {"v3", 63}, {"v4", 79}};
  for (const auto& [name, model] : kModels) {
    if (version == name) return Silicon{model};
  }
  return std::nullopt;
}

// "Gold 6226R": the second digit is the generation.
std::optional<Silicon> scalable_xeon(const std::string& word) {
  const std::string_view digits = leading_digits(word);
  if (digits.size() != 4) return std::nullopt;
  const bool cooper_lake = word.find('h') != std::string::npos;  // "8369HB", "5318H": of the third generation
  switch (digits[1]) {
    case '1':
      return Silicon{85, 4};
    case '2':
      return Silicon{85, 7};
    case '3':
      return cooper_lake ? Silicon{85, 11} : Silicon{106};
    case '4':
      return Silicon{143};
    case '5':
      return Silicon{207};
    default:
      return std::nullopt;
  }
}

std::optional<Silicon> xeon(const std::vector<std::string>& words) {
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string next = i + 1 < words.size() ? words[i + 1] : "";
    if (words[i].starts_with("e3-") || words[i].starts_with("e5-")) return numbered_xeon(words[i], next);
    if (words[i] == "bronze" || words[i] == "silver" || words[i] == "gold" || words[i] == "platinum") {
      return scalable_xeon(next);
    }
    if (words[i].starts_with("e-21") || words[i].starts_with("e-22")) return Silicon{158};
    if (words[i].starts_with("e-23")) return Silicon{167};
    if (words[i].starts_with("w-21")) return Silicon{85, 4};
    if (words[i].starts_with("w-22") || words[i].starts_with("w-32")) return Silicon{85, 7};
  }
  return std::nullopt;
}

// "i7-8700K": the first digits are the generation. Laptops' ("-8565U") and those with a server's silicon ("-5960X",
// "-4820K") differ within one and are left to what they say themselves.
std::optional<Silicon> core(const std::string& word) {
  if (word.size() < 7 || word[0] != 'i' || word[2] != '-') return std::nullopt;
  const std::string_view digits = leading_digits(std::string_view(word).substr(3));
  const std::string_view suffix = std::string_view(word).substr(3 + digits.size());
  constexpr std::string_view kDesktop[] = {"", "k", "ks", "kf", "f", "t", "te", "s"};
  if (std::find(std::begin(kDesktop), std::end(kDesktop), suffix) == std::end(kDesktop)) return std::nullopt;
  if (digits.size() == 5 && digits.starts_with("10")) return Silicon{165};
  if (digits.size() == 5 && digits.starts_with("11")) return Silicon{167};
  if (digits.size() != 4) return std::nullopt;
  const char generation = digits[0];
  if (generation < '7' && digits[1] >= '8') return std::nullopt;
  constexpr std::pair<char, int64_t> kModels[] = {{'2', 42},  {'3', 58},  {'4', 60}, {'6', 94},
                                                  {'7', 158}, {'8', 158}, {'9', 158}};
  for (const auto& [digit, model] : kModels) {
    if (generation == digit) return Silicon{model};
  }
  return std::nullopt;
}

// "7763": the last digit is the generation, but "9xx5" and what a cloud has made for it, "7B13".
std::optional<std::pair<int64_t, int64_t>> epyc(const std::string& word) {
  if (word.size() < 4 || word[0] != '7') return std::nullopt;
  switch (word[3]) {
    case '1':
      return std::pair<int64_t, int64_t>(23, 1);
    case '2':
      return std::pair<int64_t, int64_t>(23, 49);
    case '3':
      return std::pair<int64_t, int64_t>(25, 1);
    default:
      return std::nullopt;
  }
}

}  // namespace

std::string cpuid_name(std::string_view plain_name) {
  const std::string key = cpu_name_key(plain_name);
  const std::string name(plain_name);
  if (key.starts_with("amd epyc ") && name.ends_with("-Core")) return name + " Processor";
  static const std::map<std::string, std::string> verbatim = [] {
    std::map<std::string, std::string> names;
    for (const std::string_view known : kRentedXeons) names.emplace(cpu_name_key(known), known);
    return names;
  }();
  const auto known = verbatim.find(key);
  return known == verbatim.end() ? name : known->second;
}

ProcessorIdentity identity_of_name(const std::string& name) {
  ProcessorIdentity identity;
  identity.name = name;
  const std::string key = cpu_name_key(told_name(name));
  const std::vector<std::string> words = split(key, ' ');
  const auto has = [&](std::string_view text) { return key.find(text) != std::string::npos; };
  if (has("armv8") || has("aarch64") || has("neoverse") || key == "apple m1") {
    identity.arch = "aarch64";
    identity.vendor = has("apple") ? "Apple" : has("ampere") ? "Ampere" : "ARM";
    return identity;
  }
  const std::string vendor = words.empty() ? "" : words[0];
  if (vendor != "amd" && vendor != "intel") return identity;
  identity.vendor = vendor == "amd" ? "AMD" : "Intel";
  identity.arch = "x86_64";
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] != "epyc") continue;
    if (const auto silicon = epyc(words[i + 1])) {
      identity.cpu_family = silicon->first;
      identity.model = silicon->second;
    }
  }
  const bool is_core = words.size() > 2 && words[1] == "core";
  if (const auto silicon = has("xeon") ? xeon(words) : is_core ? core(words[2]) : std::nullopt) {
    identity.cpu_family = 6;
    identity.model = silicon->model;
    identity.stepping = silicon->stepping;
  }
  return identity;
}

std::string segment_of_name(std::string_view name) {
  const std::string key = cpu_name_key(told_name(std::string(name)));
  const auto has = [&](std::string_view text) { return key.find(text) != std::string::npos; };
  for (const std::string_view server : {"epyc", "opteron", "altra", "neoverse", "power8", "power9", "sparc"}) {
    if (has(server)) return "server";
  }
  if (!has("xeon")) return "desktop";
  for (const std::string_view desktop : {"xeon e3", "xeon e-2", "xeon w"}) {
    if (has(desktop)) return "desktop";
  }
  return "server";
}

std::vector<std::string> flags_of_design(const std::string& core_design) {
  struct Design {
    std::string_view name;
    std::vector<std::string> flags;
  };
  static const std::vector<Design> designs = {
      {"sandy-bridge", {"aes"}},
      {"haswell", {"aes", "avx2"}},
      {"broadwell", {"aes", "avx2"}},
      {"skylake-client", {"aes", "avx2"}},
      {"skylake-server", {"aes", "avx2", "avx512f"}},
      {"cascade-lake", {"aes", "avx2", "avx512f"}},
      {"ice-lake", {"aes", "avx2", "avx512f", "sha"}},
      {"zen1", {"aes", "avx2", "sha"}},
      {"zen2", {"aes", "avx2", "sha"}},
      {"zen3", {"aes", "avx2", "sha"}},
      {"neoverse-n1", {"aes", "asimd", "sha"}},
  };
  for (const Design& design : designs) {
    if (design.name == core_design) return design.flags;
  }
  return {};
}

}  // namespace perfcast
