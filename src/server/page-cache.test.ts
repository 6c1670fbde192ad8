import { describe, expect, it } from "vitest";
import { type CachedPage, MAX_CACHE_BYTES, PageCache, type Rendered } from "./page-cache.ts";

const ENTRY_BYTES = 512;

/** Returns a cache whose clock the test sets, and the number of its renderings. */
function createCache(maxBytes?: number) {
  const clock = { ms: 0, renderings: 0 };
  const cache = new PageCache<string>({ now: () => clock.ms, ...(maxBytes === undefined ? {} : { maxBytes }) });
  cache.isKeeping = true;
  const page = (bytes = 10): CachedPage => ({
    html: new Uint8Array(bytes),
    compressed: new Map(),
    etag: 'W/"x"',
    renderedAtMs: clock.ms,
  });
  const find = (key: string, bytes?: number) =>
    cache.find({ key, path: key.split("?")[0] ?? "", seconds: 60 }, async () => {
      clock.renderings++;
      return { page: page(bytes) };
    });
  return { cache, clock, find, page };
}

describe("PageCache", () => {
  it("has at most 64 MiB", () => expect(MAX_CACHE_BYTES).toBe(64 * 1024 * 1024));

  it("keeps a page for its seconds and not longer", async () => {
    const { clock, find } = createCache();
    await find("/a");
    clock.ms = 59_999;
    await find("/a");
    expect(clock.renderings).toBe(1);
    clock.ms = 60_000;
    await find("/a");
    expect(clock.renderings).toBe(2);
  });

  it("keeps as many bytes as the maximum, and drops the least recently used page above it", async () => {
    const key = "/aa"; // 6 bytes
    const each = ENTRY_BYTES + 6 + 1000;
    const { cache, clock, find } = createCache(2 * each);
    await find(key, 1000);
    await find("/bb", 1000);
    expect(cache.bytes).toBe(2 * each);
    await find(key, 1000); // used: /bb is now the oldest
    await find("/cc", 1000);
    expect(cache.bytes).toBe(2 * each);
    expect(clock.renderings).toBe(3);
    await find(key, 1000);
    expect(clock.renderings).toBe(3);
    await find("/bb", 1000);
    expect(clock.renderings).toBe(4);
  });

  it("does not keep a page that alone is larger than the maximum, and drops no other one for it", async () => {
    const { cache, clock, find } = createCache(2000);
    await find("/a", 100);
    await find("/b", 2000);
    await find("/b", 2000);
    expect(clock.renderings).toBe(3);
    await find("/a", 100);
    expect(clock.renderings).toBe(3);
    expect(cache.bytes).toBe(ENTRY_BYTES + 4 + 100);
  });

  it("stays below the maximum while a client requests any number of variants [CACHE-6]", async () => {
    const { cache, find } = createCache(100_000);
    for (let i = 0; i < 2_000; i++) await find(`/a?sort=${i}`, 1000);
    expect(cache.bytes).toBeLessThanOrEqual(100_000);
    expect(cache.bytes).toBeGreaterThan(95_000);
  });

  it("counts the compressed bodies of a page, which are made once", async () => {
    const { cache, find } = createCache();
    const { page } = await find("/a", 1000);
    if (!page) throw new Error("There is no page.");
    let compressions = 0;
    const compress = async () => {
      compressions++;
      return new Uint8Array(300);
    };
    const options = { key: "/a", coding: "br" };
    await Promise.all([cache.compressed(page, options, compress), cache.compressed(page, options, compress)]);
    expect(compressions).toBe(1);
    expect(cache.bytes).toBe(ENTRY_BYTES + 4 + 1300);
    cache.drop("/a");
    expect(cache.bytes).toBe(0);
  });

  it("renders an address once for all who request it meanwhile", async () => {
    const { cache, page } = createCache();
    let resolve: (value: Rendered<string>) => void = () => undefined;
    const promise = new Promise<Rendered<string>>((resolvePromise) => {
      resolve = resolvePromise;
    });
    let renderings = 0;
    const render = () => {
      renderings++;
      return promise;
    };
    const requested = [1, 2, 3].map(() => cache.find({ key: "/a", path: "/a", seconds: 60 }, render));
    const rendered = { page: page() };
    resolve(rendered);
    expect(await Promise.all(requested)).toEqual([rendered, rendered, rendered]);
    expect(renderings).toBe(1);
  });

  it("neither keeps what is not a page, nor a rendering that fails, and gives both to those who wait", async () => {
    const { cache, clock, find } = createCache();
    const options = { key: "/a", path: "/a", seconds: 60 };
    const failing = [1, 2].map(() => cache.find(options, () => Promise.reject(new Error("down"))));
    expect((await Promise.allSettled(failing)).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(await cache.find(options, async () => ({ page: null, other: "404" }))).toEqual({ page: null, other: "404" });
    await find("/a");
    expect(clock.renderings).toBe(1);
  });

  it("does not keep a rendering that was dropped while it ran, and starts another one", async () => {
    const { cache, clock, find, page } = createCache();
    let resolve: (value: Rendered<string>) => void = () => undefined;
    const promise = new Promise<Rendered<string>>((resolvePromise) => {
      resolve = resolvePromise;
    });
    const early = cache.find({ key: "/a", path: "/a", seconds: 60 }, () => promise);
    cache.drop("/a");
    const late = await find("/a");
    expect(clock.renderings).toBe(1);
    resolve({ page: page() });
    await early;
    expect((await find("/a")).page).toBe(late.page);
    expect(clock.renderings).toBe(1);
  });

  it("starts another rendering beside one that takes 30 seconds, whose result is not kept", async () => {
    const { cache, clock, find, page } = createCache();
    let resolve: (value: Rendered<string>) => void = () => undefined;
    const hanging = cache.find(
      { key: "/a", path: "/a", seconds: 60 },
      () =>
        new Promise((resolvePromise) => {
          resolve = resolvePromise;
        }),
    );
    clock.ms = 29_999;
    const waiting = find("/a");
    expect(clock.renderings).toBe(0);
    clock.ms = 30_000;
    const later = await find("/a");
    expect(clock.renderings).toBe(1);
    const rendered = { page: page() };
    resolve(rendered);
    expect([await hanging, await waiting]).toEqual([rendered, rendered]);
    expect((await find("/a")).page).toBe(later.page);
    expect(clock.renderings).toBe(1);
  });

  it("drops all variants of a path, and no other path", async () => {
    const { cache, clock, find } = createCache();
    for (const key of ["/a?1", "/a?2", "/b"]) await find(key);
    cache.drop("/a");
    for (const key of ["/a?1", "/a?2", "/b"]) await find(key);
    expect(clock.renderings).toBe(5);
    cache.drop(null);
    expect(cache.bytes).toBe(0);
  });

  it("keeps nothing while revalidations do not arrive", async () => {
    const { cache, clock, find } = createCache();
    cache.isKeeping = false;
    await find("/a");
    await find("/a");
    expect(clock.renderings).toBe(2);
    expect(cache.bytes).toBe(0);
  });
});
