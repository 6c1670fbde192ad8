import { openAsBlob } from "node:fs";
import { type FileHandle, open, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ByteCounts, CONNECTION_CLOSE, ContextKey, type RequestContext, RequestError } from "../http/index.ts";
import type { Logger } from "../logging/index.ts";
import { forgetUploadDirectory, removeLeftovers, uploadDirectory } from "./upload-directory.ts";
import { type FullReason, type UploadBounds, UploadLimit } from "./upload-limit.ts";

/** The options of an {@link UploadStore}. */
export interface UploadStoreOptions extends UploadBounds {
  /** The folder for uploaded files. Default: the system's folder for temporary files. */
  readonly dir?: string | undefined;
  /** Returns the key by which a client is counted, for its address. */
  readonly keyOf: (address: string) => string;
  readonly log: Logger;
}

/** Stores the large files of requests on disk, within bounds, until the requests have ended. */
export class UploadStore {
  readonly limit: UploadLimit;
  /**
   * The bytes of the bodies of routes that each client has in memory at once. The maximum depends on the route.
   *
   * @see docs/protocol.md 2.7
   */
  readonly memoryCounts = new ByteCounts();
  readonly #dir: string;
  readonly #keyOf: (address: string) => string;
  readonly #log: Logger;
  /** The number of the next file. */
  #next = 1;
  #start: Promise<void> | undefined;

  constructor({ dir, keyOf, log, maxBytes, maxBytesPerClient }: UploadStoreOptions) {
    this.limit = new UploadLimit({ maxBytes, maxBytesPerClient });
    this.#dir = dir ?? tmpdir();
    this.#keyOf = keyOf;
    this.#log = log;
  }

  /** Removes what processes have left that were killed, once. Never rejects: what cannot be removed is logged. */
  start(): Promise<void> {
    this.#start ??= this.#removeLeftovers();
    return this.#start;
  }

