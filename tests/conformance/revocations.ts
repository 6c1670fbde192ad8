/** The contract of every store of revocations: `src/revocation/store.ts`. */
import { afterEach, describe, expect, it } from "vitest";
import type { LogPosition, RevocationRead, RevocationStore } from "../../src/revocation/index.ts";
import { subjectOfSignIn, subjectOfUser } from "../../src/revocation/index.ts";

/** A way to open stores, for the suite. */
export interface StoreProvider {
  /** Returns a store of this log. Stores of one log share its entries, as those of several processes do. */
  open(log: string): Promise<RevocationStore> | RevocationStore;
  /** Closes the stores that were opened. */
  close(): Promise<void>;
  /** Empties the log. Absent if the store cannot be emptied while it is open. */
  empty?(log: string): Promise<void>;
  /** Whether two stores of one log share its entries: not so in memory. */
  readonly isShared: boolean;
}

let logs = 0;
const endOf = ({ epoch, end }: RevocationRead): LogPosition => ({ epoch, seq: end });
const user = (name: string) => subjectOfUser(name);

/** Defines the suite for one kind of store. */
export function describeRevocationStore(name: string, provider: StoreProvider): void {
  const newLog = () => `log-${process.pid}-${++logs}`;
  const open = async (log: string) => provider.open(log);
  const subjectsOf = ({ entries }: RevocationRead) => entries.map(({ subject }) => subject);

  describe(`the store of revocations in ${name}`, () => {
    afterEach(() => provider.close());

    it("is empty at first, with a position that every later entry is after", async () => {
      const store = await open(newLog());
      const first = await store.read(null);
      expect(first.entries).toEqual([]);
      expect(first.epoch).toMatch(/^[0-9a-z]{1,20}$/);
      await store.append(user("ada"));
      const { entries, epoch } = await store.read(endOf(first));
      expect(epoch).toBe(first.epoch);
      expect(entries).toEqual([{ subject: user("ada"), seq: expect.any(Number) }]);
      expect(entries[0]?.seq).toBeGreaterThan(first.end);
    });

    it("returns the entries after a position in their order, and the end after the last one", async () => {
      const store = await open(newLog());
      for (const sub of ["ada", "bob", "carol"]) await store.append(user(sub));
      const all = await store.read(null);
      expect(subjectsOf(all)).toEqual(["ada", "bob", "carol"].map(user));
      const seqs = all.entries.map(({ seq }) => seq);
      expect(seqs).toEqual([...seqs].sort((a, b) => a - b));
      expect(new Set(seqs).size).toBe(3);
      expect(all.end).toBe(seqs[2]);
      for (const [index, seq] of seqs.entries()) {
        const rest = await store.read({ epoch: all.epoch, seq });
        expect(subjectsOf(rest)).toEqual(["ada", "bob", "carol"].slice(index + 1).map(user));
      }
      expect((await store.read(endOf(all))).entries).toEqual([]);
    });

    it("returns the whole log for a position of another epoch", async () => {
      const store = await open(newLog());
      await store.append(user("ada"));
      expect(subjectsOf(await store.read({ epoch: "another", seq: 2 ** 40 }))).toEqual([user("ada")]);
    });

    it("has a later entry for a subject that is revoked again", async () => {
      const store = await open(newLog());
      await store.append(user("ada"));
      await store.append(subjectOfSignIn("sid"));
      const middle = await store.read(null);
      await store.append(user("ada"));
      const { entries } = await store.read(endOf(middle));
      expect(entries.map(({ subject }) => subject)).toEqual([user("ada")]);
      expect(entries[0]?.seq).toBeGreaterThan(middle.end);
    });

    it("loses none of the entries that are appended at the same time", async () => {
      const store = await open(newLog());
      const subjects = Array.from({ length: 50 }, (_, n) => user(`user ${n}`));
      await Promise.all(subjects.map((subject) => store.append(subject)));
      expect(subjectsOf(await store.read(null)).sort()).toEqual([...subjects].sort());
    });

    it("returns hundreds of entries completely", async () => {
      const store = await open(newLog());
      const subjects = Array.from({ length: 450 }, (_, n) => user(`user ${n}`));
      for (let n = 0; n < subjects.length; n += 50) {
        await Promise.all(subjects.slice(n, n + 50).map((subject) => store.append(subject)));
      }
      expect(new Set(subjectsOf(await store.read(null)))).toEqual(new Set(subjects));
    });

    if (provider.isShared) describeShared({ newLog, open, subjectsOf });
    const { empty } = provider;
    if (empty) {
      it("has a new epoch after it was emptied, and then returns what is appended", async () => {
        const log = newLog();
        const store = await open(log);
        await store.append(user("ada"));
        const before = await store.read(null);
        await empty(log);
        const emptied = await store.read(endOf(before));
        expect(emptied.entries).toEqual([]);
        expect(emptied.epoch).not.toBe(before.epoch);
        await store.append(user("bob"));
        expect(subjectsOf(await store.read(endOf(before)))).toEqual([user("bob")]);
      });
    }
  });
}

interface Helpers {
  readonly newLog: () => string;
  readonly open: (log: string) => Promise<RevocationStore>;
  readonly subjectsOf: (read: RevocationRead) => string[];
}

/** What several processes share. */
function describeShared({ newLog, open, subjectsOf }: Helpers): void {
  it("returns to one process what another has appended, with the same epoch and numbers", async () => {
    const log = newLog();
    const [one, other] = [await open(log), await open(log)];
    const first = await other.read(null);
    await one.append(user("ada"));
    const seen = [await one.read(null), await other.read(endOf(first))];
    expect(seen[1]?.entries).toEqual(seen[0]?.entries);
    expect(seen[1]?.epoch).toBe(seen[0]?.epoch);
    expect(subjectsOf(await (await open(log)).read(null))).toEqual([user("ada")]);
  });

  it("has one order for entries that several processes append at the same time, and none before a read that has ended", async () => {
    const log = newLog();
    const stores = await Promise.all([1, 2, 3].map(() => open(log)));
    const appended: string[] = [];
    for (let round = 0; round < 10; round++) {
      const subjects = stores.map((_, n) => user(`round ${round} store ${n}`));
      const before = await stores[round % 3]?.read(null);
      await Promise.all(stores.map((store, n) => store.append(subjects[n] ?? "")));
      appended.push(...subjects);
      const reads = await Promise.all(stores.map((store) => store.read(before ? endOf(before) : null)));
      for (const read of reads) {
        expect(subjectsOf(read).sort()).toEqual([...subjects].sort());
        expect(read).toEqual(reads[0]);
      }
    }
    const [, other] = stores;
    expect(subjectsOf((await other?.read(null)) ?? { epoch: "", entries: [], end: 0 }).sort()).toEqual(appended.sort());
  });

  it("has one epoch for processes that start at the same time", async () => {
    const log = newLog();
    const stores = await Promise.all([1, 2, 3, 4].map(() => open(log)));
    const reads = await Promise.all(stores.map((store) => store.read(null)));
    expect(new Set(reads.map(({ epoch }) => epoch)).size).toBe(1);
  });
}
