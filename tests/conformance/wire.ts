/**
 * The wire: one suite, run over every way to an application. The rows themselves need no test
 * runner, so that `npm run matrix` runs them against servers on other runtimes.
 */
import { afterAll, beforeAll, describe, it } from "vitest";
import { ROWS, type Row, type Site, type Variant } from "./wire/index.ts";

/** How an application is reached. */
export interface Way {
  /** Opens it, configured as a variant says. Each is asked for once. */
  open(variant: Variant): Promise<Site>;
  close(): Promise<void>;
}

/**
 * Runs all rows over one way to an application.
 *
 * @param before what stands before it, and answers some rows in its place
 */
export function wireTests(name: string, start: () => Promise<Way>, before: readonly Row["first"][] = []): void {
  describe(`the wire, ${name}`, () => {
    let way: Way;
    const sites = new Map<Variant, Promise<Site>>();

    beforeAll(async () => {
      way = await start();
    });
    afterAll(async () => {
      await Promise.allSettled(sites.values());
      await way?.close();
    });

    const siteOf = (variant: Variant) => {
      const site = sites.get(variant) ?? way.open(variant);
      sites.set(variant, site);
      return site;
    };

    for (const [title, rows] of Object.entries(ROWS)) {
      const ours = rows.filter(({ first }) => first === undefined || !before.includes(first));
      describe(title, () => {
        for (const { name, variant, run } of ours) it(name, async () => run(await siteOf(variant)));
      });
    }
  });
}
