// Changes of a TOML text: a key that gets another value, a first one, or none, wherever the text has its table: below a
// header, in an inline table, or with dotted keys.

import { endOfTable, keysOf, scan } from "./toml.js";

const same = (a, b) => a.length === b.length && a.every((key, index) => key === b[index]);
const isBelow = (path, table) => path.length > table.length && same(path.slice(0, table.length), table);
const written = (keys) => keys.map((key) => (/^[\w-]+$/.test(key) ? key : JSON.stringify(key))).join(".");

/** The entries of a text that are in no list: the words of their keys, and the place of their values. */
function entries(text) {
  const { words } = scan(text);
  const found = [], open = [];
  let entry = null;
  const takes = (word, isTable) => {
    if (entry && !entry.value) found.push(Object.assign(entry, { value: [word.start, word.end], isTable }));
  };
  for (const word of words) {
    const letter = text[word.start];
    const inside = open.at(-1);
    if (word.kind === "comment") continue;
    if (word.kind === "header") {
      entry = null;
      open.length = 0;
    } else if (word.kind === "key") {
      if (entry && !entry.value) Object.assign(entry, { last: word, path: word.path });
      else entry = { first: word, last: word, path: word.path, isInline: Boolean(inside), isListed: Boolean(inside?.isList) };
    } else if (word.kind !== "mark") {
      takes(word, false);
    } else if (letter === "{" || letter === "[") {
      takes(word, letter === "{");
      // The tables of a list have the same path, which tells none of them from the others.
      open.push({ entry, isList: letter === "[" || Boolean(inside?.isList) });
      entry = null;
    } else if (letter === "}" || letter === "]") {
      entry = open.pop()?.entry ?? null;
      if (entry) entry.value = [entry.value[0], word.end];
    } else if (letter === "," && inside) {
      entry = null;
    }
  }
  return { words, found: found.filter(({ isListed }) => !isListed) };
}

// The change that removes an entry with what separates it from others.
function removal(text, { first, value: [, end], isInline }) {
  if (!isInline) {
    const from = text.lastIndexOf("\n", first.start) + 1, rest = /^[ \t\r]*(#[^\n]*)?(\n|$)/.exec(text.slice(end));
    return { span: [from, end + (rest?.[0].length ?? 0)], by: "" };
  }
  const before = text.slice(0, first.start), after = /^\s*,/.exec(text.slice(end));
  const from = (after ? before : before.trimEnd().replace(/,$/, "")).trimEnd().length;
  return { span: [from, end + (after?.[0].length ?? 0)], by: "" };
}

// The change that adds an entry to an inline table.
function intoBraces(text, [from, to], entry) {
  const inside = text.slice(from + 1, to - 1), kept = inside.trimEnd();
  // After a comment at the end of a line nothing can be added: it comes first.
  if (/#[^\n]*$/.test(kept)) return { span: [from + 1, from + 1], by: ` ${entry},` };
  const comma = kept && !kept.endsWith(",") ? "," : "";
  return { span: [from + 1 + kept.length, to - 1], by: `${comma} ${entry}${inside.slice(kept.length) || " "}` };
}

// The change that adds a line after a place.
function lineAfter(text, at, line) {
  const end = text.indexOf("\n", at), place = end < 0 ? text.length : end;
  return { span: [place, place], by: `\n${line}` };
}

// The change that adds an entry, written with the part of its keys that its table leaves.
function addition(text, keys, notation, { words, found }) {
  const entry = (length) => `${written(keys.slice(length))} = ${notation}`;
  const headers = words.filter(({ kind }) => kind === "header");
  const parent = keys.slice(0, -1);
  for (let { length } = parent; length > 0; length--) {
    const table = keys.slice(0, length);
    const at = found.find(({ path }) => same(path, table));
    if (at) return at.isTable ? intoBraces(text, at.value, entry(length)) : null;
    const header = endOfTable(text, table);
    if (header !== null) return lineAfter(text, header, entry(length));
    // Dotted keys: one more beside the last of them.
    const beside = found.findLast(({ path, first }) => isBelow(path, table) && first.path.length <= length);
    if (beside) {
      const line = entry(beside.first.path.length - 1), [, end] = beside.value;
      return beside.isInline ? { span: [end, end], by: `, ${line}` } : lineAfter(text, end, line);
    }
    // Only tables below it have headers: it may have one of its own.
    if (headers.some(({ path }) => isBelow(path, table))) {
      return { span: [text.length, text.length], by: `${/(^|\n)$/.test(text) ? "" : "\n"}\n[${written(table)}]\n${entry(length)}\n` };
    }
  }
  const at = headers.length ? text.lastIndexOf("\n", headers[0].start) + 1 : text.length;
  return { span: [at, at], by: `${/(^|\n)$/.test(text.slice(0, at)) ? "" : "\n"}${entry(0)}\n` };
}

/**
 * The change `{ span, by }` of a text that gives a key a value in TOML, or with `null` takes it away. It is `null` where the
 * key is a table or below a list, and where there is nothing to take away.
 */
export function assigned(text, path, notation) {
  const keys = keysOf(path), read = entries(text), { words, found } = read;
  const isOf = (of) => same(of, keys) || isBelow(of, keys);
  const isUnder = (of) => same(keys, of) || isBelow(keys, of);
  for (const { kind, path: of, start } of words) {
    if (kind === "header" && (isOf(of) || (text.startsWith("[[", start) && isUnder(of)))) return null;
  }
  const entry = found.find(({ path: of }) => same(of, keys));
  if (entry?.isTable || found.some(({ path: of }) => isBelow(of, keys))) return null;
  if (notation === null) return entry ? removal(text, entry) : null;
  return entry ? { span: entry.value, by: notation } : addition(text, keys, notation, read);
}
