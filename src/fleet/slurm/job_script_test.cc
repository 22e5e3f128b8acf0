#include "fleet/slurm/job_script.h"

#include <gmock/gmock.h>

namespace perfcast::fleet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

JobScript parsed(const std::string& text) {
  const auto job = parse_job_script(text, "job.sh");
  EXPECT_TRUE(job.ok()) << job.error().message;
  return job ? *job : JobScript();
}

std::string script_error(const std::string& text) {
  const auto job = parse_job_script(text, "job.sh");
  return job ? "" : job.error().code + " at " + job.error().where;
}

std::vector<std::string> command_of(const std::string& lines) { return parsed("#!/bin/sh\n" + lines).command; }

TEST(JobScriptTest, ReadsDirectivesInAllTheirForms) {
  const JobScript job = parsed(
      "#!/bin/bash -l\n"
      "# a comment\n"
      "#SBATCH --partition=epyc,graviton   # where\n"
      "#SBATCH -C \"[rack1|rack2]&perfcast\" --mem 4G\n"
      "#SBATCH -C avx&perfcast\n"
      "#SBATCH -n8 -c 4\n"
      "#SBATCH --nodes=2-4 -J 'my job' --array=1-9%3\n"
      "#SBATCH -o out-%j.txt --comment=perfcast:gzip\n"
      "#SBATCH\t--time=1-12:30\n"
      "#SBATCHING --partition=wrong\n"
      "##SBATCH --partition=wrong\n"
      " #SBATCH --partition=wrong\n"
      "\n"
      "srun ./a.out x\n"
      "#SBATCH --partition=late\n");
  EXPECT_EQ(job.partition, "epyc,graviton");
  EXPECT_EQ(job.constraint, "avx&perfcast");
  EXPECT_EQ(job.memory, "4G");
  EXPECT_EQ(job.memory_bytes, int64_t{4} << 30);
  EXPECT_EQ(job.tasks, 8);
  EXPECT_EQ(job.cpus_per_task, 4);
  EXPECT_EQ(job.cores_per_task(), 4);
  EXPECT_EQ(job.nodes, 2);
  EXPECT_EQ(job.job_name, "my job");
  EXPECT_EQ(job.array, "1-9%3");
  EXPECT_EQ(job.comment, "perfcast:gzip");
  EXPECT_EQ(job.time_limit_s, 36 * 3600 + 30 * 60);
  EXPECT_THAT(job.command, ElementsAre("./a.out", "x"));
}

TEST(JobScriptTest, CountsCoresAndMemory) {
  const JobScript job =
      parsed("#!/bin/sh\n#SBATCH --exclusive --nodes=2 --ntasks-per-node=8 -c 4 --mem-per-cpu=2G\n./a.out\n");
  EXPECT_TRUE(job.exclusive);
  EXPECT_EQ(job.tasks_per_node, 8);
  EXPECT_EQ(job.memory_bytes_per_core, int64_t{2} << 30);
  EXPECT_EQ(job.cores(), 64);
  EXPECT_EQ(parsed("#!/bin/sh\n#SBATCH -n 3\n./a.out\n").cores(), 3);
}

TEST(JobScriptTest, AbsentIsAbsent) {
  const JobScript job = parsed("#!/bin/sh\n./a.out\n");
  EXPECT_EQ(job.partition + job.constraint + job.comment + job.array + job.time + job.memory, "");
  EXPECT_FALSE(job.tasks || job.cpus_per_task || job.nodes || job.time_limit_s || job.memory_bytes);
  EXPECT_EQ(job.cores_per_task(), 1);
}

