// The messages of the live benchmarks: each has its number in its channel, and the time at which it was sent. All processes
// of a machine read the same monotonic clock.

/** The character that starts the number, once in each message. */
export const MARK = "~".charCodeAt(0);

/** `~`, nine digits of the number, a point, and sixteen digits of the time. */
export const HEAD_LENGTH = 27;

export const nowMicros = () => Number(process.hrtime.bigint() / 1000n);

/** Returns the JSON of a message, 75 bytes. */
export function messageText(seq) {
  const head = `~${String(seq).padStart(9, "0")}.${String(nowMicros()).padStart(16, "0")}`;
  return JSON.stringify({ n: 1_000_000, text: `${head} said something.` });
}

/** Reads a number of some digits from bytes. */
export function readDigits(bytes, start, length) {
  let value = 0;
  for (let i = start; i < start + length; i++) value = value * 10 + bytes[i] - 48;
  return value;
}

/** Returns the path and the body of the request that publishes a message, for servers without functions. */
export const postTick = (channel, message) => ({ path: `/ticks/${channel}`, body: message });

/** Returns the same as a call of tsweb's `publish_tick`. */
export const callPublishTick = (channel, message) => ({
  path: "/__web/rpc/publish_tick",
  body: `{"args":{"name":"${channel}","message":${message}}}`,
});

/**
 * Returns the same as a call of tsweb's `publish_numbered`, which numbers the messages of a channel itself: calls over several
 * connections may arrive in any order.
 */
export function callPublishNumbered(channel, message) {
  const at = /\.(\d{16})/.exec(message)[1];
  return { path: "/__web/rpc/publish_numbered", body: `{"args":{"name":"${channel}","at":"${at}"}}` };
}
