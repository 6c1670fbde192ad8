import { expect, it } from "vitest";
import { compiledServer, createTestApp } from "#test/compiled-app";
import { SECRET } from "#test/environment";
import { recordedLog } from "#test/recorded-log";

const FILE = { type: "any", files: "one", optional: true } as const;
const MESSAGE = "This is too large to be sent. The maximum is 1 MB.";

/** Sends a body over the maximum to a function. Returns the message of the log and the body of the response. */
async function send(path: string, env: Record<string, string> = {}) {
  const { log, lines } = recordedLog();
  const module = {
    save: compiledServer("save", () => 1, { params: { text: "any" } }),
    upload: compiledServer("upload", () => 1, { params: { photo: FILE } }),
  };
  const app = createTestApp(module, { log, env: { WEB_AUTH_SECRET: SECRET, ...env } });
  const isCall = path.startsWith("/__web/rpc/");
  const headers = {
    origin: "http://shop.example",
    "content-type": isCall ? "application/json" : "multipart/form-data; boundary=x",
    "content-length": "2000000",
  };
  const response = await app.fetch(new Request(`http://shop.example${path}`, { method: "POST", headers, body: "{}" }));
  expect(response.status).toBe(413);
  return { body: await response.text(), messages: lines.map(({ message }) => message) };
}

it.each([
  ["/__web/rpc/save", "save"],
  ["/__web/form/upload", "upload"],
])("a body over the maximum is logged in development with the function and the option: %s", async (path, name) => {
  const { body, messages } = await send(path);
  const advice = `It was sent to ${name}, whose option max_body is the maximum, in bytes: server({ max_body: 10_000_000 }, …).`;
  expect(messages).toEqual([`${MESSAGE} ${advice}`]);
  expect(body).toContain(MESSAGE);
  expect(body).not.toContain("max_body");
});

it.each(["/__web/rpc/upload", "/__web/form/save"])(
  "a body that the option does not raise is logged without it: %s",
  async (path) => {
    expect((await send(path)).messages).toEqual([MESSAGE]);
  },
);

it("a body over the maximum is logged without advice in production", async () => {
  expect((await send("/__web/form/upload", { WEB_ENV: "production" })).messages).toEqual([MESSAGE]);
});
