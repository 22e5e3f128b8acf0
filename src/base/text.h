#pragma once
// Text for people: tables that line up, numbers with sensible digits, near names in error messages.

#include <string>
#include <string_view>
#include <vector>

namespace perfcast {

// A table whose columns line up; numbers right, names left. Widths count UTF-8 code points.
class TextTable {
 public:
  enum class Align { kLeft, kRight };
  void add_column(std::string title, Align align);
  void add_row(std::vector<std::string> cells);
  // Two spaces between columns, the title line first. Where a line would be longer than `width` (0: no limit), texts
  // are broken into several lines at spaces; where that is not enough, columns are left out from the right, the first
  // one never, and a line below names them.
  std::string to_text(size_t width = 0) const;
  // For a page or a pull request.
  std::string to_markdown() const;
  size_t rows() const { return rows_.size(); }

 private:
  std::vector<std::string> titles_;
  std::vector<Align> aligns_;
  std::vector<std::vector<std::string>> rows_;
};

std::vector<std::string> split(std::string_view text, char separator);
std::string_view trim(std::string_view text);
std::string lower_case(std::string_view text);  // ASCII letters; all others stay
std::string upper_case(std::string_view text);
// "Llama2-70B_v1" -> "llama270bv1": ASCII in small letters without spaces at the ends, and without any, - and _ within;
// what people write in several ways and mean the same by. Of the first 200 bytes.
std::string plain_name(std::string_view name);
std::string join(const std::vector<std::string>& parts, std::string_view separator);

// Words of `text` in lines of at most `width` bytes where they fit; each of its own lines begins anew. No line break at
// the end.
std::string wrapped(std::string_view text, size_t width, std::string_view first_indent = "",
                    std::string_view indent = "");

// Up to `at_most` of `names` nearest to `name`, joined by ", ": by edit distance of the words of `name`, each to the
// nearest word of the other ("77630" is nearer to "AMD EPYC 7763 64-Core Processor" than to "ADM"), then of the whole.
std::string nearest_names(std::string_view name, const std::vector<std::string>& names, size_t at_most = 5);

// 1234567 -> "1.23 M"; for counts and rates in tables.
std::string human_number(double value);
// 0.00123 -> "1.23 ms".
std::string human_seconds(double seconds);
// A column of times: one unit, that of the longest, and as many decimals in each as give the shortest three digits and
// the longest no more than five: {0.071, 0.1603} -> "71.0 ms", "160.3 ms". What is too short for them is "<0.01 ms";
// what isn't finite or above 0 is "-".
std::vector<std::string> seconds_column(const std::vector<double>& times_s);
// A column of times that may lie orders of magnitude apart, the shortest as worth reading as the longest: one unit
// where that leaves each at least three digits, else three digits in a unit of its own: {0.0007, 1.8} -> "700 us",
// "1.80 s". A 0 stays one: "0 s"; what isn't known is "-".
std::vector<std::string> spread_seconds_column(const std::vector<double>& times_s);
// The same for what may be long, in s, min, h or d, and for energies, in J to TJ. A 0 stays one: "0 h"; what isn't
// known is "-".
std::vector<std::string> duration_column(const std::vector<double>& durations_s);
std::vector<std::string> energy_column(const std::vector<double>& energies_joules);
// 1536 -> "1.5 KiB".
std::string human_bytes(double bytes);
// Safe for a terminal: control characters of untrusted text become '?'.
std::string printable(std::string_view text);
// "6 (Aborted)".
std::string signal_text(int number);

}  // namespace perfcast
