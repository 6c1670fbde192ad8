/**
 * What a bus that others keep does when its server crashes, hangs, is not there, or has forgotten: run
 * over each of them, with a real server.
 */
import { afterEach, describe, expect, it, vi } from "vitest";
import { recordedLog, type LogLine } from "#test/recorded-log";
import type { Bus, Position } from "../../src/live/bus/index.ts";
import type { Logger } from "../../src/logging/logger.ts";
import { endOf, TestSubscriber, readAll } from "../conformance/bus.ts";

/** A server, as tests of faults need it. */
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

/** How one bus is tested. */
export interface BusFaultFixture {
  /** Starts a server that keeps what it acknowledges; with a password if one is given. */
  start(password?: string): Promise<ControllableServer>;
  open(url: string, log: Logger): Bus;
  /** Cuts off those who listen, and nobody else. */
  deafen(url: string): Promise<void>;
  /** What the log says when the server is away, and when it is back. */
  readonly away: string;
  readonly back: string;
}

interface Outcome {
  readonly by: number;
  readonly at: number;
  readonly isTaken: boolean;
}

/** Publishes one message after the other until told to stop, each once, whatever becomes of it. */
function publishOn(bus: Bus, channel: string, by: number) {
  const outcomes: Outcome[] = [];
  let isStopping = false;
  const ended = (async () => {
    for (let at = 0; !isStopping; at++) {
      const isTaken = await bus.publish(channel, JSON.stringify([by, at])).then(
        () => true,
        () => false,
      );
      outcomes.push({ by, at, isTaken });
    }
  })();
  const stop = () => {
    isStopping = true;
    return ended;
  };
  return { outcomes, stop };
}

const countTaken = (outcomes: readonly Outcome[]) => outcomes.filter(({ isTaken }) => isTaken).length;

