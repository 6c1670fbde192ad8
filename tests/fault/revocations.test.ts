/** Revocations in files: processes that are killed, full disks, damaged and restored files. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, readFile, stat, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fillDisk, mountTmpfs, unmount } from "#test/full-disk";
import { TemporaryFolder } from "#test/temporary-folder";
import { ConfigError } from "../../src/config/index.ts";
import { fileRevocations, KEEP_SECONDS, type RevocationRead, subjectOfUser } from "../../src/revocation/index.ts";

const PROGRAM = fileURLToPath(new URL("fixtures/append-revocations.mjs", import.meta.url));

let folder: TemporaryFolder;
beforeEach(() => {
  folder = new TemporaryFolder("revocations");
});
afterEach(() => folder.remove());

const segment = (number: number) => `${folder.path}/revocations-${number}.log`;
const subjectsOf = ({ entries }: RevocationRead) => entries.map(({ subject }) => subject);
const user = subjectOfUser;

/** Starts a process that appends revocations until it is killed. */
function startWriter(name: string) {
  const child = spawn(process.execPath, [PROGRAM, folder.path, name], { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.on("data", (data) => {
    output += data;
  });
  return {
    /** The subjects that the process has printed completely. */
    confirmed: () => output.split("\n").slice(0, -1),
    async kill() {
      child.kill("SIGKILL");
      await once(child, "close");
    },
  };
}

describe("a revocation in a file", () => {
  it("is not lost when its process is killed at any moment, while others append to the same log [SESSION-30]", async () => {
    const survivor = startWriter("survivor");
    const confirmed: string[] = [];
    for (let round = 0; round < 4; round++) {
      const writer = startWriter(`writer ${round}`);
      await expect.poll(() => writer.confirmed().length).toBeGreaterThan(5);
      await writer.kill();
      confirmed.push(...writer.confirmed());
    }
    await survivor.kill();
    confirmed.push(...survivor.confirmed());
    const { entries } = await fileRevocations(folder.path).read(null);
    expect(subjectsOf({ epoch: "", entries, end: 0 })).toEqual(expect.arrayContaining(confirmed));
    const seqs = entries.map(({ seq }) => seq);
    expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b));
  });

  it("is found by a process that watches the folder", async () => {
    const [one, other] = [fileRevocations(folder.path), fileRevocations(folder.path)];
    await other.read(null);
    let calls = 0;
    const stop = other.watch?.(() => calls++);
    await expect.poll(() => calls).toBe(1); // always once: an entry may have been appended before
    await one.append(user("ada"));
    await expect.poll(() => calls).toBe(2);
    stop?.();
  });

  it("follows a line that was written in part, which does not count", async () => {
    const store = fileRevocations(folder.path);
    await store.append(user("ada"));
    await appendFile(segment(1), `\n${Date.now()} ${user("bob").slice(0, 10)}`);
    await store.append(user("carol"));
    expect(subjectsOf(await store.read(null))).toEqual([user("ada"), user("carol")]);
    expect(subjectsOf(await fileRevocations(folder.path).read(null))).toEqual([user("ada"), user("carol")]);
  });

  it("follows any amount of bytes that are no lines, such as the zeros that a power failure leaves", async () => {
    const store = fileRevocations(folder.path);
    await store.append(user("ada"));
    await store.read(null);
    await appendFile(segment(1), Buffer.alloc(200_000));
    await store.append(user("carol"));
    expect(subjectsOf(await fileRevocations(folder.path).read(null))).toEqual([user("ada"), user("carol")]);
  });

  it("is after every position that was read before the file was set back to an earlier state", async () => {
    const store = fileRevocations(folder.path);
    await store.append(user("ada"));
    folder.save();
    await store.append(user("bob"));
    const { epoch, end } = await store.read(null);
    folder.restore();
    await store.append(user("carol")); // the file then has the same size as before
    for (const reader of [store, fileRevocations(folder.path)]) {
      expect(subjectsOf(await reader.read({ epoch, seq: end }))).toEqual([user("carol")]);
    }
  });

  it("is after every earlier one, although the clock of its process is behind", async () => {
    await fileRevocations(folder.path).append(user("ada"));
    const before = await fileRevocations(folder.path).read(null);
    await fileRevocations(folder.path, { now: () => Date.now() - 3_600_000 }).append(user("bob"));
    const read = await fileRevocations(folder.path).read({ epoch: before.epoch, seq: before.end });
    expect(subjectsOf(read)).toEqual([user("bob")]);
  });

  it("rejects if the file is no revocation log, and changes nothing of it", async () => {
    await writeFile(segment(1), "something else\n");
    await expect(fileRevocations(folder.path).append(user("ada"))).rejects.toThrow("is not a revocation log");
    expect(await readFile(segment(1), "utf8")).toBe("something else\n");
  });

  it("rejects with the name of the variable if the folder is a file", async () => {
    await writeFile(`${folder.path}/file`, "");
    const store = fileRevocations(`${folder.path}/file`);
    await expect(store.read(null)).rejects.toThrow(/WEB_DATA_DIR .*\/file, where/);
    await expect(store.append(user("ada"))).rejects.toThrow(/WEB_DATA_DIR .*\/file, where/);
  });

  it("rejects with the name of the variable and the fix if the disk has no room for a new log", async () => {
    mountTmpfs(folder.path, "64k");
    try {
      fillDisk(`${folder.path}/filler`);
      const path = `${folder.path}/data`;
      const problem = `is ${path}, where revocations of sessions cannot be stored (ENOSPC: no space left on the disk).`;
      const fix = "Free space on that disk, or set it to a folder on another disk.";
      const error = new ConfigError([{ variable: "WEB_DATA_DIR", problem, fix }]);
      await expect(fileRevocations(path).read(null)).rejects.toThrow(error);
    } finally {
      unmount(folder.path);
    }
  });

  it("is stored where only the user of the process can read it", async () => {
    const path = `${folder.path}/new/folder`;
    await fileRevocations(path).append(user("ada"));
    expect([(await stat(path)).mode & 0o777, (await stat(`${path}/revocations-1.log`)).mode & 0o777]).toEqual([
      0o700, 0o600,
    ]);
  });
});

