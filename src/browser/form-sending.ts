/**
 * Sends forms, shows their errors and resets their fields. It is loaded when a form gets the focus.
 */
import { h } from "preact";
import { RPCError } from "../errors.ts";
import {
  BUILD_HEADER,
  CSRF_FIELD,
  CSRF_HEADER,
  callError,
  type FieldErrors,
  type FieldValues,
  FORM_PREFIX,
  fieldErrorId,
  formHead,
  IDEMPOTENCY_HEADER,
  REDIRECT_HEADER,
  readFormParameter,
  readResult,
  returnedErrorMessage,
} from "../protocol/index.ts";
import { post, token } from "./call.ts";
import { watchErrors } from "./dev/form-checks.ts";
import { reportWarning } from "./dev/report.ts";
import { dispatchInput, type Field, getFields, isModified } from "./fields.ts";
import type { FormState } from "./form.ts";
import { fetchWithProgress } from "./form-upload.ts";
import { getPageData } from "./page-data.ts";

/** How long a form that was redirected cannot be sent again: the browser needs time to open the next page. */
const REDIRECT_MS = 2_000;

/** For the user of the form. */
const UNREACHABLE = "The server cannot be reached. Check your connection, and send the form again.";

interface Submission {
  /** The parameter of the form's address, which names the function. */
  readonly target: string;
  readonly body: FormData;
}

/** The member of `history.state` that has the keys of forms which were redirected: it stays with the page when Back loads it again. */
const KEYS = "tsweb-forms";

/** The keys that the forms of this page had when it was left, by form, if Back has loaded it again. Each is used once, for the same fields. */
const earlierKeys: Record<string, string | undefined> = {
  ...((performance.getEntriesByType("navigation") as PerformanceNavigationTiming[]).some(
    ({ type }) => type === "back_forward",
  ) && history.state?.[KEYS]),
};

/** The submissions of forms that are being sent: the first one of each is sent, or was, and the others wait. */
const queues = new WeakMap<FormState, Submission[]>();

/**
 * Sends a form to a function, and shows its result or its errors. Its `pending` is set. It never rejects. If it is being sent
 * already, the submission waits for its turn; one that has the same fields as the last is dropped, as by a double click: also if
 * the form has disabled its fields meanwhile. After a reset, the request is aborted, and its outcome is not shown; nothing waits any more.
 *
 * @param target the parameter of the form's address, which names the function
 */
export async function sendForm(state: FormState, target: string, body: FormData): Promise<void> {
  const submission: Submission = { target, body };
  const earlier = queues.get(state);
  if (earlier) {
    if (!isRepeated(submission, earlier.at(-1), state.element)) earlier.push(submission);
    return;
  }
  const queue = [submission];
  queues.set(state, queue);
  for (const next of queue) {
    if (queues.get(state) !== queue) return; // reset
    if (next !== submission) state.update({ pending: true, sent: 0 });
    await sendSubmission(state, next);
  }
  if (queues.get(state) === queue) queues.delete(state);
}

/** Returns whether a submission has the fields of the previous one, except those that the form has disabled since. */
function isRepeated(
  { target, body }: Submission,
  previous: Submission | undefined,
  form: HTMLFormElement | undefined,
): boolean {
  const omitted = form ? disabledNames(form).filter((name) => !body.has(name)) : [];
  return previous?.target === target && describeFields(previous.body, omitted) === describeFields(body, omitted);
}

function describeFields(data: FormData, omitted: readonly string[]): string {
  const identify = (value: FormDataEntryValue) =>
    typeof value === "string" ? value : JSON.stringify([value.name, value.size, value.lastModified]);
  return JSON.stringify(
    [...data].filter(([name]) => !omitted.includes(name)).map(([name, value]) => [name, identify(value)]),
  );
}

/**
 * Returns the key of the last submission of a form if that may have run and had the same fields, or a new one. So a submission after
 * one with other fields runs. A key ends with a hash of the fields: if two of them have one hash, the server still compares the fields.
 */
function chooseKey(state: FormState, form: string, body: FormData): string {
  const ending = `-${hashOf(form + describeFields(body, [CSRF_FIELD]))}`;
  // Another form of the function may have the key of the page. In this form, it is the last one only at first.
  if (!("once" in state) && earlierKeys[form]?.endsWith(ending)) {
    state.once = earlierKeys[form];
    earlierKeys[form] = undefined;
  }
  if (state.once?.endsWith(ending)) return state.once;
  state.once = crypto.getRandomValues(new Uint32Array(4)).join("-") + ending;
  return state.once;
}