/** Defines the tests of one bus. */
export function busFaultTests(name: string, bench: BusFaultFixture): void {
  describe(`the bus ${name}`, () => {
    const ends: (() => unknown)[] = [];
    afterEach(async () => {
      vi.useRealTimers();
      for (const end of ends.splice(0).reverse()) await end();
    });

    async function start(password?: string): Promise<ControllableServer> {
      const server = await bench.start(password);
      ends.push(() => server.stop());
      return server;
    }

    function open(url: string): { bus: Bus; lines: LogLine[] } {
      const { log, lines } = recordedLog();
      const bus = bench.open(url, log);
      ends.push(() => bus.close());
      return { bus, lines };
    }

    async function follow(bus: Bus, channel: string): Promise<TestSubscriber> {
      const follower = await TestSubscriber.start(bus, channel);
      ends.push(() => follower.stop());
      return follower;
    }

    it("loses nothing that it took, and gives nothing twice, while its server is killed again and again", async () => {
      const server = await start();
      const buses = [open(server.url).bus, open(server.url).bus, open(server.url).bus];
      const [first = open(server.url).bus] = buses;
      const channels = ["a", "b", "c"];
      const froms = await first.position(channels);
      const followers = await Promise.all(channels.flatMap((channel) => buses.map((bus) => follow(bus, channel))));
      const publishers = channels.flatMap((channel) =>
        buses.map((bus, by) => ({ channel, ...publishOn(bus, channel, by) })),
      );

      const taken = () => Math.min(...publishers.map(({ outcomes }) => countTaken(outcomes)));
      for (let kill = 1; kill <= 4; kill++) {
        const before = taken();
        await expect.poll(taken, { timeout: 20_000, interval: 5 }).toBeGreaterThan(before + 25);
        await server.kill();
        await server.restart();
      }
      const before = taken();
      await expect.poll(taken, { timeout: 20_000 }).toBeGreaterThan(before + 10);
      await Promise.all(publishers.map(({ stop }) => stop()));

      for (const [at, channel] of channels.entries()) {
        const held = await readAll(first, channel, String(froms[at]));
        const outcomes = publishers.filter((each) => each.channel === channel).flatMap((each) => each.outcomes);
        const texts = held.map(({ data }) => data);
        expect(new Set(texts).size, "nothing is there twice").toBe(texts.length);
        const lost = outcomes.filter(
          ({ by, at: number, isTaken }) => isTaken && !texts.includes(JSON.stringify([by, number])),
        );
        expect(lost, "what was taken and is not there").toEqual([]);
        const pairs = texts.map((text) => JSON.parse(text) as [number, number]); // as they were written above
        for (const by of buses.keys()) {
          const own = pairs.filter(([publisher]) => publisher === by).map(([, number]) => number);
          expect(own, "each one's own order").toEqual([...own].sort((one, two) => one - two));
        }
        for (const follower of followers.slice(at * buses.length, (at + 1) * buses.length)) {
          await expect.poll(() => follower.received.length, { timeout: 10_000 }).toBe(held.length);
          expect(follower.received).toEqual(held);
          expect(follower.gaps).toBe(0);
        }
      }
      // The crashes came in the middle of it, and nothing failed for them.
      expect(publishers.flatMap(({ outcomes }) => outcomes).filter(({ isTaken }) => !isTaken)).toEqual([]);
    });

    it("waits for a server that hangs a while, keeps each one's order, and says nothing twice", async () => {
      const server = await start();
      const { bus } = open(server.url);
      const { bus: other } = open(server.url);
      const follower = await follow(other, "a");
      const from = await endOf(bus, "a");
      await bus.publish("a", "0");
      await server.pause();
      const pending = [1, 2, 3].map((at) => bus.publish("a", String(at)));
      // It hangs for so long that what is under way is given up and sent again.
      for (let wait = 0; wait < 3; wait++) {
        await expect(other.position(["a"])).rejects.toThrow("did not answer within 2 s");
      }
      server.resume();
      await Promise.all(pending);
      await bus.publish("a", "4");
      expect((await readAll(bus, "a", from)).map(({ data }) => data)).toEqual(["0", "1", "2", "3", "4"]);
      await expect
        .poll(() => follower.received.map(({ data }) => data), { timeout: 10_000 })
        .toEqual(["0", "1", "2", "3", "4"]);
    });

    it("says in time that a server hangs, and what it was given last arrives once or never", async () => {
      const server = await start();
      const { bus, lines } = open(server.url);
      const { bus: other } = open(server.url);
      const follower = await follow(other, "a");
      const from = await endOf(bus, "a");
      await bus.publish("a", '"before"');
      await server.pause();
      const begun = performance.now();
      const answers = [
        expect(bus.position(["a"])).rejects.toThrow("did not answer within 2 s"),
        expect(bus.read("a", from, 10)).rejects.toThrow("did not answer within 2 s"),
        expect(open(server.url).bus.watch("a", () => undefined)).rejects.toThrow("did not answer within 2 s"),
      ];
      const lost = expect(bus.publish("a", '"during"')).rejects.toThrow(
        "did not take the message within 10 s; whether it will arrive is not known",
      );
      await Promise.all(answers);
      expect(performance.now() - begun).toBeLessThan(4_000);
      await lost;
      expect(performance.now() - begun).toBeLessThan(13_000);
      server.resume();
      await bus.publish("a", '"after"');
      await bus.publish("a", '"last"');
      const texts = (await readAll(bus, "a", from)).map(({ data }) => data);
      expect(texts.filter((text) => text !== '"during"')).toEqual(['"before"', '"after"', '"last"']);
      const arrived = texts.flatMap((text, at) => (text === '"during"' ? [at] : []));
      expect([[], [1]], "in its place, or never").toContainEqual(arrived);
      await expect.poll(() => follower.received.map(({ data }) => data), { timeout: 15_000 }).toEqual(texts);
      expect(lines.map(({ message }) => message)).toEqual([bench.away, bench.back]);
    });

    it("waits for a server that is not there yet, and says so in time", async () => {
      const server = await start();
      await server.kill();
      const { bus, lines } = open(server.url);
      await expect(bus.position(["a"])).rejects.toThrow("did not answer within 2 s");
      await expect(bus.watch("a", () => undefined)).rejects.toThrow("did not answer within 2 s");
      expect(lines.map(({ message }) => message)).toEqual([bench.away]);
      const early = bus.publish("a", "1");
      await server.restart();
      await early;
      const follower = await follow(bus, "a");
      await bus.publish("a", "2");
      await expect.poll(() => follower.received.map(({ data }) => data), { timeout: 5_000 }).toEqual(["2"]);
      expect(lines.map(({ message }) => message)).toEqual([bench.away, bench.back]);
    });

    it("rejects what waits when it is closed", async () => {
      const server = await start();
      const { bus } = open(server.url);
      const from = await endOf(bus, "a");
      await server.pause();
      const asked = [bus.publish("a", "1"), bus.position(["a"]), bus.read("a", from, 1)];
      const refused = asked.map((each) => expect(each).rejects.toThrow("closed"));
      const begun = performance.now();
      await bus.close();
      await Promise.all(refused);
      expect(performance.now() - begun).toBeLessThan(1_500);
      server.resume();
    });

    it("tells of a gap when its server was set back, however much was published since", async () => {
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
      // Behind them at first, then as long, then longer.
      for (let at = 0; at < 8; at++) {
        for (const position of lost) {
          expect(await bus.read("a", position, 10), `${at}`).toMatchObject({ gap: true, messages: [] });
        }
        expect(await readAll(bus, "a", kept)).toHaveLength(at);
        await bus.publish("a", `"new ${at}"`);
      }
    });

    it("listens again when only those who listen were cut off", async () => {
      const server = await start();
      const { bus } = open(server.url);
      const follower = await follow(bus, "a");
      await bus.publish("a", "0");
      await expect.poll(() => follower.received.length).toBe(1);
      for (let at = 1; at <= 3; at++) {
        await bench.deafen(server.url);
        await bus.publish("a", String(at));
        await expect.poll(() => follower.received.length, { timeout: 15_000 }).toBe(at + 1);
      }
      expect(follower.received.map(({ data }) => data)).toEqual(["0", "1", "2", "3"]);
      expect(follower.gaps).toBe(0);
    });

    it("goes in by its password, which is in no line and no error", async () => {
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
      // Once for each time it goes, and once for each time it is back; a busy machine may lose it once more.
      const told = lines.map(({ message }) => message);
      expect(told.length).toBeGreaterThan(0);
      expect(told.length % 2).toBe(0);
      expect(told).toEqual(told.map((_, at) => (at % 2 === 0 ? bench.away : bench.back)));
    });
  });
}
