#include "profile/suite/harness/text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string_view>
#include <vector>

#include "base/random.h"

namespace perfcast::harness {
namespace {

// The closed classes of English by falling frequency: they make up half of running text.
constexpr auto kFunctionWords = std::to_array<std::string_view>(
    {"the",   "of",    "and",  "to",    "a",     "in",      "that",    "it",    "is",     "was",     "I",
     "for",   "on",    "you",  "he",    "be",    "with",    "as",      "by",    "at",     "have",    "are",
     "this",  "not",   "but",  "had",   "his",   "they",    "from",    "she",   "which",  "or",      "we",
     "an",    "there", "her",  "were",  "one",   "do",      "been",    "all",   "their",  "has",     "would",
     "will",  "what",  "if",   "can",   "when",  "so",      "said",    "no",    "who",    "more",    "up",
     "out",   "them",  "some", "could", "him",   "into",    "its",     "then",  "two",    "time",    "my",
     "about", "did",   "your", "now",   "me",    "like",    "other",   "only",  "just",   "man",     "see",
     "know",  "these", "than", "how",   "very",  "little",  "over",    "any",   "such",   "upon",    "old",
     "made",  "good",  "much", "never", "first", "well",    "should",  "may",   "must",   "before",  "again",
     "down",  "where", "came", "after", "great", "himself", "without", "being", "though", "through", "nothing"});

constexpr size_t kVocabulary = 26000;
// Where the next word comes from, tried in this order; the rest is drawn by Zipf's law.
constexpr double kQuote = 0.05;   // a phrase from a little earlier begins here
constexpr double kTopic = 0.10;   // a word that this chapter likes
constexpr double kFollow = 0.40;  // one that the previous word suggests
constexpr size_t kSuccessors = 40;
constexpr size_t kTopicWords = 300;
constexpr size_t kChapterWords = 8000;
constexpr double kQuoteLonger = 0.8;  // another word of the phrase follows
constexpr double kQuoteReach = 6000;  // words back at most, near ones more often
constexpr size_t kQuoteNearest = 10;
constexpr size_t kLineWidth = 72;

// Letters with the frequencies of English, consonants and vowels in turn.
std::string invent_word(Random& random) {
  static constexpr auto kOnsets = std::to_array<std::string_view>(
      {"t",  "n",  "s",  "r",  "h",  "l",  "d",  "c",  "m",  "f",  "p",  "g", "w",  "b",  "v",  "k",  "st", "th",
       "ch", "sh", "pr", "tr", "gr", "cl", "pl", "br", "fr", "sp", "qu", "j", "bl", "cr", "dr", "sc", "str"});
  static constexpr auto kVowels =
      std::to_array<std::string_view>({"e", "a", "o", "i", "u", "ea", "ou", "ai", "ee", "io", "oo", "y", "ie", "oa"});
  static constexpr auto kCodas = std::to_array<std::string_view>(
      {"", "n", "r", "s", "t", "l", "d", "nt", "ng", "st", "ck", "nd", "m", "ss", "rt", "ll", "th", "p"});
  static constexpr auto kEndings =
      std::to_array<std::string_view>({"", "", "", "", "ed", "ing", "s", "ly", "er", "tion", "ness", "ment", "ful"});
  // The product of two uniform numbers favours the front of the lists, as English does.
  const auto pick = [&random](const auto& list) {
    return list[static_cast<size_t>(random.uniform() * random.uniform() * static_cast<double>(list.size()))];
  };
  std::string word;
  const uint64_t syllables = 1 + (random.below(100) < 62 ? 1 : 0) + (random.below(100) < 22 ? 1 : 0);
  for (uint64_t i = 0; i < syllables; ++i) {
    if (i > 0 || random.below(100) < 85) word += pick(kOnsets);
    word += pick(kVowels);
    if (i + 1 == syllables || random.below(100) < 35) word += pick(kCodas);
  }
  word += kEndings[random.below(kEndings.size())];
  return word;
}

class Language {
 public:
  explicit Language(uint64_t seed) : random_(seed) {
    for (const std::string_view word : kFunctionWords) add(std::string(word));
    while (words_.size() < kVocabulary) {
      std::string word = invent_word(random_);
      if (word.size() < 3) continue;
      if (random_.below(100) < 4) word[0] = static_cast<char>(word[0] - 'a' + 'A');
      add(std::move(word));
    }
    cumulative_.resize(words_.size());
    double sum = 0;
    for (size_t i = 0; i < words_.size(); ++i) {
      // Zipf & Mandelbrot: (rank + 2) to the power of -1.1875, by square roots because they round alike everywhere.
      const double rank = static_cast<double>(i) + 3;
      const double eighth = std::sqrt(std::sqrt(std::sqrt(rank)));
      sum += 1 / (rank * eighth * std::sqrt(eighth));
      cumulative_[i] = sum;
    }
    successors_.resize(words_.size() * kSuccessors);
    for (uint32_t& successor : successors_) successor = any_word();
  }

