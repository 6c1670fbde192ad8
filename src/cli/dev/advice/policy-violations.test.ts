import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type LocalServer, listen } from "#test/listen";
import { POLICY_REPORTS_PATH } from "../server/index.ts";
import { PolicyViolations } from "./policy-violations.ts";

let server: LocalServer;
const logged: string[] = [];

beforeEach(async () => {
  logged.length = 0;
  const violations = new PolicyViolations({ nonce: "abc", reportPath: POLICY_REPORTS_PATH }, (message) =>
    logged.push(message),
  );
  server = await listen(violations.handle((_request, response) => void response.end("the application")));
});

afterEach(() => server.close());

const report = (members: Record<string, string> = {}) =>
  JSON.stringify({
    "csp-report": {
      "document-uri": `${server.address}/map`,
      "effective-directive": "img-src",
      "blocked-uri": "http://tiles.example/1.png",
      "original-policy": "img-src 'self'",
      ...members,
    },
  });

async function send(body: string, type = "application/csp-report", path = POLICY_REPORTS_PATH): Promise<number> {
  const response = await fetch(server.address + path, { method: "POST", body, headers: { "content-type": type } });
  return response.status;
}

describe("a report of a violation", () => {
  it("is logged once for a directive and a URL, whatever the page", async () => {
    for (let count = 0; count < 3; count++) expect(await send(report())).toBe(204);
    await send(report({ "document-uri": `${server.address}/other` }));
    expect(logged).toHaveLength(1);
    expect(logged[0]).toContain('new App({ policy: { "img-src": "\'self\' http://tiles.example" } })');
    await send(report({ "blocked-uri": "http://tiles.example/2.png" }));
    await send(report({ "effective-directive": "font-src" }));
    expect(logged).toHaveLength(3);
  });

  it("of inline code is logged once for each page, because it has no URL", async () => {
    const inline = { "effective-directive": "style-src-attr", "blocked-uri": "inline" };
    for (const path of ["/a", "/a?b=1", "/c", "/c#d"]) {
      await send(report({ ...inline, "document-uri": server.address + path }));
    }
    expect(logged).toHaveLength(2);
  });

  it("is refused if it is of a page of another site [DEV-24]", async () => {
    expect(await send(report({ "document-uri": "https://evil.example/map" }))).toBe(403);
    expect(logged).toEqual([]);
  });

  it.each(["text/plain", "application/json", "application/x-www-form-urlencoded"])(
    "is refused with the type %s, which scripts and forms of other sites may send",
    async (type) => {
      expect(await send(report(), type)).toBe(415);
      expect(logged).toEqual([]);
    },
  );

  it("is read up to 64 KiB", async () => {
    const padded = (length: number) => report().padEnd(length);
    expect(await send(padded(65_536))).toBe(204);
    expect(await send(padded(65_537))).toBe(413);
    expect(await send("{}")).toBe(400);
  });

  it("is logged for 200 URLs, and no further ones", async () => {
    for (let count = 0; count < 202; count++) await send(report({ "blocked-uri": `http://tiles.example/${count}` }));
    expect(logged).toHaveLength(200);
  });
});

it("passes all other requests on", async () => {
  expect(await (await fetch(`${server.address}/`)).text()).toBe("the application");
  expect(await (await fetch(server.address + POLICY_REPORTS_PATH)).text()).toBe("the application");
});
