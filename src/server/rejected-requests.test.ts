/** The form of the response to a request that is rejected before its path is: JSON for calls, text for all others. */
import { describe, expect, it } from "vitest";
import { compiledPage, compiledServer, createTestApp } from "#test/compiled-app";

const MAX_BODY_BYTES = 1024 * 1024;

const module = { home: compiledPage("/", () => "home"), ping: compiledServer("ping", () => "pong") };

/** A request body, with or without its length. */
const BODIES: Readonly<Record<string, (bytes: number) => RequestInit>> = {
  "a declared length": (bytes) => ({ headers: { "content-length": String(bytes) }, body: "x".repeat(bytes) }),
  "no declared length": (bytes) => ({ body: new Blob(["x".repeat(bytes)]).stream(), duplex: "half" }) as RequestInit, // Node's types omit `duplex`
};

/** Paths that cannot be read: broken or needless percent-encoding, a doubled slash, a backslash, a control character. */
const UNREADABLE = ["%", "%zz", "%E0%A4%A", "%70ing", "a//b", "%5C", "%00"];

function send(path: string, init: RequestInit, base?: string): Promise<Response> {
  const app = createTestApp(module, base === undefined ? {} : { base });
  const headers = { "content-type": "application/json", ...init.headers };
  return app.fetch(new Request(`http://shop.example${path}`, { method: "POST", ...init, headers }));
}

describe.each(Object.entries(BODIES))("a request with %s and an unreadable path", (_, body) => {
  it.each(UNREADABLE)("below /__web/rpc/ gets 413 with the error body of a call above the limit: %s", async (name) => {
    const response = await send(`/__web/rpc/${name}`, body(MAX_BODY_BYTES + 1));
    expect(response.status).toBe(413);
    expect(response.headers.get("content-type")).toContain("application/json");
    expect(response.headers.get("connection")).toBe("close");
    expect(await response.json()).toEqual({
      error: {
        code: "validation_error",
        message: "This is too large to be sent. The maximum is 1 MB.",
        details: {},
      },
    });
  });

  it.each(UNREADABLE)("below /__web/rpc/ gets 400 with the error body of a call at the limit: %s", async (name) => {
    const response = await send(`/__web/rpc/${name}`, body(MAX_BODY_BYTES));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: "validation_error" } });
  });

  it("gets the error body also below the base path of the application", async () => {
    const response = await send("/shop/__web/rpc/%zz", body(MAX_BODY_BYTES + 1), "/shop");
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ error: { code: "validation_error" } });
  });

  it.each([
    ["/%zz", ""],
    ["/__web/rpc", ""],
    ["/__web/%zz", ""],
    ["/__web/rpc/%zz", "/shop"],
  ])("gets text at %s of an application at %j", async (path, base) => {
    const response = await send(path, body(MAX_BODY_BYTES + 1), base || undefined);
    expect(response.status).toBe(413);
    expect(response.headers.get("content-type")).toContain("text/plain");
    expect(await response.text()).toBe("This is too large to be sent. The maximum is 1 MB.\n");
  });
});
