import { state } from "tsweb/browser";
import type { RequestEntry } from "../../panel-data.ts";
import { Code, ErrorDetails, Filter, formatDuration, formatJson, formatTime } from "./elements.tsx";
import { clearRequests } from "./panel.server.ts";

/** The requests that the application has received, latest first. */
export function Requests({ requests }: { readonly requests: readonly RequestEntry[] }) {
  const filter = state({ text: "", failedOnly: false });
  const shown = requests
    .filter((entry) => (!filter.failedOnly || isFailed(entry)) && textOf(entry).includes(filter.text.toLowerCase()))
    .toReversed();
  return (
    <>
      <div class="tools">
        <Filter label="Filter requests" onInput={(text) => (filter.text = text)} />
        <label class="check">
          <input
            type="checkbox"
            checked={filter.failedOnly}
            onChange={(event) => (filter.failedOnly = event.currentTarget.checked)}
          />
          Failures only
        </label>
        <button type="button" onClick={() => clearRequests()}>
          Clear
        </button>
      </div>
      {shown.length === 0 && (
        <p class="soft">
          {requests.length === 0
            ? "No requests yet. They are recorded while this panel is open."
            : "No request matches the filter."}
        </p>
      )}
      <ol class="rows requests" aria-label="Requests">
        {shown.map((entry) => (
          <li key={entry.id}>
            <Request entry={entry} />
          </li>
        ))}
      </ol>
    </>
  );
}

function Request({ entry }: { readonly entry: RequestEntry }) {
  const { method, path, kind, target, status, durationMs, time, values, isPrefetch } = entry;
  return (
    <details class={isFailed(entry) ? "failed" : ""}>
      <summary>
        <span class="status">{status ?? "…"}</span>
        <span class="tag">{method}</span>
        <code class="path">{path}</code>
        <span class="soft target">
          {kind} {target !== "" && target !== path && <code>{target}</code>}
          {isPrefetch && " · prefetch"}
          {values !== null && ` · ${values} values`}
        </span>
        <span class="soft number">{durationMs === null ? "open" : formatDuration(durationMs)}</span>
        <time class="soft number" dateTime={new Date(time).toISOString()}>
          {formatTime(time)}
        </time>
      </summary>
      <RequestDetails entry={entry} />
    </details>
  );
}

function RequestDetails({ entry: { requestId, args, refusal, error } }: { readonly entry: RequestEntry }) {
  return (
    <div class="body">
      <p class="soft">
        Request <code>{requestId}</code>
      </p>
      {args !== null && (
        <dl class="args">
          {args.length === 0 && <dt class="soft">No arguments</dt>}
          {args.map(([name, json]) => (
            <div key={name}>
              <dt>
                <code>{name}</code>
              </dt>
              <dd>
                <Code label={`Argument ${name}`}>{formatJson(json)}</Code>
              </dd>
            </div>
          ))}
        </dl>
      )}
      {refusal && (
        <p>
          The caller received <code>{refusal.code}</code>: <span class="message">{refusal.message}</span>
        </p>
      )}
      {error && <ErrorDetails error={error} />}
    </div>
  );
}

function isFailed({ status, error }: RequestEntry): boolean {
  return error !== null || (status !== null && status >= 400);
}

function textOf({ method, path, kind, target, status, requestId, refusal, isPrefetch }: RequestEntry): string {
  return [method, path, kind, target, status, requestId, refusal?.code, isPrefetch ? "prefetch" : ""]
    .join(" ")
    .toLowerCase();
}
