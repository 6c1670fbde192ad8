/**
 * An application in the process of the test whose functions issue tokens of presence, and its pages, without a browser.
 */
import type { App } from "../../src/app.ts";
import { type PresenceOptions, presence, who } from "../../src/live/index.ts";
import { session } from "../../src/session/index.ts";
import { callOverHttp, compiledServer, createTestApp } from "./compiled-app.ts";
import { liveFunctions } from "./live-client.ts";
import { type Here, PresenceClient, postInit, type Send } from "./presence-client.ts";

const functions = {
  ...liveFunctions,
  here: compiledServer(
    "here",
    (name: string, data: unknown, options: PresenceOptions) => presence(name, data, options),
    {
      params: { name: "any", data: "any", options: "any" },
    },
  ),
  tokens: compiledServer(
    "tokens",
    (names: string[]) => Promise.all(names.map(async (name) => (await presence(name)).token)),
    { params: { names: "any" } },
  ),
  people: compiledServer("people", (name: string) => who(name), { params: { name: "any" } }),
  end: compiledServer("end", () => session.revoke(session.require().sub)),
  fail: compiledServer("fail", () => {
    session.logout();
    throw new Error("a failure");
  }),
};

const apps: App[] = [];
const clients: PresenceClient[] = [];

/** Closes what a test has opened. */
export async function closePresenceApps(): Promise<void> {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  for (const app of apps.splice(0)) await app.close();
}

/** Creates an application with functions that issue tokens. It is closed by {@link closePresenceApps}. */
export function createPresenceApp(): App {
  const app = createTestApp(functions, { env: { WEB_AUTH_SECRET: "5a".repeat(32) } });
  apps.push(app);
  return app;
}

/** Returns a function that sends requests to an application. */
export const sendTo =
  (app: App): Send =>
  (path, init) =>
    app.fetch(new Request(`http://shop.example${path}`, init));

/** Calls a function, and returns its result. */
export async function call(app: App, name: string, args: object, headers: Readonly<Record<string, string>> = {}) {
  const response = await callOverHttp(app, name, args, { headers });
  const { result, error } = await response.json();
  if (error) throw new Error(`${error.code}: ${error.message}`);
  return { result, response };
}

/** Signs a user in, and returns the headers of the browser. */
export async function signIn(app: App, user: string): Promise<Record<string, string>> {
  const { response } = await call(app, "enter", { user });
  return {
    cookie: response.headers
      .getSetCookie()
      .map((cookie) => cookie.split(";")[0])
      .join("; "),
  };
}

/** Returns what a page of a channel gets. */
export async function loadPage(
  app: App,
  headers: Readonly<Record<string, string>>,
  { name = "board:1", data = null as unknown, options = {} as unknown } = {},
): Promise<Here> {
  return (await call(app, "here", { name, data, options }, headers)).result;
}

/** Opens an event stream with tokens. It is closed by {@link closePresenceApps}. */
export async function open(app: App, tokens: readonly string[], headers: Readonly<Record<string, string>> = {}) {
  const client = new PresenceClient();
  clients.push(client);
  const response = await client.open(sendTo(app), tokens, headers);
  return { client, response };
}

/** Sends what a page says of itself. */
export const send = (app: App, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  sendTo(app)("/__web/presence", postInit(body, headers));