  /**
   * Refuses a request whose body may not be stored, before anything of it is read.
   *
   * @param bytes the declared size of the body
   * @throws RequestError 503
   */
  checkRoom({ address }: RequestContext, bytes: number): void {
    const reason = this.limit.whyFull(this.#keyOf(address), bytes);
    if (reason) throw this.#fullError(reason);
  }

  /** Counts bytes of the client of a request. @throws RequestError 503 if there are too many */
  take({ address }: RequestContext, bytes: number): void {
    const reason = this.limit.take(this.#keyOf(address), bytes);
    if (reason) throw this.#fullError(reason);
  }

  /** Releases bytes that were counted before. */
  release({ address }: RequestContext, bytes: number): void {
    this.limit.release(this.#keyOf(address), bytes);
  }

  /**
   * Counts bytes in memory of the client of a request.
   *
   * @param maxBytes the maximum of the client
   * @throws RequestError 429 if there are too many
   */
  takeMemory({ address }: RequestContext, bytes: number, maxBytes: number): void {
    if (!this.memoryCounts.take(this.#keyOf(address), bytes, maxBytes)) throw tooManyBytesInMemoryError(maxBytes);
  }

  /** Releases bytes in memory that were counted before. */
  releaseMemory({ address }: RequestContext, bytes: number): void {
    this.memoryCounts.release(this.#keyOf(address), bytes);
  }

  /** Creates an empty file, which is removed when the request ends. @throws RequestError 503 if that fails */
  async create(context: RequestContext): Promise<StoredFile> {
    try {
      await this.start();
      const file = new StoredFile({ store: this, context, ...(await this.#open(String(this.#next++))) });
      context.onBodyReleased(() => void file.remove());
      return file;
    } catch (error) {
      throw this.failedError(error);
    }
  }

  /** Logs why a file could not be stored, and returns the error for the client: status 503. */
  failedError(err: unknown): RequestError {
    this.#log.error({ err, dir: this.#dir }, "An upload could not be stored. Set WEB_UPLOAD_DIR to a folder with room");
    return unavailableError("The server cannot store the upload now.");
  }

  /** Logs that a file could not be removed. */
  reportUnremoved(err: unknown): void {
    this.#log.error({ err }, "The file of an upload could not be removed");
  }

  /** Creates a file in the directory of this process, which is created again if somebody has removed it. */
  async #open(name: string, isRetry = false): Promise<{ path: string; handle: FileHandle }> {
    const directory = await uploadDirectory(this.#dir);
    const path = join(directory, name);
    try {
      // `wx`: never an existing file, and no link.
      return { path, handle: await open(path, "wx", 0o600) };
    } catch (error) {
      const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
      if (!isMissing || isRetry) throw error;
      await forgetUploadDirectory(this.#dir, directory);
      return this.#open(name, true);
    }
  }

  #fullError(reason: FullReason): RequestError {
    const { maxBytes, maxBytesPerClient } = this.limit.bounds;
    if (reason === "client") {
      return unavailableError(`Too many uploads at once: the limit is ${maxBytesPerClient} bytes for one client.`);
    }
    this.#log.warn({ maxBytes }, "Uploads are refused: WEB_MAX_UPLOAD_BYTES is reached");
    return unavailableError("The server has too many uploads at once.");
  }

  async #removeLeftovers(): Promise<void> {
    try {
      const removed = await removeLeftovers(this.#dir);
      if (removed.length > 0) this.#log.info({ removed }, "Removed the uploads of processes that were killed");
    } catch (err) {
      this.#log.warn({ err }, "Uploads of processes that were killed could not be removed");
    }
  }
}

/** The store of the application of a request. */
export const UPLOADS = new ContextKey<UploadStore>();

/**
 * Returns where the large files of a request are stored.
 *
 * @throws Error for a request outside an application
 */
export function uploadStoreOf(context: RequestContext): UploadStore {
  const store = context.get(UPLOADS);
  if (store) return store;
  throw new Error("This request has no store for uploads: it does not belong to an application.");
}

/** How long a client should wait before it sends an upload again, in seconds. */
const RETRY_SECONDS = 30;

function unavailableError(message: string): RequestError {
  return new RequestError("rate_limited", `${message} Retry later.`, {
    status: 503,
    headers: CONNECTION_CLOSE,
    details: { retry_after: RETRY_SECONDS },
  });
}

/** How long a client should wait before it sends a body again that did not fit into memory, in seconds. */
const MEMORY_RETRY_SECONDS = 5;

function tooManyBytesInMemoryError(maxBytes: number): RequestError {
  const message =
    `Too many request bodies at once: the limit of this route is ${maxBytes} bytes in memory for one client. Retry when ` +
    "earlier requests have been answered.";
  return new RequestError("rate_limited", message, {
    headers: CONNECTION_CLOSE,
    details: { retry_after: MEMORY_RETRY_SECONDS },
  });
}

interface StoredFileInit {
  readonly store: UploadStore;
  readonly path: string;
  readonly handle: FileHandle;
  readonly context: RequestContext;
}

/** A file of a request on disk. */
export class StoredFile {
  readonly #store: UploadStore;
  readonly #path: string;
  readonly #handle: FileHandle;
  readonly #context: RequestContext;
  #bytes = 0;

  constructor({ store, path, handle, context }: StoredFileInit) {
    this.#store = store;
    this.#path = path;
    this.#handle = handle;
    this.#context = context;
  }

  /** Appends bytes. @throws RequestError 503 above a bound, and if they cannot be written */
  async write(bytes: Uint8Array): Promise<void> {
    this.#store.take(this.#context, bytes.length);
    this.#bytes += bytes.length;
    try {
      await this.#handle.appendFile(bytes);
    } catch (error) {
      throw this.#store.failedError(error);
    }
  }

  /** Ends the writing. */
  async close(): Promise<void> {
    await this.#handle.close();
  }

  /**
   * Returns the content as a blob, which reads the file when it is read. It can be read until the request has ended.
   *
   * Deno reads the whole file into memory here.
   */
  asBlob(): Promise<Blob> {
    return openAsBlob(this.#path);
  }

  /** Removes the file. Never rejects. */
  async remove(): Promise<void> {
    await unlink(this.#path).catch((error) => this.#store.reportUnremoved(error));
    this.#store.release(this.#context, this.#bytes);
  }
}
