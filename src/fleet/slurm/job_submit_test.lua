-- lua5.1 job_submit_test.lua JOB_SUBMIT.LUA FOLDER: the plugin with a stand-in for Slurm. Exit status 1 where a case fails.
local plugin_path, folder = arg[1], arg[2]
local cache_path, log_path = folder .. "/cache.tsv", folder .. "/decisions.log"
local logged = {}
slurm = {SUCCESS = 0, log_info = function(format, ...) logged[#logged + 1] = string.format(format, ...) end}

local failures, checks = 0, 0
local function expect(name, found, wanted)
  checks = checks + 1
  if found == wanted then return end
  failures = failures + 1
  print(string.format("FAILED %s: found '%s', expected '%s'", name, tostring(found), tostring(wanted)))
end

local plugin = dofile(plugin_path)
plugin.settings.cache, plugin.settings.log = cache_path, log_path

local function write(path, text)
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
end

local stamp = 0
local function cache(lines, mode, oldest_s)
  stamp = stamp + 1
  write(cache_path, string.format("perfcast-forecasts/1\t%s\t%d\t%d\n", mode or "act", stamp, oldest_s or 1000) .. lines)
end

local partitions = {epyc = {state_up = 3, max_time = 4294967295}, xeon = {state_up = 3, max_time = 60}, arm = {state_up = 3},
                    down = {state_up = 1}}
local now = os.time()
local good = string.format("gzip\t%d\txeon,epyc\txeon=0.6[0.5..0.7]\tepyc=0.61[0.5..0.7]\tarm=1.2[1..1.4]\n", now)

-- The partition, and the last line of the decision log as its fields.
local function submit(job)
  os.remove(log_path)
  logged = {}
  expect("status", slurm_job_submit(job, partitions, 1000), 0)
  local fields = {}
  local file = io.open(log_path, "r")
  if file then
    for field in (file:read("*l") .. "\t"):gmatch("([^\t]*)\t") do fields[#fields + 1] = field end
    file:close()
  end
  return job.partition, fields
end
local function decide(name, job, partition, decision, reason)
  local found, fields = submit(job)
  expect(name .. ": partition", found, partition)
  expect(name .. ": decision", fields[2], decision)
  expect(name .. ": reason", reason and fields[8] and fields[8]:find(reason, 1, true) ~= nil, reason and true)
  if reason and not (fields[8] or ""):find(reason, 1, true) then print("  reason: " .. tostring(fields[8])) end
  expect(name .. ": Slurm's log", #logged, decision and 1 or 0)
end

-- The pseudo-feature goes, all others stay.
for _, case in ipairs({{"perfcast", ""}, {"perfcast&avx", "avx"}, {"avx&perfcast", "avx"}, {"a&perfcast&b", "a&b"},
                       {"a|perfcast&b", "a|b"}, {"a&perfcast|b", "a|b"}, {"[a|b]&perfcast", "[a|b]"},
                       {"perfcast&[a*2&b*4]", "[a*2&b*4]"}, {"[perfcast|a]", "[a]"}, {"(perfcast)", ""}, {"[perfcast]*2", ""},
                       {"(perfcast&a)&b", "(a)&b"}, {"a,perfcast", "a"}, {"perfcast*2&a", "a"}, {"((perfcast))&a", "a"},
                       {"perfcast&perfcast", ""}, {"a&(b|perfcast)", "a&(b)"}}) do
  local kept, found = plugin.without_feature(case[1], "perfcast")
  expect("features " .. case[1], kept, case[2])
  expect("features found " .. case[1], found, true)
end
for _, same in ipairs({"perfcast2", "noperfcast", "avx", "my-perfcast|a", string.rep("a&", 2000) .. "perfcast"}) do
  local kept, found = plugin.without_feature(same, "perfcast")
  expect("no feature", kept, same)
  expect("no feature found", found, false)
end

local begin = os.clock()
plugin.without_feature(string.rep("a|", 200) .. "perfcast" .. string.rep("&", 600), "perfcast")
expect("odd features take no time", os.clock() - begin < 0.02, true)

for _, case in ipairs({{"#!/bin/sh\nmodule load x\nsrun -n 4 --mpi=pmix /opt/bin/solver in\n# end\n\n", "solver"},
                       {"#!/bin/sh\nA=1 ./a.out x", "a.out"},
                       {"perf stat -d -r 5 -x, -e cycles:u,instructions -o out.txt -- ./solver in", "solver"},
                       {"srun -n 4 perf record -g -F 99 --call-graph dwarf ./solver in", "solver"},
                       {"docker run --rm -it -v /a:/b --gpus all image:tag /opt/solver in", "solver"},
                       {"docker run --entrypoint /opt/solver image in", "solver"},
                       {"podman run --userns=keep-id quay.io/x/y:1 env A=1 ./solver in", "solver"},
                       {"docker run --rm registry/image", "image"}, {"docker pull image\n./solver\n", "solver"},
                       {"mpirun --mca a b -genv A 1 -np4 numactl -m 0 ./solver", "solver"},
                       {"mpiexec.hydra -ppn 4 \\\n  -n 8 ./solver", "solver"}, {"time -v ./solver", "solver"},
                       {"singularity -q exec -B /a:/b --nv x.sif taskset -c 0-3 ./solver", "solver"},
                       {"apptainer run --nv x.sif in", "x.sif"}, {"timeout -k 5 60 nice -n 5 ./solver", "solver"},
                       {"#!/bin/sh\nmpirun -np 8 ./solver in\n./post\n", "solver"}, {"./a.out x\necho done\nexit 0\n", "a.out"}, {"#!/bin/sh\n", nil}, {"", nil}}) do
  expect("program", plugin.program_of_script(case[1]), case[2])
end
for _, case in ipairs({{"bin/", nil}, {"/", nil}, {"a//b", "b"}, {"/b", "b"}, {string.rep("d/", 2000) .. "b", "b"},
                       {string.rep("d/", 2100) .. "b", nil}, {"A=" .. string.rep("x", 9000) .. " ./a.out", "a.out"}}) do
  expect("program of a path: " .. case[1]:sub(1, 20), plugin.program_of_script(case[1]), case[2])
end

-- Who asks, and how.
cache(good)
decide("a job that does not ask", {name = "gzip", features = "avx"}, nil, nil)
local job = {name = "gzip", features = "avx&perfcast"}
decide("by constraint and job name", job, "xeon,epyc", "placed", "relative time 0.6[0.5..0.7]")
expect("other features stay", job.features, "avx")
decide("by comment", {name = "x", comment = "perfcast:gzip"}, "xeon,epyc", "placed", "relative time")
decide("by comment and job name", {name = "gzip", comment = "perfcast"}, "xeon,epyc", "placed", "relative time")
decide("by what it runs", {name = "job.sh", features = "perfcast", script = "#!/bin/sh\nsrun /usr/bin/gzip x\n"}, "xeon,epyc",
       "placed", "relative time")
decide("a comment of another kind", {name = "gzip", comment = "perfcasting"}, nil, nil)
decide("a comment without a program", {name = "gzip", comment = "perfcast:a b"}, nil, "left", "names no program")
decide("no name at all", {features = "perfcast"}, nil, "left", "no name")
decide("an unknown program", {name = "zstd", features = "perfcast"}, nil, "left", "no forecast for this program")
decide("a named program is not guessed", {name = "gzip", comment = "perfcast:zstd"}, nil, "left", "no forecast")
job = {name = "gzip", features = "perfcast", partition = "arm"}
decide("the user's partition wins", job, "arm", "left", "the user named a partition")
expect("the pseudo-feature goes all the same", job.features, "")
local _, fields = submit({name = "a\tb\n" .. string.rep("c", 999), comment = "perfcast:gzip"})
expect("a name for a log", fields[5], "a?b?" .. string.rep("c", 124))
expect("fields", #fields, 9)

-- Partitions that can't take the job: the other best ones, then the next best.
decide("a time limit", {name = "gzip", features = "perfcast", time_limit = 90}, "epyc", "placed", "xeon (time limit)")
decide("no time limit", {name = "gzip", features = "perfcast", time_limit = 4294967294}, "xeon,epyc", "placed", "relative")
cache(string.format("gzip\t%d\tdown,gone\tdown=0.5[0.4..0.6]\tgone=0.5[0.4..0.6]\tarm=1.2[1..1.4]\n", now))
decide("the next best", {name = "gzip", features = "perfcast"}, "arm", "placed", "left out: down (not up), gone (not open")
cache(string.format("gzip\t%d\tdown\tdown=0.5[0.4..0.6]\n", now))
decide("none is left", {name = "gzip", features = "perfcast"}, nil, "left", "no partition can take the job")

-- Sizes: numbers as Slurm has them, with NO_VAL (4294967294), INFINITE (4294967295) and NO_VAL16 (65534).
cache(good)
for _, case in ipairs({{{max_nodes = 1}, {min_nodes = 4}, "xeon (at most 1 nodes a job)"},
                       {{max_nodes = 4}, {min_nodes = 4}}, {{max_nodes = 4294967295}, {min_nodes = 4}},
                       {{max_nodes = 0}, {}, "xeon (at most 0 nodes a job)"},
                       {{total_nodes = 1}, {min_nodes = 4}, "xeon (has 1 nodes)"}, {{total_nodes = 4}, {min_nodes = 4}},
                       {{total_nodes = 0}, {}, "xeon (has 0 nodes)"}, {{}, {min_nodes = 4}},
                       {{max_nodes = 1, total_nodes = 1}, {min_nodes = 4294967294}}, {{max_nodes = {}}, {min_nodes = {}}},
                       {{min_nodes = 8}, {max_nodes = 4}, "xeon (at least 8 nodes a job)"},
                       {{min_nodes = 8}, {max_nodes = 0}}, {{min_nodes = 8}, {max_nodes = 4294967294}},
                       {{total_cpus = 8}, {min_cpus = 9}, "xeon (has 8 CPUs)"}, {{total_cpus = 8}, {min_cpus = 8}},
                       {{total_cpus = 8}, {cpus_per_task = 9}, "xeon (has 8 CPUs)"},
                       {{total_cpus = 8}, {cpus_per_task = 65534, min_cpus = 4294967294}}, {{}, {min_cpus = 9}}}) do
  local part, sized = {state_up = 3}, {name = "gzip", features = "perfcast"}
  for field, value in pairs(case[1]) do part[field] = value end
  for field, value in pairs(case[2]) do sized[field] = value end
  local xeon = partitions.xeon
  partitions.xeon = part
  decide("sizes " .. tostring(case[3]), sized, case[3] and "epyc" or "xeon,epyc", "placed", case[3] or "relative")
  partitions.xeon = xeon
end
local small = {epyc = {total_nodes = 1}, xeon = {max_nodes = 1}, arm = {total_nodes = 4, max_nodes = 4294967295}}
local wide = {name = "gzip", features = "perfcast", min_nodes = 4}
slurm_job_submit(wide, small, 1000)
expect("a job of 4 nodes: the next best", wide.partition, "arm")

-- Observe only.
cache(good, "observe")
job = {name = "gzip", features = "perfcast"}
decide("observe", job, nil, "would-place", "relative time 0.6")
expect("observe removes the pseudo-feature", job.features, "")
local _, seen = submit({name = "gzip", features = "perfcast"})
expect("observe logs the partitions", seen[7], "xeon,epyc")

-- Caches that are no use: the job goes on.
local function useless(name, reason)
  local broken = {name = "gzip", features = "perfcast&avx"}
  decide(name, broken, nil, "left", reason)
  expect(name .. ": features", broken.features, "avx")
end
cache(string.format("gzip\t%d\txeon\txeon=0.6[0.5..0.7]\n", now - 2000))
useless("a stale forecast", "stale")
for name, line in pairs({cut_off = good:sub(1, -2), no_time = "gzip\tx\txeon\txeon=1[1..1]\n", no_choice = "gzip\t1\txeon\n",
                         bad_choice = string.format("gzip\t%d\txeon\tepyc=1[1..1]\n", now),
                         bad_name = string.format("gzip\t%d\txeon\tx y=1[1..1]\n", now)}) do
  cache(line)
  useless(name, "malformed")
end
cache(good, "maybe")
useless("an unknown mode", "malformed")
for _, text in ipairs({"", "\n", "perfcast-forecasts/1", string.rep("x", 100000), "\0\1\2\255"}) do
  write(cache_path, text)
  useless("garbage", "malformed")
end
write(cache_path, string.rep("x", plugin.settings.largest_cache_bytes + 1))
useless("too large a cache", "too large")
os.remove(cache_path)
useless("no cache", "no cache")
plugin.settings.cache = folder
useless("a folder for a cache", "")
plugin.settings.cache = folder .. "/fifo"
-- The writer comes after 2 s: a plugin that waits for one is seen, and the test goes on.
if os.execute("rm -f '" .. folder .. "/fifo'; mkfifo '" .. folder .. "/fifo'") == 0 then
  os.execute("(sleep 2; test -p '" .. folder .. "/fifo' && : 3<>'" .. folder .. "/fifo') >/dev/null 2>&1 &")
  local before = os.time()
  useless("a FIFO for a cache", "no regular file")
  expect("a FIFO: not waited for", os.time() - before < 2, true)
  os.remove(folder .. "/fifo")
end
plugin.settings.cache = cache_path

-- Text that is made to take long. The whole call has 50 ms; CPU time is compared, with room for a slow machine.
local function in_time(name, hostile)
  local begun = os.clock()
  expect(name .. ": status", slurm_job_submit(hostile, partitions, 1000), 0)
  local took_s = os.clock() - begun
  expect(string.format("%s: in time (%.3f s)", name, took_s), took_s < 0.5, true)
end
cache(good)
for _, unit in ipairs({"x", "/", "x/", " ", "\n", "=", "a=", "-", "-a ", "#", " #", "\t", "\0", ",", "&", "[", "(|", "srun ",
                       "srun\n", "a\n", "perfcast", "perfcast&", "\255", "'", "\r"}) do
  for _, last in ipairs({"", "/", "=", "\n", " ", "\t", "x"}) do
    local long = string.rep(unit, math.floor(65536 / #unit)):sub(1, 65536 - #last) .. last
    local name = string.format("long %q, %q", unit, last)
    in_time(name .. " as script", {name = "x y", features = "perfcast", script = long})
    in_time(name .. " as program", {name = "x y", features = "perfcast", script = "srun " .. long})
    in_time(name .. " elsewhere", {name = long, features = "perfcast&" .. long, comment = "perfcast:" .. long})
    in_time(name .. " as features", {name = long, features = ("perfcast&" .. long):sub(1, 1024)})
  end
end
in_time("a script of 16 MiB", {name = "x", features = "perfcast", script = string.rep("x/", 8 * 1024 * 1024)})
in_time("texts of 16 MiB", {name = string.rep("x", 2 ^ 24), features = string.rep("p", 2 ^ 24), comment = "perfcast"})
local most = plugin.settings.largest_cache_bytes - 100
for _, line in ipairs({"", "gzip\t", string.format("gzip\t%d\t", now), string.format("gzip\t%d\txeon\t", now),
                       string.format("gzip\t%d\txeon\txeon=", now)}) do
  for _, unit in ipairs({"\n", "1", "\t", ",", "a,", "a", "=", "\ta", "\ta=", "\ta=1", "\ngzip", "\ngzi\tp"}) do
    cache(line .. string.rep(unit, math.floor((most - #line) / #unit)) .. "\n")
    in_time(string.format("a cache of %q, %q", line, unit), {name = "gzip", features = "perfcast", script = "./other"})
  end
end
cache(string.format("gzip\t%d\txeon\txeon=1[1..1]%s\n", now, string.rep("\ta=1", 20000)))
useless("a line that is too long", "too long")

-- A cache is read again when it changed, and only then.
cache(good)
submit({name = "gzip", features = "perfcast"})
local reads = 0
local real_open = io.open
io.open = function(path, mode)
  local file, problem = real_open(path, mode)
  if path ~= cache_path or mode ~= "r+" or not file then return file, problem end
  return setmetatable({}, {__index = {
    read = function(_, what) reads = reads + 1 return file:read(what) end,
    seek = function(_, ...) return file:seek(...) end,
    close = function() return file:close() end}})
end
submit({name = "gzip", features = "perfcast"})
expect("reads of an unchanged cache: its head, twice looked at", reads, 2)
cache((good:gsub("xeon,epyc", "epyc,xeon")))
local changed = submit({name = "gzip", features = "perfcast"})
expect("a changed cache of the same size", changed, "epyc,xeon")

-- Time: a cache that is slow to open, and a lookup that does not end.
local function burn(seconds)
  local stop = os.clock() + seconds
  while os.clock() < stop do end
end
local slow_open = io.open
io.open = function(path, mode)
  if path == cache_path and mode == "r+" then burn(0.2) end
  return slow_open(path, mode)
end
local start = os.clock()
useless("a slow disk", "time limit reached")
expect("a slow disk: given up at once", os.clock() - start < 0.5, true)
io.open = real_open
local endless = setmetatable({}, {__index = function() while true do end end})
local endless_job = {name = "gzip", features = "perfcast"}
start = os.clock()
slurm_job_submit(endless_job, endless, 1000)
local took = os.clock() - start
expect("an endless lookup ends", took < 0.2, true)
expect("an endless lookup leaves the job", endless_job.partition, nil)
expect("no hook stays behind", debug.gethook(), nil)

-- Nothing of Slurm's may make a submission fail.
slurm.log_info = function() error("no log") end
plugin.settings.log = "/nowhere/decisions.log"
local still = {name = "gzip", features = "perfcast"}
expect("without logs", slurm_job_submit(still, partitions, 1000), 0)
expect("without logs: placed", still.partition, "epyc,xeon")
expect("odd values", slurm_job_submit({name = {}, features = 7, comment = {}}, nil, nil), 0)
expect("no partitions", slurm_job_submit({name = "gzip", features = "perfcast"}, nil, 1), 0)
expect("modify", slurm_job_modify({}, {}, partitions, 0), 0)

-- The log's size is bounded.
plugin.settings.log, plugin.settings.log_bytes = log_path, 100
os.remove(log_path .. ".1")
for _ = 1, 10 do slurm_job_submit({name = "gzip", features = "perfcast"}, partitions, 1) end
local rolled = io.open(log_path .. ".1", "r")
expect("an old log is put aside", rolled ~= nil, true)
if rolled then rolled:close() end
local current = io.open(log_path, "r")
expect("the log is short", current:seek("end") < 1000, true)
current:close()

print(string.format("%d checks, %d failed", checks, failures))
os.exit(failures == 0 and 0 or 1)
