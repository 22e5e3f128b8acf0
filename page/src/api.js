// What the service answers, and its problems (RFC 9457). A token is kept until the window closes.
import { useEffect, useState } from 'preact/hooks';

export class Problem extends Error {
  constructor(document) {
    super(document.detail ?? document.message ?? document.title ?? 'The service gave no reason.');
    this.status = document.status;
    this.where = document.where;
    this.allowed = document.allowed ?? document.expected;
  }
}

const kToken = 'perfcast-token';
export const setToken = (token) => sessionStorage.setItem(kToken, token);

async function request(method, path, { body, fields = {}, signal } = {}) {
  const token = sessionStorage.getItem(kToken);
  const headers = { ...fields };
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  if (token) headers.Authorization = `Bearer ${token}`;
  let reply;
  try {
    reply = await fetch(path, { method, headers, signal, body: body === undefined ? undefined : JSON.stringify(body) });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Problem({ detail: 'The service does not answer.', allowed: 'start it again with perfcast serve' });
  }
  const isJson = (reply.headers.get('Content-Type') ?? '').includes('json');
  const answer = isJson ? await reply.json() : await reply.text();
  if (!reply.ok) throw new Problem(isJson ? answer : { status: reply.status, detail: reply.statusText });
  return answer;
}

export const get = (path, signal) => request('GET', path, { signal });
export const post = (operation, body, signal) => request('POST', `/v1/${operation}`, { body, signal });

// A long operation, as a job that ends when the signal does.
export async function postLong(operation, body, onStage, signal) {
  const job = await request('POST', `/v1/${operation}`, { body, fields: { Prefer: 'respond-async' }, signal });
  const path = `/v1/jobs/${job.id}`;
  const cancel = () => request('DELETE', path).catch(() => {});
  signal.addEventListener('abort', cancel);
  for (;;) {
    const now = await request('GET', path, { signal });
    if (now.answer || now.error) signal.removeEventListener('abort', cancel);
    if (now.answer) return now.answer;
    if (now.error) throw new Problem(now.error);
    onStage(now.stage ?? now.state);
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
}

// {answer, problem, isBusy} of ask(signal); asked anew when a key changes. The last answer stays while the next is
// under way. Nothing is asked while `ask` is null.
export function useAnswer(ask, keys) {
  const [state, setState] = useState({});
  const key = JSON.stringify([...keys, ask === null]);
  useEffect(() => {
    if (ask === null) return undefined;
    const stop = new AbortController();
    ask(stop.signal).then(
      (answer) => !stop.signal.aborted && setState({ key, answer }),
      (problem) => !stop.signal.aborted && setState({ key, problem }),
    );
    return () => stop.abort();
  }, [key]);
  const isBusy = ask !== null && state.key !== key;
  return { answer: state.answer, problem: isBusy ? undefined : state.problem, isBusy };
}

// Lists that don't change while the service runs: asked once.
const lists = new Map();
export function useList(path, isPost = true) {
  return useAnswer(async () => {
    if (!lists.has(path)) lists.set(path, await (isPost ? post(path, {}) : get(path)));
    return lists.get(path);
  }, [path]);
}
