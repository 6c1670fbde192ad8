import type { ViteHotContext } from "vite/types/hot.d.ts";

/** The connection of a script to the development server. Vite adds it to modules that name it so. */
export const hot = (import.meta as ImportMeta & { readonly hot: ViteHotContext }).hot;
