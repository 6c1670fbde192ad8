import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";
import { repository } from "#test/copy-example";

/** A place in a file, as the Language Server Protocol defines it. */
export interface Place {
  readonly uri: string;
  readonly range: { readonly start: { readonly line: number; readonly character: number } };
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly items?: readonly unknown[] };
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

const SEPARATOR = "\r\n\r\n";

/** The language server that TypeScript 7 contains, which editors use. */
export class LanguageServer {
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  readonly #pending = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>();
  #received: Buffer = Buffer.alloc(0);

  private constructor(dir: string) {
    const tsc = join(repository, "node_modules/typescript/bin/tsc");
    this.#process = spawn(process.execPath, [tsc, "--lsp", "--stdio"], {
      cwd: dir,
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#process.stdout.on("data", (data: Buffer) => this.#receive(data));
    this.#process.on("exit", (code) => {
      for (const { reject } of this.#pending.values())
        reject(new Error(`The language server has exited with ${code}.`));
    });
  }

  /** Starts a server for the project in a folder. The caller has to {@link stop} it. */
  static async start(dir: string): Promise<LanguageServer> {
    const server = new LanguageServer(dir);
    const params = { processId: process.pid, rootUri: pathToFileURL(dir).href, capabilities: {} };
    await server.#request("initialize", params);
    server.#send({ method: "initialized", params: {} });
    return server;
  }

  /** Opens a file with a text, and returns where the name at an offset is defined. */
  async definition(file: string, text: string, offset: number): Promise<readonly Place[]> {
    const uri = pathToFileURL(file).href;
    const languageId = file.endsWith(".tsx") ? "typescriptreact" : "typescript";
    this.#send({ method: "textDocument/didOpen", params: { textDocument: { uri, languageId, version: 1, text } } });
    const lines = text.slice(0, offset).split("\n");
    const position = { line: lines.length - 1, character: lines.at(-1)?.length ?? 0 };
    const result = await this.#request("textDocument/definition", { textDocument: { uri }, position });
    return (Array.isArray(result) ? result : [result]) as Place[]; // the protocol allows one place or a list
  }

  /** Ends the process. */
  async stop(): Promise<void> {
    if (this.#process.exitCode !== null) return;
    this.#process.kill();
    await once(this.#process, "exit");
  }

  #request(method: string, params: object): Promise<unknown> {
    const id = this.#pending.size + 1;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#send({ id, method, params });
    });
  }

  #send(message: object): void {
    const text = JSON.stringify({ jsonrpc: "2.0", ...message });
    this.#process.stdin.write(`Content-Length: ${Buffer.byteLength(text)}${SEPARATOR}${text}`);
  }

  #receive(data: Buffer): void {
    this.#received = Buffer.concat([this.#received, data]);
    for (;;) {
      const end = this.#received.indexOf(SEPARATOR);
      const [, length] = /Content-Length: (\d+)/i.exec(this.#received.subarray(0, Math.max(end, 0)).toString()) ?? [];
      const start = end + SEPARATOR.length;
      if (length === undefined || this.#received.length < start + Number(length)) return;
      const body = this.#received.subarray(start, start + Number(length));
      this.#received = this.#received.subarray(start + Number(length));
      this.#handle(JSON.parse(body.toString()));
    }
  }

  #handle({ id, method, params, result, error }: Message): void {
    if (id === undefined) return;
    // A request of the server, such as for the settings of the editor, which has none.
    if (method !== undefined) this.#send({ id, result: params?.items?.map(() => null) ?? null });
    else if (error) this.#pending.get(id)?.reject(new Error(error.message));
    else this.#pending.get(id)?.resolve(result);
  }
}
