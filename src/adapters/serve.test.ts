import { expect, it } from "vitest";
import { BODY_SECONDS } from "../http/index.ts";
import { LIMITS } from "./serve.ts";

it("a body has its own time, however late its headers came, before Node's answer without ids", () => {
  const { headersTimeout, connectionsCheckingInterval, requestTimeout } = LIMITS;
  const lastHeadersMs = headersTimeout + connectionsCheckingInterval; // it is looked after that often
  expect(requestTimeout).toBeGreaterThan(lastHeadersMs + BODY_SECONDS * 1000);
});
