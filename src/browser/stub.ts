/**
 * The entry point `tsweb/stub`: the functions with which the compiler replaces the exports of a server module in the
 * browser.
 */
import {
  type Arguments,
  type Call,
  type CallOptions,
  checkArgumentCount,
  formatHref,
  IDEMPOTENCY_HEADER,
  type Linkable,
  openStream,
  readResult,
  type Stream,
  toNamedArguments,
} from "../protocol/index.ts";
import { leaving, post } from "./call.ts";
import { checkHiddenStream } from "./dev/hidden-streams.ts";
import { checkMisuse, rejectUseAsText, withCallSite } from "./dev/misuse.ts";
import { getPageData } from "./page-data.ts";

export { upload } from "./upload.ts";

/** A stub. Its parameters and result are typed by `server()`; these types are for the compiled code. */
export interface RemoteFunction<R> {
  (...values: unknown[]): R;
  /** Calls the function with arguments by name. Omitted parameters have their defaults. */
  named(args: Arguments, options?: CallOptions): R;
}

/**
 * Returns the stub of a server function. Its `id` is the name, for forms, which use its `hash`, too.
 *
 * @param params the names of the positional parameters; absent if the function takes one object of named parameters
 * @param hash the hash of the signature; absent in development
 * @param postCall `upload` for a function that takes files. Pages without such a function do not load it
 */
export function stub(
  name: string,
  params?: readonly string[],
  hash?: string,
  postCall = post,
): RemoteFunction<Call<unknown>> & { id: string; hash?: string | undefined } {
  const send = (getArguments: () => Arguments): Call<unknown> => {
    const abort = new AbortController();
    const run = async () => {
      try {
        return await readResult(name, await postCall(name, getArguments(), abort.signal, hash));
      } finally {
        // Replaces the errors that the abortion causes, and a result that arrives at the same time.
        abort.signal.throwIfAborted();
      }
    };
    const result = process.env.NODE_ENV === "production" ? run() : withCallSite(run);
    if (process.env.NODE_ENV !== "production") rejectUseAsText(result, name, `Await it: await ${name}(…).`);
    return Object.assign(result, {
      cancel() {
        abort.abort();
        result.catch(() => {}); // the caller does not want the result, so the rejection need not be handled
      },
    });
  };
  const call = (...values: unknown[]) =>
    send(() => {
      // Bundlers remove the longer messages from production.
      if (process.env.NODE_ENV !== "production") checkMisuse(() => checkArgumentCount(name, params, values));
      return toNamedArguments(params, values);
    });
  return Object.assign(call, { named: (args: Arguments) => send(() => args), id: name, hash });
}

/**
 * Returns the stub of a function that may be idempotent: a call by name can have a key. Other pages do not load it.
 *
 * @param params, hash as for {@link stub}
 */
export function idempotent(name: string, params?: readonly string[], hash?: string): ReturnType<typeof stub> {
  const plain = stub(name, params, hash);
  const named = (args: Arguments, { key }: CallOptions = {}) => {
    if (!key) return plain.named(args);
    const send = (url: string, init: RequestInit) =>
      fetch(url, { ...init, headers: { ...(init.headers as Record<string, string>), [IDEMPOTENCY_HEADER]: key } });
    const withKey: typeof post = (name, args, signal, hash) => post(name, args, signal, hash, send);
    return stub(name, params, hash, withKey).named(args);
  };
  return Object.assign((...values: unknown[]) => plain(...values), plain, { named });
}

/**
 * Returns the stub of a streaming function.
 *
 * @param params, hash as for {@link stub}
 */
export function stream(name: string, params?: readonly string[], hash?: string): RemoteFunction<Stream<unknown>> {
  const open = (args: Arguments) => {
    const values = openStream(
      name,
      args,
      (_, args, signal) => post(name, args, signal, hash),
      () => leaving,
    );
    if (process.env.NODE_ENV !== "production") {
      checkHiddenStream(name, values);
      rejectUseAsText(values, name, `It is a stream: for await (const value of ${name}(…)) { … }.`);
    }
    return values;
  };
  const call = (...values: unknown[]) => {
    if (process.env.NODE_ENV !== "production") checkMisuse(() => checkArgumentCount(name, params, values));
    return open(toNamedArguments(params, values));
  };
  return Object.assign(call, { named: open });
}

/** Any parameters: the types of pages and routes have checked them. */
type Link = Linkable<Record<string, string | undefined>>;

/**
 * Returns the stub of a page or a route: its pattern, and its links. Nothing else of it is in the browser.
 *
 * @param pattern the path of a page, or the method and the path of a route
 */
export function link(pattern: string): Link & ({ readonly path: string } | { readonly pattern: string }) {
  const path = pattern.replace(/^\w+ /, "");
  const href: Link["href"] = (params, options) => formatHref(getPageData().base, path, params, options);
  return path === pattern ? { path, href } : { pattern, href };
}
