/** A short run of the hostile multipart bodies of `npm run fuzz`. */
import { expect, it } from "vitest";
import { fuzzMultipart } from "./index.ts";

// FUZZ_MULTIPART=1000 sends as many.
const RUNS = Number(process.env.FUZZ_MULTIPART ?? 150);

it("a hostile multipart body gets a response of the protocol, in any chunks, and leaves no file", async () => {
  const { statuses, failures } = await fuzzMultipart({ seed: 20, runs: RUNS });
  expect(failures).toEqual([]);
  for (const status of [200, 400, 413]) expect(statuses[status], `${status}`).toBeGreaterThan(0);
});
