// Publishes messages at a constant rate, each by a request of its own. With one connection, the server receives them in order.
// Few wait for a response at a time: servers limit the pipelined requests of a connection.
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { messageText, postTick } from "./message.mjs";

/** How many requests may wait for their response, over all connections. tsweb accepts 100 of one connection. */
const MAX_IN_FLIGHT = 64;

/**
 * Starts to send. Under more load than the server can handle, the rate is that of the responses.
 *
 * @param address the server
 * @param options `rate`: messages per second, over all channels; `channels`: their number; `requestOf`: returns path and body
 *   of the request that publishes a message, by default `postTick`; `connections`: over how many connections the requests are
 *   sent, by default one; `sent`: the number of earlier messages of each channel;
 *   `limit`: the number of messages, for `finished`; `limitOfChannel`: returns up to which number a channel may get messages
 *   now
 * @returns `stop`: ends, resolves when all are answered, and returns the number of messages of each channel; `finished`:
 *   does the same after `limit` messages
 */
export async function startSender(address, options) {
  const { rate, channels = 1, limit = Number.POSITIVE_INFINITY, requestOf = postTick } = options;
  const { limitOfChannel = () => Number.POSITIVE_INFINITY } = options;
  const sent = [...(options.sent ?? Array.from({ length: channels }, () => 0))];
  const { host } = new URL(address);
  const connections = await openConnections(address, options.connections ?? 1);
  const maxPending = MAX_IN_FLIGHT / connections.length;
  let total = 0;
  const checkAnswers = () => {
    for (const { error } of connections) if (error) throw error;
  };
  const answered = () => connections.reduce((sum, { answers }) => sum + answers, 0);
  const send = () => {
    const channel = total++ % channels;
    const { path, body } = requestOf(channel, messageText(sent[channel]++));
    // In turns: a server closes a connection that sends no request.
    const inTurn = connections.map((_, i) => connections[(total + i) % connections.length]);
    const connection = inTurn.find(({ requests, answers }) => requests - answers < maxPending);
    connection.requests++;
    connection.socket.write(
      `POST ${path} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\n` +
        `content-length: ${body.length}\r\n\r\n${body}`,
    );
  };
  const startedAt = performance.now();
  const timer = setInterval(() => {
    if (connections.some(({ error }) => error)) return clearInterval(timer); // `stop` throws it
    const due = Math.min(limit, ((performance.now() - startedAt) * rate) / 1000);
    const most = limitOfChannel();
    while (total < due && total - answered() < MAX_IN_FLIGHT && sent[total % channels] < most) send();
  }, 1);
  const stop = async () => {
    clearInterval(timer);
    for (checkAnswers(); answered() < total; checkAnswers()) await sleep(5);
    for (const { socket } of connections) socket.destroy();
    return sent;
  };
  const finished = async () => {
    for (checkAnswers(); total < limit; checkAnswers()) await sleep(5);
    return stop();
  };
  return { stop, finished };
}

/** Opens connections. Each counts its `requests`, and the `answers` to them. `error` is the first failure, or answer other than 2xx. */
function openConnections(address, count) {
  const { hostname, port } = new URL(address);
  return Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect(Number(port), hostname);
      await once(socket, "connect");
      const connection = { socket, requests: 0, answers: 0, error: undefined };
      countAnswers(connection);
      socket.on("error", (error) => {
        connection.error ??= error;
      });
      return connection;
    }),
  );
}

/** Counts the responses of a connection. */
function countAnswers(connection) {
  let rest = "";
  connection.socket.setEncoding("latin1").on("data", (chunk) => {
    const text = rest + chunk;
    let end = 0;
    for (const match of text.matchAll(/HTTP\/1\.1 (\d)/g)) {
      if (match[1] !== "2")
        connection.error ??= new Error(`A message was answered with ${text.slice(match.index, match.index + 300)}`);
      connection.answers++;
      end = match.index + match[0].length;
    }
    rest = text.slice(Math.max(end, text.length - 9)); // a status line may be cut, and is ten characters long up to here
  });
}
