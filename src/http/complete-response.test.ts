import { describe, expect, it, vi } from "vitest";
import { requestContext } from "#test/request-context";
import { completeResponse } from "./complete-response.ts";
import { FetchInboundRequest } from "./inbound-request.ts";
import { PushedBody } from "./pushed-body.ts";
import { RequestContext } from "./request-context.ts";

describe("completing a response with a pushed body, such as a file", () => {
  it.each(["GET", "HEAD"])("does not open the body of the response to %s", (method) => {
    const open = vi.fn();
    const response = { status: 200, headers: { "content-type": "image/png" }, body: new PushedBody(open) };
    const inbound = new FetchInboundRequest(new Request("http://localhost/", { method }));
    const { id, traceparent, address, config } = requestContext();
    const context = new RequestContext({ inbound, id, traceparent, address, config });
    const completed = completeResponse(response, context, [["x-frame-options", "DENY"]]);
    expect(completed).toMatchObject({ status: 200, body: method === "HEAD" ? null : response.body });
    expect(completed.headers).toEqual(expect.arrayContaining(["content-type", "image/png", "x-frame-options", "DENY"]));
    expect(open).not.toHaveBeenCalled();
  });
});
