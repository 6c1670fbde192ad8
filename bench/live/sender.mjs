// Publishes messages at a constant rate, each by a request of its own. All requests use one connection, so that the server
// receives them in order, and few wait for a response at a time: servers limit the pipelined requests of a connection.
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { messageText, postTick } from "./message.mjs";

/** How many requests may wait for their response. tsweb accepts 100. */
const MAX_IN_FLIGHT = 64;

/**
 * Starts to send. Under more load than the server can handle, the rate is that of the responses.
 *
 * @param address the server
 * @param options `rate`: messages per second, over all channels; `channels`: their number; `requestOf`: returns path and body
 *   of the request that publishes a message, by default `postTick`; `sent`: the number of earlier messages of each channel;
 *   `limit`: the number of messages, for `finished`; `limitOfChannel`: returns up to which number a channel may get messages
 *   now
 * @returns `stop`: ends, resolves when all are answered, and returns the number of messages of each channel; `finished`:
 *   does the same after `limit` messages
 */
export async function startSender(address, options) {
  const { rate, channels = 1, limit = Number.POSITIVE_INFINITY, requestOf = postTick } = options;
  const { limitOfChannel = () => Number.POSITIVE_INFINITY } = options;
  const sent = [...(options.sent ?? Array.from({ length: channels }, () => 0))];
  const { hostname, port, host } = new URL(address);
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  const answers = countAnswers(socket);
  let total = 0;
  const send = () => {
    const channel = total++ % channels;
    const { path, body } = requestOf(channel, messageText(sent[channel]++));
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\n` +
        `content-length: ${body.length}\r\n\r\n${body}`,
    );
  };
  const startedAt = performance.now();
  const timer = setInterval(() => {
    const due = Math.min(limit, ((performance.now() - startedAt) * rate) / 1000);
    const most = limitOfChannel();
    while (total < due && total - answers.count < MAX_IN_FLIGHT && sent[total % channels] < most) send();
  }, 1);
  const stop = async () => {
    clearInterval(timer);
    while (answers.count < total) await sleep(5);
    socket.destroy();
    return sent;
  };
  const finished = async () => {
    while (total < limit) await sleep(5);
    return stop();
  };
  return { stop, finished };
}

/** Counts the responses. Any but 2xx is an error. */
function countAnswers(socket) {
  const answers = { count: 0 };
  let rest = "";
  socket.setEncoding("latin1").on("data", (chunk) => {
    const text = rest + chunk;
    let end = 0;
    for (const match of text.matchAll(/HTTP\/1\.1 (\d)/g)) {
      if (match[1] !== "2")
        throw new Error(`A message was answered with ${text.slice(match.index, match.index + 300)}`);
      answers.count++;
      end = match.index + match[0].length;
    }
    rest = text.slice(Math.max(end, text.length - 9)); // a status line may be cut, and is ten characters long up to here
  });
  return answers;
}
