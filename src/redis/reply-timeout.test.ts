import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { closeWhenSilent } from "./reply-timeout.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function createConnection() {
  return { bytesRead: 0, destroy: vi.fn<(error: Error) => void>() };
}

function watchClient() {
  const client = { stream: createConnection(), commandQueue: { length: 0 } };
  return { client, stop: closeWhenSilent(client) };
}

it("closes a connection over which nothing is received for 5 to 5.5 seconds while a reply is missing", () => {
  for (const startMs of [0, 1, 250, 499]) {
    const { client, stop } = watchClient();
    vi.advanceTimersByTime(60_000 + startMs); // idle
    client.commandQueue.length = 1;
    vi.advanceTimersByTime(4_999);
    expect(client.stream.destroy).not.toHaveBeenCalled();
    vi.advanceTimersByTime(501);
    const error = new Error("Redis has sent no reply for 5 seconds.");
    expect(client.stream.destroy.mock.calls).toEqual([[error]]);
    stop();
  }
});

it("closes no connection over which something is received, however long the replies are missing", () => {
  const { client, stop } = watchClient();
  client.commandQueue.length = 3;
  for (let times = 0; times < 100; times++) {
    vi.advanceTimersByTime(4_900);
    client.stream.bytesRead++;
  }
  expect(client.stream.destroy).not.toHaveBeenCalled();
  stop();
});

it("does not count the silence of a connection that was lost for the next one", () => {
  const { client, stop } = watchClient();
  const lost = client.stream;
  client.commandQueue.length = 1;
  vi.advanceTimersByTime(4_900);
  client.stream = createConnection();
  vi.advanceTimersByTime(4_900);
  expect(client.stream.destroy).not.toHaveBeenCalled();
  vi.advanceTimersByTime(600);
  expect(client.stream.destroy).toHaveBeenCalledTimes(1);
  expect(lost.destroy).not.toHaveBeenCalled();
  stop();
});

it("closes nothing before the first connection, or after it was stopped", () => {
  const client = { stream: undefined, commandQueue: { length: 1 } };
  const stopFirst = closeWhenSilent(client);
  vi.advanceTimersByTime(60_000);
  stopFirst();
  const { client: stopped, stop } = watchClient();
  stopped.commandQueue.length = 1;
  stop();
  vi.advanceTimersByTime(60_000);
  expect(stopped.stream.destroy).not.toHaveBeenCalled();
  expect(vi.getTimerCount()).toBe(0);
});
