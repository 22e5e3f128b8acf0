// Two programs over all platforms, or one program on two platforms.
import { post, Problem, useAnswer, useList } from './api.js';
import { change, digits } from './format.js';
import { filtersOf, timesOf } from './forecast.jsx';
import { Busy, intervalColumn, Notes, ProblemBox, Select, Shares, Table, Text } from './parts.jsx';
import { Picker, startOf, useProfile } from './picker.jsx';

const kGroups = {
  memory: 'memory and caches',
  mix: 'the instruction mix',
  branch: 'branch behaviour',
  system: 'system calls, page faults and I/O',
  core: 'models of cores',
  work: 'the amount of work',
};

function TwoPlatforms({ fields, set }) {
  const example = fields.example ?? startOf('a', 'zpaq');
  const setExample = (id) => set({ example: id });
  const state = useProfile('a', example, setExample);
  const { picked } = state;
  const { answer: list } = useList('platforms');
  const first = fields.first ?? 'AMD EPYC 9R45';
  const second = fields.second ?? 'AMD EPYC 9R14';
  const ask = picked
    ? (signal) => post('explain', { profile: picked.profile, platform: first, against: second }, signal)
    : null;
  const { answer, problem, isBusy } = useAnswer(ask, [picked?.key, first, second]);
  const spread = answer?.explanation?.attribution?.spread;
  const both = spread
    ? [spread.platform, spread.against]
        .map((id) => answer.platforms.find((platform) => platform.id === id))
        .filter(Boolean)
    : [];
  const times = timesOf(both);
  const columns = [
    { name: 'platform', head: 'CPU', of: (platform) => platform.name, isHead: true },
    {
      name: `value_${times.unit}`,
      head: times.title,
      of: (platform) => times.of(platform).value,
      show: (platform) => times.format(times.of(platform).value),
      isNumber: true,
    },
    intervalColumn((platform) => [times.of(platform)], times.format, 'drawn, with interval'),
    {
      name: `lower_${times.unit}`,
      head: 'from',
      of: (platform) => times.of(platform).lower,
      show: (platform) => times.format(times.of(platform).lower),
      isNumber: true,
      isOptional: true,
    },
    {
      name: `upper_${times.unit}`,
      head: 'to',
      of: (platform) => times.of(platform).upper,
      show: (platform) => times.format(times.of(platform).upper),
      isNumber: true,
      isOptional: true,
    },
  ];
  const parts = (spread?.groups ?? []).map(({ name, log }) => ({
    name: kGroups[name] ?? name,
    value: Math.exp(log) - 1,
  }));
  return (
    <>
      <Picker title="Program" example={example} setExample={setExample} state={state} />
      <datalist id="platforms">
        {(list?.platforms ?? []).map(({ id, name }) => (
          <option key={id} value={name} />
        ))}
      </datalist>
      <div class="fields">
        <Text
          label="First CPU"
          list="platforms"
          value={first}
          onValue={(value) => set({ first: value || undefined })}
        />
        <Text
          label="Second CPU"
          list="platforms"
          value={second}
          onValue={(value) => set({ second: value || undefined })}
        />
      </div>
      <Busy isBusy={isBusy} />
      <ProblemBox problem={problem} />
      {spread && !problem && both.length === 2 && (
        <section aria-label="Comparison of two CPUs">
          <p class="answer">
            <strong>{answer.program}</strong> takes {change(Math.exp(spread.log))} time on{' '}
            <strong>{both[0].name}</strong> than on <strong>{both[1].name}</strong>. A typical program takes{' '}
            {change(Math.exp(spread.typical_program_log))}.
          </p>
          <Table
            caption="Forecasts, with the 90% interval"
            columns={columns}
            rows={both}
            file={`${answer.program}-two-platforms.csv`}
          />
          <p>Why this program differs from a typical one: {spread.text}.</p>
          {parts.length > 0 && (
            <Shares
              head="change"
              caption={`What each part changes on ${both[0].name}: below zero is less time`}
              rows={parts}
              format={(value) => `${digits(value * 100, 2)}%`}
              file={`${answer.program}-two-platforms-why.csv`}
            />
          )}
          <Notes warnings={answer.warnings} notes={answer.notes} />
        </section>
      )}
    </>
  );
}

