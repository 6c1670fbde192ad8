import type { Readable } from "node:stream";
import { CONNECTION_CLOSE, formatBytes, type RequestContext, RequestError } from "../http/index.ts";
import {
  type FilePart,
  formTooLargeError,
  MAX_FIELD_BYTES,
  MAX_FIELDS,
  type PartReceiver,
  receiveParts,
} from "./multipart.ts";
import { checkDeclaredLength, MAX_BODY_BYTES } from "./read-body.ts";
import { uploadBody } from "./upload-body.ts";
import { type StoredFile, uploadStoreOf } from "./upload-store.ts";

/** A value of a form: a text, or a file. */
export type FormValue = string | File;

/** The body of a form. */
export interface FormBody {
  /** The values by the name of their field, in the order of the body. Line ends of texts are as they were sent. */
  readonly fields: ReadonlyMap<string, readonly FormValue[]>;
  /** The names of the fields whose files were discarded, because they take none. */
  readonly discardedFiles: ReadonlySet<string>;
}

/** The options of {@link readForm}. */
export interface FormReadOptions {
  /** The maximum size of the body, in bytes. Default: 1 MiB. */
  readonly maxBody?: number | undefined;
  /** Returns whether a field takes files. Files of other fields are not stored. Default: none does. */
  readonly takesFile?: ((field: string) => boolean) | undefined;
  /**
   * Called once, before anything of a file is stored, with the text fields up to then; at the end of a form without
   * files. What it throws ends the reading. It is the place to check the CSRF token.
   */
  readonly beforeFiles?: (fields: ReadonlyMap<string, readonly FormValue[]>) => void;
}

/** The encodings of a form. */
export type FormType = "multipart" | "urlencoded";

/** Returns how the body of a form is encoded, by its `Content-Type`; `null` if it is not that of a form. */
export function formTypeOf(contentType: string | null): FormType | null {
  switch (contentType?.split(";")[0]?.trim().toLowerCase()) {
    case "multipart/form-data":
      return "multipart";
    case "application/x-www-form-urlencoded":
      return "urlencoded";
    default:
      return null;
  }
}

/**
 * Reads the body of a form, within its limits. A file field in which no file was selected is absent. The files are valid
 * until the request has ended.
 *
 * @throws RequestError 413 above a limit; 415 for another content type; 400 for a malformed body, and if the connection
 *   ends before the body has arrived; 408 if it arrives too slowly; 429 if the client has too many bytes in flight; 503 if
 *   the server has too many. What `beforeFiles` throws is thrown.
 * @see docs/protocol.md 2.7
 */
export async function readForm(context: RequestContext, options: FormReadOptions = {}): Promise<FormBody> {
  const { inbound } = context;
  const { maxBody = MAX_BODY_BYTES } = options;
  checkDeclaredLength(inbound, maxBody);
  const contentType = inbound.header("content-type") ?? "";
  const form = new FormBuilder(context, options);
  switch (formTypeOf(contentType)) {
    case "multipart":
      // Without fields for files, nothing is stored.
      if (options.takesFile) uploadStoreOf(context).checkRoom(context, Number(inbound.header("content-length") ?? 0));
      await receiveParts(uploadBody(context, maxBody), contentType, form);
      break;
    case "urlencoded":
      form.addEncoded(await readEncodedText(uploadBody(context, Math.min(maxBody, MAX_FIELD_BYTES)), form));
      break;
    case null:
      throw unsupportedTypeError();
  }
  return form.finish();
}

function unsupportedTypeError(): RequestError {
  const message = "The content type of a form must be multipart/form-data or application/x-www-form-urlencoded.";
  return new RequestError("validation_error", message, { status: 415, headers: CONNECTION_CLOSE });
}

/** A part of the form: a file is missing as long as it is being received, and for good if none was selected. */
interface Entry {
  readonly field: string;
  value?: FormValue;
}

/** Collects the values of a form. */
class FormBuilder implements PartReceiver {
  readonly #context: RequestContext;
  readonly #options: FormReadOptions;
  readonly #files: FormFiles;
  readonly #entries: Entry[] = [];
  readonly #discardedFiles = new Set<string>();
  #fieldBytes = 0;
  /** The bytes of texts that count as bytes in flight. */
  #countedBytes = 0;
  #areFieldsChecked = false;

  constructor(context: RequestContext, options: FormReadOptions) {
    this.#context = context;
    this.#options = options;
    this.#files = new FormFiles(context);
  }

  get isStoring(): boolean {
    return this.#files.isStoring;
  }

