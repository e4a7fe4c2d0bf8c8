// The words of a TOML text, each with the path of the table or key that it belongs to. It reads any text, also one that
// is not finished: what is wrong is said by the server.

const BLANK = /[ \t\r]+/y;
const COMMENT = /#[^\n]*/y;
const HEADER = /\[\[?[ \t]*([^\]\n]*)(\]?\]?)/y;
const STRING = /"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|"(?:\\.|[^"\\\n])*"?|'[^'\n]*'?/y;
const BARE = /[\w-]+/y;
const SCALAR = /[^\s,\]}#"'[{]+/y;

const keyParts = (text) => [...text.matchAll(/"((?:\\.|[^"\\])*)"?|'([^']*)'?|([\w-]+)/g)]
  .map(([, double, single, bare]) => double ?? single ?? bare);

/** Reads a text up to its end: the words, and what is expected after them. */
export function scan(text) {
  const words = [];
  let at = 0, table = [], key = [], expects = "key", stack = [];
  const base = () => stack.findLast(({ kind }) => kind === "{")?.path ?? table;
  const path = () => [...base(), ...key];
  const match = (pattern) => {
    pattern.lastIndex = at;
    return pattern.exec(text);
  };
  const add = (kind, length, of) => {
    words.push({ kind, start: at, end: at + length, path: of });
    at += length;
  };
  const close = (kind) => {
    const last = stack.pop();
    if (last && last.kind !== kind) stack = [];
    key = last?.key ?? [];
    expects = "value";
    add("mark", 1, path());
  };
  while (at < text.length) {
    const letter = text[at];
    let found = match(BLANK) ?? match(COMMENT);
    if (found) {
      if (letter === "#") add("comment", found[0].length, []); else at += found[0].length;
      continue;
    }
    if (letter === "\n") {
      if (!stack.length) { key = []; expects = "key"; }
      at++;
    } else if (expects === "key" && !stack.length && !key.length && letter === "[") {
      found = match(HEADER);
      table = keyParts(found[1]);
      add("header", found[0].length, table);
      expects = found[2] ? "end" : "header";
    } else if (expects === "key" && (found = match(STRING) ?? match(BARE))) {
      key = [...key, ...keyParts(found[0])];
      add("key", found[0].length, path());
    } else if (expects === "key" && letter === "=") {
      expects = "value";
      add("mark", 1, path());
    } else if (letter === "}" || letter === "]") {
      close(letter === "}" ? "{" : "[");
    } else if (letter === ",") {
      if (stack.at(-1)?.kind === "{") { key = []; expects = "key"; }
      add("mark", 1, path());
    } else if (expects === "value" && (letter === "[" || letter === "{")) {
      const of = path();
      stack.push({ kind: letter, path: of, key });
      if (letter === "{") { key = []; expects = "key"; }
      add("mark", 1, of);
    } else if (expects === "value" && (found = match(STRING) ?? match(SCALAR))) {
      add(/["']/.test(letter) ? "string" : "scalar", found[0].length, path());
    } else {
      add("mark", 1, path());
    }
  }
  return { words, expects, base: base(), path: path(), depth: stack.length };
}

/** What is being written at a place: a key of a table, a value of a key, or a header; and the part before the place. */
export function contextAt(text, offset) {
  const before = text.slice(0, offset);
  const { words, expects, base, path } = scan(before);
  const last = words.at(-1);
  const touches = last && last.end === offset && last.kind !== "mark" && last.kind !== "comment";
  if (last?.kind === "comment" && !before.slice(last.end).includes("\n")) return null;
  const typed = touches ? before.slice(last.start) : "";
  const from = touches ? last.start : offset;
  if (expects === "header" || (touches && last.kind === "header")) {
    return { role: "header", path: [], typed: typed.replace(/^\[+\s*/, ""), from, end: offset };
  }
  if (expects === "key") return { role: "key", path: base, typed, from, end: offset };
  if (expects !== "value") return null;
  const open = /^["']/.test(typed) && !(typed.length > 1 && typed.endsWith(typed[0]));
  if (touches && last.kind === "string" && !open) return null;
  return { role: "value", path, typed: typed.replace(/^["']/, ""), from, end: offset, quoted: /^["']/.test(typed) };
}

/** The word at a place. */
export const wordAt = (words, offset) => words.find(({ start, end }) => start <= offset && offset < end);

/** The end of the text of a table, where a line may be added; `null` if the text has no such header. */
export function endOfTable(text, path) {
  const { words } = scan(text);
  const same = (of) => of.length === path.length && of.every((key, index) => key === path[index]);
  const header = words.findIndex(({ kind, path: of }) => kind === "header" && same(of));
  if (header < 0) return null;
  const next = words.findIndex(({ kind }, index) => index > header && kind === "header");
  const inside = words.slice(header, next < 0 ? undefined : next).filter(({ kind }) => kind !== "comment");
  const end = text.indexOf("\n", inside.at(-1).end);
  return end < 0 ? text.length : end;
}

/** The keys of a dotted path. */
export const keysOf = (path) => keyParts(path);

/** The place of the value at a path, which is no list and no table; `null` if the text has none. */
export function placeOfValue(text, path) {
  const keys = keyParts(path);
  const word = scan(text).words.find(({ kind, path: of }) => (kind === "string" || kind === "scalar")
    && of.length === keys.length && of.every((key, index) => key === keys[index]));
  return word ? [word.start, word.end] : null;
}