// One row for each platform, the one on which the first program does best by comparison on top.
function rowsOf([first, second]) {
  const others = new Map(second.platforms.map((platform) => [platform.id, platform]));
  return first.platforms
    .filter(({ id }) => others.has(id))
    .map((a) => ({ id: a.id, name: a.name, kind: a.kind, a, b: others.get(a.id), ratio: a.rpv / others.get(a.id).rpv }))
    .sort((x, y) => x.ratio - y.ratio);
}

function TwoPrograms({ fields, set }) {
  const examples = { a: fields.example ?? startOf('a', 'zpaq'), b: fields.other ?? startOf('b', 'fftw') };
  const setA = (id) => set({ example: id });
  const setB = (id) => set({ other: id });
  const a = useProfile('a', examples.a, setA);
  const b = useProfile('b', examples.b, setB);
  const filter = filtersOf(fields);
  const isReady = a.picked && b.picked;
  const ask = isReady
    ? async (signal) => {
        const { forecasts } = await post(
          'forecast',
          { profiles: [a.picked.profile, b.picked.profile], reasons: false, filter },
          signal,
        );
        const failed = forecasts.find((forecast) => forecast.code);
        if (failed) throw new Problem(failed);
        return forecasts;
      }
    : null;
  const { answer, problem, isBusy } = useAnswer(ask, [a.picked?.key, b.picked?.key, filter.join()]);
  const rows = answer ? rowsOf(answer) : [];
  const [first, second] = (answer ?? []).map((forecast) => forecast.program);
  const mark = ({ rpv, lower, upper }) => ({ value: rpv, lower, upper });
  const columns = [
    { name: 'platform', head: 'CPU', of: (row) => row.name, isHead: true },
    { name: 'first_ratio', head: 'first', of: (row) => row.a.rpv, show: (row) => digits(row.a.rpv), isNumber: true },
    { name: 'second_ratio', head: 'second', of: (row) => row.b.rpv, show: (row) => digits(row.b.rpv), isNumber: true },
    intervalColumn((row) => [mark(row.a), mark(row.b)], digits, 'both drawn, with intervals'),
    {
      name: 'first_by_second_ratio',
      head: 'first by second',
      of: (row) => row.ratio,
      show: (row) => digits(row.ratio),
      isNumber: true,
      isOptional: true,
    },
  ];
  return (
    <>
      <div class="pair">
        <Picker title="First program" example={examples.a} setExample={setA} state={a} />
        <Picker title="Second program" example={examples.b} setExample={setB} state={b} />
      </div>
      <div class="fields">
        <Text
          label="Filters"
          hint="such as kind=cloud, or EPYC"
          value={fields.filter ?? ''}
          onValue={(value) => set({ filter: value || undefined })}
        />
      </div>
      <Busy isBusy={isBusy} />
      <ProblemBox problem={problem} />
      {rows.length > 0 && !problem && (
        <section aria-label="Comparison of two programs">
          <p class="answer">
            Compared with <strong>{second}</strong>, <strong>{first}</strong> does best on{' '}
            <strong>{rows[0].name}</strong> and worst on <strong>{rows[rows.length - 1].name}</strong>.
          </p>
          <p>
            Times are relative: for each program, 1 is its mean over the platforms.{' '}
            <span class="key series0">First: {first}.</span> <span class="key series1">Second: {second}.</span>
          </p>
          <Table
            caption="Relative times with 90% intervals; where the first program does best by comparison stands on top"
            columns={columns}
            rows={rows}
            file="two-programs.csv"
            most={20}
            keyOf={(row) => row.id}
          />
        </section>
      )}
    </>
  );
}

export function Compare({ fields, set }) {
  const mode = fields.mode === 'programs' ? 'programs' : 'platforms';
  const modes = [
    { value: 'platforms', label: 'one program on two CPUs' },
    { value: 'programs', label: 'two programs on all CPUs' },
  ];
  return (
    <>
      <h1>What differs, and why?</h1>
      <Select label="Compare" value={mode} onValue={(value) => set({ mode: value })} options={modes} />
      {mode === 'platforms' ? <TwoPlatforms fields={fields} set={set} /> : <TwoPrograms fields={fields} set={set} />}
    </>
  );
}
