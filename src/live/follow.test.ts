import { describe, expect, it } from "vitest";
import { recordedLog } from "#test/recorded-log";
import type { Bus, EntryListener } from "../backends/index.ts";
import { AppBus } from "./app-bus.ts";

/** Returns an application's bus in front of one whose messages the test delivers, at the position `p5`. */
async function follow() {
  let listener: EntryListener = () => undefined;
  let isStopped = false;
  const state = { fails: false };
  const bus: Partial<Bus> = {
    watch: async (_, added) => {
      listener = added;
      return () => {
        isStopped = true;
      };
    },
    position: async () => {
      if (state.fails) throw new Error("unreachable");
      return ["p5"];
    },
  };
  const appBus = new AppBus({ busUrl: undefined, busNamespace: "", log: recordedLog().log, fingerprints: [] });
  appBus.set(bus as Bus); // the methods that are called
  const received: (string | null)[] = [];
  const start = () => appBus.follow("news", (json) => received.push(json));
  return { received, start, state, deliver: ((entry) => listener(entry)) as EntryListener, isStopped: () => isStopped };
}

describe("AppBus.follow", () => {
  it("passes messages that follow each other", async () => {
    const { received, start, deliver } = await follow();
    await start();
    deliver({ position: "p6", after: "p5", data: "1" });
    deliver({ position: "p7", after: "p6", data: "2" });
    deliver({ position: "p9", after: "p7", data: "3" }); // the positions between belong to other channels
    expect(received).toEqual(["1", "2", "3"]);
  });

  it.each(["p6", "p7"])(
    "reports a message after %s, which was not received, and continues behind it",
    async (after) => {
      const { received, start, deliver } = await follow();
      await start();
      deliver({ position: "p8", after, data: "1" });
      deliver({ position: "p9", after: "p8", data: "2" });
      expect(received).toEqual([null, "2"]);
    },
  );

  it("reports that messages may have been missed, and progress without a message not", async () => {
    const { received, start, deliver } = await follow();
    await start();
    deliver();
    deliver({ position: "q1", after: "q0", data: "1" });
    deliver({ position: "q7" });
    deliver({ position: "q8", after: "q7", data: "2" });
    expect(received).toEqual([null, "1", "2"]);
  });

  it("rejects, and stops, if the position is not known", async () => {
    const { start, state, isStopped } = await follow();
    state.fails = true;
    await expect(start()).rejects.toThrow("unreachable");
    expect(isStopped()).toBe(true);
  });
});
