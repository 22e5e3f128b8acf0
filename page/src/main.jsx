import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Audit } from './audit.jsx';
import { Compare } from './compare.jsx';
import { Forecast } from './forecast.jsx';
import { Llm } from './llm.jsx';
import { linkTo, useLink } from './state.js';
import './style.css';

const views = {
  forecast: { name: 'Program', show: Forecast },
  compare: { name: 'Compare', show: Compare },
  llm: { name: 'Language model', show: Llm },
  audit: { name: 'Claims', show: Audit },
};
const kTheme = 'perfcast-theme';
const themes = ['system', 'light', 'dark'];

function wear(theme) {
  document.documentElement.dataset.theme = theme;
}

function Tools() {
  const [theme, setTheme] = useState(localStorage.getItem(kTheme) ?? 'system');
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    wear(theme);
    localStorage.setItem(kTheme, theme);
  }, [theme]);
  const copy = async () => {
    // Not every browser lets a page write to the clipboard; the address bar has the link anyway.
    await navigator.clipboard?.writeText(location.href).catch(() => {});
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  };
  return (
    <div class="tools">
      <button type="button" onClick={copy}>
        <span role="status">{isCopied ? 'Copied' : 'Copy link'}</span>
      </button>
      <label>
        <span class="unseen">Colours</span>
        <select value={theme} onChange={(event) => setTheme(event.currentTarget.value)}>
          {themes.map((name) => (
            <option key={name} value={name} selected={name === theme}>
              {name}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}

function Page() {
  const { view, fields, set } = useLink(Object.keys(views));
  const View = views[view].show;
  useEffect(() => {
    document.title = `${views[view].name} · perfcast`;
  }, [view]);
  return (
    <>
      <a
        class="skip"
        href={`${linkTo(view, fields)}`}
        onClick={(event) => (event.preventDefault(), document.getElementById('content').focus())}
      >
        Skip to the content
      </a>
      <header>
        <strong class="name">perfcast</strong>
        <nav aria-label="Questions">
          {Object.entries(views).map(([key, { name }]) => (
            <a key={key} href={linkTo(key)} aria-current={key === view ? 'page' : undefined}>
              {name}
            </a>
          ))}
        </nav>
        <Tools />
      </header>
      <main id="content" tabIndex={-1}>
        <View key={view} fields={fields} set={set} />
      </main>
      <footer>
        Forecasts have errors: 1 of 10 true times lies outside of its interval. The same answers as JSON:{' '}
        <a href="/openapi.json">/openapi.json</a>
      </footer>
    </>
  );
}

wear(localStorage.getItem(kTheme) ?? 'system');
render(<Page />, document.getElementById('page'));
