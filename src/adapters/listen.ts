import type { Server } from "node:http";
import { type AddressInfo, isIPv6 } from "node:net";

/** A server that accepts connections. */
export interface Listening {
  /** The URL of the server, for example `http://localhost:3000`. */
  readonly address: string;
}

/** The address on which a server listens. */
export interface ListenOptions {
  readonly host: string;
  /** Whether nobody has chosen the host. The default 127.0.0.1 is shown as `localhost`. */
  readonly isDefaultHost?: boolean;
  readonly port: number;
  /** The environment variable that sets the port, for errors; `PORT` by default. */
  readonly variable?: string;
}

/** Thrown when a server cannot listen. Its message is complete without a stack. */
class ListenError extends Error {
  override get name(): string {
    return "ListenError";
  }
}

/**
 * Starts a server, and resolves once it accepts connections.
 *
 * @param options `port` from 0 to 65,535; 0 selects a free port
 * @throws ListenError when the port is in use or not permitted, or the host is no address of this machine; otherwise the
 *   error of Node
 */
export async function listenOn(server: Server, options: ListenOptions): Promise<Listening> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(explainListenError(error, options)));
    server.listen(options.port, options.host, resolve);
  });
  return { address: addressOf(server, options) };
}

function explainListenError(error: NodeJS.ErrnoException, options: ListenOptions): Error {
  const problem = listenProblem(error.code, options);
  return problem === undefined ? error : new ListenError(problem, { cause: error });
}

/** Returns what is wrong with an address, and the fix; `undefined` for a code that is not about the address. */
function listenProblem(code: string | undefined, { host, port, variable = "PORT" }: ListenOptions): string | undefined {
  switch (code) {
    case "EADDRINUSE":
      return `Port ${port} of ${host} is in use. Stop the process that listens on it, or set ${variable} to another port (0: any free one).`;
    case "EACCES":
      return `Port ${port} of ${host} may not be used by this user (EACCES). Set ${variable} to a port from 1024 to 65535.`;
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `HOST is ${host}, a name that has no address (${code}). ${HOST_ADVICE}`;
    case "EADDRNOTAVAIL":
    case "EAFNOSUPPORT":
      return `HOST is ${host}, which is no address of this machine (${code}). ${HOST_ADVICE}`;
    default:
      return undefined;
  }
}

const HOST_ADVICE =
  "Set HOST to 127.0.0.1 for connections from this machine, or to 0.0.0.0 for connections from others too.";

/**
 * Returns a URL that a browser on this machine can open: with the host that was chosen, and with `localhost` if the server
 * listens on all addresses. A passkey works on `localhost`, and not on an IP address.
 */
function addressOf(server: Server, { host, isDefaultHost = false }: ListenOptions): string {
  const { port } = server.address() as AddressInfo; // it listens on a port, not on a pipe
  if (host === "0.0.0.0" || host === "::" || isDefaultHost) return `http://localhost:${port}`;
  return `http://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}
