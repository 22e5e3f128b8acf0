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

-- The file name of what a batch script runs: on the last line that launches something, else on the last line that is a
-- command, behind the launcher and its options.
local LAUNCHERS = {srun = true, mpirun = true, mpiexec = true}
local NOT_THE_PROGRAM = {echo = true, exit = true, wait = true, date = true, cd = true, cp = true, mv = true, rm = true,
                         module = true, export = true, set = true, source = true, mkdir = true, done = true, fi = true}
local function program_of_script(script)
  local last, launched
  for line in script:sub(-LONGEST_SCRIPT):gmatch("[^\n]+") do
    local first = line:match("^%s*([^#%s]%S*)")
    if first and LAUNCHERS[first] then launched = line end
    if first and not NOT_THE_PROGRAM[first] then last = line end
  end
  local line = launched or last
  if not line then return nil end
  local skip_value = false
  for word in line:gmatch("%S+") do
    if skip_value then
      skip_value = false
    elseif word:find("^%-%a$") or word == "-np" then
      skip_value = true
    elseif not (LAUNCHERS[word] or word == "exec" or word == "time" or word:find("^%-") or word:find("^[%w_]+=")) then
      if #word > LONGEST_WORD then return nil end
      local name = word:match("^.*/([^/]*)$") or word
      return name ~= "" and name or nil
    end
  end
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
