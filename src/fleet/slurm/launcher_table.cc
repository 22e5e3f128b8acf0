#include "fleet/slurm/launcher_table.h"

#include <fmt/format.h>

#include "base/text.h"

namespace perfcast::fleet {
namespace {

constexpr std::string_view kSrunSwitches =
    "bcast compress contiguous debugger-test disable-status exact exclusive external get-user-env help hold immediate "
    "interactive kill-on-bad-exit label multi-prog nice no-allocate no-bcast no-kill no-shell overcommit overlap "
    "oversubscribe preserve-env propagate pty quiet quit-on-interrupt reboot resv-ports send-libs share spread-job "
    "stepmgr unbuffered usage use-min-nodes verbose version whole x11";
constexpr std::string_view kApptainerSwitches =
    "allow-setuid cleanenv compat contain containall debug disable-cache docker-login fakeroot ignore-fakeroot-command "
    "ignore-subuid ignore-userns ipc keep-privs net no-compat no-eval no-home no-https no-init no-pid no-privs "
    "no-setgroups no-tmp-sandbox no-umask nocolor nohttps nv nvccli oci pid quiet rocm sif-fuse silent tmp-sandbox "
    "underlay unsquash userns uts verbose vm writable writable-tmpfs";
constexpr std::string_view kContainerSwitches =
    "all cuda-mpi debug detach disable-content-trust env-host gpu help http-proxy init interactive latest module mpi "
    "nccl "
    "no-healthcheck no-hostname no-hosts oom-kill-disable openmpi-pmi2 openmpi-pmix passwd privileged publish-all "
    "quiet "
    "read-only read-only-tmpfs replace rm rmi rootfs sig-proxy tls tls-verify tlsverify tty unsetenv-all";
constexpr std::string_view kPerfStatSwitches =
    "all-cpus all-kernel all-user append big-num detailed hybrid-merge interval-clear json-output metric-no-group "
    "metric-no-merge metric-no-threshold metric-only no-aggr no-big-num no-csv-summary no-inherit no-merge no-scale "
    "null "
    "per-cache per-core per-die per-node per-socket per-thread quiet scale smi-cost summary sync topdown transaction "
    "verbose";
constexpr std::string_view kPerfRecordSwitches =
    "all-cgroups all-cpus all-kernel all-user branch-any buildid-all buildid-mmap code-page-size data data-page-size "
    "dry-run exclude-perf intr-regs kcore kernel-callchains namespaces no-bpf-event no-buffering no-buildid "
    "no-buildid-cache no-inherit no-samples off-cpu overwrite per-thread period phys-data quiet raw-samples "
    "running-time "
    "sample-cpu sample-identifier stat strict-freq tail-synthesize threads timestamp timestamp-boundary "
    "timestamp-filename transaction user-callchains user-regs verbose weight";

constexpr std::string_view kMpiSwitches =
    // Open MPI and PRRTE
    "allow-run-as-root bind-to-core bind-to-none bind-to-socket bycore byslot bynode bysocket continuous debug "
    "debug-daemons debug-daemons-file disable-recovery display-allocation display-devel-allocation display-devel-map "
    "display-diffable-map display-map display-topo do-not-launch do-not-resolve enable-instant-on-support "
    "enable-recovery fwd-mpirun-port get-stack-traces h help hetero-nodes index-argv-by-rank leave-session-attached "
    "merge-stderr-to-stdout no-oversubscribe nolocal nooversubscribe noprefix novm oversubscribe pernode "
    "preload-binary q quiet report-bindings report-child-jobs-separately report-state-on-timeout "
    "set-cwd-to-session-dir show-progress staged tag-output timestamp-output tv use-hwthread-cpus v V verbose version "
    "wait-for-server xml "
    // Hydra, of MPICH and Intel MPI
    "check_mpi cleanup dac disable-auto-cleanup disable-hostname-propagation disable-x enable-x envall envnone gdb "
    "genvall genvnone ilp64 info l nousize ordered-output pmi-port prepend-rank print-all-exitcodes print-rank-map rr "
    "silent-abort skip-launch-node static_mpi tmi rdma dapl ib psm psm2 mx";

using enum OptionStyle;
constexpr Launcher kLaunchers[] = {
    {"srun", kLetters, "AaBbCcDdeFGgiJLMmNnopqrStTWwx", "IKP", kSrunSwitches, true},
    {"mpirun mpiexec mpiexec_mpt orterun prterun prun ibrun", kMpi, "", "", kMpiSwitches, true},
    {"mpirun_rsh", kMpi, "", "", "debug export export-all help legacy rsh show ssh use-xlauncher v xterm", true},
    {"aprun", kMpi, "", "",
     "b B q ss T batch-args bypass-app-transfer help quiet strict-memory-containment sync-output version", true},
    {"jsrun", kLetters, "abcdDeEfFghJkKlmMnopPrStUX", "", "help immediate usage version", true},
    {"lrun", kMpi, "", "", "nolbind pack v verbose", true},
    {"likwid-mpirun", kMpi, "", "", "d debug f force h help ld m marker O stats v version", true},
    {"flux", kLetters, "BcgNnoqSt", "", "dry-run exclusive label-io quiet unbuffered verbose wait", true, "run submit"},
    {"tacc_affinity nohup catchsegv command unbuffer", kLetters, "", "", "*"},
    {"xvfb-run", kLetters, "efnpsw", "", "auto-display auto-servernum help listen-tcp"},
    {"vtune", kMpi, "", "", "allow-multiple-runs no-summary q quiet start-paused trace-mpi v verbose"},
    {"time", kLetters, "fo", "", "append portability quiet verbose"},
    {"nice", kLetters, "n"},
    {"ionice", kLetters, "cnpPu", "", "ignore"},
    {"exec", kLetters, "a"},
    {"setsid", kLetters, "", "", "ctty fork wait"},
    {"env", kLetters, "uC", "",
     "block-signal debug default-signal ignore-environment ignore-signal list-signal-handling null"},
    {"numactl", kLetters, "CNmipPwx", "", "all balancing hardware localalloc show touch"},
    {"taskset", kLetters, "", "", "all-tasks cpu-list", false, "", 1},
    {"chrt", kLetters, "TPD", "", "all-tasks batch deadline ext fifo idle other reset-on-fork rr verbose", false, "",
     1},
    {"stdbuf", kLetters, "ioe"},
    {"hwloc-bind", kLetters, "", "", "cpubind membind single strict get logical physical quiet verbose", false, "", 1},
    {"likwid-pin likwid-perfctr", kLetters, "cCdgMosStTV", "", "quiet stats"},
    {"timeout", kLetters, "ks", "", "foreground preserve-status verbose", false, "", 1},
    {"flock", kLetters, "Ew", "", "exclusive nonblock no-fork shared verbose", false, "", 1},
    {"sudo", kLetters, "CDghpRrTtuU", "", "background login non-interactive preserve-env set-home"},
    {"perf", kLetters, "CDGIMbeoprtx", "", kPerfStatSwitches, false, "stat"},
    {"perf", kLetters, "CDFGcejkmoprtu", "S", kPerfRecordSwitches, false, "record"},
    {"perf", kLetters, "CDFGemopu", "", "all-cpus force no-inherit sched summary time verbose", false, "trace"},
    {"strace ltrace", kLetters, "AbEIOPSUXaelnopsu", "", "*"},
    {"valgrind", kLetters, "", "", "*"},
    {"nsys", kLetters, "bcdefhnopstwxy", "", "", false, "profile launch"},
    {"ncu nv-nsight-cu-cli", kLetters, "ckos", "", "csv force-overwrite print-summary verbose"},
    {"conda mamba micromamba", kLetters, "np", "", "debug-wrapper-scripts dev live-stream no-capture-output", false,
     "run"},
    {"singularity apptainer", kLetters, "BHSWol", "", kApptainerSwitches, false, "exec", 1},
    {"singularity apptainer", kLetters, "BHSWol", "", kApptainerSwitches, false, "run shell", 0, true},
    {"docker podman podman-hpc nerdctl sarus udocker", kLetters, "aceHhlmpuvw", "", kContainerSwitches, false,
     "run exec", 1, true, "entrypoint"},
    {"enroot", kLetters, "cem", "", "root rw", false, "start", 1, true},
    {"shifter", kLetters, "ieVvmw", "", "clearenv help verbose"},
    {"ch-run", kLetters, "bcdgums", "",
     "cache no-home no-passwd private-tmp quiet unset-env verbose version warnings write write-fake", false, "", 1},
};

}  // namespace

const std::string_view kMpiPairs = "mca gmca omca gomca prtemca gprtemca pmixmca gpmixmca genv env";
const std::string_view kMpiOptional = "trace trace-imbalance tune";

const std::string_view kNotTheProgram =
    "cd set unset export module ml source . echo printf ulimit umask mkdir rmdir rm cp mv ln wait exit date hostname "
    "sleep true : [ [[ test trap local shift read cat tee spack conda eval touch chmod alias shopt fi done esac } "
    "sbcast if for while until case elif return function scontrol pwd";

std::span<const Launcher> launcher_table() { return kLaunchers; }

bool has_word(std::string_view list, std::string_view word) {
  if (word.empty() || word.find(' ') != std::string_view::npos) return false;
  for (size_t at = list.find(word); at != std::string_view::npos; at = list.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || list[at - 1] == ' ') && (end == list.size() || list[end] == ' ')) return true;
  }
  return false;
}

