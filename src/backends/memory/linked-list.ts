/** An item of a {@link LinkedList}. Only the list writes these fields. */
export interface ListNode<T> {
  previous: T | undefined;
  next: T | undefined;
}

/** A doubly linked list: items are appended at the end, and any item is removed in constant time. */
export class LinkedList<T extends ListNode<T>> {
  #first: T | undefined;
  #last: T | undefined;

  get first(): T | undefined {
    return this.#first;
  }

  /** Appends an item that is in no list. */
  append(item: T): void {
    item.previous = this.#last;
    if (this.#last) this.#last.next = item;
    this.#last = item;
    this.#first ??= item;
  }

  /** Removes an item of this list. */
  remove(item: T): void {
    const { previous, next } = item;
    if (previous) previous.next = next;
    else this.#first = next;
    if (next) next.previous = previous;
    else this.#last = previous;
    item.previous = undefined;
    item.next = undefined;
  }
}
