/** How a server function is called: what types say at compile time, known at run time. */
export interface RemoteSignature {
  /** The names of its positional parameters, in order; absent when it takes one object of them. */
  readonly params?: readonly string[];
  /** It gives its values one by one. */
  readonly stream: boolean;
}

/**
 * Reads how a function is called from the `details` of the answer 405; `null` when they do not say:
 * there is no such function.
 */
export function readRemoteSignature(details: Readonly<Record<string, unknown>>): RemoteSignature | null {
  const { parameters, keyed, stream } = details;
  if (!Array.isArray(parameters) || !parameters.every((name) => typeof name === "string")) return null;
  return { stream: stream === true, ...(keyed === true ? {} : { params: parameters }) };
}
