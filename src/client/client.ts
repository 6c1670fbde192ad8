import { type Arguments, toNamedArguments } from "../protocol/index.ts";
import { Call } from "./call.ts";
import { type ClientOptions, Connection } from "./connection.ts";

/** What a server function is to the types: something that can be called, also by name. */
type Callable = ((...args: never[]) => unknown) & { named(args: never): unknown };

/** The server functions of a module, as they are called from elsewhere: with the same arguments and results. */
export type Client<M> = { readonly [K in keyof M as M[K] extends Callable ? K : never]: M[K] };

/**
 * Gives the server functions of a module that another process serves: for scripts, tests and other
 * services. Of the module only its types are used, so nothing of it is loaded.
 *
 * It is one visitor: cookies are kept from call to call, so that what follows a sign-in is signed
 * in. Errors are `RPCError`s with the code, message and details that the function gave; what a proxy
 * answered is told by its status, and a server that cannot be reached is `internal`, with its `cause`.
 *
 * Types have names for parameters, but at run time they are gone, and on the wire there is nothing
 * else. So the first positional call of a function asks the server for its names; `.named` asks nothing.
 *
 * @param base_url where the application is, its base included: `https://shop.example/base`
 * @throws TypeError for an address, a header or a timeout that cannot be used
 * @example
 * const accounts = client<typeof import("./accounts.server.ts")>("http://localhost:3000");
 * await accounts.login("ada@example.com", "correct horse");
 * for await (const n of accounts.countdown(3)) console.log(n);
 */
export function client<M>(base_url: string | URL, options: ClientOptions = {}): Client<M> {
  const connection = new Connection(base_url, options);
  const remotes = new Map<string, RemoteFunction>();
  const get = (_: object, key: string | symbol): RemoteFunction | undefined => {
    if (typeof key === "symbol" || RESERVED_NAMES.has(key)) return undefined;
    const remote = remotes.get(key) ?? createRemoteFunction(connection, key);
    remotes.set(key, remote);
    return remote;
  };
  // Which names there are is known to the types alone.
  return new Proxy(Object.freeze(Object.create(null)), { get }) as Client<M>;
}

/** What the language itself asks objects for: a client that had these would be called by an `await` or a log. */
const RESERVED_NAMES: ReadonlySet<string> = new Set(["then", "toJSON"]);

interface RemoteFunction {
  (...values: unknown[]): Call;
  named(args?: Arguments): Call;
}

function createRemoteFunction(connection: Connection, name: string): RemoteFunction {
  const naming = async (values: readonly unknown[]): Promise<Arguments> => {
    if (values.length === 0) return {}; // no values, no names
    const { params } = await connection.signatureOf(name);
    return toNamedArguments(name, params, values);
  };
  return Object.assign((...values: unknown[]) => new Call(connection, name, () => naming(values)), {
    named: (args: Arguments = {}) => new Call(connection, name, async () => args),
  });
}
