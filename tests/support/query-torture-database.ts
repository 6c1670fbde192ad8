/**
 * The database of the torture run for queries: a server in the process of the test, which survives the kills of the application.
 */
import type { RequestListener } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { type LocalServer, listen } from "./listen.ts";
import type { SeededRandom } from "./seeded-random.ts";

/** A row of a board. The first one has the version of the board. */
export interface Row {
  readonly id: string;
  readonly version: number;
  readonly text: string;
}

/** A read takes up to this time before it sees the data, and up to this time after that. */
const MAX_HALF_READ_MS = 30;

/** The maximum time of a read, in milliseconds. */
export const MAX_READ_MS = 2 * MAX_HALF_READ_MS;

const MAX_ROWS = 30;

interface ReadRequest {
  readonly boards: readonly string[];
  /** The key of the run, if another one of the same key is in progress in its process. */
  readonly overlap: string | null;
}

interface WriteRequest {
  readonly board: string;
  /** Of the change, which is made once. */
  readonly id: string;
}

/** Boards with rows. A read sees all changes that were committed before it began. */
export class TortureDatabase {
  /** The share of the reads that fail. */
  failures = 0;
  /** The keys of runs that have overlapped. */
  readonly overlaps: string[] = [];
  reads = 0;
  readonly #random: SeededRandom;
  readonly #rows = new Map<string, readonly Row[]>();
  /** The JSON of the rows of each version, by board. */
  readonly #history = new Map<string, Map<number, string>>();
  readonly #written = new Set<string>();
  #version = 0;
  #server: LocalServer | undefined;

  private constructor(boards: readonly string[], random: SeededRandom) {
    this.#random = random;
    for (const board of boards) {
      this.#history.set(board, new Map());
      this.#set(board, []);
    }
  }

  /** Starts a database. The caller has to {@link close} it. */
  static async start(boards: readonly string[], random: SeededRandom): Promise<TortureDatabase> {
    const database = new TortureDatabase(boards, random);
    const handler: RequestListener = (request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk) => chunks.push(chunk));
      request.on("end", () => {
        void database.#answer(JSON.parse(Buffer.concat(chunks).toString())).then((result) => {
          response.statusCode = result === null ? 503 : 200;
          response.end(JSON.stringify(result));
        });
      });
    };
    // A process that was frozen uses its connections again.
    database.#server = await listen(handler, { keepAliveTimeout: 0 });
    return database;
  }

  get address(): string {
    return this.#server?.address ?? "";
  }

  /** Returns the current version of a board: it grows with each change of any board. */
  versionOf(board: string): number {
    return this.#rows.get(board)?.[0]?.version ?? 0;
  }

  /** Returns the rows that a board had in a version, as JSON. */
  rowsOf(board: string, version: number): string | undefined {
    return this.#history.get(board)?.get(version);
  }

  async close(): Promise<void> {
    await this.#server?.close();
  }

  /** @returns `null` for a failure */
  async #answer(body: ReadRequest | WriteRequest): Promise<unknown> {
    await this.#pause();
    if ("id" in body) {
      if (!this.#written.has(body.id)) this.#change(body.board, body.id);
      await this.#pause();
      return true;
    }
    this.reads++;
    if (body.overlap !== null) this.overlaps.push(body.overlap);
    if (this.#random.chance(this.failures)) return null;
    const snapshots = body.boards.map((board) => ({ rows: this.#rows.get(board), version: this.versionOf(board) }));
    await this.#pause();
    return snapshots;
  }

  /** Adds, changes, moves or deletes a row, once for each id. */
  #change(board: string, id: string): void {
    this.#written.add(id);
    const random = this.#random;
    const [, ...rows] = this.#rows.get(board) ?? [];
    const version = this.#version + 1; // of the change
    const index = random.integer(0, Math.max(0, rows.length - 1));
    const text = "é".repeat(random.integer(0, 60));
    if (rows.length === 0 || (rows.length < MAX_ROWS && random.chance(0.3))) {
      rows.splice(index, 0, { id, version, text });
    } else if (random.chance(0.7)) {
      rows.splice(index, 1, { id: rows[index]?.id ?? id, version, text });
    } else {
      const removed = rows.splice(index, 1);
      if (random.chance(0.6)) rows.splice(random.integer(0, rows.length), 0, ...removed);
    }
    this.#set(board, rows);
  }

  #set(board: string, rows: readonly Row[]): void {
    const version = ++this.#version;
    const all = [{ id: "board", version, text: "" }, ...rows];
    this.#rows.set(board, all);
    this.#history.get(board)?.set(version, JSON.stringify(all));
  }

  #pause(): Promise<void> {
    return pause(this.#random.integer(0, MAX_HALF_READ_MS));
  }
}
