// A program's time on every known CPU, and why.
import { post, useAnswer, useList } from './api.js';
import { digits, percent, time } from './format.js';
import { Instances } from './instances.jsx';
import { Busy, intervalColumn, Notes, ProblemBox, Select, Shares, Table, Text } from './parts.jsx';
import { Picker, startOf, useProfile } from './picker.jsx';

export const words = (text) => (text ?? '').split(/\s*,\s*/).filter(Boolean);

// The filters of a request from the fields of the link.
export function filtersOf({ kind, vendor, arch, filter }) {
  const named = Object.entries({ kind, vendor, arch }).filter(([, value]) => value);
  return [...named.map(([name, value]) => `${name}=${value}`), ...words(filter)];
}

function Filters({ fields, set }) {
  const { answer } = useList('platforms');
  const choices = (name) => {
    const values = new Set((answer?.platforms ?? []).map((platform) => platform[name]).filter(Boolean));
    return [{ value: '', label: 'any' }, ...[...values].sort()];
  };
  const one = (name, label) => (
    <Select
      label={label}
      value={fields[name] ?? ''}
      onValue={(value) => set({ [name]: value || undefined })}
      options={choices(name)}
    />
  );
  return (
    <div class="fields">
      {one('kind', 'Kind')}
      {one('vendor', 'Vendor')}
      {one('arch', 'Instruction set')}
      <Text
        label="Name or more filters"
        hint="such as EPYC, or vcpus=4..16"
        value={fields.filter ?? ''}
        onValue={(value) => set({ filter: value || undefined })}
      />
    </div>
  );
}

function Why({ explanation, program }) {
  const { text, groups = [], features = [] } = explanation ?? {};
  if (groups.length === 0) return null;
  const columns = [
    { name: 'input', head: 'input', of: (row) => row.text, isHead: true },
    {
      name: 'percentile',
      head: 'more than in',
      of: (row) => row.percentile,
      show: (row) => `${digits(row.percentile, 2)}%`,
      isNumber: true,
    },
    {
      name: 'group',
      head: 'part',
      of: (row) => groups.find(({ group }) => group === row.group)?.text ?? row.group,
      isOptional: true,
    },
  ];
  return (
    <section aria-labelledby="why">
      <h2 id="why">Why</h2>
      <p>{text.replace(/^why: /, '').replace(/^./, (letter) => letter.toUpperCase())}.</p>
      <Shares
        head="share"
        caption="What sets the program apart"
        rows={groups.map((group) => ({ name: group.text, value: group.share }))}
        format={percent}
        file={`${program}-why.csv`}
      />
      <Table
        caption="Its most unusual inputs, and the share of training programs that have less of each"
        columns={columns}
        rows={features}
        file={`${program}-inputs.csv`}
        most={6}
      />
    </section>
  );
}

// "Seconds" where the profile was timed on a known CPU, else times relative to the mean of the platforms.
export function timesOf(platforms) {
  const isTimed = platforms.some((platform) => platform.time_s !== undefined);
  return {
    isTimed,
    format: isTimed ? time : digits,
    title: isTimed ? 'time' : 'relative time',
    unit: isTimed ? 's' : 'ratio',
    of: (platform) =>
      isTimed
        ? { value: platform.time_s, lower: platform.time_lower_s, upper: platform.time_upper_s }
        : { value: platform.rpv, lower: platform.lower, upper: platform.upper },
  };
}

function Platforms({ answer }) {
  const { platforms, program, nearest } = answer;
  const times = timesOf(platforms);
  const show = (name) => (platform) => times.format(times.of(platform)[name]);
  const columns = [
    { name: 'platform', head: 'CPU', of: (platform) => platform.name, isHead: true },
    {
      name: `value_${times.unit}`,
      head: times.title,
      of: (platform) => times.of(platform).value,
      show: show('value'),
      isNumber: true,
    },
    intervalColumn((platform) => [times.of(platform)], times.format, 'drawn, with interval'),
    {
      name: `lower_${times.unit}`,
      head: 'from',
      of: (platform) => times.of(platform).lower,
      show: show('lower'),
      isNumber: true,
      isOptional: true,
    },
    {
      name: `upper_${times.unit}`,
      head: 'to',
      of: (platform) => times.of(platform).upper,
      show: show('upper'),
      isNumber: true,
      isOptional: true,
    },
    { name: 'kind', head: 'kind', of: (platform) => platform.kind, isOptional: true },
  ];
  return (
    <>
      <p class="answer">
        {platforms.length > 0 ? (
          <>
            <strong>{program}</strong> runs fastest on <strong>{platforms[0].name}</strong>:{' '}
            {show('value')(platforms[0])}
            {times.isTimed ? '' : ' of the mean'}, in 90% of cases between {show('lower')(platforms[0])} and{' '}
            {show('upper')(platforms[0])}.
          </>
        ) : (
          'No platform meets all filters.'
        )}
      </p>
      <ul class="notes">
        {nearest?.[0] === program && (
          <li>The models were trained with this program. Forecasts of other programs are further off.</li>
        )}
        {answer.in_distribution === false && (
          <li class="warning">The program is unlike those that the models know. Take the forecast for a guess.</li>
        )}
        {!times.isTimed && (
          <li>Times are relative: 1 is the mean of the platforms. The CPU of the profile is not known.</li>
        )}
      </ul>
      <Notes warnings={answer.warnings} notes={answer.notes} />
      {platforms.length > 0 && (
        <Table
          caption="Fastest first. The line is the 90% interval"
          columns={columns}
          rows={platforms}
          file={`${program}-forecast.csv`}
          most={20}
          keyOf={(platform) => platform.id}
        />
      )}
    </>
  );
}

export function Forecast({ fields, set }) {
  const example = fields.example ?? startOf('a', 'zpaq');
  const setExample = (id) => set({ example: id });
  const state = useProfile('a', example, setExample);
  const { picked } = state;
  const filter = filtersOf(fields);
  const ask = picked ? (signal) => post('forecast', { profile: picked.profile, filter }, signal) : null;
  const { answer, problem, isBusy } = useAnswer(ask, [picked?.key, filter.join()]);
  return (
    <>
      <h1>How fast does a program run elsewhere?</h1>
      <Picker title="Program" example={example} setExample={setExample} state={state} />
      <Filters fields={fields} set={set} />
      <Busy isBusy={isBusy} />
      <ProblemBox problem={problem} />
      {answer && !problem && (
        <>
          <section aria-label="Forecast">
            <Platforms answer={answer} />
          </section>
          <Why explanation={answer.explanation} program={answer.program} />
          <Instances picked={picked} fields={fields} set={set} filter={filter} />
        </>
      )}
    </>
  );
}
