/** What a {@link LinkedList} strings together: its neighbours are the timeline's to write. */
export interface ListNode<T> {
  older: T | undefined;
  newer: T | undefined;
}

/** Holds things in the order in which they came, and lets go of any of them in one step. */
export class LinkedList<T extends ListNode<T>> {
  #oldest: T | undefined;
  #newest: T | undefined;

  get oldest(): T | undefined {
    return this.#oldest;
  }

  /** Adds what is in no timeline yet. */
  add(item: T): void {
    item.older = this.#newest;
    if (this.#newest) this.#newest.newer = item;
    this.#newest = item;
    this.#oldest ??= item;
  }

  /** Takes out what is in it. */
  remove(item: T): void {
    const { older, newer } = item;
    if (older) older.newer = newer;
    else this.#oldest = newer;
    if (newer) newer.older = older;
    else this.#newest = older;
    item.older = undefined;
    item.newer = undefined;
  }
}
