import { OUTCOME_MS, type OutcomeStore } from "../bus/index.ts";
import type { ConnectionContext, NatsStoreOptions } from "./connector.ts";
import { findOrCreateStream, isStreamFull, isStreamNotFound, isWrongLastSequence } from "./stream.ts";
import { NS_PER_MS } from "./stream-config.ts";

/** The bytes of all records. The server refuses further ones above it. */
const MAX_BYTES = 256 * 1024 * 1024;

/**
 * Returns the outcomes of idempotent functions in NATS: a stream with one message for each subject, which is created by the first
 * one. Only the first message of a subject is stored as a claim.
 */
export function natsOutcomes({ namespace, run }: NatsStoreOptions): OutcomeStore {
  const name = `tsweb-once-${namespace}`;
  const prefix = `tsweb.once.${namespace}.`;
  let isPrepared = false;
  const inStream = <T>(operation: (context: ConnectionContext) => Promise<T>): Promise<T> =>
    run(async (context) => {
      const prepare = () => prepareStream(context, { name, subjects: [`${prefix}*`] });
      if (!isPrepared) await prepare();
      isPrepared = true;
      try {
        return await operation(context);
      } catch (error) {
        if (!isNoStream(error)) throw error;
        await prepare();
        return operation(context);
      }
    }).catch((error: unknown) => {
      throw isStreamFull(error) ? fullError(name, error) : error;
    });
  const store: OutcomeStore = {
    claim: (key, text) =>
      inStream(async ({ jetStream, manager, untilDisconnect }) => {
        try {
          await untilDisconnect(jetStream.publish(prefix + key, text, { expect: { lastSubjectSequence: 0 } }));
          return null;
        } catch (error) {
          if (!isWrongLastSequence(error)) throw error;
          const stored = await untilDisconnect(manager.streams.getMessage(name, { last_by_subj: prefix + key }));
          if (stored) return stored.string();
          return store.claim(key, text); // it has expired in the meantime
        }
      }),
    write: (key, text) =>
      inStream(async ({ jetStream, untilDisconnect }) => {
        await untilDisconnect(jetStream.publish(prefix + key, text));
      }),
    remove: (key) =>
      inStream(async ({ manager, untilDisconnect }) => {
        await untilDisconnect(manager.streams.purge(name, { filter: prefix + key }));
      }),
  };
  return store;
}

/** Creates the stream; sets one that exists to drop no record. */
async function prepareStream(
  { manager, replicas, untilDisconnect }: ConnectionContext,
  { name, subjects }: { readonly name: string; readonly subjects: string[] },
): Promise<void> {
  const { config } = await untilDisconnect(
    findOrCreateStream(manager, {
      ...{ name, subjects, storage: "file", num_replicas: replicas, discard: "new" },
      ...{ max_msgs_per_subject: 1, max_bytes: MAX_BYTES, max_age: OUTCOME_MS * NS_PER_MS },
    }),
  );
  if (config.discard === "new") return;
  await untilDisconnect(manager.streams.update(name, { ...config, discard: "new" }));
}

function fullError(name: string, cause: unknown): Error {
  return new Error(
    `The outcomes of idempotent functions take the maximum bytes of the stream ${name} in NATS, so a submission was refused. ` +
      `They are kept for 10 minutes. Return less from these functions, or raise the maximum: nats stream edit ${name} --max-bytes.`,
    { cause },
  );
}

/** Returns whether a stream does not exist. A message for it has no responder: the client takes that for a server without JetStream. */
function isNoStream(error: unknown): boolean {
  return isStreamNotFound(error) || (error instanceof Error && error.name === "JetStreamNotEnabled");
}
