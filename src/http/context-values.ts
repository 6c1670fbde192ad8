/**
 * The key of a value that a part of the server keeps in the context of a request. It has the type of the value. Only
 * code that imports the key can read the value or set it.
 */
export class ContextKey<T> {
  /** The keys of values that follow from the cookies of the response. */
  static readonly #ofCookies: ContextKey<unknown>[] = [];
  // Keys are created at module level and live as long as the process, so that each has one index in an array.
  static #count = 0;
  readonly index = ContextKey.#count++;
  /** Never set. It makes keys of different values different types. */
  declare readonly valueType: T;

  /** Returns a key whose value is forgotten together with the cookies that a request has set. @see docs/protocol.md 5.6 */
  static ofCookies<T>(): ContextKey<T> {
    const key = new ContextKey<T>();
    ContextKey.#ofCookies.push(key);
    return key;
  }

  /** Removes the values that follow from the cookies of the response. */
  static discardCookies(values: ContextValues): void {
    for (const key of ContextKey.#ofCookies) values.set(key, undefined);
  }
}

/**
 * The channels to which a request has published: their tags, the one of the last message at the end, each with the position of
 * its last message.
 */
export const PUBLISHED = new ContextKey<Map<string, string>>();

/** Values by their keys. */
export class ContextValues {
  readonly #values: unknown[] = [];

  get<T>(key: ContextKey<T>): T | undefined {
    return this.#values[key.index] as T | undefined; // set with the same key
  }

  /** Sets a value, or removes it with `undefined`. */
  set<T>(key: ContextKey<T>, value: T | undefined): this {
    this.#values[key.index] = value;
    return this;
  }
}

/** What a page that is rendered for all clients may use of a request. */
export interface SharedUse {
  /** Returns the error of a use that is refused, and records it. */
  refuse(use: string): Error;
  /** The query parameters on which the page may depend. */
  readonly query: Readonly<Record<string, string>>;
  /** Whether a form of a server function was rendered. */
  hasForm: boolean;
}
