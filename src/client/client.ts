import { type Arguments, checkArgumentCount, checkArguments, toNamedArguments } from "../protocol/index.ts";
import { CallOrStream } from "./call.ts";
import { CallSite } from "./call-site.ts";
import { type ClientOptions, Connection } from "./connection.ts";

/** A server function as a type: it can be called, also with named arguments. */
type Callable = ((...args: never[]) => unknown) & { named(args: never): unknown };

/** The server functions of a module, with the same arguments and results. Each call is sent over HTTP. */
export type Client<M> = { readonly [K in keyof M as M[K] extends Callable ? K : never]: M[K] };

/**
 * Returns an object with the server functions of a module that another process serves, for scripts, tests and other
 * services. Only the types of the module are used, so it is not loaded. Nothing is sent before the first call.
 *
 * A call whose function redirects resolves with `null`: a client opens no pages. The URL is in the header `X-Redirect` of
 * the response, which `options.fetch` can read.
 *
 * A client keeps the cookies of responses, so that calls after a sign-in are signed in. Calls reject with an `RPCError`
 * that has the code, message and details of the server's error. A response of a proxy becomes an error with the code of
 * its status. If the server is unreachable, the code is `internal`, and `cause` is the error of `fetch`. A call that
 * exceeds `options.timeout` rejects with `timeout`.
 *
 * Parameter names are part of the types and do not exist at run time, but calls are sent with them. Therefore the first
 * positional call of a function requests its parameter names from the server. `.named` does not need this request.
 *
 * Arguments that would not arrive as they are, such as a `Set`, reject the call with a `TypeError`, and nothing is sent.
 *
 * @param base_url the address of the application, its base path included: `https://shop.example/base`
 * @param options headers, an initial cookie, a signal, a timeout in seconds
 * @throws TypeError for an invalid address, header or timeout
 * @see docs/protocol.md 3.4 and 3.5
 * @example
 * const accounts = client<typeof import("./accounts.server.ts")>("http://localhost:3000");
 * await accounts.login("ada@example.com", "correct horse");
 * for await (const n of accounts.countdown(3)) console.log(n);
 */
export function client<M>(base_url: string | URL, options: ClientOptions = {}): Client<M> {
  const connection = new Connection(base_url, options);
  const functions = new Map<string, RemoteFunction>();
  const get = (_: object, key: string | symbol): RemoteFunction | undefined => {
    if (typeof key === "symbol" || RESERVED_NAMES.has(key)) return undefined;
    const remote = functions.get(key) ?? createRemoteFunction(connection, key);
    functions.set(key, remote);
    return remote;
  };
  // Only the types contain the names of the functions.
  return new Proxy(Object.freeze(Object.create(null)), { get }) as Client<M>;
}

/** Names that the language reads: with them, `await` or `JSON.stringify` of a client would send a call. */
const RESERVED_NAMES: ReadonlySet<string> = new Set(["then", "toJSON"]);

interface RemoteFunction {
  (...values: unknown[]): CallOrStream;
  named(args?: Arguments): CallOrStream;
}

function createRemoteFunction(connection: Connection, name: string): RemoteFunction {
  const checked = (args: Arguments): Arguments => {
    checkArguments(name, args, true);
    return args;
  };
  const nameArguments = async (values: readonly unknown[]): Promise<Arguments> => {
    if (values.length === 0) return {}; // no names needed
    const { params } = await connection.signatureOf(name);
    checkArgumentCount(name, params, values);
    return checked(toNamedArguments(params, values));
  };
  const call = (...values: unknown[]) =>
    new CallOrStream(connection, { name, resolveArguments: () => nameArguments(values), site: new CallSite(call) });
  const named = (args: Arguments = {}) =>
    new CallOrStream(connection, { name, resolveArguments: async () => checked(args), site: new CallSite(named) });
  return Object.assign(call, { named });
}
