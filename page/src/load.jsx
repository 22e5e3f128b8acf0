// A service of a language model under rising load, simulated as a job.
import { useState } from 'preact/hooks';
import { postLong, useAnswer } from './api.js';
import { digits, money, percent, time } from './format.js';
import { numbers } from './llm.jsx';
import { Busy, Notes, ProblemBox, Table, Text } from './parts.jsx';
import { Plot } from './plot.jsx';

// One line for each device, over the rates.
function linesOf(rows, rates, name, part) {
  const devices = [...new Set(rows.map(({ device }) => device))];
  return devices.map((device) => {
    const at = (field) =>
      rates.map(
        (rate) => rows.find((row) => row.device === device && row.rate_per_s === rate)?.[field]?.[part] ?? null,
      );
    return { label: device, values: at(`${name}_s`), lower: at(`${name}_lower_s`), upper: at(`${name}_upper_s`) };
  });
}

function Curves({ answer }) {
  const { rows } = answer;
  const rates = [...new Set(rows.map((row) => row.rate_per_s))].sort((a, b) => a - b);
  const pick = (name, part) => (row) => row[name]?.[part];
  const seconds = (name, part, head, rest = {}) => ({
    name: `${name.slice(0, -2)}_${part}_s`,
    head,
    of: pick(name, part),
    show: (row) => time(pick(name, part)(row)),
    isNumber: true,
    ...rest,
  });
  const columns = [
    { name: 'device', head: 'device', of: (row) => row.device, isHead: true },
    {
      name: 'rate_per_s',
      head: 'requests/s',
      of: (row) => row.rate_per_s,
      show: (row) => digits(row.rate_per_s),
      isNumber: true,
    },
    seconds('first_token_s', 'p50', 'TTFT, median'),
    seconds('first_token_s', 'p95', 'TTFT, 95%'),
    seconds('first_token_lower_s', 'p95', 'from', { isOptional: true }),
    seconds('first_token_upper_s', 'p95', 'to', { isOptional: true }),
    seconds('further_token_s', 'p50', 'TPOT, median'),
    seconds('further_token_s', 'p95', 'TPOT, 95%', { isOptional: true }),
    {
      name: 'output_tokens_per_s',
      head: 'tokens/s',
      of: (row) => row.output_tokens_per_s,
      show: (row) => digits(row.output_tokens_per_s),
      isNumber: true,
    },
    {
      name: 'busy_share',
      head: 'busy',
      of: (row) => row.busy_share,
      show: (row) => percent(row.busy_share),
      isNumber: true,
      isOptional: true,
    },
    {
      name: 'cost_per_million_output_tokens_usd',
      head: '1M tokens',
      of: (row) => row.cost_per_million_output_tokens_usd,
      show: (row) => money(row.cost_per_million_output_tokens_usd),
      isNumber: true,
    },
    { name: 'pace', head: 'pace', of: (row) => row.pace },
  ];
  return (
    <>
      <div class="pair">
        <Plot
          title="Time to the first token, 95% of requests are faster"
          xs={rates}
          lines={linesOf(rows, rates, 'first_token', 'p95')}
          xLabel="requests/s"
          yLabel=""
          format={time}
        />
        <Plot
          title="Time of a further token, median"
          xs={rates}
          lines={linesOf(rows, rates, 'further_token', 'p50')}
          xLabel="requests/s"
          yLabel=""
          format={time}
        />
      </div>
      <Table
        caption="Latency against load; bands and “from … to” are 90% intervals"
        columns={columns}
        rows={rows}
        file={`${answer.model}-load.csv`}
      />
      <Notes notes={answer.notes} />
    </>
  );
}

export function Load({ shared, sizes, parallel, fields, set }) {
  const [stage, setStage] = useState();
  const [stopped, setStopped] = useState('');
  const body = {
    ...shared,
    tensor_parallel: parallel,
    rate: numbers(fields.rate ?? '0.5,1,2,4,8,16'),
    prompt_tokens: sizes.prompt,
    output_tokens: sizes.output,
    spread: Number(fields.spread ?? 0),
    requests: Number(fields.requests ?? 300),
  };
  const key = JSON.stringify(body);
  const ask = stopped === key ? null : (signal) => postLong('llm/serve-sim', body, setStage, signal);
  const { answer, problem, isBusy } = useAnswer(ask, [key]);
  const text = (name, label, normal, rest) => (
    <Text
      label={label}
      value={fields[name] ?? normal}
      onValue={(value) => set({ [name]: value || undefined })}
      {...rest}
    />
  );
  return (
    <section aria-labelledby="load">
      <h2 id="load">Under load</h2>
      <div class="fields">
        {text('rate', 'Requests a second', '0.5,1,2,4,8,16', { hint: 'one or more, with commas' })}
        {text('requests', 'Requests of each simulation', '300', { type: 'number', min: 10 })}
        {text('spread', 'How much lengths differ', '0', {
          type: 'number',
          min: 0,
          max: 4,
          step: 0.1,
          hint: '0: all alike',
        })}
      </div>
      <Busy isBusy={isBusy} stage={stage && `simulating: ${stage}`} />
      {isBusy && (
        <button type="button" onClick={() => setStopped(key)}>
          Stop
        </button>
      )}
      {stopped === key && (
        <button type="button" onClick={() => setStopped('')}>
          Simulate
        </button>
      )}
      <ProblemBox problem={problem} />
      {answer && !problem && <Curves answer={answer} />}
    </section>
  );
}
