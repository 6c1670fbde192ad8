import { Buffer } from "node:buffer";

/** The memory of all cached pages of a process, in bytes. */
export const MAX_CACHE_BYTES = 64 * 1024 * 1024;

/** What an entry takes besides its texts, in bytes: the objects, and the places in the maps. */
const ENTRY_BYTES = 512;

/** How long requests wait for a rendering that another one has caused, in milliseconds. One that hangs would make its page unreachable. */
const MAX_WAIT_MS = 30_000;

/** A page as it is kept. */
export interface CachedPage {
  readonly html: Uint8Array<ArrayBuffer>;
  /** The HTML in the content codings in which it was sent. */
  readonly compressed: Map<string, Promise<Uint8Array<ArrayBuffer>>>;
  readonly etag: string;
  /** When its rendering began, by `performance.now`. */
  readonly renderedAtMs: number;
}

/** What was rendered: a page to keep, or what each request of it is answered with. */
export type Rendered<T> = { readonly page: CachedPage } | { readonly page: null; readonly other: T };

interface Entry {
  readonly path: string;
  readonly page: CachedPage;
  bytes: number;
}

interface Rendering<T> {
  readonly path: string;
  readonly result: Promise<Rendered<T>>;
  readonly startedAtMs: number;
  /** Whether the page has to be rendered again: it was revalidated meanwhile. */
  isStale: boolean;
}

/**
 * The cached pages of one application in this process. Each address is rendered once at a time: whoever requests it within
 * 30 seconds waits for this rendering. The least recently used pages are dropped when all together take more than the maximum, so that a client
 * that requests many variants drops other pages, but takes no more memory.
 */
export class PageCache<T> {
  /** The least recently used one first. */
  readonly #entries = new Map<string, Entry>();
  readonly #renderings = new Map<string, Rendering<T>>();
  readonly #maxBytes: number;
  readonly #now: () => number;
  #bytes = 0;
  /** Whether renderings are kept: revalidations of other processes arrive. */
  isKeeping = false;

  constructor({ maxBytes = MAX_CACHE_BYTES, now = () => performance.now() } = {}) {
    this.#maxBytes = maxBytes;
    this.#now = now;
  }

  /** The memory of all pages, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Returns the page of a key: one that is not older than `seconds`, or the result of the rendering that is under way, or that of a
   * new one. Rejects if that rendering does.
   *
   * @param path the path of the page, by which it is dropped
   */
  async find(
    { key, path, seconds }: { readonly key: string; readonly path: string; readonly seconds: number },
    render: () => Promise<Rendered<T>>,
  ): Promise<Rendered<T>> {
    const entry = this.#entries.get(key);
    if (entry && this.#now() - entry.page.renderedAtMs < seconds * 1000) {
      this.#entries.delete(key);
      this.#entries.set(key, entry);
      return { page: entry.page };
    }
    if (entry) this.#remove(key, entry);
    const running = this.#renderings.get(key);
    const startedAtMs = this.#now();
    if (running && startedAtMs - running.startedAtMs < MAX_WAIT_MS) return running.result;
    if (running) running.isStale = true; // it may end after the next one, and is older
    const rendering: Rendering<T> = { path, result: render(), startedAtMs, isStale: false };
    this.#renderings.set(key, rendering);
    try {
      const rendered = await rendering.result;
      if (rendered.page && !rendering.isStale && this.isKeeping) this.#add(key, path, rendered.page);
      return rendered;
    } finally {
      if (this.#renderings.get(key) === rendering) this.#renderings.delete(key);
    }
  }

  /** Returns the HTML of a page in a content coding. It is compressed once, and kept with the page. */
  async compressed(
    page: CachedPage,
    { key, coding }: { readonly key: string; readonly coding: string },
    compress: (html: Uint8Array<ArrayBuffer>) => Promise<Uint8Array<ArrayBuffer>>,
  ): Promise<Uint8Array<ArrayBuffer>> {
    const known = page.compressed.get(coding);
    if (known) return known;
    const compressing = compress(page.html);
    page.compressed.set(coding, compressing);
    const { byteLength } = await compressing;
    const entry = this.#entries.get(key);
    if (entry?.page === page) {
      entry.bytes += byteLength;
      this.#bytes += byteLength;
      this.#evict();
    }
    return compressing;
  }

  /** Drops a path with all its variants, or everything: also what is being rendered, which is then not kept. */
  drop(path: string | null): void {
    for (const [key, entry] of this.#entries) if (path === null || entry.path === path) this.#remove(key, entry);
    for (const [key, rendering] of this.#renderings) {
      if (path !== null && rendering.path !== path) continue;
      rendering.isStale = true;
      this.#renderings.delete(key); // requests from now on start another one
    }
  }

  #add(key: string, path: string, page: CachedPage): void {
    const bytes = ENTRY_BYTES + 2 * key.length + page.html.byteLength;
    if (bytes > this.#maxBytes) return;
    const earlier = this.#entries.get(key);
    if (earlier) this.#remove(key, earlier);
    // The key is copied: it may be cut from the head of a request, which would stay in memory.
    this.#entries.set(Buffer.from(key).toString(), { path, page, bytes });
    this.#bytes += bytes;
    this.#evict();
  }

  #evict(): void {
    for (const [key, entry] of this.#entries) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#remove(key, entry);
    }
  }

  #remove(key: string, { bytes }: Entry): void {
    if (this.#entries.delete(key)) this.#bytes -= bytes;
  }
}
