/**
 * The tests of a bus whose server crashes, hangs, is not running, or was restored from a backup. They run with
 * each bus that has a server, against a real one. They are concurrent, because they wait for time limits of seconds.
 */

import { describe, it, type TestContext } from "vitest";
import { atMost } from "#test/read-limit";
import { type LogLine, recordedLog } from "#test/recorded-log";
import type { Bus, Position } from "../../src/backends/index.ts";
import type { Logger } from "../../src/logging/index.ts";
import { endOf, readAll, TestSubscriber, whenResponding } from "../conformance/bus.ts";

/** A server that a test can kill, pause, and restore to an earlier state. */
export interface ControllableServer {
  readonly url: string;
  restart(): Promise<void>;
  kill(): Promise<void>;
  pause(): void | Promise<void>;
  resume(): void;
  save(): void;
  restore(): void;
  stop(): Promise<void>;
}

/** One bus to be tested. */
export interface BusFaultFixture {
  /** Starts a server that stores acknowledged messages on disk. If there is a password, the server requires it. */
  start(password?: string): Promise<ControllableServer>;
  open(url: string, log: Logger): Bus;
  /** Ends the subscriptions of all listeners, without ending any other connection. */
  disconnectListeners(url: string): Promise<void>;
  /** The name of the server in log lines. */
  readonly service: string;
}

/** The outcome of one `publish`. The text of its message is `[publisher,number]`. */
interface Outcome {
  readonly publisher: number;
  readonly number: number;
  readonly isStored: boolean;
}

/** Publishes one message after another until it is stopped. Each message is published once, also after a failure. */
function publishContinuously(bus: Bus, channel: string, publisher: number) {
  const outcomes: Outcome[] = [];
  let isStopping = false;
  const ended = (async () => {
    for (let number = 0; !isStopping; number++) {
      const isStored = await bus.publish(channel, JSON.stringify([publisher, number])).then(
        () => true,
        () => false,
      );
      outcomes.push({ publisher, number, isStored });
    }
  })();
  const stop = () => {
    isStopping = true;
    return ended;
  };
  return { outcomes, stop };
}

const countStored = (outcomes: readonly Outcome[]) => outcomes.filter(({ isStored }) => isStored).length;

