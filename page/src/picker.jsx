// Picks the profile of a program: a file of one's own, or an example.
import { useEffect, useState } from 'preact/hooks';
import { get, Problem } from './api.js';
import { examples } from './examples.js';
import { ProblemBox, Select } from './parts.jsx';
import { keep, keptAs } from './state.js';

const kOwn = 'own';

function readProfile(text, name) {
  let profile;
  try {
    profile = JSON.parse(text);
  } catch {
    throw new Problem({ detail: `${name} is no JSON.`, allowed: 'what perfcast profile -o FILE writes' });
  }
  if (profile?.schema !== 'perfcast.profile/1') {
    throw new Problem({
      detail: `${name} is no profile: its schema is ${profile?.schema ?? 'not stated'}.`,
      allowed: 'what perfcast profile -o FILE writes: perfcast.profile/1',
    });
  }
  return { key: `${name} ${Date.now()}`, name: profile.program || name, profile };
}

// The example that a place ("a", "b") begins with: one's own profile, where one was picked in another view.
export const startOf = (place, example) => (keptAs(place) ? kOwn : example);

// {picked: {key, name, profile}, problem, take(file)} of a place: `example` is its id, or "own". No link has a
// profile of one's own.
export function useProfile(place, example, setExample) {
  const [fetched, setFetched] = useState();
  const [problem, setProblem] = useState();
  useEffect(() => {
    setProblem(undefined);
    if (example === kOwn) return undefined;
    const stop = new AbortController();
    get(`/examples/${encodeURIComponent(example)}.json`, stop.signal).then(
      (profile) => setFetched({ key: example, name: profile.program, profile }),
      (error) => error.name !== 'AbortError' && setProblem(error),
    );
    return () => stop.abort();
  }, [example]);
  const take = async (file) => {
    try {
      keep(place, readProfile(await file.text(), file.name));
      setProblem(undefined);
      setExample(kOwn);
    } catch (error) {
      setProblem(error);
    }
  };
  const picked = example === kOwn ? keptAs(place) : fetched?.key === example ? fetched : undefined;
  return { picked, problem, take };
}

export function Picker({ title, example, setExample, state: { picked, problem, take } }) {
  const [isOver, setOver] = useState(false);
  const drop = (event) => {
    event.preventDefault();
    setOver(false);
    if (event.dataTransfer.files.length > 0) take(event.dataTransfer.files[0]);
  };
  const over = (event) => {
    event.preventDefault();
    setOver(true);
  };
  const choices = examples.map(({ id, label }) => ({ value: id, label }));
  if (example === kOwn) choices.unshift({ value: kOwn, label: picked ? `your file: ${picked.name}` : 'your file' });
  return (
    <fieldset
      class={`picker ${isOver ? 'over' : ''}`}
      onDrop={drop}
      onDragOver={over}
      onDragLeave={() => setOver(false)}
    >
      <legend>{title}</legend>
      <label class="field">
        <span>Drop a profile here, or choose its file</span>
        <input
          type="file"
          accept=".json,application/json"
          onChange={(event) => event.currentTarget.files[0] && take(event.currentTarget.files[0])}
        />
        <small>
          Make one with <code>perfcast profile -o p.json -- ./prog args</code>
        </small>
      </label>
      <Select label="Or try an example" value={example} onValue={setExample} options={choices} />
      {example === kOwn && !picked && !problem && (
        <p>The link that you opened was of somebody&apos;s own profile. Choose its file.</p>
      )}
      <ProblemBox problem={problem} />
    </fieldset>
  );
}
