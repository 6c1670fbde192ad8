import { expect, it } from "vitest";
import { MAX_PLACES_PER_CLIENT, PagePlaces } from "./page-places.ts";

it("gives each client a number of places, and a page that has one in a channel no further one", () => {
  const places = new PagePlaces();
  const taken = Array.from({ length: MAX_PLACES_PER_CLIENT }, (_, at) =>
    places.take("alice", `room ${at % 7}`, `${at}`),
  );
  expect(taken).not.toContain(null);
  expect(places.take("alice", "room 0", "another")).toBeNull();
  const again = places.take("alice", "room 0", "0");
  expect(again).not.toBeNull();
  expect(places.take("bob", "room 0", "another")).not.toBeNull();
  taken[0]?.();
  taken[0]?.();
  expect(places.take("alice", "room 0", "another")).toBeNull(); // it is taken once more
  again?.();
  expect(places.take("alice", "room 0", "another")).not.toBeNull();
  expect(places.take("alice", "room 1", "another")).toBeNull();
});
