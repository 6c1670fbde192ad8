import { type Feed, on_mount, state, subscribe, view } from "tsweb/browser";
import type { ApplicationInfo, ChangedPart, EndpointInfo, LiveInfo, RequestChanges } from "../../panel-data.ts";
import { createRefresh } from "./data.ts";
import { ErrorDetails } from "./elements.tsx";
import { Functions } from "./functions.tsx";
import { Live } from "./live.tsx";
import { Requests } from "./requests.tsx";

interface Props {
  readonly feed: Feed<readonly ChangedPart[]>;
  readonly application: ApplicationInfo;
  readonly requests: RequestChanges;
  readonly live: LiveInfo;
}

const SECTIONS = ["functions", "routes", "requests", "live"] as const;

type Section = (typeof SECTIONS)[number];

/** The development panel: the application, its requests and its live updates, as they are now. */
export const Panel = view(({ feed, application, requests, live }: Props) => {
  const shown = state({ application, requests: requests.entries, version: requests.version, live });
  const page = state({ section: "functions" as Section });

  on_mount(() => {
    const stop = subscribe(feed, createRefresh(shown));
    const selectSection = () => {
      page.section = SECTIONS.find((section) => `#${section}` === location.hash) ?? "functions";
    };
    selectSection();
    addEventListener("hashchange", selectSection);
    return () => {
      stop();
      removeEventListener("hashchange", selectSection);
    };
  });

  const counts: Readonly<Record<Section, number>> = {
    functions: shown.application.functions.length,
    routes: shown.application.endpoints.length,
    requests: shown.requests.length,
    live: shown.live.connections.length,
  };
  return (
    <>
      <header class="top">
        <h1>{shown.application.title || "Development panel"}</h1>
        <nav aria-label="Sections">
          {SECTIONS.map((section) => (
            <a key={section} href={`#${section}`} aria-current={page.section === section ? "page" : undefined}>
              {titleOf(section)} <span class="count">{counts[section]}</span>
            </a>
          ))}
        </nav>
      </header>
      <main>
        {shown.application.error && (
          <section class="failure" aria-label="Error">
            <h2>The application could not be loaded</h2>
            <ErrorDetails error={shown.application.error} />
          </section>
        )}
        {page.section === "functions" && <Functions functions={shown.application.functions} />}
        {page.section === "routes" && <Routes endpoints={shown.application.endpoints} />}
        {page.section === "requests" && <Requests requests={shown.requests} />}
        {page.section === "live" && <Live live={shown.live} />}
      </main>
    </>
  );
});

function titleOf(section: Section): string {
  return section[0]?.toUpperCase() + section.slice(1);
}

/** The pages and routes of the application. */
function Routes({ endpoints }: { readonly endpoints: readonly EndpointInfo[] }) {
  if (endpoints.length === 0) return <p class="soft">The application has no pages and no routes.</p>;
  return (
    <ul class="rows routes" aria-label="Pages and routes">
      {endpoints.map(({ kind, method, path, location }) => (
        <li key={`${method} ${path}`}>
          <span class="tag">{method}</span>
          {method === "GET" && !/[:*]/.test(path) ? (
            <a href={path}>
              <code>{path}</code>
            </a>
          ) : (
            <code>{path}</code>
          )}
          <span class="soft">{kind}</span>
          <code class="soft">{location}</code>
        </li>
      ))}
    </ul>
  );
}
