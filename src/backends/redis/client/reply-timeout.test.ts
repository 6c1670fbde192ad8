import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { closeWhenSilent } from "./connection.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function createConnection(bytesRead = 1) {
  return { bytesRead, destroy: vi.fn<(error: Error) => void>() };
}

function watchClient() {
  const client = { stream: createConnection(), commandQueue: { length: 0 } };
  return { client, stop: closeWhenSilent(client) };
}

it("closes a connection over which nothing is received for 3 to 3.25 seconds while a reply is missing", () => {
  for (const startMs of [0, 1, 125, 249]) {
    const { client, stop } = watchClient();
    vi.advanceTimersByTime(60_000 + startMs); // idle
    client.commandQueue.length = 1;
    vi.advanceTimersByTime(2_999);
    expect(client.stream.destroy).not.toHaveBeenCalled();
    vi.advanceTimersByTime(251);
    const error = new Error("Redis has sent no reply for 3 seconds.");
    expect(client.stream.destroy.mock.calls).toEqual([[error]]);
    stop();
  }
});

it("closes a connection over which nothing was received yet after 1.5 to 1.75 seconds", () => {
  const { client, stop } = watchClient();
  client.stream = createConnection(0);
  client.commandQueue.length = 1;
  vi.advanceTimersByTime(1_499);
  expect(client.stream.destroy).not.toHaveBeenCalled();
  vi.advanceTimersByTime(251);
  expect(client.stream.destroy.mock.calls).toEqual([[new Error("Redis has sent no reply for 1.5 seconds.")]]);
  stop();
});

it("closes no connection over which something is received, however long the replies are missing", () => {
  const { client, stop } = watchClient();
  client.commandQueue.length = 3;
  for (let times = 0; times < 100; times++) {
    vi.advanceTimersByTime(2_900);
    client.stream.bytesRead++;
  }
  expect(client.stream.destroy).not.toHaveBeenCalled();
  stop();
});

it("does not count the silence of a connection that was lost for the next one", () => {
  const { client, stop } = watchClient();
  const lost = client.stream;
  client.commandQueue.length = 1;
  vi.advanceTimersByTime(2_900);
  client.stream = createConnection();
  vi.advanceTimersByTime(2_900);
  expect(client.stream.destroy).not.toHaveBeenCalled();
  vi.advanceTimersByTime(350);
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
