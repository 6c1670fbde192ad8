import { createHash, randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { callOverHttp, compiledServer, createTestApp } from "#test/compiled-app";
import { session } from "../session/index.ts";
import { hash_token } from "./index.ts";

describe("hash_token", () => {
  it("returns the SHA-256 of the token as base64url", () => {
    const token = randomBytes(32).toString("base64url");
    expect(hash_token(token)).toBe(createHash("sha256").update(token).digest("base64url"));
    expect(hash_token("abc")).toBe("ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0");
  });

  it.each([
    ["", "an empty string"],
    [undefined, "undefined"],
    [null, "null"],
    [1, "number"],
    [new Uint8Array(32), "object"],
    [["a"], "array"],
  ])("refuses %j, without the value in the message", (value, received) => {
    expect(() => Reflect.apply(hash_token, undefined, [value])).toThrow(
      new TypeError(`hash_token: the token must be a non-empty string. Received: ${received}.`),
    );
  });

  it("lets an application find a key by its hash, so that it compares no secrets [BEARER-27]", async () => {
    const key = randomBytes(32).toString("base64url");
    const users = new Map([[hash_token(key), { sub: "grace" }]]);
    const whoami = compiledServer("whoami", () => session.user()?.sub ?? null);
    const app = createTestApp({ whoami }, { authenticate: async (token) => users.get(hash_token(token)) ?? null });
    const statusOf = async (token: string) => {
      const response = await callOverHttp(app, "whoami", {}, { headers: { authorization: `Bearer ${token}` } });
      return response.status;
    };
    expect(await statusOf(key)).toBe(200);
    for (const other of [`${key.slice(0, -1)}~`, key.slice(0, -1), `${key}A`, hash_token(key)]) {
      expect(await statusOf(other)).toBe(401);
    }
  });
});
