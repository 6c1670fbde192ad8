/** The latest items, up to a number. Each has an id, which counts from 1 and is never used twice. */
export class BoundedList<Item extends { readonly id: number }> {
  readonly #max: number;
  #items: Item[] = [];
  #lastId = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** The items, oldest first. */
  get items(): readonly Item[] {
    return this.#items;
  }

  /** The id of the oldest item, or of the next one if there is none. */
  get firstId(): number {
    return this.#items[0]?.id ?? this.#lastId + 1;
  }

  /** Adds an item, and drops the oldest one of too many. */
  add(create: (id: number) => Item): Item {
    this.#lastId++;
    const item = create(this.#lastId);
    this.#items.push(item);
    if (this.#items.length > this.#max) this.#items.shift();
    return item;
  }

  clear(): void {
    this.#items = [];
  }
}
