import type { Msg } from "@nats-io/transport-node";
import type { JetStreamContext } from "./connector.ts";
import { parseDelivery, readMessageId } from "./position.ts";

/** A message of the stream that was read. */
export interface ReadMessage {
  readonly seq: number;
  /** The `Nats-Msg-Id`, empty if there is none or if the headers are malformed. */
  readonly id: string;
  /** The size of the data in bytes. */
  readonly bytes: number;
  text(): string;
}

/** What one batch returns. */
export interface BatchRequest {
  readonly stream: string;
  readonly subject: string;
  /** The stream sequence from which on messages are read. */
  readonly startSeq: number;
  /** The maximum number of messages. */
  readonly messages: number;
  /** The maximum bytes of their data. */
  readonly bytes: number;
}

/** How long the server stores a consumer that could not be deleted, and how long a batch may take. */
const INACTIVE_THRESHOLD_MS = 5_000;
const BATCH_TIMEOUT_MS = 900;

/** What a message has besides its data, at most: subjects of 280 bytes, and its headers. */
const OVERHEAD_BYTES = 800;

const NANOSECONDS = 1_000_000; // per millisecond

/**
 * Reads the next messages of one subject with three requests, by a consumer that exists for one batch. It may return fewer
 * than there are: the caller reads the rest one by one, which also finds the end. It leaves none out between those that it
 * returns, except some that the stream has removed.
 *
 * @returns null if the server creates no consumer
 */
export async function readBatch(context: JetStreamContext, request: BatchRequest): Promise<ReadMessage[] | null> {
  const { stream, subject, startSeq } = request;
  const { consumers } = context.manager;
  try {
    const { name } = await consumers.add(stream, {
      ...{ ack_policy: "none", max_deliver: 1, filter_subject: subject },
      ...{ deliver_policy: "by_start_sequence", opt_start_seq: startSeq },
      ...{ mem_storage: true, num_replicas: 1, inactive_threshold: INACTIVE_THRESHOLD_MS * NANOSECONDS },
    });
    const messages = await pull(context, name, request);
    // If that fails, the server deletes it because nothing uses it.
    consumers.delete(stream, name).catch(() => undefined);
    return messages;
  } catch {
    return null; // a cluster without a leader creates no consumer, but may still answer single requests
  }
}

/** Requests messages from a consumer. Resolves with those that arrive before the first one that is missing. */
function pull(
  { connection, createInbox }: JetStreamContext,
  name: string,
  request: BatchRequest,
): Promise<ReadMessage[]> {
  const { stream, startSeq, messages, bytes } = request;
  return new Promise((resolve) => {
    const received: ReadMessage[] = [];
    const end = () => {
      clearTimeout(timer);
      subscription.unsubscribe();
      resolve(received);
    };
    const inbox = createInbox();
    const callback = (error: Error | null, message: Msg) => {
      const next = error ? null : readDelivery(message, received.length + 1, startSeq);
      if (next) received.push(next);
      // A message without a delivery is the status that ends the batch.
      if (!next || received.length >= messages) end();
    };
    const subscription = connection.subscribe(inbox, { callback });
    const timer = setTimeout(end, BATCH_TIMEOUT_MS);
    const options = { batch: messages, max_bytes: bytes + messages * OVERHEAD_BYTES, no_wait: true };
    connection.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${name}`, JSON.stringify(options), { reply: inbox });
  });
}

/**
 * Returns a message if it is the delivery with a consumer sequence, otherwise null. A consumer on a server of a cluster that
 * has not received the messages before `startSeq` starts with the first one that this server lacks, and receives it later.
 */
function readDelivery(message: Msg, consumerSequence: number, startSeq: number): ReadMessage | null {
  const delivery = parseDelivery(message.reply);
  if (delivery?.consumerSequence !== consumerSequence || delivery.streamSequence < startSeq) return null;
  const id = readMessageId(() => message.headers);
  return { seq: delivery.streamSequence, id, bytes: message.data.length, text: () => message.string() };
}
