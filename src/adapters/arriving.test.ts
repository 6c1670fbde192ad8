import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { ArrivingRequest } from "./arriving.ts";

/** A request whose body has arrived so far. */
function incoming(headers: Record<string, string>, ...parts: (string | Buffer | null)[]) {
  const message = new IncomingMessage(new Socket());
  message.method = "POST";
  Object.assign(message.headers, headers);
  for (const part of parts) message.push(part);
  return { message, request: new ArrivingRequest(message, new ServerResponse(message)) };
}

describe("a body that has arrived", () => {
  it("is given at once, of the length that was declared, in however many parts", () => {
    expect(incoming({ "content-length": "5" }, "hello").request.arrived()).toBe("hello");
    expect(incoming({ "content-length": "5" }, "he", "llo", null).request.arrived()).toBe("hello");
  });

  it("counts bytes, and a letter may lie across two parts", () => {
    const [first, second] = [Buffer.from("é").subarray(0, 1), Buffer.from("é").subarray(1)];
    expect(incoming({ "content-length": "2" }, first, second).request.arrived()).toBe("é");
    expect(incoming({ "content-length": "1" }, "é").request.arrived()).toBeNull();
  });

  it("is waited for while some of it is missing, and can still be read", async () => {
    const { message, request } = incoming({ "content-length": "5" }, "hell");
    expect(request.arrived()).toBeNull();
    message.push("o");
    message.push(null);
    expect(await request.text()).toBe("hello");
  });

  it.each([{}, { "transfer-encoding": "chunked" }, { "content-length": "x" }])("is waited for with %j", (headers) => {
    expect(incoming(headers, "hello").request.arrived()).toBeNull();
  });

  it("is waited for when it is empty: there is nothing to be gained", () => {
    expect(incoming({ "content-length": "0" }, null).request.arrived()).toBeNull();
  });

  it("is given once", () => {
    const { request } = incoming({ "content-length": "5" }, "hello");
    expect([request.arrived(), request.arrived()]).toEqual(["hello", null]);
  });
});
