import { checkMaxBody } from "../bodies/index.ts";
import { rejectUnknownOptions } from "../config/index.ts";
import { RPCError } from "../errors.ts";
import { Redirect } from "../http/index.ts";
import { type FunctionLimits, type FunctionRate, functionLimits } from "../limits/index.ts";
import {
  type Call,
  type CallOptions,
  type IsAny,
  type NotSendable,
  type Sendable,
  type SerializedResult,
  type SerializeOptions,
  type Signature,
  type Stream,
  toJson,
} from "../protocol/index.ts";
import { session } from "../session/index.ts";
import { localCall, localStream } from "./local-call.ts";
import { checkTimeLimit } from "./time-limit.ts";
import { checkSchema, checkSchemas, type ParameterSchemas, type StandardSchema, withResultSchema } from "./validate.ts";

/** The annotation of a whole-number parameter: a numeric string is coerced, `3.5` is rejected. */
export type int = number;

/** The annotation of a finite-number parameter: a numeric string is coerced. `number` means the same. */
export type float = number;

/** The return type of a server function: a call of the serialised result, or a stream for a generator. */
export type CallResult<R> =
  IsAny<R> extends true
    ? Call<R>
    : [R] extends [never]
      ? Call<never>
      : [R] extends [GeneratorResult<infer T>]
        ? Stream<SerializedResult<Awaited<T>>>
        : Call<SerializedResult<Awaited<R>>>;

/** The return types of `function*` and `async function*`, explicit annotations such as `IterableIterator` included. */
type GeneratorResult<T> =
  | Generator<T, unknown, never>
  | AsyncGenerator<T, unknown, never>
  | IterableIterator<T>
  | AsyncIterableIterator<T>;

/**
 * Typed as `Function` so that parameter inference is not widened: with `(...args: unknown[])`, a parameter without an
 * annotation would become `unknown`, even one with a default.
 */
// biome-ignore lint/complexity/noBannedTypes: any narrower type affects the inference of parameters
type AnyFunction = Function;

/**
 * `unknown` if the arguments of a function arrive in the browser's calls with the types that it declares; otherwise a
 * function type that the function does not match, so that the compiler's error contains the sentence of `Sendable`.
 */
type CheckedParameters<F> = F extends (...args: infer A) => unknown
  ? [A] extends [SendableArguments<A>]
    ? unknown
    : (...args: SendableArguments<A>) => unknown
  : unknown;

/**
 * `unknown` if arguments and results of a function can be sent; otherwise a function type that it does not match, as
 * {@link CheckedParameters}.
 */
type CheckedFunction<F> = CheckedParameters<F> & (F extends (...args: never[]) => infer R ? CheckedResult<R> : unknown);

/** `unknown` also for results that only the serialiser can check, such as `any` and a promise of it. */
type CheckedResult<R> =
  IsAny<Awaited<R>> extends true
    ? unknown
    : [Extract<Awaited<R>, Response>] extends [never]
      ? [Extract<Awaited<R>, Blob | FormData>] extends [never]
        ? unknown
        : (...args: never[]) => NotSendable<"A File, Blob or FormData cannot be a result. Use route() and send_file().">
      : (...args: never[]) => NotSendable<"A Response cannot be a result. Use route(), or return the data.">;

/** A file is sent as a part of a multipart body. */
type SendableArguments<A extends readonly unknown[]> = {
  [K in keyof A]: A[K] extends Blob | readonly Blob[] | null | undefined ? A[K] : Sendable<A[K]>;
};

/** The type of the server function that `server` returns for a function. */
export type ServerFunctionOf<F> = F extends (...args: infer A) => infer R ? ServerFunction<A, R> : never;

/** The type of a server function whose results pass a schema: callers receive the schema's output. */
export type ServerFunctionReturning<F, Output> = F extends (...args: infer A) => infer R
  ? ServerFunction<
      A,
      IsAny<R> extends true ? Output : [R] extends [GeneratorResult<unknown>] ? Generator<Output> : Output
    >
  : never;

/**
 * A function that runs on the server, also when it is called in the browser. It returns a `Call`, which is a promise of
 * the serialised result that can be cancelled, or a `Stream` for a generator. Errors reject the promise or the first read
 * of the stream.
 *
 * Its call signature is a function type and not a member of an interface: from a call, "Go to definition" in an editor
 * leads to the function only, and not also to this declaration.
 */
export type ServerFunction<A extends readonly unknown[], R> = ((...args: A) => CallResult<R>) & NamedCall<R>;

/** The call of a server function with arguments by name. */
export interface NamedCall<R> {
  /**
   * Calls the function with arguments by name. Omitted parameters have their defaults.
   *
   * @param options `key`: the key of a call of a function with the option `idempotent`
   */
  named(args: Readonly<Record<string, unknown>>, options?: CallOptions): CallResult<R>;
}

