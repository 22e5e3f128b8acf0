-- perfcast's job_submit plugin for Slurm (JobSubmitPlugins=lua; this file beside slurm.conf): fills in the partition of
-- jobs that ask for it, from forecasts that `perfcast slurm advise --cache` has put down. docs/slurm.md says more.
--
-- A job asks with --constraint=perfcast (alone or among other features) or --comment=perfcast, and names its program
-- with --comment=perfcast:NAME, else by its job name, else by the file name of what it runs. Other jobs pass untouched.
-- Whatever is wrong here (no cache, a broken one, more than 50 ms gone), the job goes on as it was submitted.
--
-- Nothing interrupts a string function: patterns over users' text start with "^" or can't fail late, so that each takes
-- time that is linear in the text, and texts are cut first.

local settings = {
  cache = os.getenv("PERFCAST_SLURM_CACHE") or "/var/lib/perfcast/forecasts.tsv",  -- a file on a local disk
  log = os.getenv("PERFCAST_SLURM_LOG") or "/var/log/perfcast-slurm.log",          -- "" for none
  log_bytes = 16 * 1024 * 1024,       -- then it becomes .1, and a new one is begun
  limit_s = 0.050,                    -- over reading and choosing
  largest_cache_bytes = 4 * 1024 * 1024,
  feature = "perfcast",               -- the pseudo-feature of --constraint, and the word of --comment
}

local LONGEST_TEXT = 1024     -- of constraints and comments that are looked into
local LONGEST_SCRIPT = 65536  -- bytes at the end of a batch script that are looked into
local LONGEST_WORD = 4096     -- no path is longer
local LONGEST_LINE = 65536    -- bytes of a line of the cache
local NO_LIMIT = 4294967294   -- Slurm's NO_VAL; INFINITE is one more
local NO_LIMIT_16 = 65534     -- the same of numbers of 16 bits
local UP = 3                  -- PARTITION_UP: takes jobs and starts them

-- Seconds since boot, by a clock that no one sets; steps of 10 ms. CPU time where /proc is absent.
local function now_s()
  local file = io.open("/proc/uptime", "r")
  if not file then return os.clock() end
  local seconds = file:read("*n")
  file:close()
  return seconds or os.clock()
end

-- Untrusted text for a log: no control characters, not long.
local function clean(text)
  return (tostring(text or ""):sub(1, 128):gsub("[%c\127]", "?"))
end

local function plain_name(text)
  if text and #text <= 128 and text:find("^[%w._+][%w._+-]*$") then return text end
end

