import type { Readable } from "node:stream";
import type { Busboy, BusboyFileStream, BusboyInstance } from "@fastify/busboy";
import { CONNECTION_CLOSE, formatBytes, RequestError } from "../http/index.ts";

/** A file of a form, as its part claims it. */
export interface FilePart {
  readonly field: string;
  /** The name that the client claims, see {@link cleanFileName}. */
  readonly name: string;
  /** The media type that the client claims, in lower case and without parameters. */
  readonly type: string;
  readonly content: Readable;
}

/** Receives the parts of a form, in their order. What it throws ends the reading. */
export interface PartReceiver {
  /** Whether content is being stored. Otherwise the receiver waits for the parser. */
  readonly isStoring: boolean;
  onField(name: string, value: string): void;
  /**
   * Called after each chunk of the body.
   *
   * @param bytes the size so far of all but the contents of files: the parser keeps a text until it is complete
   */
  onText(bytes: number): void;
  /** Resolves when the whole content was read. A file that is not wanted is read with `content.resume()`. */
  onFile(part: FilePart): Promise<void>;
}

/**
 * Passes the parts of a multipart body to a receiver. Resolves when all parts have been received, files included.
 *
 * A part without a readable `Content-Disposition: form-data` with a name is ignored. The bounds are those of
 * form bodies (`MAX_FIELDS` and the like); the size of the body is checked by the caller.
 *
 * @throws RequestError 400 for a body that is not `multipart/form-data` or ends early; 413 above a bound. What the
 *   receiver or the body throws is thrown. All files have then been destroyed, and `onFile` has ended for each of them.
 * @see RFC 7578
 */
export async function receiveParts(
  body: AsyncIterable<Uint8Array>,
  contentType: string,
  receiver: PartReceiver,
): Promise<void> {
  const reader = new PartReader(createParser(contentType, parser ?? (await loadParser())), receiver);
  try {
    for await (const chunk of body) {
      await reader.write(chunk);
      receiver.onText(reader.textBytes);
    }
    await reader.end();
  } catch (error) {
    await reader.abandon();
    throw error;
  }
}

/**
 * How often a parser that has not continued is checked, and how many checks in a row may find it waiting for nothing. Some
 * malformed bodies make it wait forever: for the headers of a part that it has skipped, for example.
 */
const CHECK_INTERVAL_MS = 50;
const MAX_IDLE_CHECKS = 4;

/** Connects the events of the parser to a receiver: the first failure of either ends the reading. */
class PartReader {
  readonly #parser: BusboyInstance;
  readonly #receiver: PartReceiver;
  readonly #files: BusboyFileStream[] = [];
  #bytes = 0;
  readonly #receiving: Promise<void>[] = [];
  #failure: { readonly error: unknown } | undefined;
  /** Continues the method that waits for the parser. */
  #wake: () => void = () => undefined;

