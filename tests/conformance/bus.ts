/**
 * What every bus keeps, run over each of them.
 */
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Bus, type Fresh, type Message, POSITION, type Position } from "../../src/live/bus/index.ts";

/** A bus to be tested: where its messages are, and how to get at them. */
export interface Bench {
  /** Opens the bus once more, as another process would; the memory bus is always the same. */
  open(): Bus;
  /** Opens a bus that holds few messages: not 200 of a kilobyte each. */
  openSmall(): Bus;
  /** Makes what the bus holds be lost, as a restart without storage does, and gives a bus that goes on. */
  lose(): Promise<Bus>;
  stop(): Promise<void>;
}

let channels = 0;

/** Names a channel that no other test has. */
const freshName = () => `room:${++channels}`;

/** Takes the end of one channel. */
export async function endOf(bus: Bus, channel: string): Promise<Position> {
  const [end] = await bus.position([channel]);
  if (end === undefined) throw new Error("There is no position.");
  return end;
}

/** Reads to the end of what there is; fails at a gap, and where a read gives more than it may. */
export async function readAll(bus: Bus, channel: string, after: Position, limit = 100): Promise<Message[]> {
  const all: Message[] = [];
  for (let from = after; ; ) {
    const { messages, gap, end, more } = await bus.read(channel, from, limit);
    expect(gap, "a gap").toBe(false);
    expect(messages.length).toBeLessThanOrEqual(limit);
    all.push(...messages);
    if (!more) return all;
    expect(end, "the end has to move while there is more").not.toBe(from);
    from = end;
  }
}

const dataOf = (messages: readonly Message[]) => messages.map(({ data }) => data);

/** Publishes numbers from 0, one after the other, and gives their positions. */
async function publishNumbers(bus: Bus, channel: string, count: number): Promise<Position[]> {
  return Promise.all(Array.from({ length: count }, (_, at) => bus.publish(channel, String(at))));
}

/** Follows a channel as the hub does: by what comes with a wake-up where that fits, else by reading. */
export class Follower {
  readonly got: Message[] = [];
  gaps = 0;
  wakes = 0;
  fresh = 0;
  readonly #bus: Bus;
  readonly #channel: string;
  #end: Position;
  #isStale = false;
  #isReading = false;
  #stop: () => void = () => undefined;

  private constructor(bus: Bus, channel: string, end: Position) {
    this.#bus = bus;
    this.#channel = channel;
    this.#end = end;
  }

  static async start(bus: Bus, channel: string): Promise<Follower> {
    const follower = new Follower(bus, channel, await endOf(bus, channel));
    follower.#stop = await bus.watch(channel, (fresh) => follower.#wake(fresh));
    follower.#wake();
    return follower;
  }

  stop(): void {
    this.#stop();
  }

  #wake(fresh?: Fresh): void {
    this.wakes++;
    const fits = fresh && !this.#isReading && fresh.after.length === this.#end.length && fresh.after <= this.#end;
    const news = fits ? fresh.messages.filter(({ position }) => position > this.#end) : [];
    const last = news.at(-1);
    if (!last) return void this.#read();
    this.fresh++;
    this.got.push(...news);
    this.#end = last.position;
  }

  async #read(): Promise<void> {
    this.#isStale = true;
    if (this.#isReading) return;
    this.#isReading = true;
    while (this.#isStale) {
      this.#isStale = false;
      try {
        const batch = await this.#bus.read(this.#channel, this.#end, 50);
        if (batch.gap) this.gaps++;
        this.got.push(...batch.messages);
        this.#end = batch.end;
        if (batch.more) this.#isStale = true;
      } catch {
        // The bus is away: as the hub, it asks again.
        await new Promise((resolve) => setTimeout(resolve, 100));
        this.#isStale = true;
      }
    }
    this.#isReading = false;
  }
}

