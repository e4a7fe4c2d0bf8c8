// Files that this page has saved, read again: a report with everything in it, or a scenario.

const BEGIN = '<script type="application/json" id="subflow-request">';
const LARGEST = 200_000_000;
const NAME = /^[\w-]{1,64}$/;

const isText = (of) => typeof of === "string";

/** The texts in a report; `null` if it has none. Nothing of it but texts gets to the page. */
export function fromReport(html) {
  // No other element has such a beginning: the texts of a report are escaped.
  const begin = html.lastIndexOf(BEGIN);
  if (begin < 0) return null;
  try {
    const { a, b = null } = JSON.parse(html.slice(begin + BEGIN.length, html.indexOf("</script>", begin)));
    if (!isText(a.text) || (b !== null && !isText(b.text))) return null;
    const repeat = Number(a.set?.find((of) => of.startsWith("repeat="))?.slice("repeat=".length)) || null;
    return { a: a.text, b: b?.text ?? null, repeat, name: NAME.test(a.name) ? a.name : null };
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
