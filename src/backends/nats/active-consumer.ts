import type { JetStreamManager } from "@nats-io/jetstream";
import type { Msg, NatsConnection, Subscription } from "@nats-io/transport-node";
import type { JetStreamContext } from "./connector.ts";
import type { DeliveryInfo } from "./position.ts";
import { NS_PER_MS } from "./stream-config.ts";

/** How often an idle server sends a heartbeat. */
export const HEARTBEAT_MS = 1_000;

/** After how long the server removes a consumer whose subscriber is disconnected. */
const INACTIVE_THRESHOLD_MS = 30_000;

/** A consumer on the server, and the subscription to its deliveries. */
export interface ActiveConsumer {
  readonly context: JetStreamContext;
  readonly subscription: Subscription;
  readonly epoch: string;
  /** The subjects that it receives; null for all. */
  readonly subjects: ReadonlySet<string> | null;
  /** The message that it must deliver first, because it continues after it. */
  readonly first: { readonly seq: number; readonly id: string } | undefined;
  /** Whether it continues after the last delivery of the one before, so that nothing is missed. */
  readonly isContinuation: boolean;
  /** The name that the server has given to it. */
  name: string | undefined;
  /** The consumer sequence of the last delivery; NaN if a delivery was missing before it was active. */
  consumerSequence: number;
  /** The stream sequence of the last delivery; 0 before the first. */
  streamSequence: number;
  lastActivityMs: number;
  /** Since when messages arrive without interruption, by `performance.now`; Infinity before it is active. */
  sinceMs: number;
  /** The deliveries that it continues: those of consumers with the same object. */
  readonly history: object;
  /** Whether it was replaced. What it delivers has no effect any more. */
  isRetired: boolean;
}

/** Ends a consumer. What it delivers has no effect from now on. */
export function retire(consumer: ActiveConsumer): void {
  consumer.isRetired = true;
  consumer.subscription.unsubscribe();
}

/**
 * Returns whether a delivery follows directly on the last one. The consumer sequence reveals deliveries that
 * were lost on the way. The stream sequence reveals messages that were removed from a full stream before a
 * slow consumer got them; with filters, `HeldMessages` does.
 */
export function isNextDelivery(
  delivery: DeliveryInfo,
  { consumerSequence, streamSequence, subjects }: ActiveConsumer,
): boolean {
  if (delivery.consumerSequence !== consumerSequence + 1) return false;
  if (subjects) return delivery.streamSequence > streamSequence;
  return streamSequence === 0 || delivery.streamSequence === streamSequence + 1;
}

/** The status of heartbeats and flow control requests. */
const CONTROL_MESSAGE = 100;

/**
 * Responds to a flow control request, and compares the sequence in a heartbeat with that of the last delivery.
 *
 * @returns false if a delivery is missing, and for any other message
 */
export function receiveControlMessage(message: Msg, connection: NatsConnection, consumerSequence: number): boolean {
  const { headers } = message;
  if (headers?.code !== CONTROL_MESSAGE) return false;
  const stalled = headers.get("Nats-Consumer-Stalled");
  if (message.reply) message.respond();
  else if (stalled) connection.publish(stalled);
  const lastSequence = headers.get("Nats-Last-Consumer");
  return !lastSequence || Number(lastSequence) === consumerSequence;
}

/**
 * Returns the configuration of a consumer on the server.
 *
 * @param options `startSeq`: the stream sequence with which it starts; undefined to start at the end
 */
export function consumerConfig(
  inbox: string,
  { startSeq, subjects }: { readonly startSeq: number | undefined; readonly subjects: ReadonlySet<string> | null },
): Parameters<JetStreamManager["consumers"]["add"]>[1] {
  return {
    ...{ deliver_subject: inbox, ack_policy: "none", max_deliver: 1 },
    ...(startSeq === undefined
      ? { deliver_policy: "new" }
      : { deliver_policy: "by_start_sequence", opt_start_seq: startSeq }),
    ...(subjects ? { filter_subjects: [...subjects] } : {}),
    ...{ flow_control: true, idle_heartbeat: HEARTBEAT_MS * NS_PER_MS },
    ...{ inactive_threshold: INACTIVE_THRESHOLD_MS * NS_PER_MS },
    ...{ mem_storage: true, num_replicas: 1 },
  };
}
