/** A JSON object, as the document is written. */
export type JsonObject = { readonly [key: string]: JsonValue };

/** Whatever JSON can hold. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;
