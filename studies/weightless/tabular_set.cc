#include "studies/weightless/tabular_set.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "base/csv.h"
#include "base/file.h"
#include "base/random.h"
#include "base/text.h"

namespace perfcast::program::weightless_study {
namespace {

constexpr size_t kParts = 5;

// Lines of numbers, between commas or blanks; a line that doesn't begin with one is left out.
Result<std::vector<std::vector<float>>> number_lines(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return text.error();
  std::vector<std::vector<float>> lines;
  for (const std::string& line : split(*text, '\n')) {
    std::vector<float> numbers;
    std::string words = line;
    std::replace(words.begin(), words.end(), ',', ' ');
    for (const std::string& word : split(words, ' ')) {
      if (word.empty()) continue;
      const auto number = parse_number(word);
      if (!number) break;
      numbers.push_back(static_cast<float>(*number));
    }
    if (!numbers.empty()) lines.push_back(std::move(numbers));
  }
  return lines;
}

}  // namespace

TabularSet TabularSet::rows_of(const std::vector<size_t>& which) const {
  TabularSet made{name, inputs, {}, {}, {}, {}, classes, 0};
  std::map<uint32_t, uint32_t> numbers;
  for (const size_t r : which) {
    const auto from = rows.begin() + static_cast<std::ptrdiff_t>(r * inputs);
    made.rows.insert(made.rows.end(), from, from + static_cast<std::ptrdiff_t>(inputs));
    if (!labels.empty()) made.labels.push_back(labels[r]);
    if (!targets.empty()) made.targets.push_back(targets[r]);
    made.part.push_back(numbers.emplace(part[r], static_cast<uint32_t>(numbers.size())).first->second);
  }
  made.parts = numbers.size();
  return made;
}

Result<TabularSet> read_public_set(const std::string& folder, const std::string& name, uint64_t seed) {
  TabularSet set;
  set.name = name;
  const std::map<std::string, std::string> files = {{"digits", "digits.csv.gz"},
                                                    {"breast_cancer", "breast_cancer.csv"},
                                                    {"wine", "wine_data.csv"},
                                                    {"diabetes", "diabetes_data_raw.csv.gz"}};
  const auto file = files.find(name);
  if (file == files.end())
    return Error{"unknown-set", "there is no set '" + name + "'", "", "digits, breast_cancer, wine or diabetes"};
  auto lines = number_lines(folder + "/" + file->second);
  if (!lines) return lines.error();
  std::vector<std::vector<float>> answers;
  if (name == "diabetes") {
    auto read = number_lines(folder + "/diabetes_target.csv.gz");
    if (!read) return read.error();
    answers = std::move(*read);
  } else if (name != "digits") {
    lines->erase(lines->begin());  // counts and names
  }
  for (size_t r = 0; r < lines->size(); ++r) {
    std::vector<float>& line = (*lines)[r];
    if (name == "diabetes") {
      if (r >= answers.size()) return Error{"bad-set", "fewer answers than rows", folder, "the package's files"};
      set.targets.push_back(answers[r].front());
    } else {
      set.labels.push_back(static_cast<uint32_t>(line.back()));
      line.pop_back();
    }
    set.inputs = set.inputs == 0 ? line.size() : set.inputs;
    if (line.size() != set.inputs || line.empty())
      return Error{"bad-set", "rows of different lengths", file->second, "the package's files"};
    set.rows.insert(set.rows.end(), line.begin(), line.end());
  }
  if (!set.labels.empty()) set.classes = *std::max_element(set.labels.begin(), set.labels.end()) + size_t{1};
  // Shuffled, then in turns: class by class where there are classes.
  std::vector<size_t> order(set.count());
  std::iota(order.begin(), order.end(), size_t{0});
  Random random(seed);
  random.shuffle(order);
  if (!set.labels.empty())
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return set.labels[a] < set.labels[b]; });
  set.part.resize(order.size());
  for (size_t i = 0; i < order.size(); ++i) set.part[order[i]] = static_cast<uint32_t>(i % kParts);
  set.parts = kParts;
  return set;
}

void standardise(TabularSet& training, TabularSet& test) {
  for (size_t i = 0; i < training.inputs; ++i) {
    double sum = 0, square = 0;
    const auto count = static_cast<double>(training.count());
    for (size_t r = 0; r < training.count(); ++r) sum += static_cast<double>(training.rows[r * training.inputs + i]);
    const double mean = sum / count;
    for (size_t r = 0; r < training.count(); ++r) {
      const double apart = static_cast<double>(training.rows[r * training.inputs + i]) - mean;
      square += apart * apart;
    }
    const double deviation = std::max(std::sqrt(square / count), 1e-6);
    for (TabularSet* set : {&training, &test}) {
      for (size_t r = 0; r < set->count(); ++r) {
        float& value = set->rows[r * set->inputs + i];
        value = static_cast<float>(std::clamp((static_cast<double>(value) - mean) / deviation, -4.0, 4.0));
      }
    }
  }
}

}  // namespace perfcast::program::weightless_study