/** The options of a server function. */
export interface ServerOptions {
  /**
   * Whether the caller must be signed in; otherwise the call fails with `unauthenticated`. With `WEB_CSRF_SECRET` the
   * call must also carry the CSRF token.
   */
  readonly auth_required?: boolean;
  /**
   * How often one user may call the function in any span of `seconds`, or one address if the caller is signed out: besides the
   * limit of the application. `by` returns the key of a second count from the arguments. Only requests count, not calls from server
   * code.
   */
  readonly rate?: FunctionRate;
  /**
   * The time limit of a call, in seconds, above 0. When it is exceeded, the caller receives `timeout` at once and
   * `request.signal` aborts. The default is the application's `rpc_timeout`. Streams have no time limit.
   */
  readonly rpc_timeout?: number;
  /**
   * The maximum size of a call's body or a form, files included, in bytes. The default is the application's `max_body`, or
   * 1 MiB. Only a function that takes files accepts more than it holds in memory: its large files are stored on disk.
   */
  readonly max_body?: number;
  /**
   * Schemas by the name of the parameter, from any library that implements Standard Schema. A schema validates the
   * coerced value, and the function receives the output of the schema.
   */
  readonly validate?: ParameterSchemas;
  /**
   * A schema of the result, or of each value of a stream, from any library that implements Standard Schema. Callers
   * receive the output of the schema. A result that does not match is a bug: the call fails with `internal`.
   */
  readonly returns?: StandardSchema;
  /**
   * Whether a form, or a call with a key, runs the function once: each further sending of the same fields with the same key, within 10
   * minutes, has the outcome of the first one. Forms have a key; calls have one with `fn.named(args, { key })`. Not for streams and
   * functions that take files. Default: `false`.
   *
   * @see docs/forms.md, Once is once
   */
  readonly idempotent?: boolean;
}

/** The options of a server function whose `rate.by` takes the parameters of the function. */
type OptionsOf<F> = Omit<ServerOptions, "rate"> & {
  readonly rate?: FunctionRate<F extends (...args: infer A) => unknown ? A : never>;
};

/** A server function with its signature and options. */
export interface FunctionDefinition {
  readonly signature: Signature;
  readonly options: ServerOptions;
  /** Its limits, if it has a rate of its own. */
  readonly limits?: FunctionLimits | undefined;
  /** Runs the function, or throws `unauthenticated` if the current user may not call it. */
  readonly run: Run;
  /** How its results are serialised: their errors name the function and where it is declared. */
  readonly serialization: SerializeOptions;
}

type Run = (...args: unknown[]) => unknown;

const definitions = new WeakMap<object, FunctionDefinition>();

/** Returns the definition of a server function; `undefined` for any other value. */
export function definitionOf(value: unknown): FunctionDefinition | undefined {
  return typeof value === "function" ? definitions.get(value) : undefined;
}

/**
 * Declares a server function: it runs on the server only, and browser code calls it like any other function. The result
 * must be exported as a const of a `*.server.ts` module.
 *
 * Its name is that of the export. It is served if its module is listed in `new App({ modules })`. Before it runs,
 * arguments from outside are coerced to their annotations (`int`, `float`, `number`, `boolean`); all others are not
 * checked unless the application is `strict` or the function has the option `validate`. Calls from server code are not
 * coerced.
 *
 * @param fn the function; a `function*` or `async function*` streams its values
 * @throws Error if the module was not compiled; the message describes how to compile it
 * @throws TypeError or RangeError for an invalid option
 * @see docs/protocol.md 4.1
 * @example export const add = server((a: int, b: int) => a + b);
 */
export function server<F extends AnyFunction>(fn: F & CheckedFunction<F>): ServerFunctionOf<F>;
/** Declares a server function whose parameters and results pass schemas. Callers receive the schema's output. */
export function server<F extends AnyFunction, Input, Output>(
  options: OptionsOf<F> & { readonly returns: StandardSchema<Input, Output>; readonly validate: ParameterSchemas },
  fn: F,
): ServerFunctionReturning<F, Output>;
/** Declares a server function whose results pass a schema. Callers receive the schema's output. */
export function server<F extends AnyFunction, Input, Output>(
  options: OptionsOf<F> & { readonly returns: StandardSchema<Input, Output> },
  fn: F & CheckedParameters<F>,
): ServerFunctionReturning<F, Output>;
/** Declares a server function whose parameters pass schemas, which may convert them: a string to a `Date`. */
export function server<F extends AnyFunction>(
  options: OptionsOf<F> & { readonly validate: ParameterSchemas },
  fn: F,
): ServerFunctionOf<F>;
/** Declares a server function with options: a required sign-in, a time limit or schemas, see {@link ServerOptions}. */
export function server<F extends AnyFunction>(options: OptionsOf<F>, fn: F & CheckedFunction<F>): ServerFunctionOf<F>;
export function server(...args: readonly unknown[]): unknown {
  const [first, second, compiled] = args;
  const [options, run] = typeof first === "function" ? [{}, first] : [first, second];
  requireSignature(compiled, run, "server()");
  checkOptions(options, compiled);
  const definition: FunctionDefinition = {
    signature: compiled,
    options,
    limits: functionLimits(compiled.name, options.rate, locationOf(compiled)),
    run: withSignInCheck(
      options,
      options.returns
        ? withResultSchema(run as Run, options.returns, compiled) // a function, checked above
        : (run as Run),
    ),
    serialization: { subject: `${compiled.name} (${compiled.file}:${compiled.line})` },
  };
  const callable = (...values: unknown[]) => callLocally(definition, () => values);
  callable.named = (fields: Readonly<Record<string, unknown>>) =>
    callLocally(definition, () => (compiled.keyed ? [fields] : toPositionalArguments(compiled, fields)));
  Object.defineProperty(callable, "name", { value: compiled.name });
  definitions.set(callable, definition);
  return callable;
}

