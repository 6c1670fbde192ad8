import { expect, it } from "vitest";
import type { Notification } from "./bus.ts";
import { ChannelNotifier } from "./channel-notifier.ts";

const message = (position: string) => ({ position, data: position });
const turn = () => new Promise((resolve) => setImmediate(resolve));

function watch(wakes: ChannelNotifier, channel = "a") {
  const woken: (string | undefined)[] = [];
  const stop = wakes.add(channel, (fresh?: Notification) => {
    woken.push(fresh && `${fresh.after}: ${fresh.messages.map(({ data }) => data).join()}`);
  });
  return { woken, stop };
}

it("hands on together what came at one go", async () => {
  const wakes = new ChannelNotifier();
  const { woken } = watch(wakes);
  wakes.notify("a", { after: "0", message: message("1") });
  wakes.notify("a", { after: "1", message: message("2") });
  expect(woken).toEqual([]);
  await turn();
  wakes.notify("a", { after: "2", message: message("3") });
  wakes.notify("b", { after: "2", message: message("x") });
  await turn();
  expect(woken).toEqual(["0: 1,2", "2: 3"]);
});

it.each([
  ["at one go", false],
  ["one after the other", true],
])("hands on nothing where something is missing, %s, and goes on from there", async (_, isApart) => {
  const wakes = new ChannelNotifier();
  const { woken } = watch(wakes);
  wakes.notify("a", { after: "0", message: message("1") });
  if (isApart) await turn();
  wakes.notify("a", { after: "2", message: message("3") });
  await turn();
  wakes.notify("a", { after: "3", message: message("4") });
  await turn();
  expect(woken).toEqual(isApart ? ["0: 1", undefined, "3: 4"] : [undefined, "3: 4"]);
});

it("goes on from the one before where nothing is said, and has the first one read", async () => {
  const wakes = new ChannelNotifier();
  const { woken } = watch(wakes);
  for (const position of ["1", "2", "3"]) {
    wakes.notify("a", { message: message(position) });
    if (position !== "2") await turn();
  }
  expect(woken).toEqual([undefined, "1: 2,3"]);
});

it("has it read after an alarm, and after a doubt, which wakes nobody by itself", async () => {
  const wakes = new ChannelNotifier();
  const { woken } = watch(wakes);
  const { woken: other } = watch(wakes, "b");
  wakes.notify("a", { message: message("1") });
  wakes.notifyAll();
  await turn();
  expect([woken, other]).toEqual([[undefined], [undefined]]);
  wakes.notify("a", { message: message("2") });
  await turn();
  wakes.invalidate();
  await turn();
  expect(woken).toHaveLength(2);
  wakes.notify("a", { message: message("3") });
  wakes.notify("a", { message: message("4") });
  await turn();
  expect(woken).toEqual([undefined, undefined, undefined]);
});

it("wakes nobody who has stopped, not even for what came before", async () => {
  const wakes = new ChannelNotifier();
  const { woken, stop } = watch(wakes);
  const { woken: rest } = watch(wakes);
  wakes.notify("a", { after: "0", message: message("1") });
  expect([stop(), stop()]).toEqual([true, false]);
  await turn();
  expect([woken, rest]).toEqual([[], ["0: 1"]]);
  wakes.notify("a", { after: "1", message: message("2") });
  wakes.clear();
  await turn();
  expect(rest).toEqual(["0: 1"]);
  expect(wakes.has("a")).toBe(false);
});
