// One event stream over a plain socket, as EventSource reads it: it checks that every message arrives once and in order, and
// resumes from the last event when it is connected again.
import { connect } from "node:net";
import { HEAD_LENGTH, MARK, nowMicros, readDigits } from "./message.mjs";

const EVENT_END = "\n\n";

export class Listener {
  /** The number of the message that has to come next. */
  next = 0;
  #lastId = "";
  #socket = null;
  #rest = null;

  /** @param options `url`; `client`: a number, for a client address of its own; `onMessage`: called with the latency in µs; `onClose`: called when the server ends the stream */
  constructor({ url, client, tracksIds, onMessage, onClose }) {
    Object.assign(this, { url: new URL(url), client, tracksIds, onMessage, onClose });
  }

  /** Connects, and resolves when the response has started. */
  open() {
    const { hostname, port } = this.url;
    this.#rest = null;
    return new Promise((resolve, reject) => {
      const socket = connect(Number(port), hostname, () => socket.write(this.#request()));
      this.#socket = socket;
      let isOpen = false;
      socket.on("data", (chunk) => {
        if (!isOpen) {
          isOpen = true;
          if (chunk.toString("latin1", 9, 12) !== "200") return reject(new Error(chunk.toString()));
          resolve();
        }
        this.#read(chunk);
      });
      socket.on("error", reject);
      socket.on("close", () => {
        reject(new Error("The event stream has ended before its first byte."));
        if (isOpen && this.#socket === socket) this.onClose(this);
      });
    });
  }

  /** Closes the connection at once, without notice to the server. */
  cut() {
    this.#socket?.destroy();
    this.#socket = null;
  }

  /** Each connection has a client address of its own, because tsweb limits the live requests of one client. */
  #request() {
    const { host, pathname, search } = this.url;
    const address = `10.${this.client >> 16}.${(this.client >> 8) & 255}.${this.client & 255}`;
    const resume = this.#lastId === "" ? "" : `last-event-id: ${this.#lastId}\r\n`;
    return `GET ${pathname}${search} HTTP/1.1\r\nhost: ${host}\r\naccept: text/event-stream\r\nx-forwarded-for: ${address}\r\n${resume}\r\n`;
  }

  #read(chunk) {
    const data = this.#rest ? Buffer.concat([this.#rest, chunk]) : chunk;
    let from = 0;
    for (let mark = data.indexOf(MARK); mark !== -1; mark = data.indexOf(MARK, from)) {
      const end = data.indexOf(EVENT_END, mark + HEAD_LENGTH);
      if (end === -1) break;
      this.#receive(data, mark);
      if (this.tracksIds) this.#lastId = idBefore(data, mark) ?? this.#lastId;
      from = end + EVENT_END.length;
    }
    this.#rest = from === data.length ? null : data.subarray(from);
    if (this.#rest?.includes("event: gap")) throw new Error(`The server reports a gap:\n${this.#rest}`);
  }

  #receive(data, mark) {
    const seq = readDigits(data, mark + 1, 9);
    if (seq !== this.next)
      throw new Error(
        `Message ${seq} came instead of ${this.next}:\n${data.toString("latin1", Math.max(0, mark - 200), mark + 60)}`,
      );
    this.next++;
    this.onMessage(nowMicros() - readDigits(data, mark + 11, 16));
  }
}

/** Returns the id of the event whose data contains an index. */
function idBefore(data, index) {
  const start = data.lastIndexOf("id: ", index);
  return start === -1 ? undefined : data.toString("latin1", start + 4, data.indexOf("\n", start));
}
