// Files that this page has saved, read again: a report with everything in it, or a scenario.

import { sweptIn } from "./pins.js";

const BEGIN = '<script type="application/json" id="subflow-request">';
const LARGEST = 200_000_000;
const NAME = /^[\w-]{1,64}$/;

/** How often each point is run by these changes; `null` where the text says it. */
export const repeatIn = (set) => Number(set.find((of) => of.startsWith("repeat="))?.slice("repeat=".length)) || null;

const isText = (of) => typeof of === "string";

/** The texts in a report; `null` if it has none. Nothing of it but texts and pinned values gets to the page. */
export function fromReport(html) {
  // No other element has such a beginning: the texts of a report are escaped.
  const begin = html.lastIndexOf(BEGIN);
  if (begin < 0) return null;
  try {
    const { a, b = null } = JSON.parse(html.slice(begin + BEGIN.length, html.indexOf("</script>", begin)));
    if (!isText(a.text) || (b !== null && !isText(b.text))) return null;
    const set = Array.isArray(a.set) ? a.set.filter(isText) : [];
    const name = NAME.test(a.name) ? a.name : null;
    return { a: a.text, b: b?.text ?? null, repeat: repeatIn(set), pins: sweptIn(set), name };
  } catch {
    return null;
  }
}

/** What a file that the reader has chosen contains; `null` if it is none of ours. */
export async function fromFile(file) {
  if (file.size > LARGEST) return null;
  const text = await file.text();
  const name = file.name.replace(/\.[^.]*$/, "");
  if (file.name.endsWith(".toml")) return { a: text, name: NAME.test(name) ? name : null };
  return fromReport(text);
}
