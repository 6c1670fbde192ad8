/** The version of a query's value, which pages send back when they resume. @see docs/protocol.md 10.13 */
import { createHash } from "node:crypto";
import { POSITION_PATTERN, type Position } from "../../backends/index.ts";

/** The length of the part of a version that identifies the value: 72 bits of its hash. */
const VALUE_ID_CHARS = 12;

/** The length of the name of a series. */
const SERIES_CHARS = 8;

const MAX_CHANNELS = 16;

/** The maximum length of a version: 16 channels, each with a tag of 11 characters and a position of 40. */
const MAX_VERSION_CHARS = MAX_CHANNELS * 53 + 40;

/** The parts of a version. */
export interface QueryVersion {
  /** Identifies the value. Equal values have equal ids in all processes. */
  readonly valueId: string;
  /** Names the runs of which the value is: those of one query in one process. */
  readonly series: string;
  /** The number of the run in its series. */
  readonly run: number;
  /** The position of each channel, read in one turn before the run began. */
  readonly positions: readonly Position[];
}

/** Returns what identifies a value. */
export function valueIdOf(json: string): string {
  return createHash("sha256").update(json).digest("base64url").slice(0, VALUE_ID_CHARS);
}

/** Returns the name of a new series. */
export function createSeriesName(random: () => number = Math.random): string {
  const name = () => Math.floor(random() * 36 ** 4).toString(36);
  return (name().padStart(4, "0") + name().padStart(4, "0")).slice(0, SERIES_CHARS);
}

/** Returns the text of a version. @param tags the tags of the channels, in the order of the positions */
export function formatVersion({ valueId, series, run, positions }: QueryVersion, tags: readonly string[]): string {
  const list = positions.map((position, i) => `${tags[i]}=${position}`).join();
  return `${valueId}_${list},${series}-${run.toString(36)}`;
}

const FORM = /^([\w-]{12})_(.+),([a-z0-9]{8})-([a-z0-9]{1,10})$/;

/**
 * Returns the parts of a version that a client has sent. It is not signed: a forged one has an effect only on what its sender
 * receives. The tags are not compared, since they change with the secret.
 *
 * @param count the number of the query's channels
 * @returns `null` for any other text
 */
export function parseVersion(text: string | undefined, count: number): QueryVersion | null {
  if (text === undefined || text.length > MAX_VERSION_CHARS) return null;
  const [, valueId, list, series, run] = FORM.exec(text) ?? [];
  if (valueId === undefined || list === undefined || series === undefined || run === undefined) return null;
  const positions = list.split(",", count + 1).map((item) => /^[\w-]{11}=(.*)$/.exec(item)?.[1] ?? "");
  if (positions.length !== count || !positions.every((position) => POSITION_PATTERN.test(position))) return null;
  return { valueId, series, run: Number.parseInt(run, 36), positions };
}
