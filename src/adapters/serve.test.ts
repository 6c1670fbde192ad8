import { expect, it } from "vitest";
import { BODY_TIMEOUT_SECONDS } from "../bodies/index.ts";
import { isNode } from "./fast/index.ts";
import { SERVER_LIMITS, serverOptions } from "./serve.ts";

it("ends the time limit of a body before Node's request timeout, even after the slowest headers", () => {
  const { headersTimeout, connectionsCheckingInterval, requestTimeout } = SERVER_LIMITS;
  const lastHeadersMs = headersTimeout + connectionsCheckingInterval;
  expect(requestTimeout).toBeGreaterThan(lastHeadersMs + BODY_TIMEOUT_SECONDS * 1000);
});

it.each([
  { node: "20.0.0", bun: "1.0.0" },
  { node: "20.0.0", deno: "2.0.0" },
])("uses nothing that relies on the server of Node on another runtime: %j", (versions) => {
  expect(isNode(versions)).toBe(false);
  expect(serverOptions(versions)).toEqual({ ...SERVER_LIMITS, keepAliveTimeout: 65_000 });
});

it("closes idle connections itself on Node, in place of a timer for each response", () => {
  expect(isNode({ node: "20.19.0" })).toBe(true);
  expect(serverOptions({ node: "20.19.0" }).keepAliveTimeout).toBe(0);
});
