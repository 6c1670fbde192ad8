// What the protected servers of all frameworks share.
import { randomBytes } from "node:crypto";

/** The number of calls that a client may send in a minute: one that the load never reaches, unless the limit itself is tested. */
export const CALLS_PER_MINUTE = Number(process.env.BENCH_CALL_LIMIT ?? 1_000_000_000);

/** The key of session cookies, in bytes. */
export const SESSION_KEY = randomBytes(32);

/** The maximum of a request body, in bytes: the default of Fastify and tsweb. */
export const MAX_BODY_BYTES = 1024 * 1024;
