import { expect, it } from "vitest";
import { BODY_TIMEOUT_SECONDS } from "../http/index.ts";
import { SERVER_OPTIONS } from "./serve.ts";

it("gives a body its own time limit after the slowest headers, before Node times out without ids", () => {
  const { headersTimeout, connectionsCheckingInterval, requestTimeout } = SERVER_OPTIONS;
  const lastHeadersMs = headersTimeout + connectionsCheckingInterval;
  expect(requestTimeout).toBeGreaterThan(lastHeadersMs + BODY_TIMEOUT_SECONDS * 1000);
});