const OPTIONS: Readonly<Record<keyof ServerOptions, true>> = {
  auth_required: true,
  rate: true,
  rpc_timeout: true,
  max_body: true,
  validate: true,
  returns: true,
  idempotent: true,
};

function checkOptions(options: unknown, signature: Signature): asserts options is ServerOptions {
  const location = locationOf(signature);
  rejectUnknownOptions(options, OPTIONS, location);
  const { auth_required, rpc_timeout, max_body, validate, returns, idempotent } = options as Partial<
    Record<keyof ServerOptions, unknown>
  >;
  if (auth_required !== undefined && typeof auth_required !== "boolean") {
    throw new TypeError(`${location}: auth_required is ${String(auth_required)}. It must be true or false.`);
  }
  checkIdempotent(idempotent, signature, location);
  checkTimeLimit(rpc_timeout, location);
  checkMaxBody(max_body, location);
  checkSchemas(validate, signature, location);
  if (returns !== undefined) checkSchema(returns, `${location}: returns`);
}

function checkIdempotent(idempotent: unknown, { stream, params }: Signature, location: string): void {
  if (idempotent === undefined || idempotent === false) return;
  if (idempotent !== true) {
    throw new TypeError(`${location}: idempotent is ${String(idempotent)}. It must be true or false.`);
  }
  const file = params.find(({ files }) => files);
  if (!stream && !file) return;
  const reason = stream ? "it is a stream, whose values are not kept" : `its parameter ${file?.name} takes files`;
  const fix = stream ? "Return the values as one result" : "Take the file in another function, and its id here";
  throw new TypeError(`${location}: idempotent cannot be true, because ${reason}. ${fix}.`);
}

function locationOf({ name, file }: Signature): string {
  return `server() of ${name} in ${file}`;
}

/** @throws Error unless the compile step has passed the signature of a function to its declaration */
export function requireSignature(signature: unknown, fn: unknown, caller: string): asserts signature is Signature {
  if (typeof signature === "object" && signature !== null && "params" in signature && typeof fn === "function") return;
  throw new Error(
    `${caller} was called in a module that tsweb has not compiled, so its arguments would not be checked. ` +
      "Run the application with `tsweb dev` or `tsweb build`, a script with `node --import tsweb/register`, " +
      'and tests with the plugin of "tsweb/vite".',
  );
}

/**
 * Calls a function from server code, without HTTP and without coercion. The result is serialised and parsed, so that it
 * has the same type as over HTTP. Errors reject the promise or the first read of the stream; nothing is thrown
 * synchronously. So does a redirect, also a returned one: the page or function that called it redirects, like the
 * browser does after a call.
 */
function callLocally(definition: FunctionDefinition, values: () => unknown[]): Call<unknown> | Stream<unknown> {
  const { signature, run, serialization } = definition;
  const start = () => run(...values());
  // A function with `stream` in its signature was declared with function*, so it returns an iterator.
  if (signature.stream) return localStream(start as () => AsyncIterator<unknown> | Iterator<unknown>, serialization);
  return localCall(signature.name, async () => {
    const result = await start();
    if (result instanceof Redirect) throw result;
    return JSON.parse(toJson(result, serialization));
  });
}

/**
 * Returns a function of which nothing runs, default values of parameters included, unless the user is signed in at that
 * moment. The one place that decides this for calls, forms, uploads, streams and calls from server code: since a request was
 * accepted, its body or a schema may have waited for an hour, and the session may have been revoked or have expired.
 */
function withSignInCheck(options: ServerOptions, run: Run): Run {
  if (!options.auth_required) return run;
  return (...args) => {
    if (!isAllowed(options)) throw unauthenticatedError();
    return run(...args);
  };
}

/** Returns whether the current user may call a function with these options: with `auth_required` only a signed-in user. */
export function isAllowed({ auth_required }: ServerOptions): boolean {
  return !auth_required || session.user() !== null;
}

/** Returns the error for a call that requires a signed-in user. */
export function unauthenticatedError(): RPCError {
  return new RPCError("unauthenticated", "Sign in to continue.");
}

function toPositionalArguments({ name, params }: Signature, fields: Readonly<Record<string, unknown>>): unknown[] {
  for (const field of Object.keys(fields)) {
    if (params.some((parameter) => parameter.name === field)) continue;
    const valid = params.map((parameter) => parameter.name).join(", ") || "none";
    throw new TypeError(`${name} has no parameter ${field}. Valid parameters: ${valid}.`);
  }
  // Own properties only: an omitted parameter named `constructor` must not be inherited.
  return params.map((parameter) => (Object.hasOwn(fields, parameter.name) ? fields[parameter.name] : undefined));
}
