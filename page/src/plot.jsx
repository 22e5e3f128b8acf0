// Lines with bands over a logarithmic axis, by uPlot. The numbers stand in a table beside it, for those who can't see.
import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

function colours() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue(name).trim();
  return { text: of('--text'), grid: of('--line'), series: [0, 1, 2, 3].map((i) => of(`--series${i}`)) };
}

// The page's width, and whether it is dark: a drawing is made anew when they change.
function useSurroundings(place) {
  const [now, setNow] = useState({ width: 0, theme: '' });
  useEffect(() => {
    const look = () => {
      const next = { width: place.current.clientWidth, theme: colours().text };
      setNow((last) => (last.width === next.width && last.theme === next.theme ? last : next));
    };
    const size = new ResizeObserver(look);
    size.observe(place.current);
    const theme = new MutationObserver(look);
    theme.observe(document.documentElement, { attributes: true });
    const system = matchMedia('(prefers-color-scheme: dark)');
    system.addEventListener('change', look);
    look();
    return () => {
      size.disconnect();
      theme.disconnect();
      system.removeEventListener('change', look);
    };
  }, []);
  return now;
}

// lines: [{label, values, lower, upper}], one value for each x
export function Plot({ title, xs, lines, xLabel, yLabel, format }) {
  const place = useRef(null);
  const { width, theme } = useSurroundings(place);
  useEffect(() => {
    if (width === 0) return undefined;
    const { text, grid, series } = colours();
    const axis = {
      stroke: text,
      grid: { stroke: grid, width: 1 },
      ticks: { stroke: grid },
      font: '12px sans-serif',
      labelFont: '13px sans-serif',
    };
    const all = [{}];
    const bands = [];
    const data = [xs];
    lines.forEach(({ values, lower, upper }, i) => {
      const stroke = series[i % series.length];
      const n = all.length;
      all.push(
        { stroke, width: 2, points: { show: true, size: 6 } },
        { stroke, width: 0, points: { show: false } },
        { stroke, width: 0, points: { show: false } },
      );
      bands.push({ series: [n + 2, n + 1], fill: `${stroke}2a` });
      data.push(values, lower, upper);
    });
    const plot = new uPlot(
      {
        width,
        height: 260,
        series: all,
        bands,
        legend: { show: false },
        cursor: { show: false },
        scales: { x: { time: false, distr: 3, log: 2 }, y: { range: (_, low, high) => [0, high * 1.08] } },
        axes: [
          { ...axis, label: xLabel, values: (_, ticks) => ticks.map((tick) => (tick === null ? '' : String(tick))) },
          { ...axis, label: yLabel, size: 70, values: (_, ticks) => ticks.map(format) },
        ],
      },
      data,
      place.current,
    );
    return () => plot.destroy();
  }, [JSON.stringify([xs, lines]), width, theme]);
  return (
    <figure>
      <figcaption>{title}</figcaption>
      <div ref={place} class="plot" role="img" aria-label={`${title}. The table below has its numbers.`} />
      <p class="keys">
        {lines.map(({ label }, i) => (
          <span key={label} class={`key series${i % 4}`}>
            {label}
          </span>
        ))}
      </p>
    </figure>
  );
}