  const std::string& next_word() {
    const uint32_t word = choose();
    written_.push_back(word);
    return words_[word];
  }
  Random& random() { return random_; }

 private:
  void add(std::string word) {
    if (known_.insert(word).second) words_.push_back(std::move(word));
  }

  uint32_t any_word() {
    const double target = random_.uniform() * cumulative_.back();
    return static_cast<uint32_t>(std::lower_bound(cumulative_.begin(), cumulative_.end(), target) -
                                 cumulative_.begin());
  }

  // 0 .. count - 1, the front more often.
  size_t near_front(size_t count) {
    const double u = random_.uniform();
    return static_cast<size_t>(u * u * static_cast<double>(count));
  }

  uint32_t choose() {
    if (written_.size() % kChapterWords == 0) {
      topic_.resize(kTopicWords);
      const size_t common = kFunctionWords.size();
      for (uint32_t& word : topic_) word = static_cast<uint32_t>(common + random_.below(words_.size() - common));
    }
    if (quoting_ && random_.uniform() < kQuoteLonger) return written_[quoted_++];
    quoting_ = false;
    if (random_.uniform() < kQuote) {
      const double u = random_.uniform();
      const size_t back = kQuoteNearest + static_cast<size_t>(u * u * kQuoteReach);
      if (back < written_.size()) {
        quoted_ = written_.size() - back;
        quoting_ = true;
        return written_[quoted_++];
      }
    }
    if (random_.uniform() < kTopic) return topic_[near_front(kTopicWords)];
    if (!written_.empty() && random_.uniform() < kFollow) {
      return successors_[written_.back() * kSuccessors + near_front(kSuccessors)];
    }
    return any_word();
  }

  Random random_;
  std::set<std::string> known_;
  std::vector<std::string> words_;
  std::vector<double> cumulative_;
  std::vector<uint32_t> successors_;
  std::vector<uint32_t> topic_;
  std::vector<uint32_t> written_;  // all words so far
  size_t quoted_ = 0;              // next word of the phrase being quoted
  bool quoting_ = false;
};

}  // namespace

std::string generate_text(size_t bytes, uint64_t seed) {
  Language language(seed);
  Random& random = language.random();
  std::string text;
  text.reserve(bytes + 256);
  size_t column = 0;
  while (text.size() < bytes) {
    const uint64_t sentences = 1 + random.below(7);
    for (uint64_t s = 0; s < sentences; ++s) {
      const uint64_t words = 4 + random.below(14) + random.below(14);
      const bool spoken = random.below(100) < 20;
      for (uint64_t w = 0; w < words; ++w) {
        std::string word = language.next_word();
        if (w == 0 && word[0] >= 'a') word[0] = static_cast<char>(word[0] - 'a' + 'A');
        if (w == 0 && spoken) word.insert(0, 1, '"');
        if (w + 1 == words) {
          const uint64_t kind = random.below(100);
          word += kind < 84 ? '.' : kind < 92 ? '!' : '?';
          if (spoken) word += '"';
        } else if (random.below(100) < 11) {
          word += random.below(100) < 88 ? ',' : ';';
        }
        if (column + 1 + word.size() > kLineWidth) {
          text += '\n';
          column = 0;
        } else if (column > 0) {
          text += ' ';
          ++column;
        }
        text += word;
        column += word.size();
      }
    }
    text += "\n\n";
    column = 0;
  }
  text.resize(bytes);
  return text;
}

}  // namespace perfcast::harness
