import type { Readable } from "node:stream";
import type { RequestContext } from "../http/index.ts";
import { type StoredFile, uploadStoreOf } from "./upload-store.ts";

/** The maximum size of a file that is kept in memory, in bytes. A larger one is stored on disk. */
export const MAX_MEMORY_FILE_BYTES = 64 * 1024;

/** The maximum of bytes of all files of a form that are kept in memory. */
export const MAX_MEMORY_BYTES = 1024 * 1024;

/** Stores the files of one form: small ones in memory, all others on disk until the request has ended. */
export class FormFiles {
  /** Whether bytes are being written. */
  isStoring = false;
  readonly #context: RequestContext;
  #memoryBytes = 0;
  /** Ends when the file before has been stored. */
  #previous: Promise<unknown> = Promise.resolve();

  constructor(context: RequestContext) {
    this.#context = context;
  }

  /**
   * Reads the content of a file to its end. Resolves with a blob that can be read until the request has ended. Files are
   * stored one after the other: a small part of a body may contain many.
   *
   * @throws RequestError 429 or 503 if there are too many bytes; 503 if they cannot be stored
   */
  store(content: Readable): Promise<Blob> {
    const stored = this.#previous.then(() => this.#store(content));
    this.#previous = stored.catch(() => undefined); // the caller receives the error
    return stored;
  }

  async #store(content: Readable): Promise<Blob> {
    const kept: Uint8Array<ArrayBuffer>[] = [];
    let size = 0;
    let file: StoredFile | undefined;
    try {
      // The parser's stream has no encoding, so that its chunks are bytes.
      for await (const chunk of content as AsyncIterable<Uint8Array>) {
        size += chunk.length;
        if (!file && !this.#fitsInMemory(size)) {
          this.isStoring = true;
          file = await uploadStoreOf(this.#context).create(this.#context);
          for (const earlier of kept.splice(0)) await file.write(earlier);
        }
        this.isStoring = true;
        if (file) await file.write(chunk);
        else kept.push(new Uint8Array(chunk)); // a copy: the chunk is a part of a larger buffer
        this.isStoring = false;
      }
      this.isStoring = true;
    } finally {
      await file?.close();
    }
    const blob = await file?.asBlob();
    this.isStoring = false;
    if (blob) return blob;
    this.#context.takeBodyBytes(size);
    this.#memoryBytes += size;
    return new Blob(kept);
  }

  #fitsInMemory(size: number): boolean {
    return size <= MAX_MEMORY_FILE_BYTES && this.#memoryBytes + size <= MAX_MEMORY_BYTES;
  }
}
