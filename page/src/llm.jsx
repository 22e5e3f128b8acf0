// A language model on devices: single requests, and a service under load.
import { useState } from 'preact/hooks';
import { post, useAnswer, useList } from './api.js';
import { bytes, digits, money, percent, time } from './format.js';
import { words } from './forecast.jsx';
import { Load } from './load.jsx';
import { Busy, intervalColumn, Notes, ProblemBox, Select, Table, Text, Typed } from './parts.jsx';

const kEngines = ['vllm', 'sglang', 'tensorrt-llm', 'llama.cpp', { value: 'none', label: 'none: kernels alone' }];
const kFormats = ['', 'fp16', 'bf16', 'fp8', 'int8', 'int4', 'q8_0', 'q4_k_m'];
export const numbers = (text) => words(text).map(Number);

// "H100:2.5,A100:1" -> {H100: 2.5, A100: 1}
function pricesOf(text, devices) {
  const pairs = words(text).map((word) => [
    word.slice(0, word.lastIndexOf(':')),
    Number(word.slice(word.lastIndexOf(':') + 1)),
  ]);
  return Object.fromEntries(pairs.filter(([device, price]) => devices.includes(device) && price > 0));
}

function Devices({ devices, prices, set }) {
  const { answer } = useList('llm/devices');
  const [wanted, setWanted] = useState('');
  const known = (answer?.devices ?? []).map(({ name }) => name);
  const put = (list, of = prices) =>
    set({
      on: list.join(','),
      price: Object.entries(of)
        .filter(([device]) => list.includes(device))
        .map(([device, price]) => `${device}:${price}`)
        .join(','),
    });
  const add = (event) => {
    event.preventDefault();
    if (wanted && !devices.includes(wanted)) put([...devices, wanted]);
    setWanted('');
  };
  return (
    <fieldset class="devices">
      <legend>Devices</legend>
      <ul>
        {devices.map((device) => (
          <li key={device}>
            <span>{device}</span>
            <label>
              <span class="unseen">Price of {device}, USD an hour</span>
              <Typed
                type="number"
                min="0"
                step="0.01"
                placeholder="price"
                value={prices[device] ?? ''}
                onValue={(value) => put(devices, { ...prices, [device]: Number(value) })}
              />{' '}
              <span aria-hidden="true">USD/h</span>
            </label>
            <button
              type="button"
              aria-label={`Remove ${device}`}
              onClick={() => put(devices.filter((one) => one !== device))}
            >
              ×
            </button>
          </li>
        ))}
      </ul>
      <form onSubmit={add}>
        <input
          aria-label="Another device"
          list="devices"
          placeholder="another device"
          value={wanted}
          onInput={(event) => setWanted(event.currentTarget.value)}
        />
        <button type="submit">Add</button>
      </form>
      <datalist id="devices">
        {known.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </fieldset>
  );
}

function Answer({ answer }) {
  const rows = answer.rows;
  const columns = [
    { name: 'device', head: 'device', of: (row) => row.device, isHead: true },
    { name: 'tensor_parallel', head: 'devices', of: (row) => row.tensor_parallel, isNumber: true, isOptional: true },
    { name: 'batch', head: 'at once', of: (row) => row.batch, isNumber: true },
    {
      name: 'first_token_s',
      head: 'first token (TTFT)',
      of: (row) => row.prefill_s,
      show: (row) => time(row.prefill_s),
      isNumber: true,
    },
    {
      name: 'token_s',
      head: 'further token (TPOT)',
      of: (row) => row.token_s,
      show: (row) => time(row.token_s),
      isNumber: true,
    },
    {
      name: 'token_lower_s',
      of: (row) => row.token_lower_s,
      show: (row) => time(row.token_lower_s),
      head: 'from',
      isNumber: true,
      isOptional: true,
    },
    {
      name: 'token_upper_s',
      of: (row) => row.token_upper_s,
      show: (row) => time(row.token_upper_s),
      head: 'to',
      isNumber: true,
      isOptional: true,
    },
    intervalColumn(
      (row) => [{ value: row.token_s, lower: row.token_lower_s, upper: row.token_upper_s }],
      time,
      'further token drawn, with interval',
    ),
    {
      name: 'tokens_per_s',
      head: 'tokens/s',
      of: (row) => row.tokens_per_s,
      show: (row) => digits(row.tokens_per_s),
      isNumber: true,
    },
    {
      name: 'memory_bytes',
      head: 'memory',
      of: (row) => row.memory_bytes,
      show: (row) => `${bytes(row.memory_bytes)}${row.fits === false ? ': does not fit' : ''}`,
      isNumber: true,
    },
    {
      name: 'memory_share',
      of: (row) => row.memory_bytes / row.device_memory_bytes,
      show: (row) => percent(row.memory_bytes / row.device_memory_bytes),
      head: 'of it',
      isNumber: true,
      isOptional: true,
    },
    {
      name: 'cost_per_million_tokens_usd',
      head: '1M tokens',
      of: (row) => row.cost_per_million_tokens_usd,
      show: (row) => money(row.cost_per_million_tokens_usd),
      isNumber: true,
    },
    { name: 'bound', head: 'limit', of: (row) => row.bound, isOptional: true },
  ];
  const first = rows[answer.fastest_row];
  const cheap = rows[answer.cheapest_row];
  const isPriced = cheap?.cost_per_million_tokens_usd !== undefined;
  return (
    <>
      {first && (
        <p class="answer">
          <strong>{first.device}</strong> is the fastest:{' '}
          {first.token_s === undefined
            ? `${time(first.prefill_s)} for a batch`
            : `a further token every ${time(first.token_s)}`}{' '}
          with {first.batch} at once.{' '}
          {isPriced && (
            <>
              <strong>{cheap.device}</strong> is the cheapest: {money(cheap.cost_per_million_tokens_usd)} for a million
              tokens.
            </>
          )}
        </p>
      )}
      <Notes notes={answer.notes} />
      <Table
        caption={`One step of ${answer.model}: ${digits(answer.parameters / 1e9)} billion parameters, weights in ${answer.weights}`}
        columns={columns}
        rows={rows}
        file={`${answer.model}.csv`}
      />
    </>
  );
}

export function Llm({ fields, set }) {
  const models = useList('llm/models');
  const model = fields.model ?? 'llama3-8b';
  const devices = words(fields.on ?? 'NVIDIA H100 80GB HBM3,NVIDIA A100-SXM4-80GB');
  const prices = pricesOf(fields.price, devices);
  const engine = fields.engine ?? 'vllm';
  const shared = {
    model,
    on: devices,
    engine,
    price: prices,
    ...(fields.format ? { weight_precision: fields.format } : {}),
  };
  const sizes = {
    batch: numbers(fields.batch ?? '1,8,32'),
    prompt: Number(fields.prompt ?? 1024),
    output: Number(fields.output ?? 128),
  };
  const parallel = Number(fields.parallel ?? 1);
  const body = {
    ...shared,
    batch: sizes.batch,
    sequence: [sizes.prompt],
    output_tokens: sizes.output,
    tensor_parallel: [parallel],
  };
  const key = JSON.stringify(body);
  const ask = devices.length > 0 ? (signal) => post('llm/forecast', body, signal) : null;
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
    <>
      <h1>How fast does a device run a language model?</h1>
      <datalist id="models">
        {(models.answer?.models ?? []).map(({ model: name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <div class="fields">
        {text('model', 'Model', 'llama3-8b', { list: 'models' })}
        <Select label="Engine" value={engine} onValue={(value) => set({ engine: value })} options={kEngines} />
        <Select
          label="Weights"
          value={fields.format ?? ''}
          onValue={(value) => set({ format: value || undefined })}
          options={kFormats.map((value) => ({ value, label: value || 'as the model says' }))}
        />
        {text('prompt', 'Tokens of a prompt', '1024', { type: 'number', min: 1 })}
        {text('output', 'New tokens', '128', { type: 'number', min: 1 })}
        {text('batch', 'Sequences at once', '1,8,32', { hint: 'one or more, with commas' })}
        {text('parallel', 'Devices that share a layer', '1', { type: 'number', min: 1 })}
      </div>
      <Devices devices={devices} prices={prices} set={set} />
      <Busy isBusy={isBusy} />
      <ProblemBox problem={problem} />
      {answer && !problem && (
        <section aria-label="Forecast">
          <Answer answer={answer} />
        </section>
      )}
      {devices.length > 0 && <Load shared={shared} sizes={sizes} parallel={parallel} fields={fields} set={set} />}
    </>
  );
}
