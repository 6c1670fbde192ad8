/**
 * What every bus keeps, run over each of them. Its parts are in `bus/`, by concern.
 */
import { afterAll, beforeAll, describe } from "vitest";
import { endingTests } from "./bus/ending.ts";
import { gapTests } from "./bus/gaps.ts";
import { listTests } from "./bus/list.ts";
import { type Bench, Opened } from "./bus/opened.ts";
import { publishingTests } from "./bus/publishing.ts";
import { readingTests } from "./bus/reading.ts";
import { wakingTests } from "./bus/waking.ts";

export { Follower } from "./bus/follower.ts";
export { endOf, readAll } from "./bus/opened.ts";

/** Defines the tests of one bus. */
export function busTests(name: string, start: () => Promise<Bench>): void {
  describe(`the bus ${name}`, () => {
    let bench: Bench;
    let open: Opened;
    const opened = () => open;
    beforeAll(async () => {
      bench = await start();
      open = new Opened(bench);
    });
    afterAll(async () => {
      await open?.close();
      await bench?.stop();
    });

    publishingTests(opened);
    readingTests(opened);
    gapTests(opened);
    wakingTests(opened);
    listTests(opened);
    // What is lost is lost for all tests of this bus: they come last.
    endingTests(opened);
  });
}
