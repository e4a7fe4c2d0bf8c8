// Reads the JSON Schema of scenarios: which keys a table has, which values a key takes, and what they mean.

// How deep tables without names are within each other.
const DEEPEST = 2;
const NO_LOSS = "0 %";

/** The schema as questions. */
export class Schema {
  constructor(root) {
    this.root = root;
  }

  // The alternatives of a schema, without references and lists of alternatives.
  alternatives(schema, depth = 0) {
    if (!schema || schema === true || depth > 12) return [];
    const parts = [...(schema.anyOf ?? []), ...(schema.allOf ?? []), ...(schema.oneOf ?? [])];
    if (schema.$ref) parts.push(this.root.definitions[schema.$ref.split("/").at(-1)]);
    return [schema, ...parts.flatMap((part) => this.alternatives(part, depth + 1))];
  }

  // What may be below a key of these schemas; the elements of a list are at the path of the list.
  below(schemas, key) {
    return schemas.flatMap((schema) => {
      if (schema.properties && key in schema.properties) return this.alternatives(schema.properties[key]);
      return typeof schema.additionalProperties === "object" ? this.alternatives(schema.additionalProperties) : [];
    });
  }

  withItems(schemas) {
    return schemas.flatMap((schema) => [schema, ...this.alternatives(schema.items)]);
  }

  /** The schemas at a path. What is swept has the schema of its path. */
  at(path) {
    if (path[0] === "sweep" && path.length > 1 && path[1] !== "design") {
      return this.at(path.slice(1).flatMap((part) => part.split(",")[0].trim().split(".")));
    }
    let schemas = this.alternatives(this.root);
    for (const key of path) schemas = this.withItems(this.below(schemas, key));
    return schemas;
  }

  /** The keys of the table at a path, with their descriptions. */
  keys(path) {
    const keys = new Map();
    for (const { properties } of this.at(path)) {
      for (const [name, of] of Object.entries(properties ?? {})) {
        if (!keys.has(name)) keys.set(name, { name, text: of.description ?? "", isTable: this.isTable(of) });
      }
    }
    return [...keys.values()];
  }

  isTable(schema) {
    return this.alternatives(schema).some(({ properties, additionalProperties }) =>
      properties || typeof additionalProperties === "object");
  }

  /** The names and truth values that a key takes, each once: without further names of the same. */
  values(path) {
    const found = new Set();
    for (const of of this.at(path)) {
      for (const value of of.enum ?? []) if (!(value in (of["x-aliases"] ?? {}))) found.add(value);
      if ("const" in of) found.add(of.const);
      if (of.type === "boolean" && !("const" in of)) { found.add(true); found.add(false); }
    }
    return [...found];
  }

  /** The name that a value of a key stands for: itself unless it is a further name. */
  nameOf(path, value) {
    return this.at(path).map((of) => of["x-aliases"]?.[value]).find((name) => name !== undefined) ?? value;
  }

  /**
   * The keys below a table, and below tables in it that have no names, as `{ path, value, standard }`: the value to begin
   * with, and whether it is the default. Keys that take neither a quantity nor one of several names are left out.
   */
  keysWithValues(path, depth = 0) {
    const found = new Map();
    for (const { properties } of this.at(path)) {
      for (const [name, of] of Object.entries(properties ?? {})) {
        const below = [...path, name], value = this.first(below);
        const entries = value === null ? depth < DEEPEST && this.isPlainTable(of) ? this.keysWithValues(below, depth + 1) : []
          : [{ path: below, value, standard: JSON.stringify(value) === this.describe(below)?.standard }];
        for (const entry of entries) if (!found.has(entry.path.join("."))) found.set(entry.path.join("."), entry);
      }
    }
    return [...found.values()];
  }

  // A table that can have one key alone, and means nothing by being there: switches and buffers.
  isPlainTable(schema) {
    const tables = this.alternatives(schema).filter(({ properties }) => properties);
    return tables.length > 0 && tables.every(({ properties, required, minProperties }) =>
      !required && !minProperties && Object.values(properties).every((of) => "default" in of || of.$ref || of.allOf || of.anyOf));
  }

  // The value with which a key begins: its default; where that is a word, no loss or the first name that it takes.
  first(path) {
    const schemas = this.at(path), standard = schemas.find((of) => "default" in of)?.default;
    if (typeof standard === "number" || typeof standard === "boolean" || /^\s*[\d.]+\s*\D*$/.test(standard ?? "")) {
      return standard;
    }
    if (standard !== undefined && typeof standard !== "string") return null;
    if (schemas.some(({ pattern }) => pattern && new RegExp(pattern, "u").test(NO_LOSS))) return NO_LOSS;
    const names = this.values(path).filter((value) => typeof value === "string");
    return names.length < 2 ? null : names.includes(standard) ? standard : names[0];
  }

  /** The limits of a number at a path. */
  range(path) {
    const numbers = this.at(path).filter(({ type }) => type === "integer" || type === "number");
    return numbers.length ? { low: numbers[0].minimum, high: numbers[0].maximum } : null;
  }

  /** What a path is: its meaning and its default. */
  describe(path) {
    const schemas = this.at(path);
    const text = schemas.find(({ description }) => description)?.description;
    if (!text) return null;
    const standard = schemas.find((schema) => "default" in schema)?.default;
    return { path: path.join("."), text, standard: standard === undefined ? null : JSON.stringify(standard) };
  }
}
