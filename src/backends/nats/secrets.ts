import type { StreamConfig } from "@nats-io/jetstream";
import { REMEMBER_FINGERPRINT_MS } from "../bus/index.ts";
import type { ConnectionContext } from "./connector.ts";
import { findOrCreateStream, isStreamNotFound, isWrongLastSequence } from "./stream.ts";
import { NS_PER_MS } from "./stream-config.ts";

/** How often a claim of an empty namespace is tried again when another process is faster. */
const MAX_ATTEMPTS = 10;

/** Returns the name of the stream with the fingerprints of a namespace. */
export function secretsStreamName(namespace: string): string {
  return `tsweb-secrets-${namespace}`;
}

/**
 * Stores fingerprints in a stream of their own, at most 64, unless others are stored and none of these. Each has a
 * subject. The server removes those that no process has stored for {@link REMEMBER_FINGERPRINT_MS}.
 *
 * @returns whether they are stored
 * @throws Error if the server is unreachable
 */
export async function storeFingerprints(
  { manager, jetStream, replicas, untilDisconnect }: ConnectionContext,
  fingerprints: readonly string[],
  namespace: string,
): Promise<boolean> {
  const { streams } = manager;
  const { name, prefix, config } = streamOf(namespace, replicas);
  const info = async () => (await untilDisconnect(streams.info(name, { subjects_filter: ">" }))).state;
  for (let attempt = 1; ; attempt++) {
    const state = await info().catch(async (error: unknown) => {
      if (!isStreamNotFound(error)) throw error;
      await untilDisconnect(findOrCreateStream(manager, config));
      return info();
    });
    const stored = Object.keys(state.subjects ?? {}).map((subject) => subject.slice(prefix.length));
    const isEmpty = stored.length === 0;
    if (!isEmpty && !fingerprints.some((fingerprint) => stored.includes(fingerprint))) return false;
    try {
      for (const [index, fingerprint] of fingerprints.entries()) {
        // The first one claims the namespace only if it is still empty.
        const expect = isEmpty && index === 0 ? { expect: { lastSequence: state.last_seq } } : {};
        await untilDisconnect(jetStream.publish(prefix + fingerprint, "", expect));
      }
      return true;
    } catch (error) {
      if (!isWrongLastSequence(error) || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

/**
 * Returns the fingerprints that are stored in a namespace, without creating the stream.
 *
 * @throws Error if the server is unreachable
 */
export async function readFingerprints(
  { manager, untilDisconnect }: ConnectionContext,
  namespace: string,
): Promise<readonly string[]> {
  try {
    const request = manager.streams.info(secretsStreamName(namespace), { subjects_filter: ">" });
    const { state } = await untilDisconnect(request);
    return Object.keys(state.subjects ?? {}).map((subject) => subject.slice(subjectPrefix(namespace).length));
  } catch (error) {
    if (isStreamNotFound(error)) return [];
    throw error;
  }
}

function subjectPrefix(namespace: string): string {
  return `tsweb.secrets.${namespace}.`;
}

function streamOf(namespace: string, replicas: number) {
  const name = secretsStreamName(namespace);
  const prefix = subjectPrefix(namespace);
  const config = {
    ...{ name, subjects: [`${prefix}*`], storage: "file", num_replicas: replicas, discard: "old" },
    ...{ max_msgs_per_subject: 1, max_msgs: 64, max_bytes: 65_536, max_age: REMEMBER_FINGERPRINT_MS * NS_PER_MS },
  } satisfies Partial<StreamConfig>;
  return { name, prefix, config };
}
