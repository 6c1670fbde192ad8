import { state, view } from "tsweb/browser";

/** The one view of the measured page: what a page with a view costs is in its figure. */
export const Counter = view(() => {
  const counter = state({ count: 0 });
  return (
    <button
      type="button"
      onClick={() => {
        counter.count++;
      }}
    >
      {counter.count}
    </button>
  );
});