  constructor(parser: BusboyInstance, receiver: PartReceiver) {
    this.#receiver = receiver;
    this.#parser = parser
      .on("field", (name, value, _, isTruncated) => this.#guard(() => this.#onField(name, value, isTruncated)))
      .on("file", (field, content, name, _, type) =>
        this.#guard(() => {
          this.#files.push(content);
          this.#onFile({ field: decodeName(field), name: cleanFileName(name), type, content });
        }),
      )
      .on("fieldsLimit", () => this.#fail(formTooLargeError("many fields", String(MAX_FIELDS))))
      .on("partsLimit", () => this.#fail(formTooLargeError("many parts", String(MAX_PARTS))))
      .on("filesLimit", () => this.#fail(formTooLargeError("many files", String(MAX_FILES))))
      .on("error", () => this.#fail(malformedFormError("it is not valid multipart/form-data")));
  }

  /** The bytes that were passed on, without the contents of files. */
  get textBytes(): number {
    return this.#bytes - this.#files.reduce((sum, { bytesRead }) => sum + bytesRead, 0);
  }

  /** Passes on a chunk. Resolves when the parser takes the next one: when the receiver has read the content so far. */
  write(chunk: Uint8Array): Promise<void> {
    this.#bytes += chunk.byteLength;
    return this.#untilFailed((resolve) => this.#parser.write(chunk, () => resolve()));
  }

  async end(): Promise<void> {
    await this.#untilFailed((resolve) => this.#parser.once("finish", resolve).end());
    const received = Promise.all(this.#receiving);
    await this.#untilFailed(
      (resolve) =>
        void received.then(
          () => resolve(),
          () => undefined,
        ),
    ); // #onFile sees failures
  }

  /** Destroys all files. Resolves when the receiver has noticed it. */
  async abandon(): Promise<void> {
    for (const file of this.#files) file.destroy();
    await Promise.allSettled(this.#receiving);
  }

  #onField(name: string | undefined, value: string, isTruncated: boolean): void {
    if (isTruncated) throw formTooLargeError("much text", formatBytes(MAX_FIELD_BYTES));
    if (name !== undefined) this.#receiver.onField(decodeName(name), value.toWellFormed());
  }

  #onFile(part: FilePart): void {
    // The parser fails too, and a receiver that reads the content rejects.
    part.content.on("error", () => undefined);
    const received = this.#receiver.onFile(part);
    received.catch((error) => this.#fail(error));
    this.#receiving.push(received);
  }

  #guard(receive: () => void): void {
    if (this.#failure) return;
    try {
      receive();
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#wake();
  }

  async #untilFailed(start: (resolve: () => void) => void): Promise<void> {
    let watch: NodeJS.Timeout | undefined;
    let idleChecks = 0;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      if (this.#failure) return resolve();
      watch = setInterval(() => {
        idleChecks = this.#receiver.isStoring ? 0 : idleChecks + 1;
        if (idleChecks === MAX_IDLE_CHECKS) this.#fail(malformedFormError("it is not valid multipart/form-data"));
      }, CHECK_INTERVAL_MS);
      start(resolve);
    });
    clearInterval(watch);
    if (this.#failure) throw this.#failure.error;
  }
}

/** Module state: a module is loaded once in a process. */
let parser: typeof Busboy | undefined;

/**
 * Loads the parser, which many applications never need. Pages with forms do it before these are sent: a process may still run when
 * the files of its build have been replaced.
 */
export function prepareForms(): void {
  if (!parser) loadParser().catch(() => undefined); // the form is refused with the error
}

async function loadParser(): Promise<typeof Busboy> {
  parser ??= (await import("@fastify/busboy")).Busboy;
  return parser;
}

function createParser(contentType: string, Parser: typeof Busboy): BusboyInstance {
  // RFC 2046, section 5.1.1: 1 to 70 characters
  if (!/;\s*boundary=("[^"]{1,70}"|[^\s";]{1,70})\s*(;|$)/i.test(contentType)) {
    throw malformedFormError("the Content-Type has no valid boundary");
  }
  try {
    return new Parser({
      headers: { "content-type": contentType },
      isPartAFile: (field, _, name) => field !== undefined && name !== undefined,
      preservePath: true, // cleanFileName removes the path, after decoding
      limits: {
        fields: MAX_FIELDS,
        files: MAX_FILES,
        parts: MAX_PARTS,
        fieldSize: MAX_FIELD_BYTES,
        headerSize: MAX_PART_HEADER_BYTES,
        headerPairs: MAX_PART_HEADERS,
      },
    });
  } catch {
    throw malformedFormError("the Content-Type has no boundary");
  }
}

/** The maximum length of a file's name, in UTF-16 code units: that of most file systems. */
export const MAX_FILE_NAME_CHARS = 255;

/** How browsers write the characters that cannot be in a quoted name. @see https://html.spec.whatwg.org/#multipart-form-data */
const ENCODED = /%(22|0D|0A)/gi;

/** Control characters, U+0000 included. */
const CONTROL = /\p{Cc}/gu;

/**
 * Returns the name of an uploaded file as the application receives it: what the client claims, without any folder and
 * without control characters, at most {@link MAX_FILE_NAME_CHARS} long. It may be empty. It is never `.` or `..`.
 *
 * It must not be used as a path all the same: two files can have one name, and some names are special on Windows.
 */
export function cleanFileName(claimed: string): string {
  const decoded = decodeName(claimed).replace(CONTROL, "");
  const name = decoded.slice(Math.max(decoded.lastIndexOf("/"), decoded.lastIndexOf("\\")) + 1);
  return name === "." || name === ".." ? "" : shorten(name);
}

/**
 * Returns the name of a field or a file, decoded as browsers encode it in a multipart header.
 *
 * The result has no unpaired surrogates, which a part with another character set than UTF-8 may contain: functions such
 * as `encodeURIComponent` throw for them.
 */
export function decodeName(text: string): string {
  return text.replace(ENCODED, (encoded) => decodeURIComponent(encoded)).toWellFormed();
}

/** Shortens the middle of the name: its extension stays. Never leaves half of a surrogate pair. */
function shorten(name: string): string {
  if (name.length <= MAX_FILE_NAME_CHARS) return name;
  const extension = /\.[^.]{1,16}$/.exec(name)?.[0] ?? "";
  const kept = name.slice(0, MAX_FILE_NAME_CHARS - extension.length).replace(/[\uD800-\uDBFF]$/, "");
  return kept + extension;
}

/** The maximum number of text fields in a form. @see docs/protocol.md 2.7 */
export const MAX_FIELDS = 1000;

/** The maximum number of files in a form. @see docs/protocol.md 2.7 */
export const MAX_FILES = 100;

/** The maximum number of parts of a form, those included that are neither a field nor a file: each takes time to parse. */
export const MAX_PARTS = MAX_FIELDS + MAX_FILES;

/** The maximum size of the headers of one part, in bytes. A longer header is cut there. */
export const MAX_PART_HEADER_BYTES = 8 * 1024;

/** The maximum number of headers of one part. */
export const MAX_PART_HEADERS = 20;

/** The maximum of bytes of all text fields of a form together, names included. @see docs/protocol.md 2.7 */
export const MAX_FIELD_BYTES = 1024 * 1024;

/** Returns the error for a form that has too much of something: status 413, and the connection is closed. */
export function formTooLargeError(what: string, maximum: string): RequestError {
  return new RequestError("validation_error", `This form has too ${what}. The maximum is ${maximum}.`, {
    status: 413,
    headers: CONNECTION_CLOSE,
  });
}

/** Returns the error for a form that cannot be read: status 400, and the connection is closed. */
function malformedFormError(reason: string): RequestError {
  return new RequestError("validation_error", `The form cannot be read: ${reason}.`, {
    status: 400,
    headers: CONNECTION_CLOSE,
  });
}
