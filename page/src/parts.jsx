// What several views are made of: fields, problems, tables, charts of intervals.
import { useEffect, useState } from 'preact/hooks';
import { setToken } from './api.js';
import { csvOf, download } from './format.js';

export function Field({ label, hint, children }) {
  return (
    <label class="field">
      <span>{label}</span>
      {children}
      {hint && <small>{hint}</small>}
    </label>
  );
}

// What is being typed stays while answers come in; onValue gets it at the end. As: "input" or "textarea"
export function Typed({ as: As = 'input', value, onValue, ...rest }) {
  const [draft, setDraft] = useState(value);
  useEffect(() => setDraft(value), [value]);
  return (
    <As
      value={draft}
      onInput={(event) => setDraft(event.currentTarget.value)}
      onChange={(event) => onValue(event.currentTarget.value)}
      {...rest}
    />
  );
}

export function Text({ label, hint, onValue, ...rest }) {
  return (
    <Field label={label} hint={hint}>
      <Typed onValue={(value) => onValue(value.trim())} {...rest} />
    </Field>
  );
}

// options: texts, or {value, label}
export function Select({ label, hint, value, onValue, options }) {
  return (
    <Field label={label} hint={hint}>
      <select value={value} onChange={(event) => onValue(event.currentTarget.value)}>
        {options.map((option) => {
          const { value: of, label: text } = typeof option === 'string' ? { value: option, label: option } : option;
          return (
            <option key={of} value={of} selected={of === value}>
              {text}
            </option>
          );
        })}
      </select>
    </Field>
  );
}

export function Check({ label, value, onValue }) {
  return (
    <label class="check">
      <input type="checkbox" checked={value} onChange={(event) => onValue(event.currentTarget.checked)} />
      <span>{label}</span>
    </label>
  );
}

// What could not be answered, in words; where a token is missing, a field for it.
export function ProblemBox({ problem }) {
  const [token, changeToken] = useState('');
  if (!problem) return null;
  if (problem.status !== 401) {
    return (
      <div class="problem" role="alert">
        <strong>{problem.message}</strong>
        {problem.where && <p>Where: {problem.where}</p>}
        {problem.allowed && <p>Allowed: {problem.allowed}</p>}
      </div>
    );
  }
  const send = (event) => {
    event.preventDefault();
    setToken(token.trim());
    location.reload(); // the link has the state
  };
  return (
    <form class="problem" role="alert" onSubmit={send}>
      <strong>This service wants a token.</strong>
      <p>It is in the file that perfcast serve got as --token-file. The page keeps it until this window closes.</p>
      <Field label="Token">
        <input type="password" autocomplete="off" onInput={(event) => changeToken(event.currentTarget.value)} />
      </Field>
      <button type="submit">Use it</button>
    </form>
  );
}

export function Busy({ isBusy, stage }) {
  return (
    <p class="busy" role="status">
      {isBusy ? (stage ?? 'computing …') : ''}
    </p>
  );
}

export function Notes({ warnings = [], notes = [] }) {
  if (warnings.length + notes.length === 0) return null;
  return (
    <ul class="notes">
      {warnings.map(({ code, message, advice }) => (
        <li key={code} class="warning">
          <strong>Warning:</strong> {message}. {advice && `What to do: ${advice}.`}
        </li>
      ))}
      {notes.map((note) => (
        <li key={note}>{note}</li>
      ))}
    </ul>
  );
}

