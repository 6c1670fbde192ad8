import { describe, expect, it } from "vitest";
import { MAX_SILENCE_MS, MIN_BYTES_PER_SECOND, RATE_WINDOW_MS, UploadPace } from "./upload-body.ts";

const MINUTE_BYTES = MIN_BYTES_PER_SECOND * 60;

describe("the pace of an upload", () => {
  it("allows 30 seconds without a byte", () => {
    expect(MAX_SILENCE_MS).toBe(30_000);
    expect(new UploadPace().maxWaitMs).toBe(30_000);
  });

  it("allows exactly the minimum rate for as long as the client keeps it", () => {
    const pace = new UploadPace();
    for (let second = 0; second < 600; second++) expect(pace.received(MIN_BYTES_PER_SECOND, 1000)).toBe(true);
  });

  it("refuses one byte less in a minute [REQUEST-37]", () => {
    const pace = new UploadPace();
    for (let second = 0; second < 59; second++) expect(pace.received(MIN_BYTES_PER_SECOND, 1000)).toBe(true);
    expect(pace.received(MIN_BYTES_PER_SECOND - 1, 1000)).toBe(false);
  });

  it("ends the wait at the end of the minute if too little has arrived by then", () => {
    const pace = new UploadPace();
    pace.received(1, 25_000);
    pace.received(1, 25_000);
    expect(pace.maxWaitMs).toBe(10_000);
    pace.received(MINUTE_BYTES, 0);
    expect(pace.maxWaitMs).toBe(MAX_SILENCE_MS);
  });

  it("starts anew after each minute: a fast first minute does not pay for a slow second one", () => {
    const pace = new UploadPace();
    expect(pace.received(100 * MINUTE_BYTES, RATE_WINDOW_MS)).toBe(true);
    expect(pace.received(MINUTE_BYTES - 1, RATE_WINDOW_MS)).toBe(false);
  });

  it("does not count the time in which the server does not wait for the client", () => {
    const pace = new UploadPace();
    for (let chunk = 0; chunk < 100_000; chunk++) expect(pace.received(1, 0)).toBe(true);
  });
});
