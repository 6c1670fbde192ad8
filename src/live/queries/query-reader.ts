import { createHash } from "node:crypto";
import type { VerifiedSession } from "../../session/index.ts";
import { currentPositions } from "../channel.ts";
import type { QueryCall } from "./definition.ts";
import { type QueryHost, type QueryReader, runForSession, runShared } from "./query-run.ts";

/** The length of the id of a value, in bytes of its hash. */
const VALUE_ID_BYTES = 9;

/** Runs a query for each page. */
export class DirectReader implements QueryReader {
  readonly #host: QueryHost;

  constructor(host: QueryHost) {
    this.#host = host;
  }

  async read(call: QueryCall, session: VerifiedSession | null): Promise<{ json: string; version: string }> {
    const positions = await currentPositions(call.channels, "No live value can be read");
    const shared = await runShared(call, this.#host);
    const outcome = shared.kind === "session" ? await runForSession(call, this.#host, session) : shared;
    if (outcome.kind !== "value") throw outcome.kind === "failed" ? outcome.cause : new Error("A run was shared.");
    const { json } = outcome;
    const valueId = createHash("sha256").update(json).digest().subarray(0, VALUE_ID_BYTES).toString("base64url");
    return { json, version: `${valueId}_${positions.join(",")}` };
  }
}
