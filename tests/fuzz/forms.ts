/** Generates forms, with and without script: valid ones, and hostile ones. */

import { OTHER_FUNCTIONS, PARAMETERS, RELIABLE_FUNCTIONS } from "./functions.ts";
import type { FuzzRequest } from "./fuzz-request.ts";
import type { FuzzRandom } from "./random.ts";

/** Paths of pages, and of what is none. */
const PAGES: readonly [string, ...string[]] = ["/", "/me", "/users/1", "/nowhere", "/files/a", "/healthz", "/moved"];

const BOUNDARY = "form";

/** Returns a form of a function, at one of its two addresses. */
export function generateForm(random: FuzzRandom): FuzzRequest {
  const functions = random.chance(0.8) ? RELIABLE_FUNCTIONS : OTHER_FUNCTIONS;
  const name = functions[random.below(functions.length)] ?? "";
  const isMultipart = random.chance(0.7);
  const fields = generateFields(random, name);
  const valid = isMultipart ? multipart(random, fields) : urlencoded(fields);
  const type = isMultipart ? `multipart/form-data; boundary=${BOUNDARY}` : "application/x-www-form-urlencoded";
  return {
    method: "POST",
    path: random.chance(0.5) ? `/__web/form/${name}` : pageAddress(random, name),
    headers: {
      "content-type": random.chance(0.95) ? type : "multipart/form-data",
      ...(random.chance(0.95) ? { "sec-fetch-site": random.chance(0.95) ? "same-origin" : "cross-site" } : {}),
    },
    body: random.chance(0.5) ? valid : random.mutate(valid),
    chunked: random.chance(0.2),
    disconnects: random.chance(0.02),
  };
}

function pageAddress(random: FuzzRandom, name: string): string {
  const parameter = random.pick([name, `${name}:ping`, `:${name}`, "%00", "", `${name}&__form=ping`]);
  return `${random.pick(PAGES)}?${random.pick(["", "a=1&", "&&", "%zz&", "__form&"])}__form=${parameter}`;
}

type Fields = readonly (readonly [name: string, value: string])[];

function generateFields(random: FuzzRandom, name: string): Fields {
  const parameters = PARAMETERS[name] ?? [];
  const own = parameters.map((parameter) => [parameter, generateText(random)] as const);
  const others = Array.from({ length: random.below(4) }, () => [generateName(random), generateText(random)] as const);
  return [...own, ...others];
}

function generateName(random: FuzzRandom): string {
  const simple = random.pick([
    "__csrf",
    "__key",
    "__args",
    "__proto__",
    "value.__proto__.polluted",
    "value.constructor.prototype.polluted",
    "value.0.1.2",
    "value.",
    ".",
    "value".padEnd(400, ".a"),
    'a"\r\nb',
  ]);
  return random.chance(0.8) ? simple : random.text(20);
}

function generateText(random: FuzzRandom): string {
  const simple = random.pick([
    "",
    "1",
    "-3",
    "on",
    "1e400",
    "{}",
    '{"value":1}',
    "a\r\nb",
    "<b>",
    "\0",
    "x".repeat(2_000),
  ]);
  return random.chance(0.7) ? simple : random.text(60);
}

function urlencoded(fields: Fields): Buffer {
  return Buffer.from(new URLSearchParams(fields.map((field) => [...field])).toString());
}

function multipart(random: FuzzRandom, fields: Fields): Buffer {
  const parts = fields.map(([name, value]) => {
    const isFile = random.chance(0.1);
    const escaped = name.replaceAll('"', "%22").replaceAll("\r\n", "%0D%0A");
    const file = isFile ? `; filename="../${escaped}"\r\nContent-Type: text/html` : "";
    return `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${escaped}"${file}\r\n\r\n${value}\r\n`;
  });
  return Buffer.from(`${parts.join("")}--${BOUNDARY}--\r\n`);
}
