#pragma once
// The command of a setting: {name} stands for a knob's value, {flags} for the flags that have no place of their own.

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "measure/tune/space/space_file.h"

namespace perfcast::measure {

class CommandTemplate {
 public:
  // Error "unused-knob" (usage) where nothing would change with a knob; "bad-usage" for an empty command.
  static Result<CommandTemplate> create(const TuneFile& file, std::vector<std::string> command);

  // A word that is one placeholder of a knob not in play is left out; a flag's value may be several words or none.
  std::vector<std::string> arguments(const Setting& setting) const;
  std::map<std::string, std::string> environment(const Setting& setting) const;
  // `line` for a shell, values quoted; {output} and {point} too.
  std::string shell_line(const std::string& line, const Setting& setting, const std::string& output_path) const;
  // A name for files of a setting: 16 hexadecimal digits, the same every time.
  std::string point_name(const Setting& setting) const;

  const std::vector<std::string>& words() const { return command_; }

 private:
  std::string value_text(const Setting& setting, size_t knob) const;
  std::vector<std::string> flag_words(const Setting& setting, size_t knob) const;
  std::string filled(const std::string& word, const Setting& setting) const;

  const TuneSpace* space_ = nullptr;
  std::vector<std::string> command_;
  std::vector<bool> placed_;  // flags with a {name} of their own
};

// 64 bits of FNV-1a as hexadecimal digits.
std::string short_hash(std::string_view text);

}  // namespace perfcast::measure