/** Returns a hash of a text: FNV-1a, 32 bits. `crypto.subtle` exists on HTTPS only. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

async function sendSubmission(state: FormState, { target, body }: Submission): Promise<void> {
  const { name, version } = readFormParameter(target);
  const url = getPageData().base + FORM_PREFIX + name;
  const sending = new AbortController();
  const { signal } = sending;
  state.sending = sending;
  const form = `${name} ${state.key}`;
  const once = chooseKey(state, form, body);
  const send = state.readsProgress ? fetchWithProgress((sent) => state.update({ sent })) : fetch;
  try {
    // The header has the current token, the hidden field that of the last rendering.
    const response = await post(name, {}, undefined, undefined, () => {
      const headers = {
        [IDEMPOTENCY_HEADER]: once,
        ...(token ? { [CSRF_HEADER]: token } : {}),
        ...(version ? { [BUILD_HEADER]: version } : {}),
      };
      return send(url, { method: "POST", body, headers, signal }).catch((cause) => {
        throw callError(UNREACHABLE, cause);
      });
    });
    const isRedirect = response.headers.has(REDIRECT_HEADER);
    // After Back, the form of a page that was left for its outcome has it again.
    if (isRedirect) keepKey(state.element, form, once);
    let result: unknown;
    // The body of a redirect is not awaited: the browser may keep the page before it is there, and shows it again later.
    if (isRedirect) await waitUntilLeft();
    else {
      result = await readResult(name, response);
      state.once = undefined;
    }
    if (signal.aborted) return;
    // Bundlers remove this from production.
    if (process.env.NODE_ENV !== "production" && !state.isHandle) warnAboutReturnedError(name, result);
    showResult(state, result ?? undefined, typedValues(state.element, body));
  } catch (error) {
    const { cause } = error as RPCError; // post and readResult throw nothing else
    // Any other error than the application's has a cause, like that of a proxy: the function may have run.
    if (!("cause" in (error as RPCError))) state.once = undefined;
    if (!signal.aborted) showError(state, body, (cause instanceof RPCError ? cause : error) as RPCError);
  }
  if (signal.aborted) return;
  try {
    state.done?.({ result: state.result, error: state.error, data: body });
  } catch (error) {
    reportError(error); // that of the application
  }
}

/**
 * Keeps the key of a form with the entry of the page in the history, unless the application has something else than an object there.
 * A form with a password has none there: passwords could be tried against the hash in it.
 */
function keepKey(element: HTMLFormElement | undefined, form: string, key: string): void {
  const { state } = history;
  if (state && Object.getPrototypeOf(state) !== Object.prototype) return;
  if (element && find(element, "[type=password]")) return;
  try {
    history.replaceState({ ...state, [KEYS]: { ...state?.[KEYS], [form]: key } }, "");
  } catch (error) {
    reportError(error); // Safari allows 100 calls in 30 seconds
  }
}

/** Waits while the browser leaves the page. If it has kept the page for Back, the form can be sent as soon as it is shown again. */
function waitUntilLeft(): Promise<unknown> {
  return new Promise((resolve) => {
    setTimeout(resolve, REDIRECT_MS);
    addEventListener("pageshow", resolve, { once: true });
  });
}

function warnAboutReturnedError(name: string, result: unknown): void {
  const message = returnedErrorMessage(name, result);
  if (message) reportWarning(new Error(message));
}

function showError(state: FormState, body: FormData, error: RPCError): void {
  const { element, fn, key, isHandle } = state;
  const errors = (error.details.errors ?? {}) as FieldErrors; // docs/protocol.md 15.6
  // The hidden fields, which precede it, are those of the form.
  const summary = isHandle
    ? undefined
    : formHead(h, { name: fn.id, key, csrfToken: null, error, errors }).slice(key ? 1 : 0);
  const values = typedValues(element, body);
  state.update({ pending: false, result: undefined, error, errors, values, summary }, () => {
    (markFields(state, errors) ?? (element && find(element, "[role=alert]")))?.focus();
  });
  if (process.env.NODE_ENV !== "production" && isHandle) watchErrors(state);
}

