// The state that a link holds: "#llm?model=llama3-8b&on=H100". Profiles and prices are not in it.
import { useEffect, useState } from 'preact/hooks';

const lastOf = new Map(); // the fields of each view, when it was left

export function readLink() {
  const [view, query = ''] = location.hash.slice(1).split('?');
  return { view, fields: Object.fromEntries(new URLSearchParams(query)) };
}

export function linkTo(view, fields = lastOf.get(view) ?? {}) {
  const query = new URLSearchParams(Object.entries(fields).filter(([, value]) => value !== undefined)).toString();
  return `#${view}${query && '?'}${query}`;
}

// The view and its fields; set({name: value}) changes some. A value that is undefined is the default.
export function useLink(views) {
  const [link, setLink] = useState(readLink());
  useEffect(() => {
    const follow = () => setLink(readLink());
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  const view = views.includes(link.view) ? link.view : views[0];
  lastOf.set(view, link.fields);
  const set = (changes) => {
    const { fields: now } = readLink();
    const fields = { ...now, ...changes };
    history.replaceState(null, '', linkTo(view, fields));
    setLink(readLink()); // a new object: the page is drawn anew, even if only a kept profile has changed
  };
  return { view, fields: link.fields, set };
}

// Profiles by the place in which they stand ("a", "b"), and texts that are too long for a link.
const kept = new Map();
export const keep = (name, value) => kept.set(name, value);
export const keptAs = (name) => kept.get(name);
