// Reads the JSON Schema of scenarios: which keys a table has, which values a key takes, and what they mean.

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

  /** The names and truth values that a key takes. */
  values(path) {
    const found = new Set();
    for (const of of this.at(path)) {
      for (const value of of.enum ?? []) found.add(value);
      if ("const" in of) found.add(of.const);
      if (of.type === "boolean" && !("const" in of)) { found.add(true); found.add(false); }
    }
    return [...found];
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