describe("segments", () => {
  const DAY_MS = 86_400_000;
  const openAt = (ms: number) => fileRevocations(folder.path, { now: () => ms });
  const start = Date.now();

  it("are started when the first entry is too old, and those before the last two are removed", async () => {
    const reader = openAt(start);
    const seen = new Set<string>();
    let position = await reader.read(null);
    for (let day = 0; day <= 40; day++) {
      const store = openAt(start + day * DAY_MS);
      await store.append(user(`day ${day}`));
      const read = await reader.read({ epoch: position.epoch, seq: position.end });
      for (const { subject, seq } of read.entries) {
        expect(seq).toBeGreaterThan(position.end);
        seen.add(subject);
      }
      position = read;
      const kept = new Set(subjectsOf(await openAt(0).read(null)));
      for (let recent = Math.max(0, day - KEEP_SECONDS / 86_400); recent <= day; recent++) {
        expect(kept.has(user(`day ${recent}`)), `day ${recent} on day ${day}`).toBe(true);
      }
      expect(kept.size).toBeLessThanOrEqual(20);
    }
    expect(seen.size).toBe(41);
  });

  it("continue with the same epoch and greater numbers, also for a process whose clock is behind", async () => {
    await openAt(start).append(user("ada"));
    const before = await openAt(start).read(null);
    await openAt(start + 9 * DAY_MS).append(user("bob"));
    await openAt(start - 9 * DAY_MS).append(user("carol"));
    const { epoch, entries } = await openAt(start).read({ epoch: before.epoch, seq: before.end });
    expect([epoch, entries.map(({ subject }) => subject)]).toEqual([before.epoch, [user("bob"), user("carol")]]);
  });

  it("lose no entry when many processes start the next one at the same time", async () => {
    await openAt(start).append(user("ada"));
    const stores = Array.from({ length: 6 }, () => openAt(start + 9 * DAY_MS));
    await Promise.all(stores.map((store, n) => store.append(user(`user ${n}`))));
    const kept = subjectsOf(await openAt(start).read(null));
    expect(kept).toEqual(expect.arrayContaining([user("ada"), ...stores.map((_, n) => user(`user ${n}`))]));
    const reads = await Promise.all(stores.map((store) => store.read(null)));
    for (const read of reads) expect(read).toEqual(reads[0]);
  });
});
