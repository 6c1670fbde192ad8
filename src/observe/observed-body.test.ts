import { describe, expect, it, vi } from "vitest";
import { type BodySink, isPushedBody, isReadableStream, PushedBody } from "../http/index.ts";
import { observeEnd } from "./observe-request.ts";

/** Returns the observed stream of a response with two chunks, and the function that is called at its end. */
function observed(overrides: UnderlyingSource<Uint8Array> = {}) {
  const ended = vi.fn();
  const source = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const text of ["one", "two"]) controller.enqueue(new TextEncoder().encode(text));
    },
    ...overrides,
  });
  const { body: stream } = observeEnd({ status: 200, headers: [], body: source }, ended);
  if (!isReadableStream(stream)) throw new Error("The observed body is not a stream.");
  return { stream, ended };
}

describe("the body of a response that is observed", () => {
  it("has ended when all of it was read", async () => {
    const { stream, ended } = observed({ pull: (controller) => controller.close() });
    const reader = stream.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe("one");
    expect(ended).not.toHaveBeenCalled();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe("two");
    expect(await reader.read()).toEqual({ done: true, value: undefined });
    await expect.poll(() => ended).toHaveBeenCalledTimes(1);
  });

  it("has ended when its client disconnects", async () => {
    const cancel = vi.fn();
    const { stream, ended } = observed({ cancel });
    const reader = stream.getReader();
    await reader.read();
    expect(ended).not.toHaveBeenCalled();
    await reader.cancel("away");
    await expect.poll(() => ended).toHaveBeenCalledTimes(1);
    expect(cancel).toHaveBeenCalledExactlyOnceWith("away");
  });

  it("has ended when it fails, and the error is that of its source", async () => {
    const { stream, ended } = observed({
      pull() {
        throw new Error("The file is gone");
      },
    });
    const reader = stream.getReader();
    await reader.read();
    await expect(reader.read().then(() => reader.read())).rejects.toThrow("The file is gone");
    await expect.poll(() => ended).toHaveBeenCalledTimes(1);
  });

  it("has ended when it was cancelled before it was read", async () => {
    const cancel = vi.fn();
    const { stream, ended } = observed({ cancel });
    await stream.cancel("unused");
    expect(ended).toHaveBeenCalledExactlyOnceWith(0);
    expect(cancel).toHaveBeenCalledExactlyOnceWith("unused");
  });
});

describe("a pushed body that is observed", () => {
  /** Opens an observed body in a host, and ends it after two writes. */
  function writeTwice(host: BodySink) {
    const ended = vi.fn();
    const source = new PushedBody((sink) => {
      sink.write("own");
      sink.writeShared?.(Buffer.from("shared"));
      return { onDrain: vi.fn(), onClose: vi.fn() };
    });
    const { body } = observeEnd({ status: 200, headers: [], body: source }, ended);
    if (!isPushedBody(body)) throw new Error("The observed body is not pushed.");
    body.open(host).onClose();
    return ended;
  }
  const createHost = () => ({ write: vi.fn(() => true), end: vi.fn(), destroy: vi.fn() });

  it("counts the bytes that are shared with other responses, and leaves their encoding to the host", () => {
    const host = { ...createHost(), writeShared: vi.fn(() => true) };
    expect(writeTwice(host)).toHaveBeenCalledExactlyOnceWith(9);
    expect(host.write.mock.calls).toEqual([["own"]]);
    expect(host.writeShared.mock.calls).toEqual([[Buffer.from("shared")]]);
  });

  it("writes shared bytes as all others to a host without an encoding for them", () => {
    const host = createHost();
    expect(writeTwice(host)).toHaveBeenCalledExactlyOnceWith(9);
    expect(host.write.mock.calls).toEqual([["own"], [Buffer.from("shared")]]);
  });
});
