/**
 * The application of the fault suites: built, and run in a process that dies of a rejection that
 * nobody takes up.
 */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { repository } from "./copy-example.ts";
import { build, type Environment, type Running, startNode } from "./run-tsweb.ts";
import { Site } from "./site.ts";

/** The application, built, in a folder of its own. */
export interface FaultApp {
  /** Starts it in a process of its own. */
  start(env?: Environment): Promise<Running>;
  remove(): void;
}

/** Builds the application. Whoever asks for it removes it. */
export async function buildFaultApp(): Promise<FaultApp> {
  const site = Site.copy(join(repository, "tests/fault/fixtures/faults"));
  await build(site.dir);
  return {
    start: (env = {}) =>
      startNode(site.dir, ["--expose-gc", "--unhandled-rejections=strict", "dist/server.mjs"], {
        WEB_AUTH_SECRET: randomBytes(32).toString("hex"),
        ...env,
      }),
    remove: () => site.remove(),
  };
}

/** What a call answered. */
export interface CallResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Calls a function, as a script does. */
export async function sendCall(
  to: Running,
  name: string,
  args: object = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<CallResponse> {
  const response = await fetch(`${to.address}/__web/rpc/${name}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ args }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/**
 * Calls a function, and gives its result.
 *
 * @throws Error with the answer, when it is none
 */
export async function callFunction<T>(
  to: Running,
  name: string,
  args: object = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<T> {
  const { status, text } = await sendCall(to, name, args, headers);
  if (status !== 200) throw new Error(`${name}: ${text}`);
  return JSON.parse(text).result;
}
