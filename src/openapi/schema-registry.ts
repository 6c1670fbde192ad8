import type { TypeShape } from "../protocol/index.ts";

/**
 * The named schemas of a document, `components.schemas`. Types of two modules that have the same name and differ get
 * different names: the second is `Order_2`.
 */
export class SchemaRegistry {
  readonly #names = new Map<string, string>();
  readonly #schemas = new Map<string, JsonObject>();

  /** @param fixed schemas whose names no type may have */
  constructor(fixed: Readonly<Record<string, JsonObject>>) {
    for (const [name, schema] of Object.entries(fixed)) this.#schemas.set(name, schema);
  }

  /**
   * Returns a reference to a schema, and adds it on first use.
   *
   * @param name the preferred name; characters that names of schemas cannot have are replaced
   * @param key identifies the schema: equal keys are one schema
   * @param build returns the schema; it may refer to the schema itself
   */
  refer(name: string, key: string, build: () => JsonObject): JsonObject {
    const existing = this.#names.get(key);
    if (existing !== undefined) return reference(existing);
    const free = this.#freeName(name.replace(/[^A-Za-z0-9._-]/g, "_"));
    this.#names.set(key, free);
    this.#schemas.set(free, {}); // reserves the name and its place
    this.#schemas.set(free, build());
    return reference(free);
  }

  #freeName(name: string): string {
    if (!this.#schemas.has(name)) return name;
    let suffix = 2;
    while (this.#schemas.has(`${name}_${suffix}`)) suffix++;
    return `${name}_${suffix}`;
  }

  /** Returns all schemas by their names, in the order of their first use. */
  schemas(): JsonObject {
    return Object.fromEntries(this.#schemas);
  }
}

function reference(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

/**
 * Returns a text that is equal for equal types, regardless of their names: the shape together with all recursive types
 * that it refers to. Their indexes differ between functions, so they are numbered by their order in the type.
 */
export function typeKey(shape: TypeShape, shapes: readonly TypeShape[]): string {
  const order: number[] = [];
  const text = (part: TypeShape | undefined) =>
    JSON.stringify(part, (key, value: unknown) => {
      if (key === "name") return undefined;
      if (key !== "ref" || typeof value !== "number") return value;
      if (!order.includes(value)) order.push(value);
      return order.indexOf(value);
    });
  const parts = [text(shape)];
  for (let index = 0; index < order.length; index++) parts.push(text(shapes[order[index] ?? -1]));
  return parts.join("\n");
}

/** A JSON object. */
export type JsonObject = { readonly [key: string]: JsonValue };

/** A JSON value. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;
