import { expect, it } from "vitest";
import { BODY_TIMEOUT_SECONDS } from "../http/index.ts";
import { SERVER_OPTIONS } from "./serve.ts";

it("ends the time limit of a body before Node's request timeout, even after the slowest headers", () => {
  const { headersTimeout, connectionsCheckingInterval, requestTimeout } = SERVER_OPTIONS;
  const lastHeadersMs = headersTimeout + connectionsCheckingInterval;
  expect(requestTimeout).toBeGreaterThan(lastHeadersMs + BODY_TIMEOUT_SECONDS * 1000);
});
