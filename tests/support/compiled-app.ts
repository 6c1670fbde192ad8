/**
 * Declarations as the compile step emits them, with the metadata argument written by hand, and applications made of
 * them.
 */
import { App, type AppOptions } from "../../src/app.ts";
import { type Query, type QueryOptions, query } from "../../src/live/index.ts";
import { type PageFunction, type PageOptions, page } from "../../src/pages/index.ts";
import { type RouteFunction, type RouteOptions, type RoutePattern, route } from "../../src/pages/route.ts";
import { view } from "../../src/pages/view.ts";
import type { Parameter, Signature } from "../../src/protocol/index.ts";
import { type ServerFunction, type ServerOptions, server } from "../../src/rpc/index.ts";

/** A short notation of parameters: `{ quantity: "int" }` or `{ quantity: { type: "int", optional: true } }`. */
export type ParameterTypes = Readonly<
  Record<string, Parameter["type"] | (Omit<Parameter, "name" | "annotation"> & Partial<Pick<Parameter, "annotation">>)>
>;

/** The rest of a signature, and the options of `server()`. */
export interface CompiledServerOptions {
  readonly params?: ParameterTypes;
  readonly stream?: true;
  readonly keyed?: true;
  /** The recursive types that shapes refer to. */
  readonly shapes?: NonNullable<Signature["shapes"]>;
  readonly options?: ServerOptions;
}

/** Creates a server function as a compiled module does. */
export function compiledServer<A extends readonly unknown[], R>(
  name: string,
  fn: (...args: A) => R,
  { params = {}, options = {}, ...rest }: CompiledServerOptions = {},
): ServerFunction<A, R> {
  const signature: Signature = { ...signatureOf(name, params), ...rest };
  return Reflect.apply(server, undefined, [options, fn, signature]);
}

function signatureOf(name: string, params: ParameterTypes): Signature {
  return {
    name,
    file: `src/${name}.server.ts`,
    line: 1,
    params: Object.entries(params).map(([param, value]) => ({
      name: param,
      annotation: typeof value === "string" ? value : value.type,
      ...(typeof value === "string" ? { type: value } : value),
    })),
  };
}

/** Creates a query as a compiled module does. */
export function compiledQuery<F>(
  name: string,
  options: QueryOptions<F>,
  fn: F,
  { params = {}, ...rest }: Pick<CompiledServerOptions, "params" | "keyed"> & { readonly hash?: string } = {},
): Query<F> {
  return Reflect.apply(query, undefined, [options, fn, { ...signatureOf(name, params), ...rest }]);
}

/** Creates a page as a compiled module does. */
export function compiledPage<const Path extends string>(path: Path, fn: PageFunction<Path>, options: PageOptions = {}) {
  return Reflect.apply(page, undefined, [path, options, fn, { file: "src/pages.server.tsx", line: 1 }]);
}

/** Creates a route as a compiled module does. */
export function compiledRoute<const Pattern extends RoutePattern>(
  pattern: Pattern,
  ...args: readonly [fn: RouteFunction<Pattern>] | readonly [options: RouteOptions, fn: RouteFunction<Pattern>]
) {
  const [first, second] = args;
  return Reflect.apply(route, undefined, [pattern, first, second, { file: "src/routes.server.ts", line: 1 }]);
}

/** Creates a view as a compiled module does. */
export function compiledView<P extends object>(name: string, fn: Parameters<typeof view<P>>[0]) {
  return view<P>(fn, { file: `src/${name}.tsx`, name });
}

/** Creates an application of one module. It reads no environment variables, only `env`. */
export function createTestApp(module: Readonly<Record<string, unknown>>, options: Partial<AppOptions> = {}): App {
  return new App({ modules: [module], env: { WEB_AUTH_SECRET: "5a".repeat(32) }, ...options });
}

/** The parts of a call besides its arguments. */
export interface CallInit {
  readonly headers?: Readonly<Record<string, string>>;
  /** The request body. Defaults to `{"args":…}`. */
  readonly body?: BodyInit;
  readonly signal?: AbortSignal;
}

/** Calls a server function over HTTP and returns the response. */
export function callOverHttp(app: App, name: string, args: unknown = {}, init: CallInit = {}): Promise<Response> {
  return app.fetch(
    new Request(`http://shop.example/__web/rpc/${name}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...init.headers },
      body: init.body ?? JSON.stringify({ args }),
      signal: init.signal ?? null,
      duplex: "half",
    } as RequestInit),
  );
}

/** Requests a path of the application and returns the response. */
export function getPage(app: App, path: string, init: RequestInit = {}): Promise<Response> {
  return app.fetch(new Request(`http://shop.example${path}`, init));
}
