/**
 * Marks as the compile step leaves them: with their last argument filled in by hand.
 */
import { App, type AppOptions } from "../../src/app.ts";
import { type PageFunction, type PageOptions, page } from "../../src/pages/index.ts";
import { type RouteFunction, type RoutePattern, route } from "../../src/pages/route.ts";
import { view } from "../../src/pages/view.ts";
import type { Parameter, Signature } from "../../src/protocol/index.ts";
import { type ServerFunction, type ServerOptions, server } from "../../src/rpc/index.ts";

/** Parameters in short: `{ quantity: "int" }`, or with more to say `{ quantity: { type: "int", optional: true } }`. */
export type ParameterTypes = Readonly<Record<string, Parameter["type"] | Omit<Parameter, "name" | "annotation">>>;

/** What else a signature may say. */
export interface CompiledServerOptions {
  readonly params?: ParameterTypes;
  readonly stream?: true;
  readonly keyed?: true;
  /** The types made of themselves that shapes refer to. */
  readonly shapes?: NonNullable<Signature["shapes"]>;
  readonly options?: ServerOptions;
}

/** Gives a server function as a compiled module has it. */
export function compiledServer<A extends readonly unknown[], R>(
  name: string,
  fn: (...args: A) => R,
  { params = {}, options = {}, ...more }: CompiledServerOptions = {},
): ServerFunction<A, R> {
  const signature: Signature = {
    name,
    file: `src/${name}.server.ts`,
    line: 1,
    params: Object.entries(params).map(([param, facts]) => ({
      name: param,
      annotation: typeof facts === "string" ? facts : facts.type,
      ...(typeof facts === "string" ? { type: facts } : facts),
    })),
    ...more,
  };
  return Reflect.apply(server, undefined, [options, fn, signature]);
}

/** Gives a page as a compiled module has it. */
export function compiledPage<const Path extends string>(path: Path, fn: PageFunction<Path>, options: PageOptions = {}) {
  return Reflect.apply(page, undefined, [path, options, fn, { file: "src/pages.server.tsx", line: 1 }]);
}

/** Gives a raw route as a compiled module has it. */
export function compiledRoute<const Pattern extends RoutePattern>(pattern: Pattern, fn: RouteFunction<Pattern>) {
  return Reflect.apply(route, undefined, [pattern, fn, undefined, { file: "src/routes.server.ts", line: 1 }]);
}

/** Gives a view as a compiled module has it. */
export function compiledView<P extends object>(name: string, fn: Parameters<typeof view<P>>[0]) {
  return view<P>(fn, { file: `src/${name}.tsx`, name });
}

/** Gives an application of these functions and pages, configured by nothing but `env`. */
export function createTestApp(module: Readonly<Record<string, unknown>>, options: Partial<AppOptions> = {}): App {
  return new App({ modules: [module], env: { WEB_AUTH_SECRET: "5a".repeat(32) }, ...options });
}

/** What a call is sent with beside its arguments. */
export interface CallInit {
  readonly headers?: Readonly<Record<string, string>>;
  /** The whole body, in the place of `{"args":…}`. */
  readonly body?: BodyInit;
  readonly signal?: AbortSignal;
}

/** Calls a function over HTTP, as a script would. */
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

/** Reads a page. */
export function getPage(app: App, path: string, init: RequestInit = {}): Promise<Response> {
  return app.fetch(new Request(`http://shop.example${path}`, init));
}
