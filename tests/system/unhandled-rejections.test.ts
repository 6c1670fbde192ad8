/**
 * Server functions with unawaited promises that reject: the server logs the error and continues to serve.
 */
import { afterAll, beforeAll, expect, it } from "vitest";
import { build, type RunningServer, startBuilt, startDev } from "#test/run-tsweb";
import { TestProject } from "#test/test-project";

let site: TestProject;

beforeAll(async () => {
  site = TestProject.fromFiles({
    "src/app.ts": `
      import { App } from "tsweb";
      import * as calls from "./calls.server.ts";
      export default new App({ modules: [calls] });`,
    "src/calls.server.ts": `
      import { publish, server } from "tsweb";
      export const ping = server(() => "pong");
      export const reject_without_await = server(() => {
        void Promise.reject(new Error("Unawaited failure"));
        return "returned";
      });
      export const publish_without_await = server(() => {
        void publish("x".repeat(129), 1);
        return "returned";
      });`,
  });
  await build(site.dir);
});

afterAll(() => site?.remove());

async function call({ address }: RunningServer, name: string): Promise<unknown> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${address}/__web/rpc/${name}`, { method: "POST", headers, body: '{"args":{}}' });
  return (await response.json()).result;
}

it.each([
  ["built", startBuilt],
  ["in development", startDev],
])("a server that is %s survives an unhandled rejection, and logs it with its stack", async (_, start) => {
  const server = await start(site.dir, { WEB_ENV: "development" });
  try {
    expect(await call(server, "reject_without_await")).toBe("returned");
    expect(await call(server, "publish_without_await")).toBe("returned");
    await expect.poll(() => server.output()).toMatch(/Unawaited failure.*calls\.server\.ts.*channel/s);
    expect(server.output()).toContain("Unhandled promise rejection. Await the promise, or catch its error");
    expect(await call(server, "ping")).toBe("pong");
  } finally {
    expect(await server.stop()).toBe(0);
  }
});
