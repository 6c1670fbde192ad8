import type { StreamConfig } from "@nats-io/jetstream";
import { ConfigError } from "../../config/index.ts";

/** How many nanoseconds, in which NATS has all times, a millisecond has. */
export const NS_PER_MS = 1_000_000;

/** A setting of a stream that the bus cannot use. */
interface Requirement {
  readonly setting: string;
  /** Returns whether the stream has a value that the bus can use. */
  isMet(config: StreamConfig, expected: ExpectedStream): boolean;
  /** What a value that the bus cannot use would cause, and the value that it needs. */
  readonly reason: string;
}

/** The stream that a bus needs. */
export interface ExpectedStream {
  readonly name: string;
  readonly subjects: readonly string[];
  /**
   * For how long each message must stay stored, in nanoseconds; absent if the stream may remove its oldest messages at any
   * time, because readers notice it.
   */
  readonly keepNs?: number;
  /** For how long the stream must detect a message that is sent again, in nanoseconds. Absent: any time is enough. */
  readonly minDuplicateWindowNs?: number;
}

/** How many messages a stream has to have room for if each message must stay stored, and their bytes. */
const MIN_MESSAGES = 1_000_000;
const MIN_BYTES = 256 * 1024 ** 2;

/**
 * A reader decides by the message at its position whether later ones are complete. So a stream may lose messages at its
 * start only, and may contain no others.
 */
const REQUIREMENTS: readonly Requirement[] = [
  {
    setting: "subjects",
    isMet: ({ subjects }, expected) => String(subjects) === String(expected.subjects),
    reason: "it would store messages of other programs, or not those of this application",
  },
  {
    setting: "mirror, sources",
    isMet: ({ mirror, sources }) => !mirror && !sources?.length,
    reason: "it would store messages of other streams; it needs neither",
  },
  {
    setting: "retention",
    isMet: ({ retention }) => retention === "limits",
    reason: "it would remove messages that a consumer has acknowledged; it needs limits",
  },
  {
    setting: "discard",
    isMet: ({ discard }) => discard === "old",
    reason: "it would refuse messages when it is full; it needs old",
  },
  {
    setting: "max_msgs_per_subject",
    isMet: ({ max_msgs_per_subject }) => max_msgs_per_subject <= 0,
    reason: "it would remove messages of one channel in the middle of the stream; it needs -1",
  },
  {
    setting: "deny_delete, deny_purge",
    isMet: ({ deny_delete, deny_purge }) => deny_delete && deny_purge,
    reason: "messages in the middle of the stream could be deleted; it needs both",
  },
  {
    setting: "allow_rollup_hdrs, allow_msg_ttl, subject_transform",
    isMet: (config) =>
      !config.allow_rollup_hdrs && !isSet(config, "allow_msg_ttl") && !isSet(config, "subject_transform"),
    reason:
      "messages in the middle of the stream could be removed, or stored for another channel; it needs none of them",
  },
  {
    setting: "storage, max_age, max_msgs, max_bytes",
    isMet: ({ storage, max_age, max_msgs, max_bytes }, { keepNs }) =>
      keepNs === undefined ||
      (storage === "file" &&
        isNoLessThan(max_age, keepNs) &&
        isNoLessThan(max_msgs, MIN_MESSAGES) &&
        isNoLessThan(max_bytes, MIN_BYTES)),
    reason:
      "it would lose messages too early; it needs files, 8 days, and room for 1,000,000 messages and 256 MiB, or no limits",
  },
  {
    setting: "duplicate_window",
    isMet: ({ duplicate_window }, { minDuplicateWindowNs }) =>
      minDuplicateWindowNs === undefined || duplicate_window >= minDuplicateWindowNs,
    reason: "it would store a message twice or out of order after a server was frozen; it needs 30 s or more",
  },
  {
    setting: "no_ack, sealed",
    isMet: ({ no_ack, sealed }) => !no_ack && !sealed,
    reason: "it would not confirm messages, or not store any; it needs neither",
  },
];

/**
 * Checks an existing stream, which an administrator can have created.
 *
 * @throws ConfigError if it could lose messages without a gap, with the settings that have to be changed
 */
export function checkStreamConfig(config: StreamConfig, expected: ExpectedStream): void {
  const unmet = REQUIREMENTS.filter((requirement) => !requirement.isMet(config, expected));
  if (unmet.length === 0) return;
  const reasons = unmet.map(({ setting, reason }) => `${setting} (${reason})`);
  throw new ConfigError([
    {
      variable: "WEB_BUS_URL",
      problem: `is a NATS server whose stream ${expected.name} the bus cannot use. Its settings: ${reasons.join("; ")}.`,
      fix:
        `Delete the stream, then the bus creates it again: nats stream rm ${expected.name}. Or choose another ` +
        "namespace: end the URL with ?namespace=.",
    },
  ]);
}

/** Returns whether a limit of a stream is not below a minimum. 0 and -1 are no limit. */
function isNoLessThan(limit: number, minimum: number): boolean {
  return limit <= 0 || limit >= minimum;
}

/** Returns whether a stream has a setting that the installed client may not know. */
function isSet(config: StreamConfig, setting: string): boolean {
  return setting in config && Boolean(config[setting as keyof StreamConfig]);
}