  onField(field: string, value: string): void {
    this.#fieldBytes += Buffer.byteLength(field) + Buffer.byteLength(value);
    if (this.#fieldBytes > MAX_FIELD_BYTES) throw formTooLargeError("much text", formatBytes(MAX_FIELD_BYTES));
    this.#entries.push({ field, value });
  }

  /** Counts texts as they arrive: a client could send any number of forms with texts that it never completes. */
  onText(bytes: number): void {
    const kept = Math.min(bytes, MAX_FIELD_BYTES); // more is refused when the text is complete, and not kept until then
    if (kept <= this.#countedBytes) return;
    this.#context.takeBodyBytes(kept - this.#countedBytes);
    this.#countedBytes = kept;
  }

  async onFile({ field, name, type, content }: FilePart): Promise<void> {
    this.#checkFields();
    if (!this.#options.takesFile?.(field)) {
      if (name !== "") this.#discardedFiles.add(field);
      content.resume();
      return;
    }
    const entry: Entry = { field };
    this.#entries.push(entry);
    const blob = await this.#files.store(content);
    if (name !== "" || blob.size > 0) entry.value = new File([blob], name, { type });
  }

  addEncoded(text: string): void {
    // 1 MiB of separators would take a sixth of a second to parse.
    if (hasMoreThan(MAX_FIELDS, "&", text)) throw tooManyFieldsError();
    const entries = [...new URLSearchParams(text)];
    if (entries.length > MAX_FIELDS) throw tooManyFieldsError();
    for (const [name, value] of entries) this.onField(name, value);
  }

  finish(): FormBody {
    this.#checkFields();
    return { fields: toFields(this.#entries), discardedFiles: this.#discardedFiles };
  }

  #checkFields(): void {
    if (this.#areFieldsChecked) return;
    this.#areFieldsChecked = true;
    this.#options.beforeFiles?.(toFields(this.#entries));
  }
}

function toFields(entries: readonly Entry[]): Map<string, FormValue[]> {
  const fields = new Map<string, FormValue[]>();
  for (const { field, value } of entries) {
    if (value === undefined) continue;
    const values = fields.get(field);
    if (values) values.push(value);
    else fields.set(field, [value]);
  }
  return fields;
}

function tooManyFieldsError(): RequestError {
  return formTooLargeError("many fields", String(MAX_FIELDS));
}

/** Returns whether a text contains a separator more than `count` times. Searches no further than that. */
function hasMoreThan(count: number, separator: string, text: string): boolean {
  let at = -1;
  for (let found = 0; found <= count; found++) {
    at = text.indexOf(separator, at + 1);
    if (at === -1) return false;
  }
  return true;
}

/**
 * Returns the text of an urlencoded body, with its pluses as spaces, which they encode: `URLSearchParams` of Node needs up to
 * 15 times as long for a text with pluses.
 */
async function readEncodedText(
  body: AsyncIterable<Uint8Array>,
  receiver: Pick<PartReceiver, "onText">,
): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    receiver.onText(bytes);
    text += decoder.decode(withSpaces(chunk), { stream: true });
  }
  return text + decoder.decode();
}

const PLUS = 0x2b;
const SPACE = 0x20;

/** Returns a copy of a part of an urlencoded body with spaces in place of pluses. */
function withSpaces(chunk: Uint8Array): Uint8Array {
  const copy = new Uint8Array(chunk);
  for (let at = 0; at < copy.length; at++) if (copy[at] === PLUS) copy[at] = SPACE; // four times as fast as map()
  return copy;
}

/** The maximum size of a file that is kept in memory, in bytes. A larger one is stored on disk. */
export const MAX_MEMORY_FILE_BYTES = 64 * 1024;

/** The maximum of bytes of all files of a form that are kept in memory. */
export const MAX_MEMORY_BYTES = 1024 * 1024;

/** Stores the files of one form: small ones in memory, all others on disk until the request has ended. */
class FormFiles {
  /** Whether bytes are being written. */
  isStoring = false;
  readonly #context: RequestContext;
  #memoryBytes = 0;
  /** Ends when the file before has been stored. */
  #previous: Promise<unknown> = Promise.resolve();

  constructor(context: RequestContext) {
    this.#context = context;
  }

  /**
   * Reads the content of a file to its end. Resolves with a blob that can be read until the request has ended. Files are
   * stored one after the other: a small part of a body may contain many.
   *
   * @throws RequestError 429 or 503 if there are too many bytes; 503 if they cannot be stored
   */
  store(content: Readable): Promise<Blob> {
    const stored = this.#previous.then(() => this.#store(content));
    this.#previous = stored.catch(() => undefined); // the caller receives the error
    return stored;
  }

  async #store(content: Readable): Promise<Blob> {
    const kept: Uint8Array<ArrayBuffer>[] = [];
    let size = 0;
    let file: StoredFile | undefined;
    try {
      // The parser's stream has no encoding, so that its chunks are bytes.
      for await (const chunk of content as AsyncIterable<Uint8Array>) {
        size += chunk.length;
        if (!file && !this.#fitsInMemory(size)) {
          this.isStoring = true;
          file = await uploadStoreOf(this.#context).create(this.#context);
          for (const earlier of kept.splice(0)) await file.write(earlier);
        }
        this.isStoring = true;
        if (file) await file.write(chunk);
        else kept.push(new Uint8Array(chunk)); // a copy: the chunk is a part of a larger buffer
        this.isStoring = false;
      }
      this.isStoring = true;
    } finally {
      await file?.close();
    }
    const blob = await file?.asBlob();
    this.isStoring = false;
    if (blob) return blob;
    this.#context.takeBodyBytes(size);
    this.#memoryBytes += size;
    return new Blob(kept);
  }

  #fitsInMemory(size: number): boolean {
    return size <= MAX_MEMORY_FILE_BYTES && this.#memoryBytes + size <= MAX_MEMORY_BYTES;
  }
}