/** Returns the first such element of a form, whose `querySelector` may be a field of that name. */
function find(form: HTMLFormElement, selector: string): HTMLElement | null {
  return Element.prototype.querySelector.call<Element, [string], HTMLElement | null>(form, selector);
}

/** Resets state and fields of a form, and aborts its request if it is being sent. */
export function clear(state: FormState): void {
  state.sending?.abort();
  queues.delete(state);
  showResult(state);
}

/** Resets state and fields of a form, and shows its result. */
function showResult(state: FormState, result?: unknown, values: FieldValues = {}): void {
  if (state.element) resetFields(state.element);
  markFields(state, {});
  state.update({ ...state.initial, result, values });
}

/** Passes the fields of a form that was sent without script to the view. */
export function takeOver({ element, values }: FormState): void {
  if (element) takeOverFields(element, values);
}

/** Returns the texts of a form by field, without passwords: several of one name are a list. */
function typedValues(form: HTMLFormElement | undefined, body: FormData): FieldValues {
  const values: Record<string, string | string[]> = {};
  for (const name of new Set(body.keys())) {
    const texts = body.getAll(name).filter((value) => typeof value === "string");
    const isSecret = name.startsWith("__") || (form && find(form, `[type=password][name=${CSS.escape(name)}]`));
    const [text = "", ...more] = texts;
    if (!isSecret) values[name] = more.length > 0 ? texts : text;
  }
  return values;
}

function disabledNames(form: HTMLFormElement): string[] {
  return fieldsOf(form)
    .filter((field) => field.matches(":disabled"))
    .map(({ name }) => name);
}

/**
 * Resets the fields of a form to their defaults, and dispatches the events of an input by the user. An application
 * prevents it as in HTML: by `preventDefault` of the `reset` event.
 */
function resetFields(form: HTMLFormElement): void {
  const modified = fieldsOf(form).filter(isModified);
  // Firefox replaces the text nodes of an `<output>`: Preact would then write the result to one that is not shown.
  const outputs = [...document.querySelectorAll("output")].filter((output) => output.form === form);
  const texts = outputs.map(({ childNodes }) => [...childNodes]);
  HTMLFormElement.prototype.reset.call(form); // form.reset may be a field of that name
  outputs.forEach((output, index) => void output.replaceChildren(...(texts[index] ?? [])));
  modified.forEach(dispatchInput);
}

/**
 * Passes the values that the server has restored to the view, like text that was typed early. From then on, the
 * defaults of text fields are empty, because those of the application were replaced by the values.
 */
function takeOverFields(form: HTMLFormElement, values: FieldValues): void {
  for (const field of fieldsOf(form)) {
    const typed = values[field.name];
    if (typed === undefined) continue;
    // Preact sets the text of a textarea when it hydrates, and of no other field.
    const value = field.type === "textarea" ? `${typed}` : field.value;
    if ("defaultValue" in field && !/^(checkbox|radio)$/.test(field.type)) field.defaultValue = "";
    if (!("options" in field)) field.value = value;
    dispatchInput(field);
  }
}

/**
 * Marks the fields with errors, as the server does when it renders a form that was refused.
 *
 * @returns the first of the fields
 */
function markFields({ element, isHandle, fn, key }: FormState, errors: FieldErrors): Field | undefined {
  let first: Field | undefined;
  for (const field of element ? fieldsOf(element) : []) {
    const isInvalid = Object.hasOwn(errors, field.name);
    if (isInvalid) first ??= field;
    setAttribute(field, "aria-invalid", isInvalid && "true");
    if (isHandle) continue;
    const id = fieldErrorId(fn.id, key, field.name);
    const ids = (field.getAttribute("aria-describedby") ?? "").split(" ").filter((other) => other && other !== id);
    setAttribute(field, "aria-describedby", (isInvalid ? [...ids, id] : ids).join(" "));
  }
  return first;
}

/** Returns the fields of a form. It does not read `form.elements`, which a field of that name replaces. */
function fieldsOf(form: HTMLFormElement): Field[] {
  return getFields().filter((field) => field.form === form);
}

function setAttribute(element: Element, name: string, value: string | false): void {
  if (value) element.setAttribute(name, value);
  else element.removeAttribute(name);
}