TEST(JobScriptTest, Times) {
  const auto seconds = [](const char* text) { return *parse_slurm_time_s(text, "x"); };
  EXPECT_EQ(seconds("90"), 5400);
  EXPECT_EQ(seconds("1:30"), 90);
  EXPECT_EQ(seconds("2:00:05"), 7205);
  EXPECT_EQ(seconds("1-12"), 129'600);
  EXPECT_EQ(seconds("1-12:30:01"), 131'401);
  EXPECT_EQ(seconds("UNLIMITED"), std::nullopt);
  EXPECT_EQ(seconds("0"), std::nullopt);
  for (const char* bad : {"", "x", "1:2:3:4", "1-", "-5", "1::2", "1-1:1:1:1", "99999999999999999999"}) {
    EXPECT_FALSE(parse_slurm_time_s(bad, "x").ok()) << bad;
  }
}

TEST(JobScriptTest, RefusesWhatSbatchRefuses) {
  EXPECT_EQ(script_error(""), "bad-job-script at job.sh");
  EXPECT_EQ(script_error("./a.out\n"), "bad-job-script at job.sh");
  EXPECT_EQ(script_error("#!/bin/sh\r\n./a.out\r\n"), "bad-job-script at job.sh");
  EXPECT_EQ(script_error(std::string("#!/bin/sh\n\0", 11)), "bad-job-script at job.sh");
  EXPECT_EQ(script_error("#!/bin/sh\n#SBATCH --ntasks=many\n"), "bad-directive at job.sh:2");
  EXPECT_EQ(script_error("#!/bin/sh\n\n#SBATCH -c 0\n"), "bad-directive at job.sh:3");
  EXPECT_EQ(script_error("#!/bin/sh\n#SBATCH --mem=4Q\n"), "bad-directive at job.sh:2");
  EXPECT_EQ(script_error("#!/bin/sh\n#SBATCH --mem=999999999T\n"), "bad-directive at job.sh:2");
  EXPECT_EQ(script_error("#!/bin/sh\n#SBATCH --time=soon\n"), "bad-directive at job.sh:2");
  EXPECT_EQ(script_error("#!/bin/sh\n#SBATCH --comment=\"open\n"), "bad-directive at job.sh:2");
  EXPECT_EQ(script_error("#!/bin/sh\n#SBATCH --partition\n"), "bad-directive at job.sh:2");
  EXPECT_EQ(script_error("#!/bin/sh\n#SBATCH -n " + std::string(1000, '9') + "\n"), "bad-directive at job.sh:2");
}

TEST(JobScriptTest, FindsTheProgram) {
  EXPECT_THAT(command_of("module load gcc\ncd /scratch\nexport A=1\n./solver -i in.txt > out.txt 2>&1\necho done\n"),
              ElementsAre("./solver", "-i", "in.txt"));
  EXPECT_THAT(
      command_of("./prepare\nsrun -n 4 --mpi pmix --exclusive --cpus-per-task=2 ./solver 'two words'\n./post\n"),
      ElementsAre("./solver", "two words"));
  EXPECT_THAT(command_of("OMP_NUM_THREADS=4 time -p mpirun -np 8 \\\n  --bind-to core ./solver \\\n  --steps 3\n"),
              ElementsAre("./solver", "--steps", "3"));
  EXPECT_THAT(command_of("for i in 1 2; do srun ./step $i; done\n"), ElementsAre("./step", "$i"));
  EXPECT_THAT(command_of("if true\nthen ./yes\nfi\n"), ElementsAre("./yes"));
  EXPECT_THAT(command_of("cat in | ./filter | tee out\n"), ElementsAre("./filter"));
  EXPECT_THAT(command_of("timeout -k 5 60 nice -n 5 ./a.out 7 & wait\n"), ElementsAre("./a.out", "7"));
  EXPECT_THAT(command_of("./solver 4 > out.txt 2>err\n"), ElementsAre("./solver", "4"));
  EXPECT_THAT(command_of("./solver '>5' \"|\" '' >| out.txt\n"), ElementsAre("./solver", ">5", "|", ""));
  EXPECT_THAT(command_of("N=$(wc -l < hosts)\nsrun -n $((N * 2)) ./solver $(cat opts) `x y`\n"),
              ElementsAre("./solver", "$(cat opts)", "`x y`"));
  EXPECT_THAT(command_of("mpirun --mca btl self,\\\nvader ./sol\\\nver x \\\\\n./not_this\\\n"),
              ElementsAre("./solver", "x", "\\"));
  EXPECT_THAT(command_of("mpirun --mca btl self,\\\nvader ./sol\\\nver x\\"), ElementsAre("./solver", "x"));
  EXPECT_THAT(command_of("srun ./a.out << END\nrm -rf x\n./not_this\nEND\n"), ElementsAre("./a.out"));
}

TEST(JobScriptTest, FindsTheProgramBehindLaunchers) {
  const char* const prefixes[] = {"mpirun --mca btl self,vader --mca pml ucx -np 64",
                                  "mpirun -mca btl self -x LD_LIBRARY_PATH",
                                  "mpirun --map-by socket --bind-to core --report-bindings",
                                  "mpirun -ppn 32 -n 64",
                                  "mpirun -n4 --oversubscribe",
                                  "mpirun -trace -np 2",
                                  "mpirun -trace libVTfs.so -tune -np 2",
                                  "mpiexec -tune",
                                  "mpirun --fwd-mpirun-port -np 2",
                                  "hwloc-bind --membind node:0",
                                  "likwid-pin -q -c 0-3",
                                  "mpiexec.hydra -ppn 32 -n 64 -genv I_MPI_PIN 1",
                                  "mpiexec -genv A=1 -envall -n 2",
                                  "mpiexec.openmpi -np=4",
                                  "/opt/mpi/bin/mpirun --tag-output --display-map -H a,b",
                                  "srun --mpi=pmix -l --kill-on-bad-exit",
                                  "srun -ln 4 --propagate --cpu-bind cores",
                                  "srun -K1 -u -n4",
                                  "srun --exclusive --het-group 0 --",
                                  "ibrun",
                                  "ibrun -n 4 -o 0 tacc_affinity",
                                  "srun singularity exec --nv img.sif",
                                  "singularity -q exec -B /a:/b --cleanenv --pwd /x img.sif",
                                  "apptainer exec -eB/a img.sif env A=1",
                                  "numactl --cpunodebind=0 --localalloc",
                                  "numactl -m 0 -C 0-3",
                                  "taskset -c 0-3",
                                  "taskset --cpu-list 0-3",
                                  "mpirun -np 4 numactl -l taskset 0xff",
                                  "aprun -n 4 -cc cpu -b",
                                  "jsrun -n1 -a1 -brs -l gpu-cpu --bind packed:7",
                                  "mpirun_rsh -ssh -np 4 -hostfile hosts A=1",
                                  "lrun -T 4",
                                  "likwid-mpirun -m -np 4",
                                  "mpiexec_mpt -np 4",
                                  "mpirun --hetero-nodes --preload-binary -np 4",
                                  "flux run -n4 -x",
                                  "vtune -collect hotspots -quiet -r dir --",
                                  "xvfb-run -a -n 99 -s '-screen 0 640x480x24'",
                                  "chrt -f 10 ionice -c 2",
                                  "time -v",
                                  "env -i A=1 stdbuf -oL",
                                  "timeout --foreground 60 mpirun -np 2",
                                  "perf stat",
                                  "perf stat -d -d -r 5 -x, -e cycles:u,instructions -o out.txt --",
                                  "perf stat -e cycles -x , --per-core -a -I 100",
                                  "perf stat --event cycles --repeat=3 --no-big-num",
                                  "perf record -g -F 99 --call-graph dwarf -o perf.data --",
                                  "perf trace -s",
                                  "srun -n 4 perf stat -e cache-misses",
                                  "mpirun -np 2 perf record -c 1000",
                                  "docker run --rm -it -v /a:/b -e A=1 --gpus all image:tag",
                                  "docker --context far run --cpus=4 --name x --network host image",
                                  "docker exec -it -w /work container",
                                  "podman run --rm --userns=keep-id --volume /a:/b quay.io/x/y:1",
                                  "podman run -d --tls-verify=false -p 80:80 image env A=1",
                                  "srun podman-hpc run --mpi --rm image",
                                  "sarus run --mpi --mount=type=bind,source=/a,destination=/b image",
                                  "podman run image perf stat -e cycles",
                                  "perf stat -- podman run --rm image",
                                  "enroot start --rw -m /a:/b image",
                                  "nsys profile -o out --stats true -t cuda,mpi",
                                  "ncu --set full -o out -f",
                                  "valgrind --tool=cachegrind -q",
                                  "strace -f -c -o out",
                                  "conda run -n env --no-capture-output",
                                  "sudo -E -u me",
                                  "flock -x lock"};
  for (const std::string prefix : prefixes) {
    EXPECT_THAT(command_of(prefix + " ./solver case.in\n"), ElementsAre("./solver", "case.in")) << prefix;
  }
  EXPECT_THAT(command_of("apptainer run --nv img.sif case.in\n"), ElementsAre("img.sif", "case.in"));
  EXPECT_THAT(command_of("docker run --rm image:tag\n"), ElementsAre("image:tag"));
  EXPECT_THAT(command_of("docker run --init --entrypoint ./solver image case.in\n"),
              ElementsAre("./solver", "case.in"));
  EXPECT_THAT(command_of("podman run --entrypoint=./solver image\n"), ElementsAre("./solver"));
  EXPECT_THAT(command_of("docker pull image\nperf report\n./solver\n"), ElementsAre("./solver"));
  EXPECT_THAT(command_of("apptainer pull img.sif docker://x\n./solver\n"), ElementsAre("./solver"));
  EXPECT_THAT(parsed("#!/bin/sh\nmpirun -n 1 ./a : -n 2 ./b\n").command_unclear, HasSubstr("several programs"));
  EXPECT_THAT(parsed("#!/bin/sh\nsrun -n 4 --multi-prog programs.conf\n").command_unclear,
              HasSubstr("several programs"));
  EXPECT_EQ(script_error("#!/bin/sh\n#SBATCH -n 1\n#SBATCH hetjob\n#SBATCH -n 4\n./a\n"),
            "heterogeneous-job at job.sh:3");
}

TEST(JobScriptTest, SaysWhatElseTakesTime) {
  const auto more = [](const std::string& commands) { return parsed("#!/bin/sh\n" + commands).runs_more; };
  EXPECT_EQ(more("module load gcc\ncd x && export A=1\necho start; srun -n 4 ./solver a.in | tee log\ndate\n"), "");
  EXPECT_EQ(more("if [ -f a.in ]\nthen ./solver a.in\nfi\nfor m in gcc mpi; do module load $m; done\n"), "");
  EXPECT_EQ(more("for i in 1 2; do srun ./step $i; done\n"), "the script runs commands in a loop");
  EXPECT_EQ(more("for ((i=0; i<9; i++))\ndo\n  ./step\ndone\n"), "the script runs commands in a loop");
  EXPECT_EQ(more("while read line; do for j in a b; do :; done; ./step $line; done < list\n"),
            "the script runs commands in a loop");
  EXPECT_EQ(more("until ./ready; do :; done\nsrun ./solver\n"), "the script runs commands in a loop");
  EXPECT_EQ(more("./prepare\nsrun ./solver\npython3 plot.py\n"), "the script also runs prepare, python3");
  EXPECT_EQ(more("if ./prepare; then srun ./solver; fi\n"), "the script also runs prepare");
  EXPECT_EQ(more("a; b; c; d; a; cp x y; ./solver\n"), "the script also runs a, b, 3 more");
  EXPECT_EQ(more("./solver a\n./solver b &\nwait\n"), "the script runs the program 2 times");
  EXPECT_EQ(more("sleep 3600\n./solver\n"), "the script also runs sleep");
  EXPECT_EQ(more("srun ./solver << END\n"), "the script may run more behind quoted text or a here-document");
  EXPECT_THAT(more("mpirun -n 1 ./a : -n 2 ./b\n"), HasSubstr("several programs"));
}

TEST(JobScriptTest, SaysWhenTheProgramCantBeTold) {
  const JobScript empty = parsed("#!/bin/sh\nmodule load gcc\n");
  EXPECT_THAT(empty.command, IsEmpty());
  EXPECT_THAT(empty.command_unclear, HasSubstr("no command"));
  EXPECT_THAT(parsed("#!/bin/sh\n$PROGRAM x\n").command_unclear, HasSubstr("$PROGRAM"));
  EXPECT_THAT(parsed("#!/bin/sh\n./a.out 'open\n./b\n").command_unclear, HasSubstr("quoted text"));
  EXPECT_THAT(parsed("#!/bin/sh\n").command_unclear, HasSubstr("no command"));
  EXPECT_THAT(parsed("#!/bin/sh\nsrun -n\n").command, IsEmpty());
}

TEST(JobScriptTest, ShellWords) {
  EXPECT_THAT(*shell_words("a 'b c' \"d\\\"e\" f\\ g '' # h", LineKind::kCommand),
              ElementsAre("a", "b c", "d\"e", "f g", ""));
  EXPECT_THAT(*shell_words("a&&b|c;d#e", LineKind::kCommand), ElementsAre("a", "&&", "b", "|", "c", ";", "d#e"));
  EXPECT_THAT(*shell_words("-C a&b|c", LineKind::kDirective), ElementsAre("-C", "a&b|c"));
  EXPECT_THAT(*shell_words(R"("a\b \$c \\" 2>d 'e'3<f 4 > g)", LineKind::kCommand),
              ElementsAre(R"(a\b $c \)", ">", "d", "e3", "<", "f", "4", ">", "g"));
  EXPECT_THAT(*shell_words(R"x($(a "b c" (d)) ${e:-f g}h "$(i "j")" `k l`)x", LineKind::kCommand),
              ElementsAre(R"x($(a "b c" (d)))x", "${e:-f g}h", R"x($(i "j"))x", "`k l`"));
  EXPECT_THAT(*shell_words("-J $(a b", LineKind::kDirective), ElementsAre("-J", "$(a", "b"));
  for (const char* open : {"a \"b", "$(a", "\"$(a\"", "`a", "${a"})
    EXPECT_FALSE(shell_words(open, LineKind::kCommand)) << open;
}

}  // namespace
}  // namespace perfcast::fleet
