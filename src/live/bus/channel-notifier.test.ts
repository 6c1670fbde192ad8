import { expect, it } from "vitest";
import type { Notification } from "./bus.ts";
import { ChannelNotifier } from "./channel-notifier.ts";

const message = (position: string) => ({ position, data: position });
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** Adds a listener that records its notifications as `after: messages`, and undefined where it has to read. */
function listen(notifier: ChannelNotifier, channel = "a") {
  const notifications: (string | undefined)[] = [];
  const remove = notifier.add(channel, (notification?: Notification) => {
    notifications.push(
      notification && `${notification.after}: ${notification.messages.map(({ data }) => data).join()}`,
    );
  });
  return { notifications, remove };
}

it("passes on the messages of one turn together, and the messages of other channels to no listener", async () => {
  const notifier = new ChannelNotifier();
  const { notifications } = listen(notifier);
  notifier.notify("a", { after: "0", message: message("1") });
  notifier.notify("a", { after: "1", message: message("2") });
  expect(notifications).toEqual([]);
  await nextTurn();
  notifier.notify("a", { after: "2", message: message("3") });
  notifier.notify("b", { after: "2", message: message("x") });
  await nextTurn();
  expect(notifications).toEqual(["0: 1,2", "2: 3"]);
});

it.each([
  ["in one turn", false],
  ["in different turns", true],
])("passes on no messages when one is missing between two %s, and continues after it", async (_, isNextTurn) => {
  const notifier = new ChannelNotifier();
  const { notifications } = listen(notifier);
  notifier.notify("a", { after: "0", message: message("1") });
  if (isNextTurn) await nextTurn();
  notifier.notify("a", { after: "2", message: message("3") });
  await nextTurn();
  notifier.notify("a", { after: "3", message: message("4") });
  await nextTurn();
  expect(notifications).toEqual(isNextTurn ? ["0: 1", undefined, "3: 4"] : [undefined, "3: 4"]);
});

it("continues after the previous message if no position is passed, and lets listeners read the first one", async () => {
  const notifier = new ChannelNotifier();
  const { notifications } = listen(notifier);
  for (const position of ["1", "2", "3"]) {
    notifier.notify("a", { message: message(position) });
    if (position !== "2") await nextTurn();
  }
  expect(notifications).toEqual([undefined, "1: 2,3"]);
});

it("lets listeners read after notifyAll, and after invalidate, which itself notifies no listener", async () => {
  const notifier = new ChannelNotifier();
  const { notifications } = listen(notifier);
  const { notifications: others } = listen(notifier, "b");
  notifier.notify("a", { message: message("1") });
  notifier.notifyAll();
  await nextTurn();
  expect([notifications, others]).toEqual([[undefined], [undefined]]);
  notifier.notify("a", { message: message("2") });
  await nextTurn();
  notifier.invalidate();
  await nextTurn();
  expect(notifications).toHaveLength(2);
  notifier.notify("a", { message: message("3") });
  notifier.notify("a", { message: message("4") });
  await nextTurn();
  expect(notifications).toEqual([undefined, undefined, undefined]);
});

it("does not call a removed listener, not even for messages from before its removal", async () => {
  const notifier = new ChannelNotifier();
  const { notifications, remove } = listen(notifier);
  const { notifications: others } = listen(notifier);
  notifier.notify("a", { after: "0", message: message("1") });
  expect([remove(), remove()]).toEqual([true, false]);
  await nextTurn();
  expect([notifications, others]).toEqual([[], ["0: 1"]]);
  notifier.notify("a", { after: "1", message: message("2") });
  notifier.clear();
  await nextTurn();
  expect(others).toEqual(["0: 1"]);
  expect(notifier.has("a")).toBe(false);
});
