/** Test cases: the rate limit of calls, and its place in the order of checks. @see docs/protocol.md 2.8, 3.2 and 9 */
import assert from "node:assert/strict";
import {
  type CaseOptions,
  callRequest,
  type ExpectedError,
  expectError,
  expectResult,
  type Target,
  type WireCase,
  type WireRequest,
  wireCase,
} from "./exchange.ts";
import { EXPECTED, sizedCall } from "./rejections.ts";

/** Each case uses a client address of its own, since the server counts the calls of each address. */
const fromClient = (address: string) => ({ "x-forwarded-for": address });

/** Sends as many calls as the variant `rate` allows. */
async function exhaustRate(target: Target, address: string): Promise<void> {
  for (let call = 0; call < 3; call++) await expectResult(target, "ping", {}, fromClient(address));
}

const rateCase = (title: string, run: WireCase["run"], options?: CaseOptions): WireCase =>
  wireCase(title, run, { variant: "rate", ...options });

const respondsOverTheRate = (title: string, address: string, request: WireRequest, expected: ExpectedError): WireCase =>
  rateCase(title, async (target) => {
    await exhaustRate(target, address);
    await expectError(target, { ...request, headers: { ...request.headers, ...fromClient(address) } }, expected);
  });

export const rateLimitCases: readonly WireCase[] = [
  respondsOverTheRate(
    "rejects a call over the rate with 429 and Retry-After",
    "10.0.0.1",
    callRequest("ping"),
    EXPECTED.rateLimited,
  ),
  rateCase("counts each IPv4 address and each IPv6 network of 64 bits separately", async (target) => {
    await exhaustRate(target, "2001:db8::1");
    await expectError(target, callRequest("ping", {}, fromClient("2001:db8::2")), EXPECTED.rateLimited);
    await expectResult(target, "ping", {}, fromClient("2001:db8:0:1::1"));
    await expectResult(target, "ping", {}, fromClient("10.0.1.1"));
  }),
  rateCase(
    "counts the address that the proxy has added, not the one that the client claims",
    async (target) => {
      await exhaustRate(target, "6.6.6.1, 10.0.0.2");
      await expectError(target, callRequest("ping", {}, fromClient("6.6.6.2, 10.0.0.2")), EXPECTED.rateLimited);
    },
    { hostDependent: true },
  ),
  respondsOverTheRate(
    "checks the method (405) before the rate (429)",
    "10.0.0.3",
    { path: "/__web/rpc/ping" },
    EXPECTED.methodNotAllowed,
  ),
  respondsOverTheRate(
    "checks the content type (415) before the rate (429)",
    "10.0.0.4",
    { ...callRequest("ping"), headers: { "content-type": "text/plain" } },
    EXPECTED.unsupportedMediaType,
  ),
  respondsOverTheRate(
    "checks the origin (403) before the rate (429)",
    "10.0.0.5",
    callRequest("ping", {}, { origin: "null" }),
    EXPECTED.forbidden,
  ),
  respondsOverTheRate(
    "checks the rate (429) before the function name (404)",
    "10.0.0.6",
    callRequest("nowhere"),
    EXPECTED.rateLimited,
  ),
  respondsOverTheRate(
    "checks the rate (429) before the session (401)",
    "10.0.0.7",
    callRequest("secret"),
    EXPECTED.rateLimited,
  ),
  respondsOverTheRate(
    "checks the rate (429) before the size of the body (413)",
    "10.0.0.8",
    sizedCall(1024 * 1024 + 1),
    EXPECTED.rateLimited,
  ),
  respondsOverTheRate(
    "checks the rate (429) before the arguments (422)",
    "10.0.0.9",
    callRequest("add"),
    EXPECTED.rateLimited,
  ),
  rateCase("does not count calls that are rejected with 415 or 403", async (target) => {
    const client = fromClient("10.0.0.10");
    for (let call = 0; call < 5; call++) {
      const wrongType = callRequest("ping", {}, { ...client, "content-type": "text/plain" });
      await expectError(target, wrongType, EXPECTED.unsupportedMediaType);
      await expectError(target, callRequest("ping", {}, { ...client, origin: "null" }), EXPECTED.forbidden);
    }
    await exhaustRate(target, "10.0.0.10");
  }),
  rateCase("does not count requests for pages", async (target) => {
    for (let request = 0; request < 5; request++) {
      const { status } = await target.send({ path: "/me", headers: fromClient("10.0.0.11") });
      assert.equal(status, 200);
    }
  }),
];
