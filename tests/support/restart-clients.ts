/**
 * The clients of the tests of restarts: over HTTP/1.1, and over HTTP/2 with TLS.
 */
import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { type ClientHttp2Session, type ClientHttp2Stream, connect, type IncomingHttpHeaders } from "node:http2";
import { connect as connectTls } from "node:tls";
import { type Certificate, TEST_HOST } from "./certificate.ts";

/** A request. Without a body, it is a GET. */
export interface SentRequest {
  readonly path: string;
  /** A JSON value. */
  readonly body?: unknown;
  /** Ends the request. */
  readonly signal?: AbortSignal;
  /** Whether the request has a connection of its own, over HTTP/1.1. */
  readonly usesOwnConnection?: boolean;
}

/** The begin of a response. */
export interface StartedResponse {
  readonly status: number | undefined;
  readonly body: AsyncIterable<Uint8Array>;
}

/** Sends requests to a proxy. */
export interface RestartClient {
  /** @throws Error if the connection fails */
  send(request: SentRequest): Promise<StartedResponse>;
  close(): void;
}

/** As `docs/production.md` requires of a proxy: without one, the clients themselves meet the end of the drain (2 seconds). */
const IDLE_MS = 1_000;

/** A client over HTTP/1.1, which keeps connections. */
export class Http1Client implements RestartClient {
  readonly #origin: string;
  readonly #agent = new Agent({ keepAlive: true, timeout: IDLE_MS });

  constructor(origin: string) {
    this.#origin = origin;
  }

  async send({ path, body, signal, usesOwnConnection }: SentRequest): Promise<StartedResponse> {
    const sent = request(this.#origin + path, {
      method: body === undefined ? "GET" : "POST",
      agent: usesOwnConnection ? false : this.#agent,
      headers: body === undefined ? {} : { "content-type": "application/json" },
      ...(signal ? { signal } : {}),
    });
    sent.end(body === undefined ? undefined : JSON.stringify(body));
    const [response]: IncomingMessage[] = await once(sent, "response");
    if (!response) throw new Error("There is no response.");
    return { status: response.statusCode, body: response };
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** nginx ends a session after 1,000 requests. Node's client does not send those again that nginx has not read by then. */
const MAX_REQUESTS = 900;

/** A client over HTTP/2 and TLS, which has one session, and a new one when that has ended. */
export class Http2Client implements RestartClient {
  readonly #port: number;
  readonly #certificate: Certificate;
  readonly #sessions = new Set<ClientHttp2Session>();
  #session: ClientHttp2Session;
  #requests = 0;

  constructor(port: number, certificate: Certificate) {
    this.#port = port;
    this.#certificate = certificate;
    this.#session = this.#connect();
  }

  /** The number of sessions so far. */
  sessionCount = 0;

  send({ path, body, signal }: SentRequest): Promise<StartedResponse> {
    if (this.#session.closed || this.#session.destroyed || this.#requests === MAX_REQUESTS) {
      this.#session.close(); // after its requests
      this.#session = this.#connect();
    }
    this.#requests++;
    const method = body === undefined ? "GET" : "POST";
    const headers = { ":path": path, ":method": method, ...(body === undefined ? {} : { "content-type": JSON_TYPE }) };
    const stream = this.#session.request(headers, signal ? { signal } : {});
    stream.end(body === undefined ? undefined : JSON.stringify(body));
    return responseOf(stream);
  }

  close(): void {
    for (const session of this.#sessions) session.destroy();
  }

  #connect(): ClientHttp2Session {
    const options = { host: "127.0.0.1", port: this.#port, servername: TEST_HOST, ca: this.#certificate.pem };
    const session = connect(`https://${TEST_HOST}`, {
      createConnection: () => connectTls({ ...options, ALPNProtocols: ["h2"] }),
    });
    session.on("error", () => undefined); // its requests receive the error
    this.#sessions.add(session);
    session.on("close", () => this.#sessions.delete(session));
    this.#requests = 0;
    this.sessionCount++;
    return session;
  }
}

const JSON_TYPE = "application/json";

function responseOf(stream: ClientHttp2Stream): Promise<StartedResponse> {
  return new Promise((resolve, reject) => {
    stream.on("response", (headers: IncomingHttpHeaders & { readonly ":status"?: number }) =>
      resolve({ status: headers[":status"], body: stream }),
    );
    stream.on("error", reject);
    stream.on("close", () => reject(new Error("The stream was closed without a response.")));
  });
}

/** Calls a server function. @returns the status, and the result if the status is 200 */
export async function callOver<T>(client: RestartClient, name: string, args: object) {
  const { status, body } = await client.send({ path: `/__web/rpc/${name}`, body: { args } });
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return { status, result: status === 200 ? (JSON.parse(Buffer.concat(chunks).toString()).result as T) : null };
}
