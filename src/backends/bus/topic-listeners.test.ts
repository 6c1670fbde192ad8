import { expect, it } from "vitest";
import type { Entry, EntryListener } from "./bus.ts";
import { TopicListeners } from "./topic-listeners.ts";

const entry = (position: string): Entry => ({ position, data: position });

/** Adds a listener that records the positions of its entries, and undefined where it has to read. */
function listen(listeners: TopicListeners, topic = "a") {
  const received: (string | undefined)[] = [];
  const listener: EntryListener = (entry) => void received.push(entry?.position);
  return { received, listener, remove: listeners.add(topic, listener) };
}

it("passes each entry to all listeners of its topic, in order, and to no listener of another topic", () => {
  const listeners = new TopicListeners();
  const [one, two, other] = [listen(listeners), listen(listeners), listen(listeners, "b")];
  for (const position of ["1", "2", "3"]) listeners.deliver("a", entry(position));
  listeners.deliver("c", entry("4"));
  expect([one.received, two.received, other.received]).toEqual([["1", "2", "3"], ["1", "2", "3"], []]);
});

it("calls all listeners without an entry when messages may have been missed", () => {
  const listeners = new TopicListeners();
  const [one, other] = [listen(listeners), listen(listeners, "b")];
  listeners.deliver("a");
  listeners.deliverMissed();
  expect([one.received, other.received]).toEqual([[undefined, undefined], [undefined]]);
});

it("does not call a removed listener, and removes a function that was added twice once at a time", () => {
  const listeners = new TopicListeners();
  const { received, listener, remove } = listen(listeners);
  const removeAgain = listeners.add("a", listener);
  expect([remove(), remove()]).toEqual([true, false]);
  listeners.deliver("a", entry("1"));
  expect(received).toEqual(["1"]);
  expect([[...listeners.topics], listeners.has("a")]).toEqual([["a"], true]);
  removeAgain();
  listeners.deliver("a", entry("2"));
  expect([received, listeners.has("a")]).toEqual([["1"], false]);
});

it("does not call a listener that another listener removes meanwhile, and none after it was cleared", () => {
  const listeners = new TopicListeners();
  let remove: () => boolean = () => false;
  listeners.add("a", () => remove());
  const second = listen(listeners);
  remove = second.remove;
  listeners.deliver("a", entry("1"));
  const third = listen(listeners);
  listeners.clear();
  listeners.deliver("a", entry("2"));
  expect([second.received, third.received, third.remove()]).toEqual([[], [], false]);
});
