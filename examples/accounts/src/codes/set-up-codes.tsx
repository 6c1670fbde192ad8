import { state, view } from "tsweb/browser";
import { Field, Submit, send, useForm } from "../form.tsx";
import { set_up_codes, switch_codes_on } from "./codes.server.ts";
import { CODE, wrongCode } from "./enter-code.tsx";

/** Two steps: the secret for the app, and a code that shows that the app has it. */
export const SetUpCodes = view(() => {
  const form = useForm();
  const made = state({ secret: "", link: "" });

  const begin = async () => {
    Object.assign(made, await set_up_codes());
  };
  const finish = async ({ code = "" }) => {
    if (!(await switch_codes_on(code))) throw wrongCode();
    location.reload();
  };

  if (!made.secret) {
    return (
      <form method="post" onSubmit={(event) => send(form, event, begin)}>
        <Submit of={form} label="Set up one-time codes" busy="Making a secret…" />
      </form>
    );
  }
  return (
    <>
      <ol class="steps" tabIndex={-1} ref={focus}>
        <li>
          <p>
            <a href={made.link}>Open your authenticator app</a>, or type this secret into it:
          </p>
          <code class="secret">{made.secret.match(/.{4}/g)?.join(" ")}</code>
        </li>
        <li>Type in the code that the app shows.</li>
      </ol>
      <form method="post" onSubmit={(event) => send(form, event, finish)}>
        <Field of={form} {...CODE} />
        <Submit of={form} label="Switch on" busy="Checking…" />
      </form>
    </>
  );
});

/** The button that was pressed is gone: what came in its place is read out, and Tab goes on from there. */
const focus = (element: HTMLElement | null) => element?.focus();
