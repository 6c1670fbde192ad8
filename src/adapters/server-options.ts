import type { ServerOptions } from "node:http";
import { BODY_TIMEOUT_SECONDS } from "../bodies/index.ts";
import { fastServerOptions } from "./fast/index.ts";

/** How long a request's headers may take to arrive: limits clients that send them byte by byte (Slowloris). */
const HEADERS_TIMEOUT_MS = 10_000;

/** How often Node checks its time limits. */
const CHECK_INTERVAL_MS = 2_000;

/**
 * How long a request may take to arrive, body included. It limits bodies that no handler reads. A body that is read
 * has a shorter limit.
 */
const REQUEST_TIMEOUT_MS = HEADERS_TIMEOUT_MS + BODY_TIMEOUT_SECONDS * 1000 + 2 * CHECK_INTERVAL_MS;

/** The limits of our own server. */
export const SERVER_LIMITS = {
  requestTimeout: REQUEST_TIMEOUT_MS,
  headersTimeout: HEADERS_TIMEOUT_MS,
  connectionsCheckingInterval: CHECK_INTERVAL_MS,
  requireHostHeader: false, // requireHost() rejects such requests, with ids
} as const;

/**
 * Returns the options of our own server.
 *
 * @param versions `process.versions`
 */
export function serverOptions(versions: Readonly<Record<string, string | undefined>>): ServerOptions {
  return { ...SERVER_LIMITS, ...fastServerOptions(versions) };
}