/** Defines the tests of one bus. */
export function busTests(name: string, start: () => Promise<Bench>): void {
  describe(`the bus ${name}`, () => {
    let bench: Bench;
    let bus: Bus;
    let other: Bus;
    const opened: Bus[] = [];
    const opens = (made: Bus) => {
      opened.push(made);
      return made;
    };
    beforeAll(async () => {
      bench = await start();
      bus = opens(bench.open());
      other = opens(bench.open());
    });
    afterAll(async () => {
      for (const each of opened) await each.close();
      await bench?.stop();
    });

    describe("keeps an order", () => {
      it("of what one caller publishes, awaited or not", async () => {
        const channel = freshName();
        const from = await endOf(bus, channel);
        const published = await publishNumbers(bus, channel, 300);
        for (let at = 300; at < 310; at++) published.push(await bus.publish(channel, String(at)));
        const messages = await readAll(other, channel, from, 7);
        expect(dataOf(messages)).toEqual(Array.from({ length: 310 }, (_, at) => String(at)));
        expect(messages.map(({ position }) => position)).toEqual(published);
      });

      it("of what many publish at once, the same for all who read, and each one's own in it", async () => {
        const channel = freshName();
        const from = await endOf(bus, channel);
        const buses = [bus, other, opens(bench.open()), opens(bench.open())];
        const publishers = buses.map(async (each, publisher) => {
          for (let at = 0; at < 60; at += 3) {
            await Promise.all([0, 1, 2].map((plus) => each.publish(channel, JSON.stringify([publisher, at + plus]))));
          }
        });
        await Promise.all(publishers);
        const messages = await readAll(bus, channel, from);
        expect(messages).toHaveLength(240);
        expect(await readAll(other, channel, from, 17)).toEqual(messages);
        const pairs = messages.map(({ data }) => JSON.parse(data) as [number, number]); // as they were written above
        for (const publisher of buses.keys()) {
          const own = pairs.filter(([by]) => by === publisher).map(([, at]) => at);
          expect(own).toEqual(Array.from({ length: 60 }, (_, at) => at));
        }
      });

      it("in positions of one length, which compare as the messages follow", async () => {
        const channel = freshName();
        const positions = [await endOf(bus, channel), ...(await publishNumbers(bus, channel, 120))];
        positions.push(await bus.publish(channel, "last"));
        for (const position of positions) expect(position).toMatch(POSITION);
        expect(new Set(positions.map(({ length }) => length)).size).toBe(1);
        expect([...positions].sort()).toEqual(positions);
        expect(new Set(positions).size).toBe(positions.length);
        expect((await endOf(other, channel)) >= String(positions.at(-1))).toBe(true);
      });
    });

    describe("is read", () => {
      it("from every position on to the end, whole", async () => {
        const channel = freshName();
        const positions = [await endOf(bus, channel)];
        for (let at = 0; at < 12; at++) {
          positions.push(await bus.publish(channel, String(at)), await endOf(other, channel));
        }
        for (const [at, position] of positions.entries()) {
          const rest = dataOf(await readAll(bus, channel, position));
          expect(rest).toEqual(Array.from({ length: 12 }, (_, n) => String(n)).slice(Math.ceil(at / 2)));
        }
      });

      it.each([
        [1, 5, true],
        [4, 5, true],
        [5, 5, false],
        [6, 5, false],
        [1, 1, false],
      ])("at most %i of %i messages at once", async (limit, count, more) => {
        const channel = freshName();
        const from = await endOf(bus, channel);
        const positions = await publishNumbers(bus, channel, count);
        const batch = await bus.read(channel, from, limit);
        expect(dataOf(batch.messages)).toEqual(["0", "1", "2", "3", "4"].slice(0, Math.min(limit, count)));
        expect(batch).toMatchObject({ gap: false, more });
        if (more) expect(batch.end).toBe(positions[limit - 1]);
        expect(await readAll(bus, channel, batch.end)).toHaveLength(Math.max(0, count - limit));
      });

      it("without waiting for what is not there, and its end is good to go on from", async () => {
        const channel = freshName();
        let end = await endOf(bus, channel);
        for (let round = 0; round < 3; round++) {
          const batch = await bus.read(channel, end, 10);
          expect(batch).toMatchObject({ messages: [], gap: false, more: false });
          await other.publish(freshName(), "elsewhere");
          end = batch.end;
        }
        await other.publish(channel, "1");
        expect(dataOf(await readAll(bus, channel, end))).toEqual(["1"]);
      });

      it("complete from a position that was taken before it was published, by whomever", async () => {
        for (let round = 0; round < 30; round++) {
          const channel = freshName();
          const before = round % 3;
          await publishNumbers(other, channel, before);
          const from = await endOf(bus, channel);
          const during = bus.publish(channel, "during");
          await other.publish(channel, "after");
          await during;
          const read = dataOf(await readAll(round % 2 ? bus : other, channel, from));
          expect(read.sort()).toEqual(["after", "during"]);
        }
      });

      it("in the same moment in which it is published to, without a hole", async () => {
        const channel = freshName();
        const from = await endOf(bus, channel);
        let isDone = false;
        const publishing = (async () => {
          for (let at = 0; at < 200; at++) await other.publish(channel, String(at));
          isDone = true;
        })();
        const got: string[] = [];
        for (let end = from; ; ) {
          const wasDone = isDone;
          const batch = await bus.read(channel, end, 9);
          expect(batch.gap).toBe(false);
          got.push(...dataOf(batch.messages));
          end = batch.end;
          if (wasDone && !batch.more) break;
          // The memory bus never leaves the turn of the event loop in which the publisher runs.
          await new Promise((resolve) => setImmediate(resolve));
        }
        await publishing;
        expect(got).toEqual(Array.from({ length: 200 }, (_, at) => String(at)));
      });

      it("by its own name only, whatever that holds", async () => {
        const odd = [
          "*",
          ">",
          "a.*",
          "a.>",
          "a.b",
          "a.b.c",
          "a b",
          "é",
          "e\u0301",
          "房間",
          "🚪",
          "%2A",
          "a/b",
          "\\",
          '"',
        ];
        const names = [
          ...odd,
          "$",
          "{a}b",
          "{a}",
          "A",
          "a",
          "KEY:channel",
          "-",
          "_",
          "ends.",
          ".begins",
          "x".repeat(128),
        ];
        const froms = await bus.position(names);
        const followers = await Promise.all(names.map((each) => Follower.start(other, each)));
        for (const each of names) await bus.publish(each, JSON.stringify(each));
        for (const [at, each] of names.entries()) {
          expect(dataOf(await readAll(other, each, String(froms[at]))), each).toEqual([JSON.stringify(each)]);
          await expect.poll(() => dataOf(followers[at]?.got ?? []), { message: each }).toEqual([JSON.stringify(each)]);
        }
        for (const follower of followers) follower.stop();
      });

      it("with messages of 64 KiB, unharmed", async () => {
        const channel = freshName();
        const from = await endOf(bus, channel);
        const texts = [
          "a".repeat(65_534),
          "é".repeat(32_767),
          "\\\"\n\u2028'<\u0000".repeat(5_000),
          "🚪".repeat(16_000),
        ];
        const written = [...texts.map((text) => JSON.stringify(text)), '{ "a":\n 1 }', '""', "null"];
        const many = Array.from({ length: 40 }, (_, at) => written[at % written.length] ?? "");
        const follower = await Follower.start(other, channel);
        for (const data of many) await bus.publish(channel, data);
        expect(dataOf(await readAll(other, channel, from))).toEqual(many);
        await expect.poll(() => follower.got.length, { timeout: 5_000 }).toBe(40);
        expect(dataOf(follower.got)).toEqual(many);
        follower.stop();
      });

      it("of 10,000 channels, in the order asked", async () => {
        const first = channels + 1;
        const names = Array.from({ length: 10_000 }, freshName);
        const before = await bus.position(names);
        await Promise.all(names.map((each) => bus.publish(each, `"${each}"`)));
        const after = await other.position(names);
        expect([before.length, after.length]).toEqual([10_000, 10_000]);
        for (let at = 0; at < 10_000; at += 371) {
          const each = `room:${first + at}`;
          expect(dataOf(await readAll(bus, each, String(before[at]))), each).toEqual([`"${each}"`]);
          expect(await readAll(bus, each, String(after[at])), each).toEqual([]);
        }
        expect(await bus.position([])).toEqual([]);
      });
    });

    describe("tells of a gap", () => {
      const foreign = [
        "0",
        "-",
        "a.b",
        "zzzzzzzzzzzzz.000000001",
        "1-1",
        "z".repeat(40),
        "0000000000000.000000000-000000000",
      ];
      it.each(foreign)("after the position %j, which is none of its own", async (position) => {
        const channel = freshName();
        for (const count of [0, 3]) {
          await publishNumbers(bus, channel, count);
          const batch = await bus.read(channel, position, 10);
          expect(batch).toMatchObject({ messages: [], gap: true, more: false });
          await bus.publish(channel, "next");
          expect(dataOf(await readAll(bus, channel, batch.end))).toEqual(["next"]);
        }
      });

      it("after a position that is ahead of the end", async () => {
        const channel = freshName();
        await publishNumbers(bus, channel, 3);
        const end = await endOf(bus, channel);
        const batch = await bus.read(channel, end.replace(/.{7}$/, "zzzzzzz"), 10);
        expect(batch).toMatchObject({ messages: [], gap: true, more: false });
        expect(await readAll(bus, channel, batch.end)).toEqual([]);
      });

      it("when what was asked for is no longer held, and gives all or nothing from everywhere", async () => {
        const small = opens(bench.openSmall());
        const channel = freshName();
        const positions = [await endOf(small, channel)];
        for (let at = 0; at < 200; at++) positions.push(await small.publish(channel, `"${at}${"x".repeat(1000)}"`));
        const answers = [];
        for (const position of positions) answers.push(await small.read(channel, position, 1000));
        const isGap = answers.map(({ gap }) => gap);
        expect([isGap[0], isGap.at(-1)]).toEqual([true, false]);
        expect(isGap.lastIndexOf(true)).toBeLessThan(isGap.indexOf(false));
        for (const [at, { gap, messages }] of answers.entries()) {
          expect(messages.map(({ position }) => position)).toEqual(gap ? [] : positions.slice(at + 1));
        }
      });

      it("in a channel of which nothing is held any more, and none that is not asked for", async () => {
        const small = opens(bench.openSmall());
        const [quiet, loud, silent] = [freshName(), freshName(), freshName()];
        const from = await endOf(small, quiet);
        const silentFrom = await endOf(small, silent);
        await small.publish(quiet, "1");
        for (let at = 0; at < 400; at++) await small.publish(loud, `"${"x".repeat(1000)}"`);
        const read = await small.read(quiet, from, 10);
        // Each channel on its own may hold as much as it likes: then the one message is there.
        if (!read.gap) expect(dataOf(read.messages)).toEqual(["1"]);
        const nothing = await small.read(silent, silentFrom, 10);
        expect(nothing.messages).toEqual([]);
        expect((await small.read(loud, from, 10)).gap || (await small.read(loud, silentFrom, 10)).gap).toBe(true);
      });
    });

    describe("wakes", () => {
      it("for every message, whoever published it, and the messages come along or can be read", async () => {
        const channel = freshName();
        const followers = [await Follower.start(bus, channel), await Follower.start(other, channel)];
        for (let at = 0; at < 100; at += 2)
          await Promise.all([bus.publish(channel, `a${at}`), other.publish(channel, `b${at}`)]);
        for (const follower of followers) await expect.poll(() => follower.got.length, { timeout: 5_000 }).toBe(100);
        const [one, two] = followers;
        expect(one?.got).toEqual(two?.got);
        expect(followers.map(({ gaps }) => gaps)).toEqual([0, 0]);
        for (const follower of followers) follower.stop();
      });

      it("with messages that follow on the position they are said to follow on", async () => {
        const channel = freshName();
        const brought: Fresh[] = [];
        const woken = vi.fn((fresh?: Fresh) => fresh && brought.push(fresh));
        await publishNumbers(other, channel, 3);
        const stop = await bus.watch(channel, woken);
        woken.mockClear();
        // Of the first, not every bus knows what was before: it may wake without it.
        await other.publish(channel, "first");
        await expect.poll(() => woken.mock.calls.length).toBeGreaterThan(0);
        for (let at = 0; at < 20; at++) await other.publish(channel, String(at));
        const data = () => brought.flatMap(({ messages }) => messages.map(({ data }) => data)).slice(-20);
        await expect.poll(data, { timeout: 5_000 }).toEqual(Array.from({ length: 20 }, (_, at) => String(at)));
        for (const { after, messages } of brought) {
          const last = messages.at(-1)?.position ?? "";
          const read = (await readAll(bus, channel, after)).filter(({ position }) => position <= last);
          expect(read).toEqual(messages);
        }
        stop();
      });

      it("those who watch and not those who have stopped, each by itself", async () => {
        const channel = freshName();
        const woken = { a: 0, b: 0, c: 0 };
        const wakeA = () => void woken.a++;
        const stops = [await bus.watch(channel, wakeA), await bus.watch(channel, wakeA)];
        const stopB = await bus.watch(channel, () => void woken.b++);
        const stopC = await bus.watch(freshName(), () => void woken.c++);
        stops[0]?.();
        stops[0]?.(); // twice is once
        await other.publish(channel, "1");
        await expect.poll(() => [woken.a, woken.b]).toEqual([1, 1]);
        stops[1]?.();
        await other.publish(channel, "2");
        await expect.poll(() => woken.b).toBe(2);
        expect(woken).toEqual({ a: 1, b: 2, c: 0 });
        stopB();
        stopC();
        const again = await Follower.start(bus, channel);
        await other.publish(channel, "3");
        await expect.poll(() => dataOf(again.got)).toEqual(["3"]);
        expect(woken).toEqual({ a: 1, b: 2, c: 0 });
        again.stop();
      });

      it("through watches of one channel that come and go, without losing one", async () => {
        const channel = freshName();
        const follower = await Follower.start(bus, channel);
        for (let at = 0; at < 50; at++) {
          const [, stop] = await Promise.all([other.publish(channel, String(at)), bus.watch(channel, () => undefined)]);
          stop();
        }
        await expect.poll(() => follower.got.length, { timeout: 5_000 }).toBe(50);
        follower.stop();
        for (let at = 0; at < 20; at++) {
          const brief = await Follower.start(bus, channel);
          await other.publish(channel, "x");
          await expect.poll(() => brief.got.length, { interval: 5 }).toBe(1);
          brief.stop();
        }
      });
    });

    it("does as a list would, whatever is done in whatever order", async () => {
      const step = fc.record({
        channel: fc.nat({ max: 2 }),
        by: fc.nat({ max: 1 }),
        what: fc.constantFrom("publish", "publish", "position", "read"),
        limit: fc.integer({ min: 1, max: 4 }),
        from: fc.nat(),
      });
      const property = fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const names = [freshName(), freshName(), freshName()];
        const models: string[][] = [[], [], []];
        // Every position that was handed out, and how many messages of its channel lie before it.
        const places: { position: Position; at: number }[][] = [[], [], []];
        for (const [number, { channel, by, what, limit, from }] of steps.entries()) {
          const name = names[channel] ?? "";
          const model = models[channel] ?? [];
          const known = places[channel] ?? [];
          const each = by === 0 ? bus : other;
          if (what === "publish") {
            const position = await each.publish(name, String(number));
            known.push({ position, at: model.push(String(number)) });
          } else if (what === "position") known.push({ position: await endOf(each, name), at: model.length });
          else {
            const place = known[from % known.length];
            if (!place) continue;
            const batch = await each.read(name, place.position, limit);
            expect(dataOf(batch.messages)).toEqual(model.slice(place.at, place.at + limit));
            expect([batch.gap, batch.more]).toEqual([false, place.at + limit < model.length]);
            known.push({ position: batch.end, at: place.at + batch.messages.length });
          }
        }
      });
      await fc.assert(property, { numRuns: 60 });
    });

    // What is lost is lost for all tests of this bus: they come last.
    describe("when it has lost all", () => {
      it("tells everybody of a gap, once, and goes on", async () => {
        const [full, empty, later] = [freshName(), freshName(), freshName()];
        const [emptyFrom] = await bus.position([empty]);
        const positions = [await endOf(bus, full), ...(await publishNumbers(bus, full, 3)), await endOf(bus, full)];
        const after = opens(await bench.lose());
        for (const position of positions) {
          const batch = await after.read(full, position, 10);
          expect(batch).toMatchObject({ messages: [], gap: true, more: false });
          expect(batch.end > position, "the new history compares as later").toBe(true);
          expect(await after.read(full, batch.end, 10)).toMatchObject({ messages: [], gap: false, more: false });
        }
        expect((await after.read(empty, String(emptyFrom), 10)).gap).toBe(true);
        await after.publish(full, "new");
        for (const position of positions) expect((await after.read(full, position, 10)).gap).toBe(true);
        const from = await endOf(after, later);
        await after.publish(later, "1");
        expect(dataOf(await readAll(after, later, from))).toEqual(["1"]);
      });
    });

    describe("when it is closed", () => {
      it("wakes nobody and takes nothing more", async () => {
        const closing = bench.open();
        const rest = opens(bench.open());
        const channel = freshName();
        let woken = 0;
        const stop = await closing.watch(channel, () => void woken++);
        const pending = closing.publish(channel, "pending").then(
          () => "taken",
          (error: Error) => error.message,
        );
        await closing.close();
        await closing.close(); // twice is once
        stop();
        expect(await pending).toMatch(/taken|closed/);
        const before = woken;
        if (rest !== closing) await rest.publish(channel, "later");
        for (const asked of [
          closing.publish(channel, "1"),
          closing.position([channel]),
          closing.read(channel, "0", 1),
          closing.watch(channel, () => undefined),
        ]) {
          await expect(asked).rejects.toThrow("closed");
        }
        expect(woken).toBe(before);
      });
    });
  });
}
