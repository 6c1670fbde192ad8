import { state } from "tsweb/browser";
import type { FunctionInfo } from "../../panel-data.ts";
import { CallForm } from "./call-form.tsx";
import { Filter } from "./elements.tsx";

/** The server functions, each with a form that calls it. */
export function Functions({ functions }: { readonly functions: readonly FunctionInfo[] }) {
  const filter = state({ text: "" });
  if (functions.length === 0) return <p class="soft">The application has no server functions.</p>;
  const shown = functions.filter((fn) => `${fn.name} ${fn.location}`.toLowerCase().includes(filter.text.toLowerCase()));
  return (
    <>
      <div class="tools">
        <Filter label="Filter functions" onInput={(text) => (filter.text = text)} />
      </div>
      {shown.length === 0 && <p class="soft">No function matches the filter.</p>}
      <ul class="rows functions" aria-label="Functions">
        {shown.map((fn) => (
          <li key={fn.name}>
            <details>
              <summary>
                <Declaration fn={fn} />
                <code class="soft location">{fn.location}</code>
              </summary>
              <div class="body">
                {fn.deprecated !== undefined && <p class="warning">Deprecated. {fn.deprecated}</p>}
                {fn.description && <p class="description">{fn.description}</p>}
                <CallForm fn={fn} />
              </div>
            </details>
          </li>
        ))}
      </ul>
    </>
  );
}

function Declaration({ fn: { name, params, stream, requiresSignIn } }: { readonly fn: FunctionInfo }) {
  const list = params.map(
    ({ name: parameter, type, optional }) => `${parameter}${optional ? "?" : ""}${type && `: ${type}`}`,
  );
  return (
    <span class="declaration">
      <code>
        <strong>{name}</strong>({list.join(", ")})
      </code>
      {stream && <span class="tag">stream</span>}
      {requiresSignIn && <span class="tag">sign-in required</span>}
    </span>
  );
}
