// Which rented machine runs a program cheapest, with a price list that one may edit.
import { useState } from 'preact/hooks';
import { get, post, useAnswer, useList } from './api.js';
import { digits, money, percent, time } from './format.js';
import { Busy, Check, Field, intervalColumn, Notes, ProblemBox, Select, Table, Text, Typed } from './parts.jsx';
import { keep, keptAs } from './state.js';

const kEdited = 'edited';

function Choice({ choice, currency }) {
  const names = {
    fastest: 'Fastest',
    cheapest: 'Cheapest',
    compromise: `Cheapest within ${digits(choice.within_ratio)} times the fastest`,
  };
  return (
    <ul class="choice">
      {Object.entries(names).map(
        ([key, name]) =>
          choice[key] && (
            <li key={key}>
              <span>{name}</span>
              <strong>
                {choice[key].server} ({choice[key].vendor})
              </strong>
              <span>
                {money(choice[key].cost_per_1000_runs, currency)} for 1000 runs, {time(choice[key].wall_s)} a run. The
                chance that it is the right one: {percent(choice[key].chance_ratio)}
              </span>
            </li>
          ),
      )}
    </ul>
  );
}

function InstanceTable({ answer, isShared }) {
  const priced = answer.platforms
    .flatMap((platform) => (platform.instances ?? []).map((instance) => ({ ...instance, cpu: platform.name })))
    .filter((row) => row.cost_per_1000_runs !== undefined)
    .sort((a, b) => a.cost_per_1000_runs - b.cost_per_1000_runs);
  const rows = priced.filter((row) => isShared || row.cpu_share === undefined);
  if (rows.length === 0) return <p>No instance type of the price list is known and meets all filters.</p>;
  const { currency } = answer;
  // More runs in an hour make each cheaper.
  const cost = (row, runs_per_hour) => (runs_per_hour > 0 ? (1000 * row.price_per_hour) / runs_per_hour : undefined);
  const marks = (row) => [
    {
      value: row.cost_per_1000_runs,
      lower: cost(row, row.runs_upper_per_hour),
      upper: cost(row, row.runs_lower_per_hour),
    },
  ];
  const columns = [
    { name: 'instance', head: 'instance type', of: (row) => row.server, isHead: true },
    ...(isShared
      ? [{ name: 'vcpus_are', head: 'vCPUs are', of: (row) => row.cpu_share ?? 'own', isOptional: true }]
      : []),
    { name: 'vendor', head: 'cloud', of: (row) => row.vendor, isOptional: true },
    {
      name: `cost_per_1000_runs_${currency}`,
      head: '1000 runs',
      of: (row) => row.cost_per_1000_runs,
      show: (row) => money(row.cost_per_1000_runs, currency),
      isNumber: true,
    },
    {
      name: `cost_lower_per_1000_runs_${currency}`,
      head: 'from',
      of: (row) => marks(row)[0].lower,
      show: (row) => digits(marks(row)[0].lower),
      isNumber: true,
      isOptional: true,
    },
    {
      name: `cost_upper_per_1000_runs_${currency}`,
      head: 'to',
      of: (row) => marks(row)[0].upper,
      show: (row) => digits(marks(row)[0].upper),
      isNumber: true,
      isOptional: true,
    },
    intervalColumn(marks, digits, 'cost drawn, with interval'),
    { name: 'wall_s', head: 'one run', of: (row) => row.wall_s, show: (row) => time(row.wall_s), isNumber: true },
    {
      name: `price_per_hour_${currency}`,
      head: 'price/h',
      of: (row) => row.price_per_hour,
      show: (row) => digits(row.price_per_hour),
      isNumber: true,
      isOptional: true,
    },
    { name: 'vcpus', head: 'vCPUs', of: (row) => row.vcpus, isNumber: true, isOptional: true },
    {
      name: 'memory_gib',
      head: 'GiB',
      of: (row) => row.memory_gib,
      show: (row) => digits(row.memory_gib),
      isNumber: true,
      isOptional: true,
    },
    { name: 'cpu', head: 'CPU', of: (row) => row.cpu, isOptional: true, kind: 'long' },
  ];
  const left = priced.length - rows.length;
  return (
    <>
      <Table
        caption="Cheapest first, each machine full of copies of the program"
        columns={columns}
        rows={rows}
        file={`${answer.program}-instances.csv`}
        most={15}
      />
      <Notes
        notes={
          left > 0 ? [`${left} left out: their vCPUs are shared or burstable, and may be slower than forecast`] : []
        }
      />
    </>
  );
}

export function Instances({ picked, fields, set, filter }) {
  const bundles = useList('/v1/bundles', false);
  const names = bundles.answer?.price_lists ?? [];
  const source =
    fields.prices && (fields.prices === kEdited || names.includes(fields.prices)) ? fields.prices : kEdited;
  const shipped = useAnswer((signal) => get('/examples/prices.csv', signal), []);
  const [text, setText] = useState(keptAs('prices'));
  const prices = text ?? shipped.answer;
  const edit = (value) => {
    keep('prices', value);
    setText(value);
  };
  const isReady = source !== kEdited || prices !== undefined;
  const body = {
    profile: picked?.profile,
    filter,
    sort: 'cost',
    reasons: false,
    within: Number(fields.within ?? 1.5),
    spot: fields.spot === 'yes',
    shared: fields.shared === 'yes',
    ...(source === kEdited ? { prices } : { price_list: source }),
  };
  const { profile, ...rest } = body;
  const ask = isReady && picked ? (signal) => post('instances', body, signal) : null;
  const { answer, problem, isBusy } = useAnswer(ask, [picked?.key, JSON.stringify(rest)]);
  const choices = [
    ...names.map((name) => ({ value: name, label: `the service's: ${name}` })),
    { value: kEdited, label: 'the list below' },
  ];
  return (
    <section aria-labelledby="instances">
      <h2 id="instances">Cheapest instances</h2>
      <div class="fields">
        <Select label="Prices" value={source} onValue={(value) => set({ prices: value })} options={choices} />
        <Text
          label="At most so many times slower than the fastest"
          type="number"
          min="1"
          step="0.1"
          value={fields.within ?? '1.5'}
          onValue={(value) => set({ within: value || undefined })}
        />
        <Check
          label="Shared vCPUs, too"
          value={body.shared}
          onValue={(value) => set({ shared: value ? 'yes' : undefined })}
        />
        <Check
          label="Spot prices"
          value={fields.spot === 'yes'}
          onValue={(value) => set({ spot: value ? 'yes' : undefined })}
        />
      </div>
      {source === kEdited && (
        <details>
          <summary>Edit the price list</summary>
          <Field
            label="One instance type a line"
            hint="These are round example prices of 2025. Put your own in their place; they stay in this window."
          >
            <Typed as="textarea" rows="10" spellcheck={false} value={prices ?? ''} onValue={edit} />
          </Field>
        </details>
      )}
      <Busy isBusy={isBusy} />
      <ProblemBox problem={problem} />
      {answer && !problem && (
        <>
          {answer.choice && <Choice choice={answer.choice} currency={answer.currency} />}
          <InstanceTable answer={answer} isShared={body.shared} />
          <Notes
            notes={
              (answer.unmatched_prices ?? []).length > 0
                ? [`Not known, and left out: ${answer.unmatched_prices.slice(0, 8).join(', ')}`]
                : []
            }
          />
        </>
      )}
    </section>
  );
}
