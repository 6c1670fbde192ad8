/**
 * The share of the connections of a server that one client may use for requests that are still arriving.
 *
 * Such a connection costs its client nothing: it needs no byte for 10 seconds, and each time one is closed the client opens the
 * next. Without a share, one machine would hold all connections, and the server would refuse everyone else.
 */
import { clientAddress } from "../http/index.ts";
import { clientKey } from "../rate-limit/index.ts";

/** Of all connections, how many one client may hold with requests that are still arriving: one of so many. */
const SHARES = 4;

/** A connection whose request is still arriving. */
export interface ArrivingConnection<T> {
  readonly connection: T;
  /** The address of its other end. */
  readonly address: string;
}

/** The connections of one client that exceed its share. */
export interface Excess<T> {
  /** The client, see {@link clientKey}. */
  readonly client: string;
  readonly connections: readonly T[];
}

/**
 * Returns the connections that each client has above its share, a quarter of the maximum and at least 1: the oldest ones, since the
 * request of an honest client arrives soon after it has connected.
 *
 * @param arriving the connections whose request is still arriving, the oldest first
 * @param maxConnections the maximum number of connections of the server; without a limit, nothing exceeds a share
 * @see docs/configuration.md, "Open files"
 */
export function connectionsAboveShare<T>(
  arriving: Iterable<ArrivingConnection<T>>,
  maxConnections: number,
): readonly Excess<T>[] {
  const share = Math.max(1, Math.floor(maxConnections / SHARES));
  const clients = new Map<string, T[]>();
  for (const { connection, address } of arriving) {
    const client = clientKey(clientAddress(address, null, 0));
    const connections = clients.get(client);
    if (connections) connections.push(connection);
    else clients.set(client, [connection]);
  }
  return [...clients]
    .filter(([, connections]) => connections.length > share)
    .map(([client, connections]) => ({ client, connections: connections.slice(0, connections.length - share) }));
}
