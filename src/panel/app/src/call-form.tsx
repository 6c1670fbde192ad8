import { on_unmount, state, type TargetedEvent } from "tsweb/browser";
import type { FunctionInfo, ParameterInfo } from "../../panel-data.ts";
import type { CallArguments } from "./call.ts";
import { type CallOutcome, sendCall } from "./call.ts";
import { Code, formatDuration, formatValue } from "./elements.tsx";
import { ParameterField } from "./parameter-field.tsx";

/** How many values of a stream are shown. */
const MAX_VALUES = 200;

interface CallState {
  entered: Entered;
  isRunning: boolean;
  outcome: CallOutcome | null;
  values: readonly unknown[];
  /** Why the call could not be sent, or did not end. */
  problem: string;
  problemField: string;
}

/** The form that calls a function, and what the call led to. */
export function CallForm({ fn }: { readonly fn: FunctionInfo }) {
  const call = state<CallState>({
    entered: {},
    isRunning: false,
    outcome: null,
    values: [],
    problem: "",
    problemField: "",
  });
  const own = state({ controller: null as AbortController | null });
  on_unmount(() => own.controller?.abort());

  const submit = async (event: TargetedEvent<HTMLFormElement, SubmitEvent>) => {
    event.preventDefault();
    const args = readArguments(fn, call.entered, filesOf(event.currentTarget));
    Object.assign(call, { outcome: null, values: [], problem: "", problemField: "" });
    if ("message" in args) {
      call.problem = args.message;
      call.problemField = args.name;
      return;
    }
    const controller = new AbortController();
    own.controller = controller;
    call.isRunning = true;
    try {
      const onValue = (value: unknown) => (call.values = [...call.values, value].slice(-MAX_VALUES));
      call.outcome = await sendCall(fn, args, { signal: controller.signal, onValue });
    } catch (error) {
      call.problem = controller.signal.aborted ? "The call was cancelled." : String(error);
    } finally {
      call.isRunning = false;
    }
  };

  return (
    <form class="call" method="post" onSubmit={submit}>
      {fn.params.map((parameter) => (
        <ParameterField
          key={parameter.name}
          fieldId={`${fn.name}-${parameter.name}`}
          parameter={parameter}
          value={call.entered[parameter.name] ?? ""}
          problem={call.problemField === parameter.name ? call.problem : ""}
          onInput={(value) => (call.entered = { ...call.entered, [parameter.name]: value })}
        />
      ))}
      <div class="tools">
        <button class="main" type="submit" disabled={call.isRunning}>
          Call {fn.name}
        </button>
        {call.isRunning && (
          <button type="button" onClick={() => own.controller?.abort()}>
            Cancel
          </button>
        )}
      </div>
      <output class="outcome" aria-live="polite">
        {call.problem && <p class="failed">{call.problem}</p>}
        {call.values.length > 0 && <Code label="Values">{call.values.map(formatValue).join("\n")}</Code>}
        {call.outcome && <Outcome outcome={call.outcome} />}
      </output>
    </form>
  );
}

/** Returns the selected files of a form, by the name of the field. */
function filesOf(form: HTMLFormElement): ReadonlyMap<string, readonly File[]> {
  const inputs = [...form.querySelectorAll<HTMLInputElement>("input[type=file]")];
  return new Map(inputs.map(({ name, files }) => [name, [...(files ?? [])]]));
}

function Outcome({ outcome }: { readonly outcome: CallOutcome }) {
  const { status, requestId, durationMs, redirect, body } = outcome;
  return (
    <>
      <p class={status >= 400 ? "failed" : ""}>
        <span class="status">{status}</span> in {formatDuration(durationMs)}, request <code>{requestId}</code>
      </p>
      {redirect !== null && (
        <p>
          Redirects to <a href={redirect}>{redirect}</a>
        </p>
      )}
      {body !== null && <Code label="Result">{formatValue(shownBody(body))}</Code>}
    </>
  );
}

/** Returns the result without the object around it. Errors are shown as they were received. */
function shownBody(body: unknown): unknown {
  const isResult = typeof body === "object" && body !== null && "result" in body;
  return isResult ? body.result : body;
}

/** What was entered in the fields of a function, by the name of the parameter. */
type Entered = Readonly<Record<string, string>>;

/** A field whose text is no value of its type. */
interface FieldProblem {
  readonly name: string;
  readonly message: string;
}

/**
 * Returns the arguments of a call by what was entered. An empty field of an optional parameter is left out, so that the
 * function uses its default. Numbers are sent as they were typed: the function's own check decides.
 */
function readArguments(
  { params }: FunctionInfo,
  entered: Entered,
  files: ReadonlyMap<string, readonly File[]>,
): CallArguments | FieldProblem {
  const values: Record<string, unknown> = {};
  for (const parameter of params) {
    const { name } = parameter;
    const text = entered[name] ?? "";
    if (parameter.input === "file" || parameter.input === "files") continue;
    if (text === "" && (parameter.optional || parameter.input !== "text")) continue;
    try {
      values[name] = readValue(parameter, text);
    } catch {
      return { name, message: `${name} is not valid JSON. Write a text in quotes: ${JSON.stringify(text)}` };
    }
  }
  const sent = params.flatMap(({ name }) => (files.get(name) ?? []).map((file) => [name, file] as const));
  return { values, files: sent };
}

/** @throws SyntaxError for invalid JSON */
function readValue({ input }: ParameterInfo, text: string): unknown {
  return input === "text" || input === "int" || input === "float" ? text : JSON.parse(text);
}
