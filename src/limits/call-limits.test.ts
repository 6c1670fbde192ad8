import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { compiledServer, createTestApp } from "#test/compiled-app";
import type { App, AppOptions } from "../app.ts";
import { session } from "../session/index.ts";
import { type Visitor, visitor } from "../testing/index.ts";

const RATE = { calls: 3, seconds: 60, per_address: 8 };
const OFFICE = "192.0.2.1";

const module = {
  who: compiledServer("who", () => session.user()?.sub ?? null),
  sign_in: compiledServer("sign_in", (user: string) => session.login(user), { params: { user: "any" } }),
  sign_out: compiledServer("sign_out", () => session.logout()),
  sign_out_everywhere: compiledServer("sign_out_everywhere", () => session.revoke(session.require().sub)),
};

function createApp(options: Partial<AppOptions> = {}): App {
  return createTestApp(module, { rate: RATE, ...options });
}

/** The cookies of a user whose sign-in was counted by another address. */
async function cookieOf(app: App, user: string, address = `198.51.100.${++addresses}`): Promise<string> {
  const signedIn = visitor(app, { address });
  await signedIn.rpc("sign_in", { user });
  return cookieHeader(signedIn);
}

let addresses = 0;

const cookieHeader = ({ cookies }: Visitor) =>
  Object.entries(cookies)
    .map(([name, value]) => `${name}=${value}`)
    .join("; ");

/** Sends a call, and returns its status. */
async function call(app: App, { address = OFFICE, cookie }: { address?: string; cookie?: string | undefined } = {}) {
  const headers = { "content-type": "application/json", ...(cookie === undefined ? {} : { cookie }) };
  const request = new Request("http://shop.example/__web/rpc/who", { method: "POST", headers, body: '{"args":{}}' });
  return (await app.fetch(request, { address })).status;
}

/** Sends a number of calls, and returns how many were accepted. */
async function accepted(app: App, count: number, from: Parameters<typeof call>[1] = {}): Promise<number> {
  let sum = 0;
  for (let sent = 0; sent < count; sent++) if ((await call(app, from)) === 200) sum++;
  return sum;
}

let logged: unknown[][] = [];
beforeEach(() => {
  logged = [];
  vi.spyOn(console, "error").mockImplementation((...line) => void logged.push(line));
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe("the calls of a signed-in client", () => {
  it("count for its user, at whatever address, and not for the signed-out clients of the address", async () => {
    const app = createApp({ rate: { ...RATE, per_address: 100 } });
    const [ada, bob] = [await cookieOf(app, "ada"), await cookieOf(app, "bob")];
    expect(await accepted(app, 9, { cookie: ada })).toBe(3);
    expect(await accepted(app, 9, { cookie: ada, address: "192.0.2.99" })).toBe(0);
    expect(await accepted(app, 9, { cookie: bob })).toBe(3);
    expect(await accepted(app, 9)).toBe(3);
  });
});
