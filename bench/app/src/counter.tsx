import { state, view } from "tsweb/browser";

/** The view of the measured page, so that the result includes the cost of a view. */
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
