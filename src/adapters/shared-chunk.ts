/** The chunks by their bytes, as long as these are used. */
const chunks = new WeakMap<Uint8Array, Buffer>();

/**
 * Returns bytes as a chunk of a chunked body, encoded once for all responses with the same bytes, which must not change.
 *
 * @see RFC 9112, section 7.1
 */
export function chunkOf(bytes: Uint8Array): Buffer {
  const existing = chunks.get(bytes);
  if (existing) return existing;
  const chunk = Buffer.concat([Buffer.from(`${bytes.byteLength.toString(16)}\r\n`), bytes, END]);
  chunks.set(bytes, chunk);
  return chunk;
}

const END = Buffer.from("\r\n");