-- "[a|b]&perfcast" -> "[a|b]", true. A feature that everything has: next to "&" it goes, and where it stood between
-- different operators "|" stays.
local function without_feature(features, feature)
  if not features or #features > LONGEST_TEXT or not features:find(feature, 1, true) then return features, false end
  local tokens, found = {}, false
  for word, mark in features:gmatch("([^&|,%[%]()]*)([&|,%[%]()]?)") do
    if word ~= "" then
      if word == feature or word:find("^" .. feature .. "%*%d+$") then
        found = true
      else
        tokens[#tokens + 1] = word
      end
    end
    if mark ~= "" then tokens[#tokens + 1] = mark end
  end
  if not found then return features, false end
  local function is(token, marks) return token and #token == 1 and marks:find(token, 1, true) ~= nil end
  local i = 1
  while i <= #tokens do
    local this, next_one = tokens[i], tokens[i + 1]
    local first = i == 1 or is(tokens[i - 1], "[(")
    local last = next_one == nil or is(next_one, "])")
    local step_back = true
    if is(this, "&|,") and (first or last) then
      table.remove(tokens, i)
    elseif is(this, "&|,") and is(next_one, "&|,") then
      tokens[i] = (this == "|" or next_one == "|") and "|" or this
      table.remove(tokens, i + 1)
    elseif is(this, "[(") and is(next_one, "])") then
      table.remove(tokens, i)
      table.remove(tokens, i)
      if tokens[i] and tokens[i]:find("^%*%d+$") then table.remove(tokens, i) end
    else
      step_back = false
    end
    i = step_back and math.max(1, i - 1) or i + 1
  end
  return table.concat(tokens), true
end

-- What stands before a program, how its options are written, and what is no program: a copy of perfcast's own lists,
-- which its tests compare (src/fleet/slurm/launcher_table.h says what the fields mean).
local function set(words)
  local members = {}
  for word in words:gmatch("%S+") do members[word] = true end
  return members
end
-- launchers: begin
local MPI_PAIRS = set("mca gmca omca gomca prtemca gprtemca pmixmca gpmixmca genv env")
local MPI_OPTIONAL = set("trace trace-imbalance tune")
local NOT_THE_PROGRAM = set("cd set unset export module ml source . echo printf ulimit umask mkdir rmdir rm cp mv ln wait exit" .. " " ..
    "date hostname sleep true : [ [[ test trap local shift read cat tee spack conda eval touch chmod" .. " " ..
    "alias shopt fi done esac } sbcast if for while until case elif return function scontrol pwd")
local LAUNCHERS = {
  {names = "srun", letters = "AaBbCcDdeFGgiJLMmNnopqrStTWwx", rest = "IKP", launches = true,
   switches = set("bcast compress contiguous debugger-test disable-status exact exclusive external get-user-env help" .. " " ..
    "hold immediate interactive kill-on-bad-exit label multi-prog nice no-allocate no-bcast no-kill" .. " " ..
    "no-shell overcommit overlap oversubscribe preserve-env propagate pty quiet quit-on-interrupt reboot" .. " " ..
    "resv-ports send-libs share spread-job stepmgr unbuffered usage use-min-nodes verbose version whole" .. " " ..
    "x11")},
  {names = "mpirun mpiexec mpiexec_mpt orterun prterun prun ibrun", mpi = true, launches = true,
   switches = set("allow-run-as-root bind-to-core bind-to-none bind-to-socket bycore byslot bynode bysocket continuous" .. " " ..
    "debug debug-daemons debug-daemons-file disable-recovery display-allocation display-devel-allocation" .. " " ..
    "display-devel-map display-diffable-map display-map display-topo do-not-launch do-not-resolve" .. " " ..
    "enable-instant-on-support enable-recovery fwd-mpirun-port get-stack-traces h help hetero-nodes" .. " " ..
    "index-argv-by-rank leave-session-attached merge-stderr-to-stdout no-oversubscribe nolocal" .. " " ..
    "nooversubscribe noprefix novm oversubscribe pernode preload-binary q quiet report-bindings" .. " " ..
    "report-child-jobs-separately report-state-on-timeout set-cwd-to-session-dir show-progress staged" .. " " ..
    "tag-output timestamp-output tv use-hwthread-cpus v V verbose version wait-for-server xml check_mpi" .. " " ..
    "cleanup dac disable-auto-cleanup disable-hostname-propagation disable-x enable-x envall envnone gdb" .. " " ..
    "genvall genvnone ilp64 info l nousize ordered-output pmi-port prepend-rank print-all-exitcodes" .. " " ..
    "print-rank-map rr silent-abort skip-launch-node static_mpi tmi rdma dapl ib psm psm2 mx")},
  {names = "mpirun_rsh", mpi = true, launches = true,
   switches = set("debug export export-all help legacy rsh show ssh use-xlauncher v xterm")},
  {names = "aprun", mpi = true, launches = true,
   switches = set("b B q ss T batch-args bypass-app-transfer help quiet strict-memory-containment sync-output version")},
  {names = "jsrun", letters = "abcdDeEfFghJkKlmMnopPrStUX", launches = true,
   switches = set("help immediate usage version")},
  {names = "lrun", mpi = true, launches = true,
   switches = set("nolbind pack v verbose")},
  {names = "likwid-mpirun", mpi = true, launches = true,
   switches = set("d debug f force h help ld m marker O stats v version")},
  {names = "flux", letters = "BcgNnoqSt", launches = true, verbs = set("run submit"),
   switches = set("dry-run exclusive label-io quiet unbuffered verbose wait")},
  {names = "tacc_affinity nohup catchsegv command unbuffer", all_switches = true},
  {names = "xvfb-run", letters = "efnpsw",
   switches = set("auto-display auto-servernum help listen-tcp")},
  {names = "vtune", mpi = true,
   switches = set("allow-multiple-runs no-summary q quiet start-paused trace-mpi v verbose")},
  {names = "time", letters = "fo",
   switches = set("append portability quiet verbose")},
  {names = "nice", letters = "n"},
  {names = "ionice", letters = "cnpPu",
   switches = set("ignore")},
  {names = "exec", letters = "a"},
  {names = "setsid",
   switches = set("ctty fork wait")},
  {names = "env", letters = "uC",
   switches = set("block-signal debug default-signal ignore-environment ignore-signal list-signal-handling null")},
  {names = "numactl", letters = "CNmipPwx",
   switches = set("all balancing hardware localalloc show touch")},
  {names = "taskset", operands = 1,
   switches = set("all-tasks cpu-list")},
  {names = "chrt", letters = "TPD", operands = 1,
   switches = set("all-tasks batch deadline ext fifo idle other reset-on-fork rr verbose")},
  {names = "stdbuf", letters = "ioe"},
  {names = "hwloc-bind", operands = 1,
   switches = set("cpubind membind single strict get logical physical quiet verbose")},
  {names = "likwid-pin likwid-perfctr", letters = "cCdgMosStTV",
   switches = set("quiet stats")},
  {names = "timeout", letters = "ks", operands = 1,
   switches = set("foreground preserve-status verbose")},
  {names = "flock", letters = "Ew", operands = 1,
   switches = set("exclusive nonblock no-fork shared verbose")},
  {names = "sudo", letters = "CDghpRrTtuU",
   switches = set("background login non-interactive preserve-env set-home")},
  {names = "perf", letters = "CDGIMbeoprtx", verbs = set("stat"),
   switches = set("all-cpus all-kernel all-user append big-num detailed hybrid-merge interval-clear json-output" .. " " ..
    "metric-no-group metric-no-merge metric-no-threshold metric-only no-aggr no-big-num no-csv-summary" .. " " ..
    "no-inherit no-merge no-scale null per-cache per-core per-die per-node per-socket per-thread quiet" .. " " ..
    "scale smi-cost summary sync topdown transaction verbose")},
  {names = "perf", letters = "CDFGcejkmoprtu", rest = "S", verbs = set("record"),
   switches = set("all-cgroups all-cpus all-kernel all-user branch-any buildid-all buildid-mmap code-page-size data" .. " " ..
    "data-page-size dry-run exclude-perf intr-regs kcore kernel-callchains namespaces no-bpf-event" .. " " ..
    "no-buffering no-buildid no-buildid-cache no-inherit no-samples off-cpu overwrite per-thread period" .. " " ..
    "phys-data quiet raw-samples running-time sample-cpu sample-identifier stat strict-freq" .. " " ..
    "tail-synthesize threads timestamp timestamp-boundary timestamp-filename transaction user-callchains" .. " " ..
    "user-regs verbose weight")},
  {names = "perf", letters = "CDFGemopu", verbs = set("trace"),
   switches = set("all-cpus force no-inherit sched summary time verbose")},
  {names = "strace ltrace", letters = "AbEIOPSUXaelnopsu", all_switches = true},
  {names = "valgrind", all_switches = true},
  {names = "nsys", letters = "bcdefhnopstwxy", verbs = set("profile launch")},
  {names = "ncu nv-nsight-cu-cli", letters = "ckos",
   switches = set("csv force-overwrite print-summary verbose")},
  {names = "conda mamba micromamba", letters = "np", verbs = set("run"),
   switches = set("debug-wrapper-scripts dev live-stream no-capture-output")},
  {names = "singularity apptainer", letters = "BHSWol", verbs = set("exec"), operands = 1,
   switches = set("allow-setuid cleanenv compat contain containall debug disable-cache docker-login fakeroot" .. " " ..
    "ignore-fakeroot-command ignore-subuid ignore-userns ipc keep-privs net no-compat no-eval no-home" .. " " ..
    "no-https no-init no-pid no-privs no-setgroups no-tmp-sandbox no-umask nocolor nohttps nv nvccli oci" .. " " ..
    "pid quiet rocm sif-fuse silent tmp-sandbox underlay unsquash userns uts verbose vm writable" .. " " ..
    "writable-tmpfs")},
  {names = "singularity apptainer", letters = "BHSWol", verbs = set("run shell"), runs_image = true,
   switches = set("allow-setuid cleanenv compat contain containall debug disable-cache docker-login fakeroot" .. " " ..
    "ignore-fakeroot-command ignore-subuid ignore-userns ipc keep-privs net no-compat no-eval no-home" .. " " ..
    "no-https no-init no-pid no-privs no-setgroups no-tmp-sandbox no-umask nocolor nohttps nv nvccli oci" .. " " ..
    "pid quiet rocm sif-fuse silent tmp-sandbox underlay unsquash userns uts verbose vm writable" .. " " ..
    "writable-tmpfs")},
  {names = "docker podman podman-hpc nerdctl sarus udocker", letters = "aceHhlmpuvw", verbs = set("run exec"), operands = 1, runs_image = true, program_option = "entrypoint",
   switches = set("all cuda-mpi debug detach disable-content-trust env-host gpu help http-proxy init interactive latest" .. " " ..
    "module mpi nccl no-healthcheck no-hostname no-hosts oom-kill-disable openmpi-pmi2 openmpi-pmix" .. " " ..
    "passwd privileged publish-all quiet read-only read-only-tmpfs replace rm rmi rootfs sig-proxy tls" .. " " ..
    "tls-verify tlsverify tty unsetenv-all")},
  {names = "enroot", letters = "cem", verbs = set("start"), operands = 1, runs_image = true,
   switches = set("root rw")},
  {names = "shifter", letters = "ieVvmw",
   switches = set("clearenv help verbose")},
  {names = "ch-run", letters = "bcdgums", operands = 1,
   switches = set("cache no-home no-passwd private-tmp quiet unset-env verbose version warnings write write-fake")},
}
-- launchers: end
local LAUNCHERS_OF = {}  -- by name
for _, launcher in ipairs(LAUNCHERS) do
  for name in launcher.names:gmatch("%S+") do
    LAUNCHERS_OF[name] = LAUNCHERS_OF[name] or {}
    table.insert(LAUNCHERS_OF[name], launcher)
  end
end

local function base_name(path) return path:match("^.*/([^/]*)$") or path end

-- How many of the next words belong to an option.
local function values_of_mpi(launcher, option, next_word, after)
  if option:find("=", 1, true) then return 0 end
  local name = option:gsub("^%-%-?", "")
  if name:find("^.%d+$") or (launcher.switches and launcher.switches[name]) then return 0 end
  if MPI_OPTIONAL[name] then return (not next_word:find("^%-") and after:find("^%-")) and 1 or 0 end
  if not MPI_PAIRS[name] then return 1 end
  return (name:find("env", 1, true) and next_word:find("=", 1, true)) and 1 or 2
end
local function values_of_letters(launcher, option)
  if option:find("^%-%-") then
    if option:find("=", 1, true) or launcher.all_switches then return 0 end
    return (launcher.switches and launcher.switches[option:sub(3)]) and 0 or 1
  end
  for i = 2, #option do
    local letter = option:sub(i, i)
    if launcher.rest and launcher.rest:find(letter, 1, true) then return 0 end
    if launcher.letters and launcher.letters:find(letter, 1, true) then return i == #option and 1 or 0 end
  end
  return 0
end
local function skip_options(launcher, words, i)
  while words[i] and words[i]:find("^%-") do
    if words[i] == "--" then return i + 1 end
    i = i + 1 + (launcher.mpi and values_of_mpi(launcher, words[i], words[i + 1] or "", words[i + 2] or "")
                               or values_of_letters(launcher, words[i]))
  end
  return math.min(i, #words + 1)
end
local function launcher_at(words, i)
  local name = base_name(words[i])
  local known = LAUNCHERS_OF[name]
  if not known then
    known = LAUNCHERS_OF[name:match("^[^.]*")]  -- mpiexec.hydra
    if not known or not known[1].mpi then return nil end
  end
  for _, launcher in ipairs(known) do
    if not launcher.verbs or launcher.verbs[words[skip_options(launcher, words, i + 1)] or ""] then return launcher end
  end
  return known[1]
end
local function value_of(option, words, from, to)
  for i = from, to - 1 do
    if words[i] == "--" .. option then return words[i + 1] end
    if words[i]:sub(1, #option + 3) == "--" .. option .. "=" then return words[i]:sub(#option + 4) end
  end
end

-- The program of a line, and whether a launcher of parallel programs starts it; nil: none, or several.
local function program_of_line(line)
  local words, launched = {}, false
  for word in line:gmatch("%S+") do words[#words + 1] = word end
  local i = 1
  while words[i] do
    local word = words[i]
    if word:find("^[%w_]+=") or word == "do" or word == "then" or word == "else" or word == "!" then
      i = i + 1
    else
      local launcher = launcher_at(words, i)
      if not launcher then break end
      launched = launched or launcher.launches or false
      local first_option = i + 1
      i = skip_options(launcher, words, first_option)
      if launcher.verbs then
        if not launcher.verbs[words[i] or ""] then return nil end
        i = skip_options(launcher, words, i + 1)
      end
      local named = launcher.program_option and value_of(launcher.program_option, words, first_option, i)
      if named then return named, launched end
      local operands = launcher.operands or 0
      if launcher.runs_image and (operands == 0 or i + operands > #words) then break end
      i = i + operands
      if words[i] == "--" then i = i + 1 end
    end
  end
  return words[i], launched
end

-- The file name of what a batch script runs: on the last line that launches something, else on the last line that is a
-- command, behind launchers, containers and their options.
local function program_of_script(script)
  local last, launched
  for line in script:sub(-LONGEST_SCRIPT):gsub("\\\n", "  "):gmatch("[^\n]+") do
    if not line:find("^%s*#") then
      local program, by_launcher = program_of_line(line)
      if program and not NOT_THE_PROGRAM[program] then
        if by_launcher then launched = program end
        last = program
      end
    end
  end
  local program = launched or last
  if not program or #program > LONGEST_WORD then return nil end
  local name = base_name(program)
  return name ~= "" and name or nil
end

-- The text of the cache, read again only where its head or size changed. Errors carry the reason.
local held = {}
local function cache_text(check_time)
  -- To open a FIFO for reading waits for a writer; for reading and writing, on Linux, it does not, and then seek tells.
  -- Nothing is ever written. Who may not write the file just reads it.
  local file = io.open(settings.cache, "r+")
  local problem
  if not file then file, problem = io.open(settings.cache, "r") end
  if not file then error("no cache: " .. tostring(problem), 0) end
  check_time()
  local size = file:seek("end")
  if not size then file:close() error("the cache can't be read, or is no regular file", 0) end
  if size > settings.largest_cache_bytes then file:close() error("the cache is too large", 0) end
  file:seek("set", 0)
  local head = file:read(256) or ""
  head = head:match("^[^\n]*\n")
  if head and held.path == settings.cache and head == held.head and size == held.size then
    file:close()
    return held.text, held.mode, held.oldest_s
  end
  local mode, oldest_s = (head or ""):match("^perfcast%-forecasts/1\t(%a+)\t%d+\t(%d+)\n$")
  if mode ~= "act" and mode ~= "observe" then file:close() error("the cache is malformed: its first line", 0) end
  local parts, left = {}, size
  file:seek("set", 0)
  while left > 0 do
    local part = file:read(math.min(left, 65536))
    if not part then break end
    parts[#parts + 1] = part
    left = left - #part
    check_time()
  end
  file:close()
  local text = table.concat(parts)
  if text:sub(-1) ~= "\n" or #text ~= size then error("the cache is malformed: cut off", 0) end
  held = {path = settings.cache, head = head, size = size, text = text, mode = mode, oldest_s = tonumber(oldest_s)}
  return text, mode, held.oldest_s
end

-- Chosen partitions, and all of them best first, of a program. Errors carry the reason.
local function forecast_of(text, program, oldest_s, check_time)
  local _, begin = text:find("\n" .. program .. "\t", 1, true)
  check_time()
  if not begin then error("no forecast for this program", 0) end
  local line = text:sub(begin + 1, (text:find("\n", begin, true) or #text + 1) - 1)
  if #line > LONGEST_LINE then error("the cache is malformed: the program's line is too long", 0) end
  local made_s, chosen_text, rest = line:match("^(%d+)\t([^\t]+)(\t.+)$")
  if not made_s then error("the cache is malformed: the program's line", 0) end
  if os.time() - tonumber(made_s) > oldest_s then error("the forecast is stale", 0) end
  local chosen, ranking = {}, {}
  for name in chosen_text:gmatch("[^,]+") do chosen[#chosen + 1] = name end
  for name, time in rest:gmatch("\t([^\t=]+)=([^\t]+)") do
    if not plain_name(name) then error("the cache is malformed: a partition's name", 0) end
    ranking[#ranking + 1] = {name = name, time = time}
  end
  if #chosen == 0 or #ranking == 0 then error("the cache is malformed: no partition", 0) end
  return chosen, ranking
end

-- A number of Slurm's, nil where it is absent, 0 or stands for "no limit" or "not set".
local function amount(value, no_limit)
  local number = tonumber(value)
  if number and number > 0 and number < no_limit then return number end
end
-- Of a partition: 0 nodes are none.
local function capacity(value)
  return tonumber(value) == 0 and 0 or amount(value, NO_LIMIT)
end
local function exceeds(wanted, most) return wanted ~= nil and most ~= nil and wanted > most end

-- Why a job can't go to a partition, as far as this is known here.
local function obstacle(job_desc, part_list, name)
  local part = part_list and part_list[name]
  if not part then return "not open to this user" end
  if part.state_up and part.state_up ~= UP then return "not up" end
  if exceeds(amount(job_desc.time_limit, NO_LIMIT), capacity(part.max_time)) then return "time limit" end
  local nodes = amount(job_desc.min_nodes, NO_LIMIT) or 1
  if exceeds(nodes, capacity(part.max_nodes)) then return "at most " .. part.max_nodes .. " nodes a job" end
  if exceeds(nodes, capacity(part.total_nodes)) then return "has " .. part.total_nodes .. " nodes" end
  if exceeds(amount(part.min_nodes, NO_LIMIT), amount(job_desc.max_nodes, NO_LIMIT)) then
    return "at least " .. part.min_nodes .. " nodes a job"
  end
  local cpus = math.max(amount(job_desc.min_cpus, NO_LIMIT) or 1, amount(job_desc.cpus_per_task, NO_LIMIT_16) or 1)
  if exceeds(cpus, capacity(part.total_cpus)) then return "has " .. part.total_cpus .. " CPUs" end
end

-- The choice for one job: partitions as text, program, reason, mode.
local function choose(job_desc, part_list, program, check_time)
  local text, mode, oldest_s = cache_text(check_time)
  local chosen, ranking = forecast_of(text, program, oldest_s, check_time)
  local times, usable, left_out = {}, {}, {}
  for _, one in ipairs(ranking) do times[one.name] = one.time end
  local function try(name)
    local why = obstacle(job_desc, part_list, name)
    if why then
      left_out[#left_out + 1] = name .. " (" .. why .. ")"
    else
      usable[#usable + 1] = name
    end
  end
  for _, name in ipairs(chosen) do
    if not times[name] then error("the cache is malformed: a choice without a forecast", 0) end
    try(name)
  end
  for _, one in ipairs(ranking) do  -- none of the best: the next best
    if #usable > 0 then break end
    local is_chosen = false
    for _, name in ipairs(chosen) do is_chosen = is_chosen or name == one.name end
    if not is_chosen then try(one.name) end
  end
  local without = #left_out > 0 and "; left out: " .. table.concat(left_out, ", ") or ""
  if #usable == 0 then error("no partition can take the job" .. without, 0) end
  check_time()
  return table.concat(usable, ","), mode, "relative time " .. times[usable[1]] .. without
end

-- Runs `work` under the time limit; true and its results, or false and the reason.
local function limited(work)
  local start_s = now_s()
  local function check_time()
    -- The clock's steps are 10 ms: a step more than the limit is surely over it, a step less may be.
    if now_s() - start_s > settings.limit_s - 0.005 then error("time limit reached", 0) end
  end
  debug.sethook(check_time, "", 10000)
  local results = {pcall(work, check_time)}
  debug.sethook()
  return results[1], results[2], results[3], results[4]
end

local function write_log(line)
  if settings.log == "" then return end
  local file = io.open(settings.log, "a")
  if not file then return end
  local size = file:seek("end")
  if size and size > settings.log_bytes then
    file:close()
    os.rename(settings.log, settings.log .. ".1")
    file = io.open(settings.log, "a")
    if not file then return end
  end
  file:write(line, "\n")
  file:close()
end

local function record(job_desc, submit_uid, decision, mode, program, partitions, reason, took_s)
  local line = table.concat({os.date("!%Y-%m-%dT%H:%M:%SZ"), decision, mode, tostring(submit_uid), clean(job_desc.name),
                             clean(program), partitions, clean(reason), string.format("%.1f", took_s * 1000)}, "\t")
  pcall(write_log, line)
  if slurm and slurm.log_info then
    pcall(slurm.log_info, "%s", string.format("perfcast: %s program=%s partition=%s: %s", decision, clean(program),
                                              partitions, clean(reason)))
  end
end

-- What a site's own job_submit.lua may call. Never fails, returns nothing.
function perfcast_place(job_desc, part_list, submit_uid)
  pcall(function()
    local features = job_desc.features
    local comment = job_desc.comment or ""
    local ok, kept, by_feature = pcall(without_feature, features, settings.feature)
    -- First of all: no node has the pseudo-feature, so with it the job would be refused.
    if ok and by_feature then job_desc.features = kept end
    local word = comment:sub(1, LONGEST_TEXT)
    local named = word:sub(1, #settings.feature + 1) == settings.feature .. ":"
    if not ((ok and by_feature) or named or word == settings.feature) then return end

    local start_s = now_s()
    local partitions, mode, program, reason = "", "-", nil, nil
    local fine, a, b, c = limited(function(check_time)
      if job_desc.partition and job_desc.partition ~= "" then error("the user named a partition", 0) end
      if named then
        program = plain_name(word:sub(#settings.feature + 2))
        if not program then error("the comment names no program", 0) end
        return choose(job_desc, part_list, program, check_time)
      end
      -- By its job name; where that is not known, as for a script without one, by what it runs.
      program = plain_name(job_desc.name)
      local text, _, oldest_s = cache_text(check_time)
      if not program or not text:find("\n" .. program .. "\t", 1, true) then
        check_time()
        local other = plain_name(program_of_script(job_desc.script or ""))
        if other and text:find("\n" .. other .. "\t", 1, true) then program = other end
      end
      if not program then error("the job has no name that a program could have", 0) end
      return choose(job_desc, part_list, program, check_time)
    end)
    local decision = "left"
    if fine then
      partitions, mode, reason = a, b, c
      decision = mode == "act" and "placed" or "would-place"
      if mode == "act" then job_desc.partition = partitions end
    else
      reason = a
    end
    record(job_desc, submit_uid, decision, mode, program, partitions, reason, now_s() - start_s)
  end)
  debug.sethook()
end

function slurm_job_submit(job_desc, part_list, submit_uid)
  perfcast_place(job_desc, part_list, submit_uid)
  return slurm.SUCCESS
end

function slurm_job_modify(job_desc, job_rec, part_list, modify_uid)
  return slurm.SUCCESS
end

-- For tests: settings and parts. Slurm takes no notice of what a script returns.
return {settings = settings, without_feature = without_feature, program_of_script = program_of_script}
