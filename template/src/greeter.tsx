import { RPCError, state, view } from "tsweb/browser";
import { greet } from "./greetings.server.ts";

/** A form that greets the user by name. It is rendered on the server and hydrated in the browser. */
export const Greeter = view(() => {
  const form = state({ name: "", greeting: "", error: "" });

  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    form.greeting = form.error = "";
    try {
      form.greeting = await greet(form.name);
    } catch (error) {
      form.error = error instanceof RPCError ? error.message : String(error);
    }
  };

  return (
    <form onSubmit={submit}>
      <label for="name">Your name</label>
      <input id="name" value={form.name} onInput={(event) => (form.name = event.currentTarget.value)} />
      <button type="submit">Say hello</button>
      <p role="status">{form.greeting}</p>
      <p role="alert">{form.error}</p>
    </form>
  );
});
