import { type Config, type Environment, loadConfig } from "../../src/config/config.ts";
import { FetchInbound, RequestContext, runInContext } from "../../src/http/index.ts";
import { session } from "../../src/session/index.ts";

/** A development configuration with secrets of its own, and what a test adds to them. */
export function configWith(env: Environment = {}): Config {
  return loadConfig({ WEB_AUTH_SECRET: "5a".repeat(32), ...env }, { built: false, projectDir: "/app" });
}

const DEFAULT = configWith();

/** Makes a request that carries this `Cookie` header, on its way. */
export function contextWith(cookie?: string, config: Config = DEFAULT): RequestContext {
  const request = new Request("http://localhost/", { headers: cookie === undefined ? {} : { cookie } });
  return new RequestContext({ inbound: new FetchInbound(request), id: "1", traceparent: "", address: "::1", config });
}

/** Runs work in a request that carries this `Cookie` header. */
export function within<T>(cookie: string | undefined, work: () => T, config: Config = DEFAULT): T {
  return runInContext(contextWith(cookie, config), work);
}

/** Signs in, in a request of its own, and gives the cookie as the next request sends it. */
export function signIn(sub: unknown = "ada", claims: unknown = {}, config: Config = DEFAULT): string {
  const context = contextWith(undefined, config);
  // Applied, since tests sign in with what the types refuse.
  runInContext(context, () => Reflect.apply(session.login, session, [sub, claims]));
  return sentBack(context);
}

/** Gives the cookies of an answer as the next request sends them. */
export function sentBack(context: RequestContext): string {
  return [...context.outgoingCookies].map((line) => line.split(";")[0]).join("; ");
}
