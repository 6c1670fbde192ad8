import { RPCError } from "../errors.ts";
import { clientNetwork, retryAdvice } from "../rate-limit/index.ts";

/** The limits of a queue that {@link createConcurrencyQueue} creates. */
export interface ConcurrencyQueueOptions {
  /** The maximum number of tasks that run at once. */
  readonly maxRunning: number;
  /** The maximum number of tasks that wait. */
  readonly maxQueued: number;
  /** The maximum number of tasks of one client that wait. */
  readonly maxQueuedPerClient: number;
}

/** The client of a task: its key (docs/protocol.md 9.1), or `null` for all work outside of requests. */
export type QueueClient = string | null;

/** Runs a task, now or once it is the client's turn. Rejects with `RPCError` `rate_limited` without running it. */
export type Enqueue = <T>(client: QueueClient, task: () => Promise<T>) => Promise<T>;

/** A task that waits. */
interface QueuedTask {
  start(): void;
  reject(error: RPCError): void;
}

/**
 * Returns a function that runs expensive tasks: at most `maxRunning` at once, and at most `maxQueued` waiting.
 *
 * It limits what anonymous clients can start, such as password hashing. Without it, a burst of sign-ins would take all
 * threads and delay every other request (denial of service). So that one client cannot shut out the others:
 *
 * - Clients take turns (round-robin). Until a task starts, every other client starts at most one task more than this
 *   client has waiting before it. The tasks of one client keep their order.
 * - A client has at most `maxQueuedPerClient` tasks waiting. A further one is rejected.
 * - If the queue is full, a task takes a place of the network (an IPv6 /48, or any other client) with the most tasks,
 *   and if its own network has the most, of the client in it with the most. There, the newest task of the client with
 *   the most is rejected. The loser still has as many as the other one afterwards; otherwise the new task is rejected.
 */
export function createConcurrencyQueue({
  maxRunning,
  maxQueued,
  maxQueuedPerClient,
}: ConcurrencyQueueOptions): Enqueue {
  // The clients with waiting tasks, in the order of their turns.
  const queues = new Map<QueueClient, QueuedTask[]>();
  let queued = 0;
  let running = 0;
  let averageMs = 0;

  /** Returns the error of a rejected task. The wait is an estimate: a place is free after each client's next turn. */
  const busyError = (reason: string) => {
    const { details, sentence } = retryAdvice((averageMs * queues.size) / maxRunning / 1000);
    return new RPCError("rate_limited", `${reason} ${sentence}`, details);
  };

  /** Takes a place in the full queue for a task of a client, and rejects the task that has it. Returns whether it could. */
  const takePlace = (client: QueueClient): boolean => {
    const networks = new Map<QueueClient, QueueClient[]>();
    for (const other of queues.keys()) {
      const network = networkOf(other);
      networks.set(network, [...(networks.get(network) ?? []), other]);
    }
    const lengthOf = (other: QueueClient) => queues.get(other)?.length ?? 0;
    const sizeOf = (clients: readonly QueueClient[]) => clients.reduce((sum, other) => sum + lengthOf(other), 0);
    const own = networks.get(networkOf(client)) ?? [];
    const largest = lastMaximum([...networks.values()], sizeOf) ?? [];
    const isOtherNetwork = sizeOf(largest) > sizeOf(own) + 1;
    const loser = lastMaximum(isOtherNetwork ? largest : own, lengthOf);
    if (loser === undefined || (!isOtherNetwork && lengthOf(loser) <= lengthOf(client) + 1)) return false;
    queues.get(loser)?.pop()?.reject(busyError("The server is busy."));
    if (lengthOf(loser) === 0) queues.delete(loser);
    queued--;
    return true;
  };

  const waitForTurn = (client: QueueClient): Promise<void> => {
    const queue = queues.get(client) ?? [];
    if (queue.length >= maxQueuedPerClient) throw busyError("Too many requests of this client are waiting.");
    if (queued >= maxQueued && !takePlace(client)) throw busyError("The server is busy.");
    queued++;
    queues.set(client, queue);
    return new Promise((start, reject) => queue.push({ start, reject }));
  };

  /** Passes a slot to the next task. `running` is not decremented meanwhile, so that no new task can get ahead. */
  const passSlot = () => {
    const [next] = queues;
    if (!next) {
      running--;
      return;
    }
    const [client, queue] = next;
    const task = queue.shift();
    queued--;
    queues.delete(client);
    if (queue.length > 0) queues.set(client, queue); // after all others
    task?.start();
  };

  return async (client, task) => {
    if (running < maxRunning) running++;
    else await waitForTurn(client);
    const startedAt = performance.now();
    try {
      return await task();
    } finally {
      const durationMs = performance.now() - startedAt;
      averageMs = averageMs === 0 ? durationMs : averageMs * 0.8 + durationMs * 0.2;
      passSlot();
    }
  };
}

function networkOf(client: QueueClient): QueueClient {
  return client === null ? null : clientNetwork(client);
}

/** Returns the item with the highest value, of several the last. */
function lastMaximum<T>(items: readonly T[], score: (item: T) => number): T | undefined {
  return items.toSorted((a, b) => score(a) - score(b)).at(-1);
}
