import { decodeCBOR } from "@levischuck/tiny-cbor";

/** The maximum size of a CBOR map, in bytes. A COSE key has 77 bytes, and few more with optional members. */
const MAX_BYTES = 1024;

/**
 * Returns the CBOR map that `bytes` contain exactly; `null` for anything else, also for a map that is followed by more
 * bytes or has over 1,024 bytes. The limit also bounds how deep values can nest.
 */
export function decodeCborMap(bytes: Uint8Array): Map<unknown, unknown> | null {
  if (bytes.byteLength > MAX_BYTES) return null;
  try {
    // The bytes are copied, because the decoder would read beyond the end of a view into a larger buffer.
    const value: unknown = decodeCBOR(Uint8Array.from(bytes));
    return value instanceof Map ? value : null;
  } catch {
    return null; // The error of the decoder names only an offset.
  }
}
