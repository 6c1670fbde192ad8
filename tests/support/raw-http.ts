/**
 * HTTP as bytes on a socket: what no well-behaved client would send.
 */
import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** Opens a connection to a server, given its address as `http://localhost:3000`. */
export async function openSocket(address: string): Promise<Socket> {
  const { port } = new URL(address);
  const socket = connect(Number(port), "127.0.0.1");
  await once(socket, "connect");
  return socket;
}

/** What came back on a connection, and whether it was broken rather than closed. */
export interface ReceivedText {
  readonly text: string;
  readonly isBroken: boolean;
}

/**
 * Reads a connection to its end.
 *
 * It begins at once: what arrives before the promise is looked at is not lost.
 */
export function readToEnd(socket: Socket): Promise<ReceivedText> {
  let text = "";
  let isBroken = false;
  socket.setEncoding("latin1").on("data", (data: string) => {
    text += data;
  });
  socket.on("error", () => {
    isBroken = true; // reset, or written to after its end
  });
  return new Promise((resolve) => socket.on("close", () => resolve({ text, isBroken })));
}

/** Waits until something that matches has come back on a connection, which stays open. */
export function readUntil(socket: Socket, wanted: RegExp): Promise<string> {
  let text = "";
  return new Promise((resolve, reject) => {
    const look = (data: Buffer | string) => {
      text += String(data);
      if (!wanted.test(text)) return;
      socket.off("data", look);
      resolve(text);
    };
    socket.on("data", look);
    socket.once("close", () => reject(new Error(`The connection ended after: ${text}`)));
  });
}

/** Sends parts one after the other, as fast as they are taken, and reads the connection to its end. */
export async function sendBytes(address: string, ...parts: readonly (string | Uint8Array)[]): Promise<ReceivedText> {
  const socket = await openSocket(address);
  const received = readToEnd(socket);
  for (const part of parts) {
    if (socket.destroyed) break;
    const bytes = typeof part === "string" ? Buffer.from(part, "latin1") : part;
    await new Promise<void>((taken) => socket.write(bytes, () => taken()));
  }
  return received;
}

/** An answer, taken apart. */
export interface RawResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Takes the first answer apart that came back; a connection closed without one has the status 0. */
export function parseResponse({ text }: ReceivedText): RawResponse {
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

/** Sends one request, its lines given without their ends, and gives the answer. */
export async function sendRequest(address: string, ...lines: readonly string[]): Promise<RawResponse> {
  return parseResponse(await sendBytes(address, `${[...lines, "Connection: close"].join("\r\n")}\r\n\r\n`));
}

/** Gives the bytes of a call, as a script sends it. */
export function callBytes(name: string, args: object = {}, ...headers: readonly string[]): string {
  const body = JSON.stringify({ args });
  const lines = ["Host: localhost", "Content-Type: application/json", `Content-Length: ${body.length}`, ...headers];
  return `POST /__web/rpc/${name} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n${body}`;
}