// columns: [{name: for CSV, head, of(row): for CSV, show?(row), isNumber, isOptional: hidden on small screens}]; one
// may be a function of the rows that are shown.
export function Table({ caption, columns: given, rows, file, most = Infinity, keyOf = (row, i) => i }) {
  const [all, setAll] = useState(false);
  const shown = all ? rows : rows.slice(0, most);
  const columns = given.map((column) => (typeof column === 'function' ? column(shown) : column));
  const kind = (column) =>
    `${column.isNumber ? 'number' : ''} ${column.isOptional ? 'optional' : ''} ${column.kind ?? ''}`;
  return (
    <div class="table">
      <p class="caption">
        <span>{caption}</span>
        <button
          type="button"
          onClick={() =>
            download(
              file,
              csvOf(
                columns.filter((one) => one.name),
                rows,
              ),
            )
          }
        >
          Download CSV
        </button>
      </p>
      <div class="scroll" role="group" tabIndex={0} aria-label={caption}>
        <table>
          <thead>
            <tr>
              {columns.map((column) => (
                <th key={column.name ?? 'chart'} scope="col" class={kind(column)}>
                  {column.head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row, i) => (
              <tr key={keyOf(row, i)}>
                {columns.map((column) =>
                  column.isHead ? (
                    <th key={column.name} scope="row" class={kind(column)}>
                      {(column.show ?? column.of)(row)}
                    </th>
                  ) : (
                    <td key={column.name ?? 'chart'} class={kind(column)}>
                      {(column.show ?? column.of)(row)}
                    </td>
                  ),
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > most && (
        <button type="button" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? `Show ${most}` : `Show all ${rows.length}`}
        </button>
      )}
    </div>
  );
}

function ticksOf(low, high) {
  const ticks = [];
  const steps = high / low > 8 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 6, 8];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); ++power) {
    for (const step of steps) ticks.push(step * 10 ** power);
  }
  const inside = ticks.filter((tick) => tick >= low && tick <= high);
  const every = Math.ceil(inside.length / 5);
  return inside.filter((tick, i) => i % every === 0);
}

// A column with the intervals of each row on one logarithmic axis: marksOf(row) is [{value, lower, upper}]. Screen
// readers get the numbers from the other columns.
export const intervalColumn = (marksOf, format, title) => (rows) => {
  const numbers = rows.flatMap(marksOf).flatMap(({ value, lower, upper }) => [value, lower ?? value, upper ?? value]);
  const known = numbers.filter((number) => number > 0);
  const low = Math.min(...known) / 1.05;
  const high = Math.max(...known) * 1.05;
  const at = (value) => `${(100 * Math.log(value / low)) / Math.log(high / low)}%`;
  const ticks = known.length > 0 ? ticksOf(low, high) : [];
  return {
    kind: 'chart',
    head: (
      <div class="axis">
        <span class="unseen">{title}</span>
        {ticks.map((tick) => (
          <span key={tick} class="tick" style={{ left: at(tick) }} aria-hidden="true">
            {format(tick)}
          </span>
        ))}
      </div>
    ),
    show: (row) => (
      <div class="bars" aria-hidden="true">
        {ticks.map((tick) => (
          <i key={tick} class="grid" style={{ left: at(tick) }} />
        ))}
        {marksOf(row).map(({ value, lower, upper }, i) => (
          <div key={i} class={`bar series${i}`}>
            {lower && upper && <i class="range" style={{ left: at(lower), right: `calc(100% - ${at(upper)})` }} />}
            {value && <i class="dot" style={{ left: at(value) }} />}
          </div>
        ))}
      </div>
    ),
  };
};

// Numbers as bars: from a line in the middle, if some are negative. rows: [{name, value}]
export function Shares({ caption, head, rows, format, file }) {
  const most = Math.max(...rows.map(({ value }) => Math.abs(value)), 1e-9);
  const zero = rows.some(({ value }) => value < 0) ? 50 : 0;
  const columns = [
    { name: 'part', head: 'part', of: (row) => row.name, isHead: true },
    { name: head, head, of: (row) => row.value, show: (row) => format(row.value), isNumber: true },
    {
      kind: 'chart',
      head: <span class="unseen">drawn</span>,
      show: ({ value }) => {
        const width = ((100 - zero) * Math.abs(value)) / most;
        return (
          <div class="bars" aria-hidden="true">
            <i class="grid" style={{ left: `${zero}%` }} />
            <i
              class={`share ${value < 0 ? 'below' : ''}`}
              style={{ left: `${value < 0 ? zero - width : zero}%`, width: `${width}%` }}
            />
          </div>
        );
      },
    },
  ];
  return <Table caption={caption} columns={columns} rows={rows} file={file} keyOf={(row) => row.name} />;
}
