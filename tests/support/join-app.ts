/** An application with a form of a server function, and requests that send it. */
import { h } from "preact";
import type { App, AppOptions } from "../../src/app.ts";
import { request, runInContext } from "../../src/http/index.ts";
import { form, type PageOptions } from "../../src/pages/index.ts";
import type { ServerOptions } from "../../src/rpc/index.ts";
import { session } from "../../src/session/index.ts";
import { compiledPage, compiledServer, createTestApp } from "./compiled-app.ts";
import { cookieHeaderOf, requestContext, testConfig } from "./request-context.ts";

export const FORM_ENV = { WEB_AUTH_SECRET: "5a".repeat(32) };
export const CSRF_ENV = { ...FORM_ENV, WEB_CSRF_SECRET: "6b".repeat(32) };

const STRING = { type: "any", shape: { kinds: ["string"] } } as const;
const PARAMS = { email: STRING, age: "int", note: { ...STRING, optional: true } } as const;

/** A form that is sent. */
export interface SentForm {
  readonly fields?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a form from a page of the application. */
export function postForm(app: App, path: string, { fields = {}, headers = {} }: SentForm = {}): Promise<Response> {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  const all = { origin: "http://shop.example", ...headers };
  return app.fetch(new Request(`http://shop.example${path}`, { method: "POST", body, headers: all }));
}

/** Returns the status of a response and where it redirects. */
export function redirectOf(response: Response): readonly [number, string | null] {
  return [response.status, response.headers.get("location")];
}

/** Returns the content of the body element of a page. */
export async function bodyOf(response: Response): Promise<string> {
  return /<body>(.*)<\/body>/s.exec(await response.text())?.[1] ?? "";
}

/** The options of {@link joinApp}. */
export interface JoinOptions {
  readonly options?: Partial<AppOptions>;
  readonly server?: ServerOptions;
  readonly page?: PageOptions;
  /** Further exports of the module. */
  readonly more?: Readonly<Record<string, unknown>>;
}

/** Fields that the function of {@link joinApp} accepts. */
export const VALID = { email: "a@b.c", age: "7" };

/** The address of the form of {@link joinApp}. */
export const JOIN = "/join?__form=register";

/** Returns an application with a page at /join that has a form of a function. It receives email, age and note. */
export function joinApp(
  work: (...args: unknown[]) => unknown,
  { options = {}, server = {}, page = {}, more = {} }: JoinOptions = {},
): App {
  const register = compiledServer("register", work, { params: PARAMS, options: server });
  const join = compiledPage(
    "/join",
    () => [
      h("p", null, `query ${JSON.stringify(request.query)}, result ${JSON.stringify(form(register).result)}`),
      h("form", { action: register as never }, h("input", { name: "email" }), h("input", { name: "age" })), // typed in JSX
    ],
    page,
  );
  return createTestApp({ register, join, ...more }, { env: FORM_ENV, ...options });
}

/** Returns the cookie of a client that is signed in. */
export function signedInCookie(): string {
  const context = requestContext(undefined, testConfig(CSRF_ENV));
  runInContext(context, () => session.login("ada"));
  return cookieHeaderOf(context);
}