/** Defines the tests of one bus. */
export function busFaultTests(name: string, fixture: BusFaultFixture): void {
  describe.concurrent(`the bus ${name}`, { timeout: 240_000 }, () => {
    const unreachable = `${fixture.service} is unreachable; retrying`;
    const reachable = `${fixture.service} is reachable again`;
    /** Returns the `expect` of the test, and functions whose servers, buses and subscribers end with it. */
    function setUp({ expect, onTestFinished }: TestContext) {
      return {
        expect,

        async start(password?: string): Promise<ControllableServer> {
          const server = await fixture.start(password);
          onTestFinished(() => server.stop());
          return server;
        },

        open(url: string): { bus: Bus; lines: LogLine[] } {
          const { log, lines } = recordedLog();
          const bus = fixture.open(url, log);
          onTestFinished(() => bus.close());
          return { bus, lines };
        },

        async subscribe(bus: Bus, channel: string): Promise<TestSubscriber> {
          const subscriber = await TestSubscriber.start(bus, channel);
          onTestFinished(() => subscriber.stop());
          return subscriber;
        },
      };
    }

    it("delivers every stored message once and in order while its server is killed four times", async (test) => {
      const { expect, start, open, subscribe } = setUp(test);
      const server = await start();
      const buses = [open(server.url).bus, open(server.url).bus, open(server.url).bus];
      const [first = open(server.url).bus] = buses;
      const channels = ["a", "b", "c"];
      const starts = await whenResponding(() => first.position(channels));
      const subscribers = await Promise.all(channels.flatMap((channel) => buses.map((bus) => subscribe(bus, channel))));
      const publishers = channels.flatMap((channel) =>
        buses.map((bus, publisher) => ({ channel, ...publishContinuously(bus, channel, publisher) })),
      );

      const leastStored = () => Math.min(...publishers.map(({ outcomes }) => countStored(outcomes)));
      for (let kill = 1; kill <= 4; kill++) {
        const before = leastStored();
        await expect.poll(leastStored, { interval: 5 }).toBeGreaterThan(before + 25);
        await server.kill();
        await server.restart();
      }
      const before = leastStored();
      await expect.poll(leastStored).toBeGreaterThan(before + 10);
      await Promise.all(publishers.map(({ stop }) => stop()));

      for (const [index, channel] of channels.entries()) {
        const stored = await readAll(first, channel, String(starts[index]));
        const outcomes = publishers.filter((each) => each.channel === channel).flatMap((each) => each.outcomes);
        const texts = stored.map(({ data }) => data);
        expect(new Set(texts).size, "no message is stored twice").toBe(texts.length);
        const lost = outcomes.filter(
          ({ publisher, number, isStored }) => isStored && !texts.includes(JSON.stringify([publisher, number])),
        );
        expect(lost, "messages that were stored and are missing").toEqual([]);
        const pairs = texts.map((text) => JSON.parse(text) as [number, number]); // the format of Outcome
        for (const publisher of buses.keys()) {
          const numbers = pairs.filter(([by]) => by === publisher).map(([, number]) => number);
          expect(numbers, "the order of each publisher").toEqual([...numbers].sort((one, two) => one - two));
        }
        for (const subscriber of subscribers.slice(index * buses.length, (index + 1) * buses.length)) {
          await expect.poll(() => subscriber.received.length).toBe(stored.length);
          expect(subscriber.received).toEqual(stored);
          expect(subscriber.gaps).toBe(0);
        }
      }
      // No call of `publish` failed because of the crashes.
      expect(publishers.flatMap(({ outcomes }) => outcomes).filter(({ isStored }) => !isStored)).toEqual([]);
    });

    it("waits for a server that hangs for some seconds, keeps the order, and stores no message twice", async (test) => {
      const { expect, start, open, subscribe } = setUp(test);
      const server = await start();
      const { bus } = open(server.url);
      const { bus: other } = open(server.url);
      const subscriber = await subscribe(other, "a");
      const from = await endOf(bus, "a");
      await bus.publish("a", "0");
      await server.pause();
      const pending = [1, 2, 3].map((at) => bus.publish("a", String(at)));
      // Long enough that requests in flight time out and are sent again, and 6 seconds less than `publish` waits.
      for (let wait = 0; wait < 2; wait++) {
        await expect(other.position(["a"])).rejects.toThrow("did not respond within 2 s");
      }
      server.resume();
      await Promise.all(pending);
      await bus.publish("a", "4");
      expect((await readAll(bus, "a", from)).map(({ data }) => data)).toEqual(["0", "1", "2", "3", "4"]);
      await expect.poll(() => subscriber.received.map(({ data }) => data)).toEqual(["0", "1", "2", "3", "4"]);
    });

    it("rejects in time when its server hangs, and delivers the pending message once or never", async (test) => {
      const { expect, start, open, subscribe } = setUp(test);
      const server = await start();
      const { bus, lines } = open(server.url);
      const { bus: other } = open(server.url);
      const subscriber = await subscribe(other, "a");
      const from = await endOf(bus, "a");
      await bus.publish("a", '"before"');
      await server.pause();
      const startedAt = performance.now();
      const rejections = [
        expect(bus.position(["a"])).rejects.toThrow("did not respond within 2 s"),
        expect(bus.read("a", from, atMost(10))).rejects.toThrow("did not respond within 2 s"),
        expect(open(server.url).bus.watch("a", () => undefined)).rejects.toThrow("did not respond within 2 s"),
      ];
      const lost = expect(bus.publish("a", '"during"')).rejects.toThrow(
        "did not store the message within 10 s; it may or may not be delivered",
      );
      await Promise.all(rejections);
      expect(performance.now() - startedAt).toBeLessThan(8_000);
      await lost;
      expect(performance.now() - startedAt).toBeLessThan(20_000);
      server.resume();
      await bus.publish("a", '"after"');
      await bus.publish("a", '"last"');
      const texts = (await readAll(bus, "a", from)).map(({ data }) => data);
      expect(texts.filter((text) => text !== '"during"')).toEqual(['"before"', '"after"', '"last"']);
      const arrived = texts.flatMap((text, at) => (text === '"during"' ? [at] : []));
      expect([[], [1]], "in its order, or never").toContainEqual(arrived);
      await expect.poll(() => subscriber.received.map(({ data }) => data)).toEqual(texts);
      expect(lines.map(({ message }) => message)).toEqual([unreachable, reachable]);
    });

    it("waits for a server that is not running yet, and rejects in time until it is", async (test) => {
      const { expect, start, open, subscribe } = setUp(test);
      const server = await start();
      await server.kill();
      const { bus, lines } = open(server.url);
      await expect(bus.position(["a"])).rejects.toThrow("did not respond within 2 s");
      await expect(bus.watch("a", () => undefined)).rejects.toThrow("did not respond within 2 s");
      expect(lines.map(({ message }) => message)).toEqual([unreachable]);
      const early = bus.publish("a", "1");
      await server.restart();
      await early;
      const subscriber = await subscribe(bus, "a");
      await bus.publish("a", "2");
      await expect.poll(() => subscriber.received.map(({ data }) => data)).toEqual(["2"]);
      expect(lines.map(({ message }) => message)).toEqual([unreachable, reachable]);
    });

    it("rejects pending operations when it is closed", async (test) => {
      const { expect, start, open } = setUp(test);
      const server = await start();
      const { bus } = open(server.url);
      const from = await endOf(bus, "a");
      await server.pause();
      const operations = [bus.publish("a", "1"), bus.position(["a"]), bus.read("a", from, atMost(1))];
      const rejections = operations.map((each) => expect(each).rejects.toThrow("closed"));
      const startedAt = performance.now();
      await bus.close();
      await Promise.all(rejections);
      expect(performance.now() - startedAt).toBeLessThan(5_000);
      server.resume();
    });

    it("reports a gap for lost positions when its server was restored to an earlier state, also after new messages", async (test) => {
      const { expect, start, open } = setUp(test);
      const server = await start();
      let { bus } = open(server.url);
      for (let at = 0; at < 5; at++) await bus.publish("a", String(at));
      const kept = await endOf(bus, "a");
      await bus.close();
      await server.kill();
      server.save();
      await server.restart();
      bus = open(server.url).bus;
      const lost: Position[] = [];
      for (let at = 0; at < 5; at++) lost.push(await bus.publish("a", `"lost ${at}"`));
      lost.push(await endOf(bus, "a"));
      await bus.close();
      await server.kill();
      server.restore();
      await server.restart();
      bus = open(server.url).bus;
      // The history is first shorter than the lost one, then equally long, then longer.
      for (let at = 0; at < 8; at++) {
        for (const position of lost) {
          expect(await whenResponding(() => bus.read("a", position, atMost(10))), `${at}`).toMatchObject({
            gap: true,
            messages: [],
          });
        }
        expect(await readAll(bus, "a", kept)).toHaveLength(at);
        await bus.publish("a", `"new ${at}"`);
      }
    });

    it("subscribes again when only the connections of listeners were lost", async (test) => {
      const { expect, start, open, subscribe } = setUp(test);
      const server = await start();
      const { bus } = open(server.url);
      const subscriber = await subscribe(bus, "a");
      await bus.publish("a", "0");
      await expect.poll(() => subscriber.received.length).toBe(1);
      for (let at = 1; at <= 3; at++) {
        await fixture.disconnectListeners(server.url);
        await bus.publish("a", String(at));
        await expect.poll(() => subscriber.received.length).toBe(at + 1);
      }
      expect(subscriber.received.map(({ data }) => data)).toEqual(["0", "1", "2", "3"]);
      expect(subscriber.gaps).toBe(0);
    });

    it("authenticates by the password, which is in no log line and no error message", async (test) => {
      const { expect, start, open } = setUp(test);
      const server = await start("mellon-0");
      const { bus, lines } = open(server.url);
      await bus.publish("a", "1");
      await server.kill();
      const error = await bus.position(["a"]).catch(String);
      await server.restart();
      await bus.publish("a", "2");
      const wrong = open(server.url.replace("mellon-0", "mellon-1"));
      const refusal = await wrong.bus.position(["a"]).catch(String);
      expect(refusal).toMatch(/Error/);
      expect(JSON.stringify([error, refusal, lines, wrong.lines])).not.toContain("mellon");
      // One line for each loss and one for each return. On a busy machine the connection may be lost once more.
      const messages = lines.map(({ message }) => message);
      expect(messages.length).toBeGreaterThan(0);
      expect(messages.length % 2).toBe(0);
      expect(messages).toEqual(messages.map((_, index) => (index % 2 === 0 ? unreachable : reachable)));
    });
  });
}
