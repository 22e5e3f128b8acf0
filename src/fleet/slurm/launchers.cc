#include "fleet/slurm/launchers.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <set>
#include <string_view>

namespace perfcast::fleet {
namespace {

using Names = std::set<std::string_view>;

// How a wrapper's options are written.
enum class Style {
  kLetters,  // -n 4, -n4, -ln 4; --long VALUE, --long=VALUE
  kMpi,      // -name and --name are one; values stand in the next words, or behind "="
};

struct Wrapper {
  Names names;
  Style style = Style::kLetters;
  std::string_view letters_with_value;  // in the next word, or attached
  std::string_view letters_with_rest;   // an optional value, only attached
  Names switches;                       // long options without a value, or with one only behind "="
  bool launches = false;                // what it starts is the job's program
  Names verbs = {};                     // one of them stands before the options
  size_t operands = 0;                  // words between the options and the program
};

const Names& mpi_switches() {
  static const Names kNames = {
      // Open MPI and PRRTE
      "allow-run-as-root", "bind-to-core", "bind-to-none", "bind-to-socket", "bycore", "byslot", "bynode", "bysocket",
      "continuous", "debug", "debug-daemons", "debug-daemons-file", "disable-recovery", "display-allocation",
      "display-devel-allocation", "display-devel-map", "display-diffable-map", "display-map", "display-topo",
      "do-not-launch", "do-not-resolve", "enable-instant-on-support", "enable-recovery", "fwd-mpirun-port",
      "get-stack-traces", "h", "help", "index-argv-by-rank", "leave-session-attached", "merge-stderr-to-stdout",
      "no-oversubscribe", "nolocal", "nooversubscribe", "noprefix", "novm", "oversubscribe", "pernode", "q", "quiet",
      "report-bindings", "report-child-jobs-separately", "report-state-on-timeout", "show-progress", "staged",
      "tag-output", "timestamp-output", "tv", "use-hwthread-cpus", "v", "V", "verbose", "version", "xml",
      // Hydra, of MPICH and Intel MPI
      "check_mpi", "cleanup", "dac", "disable-auto-cleanup", "disable-hostname-propagation", "disable-x", "enable-x",
      "envall", "envnone", "gdb", "genvall", "genvnone", "ilp64", "info", "l", "nousize", "ordered-output", "pmi-port",
      "prepend-rank", "print-all-exitcodes", "print-rank-map", "rr", "silent-abort", "skip-launch-node", "static_mpi",
      "tmi", "rdma", "dapl", "ib", "psm", "psm2", "mx",
      // aprun
      "b", "B", "ss", "T"};
  return kNames;
}

const Names& mpi_pairs() {
  static const Names kNames = {"mca",      "gmca",    "omca",     "gomca", "prtemca",
                               "gprtemca", "pmixmca", "gpmixmca", "genv",  "env"};
  return kNames;
}

// Intel MPI's, with a value or without: the value is a word that options follow.
const Names& mpi_optional() {
  static const Names kNames = {"trace", "trace-imbalance", "tune"};
  return kNames;
}

const std::vector<Wrapper>& wrappers() {
  static const std::vector<Wrapper> kWrappers = {
      {{"srun"},
       Style::kLetters,
       "AaBbCcDdeFGgiJLMmNnopqrStTWwx",
       "IKP",
       {"bcast",      "compress",   "contiguous",    "debugger-test",     "disable-status",
        "exact",      "exclusive",  "external",      "get-user-env",      "help",
        "hold",       "immediate",  "interactive",   "kill-on-bad-exit",  "label",
        "multi-prog", "nice",       "no-allocate",   "no-bcast",          "no-kill",
        "no-shell",   "overcommit", "overlap",       "oversubscribe",     "preserve-env",
        "propagate",  "pty",        "quiet",         "quit-on-interrupt", "reboot",
        "resv-ports", "send-libs",  "share",         "spread-job",        "stepmgr",
        "unbuffered", "usage",      "use-min-nodes", "verbose",           "version",
        "whole",      "x11"},
       true},
      {{"mpirun", "mpiexec", "orterun", "prterun", "prun", "ibrun", "aprun", "jsrun", "lrun", "mpirun_rsh"},
       Style::kMpi,
       "",
       "",
       {},
       true},
      {{"tacc_affinity", "nohup", "catchsegv"}, Style::kLetters, "", "", {}},
      {{"time"}, Style::kLetters, "fo", "", {"append", "portability", "quiet", "verbose"}},
      {{"nice"}, Style::kLetters, "n", "", {}},
      {{"ionice"}, Style::kLetters, "cnpPu", "", {"ignore"}},
      {{"exec"}, Style::kLetters, "a", "", {}},
      {{"command"}, Style::kLetters, "", "", {}},
      {{"setsid"}, Style::kLetters, "", "", {"ctty", "fork", "wait"}},
      {{"env"},
       Style::kLetters,
       "uC",
       "",
       {"block-signal", "debug", "default-signal", "ignore-environment", "ignore-signal", "list-signal-handling",
        "null"}},
      {{"numactl"}, Style::kLetters, "CNmipPwx", "", {"all", "balancing", "hardware", "localalloc", "show", "touch"}},
      {{"taskset"}, Style::kLetters, "", "", {"all-tasks", "cpu-list"}, false, {}, 1},
      {{"chrt"},
       Style::kLetters,
       "TPD",
       "",
       {"all-tasks", "batch", "deadline", "ext", "fifo", "idle", "other", "reset-on-fork", "rr", "verbose"},
       false,
       {},
       1},
      {{"stdbuf"}, Style::kLetters, "ioe", "", {}},
      {{"hwloc-bind"},
       Style::kLetters,
       "",
       "",
       {"cpubind", "membind", "single", "strict", "get", "logical", "physical", "quiet", "verbose"},
       false,
       {},
       1},
      {{"likwid-pin", "likwid-perfctr"}, Style::kLetters, "cCdgMosStTV", "", {"quiet", "stats"}},
      {{"likwid-mpirun"}, Style::kMpi, "", "", {}, true},
      {{"timeout"}, Style::kLetters, "ks", "", {"foreground", "preserve-status", "verbose"}, false, {}, 1},
      {{"singularity", "apptainer"},
       Style::kLetters,
       "BHSWol",
       "",
       {"allow-setuid",  "cleanenv",
        "compat",        "contain",
        "containall",    "debug",
        "disable-cache", "docker-login",
        "fakeroot",      "ignore-fakeroot-command",
        "ignore-subuid", "ignore-userns",
        "ipc",           "keep-privs",
        "net",           "no-compat",
        "no-eval",       "no-home",
        "no-https",      "no-init",
        "no-pid",        "no-privs",
        "no-setgroups",  "no-tmp-sandbox",
        "no-umask",      "nocolor",
        "nohttps",       "nv",
        "nvccli",        "oci",
        "pid",           "quiet",
        "rocm",          "sif-fuse",
        "silent",        "tmp-sandbox",
        "underlay",      "unsquash",
        "userns",        "uts",
        "verbose",       "vm",
        "writable",      "writable-tmpfs"},
       false,
       {"exec", "run", "shell"},
       1},
      {{"shifter"}, Style::kLetters, "ieVvmw", "", {"clearenv", "help", "verbose"}},
      {{"ch-run"},
       Style::kLetters,
       "bcdgums",
       "",
       {"cache", "no-home", "no-passwd", "private-tmp", "quiet", "unset-env", "verbose", "version", "warnings", "write",
        "write-fake"},
       false,
       {},
       1},
  };
  return kWrappers;
}

bool is_assignment(std::string_view word) {
  const size_t equals = word.find('=');
  if (equals == 0 || equals == std::string_view::npos) return false;
  return std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals), [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
}

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

const Wrapper* wrapper_of(std::string_view word) {
  const std::string_view name = base_name(word);
  for (const Wrapper& wrapper : wrappers()) {
    if (wrapper.names.contains(name)) return &wrapper;
    // mpiexec.hydra, mpirun.openmpi
    if (wrapper.style == Style::kMpi && wrapper.names.contains(name.substr(0, name.find('.')))) return &wrapper;
  }
  return nullptr;
}

// How many of the next words belong to an option.
size_t values_of_mpi(std::string_view option, std::string_view next, std::string_view after) {
  if (option.find('=') != std::string_view::npos) return 0;
  const std::string_view name = option.substr(option.starts_with("--") ? 2 : 1);
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  if (name.size() > 1 && std::all_of(name.begin() + 1, name.end(), is_digit)) return 0;  // -n4
  if (mpi_switches().contains(name)) return 0;
  if (mpi_optional().contains(name)) return !next.starts_with('-') && after.starts_with('-') ? 1 : 0;
  if (!mpi_pairs().contains(name)) return 1;
  // Hydra takes -genv NAME=VALUE, too.
  return name.ends_with("env") && next.find('=') != std::string_view::npos ? 1 : 2;
}

size_t values_of_letters(const Wrapper& wrapper, std::string_view option) {
  if (option.starts_with("--")) {
    return option.find('=') == std::string_view::npos && !wrapper.switches.contains(option.substr(2)) ? 1 : 0;
  }
  for (size_t i = 1; i < option.size(); ++i) {
    if (wrapper.letters_with_rest.find(option[i]) != std::string_view::npos) return 0;
    if (wrapper.letters_with_value.find(option[i]) != std::string_view::npos) return i + 1 == option.size() ? 1 : 0;
  }
  return 0;
}

size_t skip_options(const Wrapper& wrapper, const std::vector<std::string>& words, size_t i) {
  for (; i < words.size() && !words[i].empty() && words[i][0] == '-'; ++i) {
    if (words[i] == "--") return i + 1;
    const auto word = [&](size_t at) { return at < words.size() ? std::string_view(words[at]) : std::string_view(); };
    i += wrapper.style == Style::kMpi ? values_of_mpi(words[i], word(i + 1), word(i + 2))
                                      : values_of_letters(wrapper, words[i]);
  }
  return std::min(i, words.size());
}

}  // namespace

LaunchedProgram program_of(const std::vector<std::string>& words) {
  LaunchedProgram program;
  bool lists_programs = false;
  size_t i = 0;
  while (i < words.size()) {
    if (is_assignment(words[i]) || words[i] == "do" || words[i] == "then" || words[i] == "else" || words[i] == "!") {
      ++i;
      continue;
    }
    const Wrapper* wrapper = wrapper_of(words[i]);
    if (wrapper == nullptr) break;
    program.launched = program.launched || wrapper->launches;
    const size_t first_option = i + 1;
    i = skip_options(*wrapper, words, first_option);
    const auto from = static_cast<std::ptrdiff_t>(std::min(first_option, i)), to = static_cast<std::ptrdiff_t>(i);
    // srun --multi-prog FILE: the programs stand in the file.
    lists_programs =
        lists_programs || (wrapper->names.contains("srun") &&
                           std::find(words.begin() + from, words.begin() + to, "--multi-prog") != words.begin() + to);
    if (!wrapper->verbs.empty()) {
      if (i >= words.size() || !wrapper->verbs.contains(words[i])) return program;  // apptainer pull: no program
      const bool runs_image = words[i] != "exec";
      i = skip_options(*wrapper, words, i + 1);
      if (runs_image) break;  // the image is the program
    }
    i = std::min(i + wrapper->operands, words.size());
    if (i < words.size() && words[i] == "--") ++i;
  }
  program.words.assign(words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
  program.several = lists_programs || (program.launched && std::find(program.words.begin(), program.words.end(), ":") !=
                                                               program.words.end());
  return program;
}

}  // namespace perfcast::fleet
