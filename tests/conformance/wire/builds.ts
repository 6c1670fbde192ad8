/** Test cases: calls and forms of pages of another build. @see docs/protocol.md 3.9 */
import assert from "node:assert/strict";
import {
  type CaseOptions,
  callRequest,
  type ExpectedError,
  expectError,
  expectResult,
  JSON_TYPE,
  send,
  signIn,
  type Target,
  type WireCase,
  type WireRequest,
  wireCase,
} from "./exchange.ts";
import { EXPECTED, sizedCall } from "./rejections.ts";

/** The ids of builds before and after every other one, and a hash that no function of the application has. */
const EARLIER = "0000000000000";
const LATER = "zzzzzzzzzzzzz";
const OTHER_HASH = "------";

/** What the page of the application carries: the id of its build, and the hash of the function `order`. */
async function versionOf(target: Target): Promise<{ readonly build: string; readonly hash: string }> {
  const { text } = await send(target, { path: "/order" });
  const [, build = "", hash = ""] = /__form=order\.([0-9a-z]{13})\.([\w-]{6})"/.exec(text) ?? [];
  assert.notEqual(build, "", text);
  return { build, hash };
}

/** Returns a call of a page of another build. */
function callOf(name: string, build: string, headers: WireRequest["headers"] = {}): WireRequest {
  return callRequest(name, {}, { "x-build": `${build}.${OTHER_HASH}`, ...headers });
}

const staleError = (stale: "page" | "server", build: string): ExpectedError => ({
  status: 409,
  code: "conflict",
  closes: true,
  details: { stale },
  headers: { "x-build": build },
});

/** Returns a case for built applications: the development server has no builds. */
const builtCase = (title: string, run: WireCase["run"], options: CaseOptions = {}): WireCase =>
  wireCase(title, run, { answeredByHost: "development", ...options });

/** Sends a form without script, whose function has another version in the page. */
function pageForm({ origin }: Target, parameter: string, body: string): WireRequest {
  const headers = { "content-type": "application/x-www-form-urlencoded", origin };
  return { method: "POST", path: `/order?__form=${parameter}`, headers, body };
}

export const buildCases: readonly WireCase[] = [
  ...(
    [
      ["page", EARLIER],
      ["server", LATER],
    ] as const
  ).flatMap(([stale, build]) => [
    builtCase(`refuses a call of a changed function with the stale ${stale}, and does not run it`, async (target) => {
      const own = await versionOf(target);
      const before = (await expectResult(target, "runs_of", { name: "ping" })).value;
      await expectError(target, callOf("ping", build), staleError(stale, own.build));
      assert.equal((await expectResult(target, "runs_of", { name: "ping" })).value, before);
    }),
    builtCase(`refuses a call of an unknown function with the stale ${stale}`, async (target) => {
      const own = await versionOf(target);
      await expectError(target, callOf("nowhere", build), staleError(stale, own.build));
    }),
    builtCase(`refuses a stream that was changed with the stale ${stale}`, async (target) => {
      const own = await versionOf(target);
      await expectError(target, callOf("countdown", build), staleError(stale, own.build));
    }),
    builtCase(
      `runs a function with the same signature for a page of another build (stale ${stale})`,
      async (target) => {
        const { hash } = await versionOf(target);
        const headers = { "x-build": `${build}.${hash}` };
        assert.deepEqual((await expectResult(target, "order", { item: "tea" }, headers)).value, {
          item: "tea",
          quantity: 1,
        });
      },
    ),
    builtCase(`refuses a form of a changed function with the stale ${stale}`, async (target) => {
      const own = await versionOf(target);
      const { method, headers, body } = pageForm(target, "", "item=tea");
      const request = { method, headers: { ...headers, "x-build": `${build}.${OTHER_HASH}` }, body };
      const path = "/__web/form/order";
      // The body was read: the CSRF token may be in it.
      await expectError(target, { ...request, path } as WireRequest, { ...staleError(stale, own.build), closes: true });
    }),
    builtCase(`shows a form without script again, with what was typed (stale ${stale})`, async (target) => {
      const request = pageForm(target, `order.${build}.${OTHER_HASH}`, "item=%22tea&lost=note");
      const { status, text } = await send(target, request);
      assert.equal(status, 409);
      assert.match(text, /value="&quot;tea"/);
      assert.doesNotMatch(text, /result {/);
    }),
  ]),
  builtCase(
    "answers a form whose function is gone with what was typed, but not with secrets [SITE-14]",
    async (target) => {
      const body = "item=%3Cb%3Etea&password=hunter2&__csrf=a";
      const { status, text } = await send(target, pageForm(target, `nowhere.${EARLIER}.${OTHER_HASH}`, body));
      assert.equal(status, 409);
      assert.match(text, /item: &lt;b>tea/);
      assert.doesNotMatch(text, /hunter2|__csrf/);
    },
  ),
  wireCase("answers a call of an unknown function without a build with 404", async (target) => {
    await expectError(target, callRequest("nowhere"), EXPECTED.unknownFunction);
  }),
  ...[
    "",
    "0",
    `${EARLIER}.`,
    `${EARLIER}${OTHER_HASH}`,
    `${EARLIER}.${OTHER_HASH}-`,
    "v1.2.3",
    `${EARLIER}.<script`,
  ].map((version) =>
    wireCase(`ignores the header X-Build: ${version || "(empty)"}, as other programs may send it`, async (target) => {
      await expectResult(target, "ping", {}, { "x-build": version });
      const request = { ...callRequest("nowhere"), headers: { ...JSON_TYPE, "x-build": version } };
      await expectError(target, request, EXPECTED.unknownFunction);
    }),
  ),
  wireCase("checks the origin (403) before the build (409)", async (target) => {
    await expectError(target, callOf("ping", EARLIER, { origin: "https://evil.example" }), EXPECTED.forbidden);
  }),
  wireCase("checks the session (401) before the build (409) [SITE-15]", async (target) => {
    await expectError(target, callOf("secret", EARLIER), EXPECTED.unauthenticated);
  }),
  wireCase(
    "checks the CSRF token (403) before the build (409) [SITE-16]",
    async (target) => {
      const { cookie = "" } = await signIn(target);
      await expectError(target, callOf("secret", EARLIER, { cookie }), EXPECTED.forbidden);
    },
    { variant: "csrf" },
  ),
  builtCase("checks the build (409) before the size of the body (413)", async (target) => {
    const { build } = await versionOf(target);
    const tooLarge = sizedCall(1024 * 1024 + 1, { headers: callOf("echo", EARLIER).headers ?? {} });
    await expectError(target, tooLarge, staleError("page", build));
  }),
];
