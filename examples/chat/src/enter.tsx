import { on_mount, RPCError, state, type TargetedEvent, view } from "tsweb/browser";
import { enter } from "./room.server.ts";

/** The form in which a user enters the room. */
export const Enter = view(() => {
  const form = state({ name: "", error: "", isBusy: false, isHydrated: false });

  on_mount(() => {
    form.isHydrated = true;
  });

  const submit = async (event: TargetedEvent<HTMLFormElement, SubmitEvent>) => {
    event.preventDefault();
    if (form.isBusy) return;
    const field = event.currentTarget.querySelector("input");
    form.isBusy = true;
    form.error = "";
    try {
      await enter(form.name);
      location.assign("/room");
    } catch (error) {
      const isForUser = error instanceof RPCError && error.code !== "internal";
      form.error = isForUser ? error.message : "The server did not answer. Try again.";
      form.isBusy = false;
      field?.focus();
    }
  };

  return (
    <form class="enter" method="post" onSubmit={submit}>
      <label for="name">Your name</label>
      <input
        id="name"
        name="name"
        autoComplete="nickname"
        value={form.name}
        aria-invalid={form.error !== ""}
        aria-describedby="name-error"
        onInput={(event) => {
          form.name = event.currentTarget.value;
          form.error = "";
        }}
      />
      <p class="error" id="name-error" role="alert">
        {form.error}
      </p>
      <button class="main" type="submit" disabled={!form.isHydrated} aria-disabled={form.isBusy}>
        Enter the lobby
      </button>
    </form>
  );
});
