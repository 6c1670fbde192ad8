/** Requests that tsweb refuses are one line a minute for each reason, of each kind of request. */
import { describe, expect, it } from "vitest";
import { compiledPage, compiledRoute, compiledServer, createTestApp } from "#test/compiled-app";
import { recordedLog } from "#test/recorded-log";
import type { AppOptions } from "../app.ts";

function refusingApp(options: Partial<AppOptions> = {}) {
  const { log, lines } = recordedLog();
  const app = createTestApp(
    {
      save: compiledServer("save", () => 1),
      page: compiledPage("/page", () => null),
      hook: compiledRoute("POST /hook", async (request) => new Response(await request.text())),
    },
    { log, ...options },
  );
  const send = ([path, type]: readonly [path: string, type: string], headers: Readonly<Record<string, string>> = {}) =>
    app.fetch(
      new Request(`http://shop.example${path}`, {
        method: "POST",
        headers: { "content-type": type, origin: "http://shop.example", ...headers },
        body: type === "application/json" ? '{"args":{}}' : "a=b",
      }),
      { address: "192.0.2.1" },
    );
  return { send, lines, app };
}

const FORM = "application/x-www-form-urlencoded";
const SENT = {
  call: ["/__web/rpc/save", "application/json"],
  form: ["/__web/form/save", FORM],
  "form of a page": ["/page?__form=save", FORM],
  route: ["/hook", "text/plain"],
} as const;

describe("the log of refusals", () => {
  it.each(["call", "form", "form of a page"] as const)("has one line for a %s that is sent too often", async (kind) => {
    const { send, lines } = refusingApp({ rate: { calls: 1, seconds: 60 } });
    const statuses = [];
    for (let times = 0; times < 20; times++) statuses.push((await send(SENT[kind])).status);
    expect(statuses.filter((status) => status === 429)).toHaveLength(19);
    expect(lines).toEqual([
      {
        level: "warn",
        fields: {
          ...{ reason: "rate", refused: 1, address: "192.0.2.1" },
          ...{ id: expect.any(String), trace_id: expect.stringMatching(/^[0-9a-f]{32}$/) },
        },
        message: expect.stringMatching(/^Too many calls\. /),
      },
    ]);
  });

  it.each(["call", "form", "form of a page", "route"] as const)(
    "has one line for a %s that is too large",
    async (kind) => {
      const { send, lines } = refusingApp();
      for (let times = 0; times < 3; times++) {
        expect((await send(SENT[kind], { "content-length": "9000000" })).status).toBe(413);
      }
      expect(lines).toMatchObject([{ fields: { reason: "size", refused: 1 } }]);
    },
  );

  it.each(["call", "form", "form of a page"] as const)(
    "has one line for a %s of another site, with its origin",
    async (kind) => {
      const { send, lines } = refusingApp();
      for (let times = 0; times < 3; times++) {
        expect((await send(SENT[kind], { origin: "https://evil.example" })).status).toBe(403);
      }
      expect(lines).toMatchObject([{ fields: { reason: "origin", refused: 1, origin: "https://evil.example" } }]);
    },
  );

  it("has the number of refusals that were not logged when the application is closed", async () => {
    const { send, lines, app } = refusingApp({ rate: { calls: 1, seconds: 60 } });
    for (let times = 0; times < 20; times++) await send(SENT.call);
    await app.close();
    expect(lines.map(({ fields }) => fields)).toMatchObject([{ refused: 1 }, { refused: 18 }]);
  });

  it("says how to pass the address when all clients share one limit", async () => {
    const { lines, app } = refusingApp({ rate: { calls: 1, seconds: 60 } });
    const init = { method: "POST", headers: { "content-type": "application/json" }, body: '{"args":{}}' };
    for (let times = 0; times < 2; times++) await app.fetch(new Request("http://shop.example/__web/rpc/save", init));
    expect(lines[0]?.message).toContain("Pass the address: app.fetch(request, { address })");
  });
});
