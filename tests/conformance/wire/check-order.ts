/** Test cases: the order of the checks. If several fail, the first one determines the response. @see docs/protocol.md 3.2 */
import assert from "node:assert/strict";
import { callRequest, expectError, expectResult, JSON_TYPE, signIn, type WireCase, wireCase } from "./exchange.ts";
import { EXPECTED, rejects, sizedCall } from "./rejections.ts";

const TOO_LARGE = sizedCall(1024 * 1024 + 1);

const textType = { "content-type": "text/plain" };
const otherSite = { origin: "https://evil.example" };

export const checkOrderCases: readonly WireCase[] = [
  rejects(
    "checks the method (405) before the content type (415)",
    { method: "PUT", path: "/__web/rpc/ping", headers: textType, body: "x" },
    EXPECTED.methodNotAllowed,
  ),
  rejects(
    "checks the method (405) before the size of the body (413)",
    { ...TOO_LARGE, method: "PUT" },
    EXPECTED.methodNotAllowed,
    { answeredByHost: "body-parser" },
  ),
  rejects(
    "checks the method (405) before the function name (404), and returns no parameters",
    { path: "/__web/rpc/nowhere" },
    { ...EXPECTED.methodNotAllowed, details: {} },
  ),
  rejects(
    "checks the content type (415) before the origin (403)",
    { ...callRequest("ping"), headers: { ...textType, ...otherSite } },
    EXPECTED.unsupportedMediaType,
  ),
  rejects(
    "checks the content type (415) before the function name (404)",
    { ...callRequest("nowhere"), headers: textType },
    EXPECTED.unsupportedMediaType,
  ),
  rejects(
    "checks the origin (403) before the function name (404)",
    callRequest("nowhere", {}, otherSite),
    EXPECTED.forbidden,
  ),
  rejects(
    "checks the origin (403) before the size of the body (413)",
    { ...TOO_LARGE, headers: { ...JSON_TYPE, ...otherSite } },
    EXPECTED.forbidden,
  ),
  rejects(
    "checks the function name (404) before the size of the body (413)",
    { ...TOO_LARGE, path: "/__web/rpc/nowhere" },
    EXPECTED.unknownFunction,
  ),
  rejects(
    "checks the session (401) before the size of the body (413)",
    { ...TOO_LARGE, path: "/__web/rpc/secret" },
    EXPECTED.unauthenticated,
    { hostDependent: true },
  ),
  rejects(
    "checks the session (401) before the body (422)",
    { ...callRequest("secret"), body: "{" },
    EXPECTED.unauthenticated,
    { answeredByHost: "body-parser" },
  ),
  wireCase(
    "checks the CSRF token (403) before the body (422), and does not run the function",
    async (target) => {
      const { cookie = "" } = await signIn(target);
      const before = (await expectResult(target, "runs_of", { name: "secret" })).value;
      await expectError(target, { ...callRequest("secret", {}, { cookie }), body: '{"args":1}' }, EXPECTED.forbidden);
      assert.equal((await expectResult(target, "runs_of", { name: "secret" })).value, before);
    },
    { variant: "csrf" },
  ),
];
