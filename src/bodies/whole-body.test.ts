import { describe, expect, it, vi } from "vitest";
import { onWholeBodyRead } from "./route-body.ts";

describe("onWholeBodyRead", () => {
  // Not every supported version of Node has bytes().
  it.each(["arrayBuffer", "blob", "bytes", "clone", "formData", "json", "text"])(
    "calls the listener before %s() of a request, and returns what the method returns",
    (name) => {
      const order: string[] = [];
      const request = Object.assign(new Request("http://localhost/"), {
        [name](this: unknown, ...args: unknown[]) {
          order.push("method");
          return [this === request, ...args];
        },
      });
      onWholeBodyRead(request, () => void order.push("listener"));
      expect(Reflect.apply(Reflect.get(request, name), undefined, [1])).toEqual([true, 1]);
      expect(order).toEqual(["listener", "method"]);
    },
  );

  it("does not call the listener for the body as a stream, and adds no method", async () => {
    const request = new Request("http://localhost/", { method: "POST", body: "text" });
    const hadBytes = "bytes" in request;
    const listener = vi.fn();
    onWholeBodyRead(request, listener);
    await new Response(request.body).text();
    expect([listener.mock.calls.length, "bytes" in request]).toEqual([0, hadBytes]);
  });
});
