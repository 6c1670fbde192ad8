import { ReadStream } from "node:fs";
import type { ServerResponse } from "node:http";

/** What files are answered with: like a response, and made for Node's servers. */
export interface FileAnswer extends Response {
  /** Gives what it is made of, once. */
  _toNodeResponse(): { readonly headers: readonly string[]; readonly body: unknown };
}

/** Answers whether a file is answered. */
export function isFileAnswer(answer: Response): answer is FileAnswer {
  return "_toNodeResponse" in answer;
}

/**
 * Breaks off the answer of a file that turns out to be of another length than it had when it was opened: it was
 * written anew meanwhile, as `cp` does with what is there. The client would wait for the rest of it, and take
 * the next answer of the connection for that, to be kept for a year.
 *
 * @param onChanged is told of it
 */
export function holdToLength(answer: FileAnswer, response: ServerResponse, onChanged: (error: Error) => void): void {
  const parts = answer._toNodeResponse();
  answer._toNodeResponse = () => parts;
  const { headers, body } = parts;
  if (!(body instanceof ReadStream)) return;
  const length = Number(headers[headers.indexOf("content-length") + 1]);
  // Before what writes it hears of the end, and ends the answer as if it were whole.
  body.once("end", () => {
    if (body.bytesRead === length) return;
    onChanged(new Error(`A file was changed while it was sent: of ${length} bytes there were ${body.bytesRead}.`));
    response.destroy();
  });
}
