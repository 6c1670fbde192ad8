import { state, view } from "tsweb/browser";
import { createForm, Field, Submit, submitForm } from "../form.tsx";
import { set_up_codes, switch_codes_on } from "./codes.server.ts";
import { CODE_FIELD, wrongCodeError } from "./enter-code.tsx";

/** Sets one-time codes up in two steps: shows the secret for the app, then requests a code of the app. */
export const SetUpCodes = view(() => {
  const form = createForm();
  const setup = state({ secret: "", link: "" });

  const start = async () => {
    Object.assign(setup, await set_up_codes());
  };
  const finish = async ({ code = "" }) => {
    if (!(await switch_codes_on(code))) throw wrongCodeError();
    location.reload();
  };

  if (!setup.secret) {
    return (
      <form method="post" onSubmit={(event) => submitForm(form, event, start)}>
        <Submit formState={form} label="Set up one-time codes" busyLabel="Creating a secret…" />
      </form>
    );
  }
  return (
    <>
      <ol class="steps" tabIndex={-1} ref={focus}>
        <li>
          <p>
            <a href={setup.link}>Open your authenticator app</a>, or type this secret into it:
          </p>
          <code class="secret">{setup.secret.match(/.{4}/g)?.join(" ")}</code>
        </li>
        <li>Enter the code that the app shows.</li>
      </ol>
      <form method="post" onSubmit={(event) => submitForm(form, event, finish)}>
        <Field formState={form} {...CODE_FIELD} />
        <Submit formState={form} label="Switch on" busyLabel="Checking…" />
      </form>
    </>
  );
});

/** Moves the focus to the new content, since the pressed button was removed. Screen readers announce it. */
const focus = (element: HTMLElement | null) => element?.focus();
