// Numbers for people, and tables for their programs.
export function digits(value, most = 3) {
  if (value === undefined || value === null || !Number.isFinite(value)) return '–';
  return value.toLocaleString('en', { maximumSignificantDigits: most });
}

function scaled(value, steps) {
  if (value === undefined || value === null || !Number.isFinite(value)) return '–';
  if (value === 0) return '0';
  const [, unit, factor] = steps.find(([below]) => Math.abs(value) < below);
  return `${digits(value * factor)} ${unit}`;
}

export const time = (s) =>
  scaled(s, [
    [1e-6, 'ns', 1e9],
    [1e-3, 'µs', 1e6],
    [1, 'ms', 1e3],
    [600, 's', 1],
    [36000, 'min', 1 / 60],
    [Infinity, 'h', 1 / 3600],
  ]);
export const bytes = (count) =>
  scaled(count, [
    [2 ** 20, 'KiB', 2 ** -10],
    [2 ** 30, 'MiB', 2 ** -20],
    [Infinity, 'GiB', 2 ** -30],
  ]);
export const money = (value, currency = 'USD') => (value === undefined ? '–' : `${digits(value)} ${currency}`);
export const percent = (ratio) => `${digits(ratio * 100, 2)}%`;
// A factor as a change: 0.9 is "10% less".
export const change = (ratio) => (ratio < 1 ? `${percent(1 - ratio)} less` : `${percent(ratio - 1)} more`);

function cell(value) {
  const text = value === undefined || value === null ? '' : String(value);
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

// columns: [{name, of(row)}]
export function csvOf(columns, rows) {
  const lines = [
    columns.map((column) => cell(column.name)),
    ...rows.map((row) => columns.map((column) => cell(column.of(row)))),
  ];
  return lines.map((line) => line.join(',') + '\n').join('');
}

export function download(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
  const link = Object.assign(document.createElement('a'), { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
