/**
 * The modules of Node's HTTP and TLS servers, loaded without `import`.
 *
 * `import` reads every export of a module of Node, and the export `WebSocket` of `node:http` loads the whole of `fetch`: since
 * Node 22, a third of the processor time until a small application answers.
 */
import type { Server } from "node:http";

const http = process.getBuiltinModule("node:http");

export const {
  createServer,
  IncomingMessage: NodeRequest,
  maxHeaderSize,
  ServerResponse: NodeResponse,
  STATUS_CODES,
} = http;

/** Returns whether a server is one of `node:http`: neither TLS nor HTTP/2. */
export function isHttpServer(server: object): server is Server {
  return server instanceof http.Server;
}

/** Returns whether a server has TLS, and whether it is one of `node:https`. Loads their modules: not for servers of `node:http`. */
export function tlsOf(server: object): { readonly isTls: boolean; readonly isHttps: boolean } {
  const tls = process.getBuiltinModule("node:tls");
  const https = process.getBuiltinModule("node:https");
  return { isTls: server instanceof tls.Server, isHttps: server instanceof https.Server };
}
