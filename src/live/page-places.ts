/**
 * How many page loads of one client this process serves, in all channels together: each channel is watched, read and renewed for
 * itself, so a client with more could keep the bus busy.
 */
export const MAX_PLACES_PER_CLIENT = 1_000;

/** The page loads that a process serves, by client. One that has several connections in a channel has one place there. */
export class PagePlaces {
  /** By client and page load; the number of those that have taken the place. */
  readonly #clients = new Map<string, Map<string, number>>();

  /**
   * Takes the place of a page load in a channel, which others may have taken too.
   *
   * @returns a function to call when it is no longer needed; `null` if the client has all its places
   */
  take(client: string, channel: string, id: string): (() => void) | null {
    const place = `${id} ${channel}`;
    const places = this.#clients.get(client) ?? new Map<string, number>();
    const count = places.get(place) ?? 0;
    if (count === 0 && places.size >= MAX_PLACES_PER_CLIENT) return null;
    places.set(place, count + 1);
    this.#clients.set(client, places);
    let isTaken = true;
    return () => {
      if (isTaken) this.#release(client, place);
      isTaken = false;
    };
  }

  #release(client: string, place: string): void {
    const places = this.#clients.get(client);
    const count = places?.get(place) ?? 0;
    if (count > 1) places?.set(place, count - 1);
    else places?.delete(place);
    if (places?.size === 0) this.#clients.delete(client);
  }
}
