import { type Config, type Environment, loadConfig } from "../../src/config/index.ts";
import { FetchInboundRequest, RequestContext, type RequestContextInit, runInContext } from "../../src/http/index.ts";
import { session } from "../../src/session/index.ts";

/** Returns a development configuration with a secret and these variables. */
export function testConfig(env: Environment = {}): Config {
  return loadConfig({ WEB_AUTH_SECRET: "5a".repeat(32), ...env }, { built: false, projectDir: "/app" });
}

const DEFAULT = testConfig();

/** Returns the context of a request with this `Cookie` header. */
export function requestContext(cookie?: string, config: Config = DEFAULT): RequestContext {
  return requestContextOf(
    new Request("http://localhost/", { headers: cookie === undefined ? {} : { cookie } }),
    config,
  );
}

/** Returns the context of a request. */
export function requestContextOf(
  request: Request,
  config: Config = DEFAULT,
  parts: Partial<RequestContextInit> = {},
): RequestContext {
  return new RequestContext({
    inbound: new FetchInboundRequest(request),
    id: "1",
    traceparent: "",
    address: "::1",
    config,
    ...parts,
  });
}

/** Runs work in the context of a request with this `Cookie` header. */
export function runWithCookie<T>(cookie: string | undefined, work: () => T, config: Config = DEFAULT): T {
  return runInContext(requestContext(cookie, config), work);
}

/** Signs in and returns the `Cookie` header of the next request. */
export function signInCookie(sub: unknown = "ada", claims: unknown = {}, config: Config = DEFAULT): string {
  const context = requestContext(undefined, config);
  // Reflect.apply, because tests also pass invalid types.
  runInContext(context, () => Reflect.apply(session.login, session, [sub, claims]));
  return cookieHeaderOf(context);
}

/** Returns the `Cookie` header of the next request, after the cookies that this request has set. */
export function cookieHeaderOf(context: RequestContext): string {
  return [...context.setCookieHeaders].map((line) => line.split(";")[0]).join("; ");
}
