import { type Config, type Environment, loadConfig } from "../../src/config/index.ts";
import { FetchInboundRequest, RequestContext, runInContext } from "../../src/http/index.ts";
import { session } from "../../src/session/index.ts";

/** A development configuration with secrets of its own, and what a test adds to them. */
export function testConfig(env: Environment = {}): Config {
  return loadConfig({ WEB_AUTH_SECRET: "5a".repeat(32), ...env }, { built: false, projectDir: "/app" });
}

const DEFAULT = testConfig();

/** Makes a request that carries this `Cookie` header, on its way. */
export function requestContext(cookie?: string, config: Config = DEFAULT): RequestContext {
  const request = new Request("http://localhost/", { headers: cookie === undefined ? {} : { cookie } });
  return new RequestContext({ inbound: new FetchInboundRequest(request), id: "1", traceparent: "", address: "::1", config });
}

/** Runs work in a request that carries this `Cookie` header. */
export function runWithCookie<T>(cookie: string | undefined, work: () => T, config: Config = DEFAULT): T {
  return runInContext(requestContext(cookie, config), work);
}

/** Signs in, in a request of its own, and gives the cookie as the next request sends it. */
export function signInCookie(sub: unknown = "ada", claims: unknown = {}, config: Config = DEFAULT): string {
  const context = requestContext(undefined, config);
  // Applied, since tests sign in with what the types refuse.
  runInContext(context, () => Reflect.apply(session.login, session, [sub, claims]));
  return cookieHeaderOf(context);
}

/** Gives the cookies of an answer as the next request sends them. */
export function cookieHeaderOf(context: RequestContext): string {
  return [...context.setCookieHeaders].map((line) => line.split(";")[0]).join("; ");
}
