import { checkKnown } from "../config/index.ts";
import { RPCError } from "../errors.ts";
import type { Signature, Stream } from "../protocol/index.ts";
import { type SerializedResult, toJson } from "../protocol/index.ts";
import { session } from "../session/index.ts";
import { localStream } from "./local-stream.ts";
import { checkSeconds } from "./time-limit.ts";
import { checkSchemas, type Schemas } from "./validate.ts";

/** A whole number, as a parameter's annotation: a numeric string is coerced, `3.5` refused. */
export type int = number;

/** A finite number, as a parameter's annotation: a numeric string is coerced. `number` is the same. */
export type float = number;

type IsAny<T> = 0 extends 1 & T ? true : false;

/** What a call gives: a promise of the result as it travels, or for a generator a stream. */
export type Called<R> =
  IsAny<R> extends true
    ? Promise<R>
    : [R] extends [never]
      ? Promise<never>
      : [R] extends [Iterating<infer T>]
        ? Stream<SerializedResult<Awaited<T>>>
        : Promise<SerializedResult<Awaited<R>>>;

/** What `function*` and `async function*` give, also where they are annotated in general words. */
type Iterating<T> =
  | Generator<T, unknown, never>
  | AsyncGenerator<T, unknown, never>
  | IterableIterator<T>
  | AsyncIterableIterator<T>;

/**
 * The function that a server function is made of. It says no more of it than that it is one: said to
 * take `unknown`, a parameter without an annotation would be `unknown`, and one with a default too.
 */
// biome-ignore lint/complexity/noBannedTypes: nothing narrower leaves the parameters to themselves
type AnyFunction = Function;

/** What `server` makes of a function. */
export type Served<F> = F extends (...args: infer A) => infer R ? ServerFunction<A, R> : never;

/** A function that runs on the server, wherever it is called from. */
export interface ServerFunction<A extends readonly unknown[], R> {
  (...args: A): Called<R>;
  /** Calls it with its parameters by name; what is left out takes its default. */
  named(args: Readonly<Record<string, unknown>>): Called<R>;
}

/** What a server function asks of its callers. */
export interface ServerOptions {
  /** Only a signed-in visitor may call it: `unauthenticated` else, and the CSRF token where one is configured. */
  readonly auth_required?: boolean;
  /**
   * How long a call may take, in seconds; over it the caller gets `timeout` at once and
   * `request.signal` aborts. The application's own applies where it is left out. Streams have none.
   */
  readonly rpc_timeout?: number;
  /**
   * Schemas by parameter, of any library that keeps to Standard Schema: each holds for the value
   * after it was coerced, and what it makes of it is what the function gets.
   */
  readonly validate?: Schemas;
}

/** A server function, as the application serves it. */
export interface Definition {
  readonly signature: Signature;
  readonly options: ServerOptions;
  readonly run: (...args: unknown[]) => unknown;
}

const definitions = new WeakMap<object, Definition>();

/** Gives what is behind a `server()` export, or nothing for any other value. */
export function definitionOf(value: unknown): Definition | undefined {
  return typeof value === "function" ? definitions.get(value) : undefined;
}

/**
 * Marks a function that runs on the server only and can be called from the browser like any other.
 *
 * Its name is the one under which its module exports it; it is served once the module is listed in
 * `new App({ modules })`. Arguments are checked against their annotations (`int`, `float`,
 * `number`, `boolean`) before it runs.
 *
 * @throws Error when the module was not compiled, and says how to compile it
 * @example export const add = server((a: int, b: int) => a + b);
 */
export function server<F extends AnyFunction>(fn: F): Served<F>;
export function server<F extends AnyFunction>(options: ServerOptions, fn: F): Served<F>;
export function server(...args: readonly unknown[]): unknown {
  const [first, second, compiled] = args;
  const [options, run] = typeof first === "function" ? [{}, first] : [first, second];
  if (!isSignature(compiled) || typeof run !== "function") {
    throw new Error(
      "server() was called in a module that tsweb has not compiled, so its arguments would go unchecked. " +
        "Run the application with `tsweb dev` or `tsweb build`, a script with `node --import tsweb/register`, " +
        'and tests with the plugin of "tsweb/vite".',
    );
  }
  checkOptions(options, compiled);
  const definition: Definition = {
    signature: compiled,
    options,
    run: run as Definition["run"], // a function, checked above
  };
  const callable = (...values: unknown[]) => callLocally(definition, () => values);
  callable.named = (fields: Readonly<Record<string, unknown>>) =>
    callLocally(definition, () => (compiled.keyed ? [fields] : byPosition(compiled, fields)));
  Object.defineProperty(callable, "name", { value: compiled.name });
  definitions.set(callable, definition);
  return callable;
}

const OPTIONS: Readonly<Record<keyof ServerOptions, true>> = { auth_required: true, rpc_timeout: true, validate: true };

function checkOptions(options: unknown, signature: Signature): asserts options is ServerOptions {
  const { name, file } = signature;
  const where = `server() of ${name} in ${file}`;
  checkKnown(options, OPTIONS, where);
  const { auth_required, rpc_timeout, validate } = options as Partial<Record<keyof ServerOptions, unknown>>;
  if (auth_required !== undefined && typeof auth_required !== "boolean") {
    throw new TypeError(`${where}: auth_required is true or false.`);
  }
  checkSeconds(rpc_timeout, where);
  checkSchemas(validate, signature, where);
}

function isSignature(value: unknown): value is Signature {
  return typeof value === "object" && value !== null && "params" in value;
}

/**
 * A plain call from server code: no HTTP and no coercion, but what the types say holds here too.
 * Whatever goes wrong, a promise is rejected or the first read of a stream fails: nothing is thrown at once.
 */
function callLocally(definition: Definition, values: () => unknown[]): Promise<unknown> | Stream<unknown> {
  const { signature, run } = definition;
  const start = () => {
    if (!isAllowed(definition)) throw signInFirst(definition);
    return run(...values());
  };
  // What is written with function* gives an iterator.
  if (signature.stream) return localStream(start as () => AsyncIterator<unknown> | Iterator<unknown>);
  return (async () => JSON.parse(toJson(await start())))();
}

/** Answers whether the visitor may call a function: anybody, or with `auth_required` who is signed in. */
export function isAllowed({ options }: Definition): boolean {
  return !options.auth_required || session.user() !== null;
}

/** Gives the error for a visitor whom a function asks to be signed in. */
export function signInFirst({ signature }: Definition): RPCError {
  return new RPCError("unauthenticated", `Sign in to use ${signature.name}.`);
}

function byPosition({ name, params }: Signature, fields: Readonly<Record<string, unknown>>): unknown[] {
  for (const field of Object.keys(fields)) {
    if (!params.some((parameter) => parameter.name === field))
      throw new TypeError(`${name} has no parameter ${field}.`);
  }
  // Own fields alone: a parameter named `constructor` that was left out must not find one on the prototype.
  return params.map((parameter) => (Object.hasOwn(fields, parameter.name) ? fields[parameter.name] : undefined));
}
