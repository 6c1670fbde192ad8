/**
 * The contract of a bus (docs/protocol.md 10.11): the suite that every implementation passes. The tests are in
 * `bus/`, by concern.
 */
import { afterAll, beforeAll, describe } from "vitest";
import { gapTests } from "./bus/gaps.ts";
import { lossAndCloseTests } from "./bus/loss-and-close.ts";
import { modelTests } from "./bus/model.ts";
import { notificationTests } from "./bus/notifications.ts";
import { oldestTests } from "./bus/oldest.ts";
import { type BusFixture, OpenBuses } from "./bus/open-buses.ts";
import { presenceTests } from "./bus/presence.ts";
import { presenceRoomTests } from "./bus/presence-room.ts";
import { publishingTests } from "./bus/publishing.ts";
import { readingTests } from "./bus/reading.ts";

export { endOf, readAll, whenResponding } from "./bus/open-buses.ts";
export { TestSubscriber } from "./bus/test-subscriber.ts";

/**
 * Defines the tests of one implementation.
 *
 * @param name completes "the bus …" in the report
 * @param start starts its server
 */
export function busTests(name: string, start: () => Promise<BusFixture>): void {
  describe(`the bus ${name}`, () => {
    let fixture: BusFixture;
    let buses: OpenBuses;
    const getBuses = () => buses;
    beforeAll(async () => {
      fixture = await start();
      buses = new OpenBuses(fixture);
    });
    afterAll(async () => {
      await buses?.close();
      await fixture?.stop();
    });

    publishingTests(getBuses);
    readingTests(getBuses);
    oldestTests(getBuses);
    gapTests(getBuses);
    notificationTests(getBuses);
    presenceTests(getBuses);
    presenceRoomTests(getBuses);
    modelTests(getBuses);
    // These tests delete the stored messages of all tests: they have to run last.
    lossAndCloseTests(getBuses);
  });
}
