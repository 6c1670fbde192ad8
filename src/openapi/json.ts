/** A JSON object. */
export type JsonObject = { readonly [key: string]: JsonValue };

/** A JSON value. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;
