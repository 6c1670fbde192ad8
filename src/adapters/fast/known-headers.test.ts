import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, IncomingMessage } from "node:http";
import { type AddressInfo, Socket } from "node:net";
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { openSocket, readUntil } from "#test/raw-http";
import { KnownNames, RequestWithKnownHeaders } from "./known-headers.ts";

/** Returns headers as Node makes them. */
function headersOfNode(rawHeaders: readonly string[]): IncomingHttpHeaders {
  const request = new IncomingMessage(new Socket()) as IncomingMessage & {
    _addHeaderLines(lines: readonly string[], count: number): void; // no public name
  };
  request._addHeaderLines([...rawHeaders], rawHeaders.length);
  return request.headers;
}

let known: KnownNames;

beforeEach(() => {
  known = new KnownNames();
});

/** Returns the headers of a request, and whether their names were known. */
function read(rawHeaders: readonly string[]): { headers: IncomingHttpHeaders; isKnown: boolean } {
  const headers = known.headersOf(rawHeaders);
  if (headers) return { headers, isKnown: true };
  const made = headersOfNode(rawHeaders);
  known.remember(made, rawHeaders);
  return { headers: made, isKnown: false };
}

/** Lists headers with one value. */
const listOf = (names: readonly string[], value = "1") => names.flatMap((name) => [name, value]);

/** Lists as many names. */
const namesOf = (count: number, prefix = "X-") => Array.from({ length: count }, (_, at) => `${prefix}${at}`);

const NAMES = [
  "Host",
  "host",
  "Cookie",
  "Set-Cookie",
  "Accept",
  "Content-Type",
  "X-A",
  "1",
  "0",
  "__proto__",
  "constructor",
];

describe("the headers of a request", () => {
  it("are those of Node: the same names, values and order, whatever was requested before", () => {
    const line = fc.tuple(fc.constantFrom(...NAMES), fc.constantFrom("", "a", "b, c"));
    const requests = fc.array(fc.array(line, { maxLength: 4 }), { maxLength: 60 });
    fc.assert(
      fc.property(requests, (lists) => {
        known = new KnownNames();
        for (const list of lists.map((lines) => lines.flat())) {
          expect(Object.entries(read(list).headers)).toEqual(Object.entries(headersOfNode(list)));
        }
      }),
    );
  });

  it("are made by Node once for the same names, and have the values of each request", () => {
    const first = read(["Host", "a", "Accept", "b"]);
    const second = read(["Host", "c", "Accept", "d"]);
    expect([first, second]).toEqual([
      { headers: { host: "a", accept: "b" }, isKnown: false },
      { headers: { host: "c", accept: "d" }, isKnown: true },
    ]);
    expect(Object.getPrototypeOf(second.headers)).toBe(Object.prototype);
  });

  it("may be changed without a change of those of later requests", () => {
    read(["Host", "a"]);
    Object.assign(read(["Host", "b"]).headers, { host: "changed", added: "1" });
    expect(read(["Host", "c"]).headers).toEqual({ host: "c" });
  });

  it.each<[string, readonly string[]]>([
    ["a repeated name", ["Accept", "a", "Accept", "b"]],
    ["a repeated name in other letters", ["Host", "a", "host", "b"]],
    ["Set-Cookie, which is a list", ["Set-Cookie", "a=1"]],
    ["a name that is a number, which an object lists first", ["b", "1", "0", "2"]],
    ["a name that is a number, and the values are equal", ["b", "1", "0", "1"]],
    ["a name that an object does not keep", ["__proto__", "a"]],
  ])("are always made by Node if there is %s", (_, list) => {
    expect([read(list).isKnown, read(list).isKnown]).toEqual([false, false]);
  });

  it.each<[string, readonly string[]]>([
    ["in other letters", ["host", "accept"]],
    ["in another order", ["Accept", "Host"]],
    ["with one more", ["Host", "Accept", "Cookie"]],
    ["with one less", ["Host"]],
  ])("are made by Node for names %s", (_, names) => {
    read(listOf(["Host", "Accept"]));
    expect(read(listOf(names))).toEqual({ headers: headersOfNode(listOf(names)), isKnown: false });
  });

  it("are those of no names for a request without any", () => {
    read([]);
    expect(read([])).toEqual({ headers: {}, isKnown: true });
  });
});

describe("the names of the headers of earlier requests", () => {
  const isKept = (names: readonly string[]) => {
    read(listOf(names));
    return read(listOf(names)).isKnown;
  };

  it("are kept of requests with 40 headers, and not of those with 41", () => {
    expect([40, 41].map((count) => isKept(namesOf(count)))).toEqual([true, false]);
  });

  it("are kept if they have 64 characters, and not if one has 65", () => {
    expect([64, 65].map((length) => isKept(["x".repeat(length)]))).toEqual([true, false]);
  });

  it("are kept in four lists for a number of headers, of which each 64th request with other names replaces the oldest", () => {
    for (let at = 0; at < 4; at++) expect(isKept([`first-${at}`])).toBe(true);
    for (let at = 0; at < 63; at++) expect(read(listOf([`other-${at}`])).isKnown).toBe(false);
    for (let at = 0; at < 4; at++) expect(read(listOf([`first-${at}`])).isKnown).toBe(true);
    read(listOf(["last"]));
    expect(read(listOf(["last"])).isKnown).toBe(true);
    expect(["first-0", "first-1", "first-2", "first-3"].map((name) => read(listOf([name])).isKnown)).toEqual([
      false,
      true,
      true,
      true,
    ]);
  });
});

it("gives the requests of a server their headers", async () => {
  const server = createServer(
    { IncomingMessage: RequestWithKnownHeaders as unknown as typeof IncomingMessage }, // it inherits all members
    (request, response) => {
      const { headers } = request;
      const isSame = headers === request.headers;
      request.headers = { replaced: "yes" };
      response.end(JSON.stringify([headers, isSame, request.headers]));
    },
  );
  await once(server.listen(0, "127.0.0.1"), "listening");
  const socket = await openSocket(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  try {
    for (const value of ["a", "b", "c"]) {
      const response = readUntil(socket, /\]$/);
      socket.write(`GET / HTTP/1.1\r\nHost: h\r\nX-Value: ${value}\r\n\r\n`);
      const [, body = ""] = (await response).split("\r\n\r\n");
      expect(JSON.parse(body)).toEqual([{ host: "h", "x-value": value }, true, { replaced: "yes" }]);
    }
  } finally {
    socket.destroy();
    server.close();
  }
});
