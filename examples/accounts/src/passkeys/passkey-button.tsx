/** The button that both views of passkeys have. */
import { on_mount, RPCError, state } from "tsweb/browser";

/**
 * A button that runs a function, and shows its error. It is disabled until the script has loaded: without script, the
 * browser cannot use passkeys. Meanwhile it only has `aria-disabled`, since a disabled button would lose the focus.
 */
export function PasskeyButton({ label, run }: { readonly label: string; readonly run: () => Promise<void> }) {
  const button = state({ isHydrated: false, isBusy: false, error: "" });
  on_mount(() => {
    button.isHydrated = true;
  });
  const onClick = async () => {
    if (button.isBusy) return;
    button.isBusy = true;
    button.error = "";
    try {
      await run();
    } catch (error) {
      const isExpected = error instanceof RPCError && error.code !== "internal";
      button.error = isExpected ? error.message : "That did not work. Try again.";
    }
    button.isBusy = false;
  };
  return (
    <div class="passkey">
      <p class="error" role="alert">
        {button.error}
      </p>
      <button type="button" disabled={!button.isHydrated} aria-disabled={button.isBusy || undefined} onClick={onClick}>
        {button.isBusy ? "Asking your device…" : label}
      </button>
    </div>
  );
}
