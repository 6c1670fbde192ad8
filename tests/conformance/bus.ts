/**
 * What every bus keeps, run over each of them. Its parts are in `bus/`, by concern.
 */
import { afterAll, beforeAll, describe } from "vitest";
import { gapTests } from "./bus/gaps.ts";
import { lossAndCloseTests } from "./bus/loss-and-close.ts";
import { modelTests } from "./bus/model.ts";
import { notificationTests } from "./bus/notifications.ts";
import { type BusFixture, OpenBuses } from "./bus/open-buses.ts";
import { publishingTests } from "./bus/publishing.ts";
import { readingTests } from "./bus/reading.ts";

export { endOf, readAll } from "./bus/open-buses.ts";
export { TestSubscriber } from "./bus/test-subscriber.ts";

/** Defines the tests of one bus. */
export function busTests(name: string, start: () => Promise<BusFixture>): void {
  describe(`the bus ${name}`, () => {
    let bench: BusFixture;
    let open: OpenBuses;
    const opened = () => open;
    beforeAll(async () => {
      bench = await start();
      open = new OpenBuses(bench);
    });
    afterAll(async () => {
      await open?.close();
      await bench?.stop();
    });

    publishingTests(opened);
    readingTests(opened);
    gapTests(opened);
    notificationTests(opened);
    modelTests(opened);
    // What is lost is lost for all tests of this bus: they come last.
    lossAndCloseTests(opened);
  });
}
