/** The part of a server function's signature that a client requests at run time, when its types no longer exist. */
export interface RemoteSignature {
  /** The names of its positional parameters, in order; absent if it takes one object of its parameters. */
  readonly params?: readonly string[];
  /** Whether its values are streamed. */
  readonly stream: boolean;
}

/**
 * Returns the signature in the `details` of a 405 response; `null` if there is none, because the function does not
 * exist.
 *
 * @see docs/protocol.md 3.4
 */
export function readRemoteSignature(details: Readonly<Record<string, unknown>>): RemoteSignature | null {
  const { parameters, keyed, stream } = details;
  if (!Array.isArray(parameters) || !parameters.every((name) => typeof name === "string")) return null;
  return { stream: stream === true, ...(keyed === true ? {} : { params: parameters }) };
}
