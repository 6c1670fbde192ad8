/**
 * The application of the fault tests (tests/fault/fixtures/faults): built, and started in a process that
 * crashes at an unhandled rejection.
 */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { repository } from "./copy-example.ts";
import { build, type Environment, type RunningServer, startNode } from "./run-tsweb.ts";
import { TestProject } from "./test-project.ts";

/** The built application, in a temporary folder. */
export interface FaultApp {
  /** Starts a server process. */
  start(env?: Environment): Promise<RunningServer>;
  /** Deletes the folder. */
  remove(): void;
}

/** Builds the application. The caller has to remove it. */
export async function buildFaultApp(): Promise<FaultApp> {
  const site = TestProject.copy(join(repository, "tests/fault/fixtures/faults"));
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

/** The response of a call. */
export interface CallResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Calls a server function, as a script does: without an origin and a CSRF token. */
export async function sendCall(
  to: RunningServer,
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
 * Calls a server function and returns its result.
 *
 * @throws Error with the response body if the status is not 200
 */
export async function callFunction<T>(
  to: RunningServer,
  name: string,
  args: object = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<T> {
  const { status, text } = await sendCall(to, name, args, headers);
  if (status !== 200) throw new Error(`${name}: ${text}`);
  return JSON.parse(text).result;
}