std::string launchers_as_lua() {
  constexpr size_t kWidth = 120;
  const auto text_of = [](std::string_view list) {
    std::string lines;
    for (const std::string& line : split(wrapped(list, kWidth - 20), '\n')) {
      lines += fmt::format("{}\"{}\"", lines.empty() ? "" : " .. \" \" ..\n    ", trim(line));
    }
    return lines;
  };
  std::string lua;
  for (const auto& [name, list] :
       {std::pair{"MPI_PAIRS", kMpiPairs}, {"MPI_OPTIONAL", kMpiOptional}, {"NOT_THE_PROGRAM", kNotTheProgram}}) {
    lua += fmt::format("local {} = set({})\n", name, text_of(list));
  }
  lua += "local LAUNCHERS = {\n";
  for (const Launcher& launcher : launcher_table()) {
    lua += fmt::format("  {{names = \"{}\"", launcher.names);
    const auto add = [&lua](const char* name, const std::string& value) {
      lua += fmt::format(", {} = {}", name, value);
    };
    if (launcher.style == kMpi) add("mpi", "true");
    if (!launcher.letters_with_value.empty()) add("letters", fmt::format("\"{}\"", launcher.letters_with_value));
    if (!launcher.letters_with_rest.empty()) add("rest", fmt::format("\"{}\"", launcher.letters_with_rest));
    if (launcher.launches) add("launches", "true");
    if (!launcher.verbs.empty()) add("verbs", fmt::format("set(\"{}\")", launcher.verbs));
    if (launcher.operands > 0) add("operands", std::to_string(launcher.operands));
    if (launcher.runs_image) add("runs_image", "true");
    if (!launcher.program_option.empty()) add("program_option", fmt::format("\"{}\"", launcher.program_option));
    if (launcher.switches == "*") add("all_switches", "true");
    if (!launcher.switches.empty() && launcher.switches != "*") {
      lua += fmt::format(",\n   switches = set({})", text_of(launcher.switches));
    }
    lua += "},\n";
  }
  return lua + "}\n";
}

}  // namespace perfcast::fleet
