/**
 * Sends HTTP as bytes on a socket, for requests that HTTP clients refuse to send.
 */
import { once } from "node:events";
import { connect, type Socket } from "node:net";

/**
 * Opens a connection to a server.
 *
 * @param address for example `http://localhost:3000`
 */
export async function openSocket(address: string): Promise<Socket> {
  const { port } = new URL(address);
  const socket = connect(Number(port), "127.0.0.1");
  await once(socket, "connect");
  return socket;
}

/** The text received on a connection, and whether the connection was reset instead of closed. */
export interface SocketText {
  readonly text: string;
  readonly isReset: boolean;
}

/**
 * Reads a connection to its end. Reading starts synchronously, so that nothing is lost before the promise is awaited.
 */
export function readToEnd(socket: Socket): Promise<SocketText> {
  let text = "";
  let isBroken = false;
  socket.setEncoding("latin1").on("data", (data: string) => {
    text += data;
  });
  socket.on("error", () => {
    isBroken = true; // ECONNRESET, or EPIPE of a write after the end
  });
  return new Promise((resolve) => socket.on("close", () => resolve({ text, isReset: isBroken })));
}

/** Waits until the received text matches, and returns it. The connection stays open. */
export function readUntil(socket: Socket, pattern: RegExp): Promise<string> {
  let text = "";
  return new Promise((resolve, reject) => {
    const onData = (data: Buffer | string) => {
      text += String(data);
      if (!pattern.test(text)) return;
      socket.off("data", onData);
      resolve(text);
    };
    socket.on("data", onData);
    socket.once("close", () => reject(new Error(`The connection closed before ${pattern} matched. Received: ${text}`)));
  });
}

/** Sends parts one after the other and reads the connection to its end. Each part waits for the previous write. */
export async function sendBytes(address: string, ...parts: readonly (string | Uint8Array)[]): Promise<SocketText> {
  const socket = await openSocket(address);
  const received = readToEnd(socket);
  for (const part of parts) {
    if (socket.destroyed) break;
    const bytes = typeof part === "string" ? Buffer.from(part, "latin1") : part;
    await new Promise<void>((resolve) => socket.write(bytes, () => resolve()));
  }
  return received;
}

/** A parsed response. */
export interface RawResponse {
  readonly status: number;
  /** The headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Parses the first response. The status is 0 if the connection closed without one. */
export function parseResponse({ text }: SocketText): RawResponse {
  const end = text.indexOf("\r\n\r\n");
  const [line = "", ...fields] = text.slice(0, Math.max(0, end)).split("\r\n");
  const headers = fields.map((field) => {
    const [name = "", value = ""] = field.split(/:\s*(.*)/s);
    return [name.toLowerCase(), value] as const;
  });
  return {
    status: Number(/^HTTP\/1\.1 (\d{3})/.exec(line)?.[1] ?? 0),
    headers: Object.fromEntries(headers),
    body: text.slice(end + 4),
  };
}

/**
 * Sends one request and returns the response.
 *
 * @param lines the request line and the headers, without line breaks
 */
export async function sendRequest(address: string, ...lines: readonly string[]): Promise<RawResponse> {
  return parseResponse(await sendBytes(address, `${[...lines, "Connection: close"].join("\r\n")}\r\n\r\n`));
}

/** Returns the bytes of a call as a script sends it. */
export function callBytes(name: string, args: object = {}, ...headers: readonly string[]): string {
  const body = JSON.stringify({ args });
  const lines = ["Host: localhost", "Content-Type: application/json", `Content-Length: ${body.length}`, ...headers];
  return `POST /__web/rpc/${name} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n${body}`;
}
