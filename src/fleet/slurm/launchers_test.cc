// Batch scripts as people write them: launchers, containers and wrappers in front of one another with the options that
// their manuals have, in every way to write them; directives in any order; what else a script holds. The program, its
// arguments and what the job asks for are the same each time.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/file.h"
#include "base/random.h"
#include "fleet/slurm/job_script.h"
#include "fleet/slurm/testing/launcher_manuals.h"

namespace perfcast::fleet {
namespace {

using manuals::Style;
using manuals::Tool;
using Words = std::vector<std::string>;

class ScriptMaker {
 public:
  explicit ScriptMaker(uint64_t seed) : random_(seed) {}

  bool one_in(uint64_t n) { return random_.below(n) == 0; }
  uint64_t below(uint64_t n) { return random_.below(n); }
  template <typename T>
  const T& any(const std::vector<T>& values) {
    return values[random_.below(values.size())];
  }
  std::string any_of(std::initializer_list<const char*> texts) { return texts.begin()[random_.below(texts.size())]; }

  // A word as a shell reads it back.
  std::string quoted(const std::string& word) {
    const bool must = word.empty() || word.find_first_of(" \t|&;<>()$`\\\"'*?#[]") != std::string::npos;
    if (!must && !one_in(10)) return word;
    if (one_in(2) && word.find('\'') == std::string::npos) return "'" + word + "'";
    std::string text;
    for (const char c : word)
      text += std::string("\"\\$`").find(c) == std::string::npos ? std::string(1, c) : std::string("\\") + c;
    return "\"" + text + "\"";
  }
  std::string gap() { return one_in(8) ? " \\\n   " : one_in(8) ? "\t" : one_in(10) ? "  " : " "; }
  std::string line_of(const Words& words) {
    std::string line;
    for (const std::string& word : words) line += (line.empty() ? "" : gap()) + quoted(word);
    return line;
  }

  // The tool with some of its options, each in one of its forms.
  Words call(const Tool& tool) {
    Words words = {(one_in(6) ? "/usr/bin/" : "") + std::string(tool.name)};
    append(tool.verb, words);
    const uint64_t count = tool.options.empty() ? 0 : below(5);
    for (uint64_t i = 0; i < count; ++i) append_option(any(tool.options), tool.style, words);
    const bool needs_option = tool.options.size() > 1 && tool.operands[0] != '\0' && words.size() == 1 &&
                              std::string(tool.name) == "taskset" && std::string(tool.operands) != "0xff";
    if (needs_option || std::string(tool.name) == "chrt") append(tool.options[0], words);
    append(tool.operands, words);
    return words;
  }

 private:
  static void append(const std::string& text, Words& words) {
    std::string word;
    for (const char c : text + " ") {
      if (c == ' ') {
        if (!word.empty()) words.push_back(word);
        word.clear();
      } else {
        word += c == '~' ? ' ' : c;
      }
    }
  }
  void append_option(const std::string& option, Style style, Words& words) {
    const size_t blank = option.find(' ');
    const bool is_long = option.starts_with("--");
    if (style == Style::kSingle && !is_long && one_in(3)) return append("-" + option, words);
    if (style == Style::kGnu && blank != std::string::npos && one_in(3)) {
      return append(option.substr(0, blank) + (is_long ? "=" : "") + option.substr(blank + 1), words);
    }
    append(option, words);
  }

