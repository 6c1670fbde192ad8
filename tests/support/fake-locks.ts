/** A model of the Web Locks API, for the tabs of a fake browser. */

/** What a tab does with a lock; `null` if it is not available. */
export type LockCallback = (lock: object | null) => unknown;

/** A tab, which runs nothing while it is suspended. */
interface LockTab {
  run(task: () => void): void;
}

interface LockRequest<Tab> {
  readonly tab: Tab;
  readonly callback: LockCallback;
  readonly reject: (error: DOMException) => void;
  readonly resolve: (value: unknown) => void;
}

/** The locks of a browser, by name. The first request of a queue holds the lock. */
export class FakeLocks<Tab extends LockTab> {
  readonly #queues = new Map<string, LockRequest<Tab>[]>();

  /** The tab that holds a lock. */
  holder(name: string): Tab | undefined {
    return this.#queues.get(name)?.[0]?.tab;
  }

  request(tab: Tab, name: string, options: LockOptions, callback: LockCallback): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const queue = this.#queues.get(name) ?? [];
      this.#queues.set(name, queue);
      const request = { tab, callback, resolve, reject };
      const abort = (message: string) => new DOMException(message, "AbortError");
      if (options.steal) {
        const robbed = queue.shift();
        queue.unshift(request);
        robbed?.tab.run(() => robbed.reject(abort("The lock was stolen.")));
        this.#grant(name, request);
        return;
      }
      if (options.ifAvailable && queue[0]) {
        tab.run(() => resolve(callback(null)));
        return;
      }
      options.signal?.addEventListener("abort", () => {
        if (queue.indexOf(request) < 1) return; // held
        queue.splice(queue.indexOf(request), 1);
        reject(abort("The request was aborted."));
      });
      queue.push(request);
      if (queue.length === 1) this.#grant(name, request);
    });
  }

  /** Releases everything of a tab that has ended. */
  release(tab: Tab): void {
    for (const [name, queue] of this.#queues) {
      const first = queue[0];
      queue.splice(0, queue.length, ...queue.filter((request) => request.tab !== tab));
      if (queue[0] && queue[0] !== first) this.#grant(name, queue[0]);
    }
  }

  #grant(name: string, request: LockRequest<Tab>): void {
    request.tab.run(async () => {
      const queue = this.#queues.get(name) ?? [];
      if (queue[0] !== request) return; // stolen, or the tab has ended
      request.resolve(await request.callback({}));
      if (queue[0] !== request) return;
      queue.shift();
      if (queue[0]) this.#grant(name, queue[0]);
    });
  }
}
