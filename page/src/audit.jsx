// Whether claims about AI systems can be true.
import { useState } from 'preact/hooks';
import { post, Problem, useAnswer } from './api.js';
import { Busy, Field, ProblemBox, Table, Typed } from './parts.jsx';
import { keep, keptAs } from './state.js';

const kExample = 'llama3-70b fp16 h100 batch 1: 120 tok/s\nllama3-8b fp16 h100 batch 1: 130 tok/s';

function Claim({ claim }) {
  return (
    <article class={`claim ${claim.verdict}`}>
      <h3>
        {claim.claim} <span class="verdict">{claim.verdict}</span>
      </h3>
      <ul>
        {(claim.reasons ?? []).map(({ code, text, mend }) => (
          <li key={code + text}>
            {text}.{mend && <small> To mend it: {mend}.</small>}
          </li>
        ))}
        {(claim.held ?? []).map((text) => (
          <li key={text} class="held">
            Holds: {text}.
          </li>
        ))}
      </ul>
    </article>
  );
}

export function Audit({ fields, set }) {
  const [file, setFile] = useState(keptAs('claims'));
  const [broken, setBroken] = useState();
  const text = fields.text ?? kExample;
  const claims = text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  const ask =
    file || claims.length > 0
      ? (signal) => post('audit', file ? { claims: file.claims } : { text: claims }, signal)
      : null;
  const { answer, problem, isBusy } = useAnswer(ask, [text, file?.key]);
  const take = async (chosen) => {
    try {
      const next = { key: `${chosen.name} ${Date.now()}`, name: chosen.name, claims: JSON.parse(await chosen.text()) };
      keep('claims', next);
      setBroken(undefined);
      setFile(next);
    } catch {
      setBroken(
        new Problem({
          detail: `${chosen.name} is no JSON.`,
          allowed: 'a file of claims: perfcast.claims/1 (docs/audit.md)',
        }),
      );
    }
  };
  const write = (value) => {
    keep('claims', undefined);
    setFile(undefined);
    set({ text: value });
  };
  const columns = [
    { name: 'claim', head: 'claim', of: (claim) => claim.claim, isHead: true },
    {
      name: 'verdict',
      head: 'verdict',
      of: (claim) => claim.verdict,
      show: (claim) => <span class={`verdict ${claim.verdict}`}>{claim.verdict}</span>,
    },
    {
      name: 'reasons',
      head: 'reasons',
      of: (claim) => (claim.reasons ?? []).map(({ code }) => code).join(', '),
      isOptional: true,
    },
  ];
  return (
    <>
      <h1>Can a claim be true?</h1>
      <Field
        label="Claims, one a line"
        hint="Each names a model, a number format, a device, the batch and a number with its unit."
      >
        <Typed as="textarea" rows="4" spellcheck={false} value={text} onValue={write} />
      </Field>
      <Field
        label="Or a file of claims"
        hint={file ? `Now audited: ${file.name}. Change the text above to go back.` : undefined}
      >
        <input
          type="file"
          accept=".json,application/json"
          onChange={(event) => event.currentTarget.files[0] && take(event.currentTarget.files[0])}
        />
      </Field>
      <ProblemBox problem={broken} />
      <Busy isBusy={isBusy} />
      <ProblemBox problem={problem} />
      {answer && !problem && (
        <section aria-label="Verdicts">
          <p class="answer">
            {Object.entries(answer.counts)
              .filter(([, count]) => count > 0)
              .map(([verdict, count]) => `${count} ${verdict}`)
              .join(', ')}
            . “Possible” means only that no limit forbids it.
          </p>
          <Table caption="Verdicts" columns={columns} rows={answer.claims} file="audit.csv" />
          {answer.claims.map((claim) => (
            <Claim key={claim.id} claim={claim} />
          ))}
        </section>
      )}
    </>
  );
}