  Random random_;
};

// What a script has and what is to be read of it.
struct MadeScript {
  std::string text, launcher_line;
  Words command;
  JobScript job;  // its directives
};

void add_directives(ScriptMaker& make, MadeScript& made) {
  std::vector<std::pair<std::string, std::string>> options;  // name or letter, value
  const auto add = [&](const char* name, const char* letter, const std::string& value) {
    options.emplace_back(letter[0] != '\0' && make.one_in(2) ? letter : name, value);
  };
  JobScript& job = made.job;
  if (make.one_in(2)) {
    job.job_name = make.any_of({"solve", "my job",
                                "gr\xC3\xB6\xC3\x9F"
                                "e 2",
                                "a 'b' #1", "-x"});
    add("job-name", "J", job.job_name);
  }
  if (make.one_in(2)) add("partition", "p", job.partition = make.any_of({"epyc", "a,b"}));
  if (make.one_in(3)) add("constraint", "C", job.constraint = make.any_of({"avx&perfcast", "[a|b]"}));
  if (make.one_in(3)) add("comment", "", job.comment = make.any_of({"perfcast:x", "two words"}));
  if (make.one_in(2)) {
    job.tasks = 1 + static_cast<int64_t>(make.below(64));
    add("ntasks", "n", std::to_string(*job.tasks));
  }
  if (make.one_in(2)) {
    job.cpus_per_task = 1 + static_cast<int64_t>(make.below(64));
    add("cpus-per-task", "c", std::to_string(*job.cpus_per_task));
  }
  if (make.one_in(2)) {
    job.nodes = 1 + static_cast<int64_t>(make.below(9));
    add("nodes", "N", std::to_string(*job.nodes) + (make.one_in(3) ? "-20" : ""));
  }
  if (make.one_in(3)) {
    job.tasks_per_node = 4;
    add("ntasks-per-node", "", "4");
  }
  if (make.one_in(3)) {
    const uint64_t form = make.below(4);
    const char* const kTexts[] = {"4096", "4G", "4096M", "4096MB"};
    job.memory_bytes = int64_t{4} << 30;
    add("mem", "", job.memory = kTexts[form]);
  }
  if (make.one_in(2)) {
    const int64_t s = 60 * (1 + static_cast<int64_t>(make.below(5000)));
    char text[40];
    std::snprintf(text, sizeof text, "%lld-%02lld:%02lld:00", static_cast<long long>(s / 86400),
                  static_cast<long long>(s / 3600 % 24), static_cast<long long>(s / 60 % 60));
    job.time = make.one_in(2) ? std::to_string(s / 60) : text;
    job.time_limit_s = s;
    add("time", "t", job.time);
  }
  // Of no interest here.
  if (make.one_in(3)) add("output", "o", "out-%j.txt");
  if (make.one_in(3)) add("mail-user", "", "me@x.org");
  if (make.one_in(3)) add("account", "A", "p1");
  std::vector<std::string> texts;
  for (const auto& [name, value] : options) {
    const bool is_letter = name.size() == 1;
    // A value in the next word may not look like an option.
    const bool is_apart = make.one_in(2) && value[0] != '-';
    std::string text = is_letter ? "-" + name : "--" + name;
    text += is_apart ? (make.one_in(4) ? "\t" : " ") : is_letter ? "" : "=";
    const bool must = value.find_first_of(" '#") != std::string::npos;
    texts.push_back(text + (must || make.one_in(4) ? "\"" + value + "\"" : value));
  }
  if (make.one_in(4)) {
    job.exclusive = true;
    texts.emplace_back("--exclusive");
  }
  for (size_t i = texts.size(); i > 1; --i) std::swap(texts[i - 1], texts[make.below(i)]);
  for (size_t i = 0; i < texts.size(); ++i) {
    made.text += (make.one_in(5) ? "#SBATCH\t" : "#SBATCH ") + texts[i];
    while (i + 1 < texts.size() && make.one_in(4)) made.text += " " + texts[++i];
    if (make.one_in(6)) made.text += "  # why";
    made.text += "\n";
    if (make.one_in(8)) made.text += make.any_of({"\n", "# a comment\n", "##SBATCH --nodes=99\n"});
  }
}

void add_other_lines(ScriptMaker& make, std::string& text) {
  for (uint64_t i = make.below(4); i > 0; --i) {
    text += make.any_of({"module load gcc/12 openmpi\n", "cd $SLURM_SUBMIT_DIR\n", "export OMP_NUM_THREADS=$(nproc)\n",
                         "echo \"starting ./other\"\n", "# srun ./other\n", "set -e\n", "ulimit -s unlimited\n",
                         "mkdir -p out && cd out\n", "source env.sh\n", ". ~/.bashrc\n", "\n", "N=$(wc -l < hosts)\n",
                         "if [ -f x ]; then echo y; fi\n", "date\n", "HOSTS=`scontrol show hostnames`\n",
                         "trap 'echo end' EXIT\n", "ml purge; ml gcc\n", "#SBATCH --ntasks=99\n"});
  }
}

MadeScript make_script(ScriptMaker& make) {
  MadeScript made;
  made.text = make.any_of({"#!/bin/bash\n", "#!/bin/sh\n", "#!/bin/bash -l\n"});
  add_directives(make, made);
  made.text += "true\n";  // the end of the directives
  add_other_lines(make, made.text);
  Words words;
  const bool launches = make.one_in(2);
  const auto add = [&](const Words& more) { words.insert(words.end(), more.begin(), more.end()); };
  for (uint64_t i = make.below(2); i > 0; --i) add(make.call(make.any(manuals::wrappers())));
  if (launches) add(make.call(make.any(manuals::launchers())));
  for (uint64_t i = make.below(3); i > 0; --i) add(make.call(make.any(manuals::wrappers())));
  made.command = {make.any_of({"./solver", "/opt/x y/bin/solver", "python3",
                               "bin/gr\xC3\xB6\xC3\x9F"
                               "e",
                               "a.out"})};
  for (uint64_t i = make.below(5); i > 0; --i) {
    made.command.push_back(
        make.any_of({"case.in", "-n",   "4",    "--steps=3", "-np", "x=1", "two words", "a;b",  ">5", "|x|",  "&", "<",
                     "#5",      "it's", "a\\b", "\"q\"",     "",    "2",   "--",        "srun", "$5", "*.dat"}));
  }
  made.launcher_line = make.one_in(6) ? "A=1 B='x y' " : make.one_in(8) ? "A=$(cat f | wc -l) " : "";
  words.insert(words.end(), made.command.begin(), made.command.end());
  made.launcher_line += make.line_of(words);
  if (make.one_in(6)) {  // expanded when it runs
    const std::string raw = make.any_of({"$(cat opts)", "${A:-b c}", "`cat opts`", "$((N * 2))", "$HOME/x"});
    made.command.push_back(raw);
    made.launcher_line += " " + raw;
  }
  made.launcher_line += make.any_of({"", "", "", " > out.txt", " 2>&1", " >out 2>err", " < in.dat", " &> log",
                                     " >> log 2>&1", " | tee log", " |& tee log", " && echo ok", " || exit 1",
                                     "; echo $?", " # why", " &", " >| log", " <<< word", " 2> err | tee log"});
  made.text += made.launcher_line + "\n";
  add_other_lines(make, made.text);
  if (make.one_in(4)) made.text += "wait\n";
  if (make.one_in(8)) made.text.pop_back();
  return made;
}

TEST(Launchers, TheProgramIsTheSameHoweverItIsStarted) {
  ScriptMaker make(31);
  for (int round = 0; round < 6000; ++round) {
    const MadeScript made = make_script(make);
    const auto job = parse_job_script(made.text, "job.sh");
    ASSERT_TRUE(job) << to_text(job.error()) << "\n" << made.text;
    ASSERT_EQ(job->command_unclear, "") << made.text;
    ASSERT_EQ(job->command, made.command) << made.text;
    ASSERT_EQ(job->runs_more, "") << made.text;
    ASSERT_EQ(job->job_name, made.job.job_name) << made.text;
    ASSERT_EQ(job->partition, made.job.partition) << made.text;
    ASSERT_EQ(job->constraint, made.job.constraint) << made.text;
    ASSERT_EQ(job->comment, made.job.comment) << made.text;
    ASSERT_EQ(job->tasks, made.job.tasks) << made.text;
    ASSERT_EQ(job->cpus_per_task, made.job.cpus_per_task) << made.text;
    ASSERT_EQ(job->nodes, made.job.nodes) << made.text;
    ASSERT_EQ(job->tasks_per_node, made.job.tasks_per_node) << made.text;
    ASSERT_EQ(job->memory, made.job.memory) << made.text;
    ASSERT_EQ(job->memory_bytes, made.job.memory_bytes) << made.text;
    ASSERT_EQ(job->time_limit_s, made.job.time_limit_s) << made.text;
    ASSERT_EQ(job->exclusive, made.job.exclusive) << made.text;
  }
}

// What sbatch refuses, and jobs of several components, wherever it stands.
TEST(Launchers, WhatCantBeAdvisedIsRefused) {
  ScriptMaker make(32);
  for (int round = 0; round < 300; ++round) {
    const MadeScript made = make_script(make);
    std::string dos = made.text;
    for (size_t at = dos.find('\n'); at != std::string::npos; at = dos.find('\n', at + 2)) dos.insert(at, "\r");
    const auto refused = parse_job_script(dos, "job.sh");
    ASSERT_FALSE(refused) << dos;
    ASSERT_EQ(refused.error().code, "bad-job-script") << dos;
    const size_t head = made.text.find('\n') + 1;
    const auto het = parse_job_script(
        made.text.substr(0, head) + "#SBATCH " + make.any_of({"hetjob", "packjob"}) + "\n" + made.text.substr(head),
        "job.sh");
    ASSERT_FALSE(het) << made.text;
    ASSERT_EQ(het.error().code, "heterogeneous-job") << made.text;
    const auto several =
        parse_job_script("#!/bin/sh\nmpirun -n 1 " + make.line_of(made.command) + " : -n 2 ./b\n", "job.sh");
    ASSERT_TRUE(several);
    ASSERT_THAT(several->command, ::testing::IsEmpty()) << made.text;
    ASSERT_THAT(several->command_unclear, ::testing::HasSubstr("several programs")) << made.text;
  }
}

// The plugin splits at blanks alone, so scripts without quotes are the same to it.
TEST(Launchers, ThePluginFindsTheSameProgram) {
  if (std::system("command -v lua5.1 >/dev/null") != 0) GTEST_SKIP() << "lua5.1 is not installed";
  const std::string folder = ::testing::TempDir() + "/perfcast_launchers";
  std::filesystem::create_directories(folder);
  std::ofstream cases(folder + "/cases.lua");
  cases << "return {\n";
  ScriptMaker make(33);
  int count = 0;
  while (count < 2000) {
    const MadeScript made = make_script(make);
    if (made.launcher_line.find_first_of("'\"`$") != std::string::npos) continue;
    const std::string program = made.command[0];
    cases << "{[==[" << made.launcher_line << "\n]==], \"" << program.substr(program.rfind('/') + 1) << "\"},\n";
    ++count;
  }
  cases << "}\n";
  cases.close();
  const std::string check =
      "local plugin, failed = dofile(arg[1]), 0\n"
      "for _, case in ipairs(dofile(arg[2])) do\n"
      "  local found = plugin.program_of_script(case[1])\n"
      "  if found ~= case[2] then failed = failed + 1 print(tostring(found) .. ', not ' .. case[2] .. ': ' .. case[1]) "
      "end\n"
      "end\nos.exit(failed == 0 and 0 or 1)\n";
  std::ofstream(folder + "/check.lua") << check;
  const std::string command = "lua5.1 " + folder + "/check.lua " PERFCAST_SOURCE_DIR "/data/slurm/job_submit.lua " +
                              folder + "/cases.lua > " + folder + "/failed.txt 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0) << *read_file(folder + "/failed.txt");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace perfcast::fleet
